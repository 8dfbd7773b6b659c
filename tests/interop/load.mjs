// Opens sessions with pi's own SessionManager and tells what it saw.
//
// Reads jobs as JSON lines from standard input and answers each with one JSON line. README.md says what they hold.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// pi makes folders below its agent folder as it is loaded and used; nobody's own may be touched.
const home = mkdtempSync(join(tmpdir(), "leafline-interop-"));
process.env.HOME = home;
process.env.USERPROFILE = home;
process.env.PI_CODING_AGENT_DIR = join(home, "agent");
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

const folder = process.env.LEAFLINE_PI;
const { SessionManager } = await import(
	folder ? pathToFileURL(join(folder, "dist", "index.js")).href : "@mariozechner/pi-coding-agent"
);

// A tree of more nodes than this comes from the same entries hanging in many places.
const MOST_NODES = 1_000_000;

/** Whether pi would walk in a circle: from the leaf upwards, or from a root downwards. pi itself does not look. */
function findLoops(entries, leafId) {
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const visited = new Set();
	let upwards = false;
	for (let current = byId.get(leafId); current; ) {
		if (visited.has(current.id)) {
			upwards = true;
			break;
		}
		visited.add(current.id);
		current = current.parentId ? byId.get(current.parentId) : undefined;
	}
	return { upwards, downwards: reachesItself(entries, byId) };
}

/** Whether an entry below a root is its own descendant, which takes an id that is met twice. */
function reachesItself(entries, byId) {
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
	const open = new Set();
	const closed = new Set();
	const stack = roots.map((id) => ({ id, leaving: false }));
	while (stack.length > 0) {
		const { id, leaving } = stack.pop();
		if (leaving) {
			open.delete(id);
			closed.add(id);
			continue;
		}
		if (open.has(id)) return true;
		if (closed.has(id)) continue;
		open.add(id);
		stack.push({ id, leaving: true });
		for (const child of children.get(id) ?? []) stack.push({ id: child, leaving: false });
	}
	return false;
}

/** The tree in depth-first order. Flat, because JSON readers bound how deeply values may nest. */
function flatten(roots) {
	const nodes = [];
	const stack = roots.map((node) => ({ node, depth: 0 })).reverse();
	while (stack.length > 0) {
		const { node, depth } = stack.pop();
		nodes.push({ id: node.entry.id, depth, label: node.label });
		if (nodes.length > MOST_NODES) throw new Error(`the tree has more than ${MOST_NODES} nodes`);
		for (let place = node.children.length - 1; place >= 0; place--) {
			stack.push({ node: node.children[place], depth: depth + 1 });
		}
	}
	return nodes;
}

function load(path) {
	const session = SessionManager.open(path);
	const entries = session.getEntries();
	const leafId = session.getLeafId();
	const loops = findLoops(entries, leafId);
	const labels = {};
	for (const { id } of entries) {
		const label = session.getLabel(id);
		if (label !== undefined) labels[id] = label;
	}
	return {
		header: session.getHeader(),
		name: session.getSessionName(),
		entries: entries.map((entry) => entry.id),
		leafId,
		labels,
		loops,
		path: loops.upwards ? null : session.getBranch().map((entry) => entry.id),
		context: loops.upwards ? null : session.buildSessionContext(),
		tree: loops.downwards ? null : flatten(session.getTree()),
	};
}

const operations = { load: (job) => load(job.path) };

function answer(line) {
	let job = {};
	try {
		job = JSON.parse(line);
		const operation = operations[job.op];
		if (!operation) throw new Error(`no operation is called ${job.op}`);
		return JSON.stringify({ file: job.path, ok: true, ...operation(job) });
	} catch (error) {
		return JSON.stringify({ file: job?.path, ok: false, error: String(error?.message ?? error) });
	}
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
	if (line.trim() !== "") process.stdout.write(`${answer(line)}\n`);
}
