//! What is refused before it is written, and that nothing of it remains.

use std::collections::BTreeSet;

use leafline_import::EntryKind;

use super::rows::Tally;
use super::slice::Row;
use super::*;
use crate::error::Error;
use crate::store::chunk::{ChunkBuilder, EncodedFrame, Frame, Hole, HoleKind, text_check};
use crate::store::entry_record::{EntryRow, EntryRows};
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;
use crate::store::pages::ReadableTable;
use crate::store::pointer_record::{PointerKind, PointerRecord};
use crate::store::record::Record;
use crate::store::settings_record::SettingsRecord;
use crate::store::usage_record::UsageRecord;

const OWNER: u64 = 7;

/// A chunk of one line of a kind, with these holes.
fn chunk_of(first: Ordinal, line: &[u8], kind: EntryKind, holes: &[Hole]) -> ChunkBuilder {
    let length = line.len() as u64;
    let check = text_check(line);
    let frame = Frame { lines: 1, text_len: length, stored_len: length, compressed: false, check };
    let mut chunk = ChunkBuilder::new(first, 0);
    let encoded = EncodedFrame { frame: &frame, bytes: line, lengths: &[length], holes };
    chunk.push(&encoded, &[Node { kind: kind.code(), jump: first, ..Node::default() }]);
    chunk
}

/// A chunk of one line that is not an entry.
pub(super) fn chunk(first: Ordinal, line: &[u8]) -> ChunkBuilder {
    chunk_of(first, line, EntryKind::Header, &[])
}

/// The record of a session with this many lines of four bytes, none of which is an entry.
pub(super) fn record(id: &str, lines: u64) -> SessionRecord {
    let mut record = SessionRecord {
        external_id: id.as_bytes().to_vec(),
        number: 1,
        lines,
        bytes: 4 * lines,
        ..SessionRecord::default()
    };
    record.text_bytes = 4 * lines;
    record
}

/// A session that is imported whole, without a leaf.
pub(super) fn finished(record: SessionRecord) -> Finished {
    let (author, place, sources) = (Author::File, Place::Own, Vec::new());
    Finished { record, leaf: None, author, place, sources }
}

/// A store with session 1 of two lines, the second of which is an entry and the leaf.
fn store() -> (Store, SessionRecord) {
    let store = Store::in_memory().unwrap();
    let mut creation = Creation::new(store.reserve_sessions(1).unwrap());
    let mut batch = Batch::default();
    let mut rows = creation.rows(&mut batch);
    rows.add_chunk(chunk(Ordinal::FIRST, b"one\n"), &mut Vec::new());
    rows.add_chunk(chunk_of(Ordinal::new(1), b"two\n", EntryKind::Message, &[]), &mut Vec::new());
    rows.add_entries(ids(SessionKey::new(1), Ordinal::new(1), "a"));
    let record = SessionRecord { entries: 1, messages: 1, ..record("one", 2) };
    creation
        .finish(&mut batch, Finished { leaf: Some(Ordinal::new(1)), ..finished(record) })
        .unwrap();
    store.commit(batch).unwrap();
    let record = store.snapshot().unwrap().session(SessionKey::new(1)).unwrap().unwrap();
    (store, record)
}

fn ids(session: SessionKey, ordinal: Ordinal, id: &str) -> EntryRows {
    let length = u32::try_from(id.len()).unwrap();
    let row = EntryRow { prefix: 0, start: 0, length, ordinal };
    EntryRows::new(session, id.as_bytes().to_vec(), vec![row], vec![ordinal])
}

#[track_caller]
fn is_refused<T>(result: Result<T>, problem: &str) {
    match result.map(drop) {
        Err(Error::Corrupted(damage)) => {
            assert_eq!(damage.table, "sessions");
            assert!(damage.problem.contains(problem), "{damage:?}");
        }
        other => panic!("{other:?} instead of a refusal"),
    }
}

/// Commits the record that `change` makes of the session's, bypassing the code that keeps it correct.
fn commit_record(
    change: impl FnOnce(&mut SessionRecord, &mut Option<Option<Ordinal>>),
) -> Result<()> {
    let (store, before) = store();
    let (mut changed, mut leaf) = (before.clone(), None);
    changed.revision += 1;
    change(&mut changed, &mut leaf);
    let mut batch = Batch::default();
    Edit::new(&mut batch, SessionKey::new(1), &before);
    batch.put(SessionKey::new(1), changed, leaf);
    let committed = store.commit(batch).map(drop);
    let snapshot = store.snapshot().unwrap();
    if committed.is_err() {
        assert_eq!(
            snapshot.session(SessionKey::new(1)).unwrap().unwrap(),
            before,
            "nothing is written"
        );
        assert_eq!(
            snapshot.rows(SessionKey::new(1)).leaf().unwrap(),
            Some(Ordinal::new(1)),
            "nothing is written"
        );
    }
    committed
}

#[test]
fn the_documentation_has_the_bounds() {
    use crate::documented::{bound, number};
    let batch = format!("{} MiB of values, {} lines", BATCH_BYTES >> 20, number(BATCH_LINES));
    assert_eq!(bound("a slice"), batch);
}

#[test]
fn a_record_that_contradicts_itself_is_not_written() {
    commit_record(|_, _| ()).unwrap();
    is_refused(commit_record(|record, _| record.messages = 2), "2 messages, and 1 entries");
    is_refused(
        commit_record(|record, _| record.header = Ordinal::new(2)),
        "3 lines up to the header",
    );
    is_refused(commit_record(|record, _| record.sealed = 3), "3 sealed lines");
}

#[test]
fn a_commit_is_one_revision() {
    is_refused(commit_record(|record, _| record.revision -= 1), "revision 0 comes after 0");
    is_refused(commit_record(|record, _| record.revision += 1), "revision 2 comes after 0");
}

#[test]
fn a_leaf_is_an_entry_of_the_session() {
    commit_record(|_, leaf| *leaf = Some(None)).unwrap();
    commit_record(|_, leaf| *leaf = Some(Some(Ordinal::new(1)))).unwrap();
    is_refused(
        commit_record(|_, leaf| *leaf = Some(Some(Ordinal::FIRST))),
        "its leaf, line 0, is not an entry",
    );
    is_refused(
        commit_record(|_, leaf| *leaf = Some(Some(Ordinal::new(2)))),
        "its leaf is line 2 of 2",
    );
}

#[test]
fn a_session_keeps_its_row_of_a_leaf() {
    let (store, record) = store();
    let transaction = store.begin_write().unwrap();
    transaction.open_table(tables::LEAVES).unwrap().remove(1).unwrap();
    transaction.commit().unwrap();
    let mut batch = Batch::default();
    Edit::new(&mut batch, SessionKey::new(1), &record).note_facts(&mut batch, record);
    let error = store.commit(batch).unwrap_err().to_string();
    assert!(error.contains("leaves"), "{error}");
}

#[test]
fn a_session_changes_once_in_a_commit() {
    let (store, record) = store();
    let mut batch = Batch::default();
    for _ in 0..2 {
        Edit::new(&mut batch, SessionKey::new(1), &record).note_facts(&mut batch, record.clone());
    }
    is_refused(store.commit(batch), "changed twice");
}

#[test]
fn rows_need_a_record_or_a_mark() {
    let (store, _) = store();
    let mut batch = Batch::default();
    let mut creation = Creation::new(SessionKey::new(2));
    creation.rows(&mut batch).add_child(None, Ordinal::FIRST);
    is_refused(creation.commit_part(&store, &mut batch), "neither a record nor a mark");
    creation.rows(&mut batch).add_child(None, Ordinal::FIRST);
    creation.mark(OWNER, &mut batch);
    store.commit(batch).unwrap();
}

#[test]
fn a_record_counts_its_rows() {
    let rows = |batch: &mut Batch| {
        let mut creation = Creation::new(SessionKey::new(2));
        creation.rows(batch).add_chunk(chunk(Ordinal::FIRST, b"one\n"), &mut Vec::new());
        creation
    };
    let mut batch = Batch::default();
    rows(&mut batch).finish(&mut batch, finished(record("two", 1))).unwrap();
    for (wrong, problem) in [
        (record("two", 2), "two counts 2 lines, its rows are 1"),
        (SessionRecord { entries: 1, ..record("two", 1) }, "two counts 1 ids of entries"),
    ] {
        let mut batch = Batch::default();
        is_refused(rows(&mut batch).finish(&mut batch, finished(wrong)), problem);
    }
}

#[test]
fn an_extension_counts_its_rows() {
    let (store, before) = store();
    let extend = |lines: u64| {
        let mut batch = Batch::default();
        let mut extension = Extension::new(&mut batch, SessionKey::new(1), &before);
        extension.rows(&mut batch).add_chunk(chunk(Ordinal::new(2), b"six\n"), &mut Vec::new());
        let mut record = before.clone();
        record.lines += lines;
        record.bytes += 4;
        record.text_bytes += 4;
        let (author, leaf) = (Author::File, Some(Ordinal::new(1)));
        let extended = Extended { record, leaf, author, is_sealed: false, source: None };
        extension.finish(&mut batch, extended)?;
        store.commit(batch)
    };
    is_refused(extend(0), "one counts 2 lines, its rows are 3");
    is_refused(extend(2), "one counts 4 lines, its rows are 3");
    assert!(extend(1).unwrap().conflicts.is_empty());
    let after = store.snapshot().unwrap().session(SessionKey::new(1)).unwrap().unwrap();
    assert_eq!((after.lines, after.sealed, after.revision), (3, 2, 1));
    // The session has changed.
    assert_eq!(extend(1).unwrap().conflicts, [SessionKey::new(1)]);
}

#[test]
fn rewritten_lines_are_as_many() {
    let (_, before) = store();
    let mut batch = Batch::default();
    let mut edit = Edit::new(&mut batch, SessionKey::new(1), &before);
    edit.rows(&mut batch).remove_chunk(Ordinal::FIRST, 1, 4);
    is_refused(edit.rewrite_lines(&mut batch, before.clone()), "its rows are 1");
    let mut batch = Batch::default();
    let mut edit = Edit::new(&mut batch, SessionKey::new(1), &before);
    edit.rows(&mut batch).remove_chunk(Ordinal::FIRST, 1, 4);
    edit.rows(&mut batch).rewrite_chunk(chunk(Ordinal::FIRST, b"more\n"));
    let mut record = before.clone();
    record.bytes += 1;
    record.text_bytes += 1;
    edit.rewrite_lines(&mut batch, record).unwrap();
}

#[test]
fn what_takes_a_place_is_marked_before() {
    let place = Place::Of { session: SessionKey::new(1), revision: 0 };
    let replacing = Finished { place, ..finished(record("one", 0)) };
    let mut batch = Batch::default();
    is_refused(Creation::new(SessionKey::new(2)).finish(&mut batch, replacing), "without a mark");
}

#[test]
#[should_panic(expected = "a blob for each hole")]
fn a_chunk_comes_with_its_blobs() {
    let hole = Hole { line: 0, offset: 1, kind: HoleKind::Image, hash: [1; 32] };
    let mut batch = Batch::default();
    let mut creation = Creation::new(SessionKey::new(1));
    let chunk = chunk_of(Ordinal::FIRST, b"one\n", EntryKind::Header, &[hole]);
    creation.rows(&mut batch).add_chunk(chunk, &mut Vec::new());
}

#[test]
fn a_file_leads_to_a_session_that_names_it() {
    let (store, record) = store();
    let source = SourceRecord { session: SessionKey::new(1), size: 8, modified: None };
    let path = b"/one.jsonl".to_vec();
    let mut batch = Batch::default();
    let edit = Edit::new(&mut batch, SessionKey::new(1), &record);
    edit.note_file(&mut batch, &record, record.clone(), Some((path.clone(), source.clone())));
    store.commit(batch).unwrap();
    let noted = store.snapshot().unwrap().session(SessionKey::new(1)).unwrap().unwrap();
    assert_eq!((noted.revision, &noted.sources), (1, &vec![path.clone()]));
    // What the record already says is not a revision.
    let mut batch = Batch::default();
    let edit = Edit::new(&mut batch, SessionKey::new(1), &noted);
    let longer = SourceRecord { size: 9, ..source };
    edit.note_file(&mut batch, &noted, noted.clone(), Some((path, longer)));
    store.commit(batch).unwrap();
    assert_eq!(store.snapshot().unwrap().session(SessionKey::new(1)).unwrap().unwrap(), noted);
    let other = b"/two.jsonl".to_vec();
    let mut batch = Batch::default();
    Edit::new(&mut batch, SessionKey::new(1), &noted).note_facts(&mut batch, noted.clone());
    let value = SourceRecord { session: SessionKey::new(1), size: 8, modified: None };
    batch.slice.sources.push(Row { session: SessionKey::new(1), key: other, value });
    is_refused(store.commit(batch), "a file leads to it that it does not name");
}

/// Puts a row into every table that has rows of sessions.
fn fill(batch: &mut Batch, session: SessionKey) -> (Creation, SessionRecord) {
    let mut creation = Creation::new(session);
    let mut rows = creation.rows(batch);
    let hole = Hole { line: 0, offset: 1, kind: HoleKind::Image, hash: [1; 32] };
    let blob = BlobReference { hash: [1; 32], bytes: Some(vec![5]), was_cut: true };
    let chunk = chunk_of(Ordinal::FIRST, b"one\n", EntryKind::Message, &[hole]);
    rows.add_chunk(chunk, &mut vec![blob]);
    rows.add_entries(ids(session, Ordinal::FIRST, "a"));
    rows.add_child(None, Ordinal::FIRST);
    rows.set_label(b"a".to_vec(), Ordinal::FIRST, Some(b"label".to_vec()));
    rows.add_settings(1, SettingsRecord::default());
    let kind = PointerKind::Summary;
    let pointer = PointerRecord { kind, target: None, text: None, message_before: None };
    rows.add_pointer(Ordinal::FIRST, pointer);
    rows.put_usage(0, &UsageRecord::default());
    rows.add_original(0, vec![0]);
    let mut record = SessionRecord { entries: 1, messages: 1, ..record("full", 1) };
    record.settings = 1;
    (record.agent, record.parent_session) = (Some("one".to_owned()), Some("all".to_owned()));
    (creation, record)
}

/// The tables that are not empty, except the store's own numbers.
fn filled(store: &Store) -> BTreeSet<String> {
    let snapshot = store.snapshot().unwrap();
    let tables = snapshot.table_statistics().unwrap().into_iter();
    let filled = tables.filter(|table| table.rows > 0).map(|table| table.name);
    filled.filter(|name| name != "meta").collect()
}

#[test]
fn nothing_is_left_of_a_session_that_is_removed_or_given_up() {
    let store = Store::in_memory().unwrap();
    let owner = store.begin_owner().unwrap();
    let session = SessionKey::new(1);
    let source = SourceRecord { session: SessionKey::new(1), size: 4, modified: None };
    let full = |batch: &mut Batch| {
        let (creation, record) = fill(batch, session);
        let sources = vec![(b"/one".to_vec(), source.clone())];
        let finished = Finished { leaf: Some(Ordinal::FIRST), sources, ..finished(record) };
        creation.finish(batch, finished).unwrap();
        batch.hold_file(session, b"/sessions/one.jsonl", None);
        batch.change_file(b"/sessions/one.jsonl", FileChange::Session(session));
    };
    let mut batch = Batch::default();
    full(&mut batch);
    batch.forget(session);
    assert!(batch.slice.is_empty() && batch.slice.guards.is_empty());
    full(&mut batch);
    store.commit(batch).unwrap();
    let all = store.snapshot().unwrap().table_statistics().unwrap();
    let all: BTreeSet<_> = all.into_iter().map(|table| table.name).collect();
    let empty: Vec<_> = all.difference(&filled(&store)).cloned().collect();
    let of_no_session =
        ["dictionaries", "file_parts", "history", "history_blocks", "history_terms", "meta"];
    assert_eq!(
        empty,
        [&of_no_session[..], &["removed", "removed_ids", "summaries", "unfinished", "unfolded"]]
            .concat()
    );
    let mut batch = Batch::default();
    batch.remove(session, &owner);
    store.commit(batch).unwrap();
    store.sweep_own(&owner).unwrap();
    // What imports need to recognise its files.
    let kept = ["journal", "removed", "removed_ids", "sources"].map(str::to_owned);
    assert_eq!(filled(&store), BTreeSet::from(kept));
    let found = store.snapshot().unwrap().removed_with_id(b"full").unwrap();
    assert!(matches!(&*found, [(key, kept)] if *key == session && kept.sources == [b"/one"]));
    let mut batch = Batch::default();
    batch.restore(SessionKey::new(2), session);
    store.commit(batch).unwrap();
    assert_eq!(filled(&store), BTreeSet::from(["journal".to_owned()]));
}

#[test]
fn the_bytes_of_a_blob_stay_for_another_session() {
    let mut batch = Batch::default();
    let (one, two) = (SessionKey::new(1), SessionKey::new(2));
    for (session, bytes) in [(one, Some(vec![5])), (two, None)] {
        let blob = BlobReference { hash: [1; 32], bytes, was_cut: true };
        Creation::new(session).rows(&mut batch).refer(blob);
    }
    batch.forget(one);
    let [row] = &*batch.slice.blobs else { panic!("{:?}", batch.slice.blobs) };
    assert_eq!((row.session, row.value.bytes.as_deref()), (two, Some(&[5][..])));
}

#[test]
fn entries_that_were_replaced_are_counted_by_session() {
    let store = Store::in_memory().unwrap();
    let mut creation = Creation::new(SessionKey::new(1));
    for replaced in [0, 1] {
        let mut batch = Batch::default();
        creation.rows(&mut batch).add_entries(ids(SessionKey::new(1), Ordinal::new(replaced), "a"));
        creation.mark(OWNER, &mut batch);
        let committed = store.commit(batch).unwrap();
        assert_eq!(committed.replaced_entries(SessionKey::new(2)), 0);
        assert_eq!(creation.note(&committed), replaced);
    }
    let record = SessionRecord { entries: 2, duplicates: 1, ..record("one", 2) };
    assert_eq!(Tally::of(&record).ids, 1);
}

#[test]
fn a_damaged_record_is_never_used() {
    let (store, record) = store();
    let transaction = store.begin_write().unwrap();
    {
        let mut table = transaction.open_table(tables::SESSIONS).unwrap();
        let bytes = table.get(1).unwrap().unwrap().value().to_vec();
        assert_eq!(SessionRecord::from_bytes(&bytes, String::new).unwrap(), record);
        let wrong = SessionRecord { entries: 3, ..record };
        table.insert(1, wrong.to_bytes().as_slice()).unwrap();
    }
    transaction.commit().unwrap();
    let damage = store.snapshot().unwrap().session(SessionKey::new(1)).unwrap_err().to_string();
    assert!(damage.contains("it has 3 entries, and 2 lines"), "{damage}");
    assert!(store.sessions().is_err() && store.session("one").is_err());
    assert!(!store.verify().unwrap().problems.is_empty());
}
