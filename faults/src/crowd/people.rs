//! Those who append, read, and sync a file of their own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::answers::{Opening, open};
use crate::command::program::Program;

/// Between two reads, and between two bare syncs.
const PAUSE: Duration = Duration::from_millis(20);

/// A process that appends, entry by entry.
#[derive(Debug)]
pub(super) struct Appender {
    pub(super) number: usize,
    pub(super) session: String,
}

/// What it has done.
#[derive(Debug, Default)]
pub(super) struct Appended {
    pub(super) session: String,
    /// When each append began, how long it took, and the entry's id.
    pub(super) all: Vec<(Instant, Duration, String)>,
    pub(super) failures: Vec<String>,
}

impl Appender {
    /// Appends until it is over.
    pub(super) fn run(self, program: &Program, folder: &Path, is_over: &AtomicBool) -> Appended {
        let mut appended = Appended { session: self.session.clone(), ..Appended::default() };
        let mut command = program.plain(folder);
        command.args(["append", &self.session, "--sync", "each"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a process can be run");
        let mut input = child.stdin.take().expect("it has an input");
        let mut output = BufReader::new(child.stdout.take().expect("it has an output"));
        for number in 0u64.. {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let words = format!("{} says {number}", self.number);
            let message = serde_json::json!({"role": "user", "content": words});
            let line = format!("{{\"type\":\"message\",\"message\":{message}}}\n");
            let begun = Instant::now();
            let mut id = String::new();
            let answered =
                input.write_all(line.as_bytes()).and_then(|()| output.read_line(&mut id));
            if !matches!(answered, Ok(1..)) {
                break;
            }
            appended.all.push((begun, begun.elapsed(), id.trim_end().to_owned()));
        }
        drop(input);
        let mut complaint = String::new();
        let _ = child.stderr.take().map(|mut errors| errors.read_to_string(&mut complaint));
        let is_well = child.wait().is_ok_and(|status| status.success());
        if !is_well || !complaint.is_empty() {
            appended.failures.push(format!("`append` {}: {complaint}", self.number));
        }
        appended
    }
}

/// What a reader has done.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// When each read began, and how long it took.
    pub(super) all: Vec<(Instant, Duration)>,
    pub(super) failures: Vec<String>,
}

/// Reads until it is over: the list, and of each session the last entry. What was there once must stay.
pub(super) fn read(path: &Path, sessions: &[String], is_over: &AtomicBool) -> Reads {
    let mut reads = Reads::default();
    let mut entries: HashMap<&str, u64> = HashMap::new();
    let store = open(path, Opening::ToRead).expect("the store can be opened");
    for id in sessions.iter().cycle() {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let begun = Instant::now();
        let read = store.sessions().and_then(|list| {
            let reader = store.reader(id)?;
            Ok((list.len(), reader.facts().entries, reader.get_leaf()?.is_some()))
        });
        reads.all.push((begun, begun.elapsed()));
        match read {
            Ok((listed, now, has_leaf)) => {
                let before = entries.insert(id, now).unwrap_or_default();
                if now < before || listed < sessions.len() || has_leaf != (now > 0) {
                    let told = format!("{id} had {before} entries, then {now}; {listed} sessions");
                    reads.failures.push(told);
                }
            }
            Err(error) => reads.failures.push(format!("reading {id}: {error}")),
        }
        std::thread::sleep(PAUSE);
    }
    reads
}

/// Writes a page in place and syncs it, again and again.
pub(super) fn sync_bare(folder: &Path, is_over: &AtomicBool) -> Vec<Duration> {
    let mut file = File::create(folder.join("bare")).expect("a file can be made");
    file.write_all(&vec![0; 1 << 20]).expect("it can be written");
    file.sync_all().expect("it can be synced");
    let mut times = Vec::new();
    for number in 0u64.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let page = [number.to_le_bytes()[0]; 4096];
        let begun = Instant::now();
        file.seek(SeekFrom::Start(number % 256 * 4096)).expect("it has such a place");
        file.write_all(&page).expect("it can be written");
        file.sync_data().expect("it can be synced");
        times.push(begun.elapsed());
        std::thread::sleep(PAUSE);
    }
    times
}
