//! Files that are written as a whole: a session, or bytes.

use std::path::Path;

use leafline_import::format::RecoveryRule;
use leafline_import::{Reading, Start, detect};

use super::{ATTEMPTS, ExpectedSize, Found, StoreSessionStorage, place, reader, size_of};
use crate::catalog::import::agents;
use crate::catalog::import::beginning::record_of_start;
use crate::catalog::import::candidate::PREFIX_BYTES;
use crate::catalog::import::digest::Digest;
use crate::catalog::import::known::free_number;
use crate::error::Result;
use crate::session::SessionReader;
use crate::session::live::build::{Builder, WrittenFile};
use crate::store::clock::now;
use crate::store::commit::{Batch, FileChange};
use crate::store::file_record::{FileContent, FileRecord};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// Bytes that are passed on at once.
const BLOCK_BYTES: usize = 1 << 20;

/// What the beginning of a file shows of the session that it is.
pub(super) struct Beginning {
    start: Start,
    id: Vec<u8>,
    reading: Reading,
}

/// The session that begins so in the file at a path. `None` if it is not one, or not yet, or one that its program rewrites when
/// it opens it: such a file is kept as bytes.
pub(super) fn beginning_of(path: &Path, prefix: &[u8], is_all: bool) -> Option<Beginning> {
    let start = detect(prefix, None, is_all).ok()?;
    if start.migration.is_some() {
        return None;
    }
    let start = start.placed(path, prefix, false);
    let of_name = || path.file_stem().unwrap_or_default().as_encoded_bytes().to_vec();
    let id = start.id.clone().unwrap_or_else(of_name);
    let recovers = start.family.recovery() == RecoveryRule::Usual;
    let reading = Reading { family: start.family, recovers };
    Some(Beginning { start, id, reading })
}

/// Passes on bytes piece by piece.
pub(super) type Feed<'f> = &'f dyn Fn(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

/// The bytes that count for what a file is.
fn prefix_of(content: &[u8]) -> (&[u8], bool) {
    let most = usize::try_from(PREFIX_BYTES).unwrap_or(usize::MAX);
    (content.get(..most).unwrap_or(content), content.len() <= most)
}

impl StoreSessionStorage {
    /// Writes a file as a whole, if it is what the writer believes.
    pub(super) fn write_whole(
        &self,
        (path, key): (&Path, &[u8]),
        content: &[u8],
        expected: ExpectedSize,
    ) -> Result<()> {
        let (prefix, is_all) = prefix_of(content);
        let plain_path = place::path_of(key)?;
        let Some(beginning) = beginning_of(&plain_path, prefix, is_all) else {
            return self.write_bytes((path, key), content, expected);
        };
        for _ in 0..ATTEMPTS {
            let snapshot = self.store.snapshot()?;
            let before = place::locate(&snapshot, key)?;
            place::refuse_in_the_way(&snapshot, key)?;
            let (snapshot, old) = of_session(snapshot, before.as_ref())?;
            expected.check(path, actual_size(before.as_ref(), old.as_ref())?)?;
            drop(snapshot);
            let feed = |take: &mut dyn FnMut(&[u8]) -> Result<()>| {
                content.chunks(BLOCK_BYTES).try_for_each(take)
            };
            if self.write_session(key, (before.as_ref(), old.as_ref()), &beginning, &feed)? {
                return Ok(());
            }
        }
        Err(self.in_use())
    }

    /// Writes bytes that are no session.
    fn write_bytes(
        &self,
        (path, key): (&Path, &[u8]),
        content: &[u8],
        expected: ExpectedSize,
    ) -> Result<()> {
        let owner = self.store.begin_owner()?;
        let removed = self.store.write(|snapshot| {
            let before = place::locate(&snapshot, key)?;
            place::refuse_in_the_way(&snapshot, key)?;
            let (_, old) = of_session(snapshot, before.as_ref())?;
            expected.check(path, actual_size(before.as_ref(), old.as_ref())?)?;
            let removed = before.as_ref().and_then(Found::session);
            let mut batch = Batch::default();
            batch.change_file(key, FileChange::Bytes(content.to_vec()));
            removed.iter().for_each(|session| batch.remove(*session, &owner));
            Ok((batch, removed))
        })?;
        self.swept(removed, owner.token);
        Ok(())
    }

    /// Makes a session of what `feed` passes on, in the place of the file that was there before. `false` if that has changed
    /// meanwhile: nothing is written then.
    pub(super) fn write_session(
        &self,
        key: &[u8],
        (before, old): (Option<&Found>, Option<&SessionReader>),
        beginning: &Beginning,
        feed: Feed<'_>,
    ) -> Result<bool> {
        let Beginning { start, id, reading } = beginning;
        let number = match old {
            Some(old) if old.record().external_id == *id => old.record().number,
            _ => free_number(&self.store, id, 1)?,
        };
        let restores = if number == 1 { self.removed_with_id(id)? } else { Vec::new() };
        let record = record_of_start(start, (id, number), *reading, Some(now()));
        let replaced = old.map(SessionReader::view);
        let mut builder = Builder::of_file(&self.store, record, start.leaf.clone(), replaced)?;
        let mut digest = Digest::default();
        // A block of the builder has whole lines.
        let mut rest = Vec::new();
        feed(&mut |piece| {
            digest.take(piece);
            match memchr::memrchr(b'\n', piece) {
                None => rest.extend_from_slice(piece),
                Some(last) => {
                    let (lines, open) = piece.split_at(last + 1);
                    builder.push(&rest)?;
                    builder.push(lines)?;
                    rest.clear();
                    rest.extend_from_slice(open);
                }
            }
            Ok(())
        })?;
        builder.push(&rest)?;
        let imported = digest.finish();
        let is_agent = start.agent.as_ref().is_some_and(|agent| agent.is_certain);
        let before = before.filter(|before| !before.is_source).map(|before| before.record);
        builder.finish_file(WrittenFile {
            path: key,
            before,
            restores: &restores,
            settle: &|record| {
                agents::settle(record, is_agent);
                record.imported = imported;
            },
        })
    }

    /// The removed sessions with an id, which one with the same id in a file brings back.
    fn removed_with_id(&self, id: &[u8]) -> Result<Vec<SessionKey>> {
        let removed = self.store.committed()?.removed_with_id(id)?;
        Ok(removed.into_iter().map(|(session, _)| session).collect())
    }

    /// Adds lines to a file that is not a session, or that is not there: it may become one with them. `false` if it has become
    /// one meanwhile.
    pub(super) fn append_bytes(&self, key: &[u8], lines: &[u8]) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let snapshot = self.store.committed()?;
            let before = place::locate(&snapshot, key)?;
            let beginning = match before.as_ref().map(|before| before.record.content) {
                Some(FileContent::Session(_)) => return Ok(false),
                Some(FileContent::Bytes { number, size }) if size < PREFIX_BYTES => {
                    let bytes = snapshot.file_bytes(key, (number, size), (0, size))?;
                    Some([&bytes, lines].concat())
                }
                Some(FileContent::Bytes { .. }) => None,
                None => Some(lines.to_vec()),
            };
            if before.is_none() {
                place::refuse_in_the_way(&snapshot, key)?;
            }
            drop(snapshot);
            let path = place::path_of(key)?;
            let session = beginning.as_ref().and_then(|content| {
                let (prefix, is_all) = prefix_of(content);
                beginning_of(&path, prefix, is_all)
            });
            if let Some((session, content)) = session.zip(beginning) {
                let feed = |take: &mut dyn FnMut(&[u8]) -> Result<()>| take(&content);
                if self.write_session(key, (before.as_ref(), None), &session, &feed)? {
                    return Ok(true);
                }
                continue;
            }
            let expected: Option<FileRecord> = before.map(|before| before.record);
            let is_written = self.store.write(|snapshot| {
                let mut batch = Batch::default();
                let now = place::locate(&snapshot, key)?.map(|now| now.record);
                if now == expected {
                    batch.change_file(key, FileChange::Longer(lines.to_vec()));
                }
                Ok((batch, now == expected))
            })?;
            if is_written {
                return Ok(true);
            }
        }
        Err(self.in_use())
    }
}

/// The session that a file is, if it is one.
fn of_session(
    snapshot: Snapshot,
    found: Option<&Found>,
) -> Result<(Option<Snapshot>, Option<SessionReader>)> {
    match found.and_then(Found::session) {
        Some(session) => Ok((None, Some(reader(snapshot, session)?))),
        None => Ok((Some(snapshot), None)),
    }
}

fn actual_size(found: Option<&Found>, old: Option<&SessionReader>) -> Result<Option<u64>> {
    match (found.map(|found| found.record.content), old) {
        (_, Some(old)) => size_of(old).map(Some),
        (Some(FileContent::Bytes { size, .. }), None) => Ok(Some(size)),
        _ => Ok(None),
    }
}
