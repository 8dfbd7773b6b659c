// A stand-in of the model's API: it answers as it is told to, and keeps what it was asked.

import { eventStream, Server } from "../judges/server.mjs";

/** What the server says of the tokens; a large number of them makes the program compact before the next turn. */
export const usage = (input) => ({
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 5,
});

/**
 * One server for several runs of the program, which are told apart by the first part of the path: each run has its own
 * `requests` and `script`.
 */
export class StandIn {
  #runs = new Map();
  #messages = 0;

  async start() {
    this.server = new Server((request, body, response) => this.#answer(request, body, response));
    await this.server.start();
    this.url = this.server.url;
  }

  stop() {
    this.server.stop();
  }

  /**
   * A new run. `script` has the answers to come, `{blocks?, usage?, stop?, status?, hang?}`; a short message where there
   * is none, and for a summary, which the program asks for by itself: it takes none of them. `onHang` is called when an
   * answer with `hang` has been given and is not ended.
   */
  begin() {
    const name = `run${this.#runs.size}`;
    const run = { url: `${this.url}/${name}`, requests: [], script: [], onHang: () => {} };
    this.#runs.set(name, run);
    return run;
  }

  #answer(request, body, response) {
    const [, name, ...rest] = new URL(request.url, this.url).pathname.split("/");
    const path = rest.join("/");
    const run = this.#runs.get(name);
    const json = (status, value) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (path === "v1/messages/count_tokens") return json(200, { input_tokens: 10 });
    if (request.method !== "POST" || path !== "v1/messages" || !run) return json(404, {});
    const asked = JSON.parse(body);
    run.requests.push(asked);
    const turn = (isForSummary(asked) ? null : run.script.shift()) ?? {};
    if (turn.status) return json(turn.status, { type: "error", error: { type: turn.error, message: "no" } });
    this.#stream(asked, turn, run, response);
  }

  #stream(asked, turn, run, response) {
    const number = ++this.#messages;
    const blocks = turn.blocks ?? [{ type: "text", text: `Answer ${number}.` }];
    const counts = turn.usage ?? usage(100);
    const send = eventStream(response);
    const message = { id: `msg_${number}`, type: "message", role: "assistant", model: asked.model, content: [] };
    send({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage: counts } });
    blocks.forEach((block, index) => {
      const [start, ...deltas] = parts(block);
      send({ type: "content_block_start", index, content_block: start });
      for (const delta of deltas) send({ type: "content_block_delta", index, delta });
      send({ type: "content_block_stop", index });
    });
    if (turn.hang) return run.onHang();
    const calls = blocks.some((block) => block.type === "tool_use");
    const reason = turn.stop ?? (calls ? "tool_use" : "end_turn");
    send({ type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: counts });
    send({ type: "message_stop" });
    response.end();
  }
}

/** Whether a request is for the summary of a compaction. */
const isForSummary = ({ messages }) =>
  JSON.stringify(messages.at(-1)?.content ?? "").includes("CRITICAL: Respond with TEXT ONLY");

/** A block as it is streamed: empty first, and then what fills it. */
function parts(block) {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: "" }, { type: "text_delta", text: block.text }];
    case "thinking":
      return [
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: block.thinking },
        { type: "signature_delta", signature: block.signature },
      ];
    case "tool_use":
      return [
        { type: "tool_use", id: block.id, name: block.name, input: {} },
        { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
      ];
    default:
      return [block];
  }
}
