//! Progress on standard error, for work that takes a while, and only on a terminal.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::row;

/// Shorter work shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two steps of a spinner.
const TICK: Duration = Duration::from_millis(120);

/// A bar for work of known size.
#[derive(Debug)]
pub(super) struct Bar {
    bar: ProgressBar,
    begun: Instant,
    shown: bool,
}

impl Bar {
    /// A bar for this many bytes.
    pub(super) fn of_bytes(total: u64) -> Self {
        Self::new(
            total,
            "{wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
        )
    }

    /// A bar for an index that is made from this many bytes. It turns even if nothing is known to have been read.
    pub(super) fn of_index(total: u64) -> Self {
        Self::new(
            total,
            "{spinner} indexing {wide_bar} {decimal_bytes}/{decimal_total_bytes} {elapsed}",
        )
    }

    /// A bar for this many sessions.
    pub(super) fn of_sessions(total: u64) -> Self {
        Self::new(total, "{wide_bar} {human_pos}/{human_len} sessions {eta}")
    }

    fn new(total: u64, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        bar.set_style(
            ProgressStyle::with_template(template).expect("the templates above are well-formed"),
        );
        Self { bar, begun: Instant::now(), shown: false }
    }

    /// Advances the bar by this much.
    pub(super) fn advance(&mut self, by: u64) {
        self.bar.inc(by);
        if !self.shown && self.begun.elapsed() >= PATIENCE {
            self.shown = true;
            // This target draws nothing if standard error is not a terminal.
            self.bar.set_draw_target(row::target());
        }
    }

    /// Runs something that prints, with the bar hidden.
    pub(super) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A spinner for work of unknown size. It turns until it is dropped.
#[derive(Debug)]
pub(super) struct Spinner {
    turning: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Spinner {
    /// A spinner with a label.
    pub(super) fn new(words: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { turning: None };
        }
        let (end, ended) = channel::<()>();
        let turn = move || {
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let spinner = ProgressBar::with_draw_target(None, row::target())
                .with_style(ProgressStyle::default_spinner())
                .with_message(words);
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                spinner.tick();
            }
            spinner.finish_and_clear();
        };
        // Without a thread nothing turns.
        let thread = Builder::new().spawn(turn).ok();
        Self { turning: thread.map(|thread| (end, thread)) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.turning.take() {
            drop(end);
            // A spinner that fails is not worth reporting.
            let _ = thread.join();
        }
    }
}
