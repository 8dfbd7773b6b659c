// A server on this machine, in the place of a model's API.

import { createServer } from "node:http";

export class Server {
  /** `answer` is given each request, its body as bytes, and the response. */
  constructor(answer) {
    this.server = createServer((request, response) => {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => answer(request, Buffer.concat(chunks), response));
      request.on("error", () => {});
    });
  }

  async start() {
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** Begins a stream of events; gives what sends one. */
export function eventStream(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  return (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
