// A tool of a server of the Model Context Protocol, called by the program's model.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MODEL } from "./resume.mjs";

const CALL = "toolu_mcp";

/** What the model is sent as the result, and whether it was offered the tool. */
export async function mcp(claude, { server, name, tool, input }) {
  const file = join(claude.home.path, "mcp.json");
  const called = `mcp__${name}__${tool}`;
  writeFileSync(file, JSON.stringify({ mcpServers: { [name]: server } }));
  const run = claude.api.begin();
  run.script.push({ blocks: [{ type: "tool_use", id: CALL, name: called, input }] });
  try {
    const servers = ["--mcp-config", file, "--strict-mcp-config", "--allowedTools", called];
    await claude.run(run, ["-p", "Look it up", ...servers, "--model", MODEL, "--output-format", "json"]);
  } finally {
    rmSync(file);
  }
  const isOffered = run.requests.some((request) => JSON.stringify(request).includes(called));
  const blocks = run.requests.flatMap(({ messages }) => messages).flatMap(({ content }) => content);
  const result = blocks.find((block) => block.type === "tool_result" && block.tool_use_id === CALL);
  if (!result) throw new Error("no request has the tool's result");
  return { ok: true, isOffered, isError: result.is_error ?? false, result: result.content };
}
