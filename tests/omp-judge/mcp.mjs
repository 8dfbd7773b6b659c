// Has omp's own client of the Model Context Protocol add a server and call one of its tools, and tells what it got.
//
// Run by bun. Reads jobs as JSON lines from standard input and answers each with one JSON line; see README.md.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { answerJobs } from "../judges/jobs.mjs";
import { home, load } from "./omp.mjs";

const { MCPCommandController } = await load("modes/controllers/mcp-command-controller");
const { discoverAndLoadMCPTools } = await load("mcp/loader");
const { initTheme } = await load("modes/theme/theme");
await initTheme();

/** What the command shows is nobody's concern: everything of the screen may be called, and gives such a thing again. */
const screen = new Proxy(() => screen, {
	get: (_, name) => (name === "then" || typeof name === "symbol" ? undefined : screen),
	apply: () => screen,
});

/** The command as a user types it, and then a call of a tool in a new start. */
async function add({ command, tool, input }) {
	const errors = [];
	const showError = (text) => errors.push(text);
	const own = { showError, mcpManager: undefined };
	const context = new Proxy(screen, { get: (_, name) => (name in own ? own[name] : screen) });
	await new MCPCommandController(context).handle(command);
	if (errors.length > 0) throw new Error(errors.join("\n"));
	const config = JSON.parse(readFileSync(join(process.env.PI_CODING_AGENT_DIR, "mcp.json"), "utf8"));
	const { manager, tools, errors: failed } = await discoverAndLoadMCPTools(home, { cacheStorage: null, filterExa: false });
	try {
		if (failed.length > 0) throw new Error(JSON.stringify(failed));
		const named = tools.map(({ tool }) => tool).find(({ name }) => name.endsWith(tool));
		const result = await named.execute("call", input, undefined, undefined, undefined);
		return { ok: true, config, tools: tools.map(({ tool }) => tool.name), result: result.content };
	} finally {
		await manager.disconnectAll();
	}
}

await answerJobs({ add });
// omp may have left something running.
process.exit(0);
