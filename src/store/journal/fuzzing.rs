//! What a fuzzer asks of the journal's file.

use std::path::Path;

use super::damaged::rescue;
use super::file::{Areas, JournalFile, PAGE_BYTES, Title, beginning};
use super::record::{self, Stamp};
use super::row::{JournalRow, Place};
use crate::store::session_key::SessionKey;

const STORE: u64 = 0x6c65_6166_6c69_6e65;
const EPOCH: u64 = 0x6a6f_7572_6e61_6c31;
const COMMITS: u64 = 3;

/// Most records of an input.
const MOST: u8 = 16;

/// What the input takes away of a file, beside bits that change.
const ZEROS: u8 = 0;

/// A record that was written, and where.
struct Written {
    payload: Vec<u8>,
    from: usize,
    to: usize,
}

/// Writes records as an input says, damages them, and compares what is read with what is whole. The first byte is their number,
/// or chooses that the input is the journal; two say how long each is, and four each where it is damaged and how.
pub(crate) fn journal(data: &[u8], folder: &Path) {
    let Some((&count, rest)) = data.split_first() else { return };
    let length = usize::try_from(Areas::USUAL.file_bytes()).unwrap_or(usize::MAX);
    let mut file = vec![0; length];
    let page = Title::of(STORE, EPOCH).page();
    file.iter_mut().zip(page).for_each(|(byte, of_page)| *byte = of_page);
    let path = folder.join("journal");
    let folded = beginning(40);
    if count >= 0x80 {
        file.iter_mut().skip(PAGE_BYTES).zip(rest).for_each(|(byte, new)| *byte = *new);
        read(&path, &file, folded);
        return;
    }
    let (lengths, changes) = rest.split_at(rest.len().min(2 * usize::from(count % MOST)));
    let written = write(&mut file, lengths.as_chunks().0, folded);
    let whole = file.clone();
    for &[low, high, further, how] in changes.as_chunks().0 {
        let at = usize::from(u16::from_le_bytes([low, high])) + usize::from(further % 4) * 13;
        if how == ZEROS {
            file.iter_mut().skip(at).take(PAGE_BYTES).for_each(|byte| *byte = 0);
        } else if let Some(byte) = file.get_mut(at) {
            *byte ^= how;
        }
    }
    let is_whole =
        |record: &&Written| file.get(record.from..record.to) == whole.get(record.from..record.to);
    let chain: Vec<_> = written.iter().take_while(is_whole).collect();
    let saved: Vec<_> = written.iter().filter(is_whole).collect();
    let has_page = file.starts_with(&page);
    let title = file.get(..PAGE_BYTES).and_then(Title::parse);
    let is_of = |store| title.is_some_and(|title| title.store == store || title.epoch == 0);
    let (found, later, rescued) = read(&path, &file, folded);
    for store in [STORE, STORE + 1] {
        assert_eq!(JournalFile::open(&path, store).is_ok(), is_of(store));
    }
    assert!(found.iter().eq(chain.iter().map(|record| &record.payload)));
    assert_eq!(later, saved.len() > chain.len());
    let records = rescued.records.iter().map(|record| &record.payload);
    assert!(records.eq(saved.iter().map(|record| &record.payload)));
    assert!(rescued.problem.is_some() || saved.len() == chain.len());
    assert!(rescued.problem.is_none() || saved.len() > chain.len() || !has_page);
    let damage = JournalFile::damage(&path, STORE, EPOCH).expect("the file can be read");
    assert!(damage.is_some() || title.is_some() || saved.is_empty());
}

/// Writes records of these lengths, each of which says that those before it are on the disk.
fn write(file: &mut [u8], lengths: &[[u8; 2]], folded: Place) -> Vec<Written> {
    let mut written = Vec::new();
    let mut last = folded;
    for (number, length) in (1u8..).zip(lengths) {
        let payload = vec![number; usize::from(u16::from_le_bytes(*length) % 5000)];
        let at = Areas::USUAL.byte_behind(&last, record::size(payload.len()));
        let at = at.expect("the area takes more than an input writes");
        let stamp = Stamp { epoch: EPOCH, commits: COMMITS, synced: Some(last.sequence) };
        let session = SessionKey::new(u64::from(number % 3));
        let (bytes, check) = record::encode(&last, stamp, session, &payload);
        let from = usize::try_from(at).unwrap_or(usize::MAX);
        file.iter_mut().skip(from).zip(&bytes).for_each(|(byte, new)| *byte = *new);
        last = Place { sequence: last.sequence + 1, check, at: at + bytes.len() as u64 };
        let to = from + record::HEAD + payload.len();
        written.push(Written { payload, from, to });
    }
    written
}

/// The payloads that follow each other, whether a later record says that more was there, and what can be saved.
fn read(path: &Path, file: &[u8], folded: Place) -> (Vec<Vec<u8>>, bool, super::Rescued) {
    std::fs::write(path, file).expect("a file can be written");
    let open = std::fs::File::open(path).expect("it can be opened");
    let journal = JournalFile::unchecked(open).expect("it can be asked");
    let mut place = folded;
    let mut found = Vec::new();
    while let Some(next) = journal.next(&place, EPOCH).expect("it can be read") {
        assert_eq!(next.journaled.sequence(), place.sequence + 1);
        place = next.journaled.end;
        found.push(next.journaled.payload);
    }
    let later = journal.later(&place, EPOCH).expect("it can be read").is_some();
    journal.newest(None).expect("it can be read");
    let row = JournalRow { epoch: EPOCH, folded, commits: COMMITS, path: Vec::new() };
    (found, later, rescue(path, Some(STORE), &row).expect("there is room to read it"))
}

/// Inputs to begin with: records that are whole, damaged in one place or in several, and a journal's bytes.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let lengths = [[100, 0], [0, 0], [0x88, 0x13 - 8], [200, 1], [50, 0]];
    let mut seeds = Vec::new();
    for count in 0..=5_u8 {
        let mut seed = vec![count];
        lengths.iter().take(usize::from(count)).for_each(|length| seed.extend(length));
        seeds.push(seed.clone());
        for at in [0, 4096, 4100, 4160, 4300, 8192, 8300] {
            let [low, high] = u16::to_le_bytes(at);
            seeds.push([&*seed, &[low, high, 0, 4]].concat());
            seeds.push([&*seed, &[low, high, 0, ZEROS]].concat());
        }
    }
    // Another epoch in the first page.
    seeds.push(vec![2, 100, 0, 0, 1, 33, 0, 0, 3]);
    let mut file = vec![0; 64 << 10];
    write(&mut file, &lengths, beginning(40));
    seeds.push([&[0x80], file.get(PAGE_BYTES..).unwrap_or_default()].concat());
    seeds
}
