//! Those who use the store: hosts, a watch and its files, an MCP client, and commands.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use leafline::live::Persistence;
use leafline::pi::Draft;
use leafline::{Family, NewSession, Session, Store};
use serde_json::{Value, json};

use super::process::{Post, lock};
use crate::answers::{Opening, open};
use crate::command::program::Program;

/// Sessions of a host.
const SESSIONS: usize = 20;

/// Files that are written to at once, and how many lines one gets before it goes.
const FILES: usize = 3;
const LINES: u64 = 120;

/// How long a line may take into the store.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where all do their work.
pub(super) struct Scene<'s> {
    pub(super) program: &'s Program,
    pub(super) own: &'s Path,
    pub(super) folder: &'s Path,
    pub(super) over: AtomicBool,
    pub(super) failures: Mutex<Vec<String>>,
    pub(super) times: Mutex<Vec<(&'static str, Duration)>>,
}

impl Scene<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub(super) fn fails(&self, problem: String) {
        lock(&self.failures).push(problem);
    }

    pub(super) fn took(&self, what: &'static str, took: Duration) {
        lock(&self.times).push((what, took));
    }

    /// Runs a command, which must succeed.
    pub(super) fn run(&self, what: &'static str, words: &[&str]) {
        let begun = Instant::now();
        let output = self.program.plain(self.folder).args(words).stdout(Stdio::null()).output();
        let output = output.expect("a process can be run");
        self.took(what, begun.elapsed());
        // A compaction that cannot help, or finds others, says so.
        if !output.status.success() && (what != "compact" || output.status.code().is_none()) {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            self.fails(format!("{words:?}: {}, {told}", output.status));
        }
    }
}

/// Some words, the same in no two lines.
fn words(random: &mut Rng, count: usize) -> String {
    let word =
        |random: &mut Rng| (0..random.usize(2..10)).map(|_| random.lowercase()).collect::<String>();
    (0..count).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

/// Runs as a host: for each line of its input, appends an entry to the next session and prints its id.
pub fn host(number: usize, folder: &Path) {
    let store = Store::open(folder.join("store.leafline")).expect("the store can be opened");
    let mut sessions: Vec<Session> = (0..SESSIONS)
        .map(|session| {
            let id = format!("host-{number}-{session}");
            store.session(&id).unwrap_or_else(|_| {
                let mut new = NewSession::new(Family::Pi, "/work/soak");
                new.id = Some(id);
                store.create_session(&new).expect("a session can be made")
            })
        })
        .map(|session| session.with_persistence(Persistence::keep_everything()))
        .collect();
    let mut random = Rng::new();
    let asked = std::io::stdin().lines();
    for (turn, line) in asked.enumerate() {
        if line.is_err() {
            break;
        }
        let message = json!({"role": "user", "content": words(&mut random, 150)}).to_string();
        let session = &mut sessions[turn % SESSIONS];
        let begun = Instant::now();
        let draft = Draft::message(&message).expect("it is a message");
        let id = session.append(draft).expect("an entry can be appended");
        let took = begun.elapsed().as_micros();
        println!("{} {id} {took}", session.id());
    }
}

/// Keeps a host at work. Returns the entries that it has acknowledged, by session and id.
pub(super) fn keep_host(scene: &Scene<'_>, number: usize, post: &Post) -> Vec<(String, String)> {
    let mut kept = Vec::new();
    while !scene.is_over() {
        let mut command = std::process::Command::new(scene.own);
        command.args([super::WORD, &number.to_string()]).arg(scene.folder);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let (child, mut input, output) = post.begin(&mut command);
        let mut output = BufReader::new(output);
        while !scene.is_over() {
            let mut line = String::new();
            let asked = input.write_all(b"\n").and_then(|()| output.read_line(&mut line));
            let told: Vec<&str> = line.split_whitespace().collect();
            let ([session, id, took], Ok(1..)) = (&*told, asked) else { break };
            kept.push(((*session).to_owned(), (*id).to_owned()));
            let took = took.parse().map(Duration::from_micros).unwrap_or_default();
            scene.took("append", took);
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(input);
        post.end(child);
    }
    kept
}

/// Keeps a process running, such as the watch.
pub(super) fn keep(scene: &Scene<'_>, post: &Post, words: &[&str], in_terminal: bool) {
    while !scene.is_over() {
        let mut command = scene.program.plain(scene.folder);
        command.args(words);
        if in_terminal {
            let inner = format!("'{}' {}", command.get_program().display(), words.join(" "));
            let mut outer = scene.program.plain(scene.folder);
            outer.env("TERM", "xterm");
            let mut terminal = std::process::Command::new("script");
            terminal.args(["-qfc", &inner, "/dev/null"]).current_dir(scene.folder);
            for (name, value) in outer.get_envs() {
                terminal.env(name, value.unwrap_or_default());
            }
            std::os::unix::process::CommandExt::process_group(&mut terminal, 0);
            command = terminal;
        }
        let (mut child, input, output) = post.begin(&mut command);
        // Its output is read, so that it never blocks on a full pipe.
        let reading = std::thread::spawn(move || {
            let mut output = output;
            let _ = std::io::copy(&mut output, &mut std::io::sink());
        });
        while !scene.is_over() && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(50));
        }
        if scene.is_over() {
            post.measure();
            let _ = crate::command::driving::signal_group("-15", child.id());
        }
        drop(input);
        post.end(child);
        let _ = reading.join();
    }
}

/// Appends to files and deletes them when they are complete. Returns how many lines each session has, by its id.
pub(super) fn write_files(scene: &Scene<'_>) -> Vec<(String, u64)> {
    let mut random = Rng::new();
    let mut written: Vec<(String, u64)> = Vec::new();
    let mut begun = 0;
    let mut files: Vec<(PathBuf, String, u64)> = Vec::new();
    while !scene.is_over() {
        while files.len() < FILES {
            let id = format!("file-{begun}");
            let path = scene.folder.join("files").join(format!("{id}.jsonl"));
            let header = json!({"type": "session", "version": 3, "id": id, "cwd": "/work/soak", "timestamp": "2026-02-16T10:20:30.000Z"});
            std::fs::write(&path, format!("{header}\n")).expect("a file can be written");
            files.push((path, id, 0));
            begun += 1;
        }
        let chosen = random.usize(0..files.len());
        let (path, id, lines) = &mut files[chosen];
        let parent = lines.checked_sub(1).map(|above| format!("{id}-{above}"));
        let message = json!({"role": "user", "content": words(&mut random, 150)});
        let line = json!({"type": "message", "id": format!("{id}-{lines}"), "parentId": parent, "message": message});
        let mut file = OpenOptions::new().append(true).open(&*path).expect("the file is there");
        file.write_all(format!("{line}\n").as_bytes()).expect("a line can be written");
        *lines += 1;
        if *lines == LINES {
            let (path, id, lines) = files.remove(chosen);
            let begun = Instant::now();
            while entries(scene.folder, &id) < lines && begun.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(100));
            }
            std::fs::remove_file(path).expect("a file can be deleted");
            written.push((id, lines));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    written.extend(files.into_iter().map(|(_, id, lines)| (id, lines)));
    written
}

/// The entries of a session, as far as the store has it.
fn entries(folder: &Path, id: &str) -> u64 {
    let store = open(&folder.join("store.leafline"), Opening::ToRead);
    let reader = store.and_then(|store| store.reader(id));
    reader.map_or(0, |reader| reader.facts().entries)
}

/// A client of the MCP server, which searches and reads.
pub(super) fn be_client(scene: &Scene<'_>, post: &Post) {
    let mut random = Rng::new();
    while !scene.is_over() {
        let (child, mut input, output) = post.begin(scene.program.plain(scene.folder).arg("mcp"));
        let mut output = BufReader::new(output);
        let mut call = |method: &str, parameters: Value, id: Option<u64>| {
            let mut request = json!({"jsonrpc": "2.0", "method": method, "params": parameters});
            if let Some(id) = id {
                request["id"] = json!(id);
            }
            let asked = writeln!(input, "{request}");
            let mut line = String::new();
            let answered = id.map_or(Ok(1), |_| output.read_line(&mut line));
            asked.is_ok() && matches!(answered, Ok(1..))
        };
        let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}});
        let mut goes_on = call("initialize", client, Some(1))
            && call("notifications/initialized", json!({}), None);
        for number in 2.. {
            if !goes_on || scene.is_over() {
                break;
            }
            let begun = Instant::now();
            let (what, parameters) = match number % 2 {
                0 => (
                    "mcp search",
                    json!({"name": "search_sessions", "arguments": {"query": words(&mut random, 1)}}),
                ),
                _ => (
                    "mcp read",
                    json!({"name": "read_session", "arguments": {"session": format!("host-{}-{}", random.usize(0..super::HOSTS), random.usize(0..SESSIONS))}}),
                ),
            };
            goes_on = call("tools/call", parameters, Some(number));
            if goes_on {
                scene.took(what, begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        // It rests for some seconds, in which its memory should go back.
        if scene.is_over() {
            std::thread::sleep(Duration::from_secs(5));
        }
        drop(input);
        post.end(child);
    }
}
