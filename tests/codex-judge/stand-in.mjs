// A stand-in of the model's API: it answers as it is told to, and keeps what it was asked.

import { createServer } from "node:http";

/** A message of the model's. */
export const message = (text) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});

/** What the server says of the tokens; a large number of them makes Codex compact before the next turn. */
export const usage = (input) => ({
  input_tokens: input,
  input_tokens_details: null,
  output_tokens: 5,
  output_tokens_details: null,
  total_tokens: input + 5,
});

export class StandIn {
  /** Bodies of the requests, in their order. */
  requests = [];
  /** Answers to come: `{items?, usage?, hang?}`; a short message where there is none. */
  script = [];
  /** Called when an answer with `hang` has been given and is not ended. */
  onHang = () => {};

  async start() {
    this.server = createServer((request, response) => {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => this.#answer(request, Buffer.concat(chunks), response));
    });
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.url = `http://127.0.0.1:${this.server.address().port}/v1`;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  #answer(request, body, response) {
    if (request.method !== "POST" || request.url !== "/v1/responses") {
      response.writeHead(404).end("{}");
      return;
    }
    this.requests.push(JSON.parse(body));
    const number = this.requests.length;
    const turn = this.script.shift() ?? {};
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    send({ type: "response.created", response: { id: `resp_${number}` } });
    for (const item of turn.items ?? [message(`Answer ${number}.`)]) {
      send({ type: "response.output_item.done", item });
    }
    if (turn.hang) {
      this.onHang();
      return;
    }
    send({ type: "response.completed", response: { id: `resp_${number}`, usage: turn.usage ?? usage(100) } });
    response.end();
  }
}
