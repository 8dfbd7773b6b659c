//! A stream of lines whose secrets are replaced as it passes.

use std::io::{Result, Write};

use memchr::{memchr, memrchr};

use super::{Redactions, Redactor};

/// Passes on lines with their secrets replaced. What follows the last line's end waits for [`Self::finish`].
#[derive(Debug)]
pub struct RedactingWriter<W> {
    redactor: Redactor,
    out: W,
    /// The beginning of a line.
    line: Vec<u8>,
    redactions: Redactions,
    written: u64,
}

impl<W: Write> RedactingWriter<W> {
    pub(super) fn new(redactor: Redactor, out: W) -> Self {
        Self { redactor, out, line: Vec::new(), redactions: Redactions::default(), written: 0 }
    }

    /// Passes on what is left, and adds what was found to the redactor's account. Returns the bytes written.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn finish(mut self) -> Result<u64> {
        let line = std::mem::take(&mut self.line);
        self.pass(&line)?;
        self.redactor.account(&self.redactions);
        Ok(self.written)
    }

    fn pass(&mut self, line: &[u8]) -> Result<()> {
        let (out, written) = (&mut self.out, &mut self.written);
        self.redactor.pass(line, &mut self.redactions, |bytes| {
            *written += bytes.len() as u64;
            out.write_all(bytes)
        })
    }
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut rest = bytes;
        if !self.line.is_empty() {
            let Some(end) = memchr(b'\n', rest) else {
                self.line.extend_from_slice(rest);
                return Ok(bytes.len());
            };
            let (line, behind) = rest.split_at(end + 1);
            self.line.extend_from_slice(line);
            rest = behind;
            let line = std::mem::take(&mut self.line);
            self.pass(&line)?;
        }
        // Whole lines are not copied.
        let (lines, begun) = rest.split_at(memrchr(b'\n', rest).map_or(0, |last| last + 1));
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.pass(line)?;
        }
        self.line.extend_from_slice(begun);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}
