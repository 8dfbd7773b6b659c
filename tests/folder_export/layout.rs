//! The folder is laid out as the programs' own are, and one of the former layout moves to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use leafline::import::ImportOptions;
use xxhash_rust::xxh3::xxh3_128;

use super::{Exports, append, message, session};

/// The files below a folder, without the manifest, with `/` between the parts.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(folder).unwrap();
            if path.is_dir() {
                folders.push(path);
            } else if below != Path::new(".leafline-manifest") {
                found.insert(below.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples")
}

#[test]
fn files_come_out_where_their_programs_had_put_them() {
    let exports = Exports::new();
    let options = ImportOptions::default();
    exports.store().import(&[samples()], &options, &mut ()).unwrap();
    exports.run();
    let mut expected = BTreeSet::new();
    for path in files(&samples()) {
        if path.ends_with(".jsonl") && !path.ends_with("session_index.jsonl") {
            // Only omp's own folder would tell that this one is not pi's.
            let is_undecided = path.contains("0f6f2f6a");
            expected.insert(if is_undecided { path.replace("omp/", "pi/") } else { path });
        }
    }
    assert_eq!(files(&exports.folder), expected);
    // It is read as what it was made of.
    let totals = exports.sync();
    assert_eq!((totals.unchanged, totals.files), (expected.len() as u64, totals.files));
    assert_eq!(exports.run().0.unchanged, expected.len() as u64);
}

#[test]
fn what_says_no_directory_stays_in_the_folder_that_it_came_from() {
    let exports = Exports::new();
    let summary = r#"{"type":"summary","summary":"A tide clock","leafUuid":"a"}"#;
    let at = "home/.claude/projects/-home-robin-clock/5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl";
    let placed = exports.place.write(at, format!("{summary}\n"));
    exports.place.import(&placed);
    // A folder that only has that name is none of the program's.
    let elsewhere = "projects/clock/6b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl";
    exports.place.import(&exports.place.write(elsewhere, format!("{summary}\n")));
    exports.run();
    let expected = [
        "claude/projects/-/6b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl",
        "claude/projects/-home-robin-clock/5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl",
    ];
    assert_eq!(files(&exports.folder).into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_project_that_moved_takes_its_agents_along() {
    let exports = Exports::new();
    let claude = samples().join("claude");
    exports.store().import(&[claude], &ImportOptions::default(), &mut ()).unwrap();
    exports.run();
    exports.store().relocate("/home/robin/work/tide-clock", "/new").unwrap();
    exports.run();
    let session = "claude/projects/-new/5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90";
    let found = files(&exports.folder);
    for path in [format!("{session}.jsonl"), format!("{session}/subagents/agent-c5e90a17.jsonl")] {
        assert!(found.contains(&path), "{found:?}");
    }
    // One of the sessions names no directory, and stays in its folder. The folders that are empty now are gone.
    let old = "claude/projects/-home-robin-work-tide-clock";
    let stays = format!("{old}/c0a4f1de-33b2-4d0b-9a51-7f6f0f4be2aa.jsonl");
    let is_there = |path: &&String| !path.starts_with("claude/projects/-new/");
    assert_eq!(found.iter().filter(is_there).collect::<Vec<_>>(), [&stays]);
    assert_eq!(std::fs::read_dir(exports.folder.join(old)).unwrap().count(), 1);
}

/// Gives a folder the layout that exports had before: every file directly in the folder of its project.
fn put_back(exports: &Exports) {
    let manifest = exports.folder.join(".leafline-manifest");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let mut former = String::new();
    for line in text.lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(path) = line["path"].as_str().map(str::to_owned) {
            let old = path.strip_prefix("pi/sessions/").unwrap();
            std::fs::create_dir_all(exports.folder.join(old).parent().unwrap()).unwrap();
            std::fs::rename(exports.folder.join(&path), exports.folder.join(old)).unwrap();
            line["path"] = old.into();
        }
        if line.get("check").is_some() {
            line["check"] = format!("{:032x}", xxh3_128(former.as_bytes())).into();
        }
        former.push_str(&format!("{line}\n"));
    }
    std::fs::write(manifest, former).unwrap();
    std::fs::remove_dir_all(exports.folder.join("pi")).unwrap();
}

#[test]
fn a_folder_of_the_former_layout_moves_and_nothing_else_is_touched() {
    let exports = Exports::of_three();
    exports.run();
    put_back(&exports);
    let name = |id: &str| format!("--w-{id}--/2026-03-01T08-00-00-000Z_{id}.jsonl");
    let notes = exports.folder.join("--w-b--/notes.txt");
    std::fs::write(&notes, "mine").unwrap();
    let strange = exports.folder.join("--w-c--/other.jsonl");
    std::fs::write(&strange, session("other", "/w/c", &["not here"])).unwrap();
    // Somebody has gone on with one of them.
    let added = exports.folder.join(name("c"));
    append(&added, message("new", "\"m1\"", "by the agent"));
    let told = exports.gives(&[
        ("a", "removed"),
        ("a", "written"),
        ("b", "removed"),
        ("b", "written"),
        ("c", "kept"),
    ]);
    assert_eq!(told[1].path, format!("pi/sessions/{}", name("a")));
    let mut expected: BTreeSet<String> =
        ["a", "b"].iter().map(|id| format!("pi/sessions/{}", name(id))).collect();
    expected.extend(["--w-b--/notes.txt".into(), "--w-c--/other.jsonl".into(), name("c")]);
    assert_eq!(files(&exports.folder), expected);
    assert!(!exports.folder.join("--w-a--").exists());
    // Once the store has what was added, it moves too.
    exports.sync();
    exports.run();
    let moved = exports.folder.join("pi/sessions").join(name("c"));
    assert!(std::fs::read_to_string(moved).unwrap().contains("by the agent") && !added.exists());
    assert_eq!(std::fs::read(&notes).unwrap(), b"mine");
    assert!(strange.exists());
}
