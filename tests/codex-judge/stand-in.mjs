// A stand-in of the model's API: it answers as it is told to, and keeps what it was asked.

import { eventStream, Server } from "../judges/server.mjs";

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
  /**
   * Answers to come: `{items?, usage?, hang?, breaks?, status?}`; a short message where there is none. One that `breaks`
   * ends early, and Codex asks again.
   */
  script = [];
  /** Called when an answer with `hang` has been given and is not ended. */
  onHang = () => {};

  async start() {
    this.server = new Server((request, body, response) => this.#answer(request, body, response));
    await this.server.start();
    this.url = `${this.server.url}/v1`;
  }

  stop() {
    this.server.stop();
  }

  #answer(request, body, response) {
    if (request.method !== "POST" || request.url !== "/v1/responses") {
      response.writeHead(404).end("{}");
      return;
    }
    this.requests.push(JSON.parse(body));
    const number = this.requests.length;
    const turn = this.script.shift() ?? {};
    if (turn.status) {
      response.writeHead(turn.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "no", type: "invalid_request_error" } }));
      return;
    }
    const send = eventStream(response);
    send({ type: "response.created", response: { id: `resp_${number}` } });
    for (const item of turn.items ?? [message(`Answer ${number}.`)]) {
      send({ type: "response.output_item.done", item });
    }
    if (turn.hang) {
      this.onHang();
      return;
    }
    if (turn.breaks) return void response.destroy();
    send({ type: "response.completed", response: { id: `resp_${number}`, usage: turn.usage ?? usage(100) } });
    response.end();
  }
}
