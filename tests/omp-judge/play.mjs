// Plays a sequence of operations on a session of omp's.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { observe } from "./observe.mjs";
import { dictate, home, JobError, SessionManager } from "./omp.mjs";

const NO_BREADCRUMB = { suppressBreadcrumb: true };

/** What can be done, each with the arguments that it is given in their order. */
const operations = {
	append_message: ({ session }, { message }) => ({ id: session.appendMessage(message) }),
	append_thinking_level_change: ({ session }, { level, configured }) => ({
		id: session.appendThinkingLevelChange(level, configured),
	}),
	append_service_tier_change: ({ session }, { tier }) => ({ id: session.appendServiceTierChange(tier) }),
	append_mode_change: ({ session }, { mode, data }) => ({ id: session.appendModeChange(mode, data) }),
	append_model_change: ({ session }, { model, role }) => ({ id: session.appendModelChange(model, role) }),
	append_session_init: ({ session }, { init }) => ({ id: session.appendSessionInit(init) }),
	append_compaction: ({ session }, { summary, shortSummary, firstKept, tokensBefore, options }) => ({
		id: session.appendCompaction(summary, shortSummary, idOf(session, firstKept), tokensBefore, options),
	}),
	append_reset_boundary: ({ session }) => ({ id: session.appendResetBoundary() }),
	append_custom_entry: ({ session }, { customType, data }) => ({ id: session.appendCustomEntry(customType, data) }),
	append_custom_message_entry: ({ session }, { customType, content, display, details, attribution }) => ({
		id: session.appendCustomMessageEntry(customType, content, display, details, attribution),
	}),
	append_ttsr_injection: ({ session }, { rules }) => ({ id: session.appendTtsrInjection(rules) }),
	append_credential_pin: ({ session }, { provider, hash }) => ({ id: session.appendCredentialPin(provider, hash) }),
	append_model_usage: ({ session }, { usage, parent }) => ({
		id: session.appendModelUsage(usage, { sessionId: session.getSessionId(), parentId: idOf(session, parent) }),
	}),
	append_message_to_branch: ({ session }, { message, parent }) => ({
		id: session.appendMessageToBranch(message, idOf(session, parent)),
	}),
	append_label_change: ({ session }, { target, label }) => ({
		id: session.appendLabelChange(idOf(session, target), label),
	}),
	set_session_name: async ({ session }, { name, source }) => ({ done: await session.setSessionName(name, source) }),
	branch: ({ session }, { entry }) => ({ done: session.branch(idOf(session, entry)) ?? null }),
	reset_leaf: ({ session }) => ({ done: session.resetLeaf() ?? null }),
	branch_with_summary: ({ session }, { entry, summary, details, fromExtension }) => ({
		id: session.branchWithSummary(idOf(session, entry), summary, details, fromExtension),
	}),
	create_branched_session: ({ session }, { leaf }) => {
		session.createBranchedSession(idOf(session, leaf));
		return {};
	},
	fork: async (stage, { cwd }) => {
		const file = await writtenFile(stage.session);
		if (file === undefined) return null;
		stage.session = await SessionManager.forkFrom(
			file,
			cwd,
			mkdtempSync(join(stage.folder, "fork-")),
			undefined,
			NO_BREADCRUMB,
		);
		return {};
	},
	reopen: async (stage) => {
		const file = await writtenFile(stage.session);
		if (file === undefined) return null;
		await stage.session.close();
		stage.session = await SessionManager.open(file, undefined, undefined, NO_BREADCRUMB);
		return {};
	},
	observe: async ({ session }, { leaves = [] }) => {
		const file = await writtenFile(session);
		return {
			observed: {
				...observe(
					session,
					leaves.map((reference) => idOf(session, reference)),
				),
				file: file === undefined ? null : readFileSync(file, "utf8"),
			},
		};
	},
};

/** Plays the job's operations. What omp throws is the result of an operation; what is wrong with the job ends it. */
export async function play(job) {
	const folder = mkdtempSync(join(home, "play-"));
	const results = [];
	try {
		const stage = { folder, session: await dictate(job, () => begin(job, folder)) };
		for (const { do: name, now, ids, ...given } of job.operations) {
			if (!Object.hasOwn(operations, name)) throw new JobError(`no operation of a session is called ${name}`);
			try {
				results.push(await dictate({ now, ids }, () => operations[name](stage, given)));
			} catch (error) {
				if (error instanceof JobError) throw error;
				results.push({ error: String(error?.message ?? error) });
			}
		}
		await stage.session.close();
		return { ok: true, results };
	} catch (error) {
		return { ok: false, error: String(error?.message ?? error), at: results.length };
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function begin({ cwd, file }, folder) {
	if (file !== undefined) return SessionManager.open(file, undefined, undefined, NO_BREADCRUMB);
	return SessionManager.create(cwd, join(folder, "sessions"));
}

/** The id that a reference means: the one of the entry at that place, or the reference itself. */
function idOf(session, reference) {
	if (typeof reference !== "number") return reference;
	const entries = session.getEntries();
	if (!Object.hasOwn(entries, reference)) {
		throw new JobError(`there is no entry ${reference}: the session has ${entries.length}`);
	}
	return entries[reference].id;
}

/** omp writes nothing before the first answer of a model. */
async function writtenFile(session) {
	await session.flush();
	const file = session.getSessionFile();
	return file !== undefined && existsSync(file) ? file : undefined;
}
