// Claude Code itself, in a home of its own.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StandIn } from "./stand-in.mjs";

const installed = new URL("../../target/claude-judge/claude_agent_sdk/_bundled/claude", import.meta.url);

/** The program: what `LEAFLINE_CLAUDE` names, or the one that is installed in `target`. */
const program = process.env.LEAFLINE_CLAUDE ?? fileURLToPath(installed);

/** How long a run may take, in milliseconds. */
const PATIENCE = 60_000;

export class Claude {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "claude-judge-"));
    this.work = join(this.home, "work");
    this.folder = join(this.home, ".claude/projects", this.work.replace(/[^a-zA-Z0-9]/g, "-"));
    this.api = new StandIn();
  }

  async start() {
    await this.api.start();
    mkdirSync(this.work);
    mkdirSync(this.folder, { recursive: true });
  }

  stop() {
    this.api.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  path(id) {
    return join(this.folder, `${id}.jsonl`);
  }

  /** Runs it to its end; gives what it printed, or throws with what it said of an error. */
  run(run, args, { signal } = {}) {
    const environment = {
      PATH: process.env.PATH,
      HOME: this.home,
      ANTHROPIC_BASE_URL: run.url,
      ANTHROPIC_API_KEY: "x",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    };
    return new Promise((done, fail) => {
      const child = spawn(program, args, { cwd: this.work, env: environment, timeout: PATIENCE });
      run.onHang = () => child.kill(signal);
      child.stdin.end();
      let out = "";
      let errors = "";
      child.stdout.on("data", (data) => (out += data));
      child.stderr.on("data", (data) => (errors += data));
      child.on("error", fail);
      child.on("close", (code) => {
        if (code === 0) return done(out);
        fail(new Error(errors.trim() || out.trim() || `claude ended with ${code}`));
      });
    });
  }
}
