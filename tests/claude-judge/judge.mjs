// Reads jobs, one JSON line each, and answers in their order; see README.md.

import { createInterface } from "node:readline";
import { Claude } from "./claude.mjs";
import { play } from "./play.mjs";
import { resume } from "./resume.mjs";

const jobs = { resume, play };

/** How many runs there may be at once. */
const AT_ONCE = 2;

const claude = new Claude();
await claude.start();
try {
  let running = 0;
  let free = () => {};
  const answers = [];
  for await (const line of createInterface({ input: process.stdin })) {
    const job = JSON.parse(line);
    while (running >= AT_ONCE) await new Promise((done) => (free = done));
    running += 1;
    const answer = jobs[job.op](claude, job).catch((error) => ({ ok: false, error: error.message }));
    answers.push(answer);
    answer.then(() => {
      running -= 1;
      free();
    });
  }
  for (const answer of answers) console.log(JSON.stringify(await answer));
} finally {
  claude.stop();
}
