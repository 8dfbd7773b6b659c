// Reads jobs, one JSON line each, and answers in their order; see README.md.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { answerJobs } from "../judges/jobs.mjs";
import { installed } from "../judges/pins.mjs";

const load = (name) => import(pathToFileURL(join(installed("mcp-client").package, "dist", name)).href);
const { Client } = await load("index.mjs");
const { StdioClientTransport } = await load("stdio.mjs");

/** Starts a server, lists its tools and calls them one after the other. */
async function call({ server, mode, calls }) {
  const transport = new StdioClientTransport({ ...server, stderr: "pipe" });
  let stderr = "";
  transport.stderr.on("data", (data) => (stderr += data));
  const client = new Client({ name: "leafline-tests", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    const results = [];
    for (const one of calls) results.push(await client.callTool(one));
    return { ok: true, server: client.getServerVersion(), tools: tools.map(({ name }) => name), results, stderr };
  } finally {
    await client.close();
  }
}

await answerJobs({ call });
