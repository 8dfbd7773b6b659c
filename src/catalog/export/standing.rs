//! Compares a file with its entry in the manifest, and with what would be written in its place.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::time::SystemTime;

use super::super::file_time::{is_recent, nanoseconds};
use super::file_tree::Place;
use super::manifest::Entry;
use super::report::ExportOptions;
use crate::error::{Error, FileContext, Result};
use crate::open_folder::{Found, Kind};
use crate::redact::Redactor;
use crate::session::SessionReader;
use crate::store::fingerprint::Fingerprint;

/// Bytes of a read.
const BUFFER_BYTES: usize = 256 << 10;

/// How a file compares with the manifest.
#[derive(Debug)]
pub(super) enum Standing {
    /// There is none.
    Absent,
    /// It is as it was left.
    AsLeft(Stamp),
    /// It has changed, or the manifest has no entry for it.
    Unknown(Stamp),
    /// It is a folder, a link, or something else that is not a file.
    NoFile,
}

/// Identifies an unchanged file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Standing {
    /// Examines the file; reads it only if its size is the one in the manifest and its time is not.
    pub(super) fn of(place: &Place, noted: Option<&Entry>) -> Result<Self> {
        let stamp = match place.look()? {
            None => return Ok(Self::Absent),
            Some(found) if found.kind == Kind::File => Stamp::of_found(&found),
            Some(_) => return Ok(Self::NoFile),
        };
        let Some(noted) = noted.filter(|noted| noted.bytes == stamp.bytes) else {
            return Ok(Self::Unknown(stamp));
        };
        let is_as_left = (noted.modified.is_some() && noted.modified == stamp.nanoseconds())
            || fingerprint(place)? == noted.fingerprint.0;
        Ok(if is_as_left { Self::AsLeft(stamp) } else { Self::Unknown(stamp) })
    }

    /// The file's stamp; `None` if there is no file.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::AsLeft(stamp) | Self::Unknown(stamp) => Some(*stamp),
            Self::Absent | Self::NoFile => None,
        }
    }
}

impl Stamp {
    /// The stamp of what was found in a folder.
    pub(super) fn of_found(found: &Found) -> Self {
        Self { bytes: found.bytes, modified: found.modified }
    }

    /// An open file's stamp.
    pub(super) fn of_file(file: &File) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        Some(Self { bytes: metadata.len(), modified: metadata.modified().ok() })
    }

    /// The file's size.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The time of modification if any later change will alter it; `None` if a change may happen within the same tick
    /// of the clock.
    pub(super) fn lasting(&self) -> Option<i64> {
        self.nanoseconds().filter(|_| !self.modified.is_some_and(is_recent))
    }

    /// The time of modification, whether a later change will alter it or not.
    pub(super) fn nanoseconds(&self) -> Option<i64> {
        i64::try_from(nanoseconds(self.modified?)).ok()
    }
}

fn fingerprint(place: &Place) -> Result<u128> {
    fingerprint_of(place.read()?).at("reading", &place.path)
}

fn fingerprint_of(mut file: File) -> std::io::Result<u128> {
    let mut fingerprint = Fingerprint::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match read_full(&mut file, &mut buffer)? {
            0 => return Ok(fingerprint.digest()),
            read => fingerprint.take(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// How a file compares with what would be written in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It has the same bytes.
    Same {
        /// Their fingerprint.
        fingerprint: u128,
        /// What the export says of them.
        is_settled: bool,
    },
    /// It is the beginning of them.
    Beginning,
    /// It begins with all of them, and goes on.
    Longer,
    /// It has others.
    Other,
}

impl Likeness {
    /// Compares a file with an export up to the first difference.
    pub(super) fn of(
        place: &Place,
        reader: &SessionReader,
        options: &ExportOptions,
    ) -> Result<Self> {
        let path = &place.path;
        let mut comparing = Comparing::new(place.read()?);
        let redactor = options.redactor().map(Redactor::aside);
        let exported = reader.export_noting(&options.mode, redactor.as_ref(), &mut comparing);
        if let Some(source) = comparing.failure {
            return Err(Error::File { action: "reading", path: path.to_owned(), source });
        }
        if let Some(likeness) = comparing.difference {
            return Ok(likeness);
        }
        let is_settled = exported?.is_settled;
        if !comparing.is_at_end().at("reading", path)? {
            return Ok(Self::Longer);
        }
        Ok(Self::Same { fingerprint: comparing.fingerprint.digest(), is_settled })
    }
}

/// A writer that compares what it is given with a file, and accepts no more from the first difference on.
struct Comparing {
    file: File,
    buffer: Vec<u8>,
    fingerprint: Fingerprint,
    difference: Option<Likeness>,
    failure: Option<std::io::Error>,
}

impl Comparing {
    fn new(file: File) -> Self {
        Self {
            file,
            buffer: vec![0; BUFFER_BYTES],
            fingerprint: Fingerprint::default(),
            difference: None,
            failure: None,
        }
    }

    /// How the next bytes of the file differ from these.
    fn compare(&mut self, bytes: &[u8]) -> std::io::Result<Option<Likeness>> {
        for expected in bytes.chunks(BUFFER_BYTES) {
            let found = self.buffer.get_mut(..expected.len()).unwrap_or_default();
            let read = read_full(&mut self.file, found)?;
            if found.get(..read) != expected.get(..read) {
                return Ok(Some(Likeness::Other));
            }
            if read < expected.len() {
                return Ok(Some(Likeness::Beginning));
            }
            self.fingerprint.take(expected);
        }
        Ok(None)
    }

    fn is_at_end(&mut self) -> std::io::Result<bool> {
        Ok(read_full(&mut self.file, &mut [0])? == 0)
    }
}

impl Write for Comparing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.compare(bytes) {
            Ok(None) => return Ok(bytes.len()),
            Ok(difference) => self.difference = difference,
            Err(error) => self.failure = Some(error),
        }
        Err(std::io::Error::other("no more is to be compared"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads until the buffer is full or the file ends.
fn read_full(file: &mut File, room: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while let Some(left) = room.get_mut(read..).filter(|left| !left.is_empty()) {
        match file.read(left) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a file compares with what is written in pieces of this size.
    fn compared(found: &[u8], expected: &[u8], piece: usize) -> Option<Likeness> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, found).unwrap();
        let mut comparing = Comparing::new(File::open(&path).unwrap());
        let stopped = expected.chunks(piece).any(|piece| comparing.write_all(piece).is_err());
        assert_eq!(stopped, comparing.difference.is_some());
        let is_same = !stopped && comparing.is_at_end().unwrap();
        assert!(
            !is_same
                || comparing.fingerprint.digest()
                    == fingerprint_of(File::open(&path).unwrap()).unwrap()
        );
        comparing.difference.or((!is_same).then_some(Likeness::Other))
    }

    #[test]
    fn a_file_is_the_same_or_the_beginning_or_another() {
        let expected: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let edges = [0, 1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, expected.len() - 1];
        for piece in [1_000, BUFFER_BYTES, usize::MAX] {
            assert_eq!(compared(&expected, &expected, piece), None);
            for edge in edges {
                let beginning = &expected[..edge];
                assert_eq!(compared(beginning, &expected, piece), Some(Likeness::Beginning));
                assert_eq!(compared(&expected, beginning, piece), Some(Likeness::Other), "longer");
                let mut other = expected.clone();
                other[edge] ^= 1;
                assert_eq!(compared(&other, &expected, piece), Some(Likeness::Other), "{edge}");
            }
        }
        assert_eq!(compared(b"", b"", 1), None);
    }

    #[test]
    fn a_recent_time_may_hide_a_later_change() {
        let time = |before: u64| Stamp {
            bytes: 1,
            modified: Some(SystemTime::now() - std::time::Duration::from_secs(before)),
        };
        assert!(time(0).nanoseconds().is_some() && time(0).lasting().is_none());
        assert!(time(100).lasting().is_some());
    }
}
