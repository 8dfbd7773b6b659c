// Plays a sequence of operations on a session of pi's.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { observe, survey } from "./observe.mjs";
import { dictate, home, JobError, SessionManager } from "./pi.mjs";

/**
 * What can be done. `takes` names the arguments; those with a question mark may be missing, and are undefined then,
 * which in pi is something else than null.
 */
const operations = {
	append_message: {
		takes: ["message"],
		run: ({ session }, { message }) => ({ id: session.appendMessage(message) }),
	},
	append_thinking_level_change: {
		takes: ["level"],
		run: ({ session }, { level }) => ({ id: session.appendThinkingLevelChange(level) }),
	},
	append_model_change: {
		takes: ["provider", "modelId"],
		run: ({ session }, { provider, modelId }) => ({ id: session.appendModelChange(provider, modelId) }),
	},
	append_compaction: {
		takes: ["summary", "firstKept", "tokensBefore", "details?", "fromHook?", "usage?"],
		run: ({ session }, { summary, firstKept, tokensBefore, details, fromHook, usage }) => ({
			id: session.appendCompaction(summary, idOf(session, firstKept), tokensBefore, details, fromHook, usage),
		}),
	},
	append_custom_entry: {
		takes: ["customType", "data?"],
		run: ({ session }, { customType, data }) => ({ id: session.appendCustomEntry(customType, data) }),
	},
	append_custom_message_entry: {
		takes: ["customType", "content", "display", "details?"],
		run: ({ session }, { customType, content, display, details }) => ({
			id: session.appendCustomMessageEntry(customType, content, display, details),
		}),
	},
	append_session_info: {
		takes: ["name"],
		run: ({ session }, { name }) => ({ id: session.appendSessionInfo(name) }),
	},
	append_context_edit: {
		takes: ["target", "replacement"],
		run: ({ session }, { target, replacement }) => ({
			id: session.appendContextEdit(idOf(session, target), replacement),
		}),
	},
	append_usage: {
		takes: ["kind", "provider", "model", "usage", "note?"],
		run: ({ session }, { kind, provider, model, usage, note }) => ({
			id: session.appendUsage(kind, provider, model, usage, note).id,
		}),
	},
	append_label_change: {
		takes: ["target", "label?"],
		run: ({ session }, { target, label }) => ({ id: session.appendLabelChange(idOf(session, target), label) }),
	},
	branch: {
		takes: ["entry"],
		run({ session }, { entry }) {
			session.branch(idOf(session, entry));
			return {};
		},
	},
	reset_leaf: {
		takes: [],
		run({ session }) {
			session.resetLeaf();
			return {};
		},
	},
	branch_with_summary: {
		takes: ["entry", "summary", "details?", "fromHook?"],
		run: ({ session }, { entry, summary, details, fromHook }) => ({
			id: session.branchWithSummary(idOf(session, entry), summary, details, fromHook),
		}),
	},
	create_branched_session: {
		takes: ["leaf"],
		run({ session }, { leaf }) {
			const id = idOf(session, leaf);
			if (survey(session).climbsFrom(id)) return { loops: true };
			session.createBranchedSession(id);
			return {};
		},
	},
	fork: {
		takes: ["cwd"],
		run(stage, { cwd }) {
			const file = writtenFile(stage.session);
			if (file === undefined) return null;
			stage.session = SessionManager.forkFrom(file, cwd, mkdtempSync(join(stage.folder, "fork-")));
			return {};
		},
	},
	reopen: {
		takes: [],
		run(stage) {
			const file = writtenFile(stage.session);
			if (file !== undefined) stage.session = SessionManager.open(file, stage.session.getSessionDir());
			return {};
		},
	},
	observe: {
		takes: ["paths?"],
		run: ({ session }, { paths = [] }) => ({
			observed: observe(
				session,
				paths.map((reference) => idOf(session, reference)),
			),
		}),
	},
};

/** Plays the job's operations. What pi throws is the result of an operation; what is wrong with the job ends it. */
export function play(job) {
	const folder = mkdtempSync(join(home, "play-"));
	const results = [];
	let at = null;
	try {
		const stage = { folder, session: dictate(job, () => begin(job, folder)) };
		for (const step of job.operations ?? []) {
			at = results.length;
			results.push(perform(stage, step));
		}
		return { ok: true, results };
	} catch (error) {
		return { ok: false, error: String(error?.message ?? error), at };
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function begin({ cwd, file, memory }, folder) {
	if (memory && file !== undefined) throw new JobError("a session in memory has no file");
	if (file === undefined && typeof cwd !== "string") throw new JobError("a new session needs a cwd");
	if (memory) return SessionManager.inMemory(cwd);
	const sessions = join(folder, "sessions");
	return file === undefined ? SessionManager.create(cwd, sessions) : SessionManager.open(file, sessions);
}

function perform(stage, step) {
	const { do: name, now, ids, ...given } = step;
	if (!Object.hasOwn(operations, name)) throw new JobError(`no operation of a session is called ${name}`);
	const { takes, run } = operations[name];
	// A misspelled argument would pass for one that is left out.
	const unknown = Object.keys(given).find((key) => !takes.includes(key) && !takes.includes(`${key}?`));
	if (unknown !== undefined) throw new JobError(`${name} takes no ${unknown}`);
	const missing = takes.find((key) => !key.endsWith("?") && !Object.hasOwn(given, key));
	if (missing !== undefined) throw new JobError(`${name} needs ${missing}`);
	try {
		return dictate({ now, ids }, () => run(stage, given));
	} catch (error) {
		if (error instanceof JobError) throw error;
		return { error: String(error?.message ?? error) };
	}
}

/** The id that a reference means: the one of the entry at that place, or the reference itself. */
function idOf(session, reference) {
	if (typeof reference !== "number") {
		if (reference === null || typeof reference === "string") return reference;
		throw new JobError(`no reference to an entry: ${JSON.stringify(reference)}`);
	}
	const entries = session.getEntries();
	if (!Object.hasOwn(entries, reference)) {
		throw new JobError(`there is no entry ${reference}: the session has ${entries.length}`);
	}
	return entries[reference].id;
}

/** pi writes nothing before the first message, which is an answer of a model before 0.99, and never for a session in memory. */
function writtenFile(session) {
	const file = session.getSessionFile();
	return file !== undefined && existsSync(file) ? file : undefined;
}
