// pi's SessionManager in a temporary home, with a clock and a source of ids that a job can dictate.

import crypto from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { installed } from "../judges/pins.mjs";

// pi makes folders below its agent folder as it is loaded and used; nobody's own may be touched.
export const home = mkdtempSync(join(tmpdir(), "leafline-interop-"));
process.env.HOME = home;
process.env.USERPROFILE = home;
process.env.PI_CODING_AGENT_DIR = join(home, "agent");
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

/** What is wrong with a job, and not with what pi does: it ends the job. */
export class JobError extends Error {}

// The furthest from 1970 that a date of JavaScript reaches, either way.
const FURTHEST_TIME = 8.64e15;

const dictated = { now: undefined, ids: undefined };

/**
 * Runs the action at the time `now`, with `ids` handed out in their order where pi makes ids of entries up. Of what
 * is undefined, the real one is used. Ids that remain are dropped: pi asks again where it knows an id already, so a
 * job may dictate more than it needs.
 */
export function dictate({ now, ids }, action) {
	if (now !== undefined && !(Number.isInteger(now) && Math.abs(now) <= FURTHEST_TIME)) {
		throw new JobError(`now is no time: ${JSON.stringify(now)}`);
	}
	if (ids !== undefined && !(Array.isArray(ids) && ids.every(isShortId))) {
		throw new JobError(`ids is no list of ids of 8 hexadecimal digits: ${JSON.stringify(ids)}`);
	}
	const before = { ...dictated };
	Object.assign(dictated, { now, ids: ids && [...ids] });
	try {
		return action();
	} finally {
		Object.assign(dictated, before);
	}
}

function isShortId(id) {
	return typeof id === "string" && /^[0-9a-f]{8}$/.test(id);
}

const realNow = Date.now;
Date.now = () => dictated.now ?? realNow();
globalThis.Date = new Proxy(Date, {
	construct(date, given, newTarget) {
		const isNow = given.length === 0 && dictated.now !== undefined;
		return Reflect.construct(date, isNow ? [dictated.now] : given, newTarget);
	},
});

const realUUID = crypto.randomUUID;
crypto.randomUUID = (options) => {
	if (dictated.ids === undefined) return realUUID(options);
	if (dictated.ids.length === 0) throw new JobError("pi asks for more ids than are dictated");
	return `${dictated.ids.shift()}-0000-4000-8000-000000000000`;
};
// Modules that import the function by its name see the one that was exported last.
syncBuiltinESMExports();

// The versions by their names in tests, each with the variable that may name its folder, its module, and the modules of its
// model layer. The index of later versions needs a newer Node than the module in it that tests are about.
const versions = {
	0.73: ["LEAFLINE_PI", "index.js", "@mariozechner/pi-ai/dist/providers/transform-messages.js"],
	0.87: ["LEAFLINE_PI_0_87", "core/session-manager.js", "@earendil-works/pi-ai/dist/api/transform-messages.js"],
	1.6: ["LEAFLINE_PI_1_6", "core/session-manager.js", "@earendil-works/pi-ai/dist/api/transform-messages.js"],
};
const version = process.argv[2] ?? "0.73";
if (!Object.hasOwn(versions, version)) throw new Error(`no version of pi is called ${version}`);
const [variable, module, modelLayer] = versions[version];
const folder = process.env[variable] ?? installed(`pi-${version}`).package;

// Only now, so that pi finds the home, the clock and the ids as they are here.
export const { SessionManager, buildSessionContext } = await import(pathToFileURL(join(folder, "dist", module)).href);
export const { convertToLlm } = await import(pathToFileURL(join(folder, "dist", "core", "messages.js")).href);

// The model layer is beside the package, or below it.
const layer = [join(folder, "node_modules", modelLayer), join(folder, "..", "..", modelLayer)].find(existsSync);
if (layer === undefined) throw new Error(`${modelLayer} is not installed with ${folder}`);
export const { transformMessages } = await import(pathToFileURL(layer).href);
