//! What a fuzzer asks of the values of tables.

use super::blobs::BlobRecord;
use super::chunk::Chunk;
use super::entry_record::EntryRecord;
use super::file_record::{FileContent, FileRecord};
use super::journal::JournalRow;
use super::label_record::LabelRecord;
use super::ordinal::Ordinal;
use super::pointer_record::PointerRecord;
use super::prompt_block::{Places, PromptBlockRecord};
use super::prompt_record::PromptRecord;
use super::record::{self, Record};
use super::removed_record::RemovedRecord;
use super::session_record::{ListedRecord, SessionRecord};
use super::settings_record::SettingsRecord;
use super::source_record::{SourceRecord, path_of_bytes};
use super::type_counts::TypeCounts;
use super::{Store, tables};
use crate::session::check_change;

/// Kinds of values. The first byte of an input chooses one.
const KINDS: u8 = 16;

/// Lines of a chunk that are looked for.
const MOST_LINES: u64 = 64;

/// A value is damage, or it is read, and written it is read again.
pub(crate) fn records(data: &[u8]) {
    let Some((&kind, value)) = data.split_first() else { return };
    match kind % KINDS {
        0 => session(value),
        1 => comes_back::<BlobRecord>(value),
        2 => comes_back::<LabelRecord>(value),
        3 => comes_back::<PointerRecord>(value),
        4 => comes_back::<SettingsRecord>(value),
        5 => comes_back::<PromptRecord>(value),
        6 => comes_back::<PromptBlockRecord>(value),
        7 => comes_back::<RemovedRecord>(value),
        8 => comes_back::<SourceRecord>(value),
        9 => comes_back::<JournalRow>(value),
        10 => check_change(value),
        11 => entry(value),
        12 => prompts(value),
        13 => counts(value),
        15 => comes_back::<FileRecord>(value),
        _ => chunk(value),
    }
}

fn comes_back<R: Record>(value: &[u8]) {
    let Ok(read) = R::from_bytes(value, String::new) else { return };
    let written = read.to_bytes();
    let again = R::from_bytes(&written, String::new).expect("what was written can be read");
    assert_eq!(again.to_bytes(), written);
}

fn session(value: &[u8]) {
    comes_back::<SessionRecord>(value);
    let listed = ListedRecord::borrowed(value, String::new);
    let Ok(record) = SessionRecord::from_bytes(value, String::new) else { return };
    let listed = listed.expect("a list reads a part of what is read");
    assert_eq!((listed.lines, listed.entries), (record.lines, record.entries));
    assert_eq!(listed.id(), record.id());
    for path in &record.sources {
        let _ = path_of_bytes(path);
    }
}

fn entry(value: &[u8]) {
    let Ok(entry) = EntryRecord::from_bytes(value) else { return };
    let mut written = Vec::new();
    entry.write_to(&mut written);
    assert_eq!(EntryRecord::from_bytes(&written).expect("it was written"), entry);
}

fn prompts(value: &[u8]) {
    let mut places = Places::none();
    if places.insert_row(value).is_err() {
        return;
    }
    let mut again = Places::none();
    again.insert_row(&places.to_row()).expect("it was written");
    assert_eq!(again, places);
}

fn counts(value: &[u8]) {
    let Ok((counts, _)) = record::read::<TypeCounts>(value) else { return };
    let mut written = Vec::new();
    record::append(&counts, &mut written);
    assert_eq!(record::read::<TypeCounts>(&written).expect("it was written").0, counts);
}

/// A chunk behind the number of its first line.
fn chunk(value: &[u8]) {
    let Some((first, bytes)) = value.split_first_chunk() else { return };
    let first = Ordinal::new(u64::from_le_bytes(*first));
    let _ = Chunk::is_whole(bytes);
    let _ = Chunk::parse(first, bytes);
    // What its check would refuse is read, too.
    let mut bytes = bytes.to_vec();
    let _ = super::chunk::reseal(&mut bytes);
    let Ok(chunk) = Chunk::parse(first, &bytes) else { return };
    let frames = chunk.frames();
    for (place, frame) in frames.iter().enumerate() {
        assert_eq!(chunk.frame_bytes(place).len() as u64, frame.stored_len);
    }
    let end = first.later(chunk.line_count()).expect("all lines have numbers");
    assert!(!chunk.holds(end) && chunk.locate(end).is_none());
    for ordinal in first.up_to(end).take(usize::try_from(MOST_LINES).unwrap_or(usize::MAX)) {
        let place = chunk.locate(ordinal).expect("the chunk has the line");
        let text = frames.get(place.frame).expect("the line is in a frame").text_len;
        assert!(place.start <= place.end);
        // The lines of a frame need not add up to its text; who decompresses it notices.
        let _ = (text, chunk.holes_of(ordinal));
    }
    let Ok(nodes) = chunk.nodes() else { return };
    assert_eq!(nodes.len() as u64, chunk.line_count());
    let written = chunk.with_nodes(&nodes);
    let again = Chunk::parse(first, &written).expect("what was written can be read");
    assert_eq!(again.nodes().expect("and its nodes, too"), nodes);
}

/// Values of all kinds, of a store with the files in a folder, behind the bytes that choose them.
pub(crate) fn seeds(store: &Store) -> Vec<Vec<u8>> {
    let snapshot = store.committed().expect("the store can be read");
    let mut seeds = Vec::new();
    let mut add = |kind: u8, value: &[u8]| seeds.push([&[kind], value].concat());
    macro_rules! values {
        ($($kind:literal $table:ident;)*) => {
            $(for row in snapshot.table(tables::$table).expect("it is there").iter().expect("and can be read").take(20) {
                let (_, value) = row.expect("each row, too");
                let value: &[u8] = value.value();
                add($kind, value);
            })*
        };
    }
    values! {
        0 SESSIONS; 1 BLOBS; 2 LABELS; 3 POINTERS; 4 SETTINGS; 5 HISTORY; 6 HISTORY_BLOCKS;
        8 SOURCES; 9 JOURNAL; 11 ENTRIES; 12 HISTORY_TERMS;
    }
    let lines = snapshot.table(tables::LINES).expect("it is there");
    for row in lines.iter().expect("and can be read").take(40) {
        let (key, value) = row.expect("each row, too");
        let (_, first, part) = key.value();
        if part == 0 {
            add(14, &[&first.to_le_bytes(), value.value()].concat());
        }
    }
    let removed = RemovedRecord::of(SessionRecord::default(), 7);
    add(7, &removed.to_bytes());
    for payload in crate::session::example_changes() {
        add(10, &payload);
    }
    let file = FileRecord { content: FileContent::Bytes { number: 3, size: 700 }, written: 9 };
    add(15, &file.to_bytes());
    add(13, &[9, 1, 4, b't', b'e', b'x', b't', 1, 2]);
    seeds
}
