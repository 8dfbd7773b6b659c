// Codex itself, in a home of its own.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StandIn } from "./stand-in.mjs";

const installed = new URL("../../target/codex-judge/node_modules/.bin/codex", import.meta.url);

/** The program: what `LEAFLINE_CODEX` names, or the one that is installed in `target`. */
const program = process.env.LEAFLINE_CODEX ?? fileURLToPath(installed);

/** How long a turn may take, in milliseconds. */
const PATIENCE = 30_000;

export class Codex {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "codex-judge-"));
    this.work = join(this.home, "work");
    this.api = new StandIn();
  }

  async start() {
    await this.api.start();
    mkdirSync(this.work);
    writeFileSync(
      join(this.home, "config.toml"),
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
    rmSync(this.home, { recursive: true, force: true });
  }

  spawn(args) {
    return spawn(program, args, {
      cwd: this.work,
      env: { PATH: process.env.PATH, HOME: this.home, CODEX_HOME: this.home, LOCAL_KEY: "x" },
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** Runs it to its end; gives what it printed, or throws with what it said of an error. */
  run(args) {
    return new Promise((done, fail) => {
      const child = this.spawn(args);
      child.stdin.end();
      let out = "";
      let errors = "";
      child.stdout.on("data", (data) => (out += data));
      child.stderr.on("data", (data) => (errors += data));
      child.on("error", fail);
      child.on("close", (code) => {
        if (code === 0) return done(out);
        const said = errors.split("\n").filter((line) => /error/i.test(line));
        fail(new Error(said.join("\n") || `codex ended with ${code}`));
      });
    });
  }

  /**
   * Resumes a session with a new prompt, and gives what of the request's input is from the rollout: all but the
   * instructions, which come first, and what was added to the rollout in this run. Each item is a text of JSON.
   */
  async resume(id, path, model) {
    const before = readFileSync(path);
    const first = this.api.requests.length;
    const settings = model ? ["-m", model] : [];
    await this.run(["exec", "--skip-git-repo-check", ...settings, "resume", id, "PROBE"]);
    const requests = this.api.requests.slice(first);
    const request = requests.find((body) => JSON.stringify(body.input).includes('"PROBE"'));
    if (!request) throw new Error("no request has the prompt");
    if (requests[0] !== request) throw new Error("it was compacted before the prompt was sent");
    const after = readFileSync(path);
    if (!after.subarray(0, before.length).equals(before)) throw new Error("the rollout was rewritten");
    const added = new Set();
    for (const line of after.subarray(before.length).toString().split("\n")) {
      const record = line.startsWith("{") ? tryParse(line) : null;
      if (record?.type === "response_item") added.add(record.payload.id);
    }
    const [instructions, ...rest] = request.input;
    if (instructions.role !== "developer") throw new Error("the instructions do not come first");
    return rest.filter((item) => !added.has(item.id)).map((item) => JSON.stringify(item));
  }
}

function tryParse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A conversation with `codex app-server`. */
export class AppServer {
  #next = 1;
  #answers = new Map();
  #waiting = [];

  constructor(codex) {
    this.codex = codex;
  }

  async start() {
    this.child = this.codex.spawn(["app-server"]);
    this.ended = new Promise((done) => this.child.on("close", done));
    this.child.stderr.resume();
    let rest = "";
    this.child.stdout.on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.trim()) this.#take(JSON.parse(line));
    });
    await this.call("initialize", {
      clientInfo: { name: "judge", version: "0" },
      capabilities: { experimentalApi: true },
    });
    this.#send({ method: "initialized" });
  }

  async stop() {
    this.child.stdin.end();
    await this.ended;
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #take(message) {
    if (message.method === undefined) {
      this.#answers.get(message.id)?.(message);
      this.#answers.delete(message.id);
      return;
    }
    for (const waiting of this.#waiting) waiting(message);
  }

  call(method, params) {
    const id = this.#next++;
    return new Promise((done, fail) => {
      this.#answers.set(id, ({ result, error }) =>
        error ? fail(new Error(`${method}: ${JSON.stringify(error)}`)) : done(result),
      );
      this.#send({ id, method, params });
    });
  }

  /** The next notification of a method, of a thread. */
  next(method, threadId) {
    return new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error(`no ${method} came`)), PATIENCE);
      const waiting = (message) => {
        if (message.method !== method || message.params.threadId !== threadId) return;
        clearTimeout(late);
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        done(message.params);
      };
      this.#waiting.push(waiting);
    });
  }

  /** A turn from its prompt to its end; gives its id. */
  async turn(threadId, input, settings = {}) {
    const ended = this.next("turn/completed", threadId);
    const parts = typeof input === "string" ? [{ type: "text", text: input }] : input;
    const { turn } = await this.call("turn/start", { threadId, input: parts, ...settings });
    await ended;
    return turn.id;
  }

  async thread(settings = {}) {
    const params = { sandbox: "danger-full-access", approvalPolicy: "never", ...settings };
    return (await this.call("thread/start", params)).thread;
  }
}
