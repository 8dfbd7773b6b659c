//! Lines of sessions, one after the other.

use std::io::Write;

use super::output::Output;

/// Standard output, which knows whether a line of it is unfinished.
pub(super) struct Lines<'o> {
    out: &'o mut Output,
    /// The last byte that was written.
    last: u8,
}

impl<'o> Lines<'o> {
    /// Nothing of it is written yet.
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self { out, last: b'\n' }
    }

    /// Whether a terminal shows them.
    pub(super) fn is_terminal(&self) -> bool {
        self.out.width().is_some()
    }

    /// Ends a last line that has no end: the next one begins on a line of its own.
    pub(super) fn begin(&mut self) -> std::io::Result<()> {
        if self.last == b'\n' { Ok(()) } else { self.write_all(b"\n") }
    }
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.last = bytes.get(..written).and_then(<[u8]>::last).copied().unwrap_or(self.last);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
