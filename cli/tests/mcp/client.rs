//! A client of the protocol, by hand: lines of JSON.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{Scene, command};

/// How long an answer may take, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server that runs, and what it says.
pub(crate) struct Client {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    last: u64,
}

/// What a client says of itself when it begins.
pub(crate) fn greeting() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "by-hand", "version": "1" },
    })
}

/// What it sends when it was greeted.
pub(crate) fn begun() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Client {
    /// A server of a scene's store that has been greeted.
    pub(crate) fn of(scene: &Scene) -> Self {
        Self::greeted(&scene.store(), &[])
    }

    /// A server with these arguments that has been greeted.
    pub(crate) fn greeted(store: &Path, arguments: &[&str]) -> Self {
        let mut client = Self::start(store, arguments);
        client.greet();
        client
    }

    /// A server that waits to be greeted.
    pub(crate) fn start(store: &Path, arguments: &[&str]) -> Self {
        let mut child = command(store)
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).all(|line| send.send(line).is_ok())
        });
        Self { child, input, lines, last: 0 }
    }

    /// Begins the protocol; what the server says of itself.
    pub(crate) fn greet(&mut self) -> Value {
        let told = self.request("initialize", greeting());
        self.send(&begun());
        told["result"].clone()
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends a line, whatever it is.
    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// The next message from the server; `None` if it says nothing more.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                let message: Value =
                    serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                Some(message)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server does not answer"),
        }
    }

    /// Sends a request without waiting for its answer; its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.next().expect("the server ended");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// What a tool answers, which may be an error for the model.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let [content] = &result["content"].as_array().unwrap()[..] else { panic!("{answer}") };
        assert_eq!(content["type"], "text", "{answer}");
        assert!(result.get("structuredContent").is_none(), "{answer}");
        Answer {
            text: content["text"].as_str().unwrap().to_owned(),
            is_error: result["isError"].as_bool().unwrap_or(false),
        }
    }

    /// The text that a tool answers.
    #[track_caller]
    pub(crate) fn told(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert!(!answer.is_error, "{}", answer.text);
        answer.text
    }

    /// What a tool says is wrong.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert!(answer.is_error, "{}", answer.text);
        answer.text
    }

    /// Closes the server's input.
    pub(crate) fn close(&mut self) {
        drop(self.input.take());
    }

    /// Closes the server's input; its exit status, and what it said on standard error.
    pub(crate) fn end(mut self) -> (i32, String) {
        self.close();
        while self.next().is_some() {}
        self.ended()
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> (i32, String) {
        self.close();
        let output = self.child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        (output.status.code().expect("it ends by itself"), told)
    }
}

/// The estimate of docs/mcp.md: quarters of a token by kind of character.
pub(crate) fn tokens(text: &str) -> usize {
    let quarters = text.chars().map(|character| match character {
        'a'..='z' | ' ' => 1,
        '0'..='9' => 3,
        other if other.is_ascii() => 2,
        other if (other as u32) < 0x1_0000 => 4,
        _ => 8,
    });
    quarters.sum::<usize>().div_ceil(4)
}

/// The lines at the margin, which are the server's own.
pub(crate) fn margin(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("  ")).collect()
}
