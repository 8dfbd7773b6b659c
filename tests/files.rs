//! Sessions in files that are not in a store have the same facts as in a store.
//!
//! Guards against a list of files that differs from the list after an import.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use leafline::files::{FileFacts, SessionFiles};
use leafline::list::{SessionFilter, SessionOrder};
use leafline::{Family, SessionFacts};
use place::{Place, corpus};
use serde_json::Value;

/// The facts that a file's session lacks, or states differently.
const OF_STORES: [&str; 6] =
    ["irregular", "orphans", "duplicates", "unaddressed", "migrated", "imported_version"];

fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("import/samples")
}

/// Files of every kind of oddity, and random ones.
fn odd_files(folder: &Path) {
    for (number, (_, bytes)) in leafline_generate::zoo().into_iter().enumerate() {
        std::fs::write(folder.join(format!("zoo-{number}.jsonl")), bytes).unwrap();
    }
    for seed in 0..40 {
        for family in [leafline_generate::Family::Pi, leafline_generate::Family::Omp] {
            let bytes = leafline_generate::random_tree_session(seed, 40, family);
            std::fs::write(folder.join(format!("{family:?}-{seed}.jsonl")), bytes).unwrap();
        }
    }
    for (number, lines) in summaries().into_iter().enumerate() {
        std::fs::write(folder.join(format!("summary-{number}.jsonl")), lines.join("\n")).unwrap();
    }
}

/// Sessions of Claude Code whose title is a summary's text or not, depending on what the summary names and where it is.
fn summaries() -> Vec<Vec<String>> {
    let summary = |text: &str, leaf: &str| {
        format!(r#"{{"type":"summary","summary":"{text}","leafUuid":"{leaf}"}}"#)
    };
    let said = |uuid: &str, is_sidechain: bool| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":null,"isSidechain":{is_sidechain},"sessionId":"s","timestamp":"2026-02-16T10:20:30.000Z","message":{{"role":"user","content":"{uuid} said"}}}}"#
        )
    };
    let [a, b] = [said("a", false), said("b", true)];
    let again = said("a", true);
    vec![
        vec![summary("of a", "a"), a.clone()],
        vec![a.clone(), summary("of a", "a")],
        vec![summary("of b", "b"), b.clone()],
        vec![summary("of b", "b"), b.clone(), a.clone()],
        vec![a.clone(), b.clone(), summary("of a", "a"), summary("of b", "b")],
        vec![summary("of none", "none"), a.clone(), summary("of none", "none")],
        vec![summary("of a", "a"), a.clone(), again.clone()],
        vec![summary("of a", "a"), a.clone(), again, summary("of b", "b")],
        vec![a.clone(), summary("", "a"), summary("late", "b"), b],
        vec![
            a,
            summary("of a", "a"),
            r#"{"type":"ai-title","aiTitle":"T","sessionId":"s"}"#.into(),
        ],
    ]
}

/// The facts in a store that imports each file alone.
fn of_store(path: &Path) -> Option<(SessionFacts, String, Option<String>)> {
    let place = Place::new();
    place.import(path).session.as_ref()?;
    let facts = place.store.sessions().unwrap().remove(0);
    let reader = place.store.reader(&facts.id).unwrap();
    let text = reader.get_all_messages_text().unwrap();
    Some((facts, text, reader.get_first_message().unwrap()))
}

fn assert_alike(file: &FileFacts, stored: &SessionFacts) {
    let mut told = serde_json::to_value(file).unwrap();
    let mut expected = serde_json::to_value(stored).unwrap();
    assert_eq!(told["version"], expected["imported_version"], "{}", file.path.display());
    let told = told.as_object_mut().unwrap();
    let expected = expected.as_object_mut().unwrap();
    for name in ["path", "file_modified", "version"] {
        told.remove(name).unwrap();
    }
    for name in OF_STORES {
        expected.remove(name).unwrap();
    }
    if stored.migrated {
        for facts in [&mut *told, expected] {
            // What shared its line with something is a line of its own when it is rewritten.
            for name in ["lines", "bytes", "recovered"] {
                facts.remove(name).unwrap();
            }
        }
    }
    assert_eq!(Value::from(told.clone()), Value::from(expected.clone()), "{}", file.path.display());
}

#[test]
fn a_file_has_the_facts_that_it_has_in_a_store() {
    let odd = tempfile::tempdir().unwrap();
    odd_files(odd.path());
    let mut folders = vec![samples(), odd.path().to_owned()];
    folders.extend(corpus());
    for folder in folders {
        let list = SessionFiles::new([&folder]).list_all();
        assert_eq!(list.unreadable, []);
        let mut found: BTreeMap<PathBuf, FileFacts> =
            list.sessions.into_iter().map(|facts| (facts.path.clone(), facts)).collect();
        assert!(!found.is_empty());
        let mut paths = vec![folder.clone()];
        while let Some(path) = paths.pop() {
            if path.is_dir() {
                paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let file = found.remove(&path);
            let stored = of_store(&path);
            assert_eq!(file.is_some(), stored.is_some(), "{}", path.display());
            let Some((file, (stored, text, first))) = file.zip(stored) else { continue };
            assert_alike(&file, &stored);
            assert!(file.get_all_messages_text().unwrap() == text, "{}", path.display());
            assert_eq!(file.get_first_message().unwrap(), first, "{}", path.display());
        }
        assert!(found.is_empty(), "{found:?}");
    }
}

/// A pi session with a first message, and what follows it.
fn session(id: &str, cwd: &str, prompt: &str, rest: &str) -> String {
    format!(
        concat!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-03-01T09:00:00.000Z","cwd":"{cwd}"}}"#,
            "\n",
            r#"{{"type":"message","id":"m1","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":[{{"type":"text","text":"{prompt}"}}]}}}}"#,
            "\n{rest}"
        ),
        id = id,
        cwd = cwd,
        prompt = prompt,
        rest = rest,
    )
}

const NAME: &str = r#"{"type":"session_info","id":"n1","parentId":"m1","timestamp":"2026-03-01T11:00:00.000Z","name":"Named"}"#;

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>, age: u64) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000 - age);
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    path
}

/// The newest file begun first, and one that is not a session between them.
fn three() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let late = r#"{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-03-02T10:00:00.000Z","message":{"role":"assistant","content":"Done"}}"#;
    write(folder.path(), "a.jsonl", session("one", "/work", "Fix the login", NAME), 30);
    write(folder.path(), "deep/b.jsonl", session("two", "/work/app", "Why?", ""), 10);
    write(folder.path(), "c.jsonl", session("three", "/other", "How?", late), 40);
    write(folder.path(), "d.jsonl", "no session\n", 20);
    write(folder.path(), "e.json", session("four", "/work", "Not found", ""), 0);
    folder
}

#[test]
fn lists_are_filtered_and_ordered_as_those_of_a_store() {
    let folder = three();
    let files = SessionFiles::new([folder.path()]);
    let place = Place::new();
    place.import_all(&[folder.path().to_owned()]);
    let all = SessionFilter::default();
    let ids = |filter: &SessionFilter| -> Vec<String> {
        files.list(filter).sessions.into_iter().map(|facts| facts.id).collect()
    };
    assert_eq!(ids(&all), ["three", "one", "two"]);
    for filter in [
        SessionFilter::of_cwd("/work"),
        SessionFilter { below: Some("/work".into()), ..all.clone() },
        SessionFilter { family: Some(Family::Pi), ..all.clone() },
        SessionFilter { family: Some(Family::Opal), ..all.clone() },
        SessionFilter { text: Some("LOGIN".into()), ..all.clone() },
        SessionFilter { since: Some(1_772_445_600_000), ..all.clone() },
        SessionFilter { until: Some(1_772_445_600_000), ..all.clone() },
        SessionFilter { order: SessionOrder::Title, ..all.clone() },
        SessionFilter { order: SessionOrder::Size, limit: Some(2), ..all.clone() },
        SessionFilter { order: SessionOrder::Created, ..all.clone() },
    ] {
        let stored = place.store.list(&filter).unwrap();
        let stored: Vec<String> = stored.into_iter().map(|facts| facts.id.into()).collect();
        assert_eq!(ids(&filter), stored, "{filter:?}");
    }
}

#[test]
fn agents_are_left_out_where_their_session_is_among_the_files() {
    let place = Place::new();
    place.import_all(&[samples()]);
    let filter = SessionFilter { without_agents: true, ..SessionFilter::default() };
    let files = |path: PathBuf| SessionFiles::new([path]).list(&filter).sessions;
    let ids: Vec<String> = files(samples()).into_iter().map(|facts| facts.id).collect();
    let stored = place.store.list(&filter).unwrap();
    assert_eq!(ids, stored.into_iter().map(|facts| facts.id).collect::<Vec<_>>());
    let all = SessionFiles::new([samples()]).list_all().sessions;
    let agent = all.into_iter().find(|facts| facts.agent.is_some()).unwrap();
    assert!(!ids.contains(&agent.id));
    assert_eq!(files(agent.path)[0].id, agent.id);
}

#[test]
fn what_cannot_be_read_is_told_and_costs_the_others_nothing() {
    let folder = three();
    let gone = folder.path().join("gone");
    let mut paths = vec![gone.clone(), folder.path().to_owned()];
    if cfg!(target_os = "linux") {
        // It can be opened but not read.
        paths.push("/proc/self/mem".into());
    }
    let files = SessionFiles::new(&paths);
    let list = files.list_all();
    assert_eq!(list.sessions.len(), 3);
    let unreadable: Vec<&Path> = list.unreadable.iter().map(|file| &*file.path).collect();
    let expected: Vec<&PathBuf> = paths.iter().filter(|path| *path != folder.path()).collect();
    assert_eq!(unreadable, expected);
    assert!(list.unreadable.iter().all(|file| !file.reason.is_empty()));
    let recent = files.recent(&SessionFilter::default());
    assert_eq!((recent.sessions.len(), recent.unreadable.len()), (3, expected.len()));
    assert_eq!(SessionFiles::new([gone]).find_most_recent(&SessionFilter::default()), None);
}

#[test]
fn recent_sessions_are_in_the_order_of_their_files() {
    let folder = three();
    let files = SessionFiles::new([folder.path()]);
    let names = |limit| -> Vec<String> {
        let recent = files.get_recent_sessions(limit).sessions;
        recent.iter().map(|session| session.name().to_owned()).collect()
    };
    assert_eq!(names(9), ["Why?", "Named", "How?"]);
    assert_eq!(names(2), ["Why?", "Named"]);
    assert_eq!(names(0), [""; 0]);
    let newest = |filter: &SessionFilter| files.find_most_recent(filter).map(|session| session.id);
    assert_eq!(newest(&SessionFilter::default()).as_deref(), Some("two"));
    assert_eq!(newest(&SessionFilter::of_cwd("/work")).as_deref(), Some("one"));
    assert_eq!(newest(&SessionFilter::of_cwd("/nowhere")), None);
    let before = SessionFilter { until: Some(1_779_999_970_000), ..SessionFilter::default() };
    assert_eq!(newest(&before).as_deref(), Some("three"));
}

#[test]
fn recent_sessions_are_told_by_a_prefix_cut_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    // The cut comes before, in and after each of a character's bytes, and in an escape.
    for shift in 0..12 {
        let cwd = format!("/{}", "x".repeat(shift));
        let prompt = format!("Äpfel zählen {}", r"\u00e4ä".repeat(600));
        let path = write(folder.path(), "a.jsonl", session("one", &cwd, &prompt, NAME), 0);
        let files = SessionFiles::new([&path]);
        let session = files.find_most_recent(&SessionFilter::of_cwd(&*cwd)).unwrap();
        assert!(session.name().starts_with("Äpfel zählen ääää"), "{session:?}");
        assert!(session.name().ends_with('…'), "{session:?}");
        assert!(!session.name().contains('\u{fffd}'), "{session:?}");
        // Only the whole file shows what comes after the prefix.
        assert_eq!(session.title, None);
        assert_eq!(files.list_all().sessions[0].title.as_deref(), Some("Named"));
    }
}

#[test]
fn a_first_line_longer_than_the_prefix_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = format!("/{}", "x".repeat(10_000));
    write(folder.path(), "a.jsonl", session("one", &cwd, "Why?", NAME), 0);
    let snapshot = r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#;
    let prompt = format!(
        r#"{{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":"{}"}},"cwd":"/work"}}"#,
        "long ".repeat(2000)
    );
    write(folder.path(), "b.jsonl", format!("{snapshot}\n{prompt}\n"), 1);
    let recent = SessionFiles::new([folder.path()]).get_recent_sessions(9).sessions;
    assert_eq!(recent[0].cwd.as_ref(), Some(&cwd));
    assert_eq!(recent[0].title.as_deref(), Some("Named"));
    assert_eq!((recent[1].family, recent[1].cwd.as_deref()), (Family::Claude, Some("/work")));
    assert!(recent[1].name().starts_with("long long"));
}
