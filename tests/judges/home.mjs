// A temporary home for a program, and runs of the program in it, each with a time limit.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long a run of a program may take, and anything that it is asked for while it runs, in milliseconds. */
export const PATIENCE = 300_000;

/** What is thrown where a program takes longer; the answer to the job has `"hangs":true`. */
export class Hang extends Error {
  hangs = true;
}

/** What the promise gives, unless it takes too long: then `onLate` is called, and a `Hang` says that `what` took so long. */
export function inTime(promise, what, { patience = PATIENCE, onLate = () => {} } = {}) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => {
      onLate();
      fail(new Hang(`${what} took more than ${patience / 1000} s`));
    }, patience);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The programs that run, each the first of a group of processes, with those that it starts. */
const running = new Set();

function end(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // None of the group is left.
  }
}

process.on("exit", () => running.forEach(end));
// They do not get the signals of this group.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

export class Home {
  #running = new Set();

  constructor(name) {
    this.path = mkdtempSync(join(tmpdir(), `${name}-judge-`));
    /** The folder in which the program runs. */
    this.work = join(this.path, "work");
    mkdirSync(this.work);
  }

  /** Ends what still runs in it, and removes it. */
  remove() {
    this.#running.forEach(end);
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  /** Starts a program, with nothing of the environment but the path and what is given. */
  spawn(program, args, { env, ...options } = {}) {
    const environment = { PATH: process.env.PATH, HOME: this.path, ...env };
    const child = spawn(program, args, { cwd: this.work, env: environment, detached: true, ...options });
    for (const set of [running, this.#running]) {
      set.add(child);
      child.on("close", () => set.delete(child));
    }
    return child;
  }

  /**
   * Runs a program to its end, without input; gives its code and what it printed. `onStart` is given the process. If it
   * takes more than `patience`, it is ended with all that it has started, and a `Hang` is thrown.
   */
  run(program, args, { onStart = () => {}, patience = PATIENCE, ...options } = {}) {
    const child = this.spawn(program, args, options);
    const ended = new Promise((done, fail) => {
      onStart(child);
      child.stdin.end();
      let [out, errors] = ["", ""];
      child.stdout.on("data", (data) => (out += data));
      child.stderr.on("data", (data) => (errors += data));
      child.on("error", fail);
      child.on("close", (code) => done({ code, out, errors }));
    });
    return inTime(ended, "the run", { patience, onLate: () => end(child) });
  }
}
