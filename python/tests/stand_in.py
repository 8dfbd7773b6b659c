"""A stand-in of the API of Claude's models, on this machine: it answers as it is told to, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5}

Answer = Callable[[dict[str, Any]], list[dict[str, Any]]]
"""The blocks of the answer to a request."""


class StandIn:
    def __init__(self, answer: Answer) -> None:
        self.requests: list[dict[str, Any]] = []
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.path.split("?")[0].endswith("/count_tokens"):
                    self.send("application/json", json.dumps({"input_tokens": 10}).encode())
                    return
                asked = json.loads(body)
                stand_in.requests.append(asked)
                self.send("text/event-stream", stream(asked, answer(asked), len(stand_in.requests)))

            def do_GET(self) -> None:
                self.send("application/json", b"{}", 404)

            do_HEAD = do_GET

            def send(self, kind: str, body: bytes, status: int = 200) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> StandIn:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def stream(asked: dict[str, Any], blocks: list[dict[str, Any]], number: int) -> bytes:
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": asked["model"], "content": []}
    start = {**message, "stop_reason": None, "stop_sequence": None, "usage": USAGE}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    calls = any(block["type"] == "tool_use" for block in blocks)
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": USAGE})
    events.append({"type": "message_stop"})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
