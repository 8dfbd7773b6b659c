//! Real files: every record is recognised, and conversations are those of the document's `get_conversation`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use leafline_import::claude::{
    AgentFile, NotASession, RecordKind, Scanner, detect, for_each_node, path,
};
use leafline_import::conversation::PathEnd;
use leafline_import::recover::{Wholeness, recover};
use leafline_import::{lines, pi_omp, text};
use serde_json::Value;

use crate::facts::check_facts;
use crate::{lines_of, oracle, read};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The document's `get_conversation`; `None` if it would not end.
fn get_conversation<'a>(messages: &'a [Value], leaf_uuid: &str) -> Option<Vec<&'a Value>> {
    let by_uuid: HashMap<&str, &Value> = messages
        .iter()
        .filter_map(|message| Some((message.get("uuid")?.as_str()?, message)))
        .collect();
    let mut chain = Vec::new();
    let mut met = HashSet::new();
    let mut current = Some(leaf_uuid).filter(|uuid| !uuid.is_empty());
    while let Some(uuid) = current {
        let Some(&message) = by_uuid.get(uuid) else { break };
        if !met.insert(uuid) {
            return None;
        }
        chain.push(message);
        current = message.get("parentUuid").and_then(Value::as_str).filter(|uuid| !uuid.is_empty());
    }
    chain.reverse();
    Some(chain)
}

#[test]
fn conversations_are_the_documents() {
    let Some(corpus) = oracle::folder_of("LEAFLINE_CORPUS", "conversations_are_the_documents")
    else {
        return;
    };
    let mut compared = 0;
    for file_path in files(&corpus.join("claude")) {
        let file = fs::read(&file_path).unwrap();
        let finder = read(&file);
        let tree = finder.tree();
        let parsed: Vec<Option<Value>> =
            lines::split(&file).map(|line| serde_json::from_slice(line).ok()).collect();
        let records: Vec<Value> =
            parsed.iter().flatten().filter(|v| v.is_object()).cloned().collect();
        for entry in 0..tree.len() {
            let line = usize::try_from(tree.line(entry)).unwrap();
            let Some(record) = &parsed[line] else { continue };
            let Some(uuid) = record["uuid"].as_str() else { continue };
            // Of copies the document knows only the last.
            if tree.find(uuid.as_bytes()) != Some(entry) {
                continue;
            }
            let ours = path(tree, entry).unwrap();
            let Some(theirs) = get_conversation(&records, uuid) else {
                assert_eq!(ours.end, PathEnd::Loop, "{}", file_path.display());
                continue;
            };
            let ours: Vec<&Value> = lines_of(tree, &ours.entries)
                .into_iter()
                .map(|line| parsed[usize::try_from(line).unwrap()].as_ref().unwrap())
                .collect();
            assert_eq!(ours, theirs, "{}", file_path.display());
            compared += 1;
        }
        let named = records.iter().rev().find_map(|record| {
            let leaf = record["leafUuid"].as_str().filter(|_| record["type"] == "summary")?;
            tree.find(leaf.as_bytes())
        });
        let leaf = finder.leaf();
        println!("{}: {leaf:?}, summary names {named:?}", file_path.display());
        assert_eq!(
            leaf.is_none(),
            tree.is_empty() || !says_something(&file),
            "{}",
            file_path.display()
        );
        let Some(leaf) = leaf else { continue };
        // The document's leaf is the tip of its thread; if the summary names one, it is ours.
        let is_tip = |named: usize| {
            (0..tree.len()).all(|entry| {
                path(tree, entry).unwrap().entries[..]
                    .iter()
                    .rev()
                    .skip(1)
                    .all(|&above| above != named)
            })
        };
        if let Some(named) = named.filter(|&named| is_tip(named)) {
            assert_eq!(leaf.entry, named, "{}", file_path.display());
        }
    }
    assert!(compared > 200, "{compared}");
}

/// Whether a file has a message, or a note of the program's.
fn says_something(file: &[u8]) -> bool {
    let mut scanner = Scanner::new();
    lines::split(file).any(|line| {
        let mut found = false;
        for_each_node(line, &mut scanner, |_, node| {
            found |= node.kind.is_message() || node.kind == RecordKind::System
        });
        found
    })
}

#[test]
fn files_are_known_by_what_is_in_them() {
    let test = "files_are_known_by_what_is_in_them";
    let Some(corpus) = oracle::folder_of("LEAFLINE_CORPUS", test) else {
        return;
    };
    for path in files(&corpus.join("claude")) {
        let file = fs::read(&path).unwrap();
        let detection = detect(&file, true).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(pi_omp::detect(&file, None, true).is_err(), "{path:?}");
        // An import reads a first part of the file.
        let part = &file[..file.len().min(256 << 10)];
        match detect(part, part.len() == file.len()) {
            Ok(found) => assert_eq!(found.line, detection.line),
            Err(error) => assert!(matches!(error, NotASession::PrefixTooShort { .. }), "{path:?}"),
        }
        let mut agent = AgentFile::new();
        let mut scanner = Scanner::new();
        for line in lines::split(&file) {
            agent.observe(&scanner.scan(&text::decode(line)));
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let expected = name.starts_with("agent-")
            || name.ends_with("_agent.jsonl")
            || name == "dag_cycle.jsonl";
        assert_eq!(agent.agent().is_some(), expected, "{path:?}");
        if let Some(agent) = agent.agent().filter(|_| name.starts_with("agent-")) {
            let id = agent.id.unwrap();
            assert!(name.contains(&id), "{path:?}");
            assert!(!agent.session_id.unwrap().contains('#'), "{path:?}");
        }
    }
    for folder in ["pi", "omp", "opal"] {
        for path in files(&corpus.join(folder)) {
            let error = detect(&fs::read(&path).unwrap(), true).unwrap_err();
            let opal = matches!(error, NotASession::Opal { line: 0 });
            let pi_or_omp = matches!(error, NotASession::PiOrOmp { line: 0 | 1 });
            assert!(if folder == "opal" { opal } else { pi_or_omp }, "{path:?}: {error}");
        }
    }
}

#[test]
fn facts_are_what_serde_json_sees() {
    let test = "facts_are_what_serde_json_sees";
    let Some(corpus) = oracle::folder_of("LEAFLINE_CORPUS", test) else {
        return;
    };
    for path in files(&corpus.join("claude")) {
        for line in lines::split(&fs::read(path).unwrap()) {
            let text = text::decode(line);
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                check_facts(&text, &value);
            }
        }
    }
}

/// Real records on one line, the first one whole or torn anywhere: the second is recovered unchanged.
#[test]
fn spliced_records_come_back() {
    let Some(corpus) = oracle::folder_of("LEAFLINE_CORPUS", "spliced_records_come_back") else {
        return;
    };
    let mut spliced = 0;
    for path in files(&corpus) {
        let file = fs::read(&path).unwrap();
        let is_record = |line: &&[u8]| {
            let value = serde_json::from_slice::<Value>(line);
            // Longer records would only take longer.
            line.len() < 20_000 && value.is_ok_and(|value| has_name_and_parent(&value))
        };
        let records: Vec<&[u8]> =
            lines::split(&file).filter(is_record).map(<[u8]>::trim_ascii).take(40).collect();
        for pair in records.windows(2) {
            let [first, second] = pair else { continue };
            for cut in (1..=first.len()).step_by(1 + first.len() / 60) {
                let line = [&first[..cut], second, b"\n"].concat();
                let found = recover(&line);
                let last = found.last().unwrap();
                assert_eq!(&line[last.bytes.clone()], *second, "{}", line.escape_ascii());
                assert_eq!(last.wholeness, Wholeness::Whole);
                assert!(found.len() <= 2, "{}", line.escape_ascii());
                spliced += 1;
            }
        }
    }
    assert!(spliced > 1000, "{spliced}");
}

fn has_name_and_parent(record: &Value) -> bool {
    record["type"].is_string()
        && (record["uuid"].is_string() && record.get("parentUuid").is_some()
            || record["id"].is_string() && record.get("parentId").is_some())
}
