// Sessions that the program itself makes, at random.

import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { Numbers } from "../judges/numbers.mjs";
import { MODEL, resumed } from "./resume.mjs";
import { usage } from "./stand-in.mjs";

/**
 * Plays a session of some turns, and resumes it. The answer has the file as it was before it was resumed, and what was sent
 * then.
 */
export async function play(claude, { seed }) {
  const numbers = new Numbers(seed);
  const id = randomUUID();
  const turns = 1 + numbers.below(3);
  for (let turn = 0; turn < turns; turn += 1) {
    const run = claude.api.begin();
    const rounds = numbers.below(4);
    for (let round = 0; round < rounds; round += 1) run.script.push(answer(numbers, claude));
    // The program compacts a session by itself where the last answer was long.
    if (numbers.below(6) === 0 && turn + 1 < turns) run.script.push({ usage: usage(990_000) });
    if (numbers.below(8) === 0) run.script.push({ blocks: [...answer(numbers, claude).blocks], hang: true });
    const start = turn === 0 ? ["--session-id", id] : ["--resume", id];
    const settings = ["--model", MODEL, "--dangerously-skip-permissions", "--output-format", "json"];
    // A session that was interrupted is gone on with.
    await claude.run(run, ["-p", ...start, `Prompt ${turn}`, ...settings]).catch((error) => {
      if (error.hangs) throw error;
    });
  }
  const file = readFileSync(claude.path(id), "utf8");
  if (!file.endsWith("\n")) appendFileSync(claude.path(id), "\n");
  return { ok: true, file: readFileSync(claude.path(id), "utf8"), ...(await resumed(claude, id)) };
}

let calls = 0;

/** An answer with some blocks, at least one of them a call. */
function answer(numbers, claude) {
  const blocks = [];
  if (numbers.below(3) === 0) blocks.push({ type: "thinking", thinking: "Hm.", signature: "sig" });
  if (numbers.below(2) === 0) blocks.push({ type: "text", text: numbers.below(8) === 0 ? "\n\n" : "I look." });
  const count = 1 + numbers.below(4);
  for (let number = 0; number < count; number += 1) blocks.push(call(numbers, claude));
  return { blocks, usage: usage(100) };
}

/** A call of a tool: one that is quick, one that is slow, one with much output, one that fails. */
function call(numbers, claude) {
  calls += 1;
  const id = `toolu_${calls}`;
  const bash = (command) => ({ type: "tool_use", id, name: "Bash", input: { command, description: "Run it" } });
  switch (numbers.below(7)) {
    case 0:
      return bash("sleep 0.2; echo slow");
    case 1:
      return bash("seq 1 9000");
    case 2:
      return bash("echo bad >&2; exit 3");
    case 3:
      return { type: "tool_use", id, name: "Read", input: { file_path: "/nowhere/at/all" } };
    case 4:
      return { type: "tool_use", id, name: "Unheard", input: {} };
    case 5:
      return { type: "tool_use", id, name: "Write", input: { file_path: `${claude.work}/note.txt`, content: "A note." } };
    default:
      return bash("echo one");
  }
}
