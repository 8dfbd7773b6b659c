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

/** Sessions that Codex makes, their files, and what it is sent when it resumes them. */
async function sessions(codex) {
  const made = await makeSessions(codex);
  const files = {};
  for (const path of rollouts(join(codex.home, "sessions"))) files[basename(path)] = readFileSync(path, "utf8");
  const answers = [];
  for (const { name, id, path } of made) {
    answers.push({ name, id, file: basename(path), context: await codex.resume(id, path) });
  }
  return { ok: true, files, sessions: answers };
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
