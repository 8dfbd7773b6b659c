//! One durable message: appended to small and large stores, compared with SQLite and a bare write, in what it costs in
//! time and in written bytes; by several processes and threads; beside an import; and read back at once.
//!
//! Each timed operation ends on disk, so the ways take turns in short blocks: the disk's moods then hit all alike.
//! Arguments name the parts to run; without any, all run but the curve.

mod bare;
mod bytes;
mod curve;
mod import;
mod processes;
mod reads;
mod single;
mod stores;
#[path = "../support/mod.rs"]
mod support;
mod turns;
mod ways;

use std::path::Path;

/// Precedes a child process's arguments: its task, a path, and how often.
const TASK: &str = "--task";

/// The parts of a whole run.
const PARTS: [(&str, fn()); 5] = [
    ("single", single::run),
    ("bytes", bytes::run),
    ("processes", processes::run),
    ("import", import::run),
    ("reads", reads::run),
];

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [TASK, task, path, detail] => run_task(task, Path::new(path), detail),
        ["--curve"] => curve::run(),
        [] => PARTS.iter().for_each(|(_, run)| run()),
        ref names => {
            for name in names {
                let part = PARTS.iter().find(|(part, _)| part == name);
                part.unwrap_or_else(|| panic!("{name} is no part of this benchmark")).1();
            }
        }
    }
}

/// What a child process does.
fn run_task(task: &str, path: &Path, detail: &str) {
    match task {
        "leafline" | "sqlite" => processes::append(task, path, detail),
        "threads" => processes::append_by_threads(path, detail),
        "import" => import::import(path, Path::new(detail)),
        "read" => reads::answer(path, detail),
        other => panic!("nothing is known of {other}"),
    }
}
