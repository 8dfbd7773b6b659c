//! The corpus, which imitates Opal's writer.
//!
//! Two things in it are not what any Erlang writes: the members of messages are in an order that changes from line to
//! line, and 1.0e10 is written as 10000000000.0. So edited lines are compared exactly, and encoded lines by all their
//! bytes regardless of order.

use std::fs;

use leafline_import::Family;
use leafline_import::lines;
use leafline_import::opal::{
    CurrentId, Header, NotASession, ParentId, Scanner, detect, encode, with_parent_id, with_session,
};
use leafline_import::text::decode;
use serde_json::Value;

use crate::file::File;
use crate::oracle::folder_of;

/// Every file of a folder of the corpus, with those of the folders in it.
fn files(folder: &str, test: &str) -> Vec<(String, Vec<u8>)> {
    let Some(corpus) = folder_of("LEAFLINE_CORPUS", test) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut folders = vec![corpus.join(folder)];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn every_file_of_opal_is_taken_and_no_other() {
    let test = "every_file_of_opal_is_taken_and_no_other";
    for (name, bytes) in files("opal", test) {
        assert!(detect(&bytes, true).is_ok(), "{name}");
        let first = lines::split(&bytes).next().unwrap();
        assert!(detect(first, false).is_ok(), "{name}");
    }
    for folder in ["pi", "omp", "claude"] {
        for (name, bytes) in files(folder, test) {
            let error = detect(&bytes, true).unwrap_err();
            println!("{name}: {error}");
            assert!(!matches!(error, NotASession::NoMessage { .. }), "{name}");
        }
    }
    for (name, bytes) in files("opal", test) {
        let found = leafline_import::detect(&bytes, None, true).unwrap();
        assert_eq!(found.family, Family::Opal, "{name}");
        for choice in [Family::Pi, Family::Omp, Family::Claude] {
            assert!(leafline_import::detect(&bytes, Some(choice), true).is_err(), "{name}");
        }
    }
}

#[test]
fn leaves_and_paths() {
    for (name, bytes) in files("opal", "leaves_and_paths") {
        let file = File::read(&bytes);
        match (&file.facts.current_id, file.leaf()) {
            (CurrentId::Null, leaf) => assert_eq!(leaf, None, "{name}"),
            (CurrentId::Id(id), leaf) => assert_eq!(leaf.unwrap().as_bytes(), id, "{name}"),
            (CurrentId::Absent, leaf) => {
                let path = file.path(&leaf.unwrap());
                let (_, last) = file.messages.last().unwrap();
                // It was written in order, without branches.
                assert_eq!(path.len(), file.messages.len(), "{name}");
                assert_eq!(path.last().unwrap().as_bytes(), last.id.as_ref().unwrap(), "{name}");
            }
        }
    }
}

#[test]
fn every_message_is_scanned_as_serde_json_sees_it() {
    let mut scanner = Scanner::new();
    for (_, bytes) in files("opal", "every_message_is_scanned_as_serde_json_sees_it") {
        for line in lines::split(&bytes) {
            let text = decode(line);
            let scan = scanner.scan(&text);
            let value: Value = serde_json::from_str(&text).unwrap();
            let members = &scan.members;
            for (name, raw) in [
                ("id", members.id),
                ("parent_id", members.parent_id),
                ("role", members.role),
                ("content", members.content),
                ("is_error", members.is_error),
                ("tool_calls", members.tool_calls),
                ("call_id", members.call_id),
                ("name", members.name),
                ("thinking", members.thinking),
                ("metadata", members.metadata),
                ("session_id", members.session_id),
                ("current_id", members.current_id),
            ] {
                let ours = raw.map(|raw| serde_json::from_str::<Value>(raw.as_str()).unwrap());
                assert_eq!(ours.as_ref(), value.get(name), "{text}");
            }
            assert_eq!(scan.content().as_deref(), value["content"].as_str());
            assert_eq!(scan.has_tool_calls(), value["tool_calls"].is_array());
        }
    }
}

#[test]
fn every_line_comes_back_when_it_is_written_again() {
    for (name, bytes) in files("opal", "every_line_comes_back_when_it_is_written_again") {
        let file = File::read(&bytes);
        let mut again = Vec::new();
        let facts = &file.facts;
        let current_id = match &facts.current_id {
            CurrentId::Id(id) => ParentId::Id(id),
            CurrentId::Absent | CurrentId::Null => ParentId::Null,
        };
        if let Some(session_id) = &facts.session_id {
            with_session(&file.header, session_id, current_id, &mut again).unwrap();
            let mut written = Vec::new();
            let header = Header { session_id, current_id, metadata: &facts.metadata };
            header.write(&mut written).unwrap();
            assert_eq!(written, file.header, "{name}");
        } else {
            again.extend_from_slice(&file.header);
        }
        for (_, message) in &file.messages {
            let parent = message.parent.as_deref().map_or(ParentId::Null, ParentId::Id);
            with_parent_id(&message.line, parent, &mut again).unwrap();
        }
        assert_eq!(again, bytes, "{name}");
    }
}

#[test]
fn encoding_changes_no_more_than_order_and_that_float() {
    let sorted = |mut bytes: Vec<u8>| {
        bytes.sort_unstable();
        bytes
    };
    for (_, bytes) in files("opal", "encoding_changes_no_more_than_order_and_that_float") {
        for line in lines::split(&bytes) {
            let text = decode(line).trim_end().to_owned();
            let mut encoded = Vec::new();
            encode(&text, &mut encoded).unwrap();
            let same = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(same(&decode(&encoded)), same(&text));
            let spelled = text.replace("10000000000.0", "1.0e10");
            assert_eq!(sorted(encoded), sorted(spelled.into_bytes()));
        }
    }
}
