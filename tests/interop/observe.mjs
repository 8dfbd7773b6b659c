// What pi says of a session, as `load` and `play` tell it.

import { existsSync, readFileSync } from "node:fs";

import { buildSessionContext, convertToLlm, dictate, transformMessages } from "./pi.mjs";

// A tree of more nodes than this comes from the same entries hanging in many places.
export const MOST_NODES = 1_000_000;

// The time that results have which pi makes up: the last one that there is.
const NO_TIME = 8.64e15;

/** What both of them tell, beside path, tree and context, which depend on what `survey` finds. */
export function describe(session) {
	const entries = session.getEntries();
	const labels = entries
		.map(({ id }) => [id, session.getLabel(id)])
		.filter(([, label]) => label !== undefined);
	return {
		header: session.getHeader(),
		name: session.getSessionName(),
		entries: idsOf(entries),
		leafId: session.getLeafId(),
		labels: Object.fromEntries(labels),
	};
}

/**
 * Looks where pi would walk in a circle, for pi itself does not look.
 *
 * `upwards` tells it of the walk up from the leaf, `climbs` of the one up from any entry, `climbsFrom` of the one up
 * from an id, where pi takes null for the leaf, and `downwards` of the walk down from the roots. `nodes` is how many
 * nodes that last one would meet.
 */
export function survey(session) {
	const entries = session.getEntries();
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const climbs = (entry) => climbsForever(entry, byId);
	const climbsFrom = (id) => climbs(byId.get(id ?? session.getLeafId()));
	const upwards = climbsFrom(null);
	return { entries, byId, climbs, climbsFrom, upwards, ...surveyTree(entries, byId) };
}

/** Whether the walk from the entry to its root meets an entry twice. */
function climbsForever(entry, byId) {
	const visited = new Set();
	for (let current = entry; current; ) {
		if (visited.has(current.id)) return true;
		visited.add(current.id);
		current = current.parentId ? byId.get(current.parentId) : undefined;
	}
	return false;
}

/**
 * Whether an entry below a root is its own descendant, and else how many nodes there are. Both take an id that is met
 * twice: such an entry hangs twice below its parent, its children do so again below each, and a chain of them doubles
 * with every step.
 */
function surveyTree(entries, byId) {
	const children = new Map();
	const roots = [];
	for (const { id, parentId } of entries) {
		if (parentId === null || parentId === id || !byId.has(parentId)) {
			roots.push(id);
		} else if (children.has(parentId)) {
			children.get(parentId).push(id);
		} else {
			children.set(parentId, [id]);
		}
	}
	const sizes = new Map();
	const sizeOf = (ids) => ids.reduce((sum, id) => sum + sizes.get(id), 0);
	const open = new Set();
	const stack = roots.map((id) => ({ id, leaving: false }));
	while (stack.length > 0) {
		const { id, leaving } = stack.pop();
		const below = children.get(id) ?? [];
		if (leaving) {
			open.delete(id);
			sizes.set(id, 1 + sizeOf(below));
			continue;
		}
		if (open.has(id)) return { downwards: true, nodes: Number.POSITIVE_INFINITY };
		if (sizes.has(id)) continue;
		open.add(id);
		stack.push({ id, leaving: true });
		for (const child of below) stack.push({ id: child, leaving: false });
	}
	return { downwards: false, nodes: sizeOf(roots) };
}

/** The tree in depth-first order. Flat, because JSON readers bound how deeply values may nest. */
export function flatten(roots) {
	const nodes = [];
	const stack = roots.map((node) => ({ node, depth: 0 })).reverse();
	while (stack.length > 0) {
		const { node, depth } = stack.pop();
		nodes.push({ id: node.entry.id, depth, label: node.label });
		for (let place = node.children.length - 1; place >= 0; place--) {
			stack.push({ node: node.children[place], depth: depth + 1 });
		}
	}
	return nodes;
}

/**
 * All that a test can hold against another store: what `describe` tells, what pi says of each of the `ids`, and the
 * text of the file. Contexts are texts of JSON, so that they can be compared byte for byte.
 */
export function observe(session, ids) {
	const { entries, byId, climbs, climbsFrom, upwards, nodes } = survey(session);
	const pathFrom = (id) => (climbsFrom(id) ? null : idsOf(session.getBranch(id)));
	// pi starts at the last entry where it does not know the named one, and at none for null.
	const at = (id, tell) => {
		const start = id === null ? undefined : (byId.get(id) ?? entries.at(-1));
		return climbs(start) ? null : tell(buildSessionContext(entries, id, byId));
	};
	const file = session.getSessionFile();
	return {
		...describe(session),
		path: pathFrom(null),
		paths: ids.map(pathFrom),
		children: ids.map((id) => idsOf(session.getChildren(id))),
		tree: nodes > MOST_NODES ? null : flatten(session.getTree()),
		context: upwards ? null : JSON.stringify(session.buildSessionContext()),
		contexts: ids.map((id) => at(id, JSON.stringify)),
		requests: ids.map((id) => at(id, request)),
		sessionFile: file ?? null,
		file: file !== undefined && existsSync(file) ? readFileSync(file, "utf8") : null,
	};
}

/**
 * What pi sends to the model of a context, before it is put in the form of a provider; null where pi throws. Results that pi
 * makes up have no time here: it is the time of the request.
 */
function request(context) {
	try {
		const converted = convertToLlm(context.messages);
		const own = converted.findLast((message) => message.role === "assistant" && isOf(message, context.model));
		const model = {
			provider: context.model?.provider,
			id: context.model?.modelId,
			api: own?.api,
			input: ["text", "image"],
		};
		const sent = dictate({ now: NO_TIME }, () => transformMessages(converted, model)).map((message) => {
			if (message.timestamp !== NO_TIME) return message;
			const { timestamp, ...rest } = message;
			return rest;
		});
		return JSON.stringify({ ...context, messages: sent });
	} catch {
		return null;
	}
}

function isOf(message, model) {
	return message.provider === model?.provider && message.model === model?.modelId;
}

function idsOf(entries) {
	return entries.map((entry) => entry.id);
}
