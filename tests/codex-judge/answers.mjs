// What the model answers, at random.

import { join } from "node:path";
import { message } from "./stand-in.mjs";

export const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const called = (name, given, id) => ({
  type: "function_call",
  name,
  arguments: JSON.stringify(given),
  call_id: id,
});

export const spawnAgent = {
  ...called("spawn_agent", { message: "Count the lines", agent_type: "explorer" }, "agent"),
  namespace: "multi_agent_v1",
};

let calls = 0;

/** The items of an answer: thoughts, words, and one call or several side by side. */
export function answer(numbers, work) {
  const items = [];
  if (numbers.oneIn(3)) items.push(thought(numbers));
  if (numbers.oneIn(2)) items.push({ ...message("I look."), ...(numbers.oneIn(3) && { phase: "commentary" }) });
  const count = 1 + numbers.below(3);
  for (let number = 0; number < count; number += 1) items.push(call(numbers, work));
  return items;
}

function thought(numbers) {
  calls += 1;
  const id = numbers.oneIn(2) ? { id: `rs_${calls}` } : {};
  const summary = numbers.oneIn(2) ? [{ type: "summary_text", text: "Hm." }] : [];
  const content = numbers.oneIn(3) ? { content: [{ type: "reasoning_text", text: "I think." }] } : {};
  return { type: "reasoning", ...id, summary, ...content, encrypted_content: "gAAA" };
}

/** A call: one that is quick, slow, long, that fails, that does not exist, of another kind. */
function call(numbers, work) {
  calls += 1;
  const id = `call_${calls}`;
  const run = (command) => called("exec_command", { cmd: command }, id);
  switch (numbers.below(19)) {
    case 0:
      return run("sleep 0.2; echo slow");
    case 1:
      return run("seq 1 9000");
    case 2:
      return run("seq 1 60000");
    case 3:
      return run("echo bad >&2; exit 3");
    case 4:
      return called("unheard", { of: 1 }, id);
    case 5:
      return { ...run("echo torn"), arguments: '{"cmd":' };
    case 6:
      return called("update_plan", { plan: [{ step: "Look", status: "in_progress" }] }, id);
    case 7:
      return called("view_image", { path: join(work, "dot.png") }, id);
    case 8:
      return { type: "custom_tool_call", call_id: id, name: "apply_patch", input: patch(`note-${calls}.txt`) };
    case 9:
      return { type: "custom_tool_call", call_id: id, name: "unheard", input: "x" };
    case 10:
      return { type: "local_shell_call", call_id: id, status: "completed", action: { type: "exec", command: ["ls"] } };
    case 11:
      return { type: "web_search_call", id: `ws_${calls}`, status: "completed", action: { type: "search", query: "q" } };
    case 12:
      return { type: "tool_search_call", call_id: id, execution: "client", arguments: { query: "tides" } };
    case 13:
      return run("printf '\\303\\251\\360\\237\\230\\200%.0s' $(seq 1 5000)");
    case 14:
      return run("printf 'a\\377\\000\\033[1mb'");
    case 15:
      return called("exec_command", { cmd: "sleep 2; echo late", yield_time_ms: 250 }, id);
    case 16:
      return { type: "image_generation_call", id: `ig_${calls}`, status: "completed", revised_prompt: "A dot", result: PICTURE };
    default:
      return run("echo one");
  }
}

const patch = (name) => `*** Begin Patch\n*** Add File: ${name}\n+A note.\n*** End Patch\n`;
