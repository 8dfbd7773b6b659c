// Reads jobs, one JSON line each, and answers in their order; see README.md.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { answerJobs } from "../judges/jobs.mjs";
import { Codex } from "./codex.mjs";
import { play } from "./play.mjs";
import { makeSessions } from "./sessions.mjs";

/** How many jobs there may be at once, each with a home of its own. */
const AT_ONCE = 2;

/** Homes in which no job runs, for sessions that leave nothing there. */
const idle = [];

async function started() {
  const codex = new Codex();
  await codex.start();
  return codex;
}

/** What Codex is sent when it resumes a rollout that is given. */
async function resume({ id, file, model }) {
  const codex = idle.pop() ?? (await started());
  const folder = join(codex.home.path, "sessions/2026/11/20");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `rollout-2026-11-20T10-00-00-${id}.jsonl`);
  writeFileSync(path, file);
  try {
    return { ok: true, context: await codex.resume(id, path, model) };
  } finally {
    rmSync(path, { force: true });
    idle.push(codex);
  }
}

/** The same for a session in a folder that takes the place of Codex's own; it is resumed by its name if that is given. */
async function exported(codex, { folder, id, name, model }) {
  codex.moveTo(folder);
  const path = codex.paths().find((path) => path.endsWith(`${id}.jsonl`));
  if (!path) throw new Error(`no rollout is called ${id}`);
  return { context: await codex.resume(name ?? id, path, model) };
}

/** What a job does in a home in which nothing has been yet. */
const inNewHome = (job) => async (settings) => {
  const codex = await started();
  try {
    return { ok: true, ...(await job(codex, settings)) };
  } finally {
    codex.stop();
  }
};

/** Sessions that Codex makes, their files before and after it resumes them, and what it is sent when it does. */
async function sessions(codex, { model }) {
  const made = await makeSessions(codex);
  const files = codex.rollouts();
  const sessions = [];
  for (const { name, id, path } of made) {
    sessions.push({ name, id, file: basename(path), context: await codex.resume(id, path, model) });
  }
  return { files, resumed: codex.rollouts(), sessions };
}

try {
  const jobs = { resume, exported: inNewHome(exported), sessions: inNewHome(sessions), play: inNewHome(play) };
  await answerJobs(jobs, { atOnce: AT_ONCE });
} finally {
  for (const codex of idle) codex.stop();
}
