//! Importing what was imported before: unchanged, grown, replaced, or another session with the same id.
//!
//! Guards against an import that loses what the store has, or makes a second session of the same one.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::export::ExportMode;
use leafline::import::{ImportOptions, ImportStatus};
use place::Place;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;

fn entry(id: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-02-16T10:21:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn file(lines: &[String]) -> String {
    let mut text = format!("{HEADER}\n");
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn linear(count: usize) -> Vec<String> {
    (0..count)
        .map(|index| {
            let parent = if index == 0 { String::new() } else { format!("e{}", index - 1) };
            entry(&format!("e{index}"), &parent, &format!("text {index}"))
        })
        .collect()
}

#[test]
fn an_unchanged_file_is_left_alone() {
    let place = Place::new();
    let path = place.write("a.jsonl", file(&linear(5)));
    assert_eq!(place.import(&path).status, ImportStatus::Imported);
    let again = place.import(&path);
    assert_eq!(
        (again.status, again.session.as_deref(), again.entries),
        (ImportStatus::Unchanged, Some("s"), 5)
    );
    // The same bytes elsewhere are the same session.
    let copy = place.write("b.jsonl", file(&linear(5)));
    assert_eq!(place.import(&copy).status, ImportStatus::Unchanged);
    assert_eq!(place.store.sessions().unwrap().len(), 1);
    place.assert_sound();
}

#[test]
fn a_grown_file_brings_what_is_new() {
    let place = Place::new();
    let path = place.write("a.jsonl", file(&linear(50)));
    place.import(&path);
    for count in [51, 52, 200, 1000] {
        place.write("a.jsonl", file(&linear(count)));
        let report = place.import(&path);
        assert_eq!(
            (report.status, report.entries),
            (ImportStatus::Grown, count as u64),
            "{report:?}"
        );
        assert_eq!(place.exact("s"), file(&linear(count)).into_bytes());
        place.assert_sound();
    }
    let reader = place.store.reader("s").unwrap();
    assert_eq!(reader.get_leaf().unwrap().unwrap().id().as_deref(), Some("e999"));
    assert_eq!(reader.get_path(None, |_| Ok(())).unwrap(), 1000);
}

#[test]
fn a_torn_last_line_is_completed() {
    let place = Place::new();
    let whole = file(&linear(20));
    for cut in
        [whole.len() - 1, whole.len() - 2, whole.len() - 30, HEADER.len() + 1, HEADER.len() + 20]
    {
        let place = Place::new();
        let path = place.write("a.jsonl", &whole[..cut]);
        assert_eq!(place.import(&path).status, ImportStatus::Imported, "{cut}");
        place.write("a.jsonl", &whole);
        let report = place.import(&path);
        assert_eq!((report.status, report.entries), (ImportStatus::Grown, 20), "{cut}: {report:?}");
        assert_eq!(place.exact("s"), whole.as_bytes());
        place.assert_sound();
    }
    drop(place);
}

#[test]
fn growth_that_repeats_an_id_or_closes_a_loop_is_indexed_anew() {
    let place = Place::new();
    let mut lines = linear(5);
    lines.push(entry("f1", "f2", "its parent comes later"));
    let path = place.write("a.jsonl", file(&lines));
    place.import(&path);
    lines.push(entry("f2", "f1", "a loop"));
    lines.push(entry("e1", "e0", "again"));
    place.write("a.jsonl", file(&lines));
    let report = place.import(&path);
    assert_eq!(report.status, ImportStatus::Grown, "{report:?}");
    place.assert_sound();
    let reader = place.store.reader("s").unwrap();
    let mut path = Vec::new();
    reader
        .get_path(Some("f1"), |entry| {
            path.push(entry.id().unwrap());
            Ok(())
        })
        .unwrap();
    assert_eq!(path, ["f2", "f1"], "the walk ends where the loop closes");
    assert!(
        String::from_utf8(reader.get_entry("e1").unwrap().line().to_vec())
            .unwrap()
            .contains("again")
    );
    let verification = place.store.verify().unwrap();
    assert_eq!(verification.remarks.iter().filter(|remark| remark.kind == "loop").count(), 1);
    // An irregular session grows as well.
    lines.push(entry("g", "e1", "more"));
    let path = place.write("a.jsonl", file(&lines));
    assert_eq!(place.import(&path).status, ImportStatus::Grown);
    place.assert_sound();
}

#[test]
fn a_rewritten_file_replaces_its_session_when_nothing_is_lost() {
    let place = Place::new();
    let path = place.write("a.jsonl", file(&linear(30)));
    place.import(&path);
    // A new title in the header, a line in the middle, the same entries written otherwise.
    let titled = HEADER.replace("\"id\":\"s\"", "\"id\":\"s\",\"title\":\"Now with a title\"");
    let mut lines = linear(30);
    lines.insert(10, entry("new", "e3", "between"));
    lines[5] = lines[5].replace("\"type\":\"message\",", "\"type\": \"message\", ");
    let rewritten = file(&lines).replace(HEADER, &titled);
    place.write("a.jsonl", &rewritten);
    let report = place.import(&path);
    assert_eq!((report.status, report.entries), (ImportStatus::Replaced, 31), "{report:?}");
    assert_eq!(place.exact("s"), rewritten.as_bytes());
    let sessions = place.store.sessions().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].title.as_deref(), Some("Now with a title"));
    place.assert_sound();
}

#[test]
fn a_file_that_lacks_something_is_kept_as_another_session() {
    let original = file(&linear(30));
    let mut shorter = linear(30);
    shorter.remove(29);
    shorter.remove(7);
    let mut changed = linear(30);
    changed[3] = entry("e3", "e2", "not what it was");
    for (lines, lost) in [(shorter, "e7"), (changed, "e3")] {
        let place = Place::new();
        let path = place.write("a.jsonl", &original);
        place.import(&path);
        place.write("a.jsonl", file(&lines));
        let report = place.import(&path);
        assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
        assert_eq!(report.session.as_deref(), Some("s~2"));
        let reason = report.reason.unwrap();
        assert!(reason.contains(lost) && reason.contains("next to s"), "{reason}");
        assert_eq!(place.exact("s"), original.as_bytes(), "nothing has changed");
        assert_eq!(place.exact("s~2"), file(&lines).into_bytes());
        // When the file grows, that session grows.
        let more = [&lines[..], &[entry("f", "e28", "more")]].concat();
        place.write("a.jsonl", file(&more));
        let report = place.import(&path);
        assert_eq!((report.status, report.session.as_deref()), (ImportStatus::Grown, Some("s~2")));
        assert_eq!(place.import(&path).status, ImportStatus::Unchanged);
        let standing = place.store.standing_of(&place.path("")).unwrap();
        assert_eq!((standing.in_step, standing.apart), (1, 1));
        place.assert_sound();
    }
}

#[test]
fn a_file_replaces_its_session_if_the_caller_insists() {
    let original = file(&linear(30));
    let mut changed = linear(30);
    changed[3] = entry("e3", "e2", "not what it was");
    let truncated = original[..original.len() / 2].to_owned();
    for other in [file(&changed), truncated] {
        let place = Place::new();
        let path = place.write("a.jsonl", &original);
        place.import(&path);
        place.write("a.jsonl", &other);
        let options = ImportOptions { replace: true, ..ImportOptions::default() };
        assert_eq!(place.import_with(&path, &options).status, ImportStatus::Replaced);
        assert_eq!(place.exact("s"), other.as_bytes());
        place.assert_sound();
    }
}

#[test]
fn a_truncated_file_leaves_its_session_alone() {
    let place = Place::new();
    let original = file(&linear(30));
    let path = place.write("a.jsonl", &original);
    place.import(&path);
    place.write("a.jsonl", &original[..original.len() / 2]);
    let report = place.import(&path);
    assert_eq!(report.status, ImportStatus::Unchanged);
    assert!(report.reason.unwrap().contains("later state"));
    assert_eq!(place.exact("s"), original.as_bytes());
    assert_eq!(place.store.sessions().unwrap().len(), 1);
}

#[test]
fn another_file_with_the_same_id_is_another_session() {
    let place = Place::new();
    let first = file(&linear(5));
    let second = file(&[entry("x", "", "something else")]);
    let third = file(&[entry("y", "", "a third")]);
    place.import(&place.write("a.jsonl", &first));
    let report = place.import(&place.write("b.jsonl", &second));
    assert_eq!((report.status, report.session.as_deref()), (ImportStatus::Imported, Some("s~2")));
    assert!(report.reason.unwrap().contains("s~2"));
    let report = place.import(&place.write("c.jsonl", &third));
    assert_eq!(report.session.as_deref(), Some("s~3"));
    assert_eq!(place.exact("s"), first.as_bytes());
    assert_eq!(place.exact("s~2"), second.as_bytes());
    // Each grows on its own.
    let grown = format!("{second}{}\n", entry("x2", "x", "more"));
    let report = place.import(&place.write("b.jsonl", &grown));
    assert_eq!((report.status, report.session.as_deref()), (ImportStatus::Grown, Some("s~2")));
    assert_eq!(place.exact("s~2"), grown.as_bytes());
    place.assert_sound();
}

#[test]
fn both_are_kept_when_they_come_together() {
    let place = Place::new();
    let first = file(&linear(5));
    let second = file(&[entry("x", "", "something else")]);
    place.write("folder/a.jsonl", &first);
    place.write("folder/b.jsonl", &second);
    place.write("folder/c.jsonl", &first);
    place.write("folder/notes.jsonl", "not a session\n");
    place.write("folder/readme.txt", "not looked at");
    let (totals, reports) = place.import_all(&[place.path("folder")]);
    assert_eq!(
        (totals.files, totals.imported, totals.unchanged, totals.skipped),
        (4, 2, 1, 1),
        "{reports:#?}"
    );
    assert_eq!(place.exact("s"), first.as_bytes());
    assert_eq!(place.exact("s~2"), second.as_bytes());
    place.assert_sound();
}

#[test]
fn a_moved_and_rewritten_file_is_still_its_session() {
    let place = Place::new();
    let path = place.write("old/a.jsonl", file(&linear(9)));
    place.import(&path);
    std::fs::remove_file(&path).unwrap();
    let moved = file(&linear(10)).replace("\"cwd\":\"/work\"", "\"cwd\":\"/elsewhere\"");
    let report = place.import(&place.write("new/a.jsonl", &moved));
    assert_eq!(
        (report.status, report.session.as_deref()),
        (ImportStatus::Replaced, Some("s")),
        "{report:?}"
    );
    assert_eq!(place.exact("s"), moved.as_bytes());
    // Moved once more, but with less in it: kept beside the other.
    std::fs::remove_file(place.path("new/a.jsonl")).unwrap();
    let less = file(&linear(3)).replace("/work", "/third");
    let report = place.import(&place.write("third/a.jsonl", &less));
    assert_eq!(
        (report.status, report.session.as_deref()),
        (ImportStatus::Imported, Some("s~2")),
        "{report:?}"
    );
    assert_eq!(place.exact("s"), moved.as_bytes());
    assert_eq!(place.exact("s~2"), less.as_bytes());
    place.assert_sound();
}

#[test]
fn a_file_that_its_program_has_migrated_since_replaces_its_session() {
    let place = Place::new();
    let old = concat!(
        r#"{"type":"session","id":"v1","timestamp":"2025-11-20T10:00:00.000Z","cwd":"/work"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-11-20T10:00:01.000Z","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-11-20T10:00:02.000Z","message":{"role":"assistant","content":"two"}}"#,
        "\n",
        r#"{"type":"compaction","timestamp":"2025-11-20T10:00:03.000Z","summary":"so far","firstKeptEntryIndex":2,"tokensBefore":9}"#,
        "\n",
    );
    let path = place.write("a.jsonl", old);
    assert_eq!(place.import(&path).status, ImportStatus::Imported);
    let current = String::from_utf8(place.export("v1", &ExportMode::Current)).unwrap();
    assert_eq!(place.exact("v1"), old.as_bytes());
    // The program makes its own ids; Leafline's are recognised by their contents.
    let mut theirs = current.clone();
    let reader = place.store.reader("v1").unwrap();
    for (number, node) in reader.get_tree().unwrap().nodes().iter().enumerate() {
        theirs = theirs.replace(node.id.as_deref().unwrap(), &format!("{number:08x}"));
    }
    drop(reader);
    let more = r#"{"type":"message","id":"77777777","parentId":"00000002","timestamp":"2025-11-21T10:00:00.000Z","message":{"role":"user","content":"more"}}"#;
    let theirs = format!("{theirs}{more}\n");
    place.write("a.jsonl", &theirs);
    let report = place.import(&path);
    assert_eq!((report.status, report.entries), (ImportStatus::Replaced, 4), "{report:?}");
    assert_eq!(place.exact("v1"), theirs.as_bytes());
    place.assert_sound();
}

#[test]
fn what_was_exported_of_a_migrated_session_is_that_session() {
    let place = Place::new();
    let old = concat!(
        r#"{"type":"session","id":"s","timestamp":"2025-11-20T19:04:07.331Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-11-20T19:05:00.000Z","message":{"role":"user","content":"first"}}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-11-20T19:06:00.000Z","message":{"role":"user","content":"second"}}"#,
        "\n",
    );
    let original = place.write("original.jsonl", old);
    assert_eq!(place.import(&original).status, ImportStatus::Imported);
    let current = String::from_utf8(place.export("s", &ExportMode::Current)).unwrap();
    assert_ne!(current, old);

    let copy = place.write("copy.jsonl", &current);
    assert_eq!(place.import(&copy).status, ImportStatus::Unchanged);
    let part = place.write("part.jsonl", &current[..current.len() - 20]);
    let report = place.import(&part);
    assert_eq!(report.status, ImportStatus::Unchanged);
    assert!(report.reason.unwrap().contains("later state"));
    assert_eq!(place.import(&original).status, ImportStatus::Unchanged);

    let grown = format!("{current}{}\n", entry("new", "", "third"));
    place.write("copy.jsonl", &grown);
    let report = place.import(&copy);
    assert_eq!((report.status, report.entries), (ImportStatus::Grown, 3), "{report:?}");
    assert_eq!(place.export("s", &ExportMode::Current), grown.as_bytes());
    // The old file is still known, and is exported unchanged.
    assert_eq!(place.import(&original).status, ImportStatus::Unchanged);
    assert_eq!(place.exact("s"), old.as_bytes());
    // If the original file grows too, it becomes another session, and does not replace the lines that the copy has added.
    let more = r#"{"type":"message","timestamp":"2025-11-20T19:07:00.000Z","message":{"role":"user","content":"another"}}"#;
    place.write("original.jsonl", format!("{old}{more}\n"));
    assert_eq!(place.import(&original).session.as_deref(), Some("s~2"));
    assert_eq!(place.export("s", &ExportMode::Current), grown.as_bytes());
    assert_eq!(place.store.sessions().unwrap().len(), 2);
    place.assert_sound();
}

#[test]
fn a_path_that_now_holds_another_session_keeps_the_first() {
    let place = Place::new();
    let first = file(&linear(5));
    let path = place.write("a.jsonl", &first);
    place.import(&path);
    let other = first.replace("\"id\":\"s\"", "\"id\":\"t\"");
    place.write("a.jsonl", &other);
    assert_eq!(place.import(&path).status, ImportStatus::Imported);
    assert_eq!(place.exact("s"), first.as_bytes());
    assert_eq!(place.exact("t"), other.as_bytes());
    place.assert_sound();
}
