//! A file that may be a session: opened, and identified by its beginning.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leafline_import::format::RecoveryRule;
use leafline_import::lines::{BlockReader, LONGEST_LINE};
use leafline_import::{Family, NotASession, Reading, Start, detect};

use super::super::file_time::{is_recent, nanoseconds};
use super::folder::FoundFile;
use super::pipeline::BLOCK_BYTES;
use super::report::{FileReport, ImportStatus, Recovery, Refusal};
use crate::regular_file::open_regular;
use crate::store::fingerprint::Fingerprint;
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;
use crate::store::source_record::SourceRecord;

/// Bytes read to identify a file. A longer first line is read to its end.
pub(crate) const PREFIX_BYTES: u64 = 256 << 10;

/// A header in a line longer than this is refused: 64 MiB.
pub(super) const LONGEST_PREFIX: u64 = 64 << 20;

/// Bytes of a read from the end of a file.
const TAIL_BYTES: usize = 64 << 10;

/// Bytes of a read.
const BUFFER_BYTES: usize = 1 << 20;

/// The reason given for an input without a name whose lines do not name their session.
const NAMELESS: &str = "its lines do not name their session; import it as a file of its name";

/// Where what is read comes from.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// A file, whose path says more of it.
    OfFile,
    /// An input that is gone when it is read.
    Nowhere,
}

/// An open file that is a session.
#[derive(Debug)]
pub(in crate::catalog) struct Candidate {
    pub(in crate::catalog) path: PathBuf,
    /// The absolute path's bytes: the key in `sources`. `None` if it is no file that would be found again.
    pub(super) source: Option<Vec<u8>>,
    pub(in crate::catalog) file: File,
    pub(in crate::catalog) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// What its beginning and its path show.
    pub(in crate::catalog) start: Start,
    external_id: Vec<u8>,
    recovery: Recovery,
    /// Whether bytes after `size` are ignored.
    is_cut: bool,
    /// The most bytes of a line.
    pub(super) longest_line: u64,
}

/// Advice for a file that has a session's lines without their header.
const HEADLESS: &str = "append its lines to the file that has its header, and import that file";

/// Returns true if a file's name has the form that pi and omp use for sessions: `<time>_<id>.jsonl`.
fn is_named_like_a_session(path: &Path) -> bool {
    const TIME: &[u8] = b"2026-02-16T10-20-30-112Z_";
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_like = |(byte, like): (&u8, &u8)| match like {
        b'0'..=b'9' => byte.is_ascii_digit(),
        like => byte == like,
    };
    name.len() > TIME.len() && name.iter().zip(TIME).all(is_like)
}

impl Candidate {
    /// Opens a file; the report says why it is not a session.
    pub(in crate::catalog) fn open(
        path: &Path,
        family: Option<Family>,
        recovery: Recovery,
    ) -> Result<Self, Box<FileReport>> {
        let (candidate, _) = Self::open_by_prefix(path, family, recovery, PREFIX_BYTES)?;
        Ok(candidate)
    }

    /// Opens a file that was found.
    pub(super) fn open_found(
        found: &FoundFile,
        family: Option<Family>,
        recovery: Recovery,
    ) -> Result<Self, Box<FileReport>> {
        let file = found.open().map_err(|error| unreadable(&found.path, &error))?;
        let place = if found.kept.is_some() { Place::Nowhere } else { Place::OfFile };
        let (candidate, _) =
            Self::identify((&found.path, place), file, (family, recovery), PREFIX_BYTES)?;
        Ok(candidate)
    }

    /// Opens a file and detects its family from `prefix` bytes, or from more if those do not decide. Returns the bytes
    /// too.
    pub(in crate::catalog) fn open_by_prefix(
        path: &Path,
        family: Option<Family>,
        recovery: Recovery,
        prefix_bytes: u64,
    ) -> Result<(Self, Vec<u8>), Box<FileReport>> {
        let file = open_regular(path).map_err(|error| unreadable(path, &error))?;
        Self::identify((path, Place::OfFile), file, (family, recovery), prefix_bytes)
    }

    fn identify(
        (path, place): (&Path, Place),
        mut file: File,
        (family, recovery): (Option<Family>, Recovery),
        prefix_bytes: u64,
    ) -> Result<(Self, Vec<u8>), Box<FileReport>> {
        let failed = |error: std::io::Error| unreadable(path, &error);
        let skipped = |bytes: u64, reason: String| {
            let mut report = FileReport::new(path.to_owned(), ImportStatus::Skipped);
            report.bytes = bytes;
            Box::new(report.with_reason(reason))
        };
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let size = metadata.len();
        let mut prefix = Vec::new();
        let mut limit = prefix_bytes;
        // The header may come after blank lines, or be long itself: more is read until it is found.
        let detected = loop {
            let missing = limit - prefix.len() as u64;
            (&mut file).take(missing).read_to_end(&mut prefix).map_err(failed)?;
            let complete = (prefix.len() as u64) < limit;
            let detected = detect(&prefix, family, complete);
            let undecided = matches!(detected, Err(NotASession::PrefixTooShort { .. }));
            if !undecided || limit >= LONGEST_PREFIX {
                break detected;
            }
            limit *= 4;
        };
        let start = detected.map_err(|reason| {
            // A header that is still being written has no line feed yet.
            let has_lines = prefix.starts_with(b"{") && prefix.contains(&b'\n');
            let begins_otherwise = matches!(reason, NotASession::Unknown { .. }) && has_lines;
            let mut report = skipped(size, reason.to_string());
            if begins_otherwise && is_named_like_a_session(path) {
                // A program wrote turns to this file while the header is in another one. Only this file has these turns.
                report.status = ImportStatus::Failed;
                report.refusal = Some(Refusal::NotASession);
                report.reason =
                    Some(format!("{reason}, but it is named like a session: {HEADLESS}"));
            }
            report
        })?;
        let (start, source, modified, external_id) = match place {
            Place::OfFile => {
                let start = start.placed(path, &prefix, family.is_some());
                let absolute = std::path::absolute(path).map_err(failed)?;
                let stem = || path.file_stem().unwrap_or_default().as_encoded_bytes().to_vec();
                let id = start.id.clone().unwrap_or_else(stem);
                let source = absolute.as_os_str().as_encoded_bytes().to_vec();
                (start, Some(source), metadata.modified().ok(), id)
            }
            Place::Nowhere => {
                let start = start.without_file();
                let id = start.id.clone().ok_or_else(|| skipped(size, NAMELESS.to_owned()))?;
                (start, None, None, id)
            }
        };
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let candidate = Self {
            path: path.to_owned(),
            source,
            file,
            size,
            modified,
            external_id,
            start,
            recovery,
            is_cut: false,
            longest_line: LONGEST_LINE,
        };
        Ok((candidate, prefix))
    }

    /// The session's id, as WTF-8: the header's; if a family has none, the file's name without its extension.
    pub(super) fn external_id(&self) -> &[u8] {
        &self.external_id
    }

    /// How its lines are read. A file that is migrated is read as its program reads it.
    pub(in crate::catalog) fn reading(&self) -> Reading {
        let family = self.start.family;
        let recovers = match (self.recovery, family.recovery()) {
            (Recovery::None, _) | (_, RecoveryRule::Never) => false,
            (Recovery::Documented, rule) => rule == RecoveryRule::Usual,
            (Recovery::All, _) => !self.needs_migration(),
        };
        Reading { family, recovers }
    }

    /// Whether the caller chose how malformed lines are read.
    pub(super) fn insists_on_recovery(&self) -> bool {
        self.recovery != Recovery::Documented
    }

    /// Whether the program would rewrite the file on opening it.
    pub(super) fn needs_migration(&self) -> bool {
        self.start.migration.is_some()
    }

    /// Whether it is an agent's file, whatever its other lines contain.
    pub(in crate::catalog) fn is_certain_agent(&self) -> bool {
        self.start.agent.as_ref().is_some_and(|agent| agent.is_certain)
    }

    /// The file as a source of the session, with its path; `None` if it has none.
    pub(super) fn source(&self, session: SessionKey) -> Option<(Vec<u8>, SourceRecord)> {
        // If the file were written again within the same tick of the clock, its time would not change.
        let modified = self.modified.filter(|&modified| !is_recent(modified)).map(nanoseconds);
        Some((self.source.clone()?, SourceRecord { session, size: self.size, modified }))
    }

    /// What was imported from the file's path before.
    pub(super) fn known_source(&self, snapshot: &Snapshot) -> crate::Result<Option<SourceRecord>> {
        self.source.as_deref().map_or(Ok(None), |path| snapshot.source(path))
    }

    /// The file's bytes from the current position to the end of what is read.
    pub(in crate::catalog) fn bytes(&self) -> impl Read {
        let limit = if self.is_cut { self.size } else { u64::MAX };
        (&self.file).take(limit)
    }

    /// The same in blocks of whole lines.
    pub(in crate::catalog) fn blocks(&self) -> BlockReader<impl Read> {
        BlockReader::new(self.bytes(), BLOCK_BYTES).longest_line(self.longest_line)
    }

    /// Ignores a last line without an end if the file was written a moment ago: its writer is about to finish the line.
    /// Not if the store has some of that line, as it has the file's first `stored` bytes: it would lose that.
    pub(super) fn leave_open_line(&mut self, stored: u64) -> std::io::Result<()> {
        if !self.modified.is_some_and(is_recent) {
            return Ok(());
        }
        let mut end = self.size;
        let mut buffer = vec![0; TAIL_BYTES];
        while end > 0 {
            let start = end.saturating_sub(TAIL_BYTES as u64);
            let length = usize::try_from(end - start).unwrap_or(TAIL_BYTES);
            let piece = buffer.get_mut(..length).unwrap_or_default();
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(piece)?;
            if let Some(place) = piece.iter().rposition(|&byte| byte == b'\n') {
                let end = start + place as u64 + 1;
                if !(end + 1..=self.size).contains(&stored) {
                    self.is_cut |= end < self.size;
                    self.size = end;
                }
                break;
            }
            end = start;
        }
        self.file.seek(SeekFrom::Start(0))?;
        Ok(())
    }

    /// The file's time of modification in milliseconds since 1970.
    pub(in crate::catalog) fn modified_milliseconds(&self) -> Option<i64> {
        i64::try_from(nanoseconds(self.modified?) / 1_000_000).ok()
    }

    /// A report with what the header states.
    pub(super) fn report(&self, status: ImportStatus) -> FileReport {
        let mut report = FileReport::new(self.path.clone(), status);
        report.family = Some(self.start.family);
        report.version = self.start.format_version;
        report.bytes = self.size;
        report
    }

    /// The fingerprints of the file's first bytes, for each of the ascending lengths that the file has.
    pub(super) fn digests(&mut self, lengths: &[u64]) -> std::io::Result<Vec<(u64, u128)>> {
        let mut digests = Vec::new();
        let mut fingerprint = Fingerprint::default();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut at = 0u64;
        self.file.seek(SeekFrom::Start(0))?;
        for &length in lengths {
            while at < length {
                let most = usize::try_from(length - at)
                    .map_or(BUFFER_BYTES, |left| left.min(BUFFER_BYTES));
                let read = self.file.read(buffer.get_mut(..most).unwrap_or_default())?;
                if read == 0 {
                    self.file.seek(SeekFrom::Start(0))?;
                    return Ok(digests);
                }
                fingerprint.take(buffer.get(..read).unwrap_or_default());
                at += read as u64;
            }
            digests.push((length, fingerprint.digest()));
        }
        self.file.seek(SeekFrom::Start(0))?;
        Ok(digests)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Box<FileReport> {
    let report = FileReport::new(path.to_owned(), ImportStatus::Failed);
    Box::new(report.unread(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_bounds() {
        use crate::documented::{bound, number};
        let header = format!("in the first {} MiB of the file", number(LONGEST_PREFIX >> 20));
        assert_eq!(bound("header"), header);
        assert_eq!(bound("a line"), format!("{} GiB, set by the caller", LONGEST_LINE >> 30));
    }
}
