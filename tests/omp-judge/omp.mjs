// omp's SessionManager in a temporary home, with a clock and a source of ids that a job can dictate.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { installed } from "../judges/pins.mjs";

// omp makes folders below its home as it is loaded and used; nobody's own may be touched.
export const home = mkdtempSync(join(tmpdir(), "leafline-omp-"));
for (const name of Object.keys(process.env)) {
	if (/^(OMP|PI|XDG)_/.test(name)) delete process.env[name];
}
process.env.HOME = home;
process.env.USERPROFILE = home;
/** A folder that takes the place of omp's own is the second argument. */
process.env.PI_CODING_AGENT_DIR = process.argv[3] ?? join(home, "agent");
export const blobs = join(home, "agent", "blobs");
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

/** What is wrong with a job, and not with what omp does: it ends the job. */
export class JobError extends Error {}

const dictated = { now: undefined, ids: undefined };

/**
 * Runs the action at the time `now`, in milliseconds since 1970, with `ids` of 8 hexadecimal digits handed out in their
 * order where omp makes ids of entries up. Of what is undefined, the real one is used. Ids that remain are dropped.
 */
export async function dictate({ now, ids }, action) {
	dictated.now = now;
	dictated.ids = ids && [...ids];
	try {
		return await action();
	} finally {
		dictated.now = undefined;
		dictated.ids = undefined;
	}
}

const realNow = Date.now;
Date.now = () => dictated.now ?? realNow();
globalThis.Date = new Proxy(Date, {
	construct(date, given, newTarget) {
		const isNow = given.length === 0 && dictated.now !== undefined;
		return Reflect.construct(date, isNow ? [dictated.now] : given, newTarget);
	},
});

const realUUID = crypto.randomUUID.bind(crypto);
crypto.randomUUID = () => {
	if (dictated.ids === undefined) return realUUID();
	if (dictated.ids.length === 0) throw new JobError("omp asks for more ids than are dictated");
	return `00000000-0000-4000-8000-0000${dictated.ids.shift()}`;
};

// Only now, so that omp finds the home, the clock and the ids as they are here.
const folder = process.argv[2] || process.env.LEAFLINE_OMP || installed("omp").package;
/** A module of omp's, by its place in the sources. */
export const load = (name) => import(pathToFileURL(join(folder, "src", `${name}.ts`)).href);
const manager = await load("session/session-manager");
export const { SessionManager } = manager;
// omp 14 has it beside the manager.
export const { buildSessionContext } = manager.buildSessionContext ? manager : await load("session/session-context");

/** The context's messages as omp hands them to its model layer. */
const { convertToLlm, wrapSteeringForModel } = await load("session/messages");
const { filterProviderReplayMessages } = await import(
	import.meta.resolve("@oh-my-pi/pi-agent-core", pathToFileURL(join(folder, "package.json")).href)
);
export const request = (messages) => filterProviderReplayMessages(convertToLlm(wrapSteeringForModel(messages)));
/** Whether omp has what makes a request: omp 14 does not. */
export const hasRequests = wrapSteeringForModel !== undefined;
