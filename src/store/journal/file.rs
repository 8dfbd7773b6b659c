//! The journal's file: a page with its names, and two areas that are filled in turn.

use std::fs::File;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use tempfile::PathPersistError;

use super::super::names::{
    Identity, identity, identity_and_length, is_named, may_be_named, names_and_length, names_of,
};
use super::super::recorder;
use super::super::session_key::SessionKey;
use super::record::{self, HEAD, Head, Journaled, MOST_PAYLOAD, Stamp};
use super::row::{JournalRow, Place};
use crate::destination::folder_of;
use crate::private;
#[cfg(unix)]
use crate::regular_file::WITHOUT_WAITING;
use crate::regular_file::{check_regular, open_regular};
use crate::rights::Rights;
use crate::temporary::{Temporary, name_if_free, name_new, remove_left};

/// The beginning of every journal.
pub(crate) const MAGIC: [u8; 16] = *b"leafline journal";

/// The layout of the file.
const VERSION: u64 = 1;

/// Bytes of the first page that say something; the others are zeros.
pub(super) const NAMED: usize = 48;

/// Where the first page has the epoch.
pub(super) const EPOCH_AT: std::ops::Range<usize> = 32..40;

/// Where it says that the journal is sealed.
const SEALED_AT: std::ops::Range<usize> = 40..48;

/// Bytes of the first page, and of the pages behind the areas.
pub(super) const PAGE_BYTES: usize = 4096;
const PAGE: u64 = PAGE_BYTES as u64;

/// Bytes of an area. While one is filled, what the other has goes into the tables.
#[cfg(not(any(test, fuzzing)))]
const AREA: u64 = 4 << 20;

/// In tests it is full sooner.
#[cfg(any(test, fuzzing))]
pub(crate) const AREA: u64 = 512 << 10;

/// Parts of an area. When one is full, what the journal has is folded: so there is room for a long time if whoever has the write
/// transaction keeps it, and little that a reader has to take in.
const PARTS: u64 = 4;

/// Bytes that are searched for records at once: they stay in the processor's cache.
const SEARCHED: usize = 128 << 10;

/// An open journal.
#[derive(Debug)]
pub(crate) struct JournalFile {
    file: File,
    /// Where it was opened.
    pub(super) path: PathBuf,
    identity: Identity,
    /// Whether the file system counts the names of a file.
    counts_names: bool,
    pub(super) areas: Areas,
    /// Whether it is open to be written.
    pub(super) is_writable: bool,
}

/// What the first page says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Title {
    /// The store's number.
    pub(super) store: u64,
    /// The epoch that the journal continues; 0 once the store's file has all of its records.
    pub(super) epoch: u64,
    /// Whether its epoch is being ended while a process that does not get on has the right to append: no record that is written from
    /// now on is acknowledged.
    pub(super) is_sealed: bool,
}

impl Title {
    /// That of a journal which is in use, or closed.
    pub(super) fn of(store: u64, epoch: u64) -> Self {
        Self { store, epoch, is_sealed: false }
    }

    /// The page.
    pub(super) fn page(self) -> [u8; PAGE_BYTES] {
        let mut page = [0; PAGE_BYTES];
        let sealed = u64::from(self.is_sealed);
        let numbers = [VERSION, self.store, self.epoch, sealed].map(u64::to_le_bytes);
        let parts = MAGIC.into_iter().chain(numbers.into_iter().flatten());
        page.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part);
        page
    }

    /// Reads a page; `None` if it is not that of a journal.
    pub(super) fn parse(page: &[u8]) -> Option<Self> {
        let number =
            |at: std::ops::Range<usize>| page.get(at)?.try_into().ok().map(u64::from_le_bytes);
        let is_sealed = number(SEALED_AT)? != 0;
        let title = Self { store: number(24..32)?, epoch: number(EPOCH_AT)?, is_sealed };
        (page == title.page()).then_some(title)
    }
}

/// How a new journal gets its room on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// All of its bytes are written once: later writes in place change no facts of the file, and cost one sync of the data.
    Written,
    /// The system sets it aside, where it can, and nothing is written: for those who append less than that.
    Reserved,
}

impl Room {
    /// Gives a file with its first page the bytes of a journal: zeros.
    fn give(self, mut file: &File, bytes: u64) -> Result<()> {
        if self == Self::Reserved && is_reserved(file, bytes) {
            return Ok(());
        }
        // Page by page: of what is written at once a system may later write all again where a part changes.
        for _ in 1..bytes / PAGE {
            file.write_all(&[0; PAGE_BYTES])?;
        }
        Ok(())
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_reserved(file: &File, bytes: u64) -> bool {
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes).is_ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_reserved(_: &File, _: u64) -> bool {
    false
}

/// Where the two areas of a file are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Areas {
    /// The bytes of each.
    bytes: u64,
}

/// What follows a place.
#[derive(Debug)]
pub(super) struct Next {
    pub(super) journaled: Journaled,
    pub(super) commits: u64,
}

/// What a record says of the time at which it was written; zeros where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Newest {
    pub(super) sequence: u64,
    pub(super) commits: u64,
}

impl Newest {
    /// Whether the record is of a later state than the tables: it is not in them, and its writer knew of commits that they do
    /// not have. Without such commits a power loss may have left it, and torn one before it.
    pub(super) fn is_ahead_of(&self, row: &JournalRow) -> bool {
        self.sequence > row.folded.sequence && self.commits > row.commits
    }
}

/// Where the first record of an epoch begins.
pub(super) fn beginning(sequence: u64) -> Place {
    Place { sequence, check: 0, at: PAGE }
}

impl Areas {
    pub(crate) const USUAL: Self = Self { bytes: AREA };

    /// Those of a new journal: the usual ones, unless a run wants others.
    pub(super) fn of_new() -> Self {
        recorder::area().map_or(Self::USUAL, |bytes| Self { bytes })
    }

    /// Areas of other sizes, a number of pages.
    #[cfg(any(test, all(unix, feature = "faults")))]
    pub(crate) fn of_bytes(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Those of a file of this length; `None` if it is not the journal's.
    pub(super) fn of_file(length: u64) -> Option<Self> {
        let is_usual = length == Self::USUAL.file_bytes();
        let takes_any = cfg!(test) || recorder::area().is_some();
        if !is_usual && takes_any && length > 2 * PAGE && length.is_multiple_of(2 * PAGE) {
            return Some(Self { bytes: length / 2 - PAGE });
        }
        is_usual.then_some(Self::USUAL)
    }

    /// Bytes of the whole file.
    pub(super) const fn file_bytes(self) -> u64 {
        2 * (PAGE + self.bytes)
    }

    /// Which of the two areas has a byte. A place at the end of an area is in it.
    pub(super) fn area_of(self, place: &Place) -> usize {
        usize::from(place.at > PAGE + self.bytes)
    }

    /// Where an area begins. A page is between the two, so that the end of one is not the beginning of the other.
    pub(super) fn start_of(self, area: usize) -> u64 {
        PAGE + (self.bytes + PAGE) * area as u64
    }

    /// Whether a record fits between a place and the end of its area.
    pub(super) fn has_room(self, place: &Place, size: u64) -> bool {
        let end = self.start_of(self.area_of(place)) + self.bytes;
        place.at.checked_add(size).is_some_and(|after| after <= end)
    }

    /// The bytes of a part of an area.
    pub(super) fn part(self) -> u64 {
        self.bytes / PARTS
    }

    /// Whether a place is in another part of its area than the one before it.
    pub(super) fn fills_part(self, from: u64, to: u64) -> bool {
        let part = self.part();
        let part_of =
            |at: u64| (at - self.start_of(self.area_of(&Place { at, ..Place::default() }))) / part;
        part_of(from) != part_of(to)
    }

    /// Whether a record with such a payload can be written.
    pub(super) fn takes(self, payload: usize) -> bool {
        payload <= MOST_PAYLOAD && record::size(payload) <= self.bytes
    }

    /// Where a record begins that is written behind another in its area; `None` if the area is full.
    ///
    /// A system writes whole pages, so the record begins with a page if it takes fewer of them then.
    pub(super) fn byte_behind(self, last: &Place, size: u64) -> Option<u64> {
        let pages = |at: u64| (at % PAGE + size).div_ceil(PAGE);
        let page = last.at.next_multiple_of(PAGE);
        let at = if pages(page) < pages(last.at) { page } else { last.at };
        self.has_room(&Place { at, ..*last }, size).then_some(at)
    }
}

impl JournalFile {
    /// Makes the journal of a store, or takes the one that is there, and gives it the owner and the mode of the store's file.
    ///
    /// Some file systems have no way to name a file that replaces nothing. There only the holder of the write transaction makes a
    /// journal.
    pub(crate) fn make(
        path: &Path,
        store: u64,
        (areas, room): (Areas, Room),
        like: &Rights,
        has_transaction: bool,
    ) -> Result<Self> {
        let folder = folder_of(path);
        // Of who was killed while it made the store, or its journal; nothing else may ever be made in this folder.
        remove_left(folder);
        match Self::open(path, store) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(file) => {
                like.lend(&file.file)?;
                // Who made it may have been killed before its name was on the disk.
                sync_name(folder)?;
                return Ok(file);
            }
        }
        let temporary = Temporary::in_folder(folder)?;
        let (mut file, made) = temporary.database()?.into_parts();
        file.write_all(&Title::of(store, 0).page())?;
        room.give(&file, areas.file_bytes())?;
        like.lend(&file)?;
        recorder::made(&file, areas.file_bytes());
        let sync = recorder::begin_sync(&file)?;
        file.sync_all()?;
        sync.done(&file)?;
        let otherwise = |refused: PathPersistError| match has_transaction {
            true => name_if_free(refused.path, path),
            false => Err(refused.error),
        };
        match name_new(made, path, otherwise) {
            Ok(()) => {
                recorder::named(path);
                sync_name(folder)?;
                Self::of(file, path, areas, true)
            }
            // Another process has made it, and its name may not be on the disk yet.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                sync_name(folder)?;
                Self::open(path, store)
            }
            Err(error) => Err(error),
        }
    }

    /// Opens the journal of a store.
    pub(crate) fn open(path: &Path, store: u64) -> Result<Self> {
        Self::checked(open_to_write(path)?, path, store, true)
    }

    /// The same for a process that may only read it.
    pub(crate) fn open_to_read(path: &Path, store: u64) -> Result<Self> {
        Self::checked(open_regular(path)?, path, store, false)
    }

    fn checked(file: File, path: &Path, store: u64, is_writable: bool) -> Result<Self> {
        let areas = Areas::of_file(file.metadata()?.len());
        let title = title_of(&file)?;
        // Another store has no use for one that continues nothing.
        let is_ours = title.is_some_and(|title| title.store == store || title.epoch == 0);
        match areas.filter(|_| is_ours) {
            Some(areas) => {
                recorder::opened(&file);
                Self::of(file, path, areas, is_writable)
            }
            None => Err(Error::new(ErrorKind::InvalidData, "it is not the journal of this store")),
        }
    }

    pub(super) fn of(file: File, path: &Path, areas: Areas, is_writable: bool) -> Result<Self> {
        let counts_names = names_of(&file)? > 0;
        let identity = identity(&file)?;
        Ok(Self { file, path: path.to_owned(), identity, counts_names, areas, is_writable })
    }

    /// What its first page says now; `None` if that is damaged.
    pub(super) fn title(&self) -> Result<Option<Title>> {
        title_of(&self.file)
    }

    /// Whether it is sealed.
    pub(super) fn is_sealed(&self) -> Result<bool> {
        Ok(self.title()?.is_some_and(|title| title.is_sealed))
    }

    /// Writes the first page.
    pub(super) fn entitle(&self, title: Title) -> Result<()> {
        let page = title.page();
        write_at(&self.file, &page, 0)
    }

    /// Whether the file is certainly where it was opened, with its length: one call of the system.
    fn stays(&self) -> bool {
        identity_and_length(&self.path).is_ok_and(|(identity, bytes)| {
            identity == self.identity && bytes == self.areas.file_bytes()
        })
    }

    /// Whether the file is no longer at the place where it was opened: it was deleted, moved or replaced.
    pub(super) fn is_gone(&self) -> Result<bool> {
        if self.stays() {
            return Ok(false);
        }
        Ok(!may_be_named(&self.file, &self.path).unwrap_or(true) || self.has_no_name()?)
    }

    /// Whether it was deleted or replaced: what is in it is lost with the last process that has it open.
    pub(super) fn has_no_name(&self) -> Result<bool> {
        Ok(self.counts_names && names_of(&self.file)? == 0)
    }

    /// Whether the file has a length that a journal has.
    pub(super) fn has_its_length(&self) -> Result<bool> {
        Ok(self.stays() || names_and_length(&self.file)?.1 == self.areas.file_bytes())
    }

    /// The record that follows a place, if it is there and whole.
    pub(super) fn next(&self, place: &Place, epoch: u64) -> Result<Option<Next>> {
        let page = Some(place.at.next_multiple_of(PAGE)).filter(|page| *page > place.at);
        let places =
            [Some(place.at), page, Some(self.areas.start_of(1 - self.areas.area_of(place)))];
        for at in places.into_iter().flatten() {
            if let Some(next) = self.record(at, place, epoch)? {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// Looks for a whole record of an epoch that proves that one behind a place was on the disk. The answer is its number.
    ///
    /// A loss of power may leave a record and not the one before, if neither was synced: such a record does not say so.
    pub(super) fn later(&self, place: &Place, epoch: u64) -> Result<Option<u64>> {
        let mut later = None;
        self.each_of(epoch, |head, _, _| {
            let is_later = head.sequence > place.sequence + 1;
            let proves = head.stamp.synced.is_some_and(|synced| synced > place.sequence);
            later = (is_later && proves).then_some(head.sequence);
            later.is_none()
        })?;
        Ok(later)
    }

    /// Passes on the whole records of an epoch, wherever they are, with their payloads and the places behind them, until `take`
    /// says no.
    pub(super) fn each_of(
        &self,
        epoch: u64,
        mut take: impl FnMut(Head, Vec<u8>, Place) -> bool,
    ) -> Result<()> {
        let pattern = epoch.to_le_bytes();
        let finder = Finder::new(&pattern);
        let mut bytes = Vec::new();
        for area in 0..2 {
            let start = self.areas.start_of(area);
            let end = start + self.areas.bytes;
            let mut at = start;
            while at < end {
                let wanted = usize::try_from(end - at).unwrap_or(usize::MAX).min(SEARCHED);
                bytes.resize(wanted, 0);
                let read = read_at(&self.file, &mut bytes, at)?;
                bytes.truncate(read);
                for found in finder.find_iter(&bytes) {
                    // The epoch is the second number of a head. Records are aligned, so none is cut here.
                    let head = (at + found as u64).checked_sub(8);
                    let is_one = |head: &u64| *head >= start && (head - start).is_multiple_of(8);
                    if let Some(head) = head.filter(is_one)
                        && let Some((head, payload, end)) = self.whole(head)?
                        && head.stamp.epoch == epoch
                        && !take(head, payload, end)
                    {
                        return Ok(());
                    }
                }
                if read < wanted {
                    break;
                }
                at += read as u64;
            }
        }
        Ok(())
    }

    fn record(&self, at: u64, place: &Place, epoch: u64) -> Result<Option<Next>> {
        // Most often there is none: what follows is not read then.
        if !self.head(at)?.is_some_and(|(head, _)| head.follows(place, epoch)) {
            return Ok(None);
        }
        let Some((head, payload, end)) = self.whole(at)? else { return Ok(None) };
        if !head.follows(place, epoch) {
            return Ok(None);
        }
        let session = SessionKey::new(head.session);
        let journaled = Journaled { session, payload, end };
        Ok(Some(Next { journaled, commits: head.stamp.commits }))
    }

    /// The record at a byte, if it is whole: its head, its payload, and the place behind it.
    fn whole(&self, at: u64) -> Result<Option<(Head, Vec<u8>, Place)>> {
        let Some((head, bytes)) = self.head(at)? else { return Ok(None) };
        if !self.areas.has_room(&Place { at, ..Place::default() }, record::size(head.length)) {
            return Ok(None);
        }
        let mut payload = vec![0; head.length];
        let read = read_at(&self.file, &mut payload, at + HEAD as u64)?;
        if read < payload.len() || !head.fits(&bytes, &payload) {
            return Ok(None);
        }
        let end = head.end(at);
        Ok(Some((head, payload, end)))
    }

    fn head(&self, at: u64) -> Result<Option<(Head, [u8; HEAD])>> {
        let mut bytes = [0; HEAD];
        if read_at(&self.file, &mut bytes, at)? < HEAD {
            return Ok(None);
        }
        Ok(Head::parse(&bytes).map(|head| (head, bytes)))
    }

    /// Of the whole records with which the areas begin the later one, if it is of this epoch; of any, if none is named.
    pub(super) fn newest(&self, epoch: Option<u64>) -> Result<Newest> {
        let Some(head) = self.newest_head(epoch)? else { return Ok(Newest::default()) };
        Ok(Newest { sequence: head.sequence, commits: head.stamp.commits })
    }

    fn newest_head(&self, epoch: Option<u64>) -> Result<Option<Head>> {
        let mut newest: Option<Head> = None;
        for area in 0..2 {
            if let Some((head, _, _)) = self.whole(self.areas.start_of(area))?
                && epoch.is_none_or(|epoch| head.stamp.epoch == epoch)
                && newest.is_none_or(|newest| head.sequence > newest.sequence)
            {
                newest = Some(head);
            }
        }
        Ok(newest)
    }

    /// The newest epoch of which an area begins with a whole record, and the place that its first whole record follows.
    pub(super) fn newest_epoch(&self) -> Result<Option<(u64, Place)>> {
        let Some(mut first) = self.newest_head(None)? else { return Ok(None) };
        self.each_of(first.stamp.epoch, |head, _, _| {
            if head.sequence < first.sequence {
                first = head;
            }
            true
        })?;
        Ok(Some((first.stamp.epoch, first.behind())))
    }

    /// Writes a record at a byte, behind a place. Returns the place behind it.
    pub(super) fn write(
        &self,
        at: u64,
        after: &Place,
        stamp: Stamp,
        session: SessionKey,
        payload: &[u8],
    ) -> Result<Place> {
        let (bytes, check) = record::encode(after, stamp, session, payload);
        write_at(&self.file, &bytes, at)?;
        Ok(Place { sequence: after.sequence + 1, check, at: at + bytes.len() as u64 })
    }

    /// Whether a record is where it was, as far as its head says.
    pub(super) fn has(&self, record: &Journaled) -> Result<bool> {
        let Some(at) = record.end.at.checked_sub(record.bytes()) else { return Ok(false) };
        Ok(self.head(at)?.is_some_and(|(head, _)| head.end(at) == record.end))
    }

    /// Writes the bytes of a record again, as they are; `false` if it is not there any more.
    pub(super) fn write_again(&self, record: &Journaled) -> Result<bool> {
        let size = record.bytes();
        let Some(at) = record.end.at.checked_sub(size) else { return Ok(false) };
        let is_there = self.whole(at)?.is_some_and(|(_, _, end)| end == record.end);
        if !is_there {
            return Ok(false);
        }
        let Ok(length) = usize::try_from(size) else { return Ok(false) };
        let mut bytes = vec![0; length];
        if read_at(&self.file, &mut bytes, at)? < bytes.len() {
            return Ok(false);
        }
        write_at(&self.file, &bytes, at)?;
        Ok(true)
    }

    /// Takes its name away, if this file still has it.
    pub(super) fn remove(&self) -> Result<()> {
        if is_named(&self.file, &self.path)? { std::fs::remove_file(&self.path) } else { Ok(()) }
    }

    /// Gives the areas back to the disk, where the system can: they are zeros, and stay so.
    pub(super) fn punch(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{FallocateFlags, fallocate};
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = fallocate(&self.file, flags, PAGE, self.areas.file_bytes() - PAGE);
        }
    }

    /// The beginning of the file, as much as a page has; and the bytes of the file.
    pub(super) fn beginning_of_file(&self) -> Result<(Vec<u8>, u64)> {
        let mut page = vec![0; PAGE_BYTES];
        let read = read_at(&self.file, &mut page, 0)?;
        page.truncate(read);
        Ok((page, self.file.metadata()?.len()))
    }

    /// Puts what was written on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        let sync = recorder::begin_sync(&self.file)?;
        self.file.sync_data()?;
        sync.done(&self.file)
    }
}

/// Opens the file in the journal's place. No link is followed: it may have been planted. The opening of a pipe does not wait.
pub(super) fn open_to_write(path: &Path) -> Result<File> {
    let mut options = private::new_file();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = WITHOUT_WAITING.union(rustix::fs::OFlags::NOFOLLOW);
        options.custom_flags(flags.bits().cast_signed());
    }
    // Opening a device may have an effect.
    check_regular(&std::fs::metadata(path)?)?;
    let file = options.open(path)?;
    // Something else may have come there meanwhile.
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Whether a file is a journal that no store needs: its epoch has ended.
pub(crate) fn is_closed(path: &Path) -> Result<bool> {
    Ok(title_of(&open_regular(path)?)?.is_some_and(|title| title.epoch == 0))
}

fn title_of(file: &File) -> Result<Option<Title>> {
    let mut page = [0; PAGE_BYTES];
    let read = read_at(file, &mut page, 0)?;
    Ok(Title::parse(page.get(..read).unwrap_or_default()))
}

/// Puts the names in a folder on the disk. Other systems cannot open a folder for that.
fn sync_name(folder: &Path) -> Result<()> {
    let sync = recorder::begin_folder_sync(folder);
    if cfg!(unix) {
        match File::open(folder)?.sync_all() {
            // Some file systems cannot sync a folder, and decide themselves when a name is on the disk.
            Err(error) if is_unknown(&error) => {}
            synced => synced?,
        }
    }
    sync.done();
    Ok(())
}

/// Whether the file system does not have the call.
fn is_unknown(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported)
}

pub(super) fn write_at(file: &File, bytes: &[u8], at: u64) -> Result<()> {
    match recorder::write(file, at, bytes)? {
        true => Ok(()),
        false => write_all_at(file, bytes, at),
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], at: u64) -> Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        if written == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
        at += written as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}

/// Reads from a byte on, as much as there is.
pub(super) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> Result<usize> {
    let mut read = 0;
    while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match read_some_at(file, rest, at + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
