//! What was typed in Claude Code: taken with its sessions, and while these are watched.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant, SystemTime};

use leafline::Store;
use leafline::prompts::prompt_files;

use super::advice::advised;
use super::failure::{Failure, complain};
use super::interrupt::Interrupt;
use super::number::counted;
use super::output::Output;
use super::place::{Place, shown};
use super::text;

/// How often a watch looks for prompts, and how soon it notices that it is to end.
const EVERY: Duration = Duration::from_secs(30);
const SHORT_PAUSE: Duration = Duration::from_millis(100);

/// Takes the prompts that were typed in the programs whose folders are among these, and tells of those that are new unless it is
/// to be quiet. Returns whether they could be read: the sessions are safe, so a failure does not end the command.
pub(super) fn take(
    store: &Store,
    paths: &[PathBuf],
    is_quiet: bool,
    out: &mut Output,
) -> Result<bool, Failure> {
    let mut has_all = true;
    for file in prompt_files(paths) {
        match store.history().import_claude(&file) {
            Ok(transfer) if transfer.copied > 0 && !is_quiet && !out.is_json() => {
                let prompts = counted(transfer.copied, "prompt", "prompts");
                let file = shown(&file);
                out.line(format_args!("{prompts} of {} taken", text::printable(&file)))?;
            }
            Ok(_) => {}
            Err(error) => {
                complain(&format!("the sessions are stored, but {}", advised(&error)));
                has_all = false;
            }
        }
    }
    Ok(has_all)
}

/// Takes them while the folders are watched, in a thread of its own, until the watch is interrupted or over. A failure is told
/// again only if it is another one.
///
/// # Errors
///
/// If the system gives no thread.
pub(super) fn follow<'scope>(
    place: &'scope Place,
    paths: &'scope [PathBuf],
    (interrupt, is_over): (&'scope Interrupt, &'scope AtomicBool),
    scope: &'scope Scope<'scope, '_>,
) -> Result<(), Failure> {
    let follow = move || {
        let mut seen: Vec<(PathBuf, Stamp)> = Vec::new();
        let mut told = String::new();
        let mut next = Instant::now();
        while !interrupt.is_set() && !is_over.load(Ordering::Relaxed) {
            if Instant::now() < next {
                std::thread::sleep(SHORT_PAUSE);
                continue;
            }
            next = Instant::now() + EVERY;
            for file in prompt_files(paths) {
                let stamp = Stamp::of(&file);
                if seen.iter().any(|(path, at)| *path == file && *at == stamp) {
                    continue;
                }
                match take_by_itself(place, &file) {
                    Ok(()) => {
                        seen.retain(|(path, _)| *path != file);
                        seen.push((file, stamp));
                        told.clear();
                    }
                    Err(failure) => {
                        let failure = failure.to_string();
                        if failure != told {
                            complain(&failure);
                            told = failure;
                        }
                    }
                }
            }
        }
    };
    Builder::new().spawn_scoped(scope, follow).map_err(Failure::Thread)?;
    Ok(())
}

/// What tells a file from one that was written since.
#[derive(PartialEq, Eq)]
struct Stamp(Option<(u64, SystemTime)>);

impl Stamp {
    fn of(file: &Path) -> Self {
        let metadata = file.metadata().ok();
        Self(metadata.and_then(|metadata| Some((metadata.len(), metadata.modified().ok()?))))
    }
}

/// Opens the store for a file's prompts alone.
fn take_by_itself(place: &Place, file: &Path) -> Result<(), Failure> {
    // It was opened before: if it is away, none is made in its place.
    place.open_to_change()?.history().import_claude(file)?;
    Ok(())
}
