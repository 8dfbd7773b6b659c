// A conversation with `codex app-server`, which answers and ends in time.

import { inTime } from "../judges/home.mjs";

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
    await inTime(this.ended, "the server's end");
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
    const answered = new Promise((done, fail) => {
      this.#answers.set(id, ({ result, error }) =>
        error ? fail(new Error(`${method}: ${JSON.stringify(error)}`)) : done(result),
      );
      this.#send({ id, method, params });
    });
    return inTime(answered, method);
  }

  /** The next notification of a method, of a thread. */
  next(method, threadId) {
    const came = new Promise((done) => {
      const waiting = (message) => {
        if (message.method !== method || message.params.threadId !== threadId) return;
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        done(message.params);
      };
      this.#waiting.push(waiting);
    });
    return inTime(came, method);
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
