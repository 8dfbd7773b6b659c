// Claude Code itself, in a home of its own.

import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { Home } from "../judges/home.mjs";
import { installed } from "../judges/pins.mjs";
import { StandIn } from "./stand-in.mjs";

/** The program: what `LEAFLINE_CLAUDE` names, or the one that `./setup` installs. */
export const program =
  process.env.LEAFLINE_CLAUDE ?? join(installed("claude").folder, "claude_agent_sdk/_bundled/claude");

export class Claude {
  constructor() {
    this.home = new Home("claude");
    this.work = this.home.work;
    this.folder = join(this.home.path, ".claude/projects", this.work.replace(/[^a-zA-Z0-9]/g, "-"));
    this.api = new StandIn();
  }

  /** The same with another folder in place of the program's own. */
  in(folder) {
    const project = basename(this.folder);
    return Object.assign(Object.create(this), { folder: join(folder, "projects", project), config: folder });
  }

  async start() {
    await this.api.start();
    mkdirSync(this.folder, { recursive: true });
  }

  stop() {
    this.api.stop();
    this.home.remove();
  }

  path(id) {
    return join(this.folder, `${id}.jsonl`);
  }

  /** Runs it to its end; gives what it printed, or throws with what it said of an error. */
  async run(run, args, { signal } = {}) {
    const env = {
      ANTHROPIC_BASE_URL: run.url,
      ANTHROPIC_API_KEY: "x",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
      ...(this.config && { CLAUDE_CONFIG_DIR: this.config }),
    };
    const onStart = (child) => (run.onHang = () => child.kill(signal));
    const { code, out, errors } = await this.home.run(program, args, { env, onStart });
    if (code === 0) return out;
    throw new Error(errors.trim() || out.trim() || `claude ended with ${code}`);
  }
}
