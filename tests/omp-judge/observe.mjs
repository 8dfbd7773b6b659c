// What omp says of a session.

import { buildSessionContext, hasRequests, request } from "./omp.mjs";

// To omp every line that is JSON is an entry; to Leafline those that are objects.
const isObject = (entry) => typeof entry === "object" && entry !== null && !Array.isArray(entry);

/** What is said of every session. */
export function describe(session) {
	const entries = session.getEntries().filter(isObject);
	const labels = entries
		.map(({ id }) => [id, session.getLabel(id)])
		.filter(([, label]) => label !== undefined);
	return {
		header: session.getHeader(),
		name: session.getSessionName() ?? null,
		entries: entries.map((entry) => entry.id ?? null),
		leafId: session.getLeafId() ?? null,
		labels: Object.fromEntries(labels),
	};
}

/**
 * The same with contexts, as texts of JSON, so that they can be compared byte for byte: at the leaf, and at each of the
 * `ids`. Where omp throws, the context is null.
 */
export function observe(session, ids) {
	const entries = session.getEntries();
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	// omp 14 does not come back from a loop of parents.
	const isLoop = (leaf) => {
		const passed = new Set();
		let entry = leaf;
		while (entry && !passed.has(entry)) {
			passed.add(entry);
			entry = entry.parentId ? byId.get(entry.parentId) : undefined;
		}
		return entry !== undefined;
	};
	const told = (leaf, make) => {
		if (!hasRequests && isLoop(leaf)) return null;
		try {
			// Leafline leaves the first two out. The others are omp 14's, and not in its documents.
			const { configuredThinkingLevel, serviceTier, selectedMCPToolNames, hasPersistedMCPToolSelection, ...context } =
				make();
			return JSON.stringify(context);
		} catch {
			return null;
		}
	};
	return {
		...describe(session),
		context: isObject(entries.at(-1) ?? {}) ? told(entries.at(-1), () => session.buildSessionContext()) : null,
		contexts: ids.map((id) => told(byId.get(id), () => buildSessionContext(entries, id, byId))),
		requests: (hasRequests ? ids : []).map((id) =>
			told(byId.get(id), () => {
				const context = buildSessionContext(entries, id, byId);
				return { ...context, messages: request(context.messages) };
			}),
		),
	};
}
