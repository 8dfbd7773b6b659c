//! The journal's file, byte by byte.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

use tempfile::TempDir;

use super::file::{AREA, Areas, JournalFile, Room, Title, beginning};
use super::record::{self, HEAD, Journaled, MOST_PAYLOAD, Stamp};
use super::row::Place;
use crate::rights::Rights;
use crate::store::session_key::SessionKey;

const AREAS: Areas = Areas::USUAL;
const STORE: u64 = 7;
const EPOCH: u64 = 11;
const STAMP: Stamp = Stamp { epoch: EPOCH, commits: 3, synced: None };

struct Made {
    folder: TempDir,
    file: JournalFile,
}

impl Made {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = File::create(folder.path().join("store")).unwrap();
        let rights = Rights::of(&store).unwrap();
        let path = folder.path().join("journal");
        let file = JournalFile::make(&path, STORE, (AREAS, Room::Written), &rights, false).unwrap();
        file.entitle(Title::of(STORE, EPOCH)).unwrap();
        Self { folder, file }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    /// Overwrites bytes of the file.
    fn put(&self, at: usize, bytes: &[u8]) {
        let mut file = File::options().write(true).open(self.path()).unwrap();
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(bytes).unwrap();
    }

    fn write(&self, after: &Place, payload: &[u8]) -> Place {
        let session = SessionKey::new(5);
        self.file.write(after.at, after, STAMP, session, payload).unwrap()
    }

    /// What follows a place, up to the end of the chain.
    fn from(&self, place: Place) -> Vec<Journaled> {
        let mut place = place;
        let mut found = Vec::new();
        while let Some(next) = self.file.next(&place, EPOCH).unwrap() {
            place = next.journaled.end;
            found.push(next.journaled);
        }
        found
    }
}

fn byte(at: u64) -> usize {
    usize::try_from(at).unwrap()
}

fn payloads(found: &[Journaled]) -> Vec<&[u8]> {
    found.iter().map(|journaled| &*journaled.payload).collect()
}

#[test]
fn records_come_back_in_order() {
    let made = Made::new();
    let first = beginning(40);
    assert!(made.from(first).is_empty());
    let second = made.write(&first, b"one");
    let third = made.write(&second, b"");
    made.write(&third, &[9; MOST_PAYLOAD]);
    let found = made.from(first);
    assert_eq!(payloads(&found), [&b"one"[..], b"", &[9; MOST_PAYLOAD]]);
    assert_eq!(found.iter().map(|found| found.sequence()).collect::<Vec<_>>(), [41, 42, 43]);
    assert_eq!(payloads(&made.from(second)), [&b""[..], &[9; MOST_PAYLOAD]]);
    // Not in another epoch, nor behind another record, nor at another number.
    assert!(made.file.next(&first, EPOCH + 1).unwrap().is_none());
    assert!(made.from(Place { check: 1, ..first }).is_empty());
    assert!(made.from(Place { sequence: 41, ..first }).is_empty());
}

#[test]
fn a_torn_record_ends_the_journal_at_each_byte() {
    let made = Made::new();
    let first = beginning(0);
    let second = made.write(&first, b"whole");
    made.write(&second, &[b'x'; 300]);
    let (start, end) = (byte(second.at), byte(second.at + record::size(300)));
    let whole = std::fs::read(made.path()).unwrap()[start..end].to_vec();
    // A power loss may leave any part of what was written last; before it there were zeros, or an older record.
    for older in [0_u8, 0x5A] {
        for torn in 0..whole.len() {
            for keeps_beginning in [true, false] {
                let mut bytes = whole.clone();
                let lost = if keeps_beginning { torn..whole.len() } else { 0..torn + 1 };
                // What is lost may have been the same byte before.
                if bytes[lost.clone()].iter().all(|byte| *byte == older) {
                    continue;
                }
                bytes[lost].fill(older);
                // The bytes behind the payload say nothing.
                let is_padding = torn >= HEAD + 300 && keeps_beginning;
                made.put(start, &bytes);
                let expected = if is_padding { 2 } else { 1 };
                assert_eq!(made.from(first).len(), expected, "{torn} {keeps_beginning}");
            }
        }
    }
}

#[test]
fn a_flipped_bit_ends_the_journal() {
    let made = Made::new();
    let first = beginning(0);
    let second = made.write(&first, b"one");
    made.write(&second, b"two, of more than eight bytes");
    let whole = std::fs::read(made.path()).unwrap();
    for bit in 0..(HEAD + 3) * 8 {
        let at = byte(first.at) + bit / 8;
        made.put(at, &[whole[at] ^ 1 << (bit % 8)]);
        assert!(made.from(first).is_empty(), "bit {bit}");
        made.put(at, &[whole[at]]);
    }
}

#[test]
fn the_areas_follow_each_other() {
    let made = Made::new();
    let first = beginning(0);
    let mut place = first;
    let size = record::size(MOST_PAYLOAD);
    let mut count = 0;
    while AREAS.has_room(&place, size) {
        place = made.write(&place, &[1; MOST_PAYLOAD]);
        count += 1;
    }
    assert_eq!(count, AREA / size);
    assert_eq!((AREAS.area_of(&first), AREAS.area_of(&place)), (0, 0));
    let other = Place { at: AREAS.start_of(1), ..place };
    let session = SessionKey::new(5);
    let behind = made.file.write(AREAS.start_of(1), &place, STAMP, session, b"there").unwrap();
    assert_eq!(AREAS.area_of(&behind), 1);
    assert_eq!(payloads(&made.from(place)), [b"there"]);
    assert_eq!(made.from(first).len() as u64, count + 1);
    assert_eq!(payloads(&made.from(other)), [b"there"]);
    // And back into the first, over what is there.
    let again = made.file.write(AREAS.start_of(0), &behind, STAMP, session, b"again").unwrap();
    assert_eq!(payloads(&made.from(place)), [&b"there"[..], b"again"]);
    assert_eq!(made.file.newest(None).unwrap().sequence, again.sequence);
    assert!(made.from(first).is_empty());
}

#[test]
fn an_area_can_be_filled_to_its_last_byte() {
    let made = Made::new();
    let first = beginning(0);
    let mut place = first;
    while AREAS.has_room(&place, record::size(MOST_PAYLOAD)) {
        place = made.write(&place, &[1; MOST_PAYLOAD]);
    }
    let left = usize::try_from(AREAS.start_of(0) + AREA - place.at).unwrap() - HEAD;
    place = made.write(&place, &vec![2; left]);
    assert_eq!((place.at, AREAS.area_of(&place)), (AREAS.start_of(0) + AREA, 0));
    assert!(!AREAS.has_room(&place, record::size(0)));
    let session = SessionKey::new(5);
    made.file.write(AREAS.start_of(1), &place, STAMP, session, b"there").unwrap();
    assert_eq!(payloads(&made.from(place)), [b"there"]);
}

#[test]
fn a_record_begins_with_a_page_if_it_touches_fewer_then() {
    let made = Made::new();
    let first = beginning(0);
    let page = first.at;
    let session = SessionKey::new(5);
    let (small, large) = (1_264, 9_000);
    let mut place = first;
    let mut begun = Vec::new();
    // Three of the small ones fill a page but for its end. The large one takes three pages, or four.
    for payload in [small, small, small, small, large, small, large] {
        let at = AREAS.byte_behind(&place, record::size(payload)).unwrap();
        begun.push(at - page);
        place = made.file.write(at, &place, STAMP, session, &vec![1; payload]).unwrap();
    }
    assert_eq!(begun, [0, 1_320, 2_640, 4_096, 5_416, 14_472, 16_384]);
    assert_eq!(made.from(first).len(), begun.len());
    // At the end of the area there is no next page.
    let end = Place { at: AREAS.start_of(0) + AREA - 1_000, ..first };
    assert_eq!(AREAS.byte_behind(&end, 1_000), Some(end.at));
    assert_eq!(AREAS.byte_behind(&end, 1_008), None);
    let end = Place { at: AREAS.start_of(1) + AREA, ..first };
    assert_eq!(AREAS.byte_behind(&end, record::size(0)), None);
}

#[test]
fn a_length_beyond_the_area_is_no_record() {
    let made = Made::new();
    let first = beginning(0);
    made.write(&first, b"one");
    for length in [u64::MAX, MOST_PAYLOAD as u64 + 1, MOST_PAYLOAD as u64, 1 << 40] {
        made.put(byte(first.at), &length.to_le_bytes());
        assert!(made.from(first).is_empty());
        assert_eq!(made.file.newest(None).unwrap().sequence, 0);
    }
}

#[test]
fn only_the_journal_of_the_store_is_opened() {
    let made = Made::new();
    assert!(JournalFile::open(&made.path(), STORE).is_ok());
    assert!(JournalFile::open_to_read(&made.path(), STORE).is_ok());
    assert!(JournalFile::open(&made.path(), STORE + 1).is_err());
    let bytes = std::fs::read(made.path()).unwrap();
    for length in [0, 1, 4095, 4096, bytes.len() - 1] {
        std::fs::write(made.path(), &bytes[..length]).unwrap();
        assert!(JournalFile::open(&made.path(), STORE).is_err(), "{length}");
    }
    // It is not made anew in the place of another file.
    std::fs::write(made.path(), "somebody's").unwrap();
    let rights = Rights::at(&made.path()).unwrap();
    assert!(
        JournalFile::make(&made.path(), STORE, (AREAS, Room::Written), &rights, false).is_err()
    );
    assert_eq!(std::fs::read_to_string(made.path()).unwrap(), "somebody's");
}

#[test]
fn each_part_of_an_area_is_filled_once() {
    let made = Made::new();
    let mut place = beginning(0);
    let mut filled = Vec::new();
    // Some of them begin with a part, behind the end of the page before.
    while let Some(at) = AREAS.byte_behind(&place, record::size(1_264)) {
        let session = SessionKey::new(5);
        let end = made.file.write(at, &place, STAMP, session, &[1; 1_264]).unwrap();
        if AREAS.fills_part(place.at, end.at) {
            filled.push(end.at - AREAS.start_of(0));
        }
        place = end;
    }
    let part = AREA / 4;
    assert_eq!(filled.iter().map(|at| at / part).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(filled.iter().all(|at| at % part <= 4096), "{filled:?}");
}
