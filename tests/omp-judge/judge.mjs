// Has omp's own SessionManager open sessions, play on them or list a folder of them, and tells what it saw.
//
// Run by bun. Reads jobs as JSON lines from standard input and answers each with one JSON line; see README.md.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { answerJobs } from "../judges/jobs.mjs";
import { describe, observe } from "./observe.mjs";
import { blobs, home, SessionManager } from "./omp.mjs";
import { play } from "./play.mjs";

/** A file that is given as text is written to a place of its own. */
async function open({ file, text }) {
	if (text === undefined) return SessionManager.open(file, undefined, undefined, { suppressBreadcrumb: true });
	const path = join(home, "session.jsonl");
	writeFileSync(path, text);
	try {
		return await SessionManager.open(path, undefined, undefined, { suppressBreadcrumb: true, throwIfMissing: true });
	} finally {
		rmSync(path, { force: true });
	}
}

async function load(job) {
	const session = await open(job);
	return { ok: true, ...describe(session), path: session.getBranch().map((entry) => entry.id) };
}

async function context(job) {
	for (const [hash, bytes] of Object.entries(job.blobs ?? {})) {
		mkdirSync(blobs, { recursive: true });
		writeFileSync(join(blobs, hash), Buffer.from(bytes, "base64"));
	}
	const session = await open(job);
	return { ok: true, ...observe(session, job.leaves ?? []) };
}

async function list({ folder }) {
	const sessions = await SessionManager.list("/", folder);
	const time = (date) => (Number.isFinite(date.getTime()) ? date.getTime() : null);
	return {
		ok: true,
		sessions: sessions.map((session) => ({
			...session,
			created: time(session.created),
			modified: time(session.modified),
		})),
	};
}

/** What omp goes on with in a project, and says of it before it does. */
async function exported({ cwd }) {
	const session = await SessionManager.continueRecent(cwd);
	const told = { ok: true, file: session.getSessionFile(), ...observe(session, []) };
	session.appendMessage({ role: "user", content: "And now?", timestamp: Date.now() });
	await session.flush();
	await session.close();
	return told;
}

await answerJobs({ exported, load, context, list, play });
// omp may have left something running.
process.exit(0);
