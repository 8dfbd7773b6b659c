// Jobs from standard input, one JSON line each, and their answers to standard output, in the same order.

import { createInterface } from "node:readline";

/**
 * Answers all jobs: `jobs` has a function for each `op`. So many are under way at once. A job that throws has the answer
 * `{"ok":false,"error":"..."}`, with `"hangs":true` where the program took too long.
 */
export async function answerJobs(jobs, { atOnce = 1 } = {}) {
  let running = 0;
  let free = () => {};
  let written = Promise.resolve();
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    while (running >= atOnce) await new Promise((done) => (free = done));
    running += 1;
    const answered = answer(jobs, line).finally(() => {
      running -= 1;
      free();
    });
    written = Promise.all([answered, written]).then(([text]) => write(text));
  }
  await written;
}

async function answer(jobs, line) {
  try {
    const job = JSON.parse(line);
    if (!Object.hasOwn(jobs, job.op)) throw new Error(`no operation is called ${job.op}`);
    return JSON.stringify(await jobs[job.op](job));
  } catch (error) {
    const hangs = error?.hangs ? { hangs: true } : {};
    return JSON.stringify({ ok: false, error: String(error?.message ?? error), ...hangs });
  }
}

const write = (text) => new Promise((done) => process.stdout.write(`${text}\n`, done));
