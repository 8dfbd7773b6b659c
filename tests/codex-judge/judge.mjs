// Reads jobs, one JSON line each, and answers in their order; see README.md.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { Codex } from "./codex.mjs";
import { makeSessions } from "./sessions.mjs";

const jobs = { resume, sessions };

/** What Codex is sent when it resumes a rollout that is given. */
async function resume(codex, { id, file, model }) {
  const folder = join(codex.home, "sessions/2026/11/20");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `rollout-2026-11-20T10-00-00-${id}.jsonl`);
  writeFileSync(path, file);
  try {
    return { ok: true, context: await codex.resume(id, path, model) };
  } catch (error) {
    return { ok: false, error: error.message };
  }
}

/** Sessions that Codex makes, their files before and after it resumes them, and what it is sent when it does. */
async function sessions(codex, { model }) {
  const made = await makeSessions(codex);
  const files = filesOf(codex);
  const answers = [];
  for (const { name, id, path } of made) {
    answers.push({ name, id, file: basename(path), context: await codex.resume(id, path, model) });
  }
  return { ok: true, files, resumed: filesOf(codex), sessions: answers };
}

/** The texts of all rollouts by the names of their files. */
function filesOf(codex) {
  const paths = rollouts(join(codex.home, "sessions"));
  return Object.fromEntries(paths.map((path) => [basename(path), readFileSync(path, "utf8")]));
}

function rollouts(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return rollouts(path);
    return entry.name.endsWith(".jsonl") ? [path] : [];
  });
}

const codex = new Codex();
await codex.start();
try {
  for await (const line of createInterface({ input: process.stdin })) {
    const job = JSON.parse(line);
    console.log(JSON.stringify(await jobs[job.op](codex, job)));
  }
} finally {
  codex.stop();
}
