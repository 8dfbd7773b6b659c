// The job `list`: what pi's list of a folder tells of each session.

import { SessionManager } from "./pi.mjs";

export async function list({ folder }) {
	const sessions = await SessionManager.list("/work", folder);
	return { ok: true, sessions: sessions.map(tell) };
}

/** Texts without lone surrogates, which readers of JSON refuse, and times in milliseconds since 1970, or null. */
function tell({ created, modified, ...session }) {
	const told = Object.entries(session).map(([name, value]) => [name, wellFormed(value)]);
	return { ...Object.fromEntries(told), created: created.getTime(), modified: modified.getTime() };
}

function wellFormed(value) {
	return typeof value === "string" ? value.toWellFormed() : value;
}
