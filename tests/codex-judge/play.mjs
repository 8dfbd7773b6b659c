// Sessions that Codex makes at random.

import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Numbers } from "../judges/numbers.mjs";
import { answer, PICTURE, spawnAgent } from "./answers.mjs";
import { AppServer } from "./app-server.mjs";
import { headerOf } from "./codex.mjs";
import { message, usage } from "./stand-in.mjs";

/** Tokens behind which Codex compacts. */
const MANY = 250_000;

/**
 * Plays a session, and what is forked from it, and resumes each. The answer is as that of the job `sessions`; a session
 * that cannot be resumed has an `error` in place of its `context`.
 */
export async function play(codex, { seed, model }) {
  const player = new Player(codex, new Numbers(seed));
  await player.begin();
  const made = await player.play();
  const files = codex.rollouts();
  const sessions = [];
  for (const { name, id, path } of [...made, ...agents(codex, made)]) {
    const resumed = codex.resume(id, path, model).then(
      (context) => ({ context }),
      (error) => ({ error: error.message }),
    );
    sessions.push({ name: `play ${seed}, ${name}`, id, file: basename(path), ...(await resumed) });
  }
  return { files, resumed: codex.rollouts(), sessions };
}

/** The sessions of agents, as `{name, id, path}`. */
function agents(codex, made) {
  const known = new Set(made.map(({ id }) => id));
  const others = codex.paths().map((path) => ({ name: "an agent", id: headerOf(path).id, path }));
  return others.filter(({ id, path }) => !known.has(id) && headerOf(path).parent_thread_id);
}

class Player {
  /** Ids of the turns of the session that is played. */
  #turns = [];
  #made = [];
  #prompts = 0;

  constructor(codex, numbers) {
    this.codex = codex;
    this.numbers = numbers;
  }

  async begin() {
    this.server = new AppServer(this.codex);
    await this.server.start();
    const settings = this.numbers.oneIn(3) ? { historyMode: "legacy" } : {};
    this.thread = await this.server.thread(settings);
  }

  /** Plays some turns; gives the sessions as `{name, id, path}`. */
  async play() {
    await this.#talk();
    const count = 1 + this.numbers.below(6);
    for (let step = 0; step < count; step += 1) await this.#step();
    this.#keep("the last");
    await this.server.stop();
    return this.#made;
  }

  #keep(name) {
    this.#made.push({ name: `${this.#made.length} ${name}`, id: this.thread.id, path: this.thread.path });
  }

  #step() {
    switch (this.numbers.below(20)) {
      case 0:
        return this.#talk({ model: this.numbers.of(["gpt-5-codex", "gpt-5.5", "gpt-5"]) });
      case 1:
        return this.#picture();
      case 2:
        return this.#shellCommand();
      case 3:
        return this.#compact();
      case 4:
      case 5:
        return this.#interrupt();
      case 6:
        return this.#steer();
      case 7:
        return this.#fork();
      case 8:
        return this.#revert();
      case 9:
        return this.#startAgain();
      case 10:
        return this.#fail();
      case 11:
        return this.#agent();
      case 12:
        return this.#talk({ cwd: this.codex.home.path, sandboxPolicy: { type: "readOnly" } });
      default:
        return this.#talk();
    }
  }

  get #prompt() {
    this.#prompts += 1;
    const number = this.#prompts;
    return this.numbers.oneIn(12) ? `Prompt ${number}\n${"w ".repeat(9000)}` : `Prompt ${number}`;
  }

  /** A turn with some answers, of which one may be so long that Codex compacts. */
  async #talk(settings) {
    this.#script();
    await this.#turn(this.#prompt, settings);
  }

  #script() {
    const { script } = this.codex.api;
    const rounds = this.numbers.below(4);
    for (let round = 0; round < rounds; round += 1) {
      const items = answer(this.numbers, this.codex.work);
      if (this.numbers.oneIn(12)) {
        // The next answer is the summary.
        script.push({ items, usage: usage(MANY) }, {});
      } else {
        script.push({ items, breaks: this.numbers.oneIn(16) });
      }
    }
    if (this.numbers.oneIn(8)) script.push({ usage: usage(MANY) });
  }

  async #turn(input, settings) {
    this.#turns.push(await this.server.turn(this.thread.id, input, settings));
    // What was not asked for is not for the next turn.
    this.codex.api.script.length = 0;
  }

  async #picture() {
    const path = join(this.codex.work, "dot.png");
    writeFileSync(path, Buffer.from(PICTURE, "base64"));
    await this.#turn([{ type: "text", text: this.#prompt }, { type: "localImage", path }]);
  }

  async #shellCommand() {
    const ended = this.server.next("turn/completed", this.thread.id);
    const command = this.numbers.of(["echo mine", "seq 1 5000", "false"]);
    await this.server.call("thread/shellCommand", { threadId: this.thread.id, command });
    await ended;
  }

  async #compact() {
    const ended = this.server.next("turn/completed", this.thread.id);
    await this.server.call("thread/compact/start", { threadId: this.thread.id });
    await ended;
  }

  /** Begins a turn, in which the model's answer does not end; gives its id when the answer has been sent. */
  async #hanging(items) {
    const { api } = this.codex;
    api.script.push({ hang: true, items });
    const hangs = new Promise((done) => (api.onHang = done));
    const input = [{ type: "text", text: this.#prompt }];
    const { turn } = await this.server.call("turn/start", { threadId: this.thread.id, input });
    await hangs;
    // What it was sent has to be in the rollout.
    await new Promise((done) => setTimeout(done, 200));
    return turn.id;
  }

  async #interrupt() {
    const ended = this.server.next("turn/completed", this.thread.id);
    const items = this.numbers.oneIn(3) ? [message("Part of it.")] : answer(this.numbers, this.codex.work);
    const turnId = await this.#hanging(items);
    await this.server.call("turn/interrupt", { threadId: this.thread.id, turnId });
    await ended;
    this.#turns.push(turnId);
  }

  /** The user says something in the midst of a turn. */
  async #steer() {
    const { api } = this.codex;
    const command = { cmd: "sleep 0.6; echo slow" };
    const call = { type: "function_call", name: "exec_command", arguments: JSON.stringify(command), call_id: "slow" };
    api.script.push({ items: [call] });
    const ended = this.server.next("turn/completed", this.thread.id);
    const input = [{ type: "text", text: this.#prompt }];
    const { turn } = await this.server.call("turn/start", { threadId: this.thread.id, input });
    await new Promise((done) => setTimeout(done, 300));
    const steer = { threadId: this.thread.id, expectedTurnId: turn.id, input: [{ type: "text", text: this.#prompt }] };
    // It is refused where the turn has ended.
    await this.server.call("turn/steer", steer).catch(() => {});
    await ended;
    this.#turns.push(turn.id);
  }

  /** Goes on with a fork, of all or of a part. */
  async #fork() {
    this.#keep("forked");
    const at = this.numbers.of(this.#turns);
    const ends = [{}, { lastTurnId: at }, { beforeTurnId: at }];
    const end = this.numbers.of(ends);
    const { thread } = await this.server.call("thread/fork", { threadId: this.thread.id, ...end });
    this.thread = thread;
    this.#turns = [];
    await this.#talk();
  }

  async #revert() {
    const beforeTurnId = this.numbers.of(this.#turns);
    const reverted = { threadId: this.thread.id, beforeTurnId };
    // A session of the older kind, and one whose turns are not its own, cannot be reverted.
    const answer = await this.server.call("thread/revert", reverted).catch(() => null);
    if (answer) {
      this.thread = answer.thread;
      this.#turns = this.#turns.slice(0, this.#turns.indexOf(beforeTurnId));
    }
    await this.#talk();
  }

  /** Another process goes on. */
  async #startAgain() {
    await this.server.stop();
    this.server = new AppServer(this.codex);
    await this.server.start();
    const { thread } = await this.server.call("thread/resume", { threadId: this.thread.id });
    this.thread = thread;
    await this.#talk();
  }

  async #fail() {
    this.codex.api.script.push({ items: answer(this.numbers, this.codex.work) }, { status: 400 });
    await this.#turn(this.#prompt);
  }

  async #agent() {
    this.codex.api.script.push({ items: [spawnAgent] });
    await this.#turn(this.#prompt);
    await new Promise((done) => setTimeout(done, 700));
    await this.#turn("And now?");
  }
}
