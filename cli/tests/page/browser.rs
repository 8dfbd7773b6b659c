//! A real Chromium without a window, which is told what to do through a pipe (the DevTools protocol, `--remote-debugging-pipe`).

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer of the browser may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    session: String,
    calls: u64,
    /// What the page has asked of the network, and what went wrong in it.
    pub(crate) requests: Vec<String>,
    pub(crate) errors: Vec<String>,
    /// What the proxy was asked for, through which everything goes.
    asked: Arc<Mutex<Vec<String>>>,
    _folder: tempfile::TempDir,
}

/// The browser's program; `None`, with a word, if there is none and none is required.
pub(crate) fn program() -> Option<PathBuf> {
    let named = std::env::var_os("LEAFLINE_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path)
        .flat_map(|folder| ["chromium", "chromium-browser"].map(|name| folder.join(name)))
        .filter(|program| program.is_file());
    let program = named.or_else(|| found.next());
    if program.is_none() {
        assert!(std::env::var_os("LEAFLINE_REQUIRE_CHROMIUM").is_none(), "there is no Chromium");
        eprintln!("skipped: there is no Chromium");
    }
    program
}

impl Browser {
    pub(crate) fn start(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (to, from) = (folder.path().join("to"), folder.path().join("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = proxy.local_addr().unwrap().port();
        let noted = asked.clone();
        std::thread::spawn(move || {
            for stream in proxy.incoming() {
                let mut line = String::new();
                if BufReader::new(stream.unwrap()).read_line(&mut line).is_ok() {
                    noted.lock().unwrap().push(line);
                }
            }
        });
        let script = "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\"";
        let child = Command::new("sh")
            .args(["-c", script])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            // Times are written as its language has them.
            .args([
                "--lang=en-US",
                "--disable-extensions",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--proxy-server=127.0.0.1:{port}"))
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg("about:blank")
            .env("TO", &to)
            .env("FROM", &from)
            .env("TZ", "UTC")
            .env("LANGUAGE", "en-US")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = File::options().write(true).open(to).unwrap();
        let mut read = BufReader::new(File::open(from).unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while read.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let (requests, errors) = (Vec::new(), Vec::new());
        let (session, calls) = (String::new(), 0);
        let mut browser =
            Self { child, to, from, session, calls, requests, errors, asked, _folder: folder };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"]
            .as_array()
            .unwrap()
            .iter()
            .find(|target| target["type"] == "page");
        let target = page.unwrap()["targetId"].clone();
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log", "Performance"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method and returns its result; what the page tells meanwhile is noted.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let answer = self.next(PATIENCE).unwrap_or_else(|| panic!("no answer to {method}"));
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn next(&mut self, patience: Duration) -> Option<Value> {
        let message = match self.from.recv_timeout(patience) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => panic!("the browser has ended"),
        };
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                self.requests.push(parameters["request"]["url"].as_str().unwrap().to_owned());
            }
            Some("Runtime.exceptionThrown") => {
                self.errors.push(parameters["exceptionDetails"].to_string())
            }
            Some("Log.entryAdded") => self.errors.push(parameters["entry"]["text"].to_string()),
            Some("Runtime.consoleAPICalled") => self.errors.push(parameters["args"].to_string()),
            _ => {}
        }
        Some(message)
    }

    /// Opens a file, and waits until it is loaded.
    pub(crate) fn open(&mut self, file: &Path) {
        self.requests.clear();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        loop {
            let message = self.next(PATIENCE).expect("the page is loaded in time");
            if message["method"] == "Page.loadEventFired" {
                return;
            }
        }
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let result = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until a condition holds in the page.
    pub(crate) fn wait_until(&mut self, condition: &str) {
        let begun = Instant::now();
        while self.evaluate(condition) != true {
            assert!(begun.elapsed() < PATIENCE, "in vain: {condition}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the page has been drawn again, after its own delay of 20 ms before it scrolls.
    pub(crate) fn draw(&mut self) {
        self.evaluate(
            "new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 50))",
        );
    }

    /// Makes the window of a size, and the system light or dark.
    pub(crate) fn resize(&mut self, width: u32, height: u32, scheme: &str) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 }),
        );
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        );
    }

    /// A picture of what is to be seen, as a PNG in base64.
    pub(crate) fn picture(&mut self) -> String {
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        taken["data"].as_str().unwrap().to_owned()
    }

    /// The processor time that the page's main thread has had, in milliseconds.
    pub(crate) fn worked(&mut self) -> f64 {
        let found = self.call("Performance.getMetrics", json!({}));
        let metrics = found["metrics"].as_array().unwrap();
        let time = metrics.iter().find(|metric| metric["name"] == "ThreadTime").unwrap();
        time["value"].as_f64().unwrap() * 1000.0
    }

    /// The memory of all of its processes that show pages, in bytes, without what they share.
    pub(crate) fn memory(&mut self) -> u64 {
        let session = std::mem::take(&mut self.session);
        let processes = self.call("SystemInfo.getProcessInfo", json!({}));
        self.session = session;
        let processes = processes["processInfo"].as_array().unwrap();
        let of = |process: &Value| {
            let path = format!("/proc/{}/smaps_rollup", process["id"]);
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap_or("Pss: 0 kB");
            line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
        };
        processes.iter().filter(|process| process["type"] == "renderer").map(of).sum()
    }

    /// Panics if anything was asked but the page itself, or went wrong.
    #[track_caller]
    pub(crate) fn has_been_quiet(&mut self, file: &Path) {
        // What is still on its way.
        while self.next(Duration::from_millis(300)).is_some() {}
        let others: Vec<&String> =
            self.requests.iter().filter(|url| !url.starts_with("data:")).collect();
        assert_eq!(others, [&format!("file://{}", file.display())]);
        assert_eq!(self.errors, Vec::<String>::new());
        // The browser asks its maker's hosts, whatever it is told.
        let own = [".google.com", ".googleapis.com", ".gvt1.com", ".gstatic.com"];
        let asked = self.asked.lock().unwrap();
        let of_page: Vec<_> =
            asked.iter().filter(|line| !own.iter().any(|host| line.contains(host))).collect();
        assert_eq!(of_page, Vec::<&String>::new());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
