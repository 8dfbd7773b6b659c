//! What the folders of cases have: a store with sessions of several families, and files to import.

use std::fs::write;
use std::path::Path;

use leafline::import::ImportOptions;
use leafline::live::Persistence;
use leafline::pi::Draft;
use leafline::{Family, NewSession, Store};
use leafline_generate as generate;

use super::case::arguments;
use super::driving::Input;
use super::program::{Fault, PROGRAMS, Program};
use crate::answers::{Opening, open};

/// The file of the session `kept`.
pub const KEPT: &str = "kept/named.jsonl";

/// Its file where its program looks for it.
pub const KEPT_AT_HOME: &str =
    "home/.pi/agent/sessions/--work-kept--/2026-01-05T09-00-00-000Z_kept.jsonl";

/// How many files are in `kept/` when some of them have changed.
pub const CHANGED_FILES: usize = 6;

/// Fills a folder: `store.leafline`, the files `kept/` that it has imported, and `files/`, which it has not.
///
/// # Panics
///
/// If the folder cannot be written.
pub fn fill(folder: &Path) {
    for name in ["home", "kept", "files", PROGRAMS] {
        std::fs::create_dir(folder.join(name)).expect("a folder can be made");
    }
    // Who is asked to run a service does as if: it is never that of the system.
    std::fs::copy("/bin/true", folder.join(PROGRAMS).join("systemctl"))
        .expect("the system has a program that does nothing");
    sessions(&folder.join("kept"), 10);
    sessions(&folder.join("files"), 20);
    named(&folder.join(KEPT));
    let store = Store::open(folder.join("store.leafline")).expect("a store can be made");
    let options = ImportOptions::default();
    let imported = store.import(&[folder.join("kept")], &options, &mut ());
    assert_eq!(imported.expect("files can be imported").failed, 0);
    live(&store, Family::Pi, "pi-live");
    live(&store, Family::Omp, "omp-live");
    for prompt in ["Why is the build slow?", "What does the tide do?", "Fix the clock"] {
        store.history().add(prompt, Some("/work/leafline")).expect("a prompt can be added");
    }
}

/// Small files: with branches, with images, of Claude Code, and of a version that is migrated.
fn sessions(folder: &Path, seed: u64) {
    let named = |name: &str, bytes: &[u8]| {
        write(folder.join(name), bytes).expect("a file can be written");
    };
    named("tree.jsonl", &generate::random_tree_session(seed, 30, generate::Family::Pi));
    let shapes = [
        ("images", generate::Family::Omp, 3, 0.5, 40_000),
        ("old", generate::Family::Pi, 1, 0.0, 20_000),
        ("claude", generate::Family::Claude, 3, 0.0, 30_000),
    ];
    for (number, (name, family, version, images, bytes)) in (1..).zip(shapes) {
        let seed = seed + number;
        let shape = generate::Shape { seed, bytes, version, images, family, ..Default::default() };
        let mut text = Vec::new();
        let made = generate::generate(&shape, &mut text).expect("memory takes all bytes");
        let name = match family {
            // Its id is the file's name.
            generate::Family::Claude => format!("{}.jsonl", made.session_id),
            _ => format!("{name}.jsonl"),
        };
        named(&name, &text);
    }
}

/// A session whose ids are known.
fn named(path: &Path) {
    let header = r#"{"type":"session","version":3,"id":"kept","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/work/kept"}"#;
    let lines = include_str!("lines.jsonl");
    write(path, format!("{header}\n{lines}")).expect("a file can be written");
}

/// The directory of the sessions that are appended to. It exists on every machine, as `resume` requires.
const DIRECTORY: &str = "/usr/share";

/// A session that was made here.
fn live(store: &Store, family: Family, id: &str) {
    let mut new = NewSession::new(family, DIRECTORY);
    new.id = Some(id.to_owned());
    new.persistence = Some(Persistence::keep_everything());
    let mut session = store.create_session(&new).expect("a session can be made");
    for number in 0..4 {
        session.append(message(&format!("message {number} of {id}"))).expect("it takes an entry");
    }
}

fn message(text: &str) -> Draft {
    let message = serde_json::json!({"role": "user", "content": text});
    Draft::message(&message.to_string()).expect("it is a message")
}

/// No store yet.
pub fn no_store(_: &Program, folder: &Path) {
    remove_store(folder);
}

fn remove_store(folder: &Path) {
    for name in ["store.leafline", "store.leafline.journal"] {
        let path = folder.join(name);
        if path.exists() {
            std::fs::remove_file(path).expect("a file can be removed");
        }
    }
}

/// Files that have grown, one that was replaced, and a new one.
pub fn changed_files(_: &Program, folder: &Path) {
    let kept = |name: &str| folder.join("kept").join(name);
    let read = |name: &str| std::fs::read_to_string(kept(name)).expect("a file can be read");
    let mut grown = read("images.jsonl");
    for number in 0..6 {
        grown.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"grown{number}\",\"parentId\":null,\"timestamp\":\"2026-01-05T10:00:0{number}.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"grown {number}\"}}}}\n"
        ));
    }
    write(kept("images.jsonl"), grown).expect("a file can be written");
    let replaced =
        read("tree.jsonl").replacen("\"type\":\"session\"", "\"type\":\"session\",\"x\":1", 1);
    write(kept("tree.jsonl"), replaced).expect("a file can be written");
    std::fs::copy(folder.join("files/tree.jsonl"), kept("new.jsonl"))
        .expect("a file can be copied");
}

/// Files that have grown, one of them of a session that was changed in the store as well.
pub fn changed_on_both_sides(program: &Program, folder: &Path) {
    changed_files(program, folder);
    change_both_sides(program, folder, KEPT);
}

/// The same of a session whose file is where its program looks for it.
pub fn changed_in_its_program(program: &Program, folder: &Path) {
    run(program, folder, "export --to-source kept --json");
    run(program, folder, "sync home/.pi/agent/sessions --quiet");
    change_both_sides(program, folder, KEPT_AT_HOME);
}

fn change_both_sides(program: &Program, folder: &Path, file: &str) {
    let file = folder.join(file);
    let mut grown = std::fs::read_to_string(&file).expect("a file can be read");
    grown.push_str("{\"type\":\"message\",\"id\":\"grown\",\"parentId\":null,\"timestamp\":\"2026-01-05T10:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"grown\"}}\n");
    write(file, grown).expect("a file can be written");
    let entry = "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"own\"}}";
    run(program, folder, &format!("append kept {entry}"));
}

/// A journal as a killed process leaves it.
pub fn journal(_: &Program, folder: &Path) {
    let paths = ["store.leafline", "store.leafline.journal"].map(|name| folder.join(name));
    let store = open(&paths[0], Opening::ToWrite).expect("the store can be opened");
    let persistence = Persistence::keep_everything();
    let mut session = store.session("pi-live").expect("it is there").with_persistence(persistence);
    for number in 0..6 {
        session.append(message(&format!("in the journal {number}"))).expect("it takes an entry");
    }
    let left = paths.each_ref().map(|path| std::fs::read(path).expect("a file can be read"));
    drop(session);
    drop(store);
    for (path, bytes) in paths.iter().zip(left) {
        write(path, bytes).expect("a file can be written");
    }
}

/// Runs a command that must succeed.
fn run(program: &Program, folder: &Path, words: &str) {
    let ended = program.run(folder, &arguments(words, folder), Input::Whole(""), &Fault::No);
    assert!(ended.is_done(), "{words}: {}", ended.described());
}

/// A search index that has all sessions.
pub fn indexed(program: &Program, folder: &Path) {
    run(program, folder, "index");
}

/// A search index that lacks some.
pub fn half_indexed(program: &Program, folder: &Path) {
    run(program, folder, "index");
    run(program, folder, "import files --no-index --quiet");
}

/// A backup that lacks the last changes.
pub fn backed_up(program: &Program, folder: &Path) {
    run(program, folder, "backup saved.leafline");
    change(program, folder);
}

/// A folder of files that lacks the last changes.
pub fn exported(program: &Program, folder: &Path) {
    run(program, folder, "export --all -o out");
    change(program, folder);
    run(program, folder, "move omp-live /work/moved");
}

fn change(program: &Program, folder: &Path) {
    let entry = "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"late\"}}";
    run(program, folder, &format!("append pi-live {entry}"));
    run(program, folder, "import files/old.jsonl --no-index --quiet");
}

/// Space that a compaction gives back.
pub fn holes(program: &Program, folder: &Path) {
    run(program, folder, "import files --no-index --no-compact --quiet");
    run(program, folder, "rm --family omp --yes");
}

/// Settings of Claude Code's, with a hook of their user's.
pub fn settings(_: &Program, folder: &Path) {
    let claude = folder.join("home/.claude");
    std::fs::create_dir(&claude).expect("a folder can be made");
    let settings = concat!(
        "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"SessionEnd\": [\n      ",
        "{\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n    ]\n  }\n}\n"
    );
    write(claude.join("settings.json"), settings).expect("a file can be written");
}

/// The service and the hook that `keep on` puts in.
pub fn kept_on(program: &Program, folder: &Path) {
    settings(program, folder);
    run(program, folder, "keep on --manager systemd --yes");
    run(program, folder, "keep on --hook --yes");
}

/// Manual pages of another version, one of them.
pub fn old_pages(_: &Program, folder: &Path) {
    std::fs::create_dir(folder.join("out")).expect("a folder can be made");
    write(folder.join("out/leafline-ls.1"), ".TH old").expect("a file can be written");
}

/// A database of prompts, as omp has it.
pub fn omp_prompts(program: &Program, folder: &Path) {
    run(program, folder, "history export prompts.db");
    remove_store(folder);
    run(program, folder, "history add something\\_else");
}

/// Damage that leaves a store which can be opened and has a problem.
pub fn damaged(_: &Program, folder: &Path) {
    let path = folder.join("store.leafline");
    let whole = std::fs::read(&path).expect("a file can be read");
    for page in (1..whole.len() / 4096).rev() {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 60] ^= 4;
        write(&path, &bytes).expect("a file can be written");
        let Ok(store) = open(&path, Opening::ToRead) else { continue };
        let lists = store.sessions().is_ok() && store.history().recent(9).is_ok();
        if lists && store.verify().is_ok_and(|found| !found.problems.is_empty()) {
            return;
        }
    }
    panic!("no page of the store can be damaged");
}
