// What the program sends when it resumes a session.

import { readFileSync, rmSync, writeFileSync } from "node:fs";

/** The model that sessions are resumed with: it is told of its surroundings in messages of the role `system`. */
export const MODEL = "claude-opus-5-5";

/** What stands for a message of the user's of which nothing is left. */
const NOTHING_LEFT = ["(no content)", "[Orphaned tool result removed due to conversation resume]"];

const PROBE = "PROBE";

/** What the program answers itself where a session ends with the user. */
const NO_ANSWER = "No response requested.";

/** What is sent when a session that is given as a text is resumed, and at which record. */
export async function resume(claude, { id, file }) {
  const path = claude.path(id);
  writeFileSync(path, file);
  try {
    return { ok: true, ...(await resumed(claude, id)) };
  } finally {
    rmSync(path);
  }
}

/** The same for a session in another folder than the program's own. */
export const exported = (claude, { folder, id }) => resumed(claude.in(folder), id);

/** The same for a session that has a file. */
export async function resumed(claude, id) {
  const file = readFileSync(claude.path(id), "utf8");
  const run = claude.api.begin();
  await claude.run(run, ["-p", "--resume", id, PROBE, "--model", MODEL, "--output-format", "json"]);
  const request = run.requests.find(({ messages }) => isProbe(messages));
  if (!request) throw new Error("no request has the prompt");
  if (run.requests[0] !== request) throw new Error("it was compacted before the prompt was sent");
  const after = readFileSync(claude.path(id), "utf8");
  if (!after.startsWith(file)) throw new Error("the file was rewritten");
  const added = after
    .slice(file.length)
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter((record) => record.uuid !== undefined);
  const { own, goesOn } = context(request.messages, file, added);
  // Commands behind the answer are no part of the path to the prompt.
  return { context: own, leaf: goesOn ? null : leaf(added) };
}

const isProbe = (messages) => JSON.stringify(messages).includes(`"${PROBE}"`);

/** The record of the session at which the prompt was added; null where results were added for calls that had none. */
function leaf(added) {
  const own = new Map(added.map((record) => [record.uuid, record]));
  let record = added.find(({ message }) => message?.content === PROBE);
  while (record && own.has(record.parentUuid)) {
    record = own.get(record.parentUuid);
    if (record.type === "user") return null;
  }
  return record?.parentUuid ?? null;
}

/**
 * The messages without what the program adds when it runs, each as a text of JSON; and whether they go on behind the answer
 * that the program gives itself.
 */
function context(messages, file, added) {
  const known = texts(file);
  const own = messages.filter(({ role }) => role !== "system").map((message) => withoutNews(message, known));
  withoutPrompt(own.at(-1));
  const isAnswered = added.some(isNoAnswer);
  const goesOn = isAnswered && own.at(-1).content.length > 0;
  if (isAnswered) withoutNoAnswer(own);
  const sent = own.filter(({ content }) => content.length > 0 || content === "");
  return { own: sent.map((message) => JSON.stringify(message)), goesOn };
}

/** Takes the prompt out of the last message, which may have what the session ended with. */
function withoutPrompt(last) {
  const isPrompt = ({ type, text }) => type === "text" && text === PROBE;
  if (last.content === PROBE) last.content = [];
  if (last.content.length === 0) return;
  if (!isPrompt(last.content.at(-1))) throw new Error(`the prompt is not the last: ${JSON.stringify(last)}`);
  last.content.pop();
  const before = last.content.at(-1);
  if (before?.type === "text") before.text = before.text.replace(/\n$/, "");
}

const isNoAnswer = ({ message }) => message?.role === "assistant" && message.content?.[0]?.text === NO_ANSWER;

/** Takes out what the program answers itself. It may stand ahead of commands with which a session ends. */
function withoutNoAnswer(own) {
  const place = own.findLastIndex((message) => isNoAnswer({ message }));
  if (place < 0) return;
  own.splice(place, 1);
  const [before, behind] = [own[place - 1], own[place]];
  if (before?.role !== "user" || behind?.role !== "user" || behind.content.length === 0) return;
  const blocks = blocksOf(before).filter(({ text }) => !NOTHING_LEFT.includes(text));
  const more = blocksOf(behind);
  if (blocks.at(-1)?.type === "text" && more[0].type === "text") blocks.at(-1).text += "\n";
  const all = [...blocks, ...more];
  const isResult = ({ type }) => type === "tool_result";
  const content = [...all.filter(isResult), ...all.filter((block) => !isResult(block))];
  own.splice(place - 1, 2, { role: "user", content });
}

const blocksOf = ({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content);

/** What the user's records in a file say. */
function texts(file) {
  const known = new Set();
  for (const line of file.split("\n")) {
    if (!line.includes("<system-reminder>")) continue;
    const record = parsed(line);
    if (record?.type !== "user") continue;
    const content = record.message?.content;
    const blocks = Array.isArray(content) ? content : [{ text: content }];
    for (const block of blocks) known.add(block?.text).add(`${block?.text}\n`);
  }
  return known;
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/**
 * A message without reminders that are in no record of the user's, and without marks for the cache. A text of the user's ends
 * its line where another follows; the program does not end it where a reminder is between.
 */
function withoutNews({ role, content }, known) {
  const isNews = (text) =>
    typeof text === "string" && text.startsWith("<system-reminder>") && !known.has(text);
  if (typeof content === "string") return { role, content: isNews(content) ? [] : content };
  const blocks = [];
  let isBehindNews = false;
  for (const { cache_control, ...block } of content) {
    if (isNews(block.text)) {
      isBehindNews = true;
      continue;
    }
    const before = blocks.at(-1);
    if (isBehindNews && before?.type === "text" && block.type === "text" && block.text !== PROBE) before.text += "\n";
    isBehindNews = false;
    blocks.push(block);
  }
  return { role, content: blocks };
}
