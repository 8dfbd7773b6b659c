// Reads jobs, one JSON line each, and answers in their order; see README.md.

import { answerJobs } from "../judges/jobs.mjs";
import { Claude } from "./claude.mjs";
import { play } from "./play.mjs";
import { exported, resume } from "./resume.mjs";

const claude = new Claude();
await claude.start();
try {
  const jobs = { exported: (job) => exported(claude, job), resume: (job) => resume(claude, job), play: (job) => play(claude, job) };
  await answerJobs(jobs, { atOnce: 2 });
} finally {
  claude.stop();
}
