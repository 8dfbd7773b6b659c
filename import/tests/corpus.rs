//! Real sessions: every line is what it should be, and the lines together are the file.
//!
//! Guards against scans that lose or change a byte, or read a real line differently from a JSON parser.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod oracle;

use std::fs;
use std::path::{Path, PathBuf};

use leafline_import::pi_omp::{detect, settings_effect, user_text};
use leafline_import::scan::{Scanner, Shape};
use leafline_import::{EntryKind, Family, lines, text};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn every_file_is_known_for_what_it_is() {
    let Some(corpus) = oracle::folder_of("LEAFLINE_CORPUS", "every_file_is_known_for_what_it_is")
    else {
        return;
    };
    for (folder, family) in [("pi", Family::Pi), ("omp", Family::Omp)] {
        for path in files(&corpus.join(folder)) {
            let detection = detect(&fs::read(&path).unwrap(), None, true).unwrap();
            assert_eq!(detection.family, family, "{}", path.display());
            assert!(detection.header.timestamp_ms.is_some() && detection.header.cwd.is_some());
        }
    }
    for (folder, family) in [("claude", Family::Claude), ("opal", Family::Opal)] {
        for path in files(&corpus.join(folder)) {
            let bytes = fs::read(&path).unwrap();
            assert!(detect(&bytes, None, true).is_err(), "{}", path.display());
            match leafline_import::detect(&bytes, None, true) {
                Ok(detection) => assert_eq!(detection.family, family, "{}", path.display()),
                // Output of the program while it runs, and tables of other data.
                Err(error) => println!("{}: {error}", path.display()),
            }
        }
    }
}

#[test]
fn every_line_is_scanned_as_serde_json_sees_it() {
    let test = "every_line_is_scanned_as_serde_json_sees_it";
    let Some(corpus) = oracle::folder_of("LEAFLINE_CORPUS", test) else {
        return;
    };
    let mut scanner = Scanner::new();
    for path in files(&corpus) {
        let bytes = fs::read(&path).unwrap();
        assert_eq!(lines::split(&bytes).collect::<Vec<_>>().concat(), bytes);
        let mut prompts = 0;
        for line in lines::split(&bytes) {
            let text = text::decode(line);
            let scan = scanner.scan(&text);
            let valid = serde_json::from_str::<serde_json::Value>(&text);
            assert_eq!(
                scan.shape == Shape::Object,
                valid.as_ref().is_ok_and(serde_json::Value::is_object)
            );
            let Ok(valid) = valid else { continue };
            let same = |raw: Option<leafline_import::scan::Raw<'_>>, value: &serde_json::Value| {
                let ours =
                    raw.map(|raw| serde_json::from_str::<serde_json::Value>(raw.as_str()).unwrap());
                assert_eq!(ours.unwrap_or_default(), *value, "{text}");
            };
            same(scan.members.entry_type, &valid["type"]);
            same(scan.members.id, &valid["id"]);
            same(scan.members.parent_id, &valid["parentId"]);
            same(scan.members.timestamp, &valid["timestamp"]);
            same(scan.members.message, &valid["message"]);
            same(scan.members.message_role, &valid["message"]["role"]);
            same(scan.members.message_content, &valid["message"]["content"]);
            same(scan.members.message_timestamp, &valid["message"]["timestamp"]);
            let kind = EntryKind::of(&scan);
            prompts += usize::from(user_text(kind, &scan).is_some());
            for &family in Family::ALL {
                let _ = settings_effect(family, kind, &scan);
            }
        }
        println!("{}: {prompts} prompts", path.display());
    }
}
