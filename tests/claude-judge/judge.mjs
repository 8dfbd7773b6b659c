// Reads jobs, one JSON line each, and answers in their order; see README.md.

import { answerJobs } from "../judges/jobs.mjs";
import { Claude } from "./claude.mjs";
import { mcp } from "./mcp.mjs";
import { play } from "./play.mjs";
import { exported, resume } from "./resume.mjs";

const claude = new Claude();
await claude.start();
try {
  const operations = { exported, mcp, play, resume };
  const jobs = Object.fromEntries(Object.entries(operations).map(([name, run]) => [name, (job) => run(claude, job)]));
  await answerJobs(jobs, { atOnce: 2 });
} finally {
  claude.stop();
}
