//! The document's own way to read a conversation, run in Python, gives the same order.
//!
//! It assumes that a line is a record, so lines that are not JSON are left out on both sides here: sessions are read
//! with [`Recovery::None`], and with the default if no line is malformed. It also assumes that parents never form a
//! loop (it would never return), and that no uuid is empty (it treats an empty one as missing). The leaf is that of the
//! summary on the first line, and the tip of its thread: if the file names none, or the conversation went on from
//! there, the document has no leaf, and only our conversation is compared.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use leafline::SessionReader;
use leafline::import::{ImportOptions, Recovery, Refusal};
use leafline_generate::Shape;
use serde_json::{Value, json};

use crate::corpus::files;
use crate::place::{Place, corpus};
use crate::random::damaged_file;
use crate::records::{file, path, summary, user};

/// Files up to this size are compared at each record, larger ones at a few.
const SMALL: u64 = 300 << 10;

/// The answers to jobs, in their order; `None` if there is no Python.
fn ask(jobs: &[Value]) -> Option<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/get_conversation.py");
    let child =
        Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("skipped: python3 is not installed");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    let jobs: String = jobs.iter().map(|job| format!("{job}\n")).collect();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(jobs.as_bytes()).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[derive(Default)]
struct Compared {
    files: u64,
    conversations: u64,
    leaves: u64,
    loops: u64,
}

impl Compared {
    fn compare(&mut self, reader: &SessionReader, answer: &Value, name: &Path) {
        let mut conversations = BTreeMap::new();
        for pair in answer["conversations"].as_array().unwrap() {
            let leaf = pair[0].as_str().unwrap();
            let Some(uuids) = pair[1].as_array() else {
                self.loops += 1;
                continue;
            };
            let uuids: Vec<String> =
                uuids.iter().map(|uuid| uuid.as_str().unwrap().to_owned()).collect();
            assert_eq!(path(reader, Some(leaf)), uuids, "{}, at {leaf}", name.display());
            self.conversations += 1;
            conversations.insert(leaf.to_owned(), uuids);
        }
        self.files += 1;
        let is_tip = |leaf: &str| {
            reader.facts().orphans == 0
                && conversations.values().all(|path| !path[..path.len() - 1].contains(&leaf.into()))
        };
        if let Some(summary) = answer["summary"].as_str()
            && let Some(conversation) = conversations.get(summary)
            && is_tip(summary)
            && reader.facts().summaries() == 1
            && !reader.get_entry(summary).unwrap().is_sidechain()
        {
            assert_eq!(&path(reader, None), conversation, "{}", name.display());
            self.leaves += 1;
        }
    }
}

trait Summaries {
    fn summaries(&self) -> u64;
}

impl Summaries for leafline::SessionFacts {
    /// The document has one summary.
    fn summaries(&self) -> u64 {
        self.types.iter().filter(|count| count.name == "summary").map(|count| count.lines).sum()
    }
}

fn generated(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut write = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        paths.push(path);
    };
    for seed in 0..3 {
        let mut bytes = Vec::new();
        let family = leafline_generate::Family::Claude;
        let shape = Shape { seed, bytes: 600_000, family, ..Shape::default() };
        leafline_generate::generate(&shape, &mut bytes).unwrap();
        write(format!("generated-{seed}.jsonl"), &bytes);
    }
    // As in the document: one summary, on the first line, and a leaf that is the tip of its thread.
    for tip in ["c", "d"] {
        let conversation = [user("a", ""), user("b", "a"), user("c", "b"), user("d", "b")];
        let file = file(&[&[summary(tip, "x")], &conversation[..]].concat());
        write(format!("documented-{tip}.jsonl"), &file);
    }
    for seed in 0..60 {
        write(format!("damaged-{seed}.jsonl"), &damaged_file(seed, 40));
    }
    paths
}

#[test]
fn conversations_are_the_documents() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = generated(folder.path());
    paths.extend(files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples/claude")));
    let generated = paths.len() as u64;
    paths.extend(corpus().into_iter().flat_map(|corpus| files(&corpus.join("claude"))));
    let place = Place::new();
    let mut jobs = Vec::new();
    let mut sessions = Vec::new();
    for path in &paths {
        let is_small = std::fs::metadata(path).unwrap().len() <= SMALL;
        let options = ImportOptions { recovery: Recovery::None, ..ImportOptions::default() };
        let report = place.import_with(path, &options);
        if report.refusal == Some(Refusal::NotASession) {
            println!("{}: {:?}", path.display(), report.reason);
            continue;
        }
        let session = report.session.unwrap();
        let leaves = if is_small {
            Value::Null
        } else {
            let reader = place.store.reader(&session).unwrap();
            let tree = reader.get_tree().unwrap();
            let some = tree.nodes().iter().step_by(97).filter_map(|node| node.id.clone());
            some.chain(reader.get_leaf_id().unwrap()).collect()
        };
        jobs.push(json!({"path": path, "leaves": leaves}));
        sessions.push((path, session));
    }
    let Some(answers) = ask(&jobs) else { return };
    let mut compared = Compared::default();
    let mut clean = 0;
    for ((path, session), answer) in sessions.iter().zip(&answers) {
        let reader = place.store.reader(session).unwrap();
        compared.compare(&reader, answer, path);
        if reader.facts().malformed == 0 {
            clean += 1;
            let read_as_usual = Place::new();
            let session = read_as_usual.import(path).session.unwrap();
            compared.compare(&read_as_usual.store.reader(&session).unwrap(), answer, path);
        }
    }
    println!(
        "{} files, {} of them without malformed lines; {} conversations, {} leaves; {} loops left out",
        sessions.len(),
        clean,
        compared.conversations,
        compared.leaves,
        compared.loops
    );
    let corpus_files = sessions.len() as u64 - generated.min(sessions.len() as u64);
    assert!(sessions.len() as u64 >= generated && (corpus().is_none() || corpus_files >= 45));
    assert!(compared.files > 60 && compared.conversations > 2_000 && clean > 3);
    assert!(compared.leaves > 0 && compared.loops > 0);
}
