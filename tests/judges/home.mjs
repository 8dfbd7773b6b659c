// A temporary home for a program, and runs of the program in it.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Home {
  constructor(name) {
    this.path = mkdtempSync(join(tmpdir(), `${name}-judge-`));
    /** The folder in which the program runs. */
    this.work = join(this.path, "work");
    mkdirSync(this.work);
  }

  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Starts a program, with nothing of the environment but the path and what is given. */
  spawn(program, args, { env, ...options } = {}) {
    const environment = { PATH: process.env.PATH, HOME: this.path, ...env };
    return spawn(program, args, { cwd: this.work, env: environment, ...options });
  }

  /** Runs a program to its end, without input; gives its code and what it printed. `onStart` is given the process. */
  run(program, args, { onStart = () => {}, ...options } = {}) {
    return new Promise((done, fail) => {
      const child = this.spawn(program, args, options);
      onStart(child);
      child.stdin.end();
      let [out, errors] = ["", ""];
      child.stdout.on("data", (data) => (out += data));
      child.stderr.on("data", (data) => (errors += data));
      child.on("error", fail);
      child.on("close", (code) => done({ code, out, errors }));
    });
  }
}
