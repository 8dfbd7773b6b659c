//! A journal that is damaged: told from a file that never was the store's, and read for what is whole in it.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use super::epoch::GIVEN_UP;
use super::file::{
    Areas, EPOCH_AT, JournalFile, NAMED, Newest, PAGE_BYTES, Title, open_to_write, write_at,
};
use super::record::{Head, Journaled};
use super::row::{JournalRow, Place};
use crate::error::Corruption;
use crate::regular_file::open_regular;
use crate::store::session_key::SessionKey;

/// Bits of the first page that may be wrong. In another store's journal some 32 bits of the number differ; that at most eight
/// do happens once in three billion.
const MOST_BITS: u32 = 8;

/// What is wrong with the journal's file as a whole.
#[derive(Debug)]
pub(super) struct Damage {
    at: u64,
    problem: String,
    /// What its first records say.
    pub(super) newest: Newest,
}

impl Damage {
    /// The damage as an error.
    pub(super) fn at(self, path: &Path) -> Corruption {
        Corruption {
            table: "journal",
            place: format!("{}, byte {}", path.display(), self.at),
            problem: self.problem,
        }
    }
}

/// What a damaged journal had that is whole.
#[derive(Debug, Default)]
pub(crate) struct Rescued {
    /// The records that the tables do not have, in order.
    pub(crate) records: Vec<Journaled>,
    /// A number behind all of its records.
    pub(crate) last: u64,
    /// What was not taken over, and why.
    pub(crate) problem: Option<String>,
}

impl JournalFile {
    /// What is wrong with a file, if it is the journal of the store all the same: its first page says so but for a few bits, or it
    /// has a record of the epoch. `None`, too, if nothing is wrong.
    pub(super) fn damage(path: &Path, store: u64, epoch: u64) -> Result<Option<Damage>> {
        let file = Self::unchecked(open_regular(path)?)?;
        let (page, length) = file.beginning_of_file()?;
        let wrong = wrong_bits(&page, store, epoch);
        let is_named = page.len() >= NAMED && wrong <= MOST_BITS;
        let (at, problem) = if is_named && wrong == 0 {
            match Areas::of_file(length) {
                Some(_) => return Ok(None),
                None => (length, cut(length, Areas::USUAL)),
            }
        } else if is_named || Title::parse(&page).is_none() && file.has_record_of(epoch)? {
            (0, PAGE_DAMAGED.to_owned())
        } else {
            return Ok(None);
        };
        Ok(Some(Damage { at, problem, newest: file.newest(None)? }))
    }

    /// What is wrong with an open journal of an epoch: something else has cut it off, or written over its first page.
    pub(super) fn damage_in(&self, epoch: u64) -> Result<Option<Damage>> {
        let newest = Newest::default();
        if !self.has_its_length()? {
            let (_, length) = self.beginning_of_file()?;
            return Ok(Some(Damage { at: length, problem: cut(length, self.areas), newest }));
        }
        let is_whole = self.title()?.is_some_and(|title| title.epoch == epoch);
        let problem = PAGE_DAMAGED.to_owned();
        Ok((!is_whole).then_some(Damage { at: 0, problem, newest }))
    }

    /// Whether the journal may have what a store lacks in whose tables no epoch is open. `ended` is the last one that they had, and
    /// `retired` the last one that they ended while another process had the right to append.
    pub(super) fn may_have_more(
        &self,
        row: &JournalRow,
        (ended, retired): (u64, u64),
    ) -> Result<bool> {
        let Some(Title { epoch, is_sealed, .. }) = self.title()? else { return Ok(true) };
        if epoch == 0 {
            // The file that it belonged to had all of it. This one may be an older copy, put back.
            return Ok(false);
        }
        if self.newest(Some(epoch))?.is_ahead_of(row) {
            return Ok(true);
        }
        match epoch == ended {
            // What was written to it later nobody acknowledged.
            true if is_sealed && epoch == retired => Ok(false),
            // A copy of the store may have ended the epoch sooner.
            true => Ok(self.next(&row.folded, epoch)?.is_some()),
            // One that was begun and not committed has no records.
            false => self.has_record_of(epoch),
        }
    }

    /// Makes a damaged journal of the store whole again that no epoch uses. What it has counts for nothing.
    pub(super) fn mended(path: &Path, store: u64, areas: Areas) -> Result<Self> {
        let file = open_to_write(path)?;
        let whole = areas.file_bytes();
        let there = file.metadata()?.len().min(whole);
        file.set_len(whole)?;
        let page = PAGE_BYTES as u64;
        for at in (there / page..whole / page).map(|number| number * page) {
            write_at(&file, &[0; PAGE_BYTES], at)?;
        }
        write_at(&file, &Title::of(store, 0).page(), 0)?;
        file.sync_all()?;
        Self::of(file, path, areas, true)
    }

    /// A file whose first page is not looked at.
    pub(super) fn unchecked(file: File) -> Result<Self> {
        Self::of(file, Path::new(""), Areas::USUAL, false)
    }

    fn has_record_of(&self, epoch: u64) -> Result<bool> {
        let mut any = false;
        if epoch != 0 {
            self.each_of(epoch, |_, _, _| {
                any = true;
                false
            })?;
        }
        Ok(any)
    }
}

const PAGE_DAMAGED: &str = "its first page is not what was written there";

fn cut(length: u64, whole: Areas) -> String {
    format!("the file has {length} bytes, and not {}", whole.file_bytes())
}

/// Bits in which the beginning of a file differs from the first page of a store's journal, sealed or not; 0 stands for any epoch.
fn wrong_bits(page: &[u8], store: u64, epoch: u64) -> u32 {
    let titles = [false, true].map(|is_sealed| Title { store, epoch, is_sealed });
    titles.into_iter().map(|title| bits_other_than(page, title)).min().unwrap_or(u32::MAX)
}

fn bits_other_than(page: &[u8], title: Title) -> u32 {
    let expected = title.page();
    let differences = page.iter().zip(expected).map(|(is, was)| (is ^ was).count_ones());
    match title.epoch {
        0 => {
            differences.enumerate().filter(|(at, _)| !EPOCH_AT.contains(at)).map(|(_, of)| of).sum()
        }
        _ => differences.sum(),
    }
}

/// Reads what is whole in the journal of a store, whatever is damaged in it: the records that the tables, as their row says, do
/// not have. `store` is the store's number, if it is known.
///
/// # Errors
///
/// If the system has no memory or no descriptor for it: that says nothing of the file.
pub(crate) fn rescue(path: &Path, store: Option<u64>, row: &JournalRow) -> Result<Rescued> {
    match read(path, store, row) {
        Ok(rescued) => Ok(rescued),
        Err(error) if is_of_the_moment(&error) => Err(error),
        Err(error) => {
            let last = row.folded.sequence.saturating_add(GIVEN_UP);
            let problem = match error.kind() {
                ErrorKind::NotFound => format!("{} is not there", path.display()),
                _ => format!("{}: {error}", path.display()),
            };
            let problem = Some(format!("what it alone has was not taken over: {problem}"));
            Ok(Rescued { records: Vec::new(), last, problem })
        }
    }
}

/// The same where the row that says how much the tables have is lost: the whole records of the newest epoch, most of which
/// the tables may have. `None` if the file is not known to be the store's, cannot be read, or has none.
pub(crate) fn rescue_newest(path: &Path, store: u64) -> Result<Option<Rescued>> {
    match read_newest(path, store) {
        Err(error) if !is_of_the_moment(&error) => Ok(None),
        rescued => rescued,
    }
}

fn read_newest(path: &Path, store: u64) -> Result<Option<Rescued>> {
    let file = JournalFile::unchecked(open_regular(path)?)?;
    let (page, _) = file.beginning_of_file()?;
    if page.len() < NAMED || wrong_bits(&page, store, 0) > MOST_BITS {
        return Ok(None);
    }
    let Some((epoch, folded)) = file.newest_epoch()? else { return Ok(None) };
    let row = JournalRow { epoch, folded, commits: u64::MAX, path: Vec::new() };
    read(path, Some(store), &row).map(Some)
}

/// Whether the system lacks what it may have later.
fn is_of_the_moment(error: &Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let no_descriptor = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
        if error.raw_os_error().is_some_and(|code| no_descriptor.contains(&code)) {
            return true;
        }
    }
    error.kind() == ErrorKind::OutOfMemory
}

fn read(path: &Path, store: Option<u64>, row: &JournalRow) -> Result<Rescued> {
    let file = JournalFile::unchecked(open_regular(path)?)?;
    let mut found: Vec<(Head, Vec<u8>, Place)> = Vec::new();
    let mut has_any = false;
    file.each_of(row.epoch, |head, payload, end| {
        has_any = true;
        if head.sequence > row.folded.sequence {
            found.push((head, payload, end));
        }
        true
    })?;
    found.sort_by_key(|(head, _, _)| head.sequence);
    let (page, length) = file.beginning_of_file()?;
    let is_named = store.is_some_and(|store| wrong_bits(&page, store, row.epoch) <= MOST_BITS);
    let is_ours = has_any || is_named && page.len() >= NAMED;
    let mut problems = Vec::new();
    if !is_ours {
        problems.push("it does not continue the store's file".to_owned());
    } else if length < Areas::USUAL.file_bytes() {
        problems.push(format!("it ends at byte {length}"));
    }
    if found.is_empty() && file.newest(Some(row.epoch))?.is_ahead_of(row) {
        problems.push("it is of a later state than the store's file".to_owned());
    }
    let mut place = row.folded;
    let mut records = Vec::new();
    let highest = found.last().map_or(0, |(head, _, _)| head.sequence);
    // From the last one on: the highest number that a record says to be on the disk.
    let mut proven: Vec<u64> =
        found.iter().map(|(head, ..)| head.stamp.synced.unwrap_or(0)).collect();
    for index in (1..proven.len()).rev() {
        proven[index - 1] = proven[index - 1].max(proven[index]);
    }
    for ((head, payload, end), proven) in found.into_iter().zip(proven) {
        if head.sequence <= place.sequence {
            continue;
        }
        if head.stamp.commits > row.commits {
            problems.push("it is of a later state than the store's file".to_owned());
            break;
        }
        if head.sequence == place.sequence + 1 {
            if !head.follows(&place, row.epoch) {
                problems.push("its records do not follow what the tables have".to_owned());
                break;
            }
        } else if proven > place.sequence {
            problems.push(lost(place.sequence + 1, head.sequence - 1));
        } else {
            // Nothing says that they were on the disk: a loss of power has torn them.
            break;
        }
        place = end;
        records.push(Journaled { session: SessionKey::new(head.session), payload, end });
    }
    let last = place.sequence.max(highest);
    let problem = (!problems.is_empty()).then(|| problems.join("; "));
    let last = if problem.is_some() { last.saturating_add(GIVEN_UP) } else { last };
    Ok(Rescued { records, last, problem })
}

fn lost(first: u64, last: u64) -> String {
    if first == last {
        format!("record {first} of it is damaged, and what it added is missing")
    } else {
        format!("records {first} to {last} of it are damaged, and what they added is missing")
    }
}
