//! Those who change the store in large: an import that is stopped now and then, a deletion, a sync, and compactions.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use leafline_generate::{Shape, generate};

use super::Span;
use super::people::Signs;
use crate::command::program::Program;

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often to look at the others.
const PAUSE: Duration = Duration::from_millis(1);

/// Between the beginning of an import, or the end of a stop, and the next one.
const BETWEEN: Duration = Duration::from_millis(300);

/// How long the store is compacted, again and again, before the next import.
const COMPACTING: Duration = Duration::from_secs(5);

/// How many seconds a compaction waits for a moment in which nobody else has the store open.
const COMPACT: [&str; 2] = ["compact", "--wait=30"];

const IMPORT: &str = "import";

/// Bytes of the file that is imported.
const LARGE: u64 = 40_000_000;

/// What came of the compactions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Compactions {
    /// How many there were.
    pub all: u64,
    /// Those that put a new file in the store's place.
    pub succeeded: u64,
    /// Those that found no moment in which nobody else had the store open.
    pub refused: u64,
}

/// What they have done.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) stops: Vec<Span>,
    /// When each command ran, by its first word.
    pub(super) commands: Vec<(&'static str, Span)>,
    pub(super) compactions: Compactions,
    pub(super) synced: u64,
    pub(super) failures: Vec<String>,
}

/// Does it again and again, until a time, and at least once.
pub(super) fn run(program: &Program, folder: &Path, signs: &Signs, until: Instant) -> Changes {
    let mut changes = Changes::default();
    let large = folder.join("large.jsonl");
    let mut bytes = Vec::new();
    let shape = Shape { seed: 3, bytes: LARGE, images: 0.3, ..Shape::default() };
    let id = generate(&shape, &mut bytes).expect("memory takes all bytes").session_id;
    std::fs::write(&large, bytes).expect("a file can be written");
    std::fs::create_dir(folder.join("grows")).expect("a folder can be made");
    loop {
        // The first append of a process is a commit, which an import lets wait.
        if !comes(|| signs.turns().iter().all(|&turns| turns > 0)) {
            changes.failures.push(format!("someone does not begin: {:?}", signs.turns()));
        }
        let import = [IMPORT, "large.jsonl", "--restore", "--no-index", "--quiet", "--no-compact"];
        let begun = Instant::now();
        let child = spawn(program, folder, &import);
        stop_now_and_then(&child, folder, signs, &mut changes, until);
        ended(child, &import, &mut changes.failures);
        changes.ran(IMPORT, begun);
        grow(folder, changes.synced);
        changes.run(program, folder, "sync", &["grows", "--no-index", "--quiet"]);
        changes.synced += 1;
        changes.run(program, folder, "rm", &[&id, "--yes"]);
        // Those who keep the store open leave it while the first of them waits.
        signs.be_left(true);
        let begun = Instant::now();
        loop {
            changes.compact(program, folder);
            let is_time = begun.elapsed() >= COMPACTING || Instant::now() >= until;
            if is_time && (changes.compactions.succeeded > 0 || begun.elapsed() >= PATIENCE) {
                break;
            }
        }
        signs.be_left(false);
        let is_done = !changes.stops.is_empty() || !changes.failures.is_empty();
        if Instant::now() >= until && is_done {
            return changes;
        }
    }
}

impl Changes {
    /// When the large file was imported.
    pub(super) fn imports(&self) -> impl Iterator<Item = Span> {
        let imports = self.commands.iter().filter(|(command, _)| *command == IMPORT);
        imports.map(|(_, span)| *span)
    }

    /// Runs a command, which must succeed.
    fn run(&mut self, program: &Program, folder: &Path, command: &'static str, rest: &[&str]) {
        let words = [&[command], rest].concat();
        let begun = Instant::now();
        ended(spawn(program, folder, &words), &words, &mut self.failures);
        self.ran(command, begun);
    }

    /// Compacts the store beside others, and notes whether it has another file then.
    fn compact(&mut self, program: &Program, folder: &Path) {
        let store = folder.join("store.leafline");
        let inode = || std::fs::metadata(&store).map(|metadata| metadata.ino()).ok();
        let (begun, before) = (Instant::now(), inode());
        let output = spawn(program, folder, &COMPACT).wait_with_output();
        let output = output.expect("a process can be waited for");
        let complaint = String::from_utf8_lossy(&output.stderr);
        self.ran(COMPACT[0], begun);
        self.compactions.all += 1;
        if complaint.contains("in use") {
            // As is documented.
            self.compactions.refused += 1;
        } else if !output.status.success() || !complaint.is_empty() {
            self.failures.push(format!("`{}`: {complaint}", COMPACT.join(" ")));
        } else if inode() == before {
            self.failures.push("a compaction moved pages within the file".to_owned());
        } else {
            self.compactions.succeeded += 1;
        }
    }

    fn ran(&mut self, command: &'static str, begun: Instant) {
        self.commands.push((command, (begun, Instant::now())));
    }
}

fn spawn(program: &Program, folder: &Path, words: &[&str]) -> Child {
    let mut command = program.plain(folder);
    command.args(words).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("a process can be run")
}

fn ended(child: Child, words: &[&str], failures: &mut Vec<String>) {
    let output = child.wait_with_output().expect("a process can be waited for");
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !complaint.is_empty() {
        failures.push(format!("`{}`: {complaint}", words.join(" ")));
    }
}

/// Stops an import wherever it is, most often in its transaction, and lets it go on once all others have gone on.
fn stop_now_and_then(
    import: &Child,
    folder: &Path,
    signs: &Signs,
    changes: &mut Changes,
    until: Instant,
) {
    let signal = |name: &str| {
        let id = import.id().to_string();
        let sent = Command::new("kill").args([name, &id]).stderr(Stdio::null()).status();
        sent.is_ok_and(|sent| sent.success())
    };
    for _ in 0..3 {
        std::thread::sleep(BETWEEN);
        // It stays a process until it is waited for: so it may have ended already.
        let is_working = std::fs::read_to_string(format!("/proc/{}/stat", import.id()))
            .is_ok_and(|state| !state.contains(") Z"));
        if !is_working || !signal("-STOP") {
            return;
        }
        if is_stopped(import.id()) && !holds_header(&folder.join("store.leafline")) {
            let (begun, before) = (Instant::now(), signs.turns());
            // The first turn may have begun before.
            let goes_on = |(now, before): (&u64, &u64)| *now >= before + 2;
            if !comes(|| signs.turns().iter().zip(&before).all(goes_on)) {
                let turns = signs.turns();
                changes
                    .failures
                    .push(format!("a stopped import stops others: {before:?}, {turns:?}"));
            }
            changes.stops.push((begun, Instant::now()));
        }
        signal("-CONT");
        if Instant::now() >= until {
            return;
        }
    }
}

/// Waits until a process that was told to stop has stopped; false if it has ended.
fn is_stopped(process: u32) -> bool {
    let state = || std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    comes(|| state().contains(") T") || state().contains(") Z")) && state().contains(") T")
}

/// Waits until something is so; false if it does not come.
fn comes(is_so: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() >= PATIENCE {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// Whether someone holds the engine's lock of the header. It is held while a commit names itself, and readers wait for that
/// moment: who is stopped in it would stop them all.
fn holds_header(store: &Path) -> bool {
    let inode = std::fs::metadata(store).map(|metadata| metadata.ino());
    let inode = format!(":{} 0 319", inode.unwrap_or_default());
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    locks.lines().any(|lock| lock.contains(" WRITE ") && lock.ends_with(&inode))
}

/// Adds a line to the files that are synced.
fn grow(folder: &Path, round: u64) {
    for number in 0..5 {
        let path = folder.join(format!("grows/{number}.jsonl"));
        let mut text = String::new();
        if !path.exists() {
            text = format!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"grows-{number}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/work/grows\"}}\n"
            );
        }
        text.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"r{round}\",\"parentId\":null,\"timestamp\":\"2026-01-05T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"round {round}\"}}}}\n"
        ));
        let file = OpenOptions::new().create(true).append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.expect("a file can be written");
    }
}
