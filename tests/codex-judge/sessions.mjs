// Sessions that Codex itself makes, one for each thing that a session can have.

import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PICTURE, spawnAgent } from "./answers.mjs";
import { inTime } from "../judges/home.mjs";
import { AppServer } from "./app-server.mjs";
import { headerOf } from "./codex.mjs";
import { message, usage } from "./stand-in.mjs";

const call = (id, command) => ({
  type: "function_call",
  name: "exec_command",
  arguments: JSON.stringify({ cmd: command }),
  call_id: id,
});

/** Makes all of them; gives `[{name, id, path}]`. */
export async function makeSessions(codex) {
  const server = new AppServer(codex);
  await server.start();
  const made = [];
  const keep = (name, thread) => made.push({ name, id: thread.id, path: thread.path });

  keep("plain", await plain(server));
  keep("tools", await tools(codex, server));
  keep("a picture and another model", await picture(codex, server));
  const { thread, third, fourth } = await compacted(codex, server);
  const fork = (await server.call("thread/fork", { threadId: thread.id, lastTurnId: fourth })).thread;
  await server.turn(fork.id, "In the fork");
  keep("a fork", fork);
  const again = (await server.call("thread/fork", { threadId: fork.id })).thread;
  await server.turn(again.id, "In the fork of the fork");
  keep("a fork of a fork", again);
  const early = (await server.call("thread/fork", { threadId: thread.id, beforeTurnId: third })).thread;
  await server.turn(early.id, "Before the compaction");
  keep("a fork from before the compaction", early);
  keep("compacted and interrupted", thread);
  keep("reverted", await reverted(server));
  const legacy = await compactedByHand(server, { historyMode: "legacy" });
  keep("the older kind, compacted", legacy.thread);
  keep("the older kind, forked", await legacyFork(server, legacy));
  const agent = await agents(codex, server);
  keep("with an agent", agent.thread);
  made.push(agent.own);
  await server.stop();

  // Today's Codex knows rollbacks and does not make them any more.
  for (const turns of [1, 2, 3]) made.push(rolledBack(legacy.thread, turns));
  const migrated = rolledBack(legacy.thread, 4);
  // Only what Codex has opened once can be migrated.
  await codex.resume(migrated.id, migrated.path);
  await codex.run(["migrate-rollouts", "--apply", "--thread", migrated.id]);
  made.push({ ...migrated, name: "migrated" });
  return made;
}

async function plain(server) {
  const thread = await server.thread();
  await server.turn(thread.id, "One");
  await server.turn(thread.id, "Two");
  return thread;
}

async function tools(codex, server) {
  const thread = await server.thread();
  codex.api.script.push({
    items: [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "gAAA" },
      message("I look."),
      call("c1", "echo one"),
      call("c2", "seq 1 9000"),
    ],
  });
  await server.turn(thread.id, "Two calls side by side");
  codex.api.script.push({
    items: [
      {
        type: "local_shell_call",
        call_id: "c3",
        status: "completed",
        action: { type: "exec", command: ["echo", "three"] },
      },
      { type: "custom_tool_call", call_id: "c4", name: "apply_patch", input: "*** Begin Patch\n*** End Patch\n" },
      { type: "web_search_call", status: "completed", action: { type: "search", query: "tides" } },
    ],
  });
  await server.turn(thread.id, "Calls of other kinds");
  return thread;
}

async function picture(codex, server) {
  const path = join(codex.work, "dot.png");
  writeFileSync(path, Buffer.from(PICTURE, "base64"));
  const thread = await server.thread();
  await server.turn(thread.id, [{ type: "text", text: "A picture" }, { type: "localImage", path }]);
  await server.turn(thread.id, "Another model", { model: "gpt-5-codex" });
  return thread;
}

async function compacted(codex, server) {
  const thread = await server.thread();
  await server.turn(thread.id, "One");
  codex.api.script.push({ usage: usage(250_000) });
  await server.turn(thread.id, "Two");
  const third = await server.turn(thread.id, "Three, and it is compacted first");
  const fourth = await server.turn(thread.id, "Four");
  codex.api.script.push({ hang: true, items: [message("Part of it."), call("c9", "sleep 60")] });
  const hangs = new Promise((done) => (codex.api.onHang = done));
  const before = answersIn(thread.path);
  const ended = server.next("turn/completed", thread.id);
  const { turn } = await server.call("turn/start", {
    threadId: thread.id,
    input: [{ type: "text", text: "Five, and it is interrupted" }],
  });
  await hangs;
  // Both items have to be in the rollout before it is stopped.
  await until(() => answersIn(thread.path) >= before + 2, "what was said");
  await server.call("turn/interrupt", { threadId: thread.id, turnId: turn.id });
  await ended;
  return { thread, third, fourth };
}

async function reverted(server) {
  const thread = await server.thread();
  await server.turn(thread.id, "One");
  const second = await server.turn(thread.id, "Two");
  await server.turn(thread.id, "Three");
  const answer = await server.call("thread/revert", { threadId: thread.id, beforeTurnId: second });
  await server.turn(thread.id, "After the revert");
  return answer.thread;
}

async function compactedByHand(server, settings) {
  const thread = await server.thread(settings);
  const first = await server.turn(thread.id, "One");
  await server.turn(thread.id, "Two");
  const ended = server.next("turn/completed", thread.id);
  await server.call("thread/compact/start", { threadId: thread.id });
  await ended;
  await server.turn(thread.id, "Three");
  await server.turn(thread.id, "Four");
  return { thread, first };
}

async function legacyFork(server, { thread, first }) {
  const fork = (await server.call("thread/fork", { threadId: thread.id, lastTurnId: first })).thread;
  await server.turn(fork.id, "In the fork");
  return fork;
}

async function agents(codex, server) {
  const thread = await server.thread();
  codex.api.script.push({ items: [spawnAgent] });
  await server.turn(thread.id, "Let an agent do it");
  const path = await until(() => agentsOf(codex, thread).find(hasEnded), "the agent's end");
  await server.turn(thread.id, "And now?");
  return { thread, own: { name: "an agent", id: idOf(path), path } };
}

const idOf = (path) => headerOf(path).id;

/** The rollouts of a thread's agents. */
function agentsOf(codex, thread) {
  return codex.paths().filter((path) => recordsOf(path)[0]?.payload.parent_thread_id === thread.id);
}

/** The records of a rollout. Codex may be writing the last one. */
const recordsOf = (path) => readFileSync(path, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line));

/** How many items of the model's answers are in a rollout. */
function answersIn(path) {
  const items = recordsOf(path).filter(({ type }) => type === "response_item");
  return items.filter(({ payload: { type, role } }) => type !== "message" || role === "assistant").length;
}

const hasEnded = (path) => recordsOf(path).some(({ payload }) => payload.type === "task_complete");

/** Waits until there is something, and gives it. */
function until(find, what) {
  let timer;
  const found = new Promise((done) => {
    timer = setInterval(() => {
      const it = find();
      if (it) done(it);
    }, 10);
  });
  return inTime(found, what).finally(() => clearInterval(timer));
}

/** A copy of a session under another id, whose last turns are taken back. */
function rolledBack(thread, turns) {
  const id = `0199f2b4-0000-7000-8000-0000000000${turns}0`;
  const path = thread.path.replace(thread.id, id);
  copyFileSync(thread.path, path);
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(thread.id, id));
  const event = { type: "thread_rolled_back", num_turns: turns };
  const line = { timestamp: "2026-11-20T10:00:00.000Z", type: "event_msg", payload: event };
  appendFileSync(path, `${JSON.stringify(line)}\n`);
  return { name: `the older kind, ${turns} turns taken back`, id, path };
}
