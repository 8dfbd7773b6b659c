//! What 10,000 sessions of Claude Code's have used, in two records an answer: the report from a store, the command, and
//! ccusage on the same files.

mod support;

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use leafline::import::ImportOptions;
use leafline::usage::{UsageBy, UsageOptions};
use leafline::{Store, StoreOptions};
use serde_json::json;
use tempfile::TempDir;

use support::session_file::folder;

const SESSIONS: u64 = 10_000;

/// Answers of each.
const ANSWERS: u64 = 25;

/// Bytes of an answer's text.
const TEXT: usize = 250;

const MODELS: [&str; 3] =
    ["claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"];

/// A home with the program's folder, and a store that has its sessions; deleted when dropped.
struct Home {
    place: TempDir,
    store: PathBuf,
}

impl Home {
    fn make() -> Self {
        let place = TempDir::new_in(folder()).expect("a folder can be made");
        let project = place.path().join(".claude/projects/-work-tide");
        std::fs::create_dir_all(&project).expect("a folder can be made");
        for session in 0..SESSIONS {
            write_session(&project, session).expect("a file can be written");
        }
        let path = place.path().join("sessions.leafline");
        let store = Store::open(&path).expect("a store");
        let totals = store.import(&[&project], &ImportOptions::default(), &mut ());
        assert_eq!(totals.expect("they can be imported").imported, SESSIONS);
        Self { place, store: path }
    }

    /// Runs a program on the home to its end.
    fn run(&self, program: &Path, arguments: &[&str]) {
        let status = Command::new(program)
            .args(arguments)
            .env("HOME", self.place.path())
            .env("LEAFLINE_STORE", &self.store)
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("the program is there").success());
    }
}

/// A session of four hours, every answer of which is stated twice, as Claude Code does: when it begins and when it is whole.
fn write_session(project: &Path, session: u64) -> std::io::Result<()> {
    let id = format!("5eed0000-0000-4000-8000-{session:012x}");
    let mut out = BufWriter::new(File::create(project.join(format!("{id}.jsonl")))?);
    let mut parent = None;
    for number in 0..ANSWERS {
        for part in 0..2 {
            let own =
                format!("5eed0000-0000-4000-9000-{:012x}", (session * ANSWERS + number) * 2 + part);
            let seed = session * 31 + number * 7;
            let record = json!({
                "parentUuid": parent, "isSidechain": false, "type": "assistant", "sessionId": id, "cwd": "/work/tide",
                "version": "2.1.330", "uuid": own, "requestId": format!("req_{session}_{number}"),
                "timestamp": format!(
                    "2026-{:02}-{:02}T{:02}:{:02}:{:02}.000Z",
                    1 + session % 9, 1 + session / 9 % 28, 8 + number / 6, number % 6 * 10, part * 7,
                ),
                "message": {
                    "id": format!("msg_{session}_{number}"), "role": "assistant",
                    "model": MODELS[usize::try_from(session % 3).expect("it is small")],
                    "content": [{"type": "text", "text": "x".repeat(TEXT)}],
                    "usage": {
                        "input_tokens": seed % 900, "cache_read_input_tokens": seed * 97 % 90_000,
                        "cache_creation_input_tokens": seed * 13 % 9_000,
                        "output_tokens": if part == 0 { 1 } else { 1 + seed % 4_000 },
                    },
                },
            });
            writeln!(out, "{record}")?;
            parent = Some(own);
        }
    }
    out.flush()
}

/// The path of a file of the repository, if it is there.
fn of_repository(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if !path.exists() {
        println!("{} is not there, and not measured", path.display());
    }
    path.exists().then_some(path)
}

fn usage(criterion: &mut Criterion) {
    let home = Home::make();
    let mut group = criterion.benchmark_group("usage of 10,000 sessions");
    group.sample_size(20);
    let read_only = StoreOptions { read_only: true, ..StoreOptions::default() };
    for (name, by) in
        [("by day, store opened", UsageBy::Day), ("by session, store opened", UsageBy::Session)]
    {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let store =
                    Store::open_with(&home.store, &read_only).expect("the store can be opened");
                let report = store.usage(&UsageOptions { by, ..UsageOptions::default() });
                let report = black_box(report.expect("it can be read"));
                assert_eq!(report.total.answers, SESSIONS * ANSWERS);
            });
        });
    }
    if let Some(command) = of_repository("target/release/leafline") {
        for (name, arguments) in [
            ("the command, by day", &["usage"][..]),
            ("the command, by session", &["usage", "--by", "session"]),
        ] {
            group.bench_function(name, |bencher| bencher.iter(|| home.run(&command, arguments)));
        }
    }
    let ccusage = leafline_judges::installed("ccusage").package.join("bin/ccusage");
    if ccusage.exists() {
        group.sample_size(10);
        let arguments = ["claude", "daily", "--offline"];
        group.bench_function("ccusage, by day", |bencher| {
            bencher.iter(|| home.run(&ccusage, &arguments))
        });
    }
    group.finish();
}

criterion_group!(benches, usage);
criterion_main!(benches);
