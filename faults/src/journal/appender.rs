//! A process that appends to a session of its own and to a shared one, and notes what was acknowledged.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::parent_id;
use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use leafline::error::{Error, StoreError};
use leafline::{Result, Store};
use serde_json::json;

use super::{END, SHARED, STORE, notes, own};

/// The longest pause between two appends, in microseconds.
const PAUSE: u64 = 2000;

/// Appends until the folder has the file `end`, the judge ends, or a call fails. It is the whole work of a process.
///
/// # Panics
///
/// If the notes cannot be written.
pub fn work(number: usize, seed: u64, folder: &Path) {
    let notes = OpenOptions::new().create(true).append(true).open(folder.join(notes(number)));
    let notes = notes.expect("the folder can be written");
    let (random, is_visitor) = begin(number, seed);
    let mut appender = Appender { notes, random, number, is_visitor, appended: 0 };
    if let Err(error) = appender.work(folder) {
        appender.note("error", &error.to_string());
    }
}

fn begin(number: usize, seed: u64) -> (Rng, bool) {
    let mut random = Rng::with_seed(seed.wrapping_add(number as u64));
    let is_visitor = random.u8(..4) == 0;
    (random, is_visitor)
}

/// Returns true if a process closes and reopens the store now and then.
pub(super) fn is_visitor(number: usize, seed: u64) -> bool {
    begin(number, seed).1
}

struct Appender {
    notes: File,
    random: Rng,
    number: usize,
    is_visitor: bool,
    appended: usize,
}

impl Appender {
    fn note(&mut self, kind: &str, text: &str) {
        let line = format!("{kind} {}\n", text.replace('\n', " "));
        self.notes.write_all(line.as_bytes()).expect("the notes can be written");
    }

    fn work(&mut self, folder: &Path) -> Result<()> {
        // A judge that was killed ends it, too.
        let judge = parent_id();
        let is_over = || folder.join(END).exists() || parent_id() != judge;
        while !is_over() {
            let store = Store::open(folder.join(STORE))?;
            let mut sessions = [store.session(&own(self.number))?, store.session(SHARED)?];
            let visit = if self.is_visitor { self.random.usize(2..12) } else { usize::MAX };
            for _ in 0..visit {
                if is_over() {
                    break;
                }
                let is_shared = self.random.bool();
                let session = &mut sessions[usize::from(is_shared)];
                let text = format!("{}-{}", self.number, self.appended);
                self.appended += 1;
                let message = json!({"role": "user", "content": text, "timestamp": 1});
                match session.append_message(&message) {
                    Ok(_) => self.note(if is_shared { SHARED } else { "own" }, &text),
                    // Nothing was written; the same process may go on later.
                    Err(error @ Error::Store(StoreError::HeldUp { .. })) => {
                        self.note("error", &error.to_string());
                    }
                    Err(error) => return Err(error),
                }
                std::thread::sleep(Duration::from_micros(self.random.u64(..PAUSE)));
            }
        }
        Ok(())
    }
}
