//! Paging through sessions: every entry once, in order, and never more than the limit.
//!
//! Guards against pages that repeat an entry, skip one, or grow beyond their bounds.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::error::SessionError;
use leafline::page::{Page, PageLimit};
use leafline::pi::PiReader;
use leafline::{Entry, Error, SessionReader};
use leafline_generate::{Family, Shape};
use place::Place;
use proptest::prelude::*;

const ALL: PageLimit = PageLimit { entries: usize::MAX, bytes: u64::MAX };

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

fn entry(id: &str, parent: Option<&str>, length: usize) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    let line = format!("{{\"type\":\"x\",\"id\":\"{id}\",\"parentId\":{parent},\"pad\":\"\"}}\n");
    let pad = "x".repeat(length.saturating_sub(line.len()));
    line.replace("\"pad\":\"", &format!("\"pad\":\"{pad}"))
}

/// A session of these entries, each with its parent.
fn import(place: &Place, entries: &[(&str, Option<&str>)]) {
    let lines: String = entries.iter().map(|(id, parent)| entry(id, *parent, 0)).collect();
    place.import(&place.write("s.jsonl", format!("{HEADER}{lines}")));
}

fn ids(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.id().unwrap_or_default()).collect()
}

fn ordinals(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(Entry::ordinal).collect()
}

fn bytes(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.line().len() as u64).sum()
}

/// The limit holds, and the page is as full as it may be.
fn assert_limited(page: &Page, limit: &PageLimit, next: Option<&Entry>) {
    let count = page.entries.len();
    assert!(count <= limit.entries.max(1), "{count} entries, {limit:?}");
    assert!(count <= 1 || bytes(&page.entries) <= limit.bytes, "{limit:?}");
    if let Some(next) = next {
        let one_more = bytes(&page.entries) + next.line().len() as u64;
        assert!(count >= limit.entries || one_more > limit.bytes, "{limit:?}: room is left");
    }
}

/// All pages together, each checked against its limit and against `all`.
fn turn(
    mut page: Page,
    all: &[Entry],
    limit: &PageLimit,
    mut go_on: impl FnMut(u64) -> Page,
) -> Vec<Entry> {
    let mut turned = Vec::new();
    loop {
        assert!(turned.len() <= all.len(), "the pages do not end");
        let next = page.next;
        let entries = page.entries.len();
        let at = turned.len() + entries;
        let expected = next.and_then(|_| all.get(at));
        assert_eq!(next, expected.map(Entry::ordinal));
        assert_limited(&page, limit, expected);
        turned.append(&mut page.entries);
        let Some(next) = next else { return turned };
        assert!(entries > 0, "a page without an entry has no next");
        page = go_on(next);
    }
}

fn all_entries(reader: &SessionReader) -> Vec<Entry> {
    let mut entries = Vec::new();
    reader
        .lines(0, |line| {
            entries.extend(Some(line).filter(|line| line.kind().is_entry()));
            Ok(true)
        })
        .unwrap();
    entries
}

fn same(left: &[Entry], right: &[Entry]) {
    assert_eq!(ordinals(left), ordinals(right));
    assert!(left.iter().zip(right).all(|(left, right)| left.line() == right.line()));
}

fn pages_forwards(reader: &SessionReader, limit: &PageLimit) {
    let all = all_entries(reader);
    let first = reader.entries(.., limit).unwrap();
    same(&turn(first, &all, limit, |next| reader.entries(next.., limit).unwrap()), &all);
}

/// The way up in pages is the reversed path; in a loop it ends at the loop's earliest line.
fn pages_backwards(reader: &SessionReader, from: Option<&str>, limit: &PageLimit) {
    let mut path = Vec::new();
    reader
        .get_path(from, |entry| {
            path.insert(0, entry.clone());
            Ok(())
        })
        .unwrap();
    let first = reader.path_backwards(from, limit).unwrap();
    let up = turn(first, &path, limit, |next| reader.path_backwards_from(next, limit).unwrap());
    let (walked, cut) = path.split_at(up.len());
    same(&up, walked);
    if let Some(last) = up.last() {
        assert!(cut.iter().all(|entry| entry.ordinal() > last.ordinal()));
    }
    let whole = reader.path_backwards(from, &ALL).unwrap();
    assert_eq!(whole.next, None);
    same(&whole.entries, &up);
}

/// From each entry down there is a last one, which has no children.
fn branches_have_leaves(reader: &SessionReader) {
    for entry in all_entries(reader) {
        let leaf = reader.branch_leaf(entry.ordinal()).unwrap();
        let mut at = reader.path_backwards_from(leaf, &ALL).unwrap();
        assert!(
            at.entries.iter().any(|above| above.ordinal() == entry.ordinal())
                || reader.facts().irregular
        );
        let leaf = at.entries.remove(0);
        if let Some(id) = leaf.id().filter(|_| !reader.facts().irregular) {
            assert!(reader.get_children(Some(&id)).unwrap().is_empty());
        }
    }
}

fn limits() -> impl Strategy<Value = PageLimit> {
    let entries = prop_oneof![0usize..8, Just(100), Just(usize::MAX)];
    let bytes = prop_oneof![0u64..3000, Just(1 << 20), Just(u64::MAX)];
    (entries, bytes).prop_map(|(entries, bytes)| PageLimit { entries, bytes })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_of_any_size_give_every_entry_once(
        seed in 0u64..10_000,
        limits in proptest::collection::vec(limits(), 4),
    ) {
        let family = if seed % 2 == 0 { Family::Pi } else { Family::Omp };
        let place = Place::new();
        let bytes = leafline_generate::random_tree_session(seed, 90, family);
        let session = place.import(&place.write("s.jsonl", bytes)).session.unwrap();
        let reader = place.store.reader(&session).unwrap();
        let all = all_entries(&reader);
        let names: Vec<_> = all.iter().filter_map(Entry::id).filter(|id| !id.is_empty()).collect();
        branches_have_leaves(&reader);
        for limit in &limits {
            pages_forwards(&reader, limit);
            pages_backwards(&reader, None, limit);
            for id in names.iter().step_by(7) {
                pages_backwards(&reader, Some(id), limit);
                around(&reader, &all, id, limit);
            }
        }
    }
}

/// An entry's neighbours are consecutive, no more than requested, and within the limit.
fn around(reader: &SessionReader, all: &[Entry], id: &str, limit: &PageLimit) {
    let ordinal = reader.get_entry(id).unwrap().ordinal();
    let at = all.iter().position(|entry| entry.ordinal() == ordinal).unwrap();
    for (before, after) in [(0, 0), (3, 0), (0, 3), (2, 5), (u64::MAX, u64::MAX)] {
        let page = reader.entries_around(id, before, after, limit).unwrap();
        assert_limited(&page, limit, None);
        let first = all.iter().position(|entry| entry.ordinal() == page.entries[0].ordinal());
        let first = first.unwrap();
        let behind = first + page.entries.len();
        assert!((first..behind).contains(&at));
        assert!((at - first) as u64 <= before && (behind - at - 1) as u64 <= after);
        same(&page.entries, &all[first..behind]);
        assert_eq!(page.next, all.get(behind).map(Entry::ordinal));
        if *limit == ALL {
            let expected = at.saturating_sub(usize::try_from(before).unwrap());
            assert_eq!(first, expected);
        }
    }
}

#[test]
fn images_count_with_all_their_bytes() {
    let shape = Shape { bytes: 3_000_000, images: 0.6, ..Shape::default() };
    let mut bytes = Vec::new();
    let session = leafline_generate::generate(&shape, &mut bytes).unwrap().session_id;
    let place = Place::new();
    place.import(&place.write("s.jsonl", &bytes));
    assert!(place.store.statistics().unwrap().blobs.count > 0);
    let reader = place.store.reader(&session).unwrap();
    let all = all_entries(&reader);
    for limit in [(100, 1 << 20), (7, 30_000), (1000, 100_000), (1, 0)] {
        let limit = PageLimit { entries: limit.0, bytes: limit.1 };
        pages_forwards(&reader, &limit);
        pages_backwards(&reader, None, &limit);
        for entry in all.iter().step_by(97) {
            around(&reader, &all, &entry.id().unwrap(), &limit);
        }
    }
}

#[test]
fn a_line_longer_than_a_page_comes_alone() {
    let place = Place::new();
    let huge = entry("huge", Some("a"), 5_000_000);
    let lines =
        [&entry("a", None, 0), &huge, &entry("b", Some("huge"), 0), &entry("c", Some("b"), 0)];
    let lines: String = lines.into_iter().map(String::as_str).collect();
    place.import(&place.write("s.jsonl", format!("{HEADER}{lines}")));
    let reader = place.store.reader("s").unwrap();
    let limit = PageLimit::default();
    let pages = |mut page: Page, go_on: &dyn Fn(u64) -> Page| {
        let mut pages = vec![ids(&page.entries)];
        while let Some(next) = page.next {
            page = go_on(next);
            pages.push(ids(&page.entries));
        }
        pages
    };
    let forwards =
        pages(reader.entries(.., &limit).unwrap(), &|next| reader.entries(next.., &limit).unwrap());
    assert_eq!(forwards, [vec!["a"], vec!["huge"], vec!["b", "c"]]);
    let backwards = pages(reader.path_backwards(None, &limit).unwrap(), &|next| {
        reader.path_backwards_from(next, &limit).unwrap()
    });
    assert_eq!(backwards, [vec!["c", "b"], vec!["huge"], vec!["a"]]);
    let around = |id| ids(&reader.entries_around(id, 9, 9, &limit).unwrap().entries);
    assert_eq!(around("huge"), ["huge"]);
    assert_eq!(around("b"), ["b", "c"]);
    let page = reader.entries_around("a", 0, 1, &limit).unwrap();
    assert_eq!((ids(&page.entries), page.next), (vec!["a".to_owned()], Some(2)));
    assert_eq!(reader.entries(2..3, &limit).unwrap().entries[0].line(), huge.as_bytes());
}

#[test]
fn a_loop_ends_at_its_earliest_line_whatever_the_pages() {
    let place = Place::new();
    // The loop is c, e, d, b; f is below e.
    import(
        &place,
        &[
            ("a", None),
            ("b", Some("c")),
            ("c", Some("e")),
            ("d", Some("b")),
            ("e", Some("d")),
            ("f", Some("e")),
            ("own", Some("own")),
        ],
    );
    let reader = place.store.reader("s").unwrap();
    for entries in 0..6 {
        let limit = PageLimit { entries, ..PageLimit::default() };
        let up = |from: &str| {
            let mut page = reader.path_backwards(Some(from), &limit).unwrap();
            let mut up = ids(&page.entries);
            while let Some(next) = page.next {
                page = reader.path_backwards_from(next, &limit).unwrap();
                up.extend(ids(&page.entries));
                assert!(up.len() < 10, "{up:?}");
            }
            up.concat()
        };
        assert_eq!(up("f"), "fedb");
        assert_eq!(up("e"), "edb");
        assert_eq!(up("c"), "cedb");
        assert_eq!(up("b"), "b");
        assert_eq!(up("own"), "own");
    }
}

#[test]
fn parents_that_come_later_are_gone_up_to_the_root() {
    let place = Place::new();
    let names: Vec<_> = (0..300).map(|name| format!("e{name}")).collect();
    let parents = names.iter().skip(1).map(|name| Some(name.as_str())).chain([None]);
    let entries: Vec<_> = names.iter().map(String::as_str).zip(parents).collect();
    import(&place, &entries);
    let reader = place.store.reader("s").unwrap();
    assert!(reader.facts().irregular);
    let limit = PageLimit { entries: 7, ..PageLimit::default() };
    pages_backwards(&reader, Some("e0"), &limit);
    assert_eq!(reader.path_backwards(Some("e0"), &ALL).unwrap().entries.len(), 300);
}

#[test]
fn of_an_id_met_twice_the_later_entry_is_found() {
    let place = Place::new();
    import(&place, &[("a", None), ("b", Some("a")), ("a", Some("b")), ("c", Some("a"))]);
    let reader = place.store.reader("s").unwrap();
    // Both entries with the id are there, each once.
    assert_eq!(ordinals(&reader.entries(.., &ALL).unwrap().entries), [1, 2, 3, 4]);
    assert_eq!(ordinals(&reader.entries_around("a", 1, 0, &ALL).unwrap().entries), [2, 3]);
    // b's parent is the later a, whose parent is b.
    let limit = PageLimit { entries: 1, ..PageLimit::default() };
    pages_backwards(&reader, None, &limit);
    assert_eq!(ordinals(&reader.path_backwards(None, &ALL).unwrap().entries), [4, 3, 2]);
}

#[test]
fn ranges_and_lines_that_are_no_entries() {
    let place = Place::new();
    let (a, b, c) = (entry("a", None, 0), entry("b", Some("a"), 0), entry("c", Some("b"), 0));
    let text = format!("{HEADER}\n{a}torn\n[1]\n{b}{HEADER}{c}\n  \n");
    place.import(&place.write("s.jsonl", text));
    let reader = place.store.reader("s").unwrap();
    let limit = PageLimit { entries: 1, ..PageLimit::default() };
    let page = |page: leafline::Result<Page>| {
        let page = page.unwrap();
        (ids(&page.entries).concat(), page.next)
    };
    assert_eq!(page(reader.entries(.., &ALL)), ("abc".into(), None));
    assert_eq!(page(reader.entries(.., &limit)), ("a".into(), Some(5)));
    assert_eq!(page(reader.entries(..5, &limit)), ("a".into(), None));
    assert_eq!(page(reader.entries(..=5, &limit)), ("a".into(), Some(5)));
    assert_eq!(page(reader.entries(3..=7, &ALL)), ("bc".into(), None));
    assert_eq!(page(reader.entries(7.., &limit)), ("c".into(), None));
    assert_eq!(page(reader.entries(8.., &ALL)), (String::new(), None));
    assert_eq!(page(reader.entries(u64::MAX.., &ALL)), (String::new(), None));
    assert_eq!(page(reader.entries(..0, &ALL)), (String::new(), None));
    #[expect(clippy::reversed_empty_ranges, reason = "an empty range is no error")]
    let reversed = reader.entries(6..2, &ALL);
    assert_eq!(page(reversed), (String::new(), None));
    // No entry has these ordinals.
    for ordinal in [0, 1, 3, 6, 9, 10, u64::MAX] {
        assert_eq!(page(reader.path_backwards_from(ordinal, &ALL)), (String::new(), None));
    }
    let mut entries = Vec::new();
    reader
        .get_entries(|entry| {
            entries.push(entry);
            Ok(entries.len() < 2)
        })
        .unwrap();
    assert_eq!(ids(&entries), ["a", "b"]);
}

#[test]
fn around_keeps_the_nearest_and_stops_at_the_ends() {
    let place = Place::new();
    let names: Vec<_> = (0..9).map(|name| format!("e{name}")).collect();
    let lines: String = names.iter().map(|name| entry(name, None, 100)).collect();
    place.import(&place.write("s.jsonl", format!("{HEADER}{lines}")));
    let reader = place.store.reader("s").unwrap();
    let around = |id: &str, before, after, entries, bytes| {
        let limit = PageLimit { entries, bytes };
        let page = reader.entries_around(id, before, after, &limit).unwrap();
        (ids(&page.entries).concat().replace('e', ""), page.next)
    };
    assert_eq!(around("e4", 2, 1, 100, 10_000), ("2345".into(), Some(7)));
    assert_eq!(around("e0", 5, 1, 100, 10_000), ("01".into(), Some(3)));
    assert_eq!(around("e8", 1, 5, 100, 10_000), ("78".into(), None));
    assert_eq!(around("e4", 9, 9, 100, 10_000), ("012345678".into(), None));
    assert_eq!(around("e4", 9, 9, 2, 10_000), ("34".into(), Some(6)));
    assert_eq!(around("e4", 9, 9, 100, 399), ("345".into(), Some(7)));
    assert_eq!(around("e4", 9, 9, 100, 400), ("2345".into(), Some(7)));
    assert_eq!(around("e1", 9, 9, 5, 10_000), ("01234".into(), Some(6)));
    assert_eq!(around("e4", 9, 9, 0, 0), ("4".into(), Some(6)));
    let missing = reader.entries_around("gone", 1, 1, &ALL).unwrap_err();
    assert!(
        matches!(missing, Error::Session(SessionError::EntryNotFound { entry, .. }) if entry == "gone")
    );
}

#[test]
fn a_session_without_entries_has_empty_pages() {
    let place = Place::new();
    place.import(&place.write("s.jsonl", HEADER));
    let reader = place.store.reader("s").unwrap();
    let pages = [reader.entries(.., &ALL), reader.path_backwards(None, &ALL)];
    for page in pages.map(Result::unwrap) {
        assert!(page.entries.is_empty() && page.next.is_none());
    }
    assert_eq!(reader.get_leaf_id().unwrap(), None);
    assert!(reader.get_leaf_entry().unwrap().is_none());
    assert_eq!(
        reader.usage_statistics().unwrap(),
        leafline::statistics::UsageStatistics::default()
    );
    let missing = reader.path_backwards(Some("gone"), &ALL).unwrap_err();
    assert!(matches!(missing, Error::Session(SessionError::EntryNotFound { .. })));
}

#[test]
fn the_leaf_and_the_session_by_their_names() {
    let place = Place::new();
    import(&place, &[("a", None), ("b", Some("a"))]);
    let reader = place.store.reader("s").unwrap();
    assert_eq!(reader.get_leaf_id().unwrap().as_deref(), Some("b"));
    assert_eq!(reader.get_leaf_entry().unwrap().unwrap().ordinal(), 2);
    assert_eq!(reader.get_session_id(), "s");
}

#[test]
fn usage_is_summed_over_every_branch() {
    let shape = Shape { bytes: 2_000_000, images: 0.2, ..Shape::default() };
    let mut file = Vec::new();
    let session = leafline_generate::generate(&shape, &mut file).unwrap().session_id;
    let (mut messages, mut tokens, mut cost) = (0, [0; 4], 0.0);
    for line in file.split(|&byte| byte == b'\n') {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
        let usage = &value["message"]["usage"];
        if value["type"] == "message" && value["message"]["role"] == "assistant" {
            messages += u64::from(usage.is_object());
            for (sum, name) in tokens.iter_mut().zip(["input", "output", "cacheRead", "cacheWrite"])
            {
                *sum += usage[name].as_u64().unwrap_or(0);
            }
            cost += usage["cost"]["total"].as_f64().unwrap_or(0.0);
        }
    }
    let place = Place::new();
    place.import(&place.write("s.jsonl", &file));
    let reader = place.store.reader(&session).unwrap();
    let usage = reader.usage_statistics().unwrap();
    assert!(messages > 100 && cost > 0.0);
    assert_eq!(usage.messages, messages);
    assert_eq!([usage.input, usage.output, usage.cache_read, usage.cache_write], tokens);
    assert!((usage.cost - cost).abs() < 1e-9, "{} {cost}", usage.cost);
}

#[test]
fn usage_of_others_than_the_assistant_does_not_count() {
    let place = Place::new();
    let usage = r#""usage":{"input":1,"output":2,"cost":{"total":0.5}}"#;
    let lines = [
        format!(r#"{{"type":"message","id":"a","message":{{"role":"user",{usage}}}}}"#),
        format!(r#"{{"type":"custom","id":"b","message":{{"role":"assistant",{usage}}}}}"#),
        format!(r#"{{"type":"message","id":"c","message":{{"role":"assistant"}},{usage}}}"#),
        format!(
            r#"{{"type":"message","id":"d","message":{{"content":[],{usage},"role":"assistant"}}}}"#
        ),
    ];
    place.import(&place.write("s.jsonl", format!("{HEADER}{}\n", lines.join("\n"))));
    let reader = place.store.reader("s").unwrap();
    let sums = reader.usage_statistics().unwrap();
    assert_eq!((sums.messages, sums.input, sums.output), (1, 1, 2));
}
