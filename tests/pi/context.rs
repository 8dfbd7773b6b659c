//! The context at many entries of every file, byte for byte as `buildSessionContext` of each version of pi returns it, and
//! the request that pi makes of it.

use leafline::SessionReader;
use leafline::context::{ContextLeaf, ContextProgram, HistoryScope};
use leafline::import::Refusal;
use serde_json::{Value, json};

use super::edited::{damaged_session, edited_session};
use super::oracle::{Oracle, Version};
use super::place::{Place, corpus};
use super::{Case, cases, random_sessions, requests};

/// Entries of a session at which contexts are compared, besides the leaf, no entry, and a missing one.
const ENTRIES: usize = 20;

/// An id that no session has.
const NOWHERE: &str = "no entry has this id";

/// The queries to pi for one session.
struct Question {
    case: Case,
    place: Place,
    session: String,
    /// Our ids of all entries that have one.
    ids: Vec<Option<String>>,
    /// Ids of the entries at which contexts are compared.
    asked: Vec<String>,
}

impl Question {
    fn of(case: Case) -> Option<Self> {
        let place = Place::in_memory();
        let path = place.write("session.jsonl", &case.bytes);
        let options = leafline::import::ImportOptions {
            family: Some(leafline::Family::Pi),
            ..leafline::import::ImportOptions::default()
        };
        let report = place.import_with(&path, &options);
        if report.refusal == Some(Refusal::NotASession) {
            return None;
        }
        let session = report.session.unwrap();
        let reader = place.store.reader(&session).unwrap();
        let mut ids = Vec::new();
        reader
            .lines(0, |line| {
                ids.extend(line.kind().is_entry().then(|| line.id()));
                Ok(true)
            })
            .unwrap();
        let facts = reader.facts();
        drop(reader);
        if facts.imported_version == "1" && facts.types.iter().any(|lines| lines.name == "<scalar>")
        {
            // An array is in pi's chain of entries, and may be kept by a compaction. It is not in ours.
            return None;
        }
        // An id with a lone surrogate cannot be named.
        let named: Vec<&String> =
            ids.iter().flatten().filter(|id| !id.contains(char::REPLACEMENT_CHARACTER)).collect();
        let step = named.len().div_ceil(ENTRIES).max(1);
        let asked = named.iter().rev().step_by(step).map(|id| id.to_string()).collect();
        Some(Self { case, place, session, ids, asked })
    }

    /// The job in which pi opens a copy and returns the contexts.
    fn job(&self) -> String {
        let path = self.place.write("copy.jsonl", &self.case.bytes);
        let mut paths = vec![Value::Null, json!(NOWHERE)];
        paths.extend(self.asked.iter().map(|id| json!(id)));
        let mut job = json!({
            "op": "play",
            "file": path,
            "operations": [{"do": "observe", "paths": paths}],
        });
        // pi makes up ids for a file of version 1: it must use ours.
        let is_short = |id: &&String| {
            id.len() == 8 && id.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        };
        let short: Vec<&String> = self.ids.iter().flatten().filter(is_short).collect();
        if short.len() == self.ids.len() {
            job["ids"] = json!(short);
        }
        format!("{job}\n")
    }

    /// Compares the contexts and requests, and counts them; none if pi returns nothing.
    fn compare(&self, version: Version, answer: &Value, tally: &mut Compared) {
        let observed = &answer["results"][0]["observed"];
        let (Some(entries), Some(contexts)) =
            (observed["entries"].as_array(), observed["contexts"].as_array())
        else {
            println!("{}: pi does not tell: {}", self.case.name, excerpt(&answer.to_string()));
            tally.untold += 1;
            return;
        };
        let reader = self.place.store.reader(&self.session).unwrap();
        let mut compared = 0;
        let mut check = |leaf: ContextLeaf<'_>, theirs: &Value| {
            // pi would walk in a circle.
            if let Some(theirs) = theirs.as_str() {
                self.check(&reader, version, leaf, theirs);
                compared += 1;
            }
        };
        check(ContextLeaf::None, &contexts[0]);
        // Lines that are not objects are entries to pi, and lines to us: its last entry may be one of them.
        if entries.len() == self.ids.len() {
            check(ContextLeaf::Current, &observed["context"]);
            check(ContextLeaf::Entry(NOWHERE), &contexts[1]);
        }
        for (id, theirs) in self.asked.iter().zip(&contexts[2..]) {
            check(ContextLeaf::Entry(id), theirs);
        }
        let requests = observed["requests"].as_array().unwrap();
        for (id, theirs) in self.asked.iter().zip(&requests[2..]) {
            if let Some(theirs) = theirs.as_str() {
                self.check_request(&reader, version, ContextLeaf::Entry(id), theirs);
                tally.requests += 1;
            }
        }
        tally.contexts += compared;
        tally.untold += u32::from(compared == 0);
    }

    fn check_request(
        &self,
        reader: &SessionReader,
        version: Version,
        leaf: ContextLeaf<'_>,
        theirs: &str,
    ) {
        let program = ContextProgram { family: None, as_of: Some(version.name().parse().unwrap()) };
        let scope = HistoryScope::Context;
        let ours = reader.build_request(leaf, program, scope).unwrap().to_json();
        if version == Version::V1_6 {
            let newest = reader.build_request(leaf, ContextProgram::default(), scope).unwrap();
            assert_eq!(newest.to_json(), ours);
        }
        assert!(
            ours == theirs,
            "request of {version:?}, {}, {leaf:?}\nours:   {}\ntheirs: {}",
            self.case.name,
            excerpt(&ours),
            excerpt(theirs)
        );
        let mut written = Vec::new();
        let length = reader.write_request(leaf, program, scope, &mut written).unwrap();
        assert!(written == ours.as_bytes() && length == ours.len() as u64, "{}", self.case.name);
    }

    fn check(&self, reader: &SessionReader, version: Version, leaf: ContextLeaf<'_>, theirs: &str) {
        let program = ContextProgram { family: None, as_of: Some(version.name().parse().unwrap()) };
        let ours = reader.build_context(leaf, program).unwrap().to_json();
        if version == Version::V1_6 {
            // It is the newest one.
            assert_eq!(reader.build_context(leaf, None).unwrap().to_json(), ours);
        }
        assert!(
            ours == theirs,
            "{version:?}, {}, {leaf:?}\nours:   {}\ntheirs: {}",
            self.case.name,
            excerpt(&ours),
            excerpt(theirs)
        );
        let mut written = Vec::new();
        let length = reader.write_context(leaf, program, &mut written).unwrap();
        assert!(written == ours.as_bytes() && length == ours.len() as u64, "{}", self.case.name);
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(3000).collect()
}

/// Entries that give messages in ways that no real file shows.
fn odd_entries() -> Vec<Case> {
    let mut lines = vec![
        r#"{"type":"session","version":3,"id":"odd","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/w"}"#,
        r#"{"type":"custom_message","customType":"c","content":"x","display":true,"details":{"1":1.0,"a":null},"id":"a","parentId":null,"timestamp":"2026-03-01T08:00:01.5+01:00"}"#,
        r#"{"type":"custom_message","content":[],"id":"b","parentId":"a"}"#,
        r#"{"type":"custom_message","customType":null,"details":0,"id":"c","parentId":"b","timestamp":null}"#,
        r#"{"type":"branch_summary","summary":"s","id":"d","parentId":"c","timestamp":true}"#,
        r#"{"type":"branch_summary","summary":{"b":1},"fromId":7,"id":"e","parentId":"d","timestamp":1772352001000.7}"#,
        r#"{"type":"branch_summary","summary":0,"fromId":"a","id":"f","parentId":"e","timestamp":"yesterday"}"#,
        r#"{"type":"thinking_level_change","id":"g","parentId":"f"}"#,
        r#"{"type":"thinking_level_change","thinkingLevel":{"b":1.50,"\u0061":"\ud800"},"id":"h","parentId":"g"}"#,
        r#"{"type":"thinking_level_change","thinkingLevel":null,"id":"i","parentId":"h"}"#,
        r#"{"type":"model_change","id":"j","parentId":"i"}"#,
        r#"{"type":"model_change","provider":"p\/q","modelId":1e400,"id":"k","parentId":"j"}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[]},"id":"l","parentId":"k"}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[],"model":["m"]},"id":"m","parentId":"l"}"#,
        r#"{"type":"message","message":{"2":0,"role":"user","1":{},"role":"other"},"id":"n","parentId":"m"}"#,
        r#"{"type":"message","message":"text","id":"o","parentId":"n"}"#,
        r#"{"type":"compaction","firstKeptEntryId":"c","id":"p","parentId":"o","timestamp":{}}"#,
        r#"{"type":"compaction","summary":null,"tokensBefore":"many","firstKeptEntryId":7,"id":"q","parentId":"p","timestamp":-1.5}"#,
        r#"{"type":"compaction","summary":"s","tokensBefore":-0,"firstKeptEntryId":"\u0062","id":"r","parentId":"q","timestamp":9e15}"#,
        r#"{"type":"compaction","summary":"s","tokensBefore":1,"firstKeptEntryId":"r","id":"s","parentId":"r"}"#,
    ];
    let case = |name: &str, lines: &[&str]| Case {
        name: format!("odd entries, {name}"),
        bytes: lines.join("\n").into_bytes(),
    };
    let named = case("all with an id", &lines);
    lines.push(r#"{"type":"message","message":{"role":"user","content":"after"},"parentId":"r"}"#);
    let nameless = case("the leaf without an id", &lines);
    lines.push(r#"{"type":"compaction","id":7,"parentId":"o","timestamp":"2026-03"}"#);
    vec![named, nameless, case("the leaf with a number", &lines)]
}

/// What the contexts of many cases come to.
#[derive(Debug, Default)]
struct Compared {
    sessions: u32,
    contexts: usize,
    requests: usize,
    /// Sessions of which pi tells nothing.
    untold: u32,
}

/// Compares the contexts of each case with those of a version of pi.
fn compare(oracle: &Oracle, version: Version, cases: impl IntoIterator<Item = Case>) -> Compared {
    let mut compared = Compared::default();
    // A few at a time: each context of a large session is as large as the session.
    let mut questions = cases.into_iter().filter_map(Question::of).peekable();
    while questions.peek().is_some() {
        let some: Vec<Question> = questions.by_ref().take(40).collect();
        let answers = oracle.ask(&some.iter().map(Question::job).collect::<String>());
        assert_eq!(answers.len(), some.len(), "an answer a job");
        for (question, answer) in some.iter().zip(&answers) {
            question.compare(version, answer, &mut compared);
            compared.sessions += 1;
        }
    }
    compared
}

fn compare_all(version: Version) {
    let Some(oracle) = Oracle::find_version(version) else { return };
    let mut cases = cases();
    cases.extend(odd_entries());
    // omp's files are sessions to pi as well.
    for entry in
        corpus().into_iter().flat_map(|corpus| std::fs::read_dir(corpus.join("omp")).unwrap())
    {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        cases.push(Case { name: path.display().to_string(), bytes });
    }
    let compared = compare(&oracle, version, cases);
    println!("{version:?}: {compared:?}");
    assert!(compared.contexts > 1_500, "only {} contexts were compared", compared.contexts);
    assert!(compared.requests > 1_000, "only {} requests were compared", compared.requests);
    // What `serde_json` refuses, and what pi itself throws at.
    assert!(compared.untold < 5, "pi tells nothing of {} sessions", compared.untold);
}

/// A test a version, so that they run beside each other.
#[test]
fn contexts_are_those_of_pi_0_73() {
    compare_all(Version::V0_73);
}

#[test]
fn contexts_are_those_of_pi_0_87() {
    compare_all(Version::V0_87);
}

#[test]
fn contexts_are_those_of_pi_1_6() {
    compare_all(Version::V1_6);
}

#[test]
fn edited_contexts_are_those_of_pi() {
    for version in Version::ALL {
        let Some(oracle) = Oracle::find_version(version) else { return };
        let random = compare(&oracle, version, (0..random_sessions()).map(edited_session));
        println!("{version:?}, random: {random:?}");
        assert!(random.contexts > 600 && random.untold < 3, "{random:?}");
        let damaged = compare(&oracle, version, (0..random_sessions()).map(damaged_session));
        println!("{version:?}, damaged: {damaged:?}");
        assert!(damaged.contexts > 400, "{damaged:?}");
    }
}

#[test]
fn requests_are_those_of_pi() {
    for version in Version::ALL {
        let Some(oracle) = Oracle::find_version(version) else { return };
        let random = compare(&oracle, version, (0..random_sessions()).map(requests::session));
        println!("{version:?}, requests: {random:?}");
        assert!(random.requests > 400 && random.untold == 0, "{random:?}");
    }
}
