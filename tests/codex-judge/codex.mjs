// Codex itself, in a home of its own.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Home } from "../judges/home.mjs";
import { installed } from "../judges/pins.mjs";
import { StandIn } from "./stand-in.mjs";

/** The program: what `LEAFLINE_CODEX` names, or the one that `./setup` installs. */
export const program = process.env.LEAFLINE_CODEX ?? join(installed("codex").folder, "node_modules/.bin/codex");

export class Codex {
  constructor() {
    this.home = new Home("codex");
    this.work = this.home.work;
    /** Its configuration and its sessions. */
    this.folder = this.home.path;
    this.api = new StandIn();
  }

  async start() {
    await this.api.start();
    this.#configure();
  }

  /** Uses another folder in place of its own from now on. */
  moveTo(folder) {
    this.folder = folder;
    this.#configure();
  }

  #configure() {
    writeFileSync(
      join(this.folder, "config.toml"),
      `model = "gpt-5"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "${this.api.url}"
wire_api = "responses"
env_key = "LOCAL_KEY"
`,
    );
  }

  stop() {
    this.api.stop();
    this.home.remove();
  }

  get #env() {
    return { CODEX_HOME: this.folder, LOCAL_KEY: "x" };
  }

  spawn(args) {
    return this.home.spawn(program, args, { env: this.#env });
  }

  /** Runs it to its end; gives what it printed, or throws with what it said of an error. */
  async run(args) {
    const { code, out, errors } = await this.home.run(program, args, { env: this.#env });
    if (code === 0) return out;
    const said = errors.split("\n").filter((line) => /error/i.test(line));
    throw new Error(said.join("\n") || `codex ended with ${code}`);
  }

  /** The files of all rollouts. */
  paths() {
    return rollouts(join(this.folder, "sessions"));
  }

  /** The texts of all rollouts by the names of their files. */
  rollouts() {
    return Object.fromEntries(this.paths().map((path) => [basename(path), readFileSync(path, "utf8")]));
  }

  /**
   * Resumes a session by its id or its name with a new prompt, and gives what of the request's input is from the rollout: all but the
   * instructions, which come first, and what was added to the rollout in this run. Where Codex compacts before it sends
   * the prompt, it is the request for the summary. Each item is a text of JSON.
   */
  async resume(called, path, model) {
    const before = readFileSync(path);
    this.api.requests.length = 0;
    const settings = model ? ["-m", model] : [];
    await this.run(["exec", "--skip-git-repo-check", ...settings, "resume", "--all", called, "PROBE"]);
    const { requests } = this.api;
    const request = requests.find((body) => JSON.stringify(body.input).includes('"PROBE"'));
    if (!request) throw new Error("no request has the prompt");
    const isCompactedFirst = requests[0] !== request;
    const after = readFileSync(path);
    if (!after.subarray(0, before.length).equals(before)) throw new Error("the rollout was rewritten");
    const added = new Set();
    for (const line of after.subarray(before.length).toString().split("\n")) {
      const record = line.startsWith("{") ? tryParse(line) : null;
      if (record?.type === "response_item") added.add(record.payload.id);
    }
    const [instructions, ...rest] = requests[0].input;
    if (instructions.role !== "developer") throw new Error("the instructions do not come first");
    if (isCompactedFirst && !isForSummary(rest.pop())) throw new Error("another request is the first");
    return rest.filter((item) => !added.has(item.id)).map((item) => JSON.stringify(item));
  }
}

/** What the first line of a rollout says of it. */
export const headerOf = (path) => JSON.parse(readFileSync(path, "utf8").split("\n")[0]).payload;

const isForSummary = ({ content }) =>
  content?.[0]?.text?.startsWith("You are performing a CONTEXT CHECKPOINT COMPACTION") ?? false;

function rollouts(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return rollouts(path);
    return entry.name.endsWith(".jsonl") ? [path] : [];
  });
}

function tryParse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
