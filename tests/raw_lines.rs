//! Raw lines that are appended: the session becomes what an import of the longer file would be.
//!
//! Guards against a line that is changed, lost or added twice, and against a tree, a leaf or a title that differs from those
//! of the file.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::path::{Path, PathBuf};

use leafline::context::ContextLeaf;
use leafline::live::{Persistence, RepeatedIds};
use leafline::{Family, NewSession, SessionReader, Store, pi};
use leafline_generate::Shape;
use place::{Place, corpus};

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// What a session looks like from outside.
fn told(reader: &SessionReader) -> (String, String, Vec<u8>, Option<Vec<u8>>) {
    let mut facts = reader.facts();
    // When it was last worked on is the file's time where no entry tells it.
    facts.modified = None;
    facts.types.sort_by(|a, b| a.name.cmp(&b.name));
    let mut tree = Vec::new();
    reader.write_tree(&reader.get_outline().unwrap(), &mut tree).unwrap();
    let mut context = Vec::new();
    let context =
        reader.write_context(ContextLeaf::Current, None, &mut context).ok().map(|_| context);
    let leaf = format!("{:?}", reader.get_leaf().unwrap().map(|leaf| leaf.ordinal()));
    (format!("{facts:?}"), leaf, tree, context)
}

/// Imports the beginning of a file, appends the rest in pieces, and compares.
fn grows_as_its_file(name: &str, bytes: &[u8], random: &mut Random) -> bool {
    let whole = Place::new();
    let file = Path::new(name).file_name().unwrap().to_str().unwrap();
    let expected = whole.import(&whole.write(file, bytes));
    let Some(id) = expected.session.clone() else { return false };
    let expected = whole.store.reader(&id).unwrap();
    let all = lines(bytes);
    let beginning = 1 + random.below(all.len() - 1);
    let place = Place::new();
    let begun = place.import(&place.write(file, all[..beginning].concat()));
    if begun.session.as_ref() != Some(&id) || expected.facts().migrated {
        return false;
    }
    let mut session = place.store.session(&id).unwrap();
    let other = Store::open(place.store.path()).unwrap();
    let mut rest = &all[beginning..];
    while !rest.is_empty() {
        let most = 1 + random.below(12);
        let count = 1 + random.below(rest.len().min(most));
        let (piece, left) = rest.split_at(count);
        rest = left;
        let appended = session.append_lines(&piece.concat(), RepeatedIds::Add).unwrap();
        assert_eq!((appended.added, appended.ignored), (count as u64, 0));
        // A reader of another handle, and now and then a fold.
        if random.below(4) == 0 {
            assert_eq!(
                other.reader(&id).unwrap().facts().lines,
                session.reader().unwrap().facts().lines
            );
        }
    }
    let mut expected_bytes = bytes.to_vec();
    if !bytes.ends_with(b"\n") {
        expected_bytes.push(b'\n');
    }
    let mut stored = Vec::new();
    place
        .store
        .reader(&id)
        .unwrap()
        .lines(0, |line| {
            stored.extend_from_slice(line.line());
            Ok(true)
        })
        .unwrap();
    assert!(stored == expected_bytes, "{name}");
    // An Opal session that was changed is exported as Opal would write it.
    if expected.family() != Family::Opal {
        assert!(place.exact(&id) == expected_bytes, "{name}");
    }
    place.assert_sound();
    if bytes.ends_with(b"\n") {
        // The first line of an Opal file names the leaf. Here it is the last entry.
        if expected.family() == Family::Opal {
            let last = session.reader().unwrap().get_leaf().unwrap().unwrap();
            assert_eq!(last.ordinal() + 1, all.len() as u64, "{name}");
            session.branch(&expected.get_leaf_id().unwrap().unwrap()).unwrap();
        }
        let (mine, its) = (told(&place.store.reader(&id).unwrap()), told(&expected));
        assert_eq!(mine.0, its.0, "{name}");
        assert_eq!(mine.1, its.1, "{name}");
        assert!(mine.2 == its.2 && mine.3 == its.3, "{name}");
    }
    true
}

#[test]
fn generated_sessions_grow_as_their_files() {
    let mut random = Random(7);
    let families = [
        leafline_generate::Family::Pi,
        leafline_generate::Family::Omp,
        leafline_generate::Family::Claude,
    ];
    for (number, family) in families.into_iter().cycle().take(12).enumerate() {
        let shape =
            Shape { bytes: 60_000, family, seed: number as u64, images: 0.2, ..Shape::default() };
        let mut bytes = Vec::new();
        leafline_generate::generate(&shape, &mut bytes).unwrap();
        assert!(grows_as_its_file("session.jsonl", &bytes, &mut random));
    }
}

#[test]
fn damaged_sessions_grow_as_their_files() {
    let mut random = Random(11);
    let mut grown = 0;
    for seed in 0..40 {
        let family = match seed % 3 {
            0 => leafline_generate::Family::Pi,
            1 => leafline_generate::Family::Omp,
            _ => leafline_generate::Family::Claude,
        };
        let shape = Shape { bytes: 20_000, family, seed, ..Shape::default() };
        let mut bytes = Vec::new();
        leafline_generate::generate(&shape, &mut bytes).unwrap();
        let mut all: Vec<Vec<u8>> = lines(&bytes).into_iter().map(<[u8]>::to_vec).collect();
        for _ in 0..3 {
            let (from, to) = (1 + random.below(all.len() - 1), 1 + random.below(all.len() - 1));
            match random.below(6) {
                // An id again, a parent that is not there or that comes later, a torn line, a blank one, bytes that are not text.
                0 => all.insert(to, all[from].clone()),
                1 => drop(all.remove(from)),
                2 => all.swap(from, to),
                3 => {
                    let half = all[from].len() / 2;
                    all[from].truncate(half);
                    all[from].push(b'\n');
                }
                4 => all.insert(to, b"\n".to_vec()),
                _ => all[from][0] = 0xFF,
            }
        }
        grown += u32::from(grows_as_its_file("session.jsonl", &all.concat(), &mut random));
    }
    assert!(grown > 30, "{grown}");
}

#[test]
fn real_sessions_grow_as_their_files() {
    let Some(corpus) = corpus() else { return };
    let mut random = Random(3);
    let mut files = Vec::new();
    find_files(&corpus, &mut files);
    let mut families = std::collections::BTreeMap::new();
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        if bytes.len() < 400_000 && lines(&bytes).len() > 1 {
            let family = file.strip_prefix(&corpus).unwrap().iter().next().unwrap().to_owned();
            let grown = grows_as_its_file(file.to_str().unwrap(), &bytes, &mut random);
            *families.entry(family).or_insert(0) += u32::from(grown);
        }
    }
    println!("{families:?}");
    assert!(families.values().filter(|count| **count > 0).count() >= 3, "{families:?}");
}

fn find_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_files(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(path);
        }
    }
}

#[test]
fn repeated_lines_without_an_id_are_ignored() {
    let place = Place::new();
    let state =
        "{\"type\":\"permission-mode\",\"permissionMode\":\"default\",\"sessionId\":\"s\"}\n";
    let entry = |id: &str, parent: Option<&str>| {
        let message = serde_json::json!({"role": "user", "content": id});
        let entry = serde_json::json!({
            "type": "user", "uuid": id, "parentUuid": parent, "sessionId": "s",
            "timestamp": "2026-01-01T00:00:00.000Z", "message": message,
        });
        format!("{entry}\n")
    };
    let (first, second, third) = (entry("a", None), entry("b", Some("a")), entry("c", Some("b")));
    let begun = [state, &first, state, &second].concat();
    let report = place.import(&place.write("s.jsonl", begun.as_bytes()));
    let id = report.session.unwrap();
    let again = |lines: &str| {
        let mut session = place.store.session(&id).unwrap();
        let appended = session.append_lines(lines.as_bytes(), RepeatedIds::Ignore).unwrap();
        (appended.added, appended.ignored)
    };
    assert_eq!(again(&begun), (0, 4));
    // The state is written again before the next entry, although it has not changed.
    let grown = [&*begun, state, &third, state].concat();
    assert_eq!(again(&grown), (3, 4));
    assert_eq!(again(&grown), (0, 7));
    assert_eq!(again(&[&*third, state].concat()), (0, 2));
    assert_eq!(again(state), (1, 0));
    assert_eq!(String::from_utf8(place.exact(&id)).unwrap(), [&*grown, state].concat());
}

#[test]
fn appending_a_sample_again_adds_nothing() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples");
    for family in ["pi", "omp", "claude", "opal"] {
        let place = Place::new();
        for report in place.import_all(&[samples.join(family)]).1 {
            let Some(id) = report.session else { continue };
            let bytes = std::fs::read(&report.path).unwrap();
            let mut session = place.store.session(&id).unwrap();
            let facts = session.reader().unwrap().facts();
            // The import gave ids to the lines of an earlier version of the format.
            if facts.migrated {
                continue;
            }
            let before = facts.lines;
            let appended = session.append_lines(&bytes, RepeatedIds::Ignore).unwrap();
            assert_eq!(appended.added, 0, "{}", report.path.display());
            assert_eq!(session.reader().unwrap().facts().lines, before);
        }
    }
}

#[test]
fn what_is_appended_twice_is_there_once() {
    let place = Place::new();
    let mut new = NewSession::new(Family::Pi, "/work");
    new.persistence = Some(Persistence::keep_everything());
    let mut session = place.store.create_session(&new).unwrap();
    let line = |id: &str, parent: Option<&str>| {
        let message = serde_json::json!({"role": "user", "content": id});
        let entry = serde_json::json!({
            "type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z",
            "message": message,
        });
        format!("{entry}\n")
    };
    let all = [line("a", None), line("b", Some("a")), line("c", Some("b"))];
    for end in [1, 2, 2, 3, 3] {
        session.append_lines(all[..end].concat().as_bytes(), RepeatedIds::Ignore).unwrap();
    }
    // In one call, too, and from another handle while the others are in the journal alone.
    let twice = [line("d", Some("c")), line("d", Some("c"))].concat();
    let other = Store::open(place.store.path()).unwrap();
    let appended =
        other.session(session.id()).unwrap().append_lines(twice.as_bytes(), RepeatedIds::Ignore);
    assert_eq!((appended.as_ref().unwrap().added, appended.unwrap().ignored), (1, 1));
    assert_eq!(session.reader().unwrap().facts().entries, 4);
    // Drafts go on from there, and raw lines from drafts.
    let drafted =
        session.append(pi::Draft::message(r#"{"role":"user","content":"e"}"#).unwrap()).unwrap();
    session.append_lines(line("f", Some(&drafted)).as_bytes(), RepeatedIds::Ignore).unwrap();
    let reader = session.reader().unwrap();
    assert_eq!(reader.get_leaf_id().unwrap().as_deref(), Some("f"));
    let mut path = Vec::new();
    reader
        .get_path(Some("f"), |entry| {
            path.extend(entry.id());
            Ok(())
        })
        .unwrap();
    path.sort();
    let mut expected = vec!["a", "b", "c", "d", &drafted, "f"];
    expected.sort_unstable();
    assert_eq!(path, expected);
    place.assert_sound();
}
