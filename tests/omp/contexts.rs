//! Contexts at many entries of every session, byte for byte as omp's `buildSessionContext` gives them, and the requests that
//! omp makes of them.

use std::collections::BTreeMap;

use leafline::context::{ContextLeaf, ContextProgram, HistoryScope, ProgramVersion};
use leafline::import::{ImportOptions, Refusal};
use leafline::{Family, SessionReader, Store};
use leafline_judges::{Script, digest, hangs, keep_answers};
use serde_json::{Value, json};

use super::judge::{omp, omp_14};
use super::place::{Reports, corpus};
use super::{Case, cases, damage, is_full, requests, trees};

/// The version of omp that is asked.
const TODAY: ProgramVersion = ProgramVersion::new(18, 2, 3);

/// Entries of a session at which contexts are compared.
const ENTRIES: usize = 12;

/// Random sessions, and as many damaged ones.
const REDUCED: u64 = 150;
const FULL: u64 = 2_000;

/// What is asked of omp for one session.
pub(crate) struct Question {
    name: String,
    text: String,
    store: Store,
    session: String,
    /// Our ids of all entries, where they have one.
    ids: Vec<Option<String>>,
    /// Ids of the entries at which contexts are compared.
    asked: Vec<String>,
    /// The version of omp that is asked, if it is not today's.
    as_of: Option<ProgramVersion>,
}

/// What came of comparisons.
#[derive(Default)]
pub(crate) struct Tally {
    contexts: usize,
    equal: usize,
    requests: usize,
    /// omp refuses the file, or throws.
    untold: usize,
    /// Damaged files that omp does not survive.
    hanging: usize,
    /// Sessions of which omp reads other entries.
    other_entries: usize,
    differences: Vec<String>,
    /// The digest of what omp answered, for each session of which it tells all contexts.
    answers: Vec<String>,
    /// The same of the requests.
    request_answers: Vec<String>,
}

impl Question {
    /// `None` if the file holds no session.
    pub(crate) fn of(case: Case) -> Option<Self> {
        let Case { name, text } = case;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        std::fs::write(&path, &text).unwrap();
        let options = ImportOptions { family: Some(Family::Omp), ..ImportOptions::default() };
        let store = Store::in_memory().unwrap();
        let mut reports = Reports::default();
        store.import(&[path], &options, &mut reports).unwrap();
        let report = reports.0.remove(0);
        if report.refusal == Some(Refusal::NotASession) {
            return None;
        }
        let session = report.session.unwrap();
        let reader = store.reader(&session).unwrap();
        let mut ids = Vec::new();
        reader
            .lines(0, |line| {
                ids.extend(line.kind().is_entry().then(|| line.id()));
                Ok(true)
            })
            .unwrap();
        drop(reader);
        let named: Vec<&String> =
            ids.iter().flatten().filter(|id| !id.contains(char::REPLACEMENT_CHARACTER)).collect();
        let step = named.len().div_ceil(ENTRIES).max(1);
        let asked = named.iter().rev().step_by(step).map(|id| id.to_string()).collect();
        Some(Self { name, text, store, session, ids, asked, as_of: Some(TODAY) })
    }

    /// The same, for omp 14.9.9.
    fn of_14(case: Case) -> Option<Self> {
        let as_of = Some("14.9.9".parse().unwrap());
        Some(Self { as_of, ..Self::of(case)? })
    }

    fn job(&self) -> Value {
        json!({"op": "context", "name": self.name, "text": self.text, "leaves": self.asked})
    }

    pub(crate) fn reader(&self) -> SessionReader {
        self.store.reader(&self.session).unwrap()
    }

    /// The contexts at the leaf and at the entries that are asked for.
    fn ours(&self) -> Vec<String> {
        let reader = self.reader();
        let leaves = self.asked.iter().map(|id| ContextLeaf::Entry(id));
        let leaves = std::iter::once(ContextLeaf::Current).chain(leaves);
        let program = ContextProgram { family: None, as_of: self.as_of };
        leaves.map(|leaf| reader.build_context(leaf, program).unwrap().to_json()).collect()
    }

    /// Compares the requests at the entries that are asked for.
    fn compare_requests(&self, answer: &Value, tally: &mut Tally) {
        let theirs: Vec<Option<&str>> = answer["requests"]
            .as_array()
            .unwrap()
            .iter()
            .map(|told| told.as_str().filter(|it| is_told(it)))
            .collect();
        for ((id, ours), theirs) in self.asked.iter().zip(self.our_requests()).zip(&theirs) {
            let Some(theirs) = theirs else { continue };
            tally.requests += 1;
            if ours != *theirs {
                let name = format!("request of {}, {id}", self.name);
                tally.differences.push(difference(&name, &ours, theirs));
            }
        }
        if theirs.iter().all(Option::is_some) {
            let theirs: Vec<String> = theirs.into_iter().flatten().map(str::to_owned).collect();
            tally.request_answers.push(format!("{} {}\n", digest(&theirs.join("\n")), self.name));
        }
    }

    /// The requests at the entries that are asked for.
    fn our_requests(&self) -> Vec<String> {
        let reader = self.reader();
        let program = ContextProgram { family: None, as_of: self.as_of };
        let request = |id: &String| {
            let (leaf, scope) = (ContextLeaf::Entry(id), HistoryScope::Context);
            let request = reader.build_request(leaf, program, scope).unwrap().to_json();
            let mut written = Vec::new();
            reader.write_request(leaf, program, scope, &mut written).unwrap();
            assert!(written == request.as_bytes(), "{}, {id}", self.name);
            request
        };
        self.asked.iter().map(request).collect()
    }

    fn compare(&self, answer: &Value, tally: &mut Tally) {
        if hangs(answer) {
            tally.hanging += 1;
            assert!(self.name.starts_with("damaged"), "{}: {answer}", self.name);
            return;
        }
        if answer["ok"] != true {
            tally.untold += 1;
            return;
        }
        let theirs: Vec<Option<&str>> =
            answer["entries"].as_array().unwrap().iter().map(Value::as_str).collect();
        let ours: Vec<Option<&str>> = self.ids.iter().map(Option::as_deref).collect();
        if ours != theirs {
            tally.other_entries += 1;
            return;
        }
        let name = self.reader().facts().title;
        // A list shows the short summary of a compaction where there is no name (see `listing.rs`).
        let may_be_spare = answer["name"].is_null() && self.text.contains("shortSummary");
        if self.as_of == Some(TODAY) && !may_be_spare && json!(name) != answer["name"] {
            let name = format!("{}: the name is {name:?} here, and {}", self.name, answer["name"]);
            tally.differences.push(name);
        }
        let theirs: Vec<Option<&str>> = std::iter::once(&answer["context"])
            .chain(answer["contexts"].as_array().unwrap())
            .map(Value::as_str)
            .map(|told| told.filter(|it| is_told(it)))
            .collect();
        self.compare_requests(answer, tally);
        let ours = self.ours();
        assert_eq!(ours.len(), theirs.len());
        for (place, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let Some(theirs) = theirs else {
                tally.untold += 1;
                continue;
            };
            tally.contexts += 1;
            if ours == theirs {
                tally.equal += 1;
            } else {
                let at = place.checked_sub(1).map(|place| &self.asked[place]);
                tally.differences.push(difference(&format!("{}, {at:?}", self.name), ours, theirs));
            }
        }
        if theirs.iter().all(Option::is_some) {
            let theirs: Vec<String> = theirs.into_iter().flatten().map(str::to_owned).collect();
            tally.answers.push(format!("{} {}\n", digest(&theirs.join("\n")), self.name));
        }
    }
}

/// omp makes a model's name of what a damaged message lacks; here it has none.
fn is_told(told: &str) -> bool {
    !told.contains("\"undefined/") && !told.contains("/undefined\"")
}

fn difference(name: &str, ours: &str, theirs: &str) -> String {
    let same = ours.bytes().zip(theirs.bytes()).take_while(|(one, other)| one == other).count();
    let excerpt = |text: &str| {
        let text = &text.as_bytes()[same.saturating_sub(60)..];
        String::from_utf8_lossy(&text[..text.len().min(400)]).into_owned()
    };
    format!("{name}\n  ours {}\n  omp  {}\n", excerpt(ours), excerpt(theirs))
}

fn compare(judge: &Script, questions: impl Iterator<Item = Question>) -> Tally {
    let mut tally = Tally::default();
    let mut questions = questions.peekable();
    while questions.peek().is_some() {
        let some: Vec<Question> = questions.by_ref().take(100).collect();
        let jobs: Vec<Value> = some.iter().map(Question::job).collect();
        for (question, answer) in some.iter().zip(judge.ask(&jobs)) {
            question.compare(&answer, &mut tally);
        }
    }
    println!(
        "{} contexts compared with omp, {} equal, and {} requests; {} untold; {} sessions with other entries; omp does not survive {}",
        tally.contexts,
        tally.equal,
        tally.requests,
        tally.untold,
        tally.other_entries,
        tally.hanging
    );
    tally
}

/// Asserts that all contexts are omp's, and that so many were compared.
pub(crate) fn assert_equal(
    judge: &Script,
    cases: impl Iterator<Item = Case>,
    at_least: usize,
) -> Tally {
    assert_same(judge, cases.filter_map(Question::of), at_least)
}

fn assert_same(
    judge: &Script,
    questions: impl Iterator<Item = Question>,
    at_least: usize,
) -> Tally {
    let tally = compare(judge, questions);
    let shown: String = tally.differences.iter().take(12).cloned().collect();
    assert!(tally.differences.is_empty(), "{} differ\n{shown}", tally.differences.len());
    assert!(tally.contexts >= at_least, "only {} contexts were compared", tally.contexts);
    tally
}

/// Adds what omp answered to the file that the variable names.
fn keep(tally: &Tally) {
    keep_answers("LEAFLINE_OMP_ANSWERS", &tally.answers.concat());
}

/// What omp 18.2.3 said of the cases, as digests: for those who do not have it at hand.
const ANSWERS: &str = include_str!("answers.txt");

/// What omp 14.9.9 said of them.
const ANSWERS_OF_14: &str = include_str!("answers-14.txt");

/// The requests of omp 18.2.3.
const REQUESTS: &str = include_str!("requests.txt");

/// The digests by the names of the cases.
fn by_name(answers: &str) -> BTreeMap<&str, &str> {
    let mut by_name = BTreeMap::new();
    for line in answers.lines() {
        let (digest, name) = line.split_once(' ').unwrap();
        assert!(by_name.insert(name, digest).is_none(), "{name} is there twice");
    }
    by_name
}

#[test]
fn answers_that_omp_gave() {
    let mut answers = by_name(ANSWERS);
    let random = (0..REDUCED).map(trees::case).chain((0..REDUCED).map(damage::case));
    for question in cases::all().into_iter().chain(random).filter_map(Question::of) {
        if let Some(theirs) = answers.remove(&*question.name) {
            let ours = question.ours();
            assert_eq!(digest(&ours.join("\n")), theirs, "{}\n{ours:#?}", question.name);
        }
    }
    assert!(answers.is_empty(), "{answers:?}");
}

#[test]
fn answers_that_omp_14_gave() {
    let mut answers = by_name(ANSWERS_OF_14);
    assert!(answers.len() > 150, "only {} sessions are there", answers.len());
    for question in cases_of_14(REDUCED).filter_map(Question::of_14) {
        if let Some(theirs) = answers.remove(&*question.name) {
            let ours = question.ours();
            assert_eq!(digest(&ours.join("\n")), theirs, "{}\n{ours:#?}", question.name);
        }
    }
    assert!(answers.is_empty(), "{answers:?}");
}

/// All kinds of sessions, of the random ones so many of each kind.
fn cases_of_14(random: u64) -> impl Iterator<Item = Case> {
    let random = (0..random).map(trees::case).chain((0..random).map(damage::case));
    cases::all().into_iter().chain(random)
}

/// By the rules of omp 14.9.9: `context --as-of 14`.
#[test]
fn sessions_as_of_omp_14() {
    let Some(judge) = omp_14() else { return };
    let sessions = if is_full() { FULL } else { REDUCED };
    let questions = cases_of_14(sessions).filter_map(Question::of_14);
    let tally = assert_same(&judge, questions, 2 * usize::try_from(sessions).unwrap());
    keep_answers("LEAFLINE_OMP_14_ANSWERS", &tally.answers.concat());
}

#[test]
fn requests_that_omp_made() {
    let mut answers = by_name(REQUESTS);
    assert!(answers.len() > 100, "only {} sessions are there", answers.len());
    for question in (0..REDUCED).map(requests::case).filter_map(Question::of) {
        if let Some(theirs) = answers.remove(&*question.name) {
            let ours = question.our_requests();
            assert_eq!(digest(&ours.join("\n")), theirs, "{}\n{ours:#?}", question.name);
        }
    }
    assert!(answers.is_empty(), "{answers:?}");
}

#[test]
fn cases_by_hand() {
    let Some(judge) = omp() else { return };
    keep(&assert_equal(&judge, cases::all().into_iter(), 20));
}

#[test]
fn sessions_of_the_corpus() {
    let (Some(judge), Some(corpus)) = (omp(), corpus()) else { return };
    let files = std::fs::read_dir(corpus.join("omp")).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        Case { name: path.display().to_string(), text }
    });
    assert_equal(&judge, files, 1);
}

#[test]
fn sessions_at_random() {
    let Some(judge) = omp() else { return };
    let sessions = if is_full() { FULL } else { REDUCED };
    let least = usize::try_from(sessions).unwrap();
    keep(&assert_equal(&judge, (0..sessions).map(trees::case), 4 * least));
}

#[test]
fn damaged_sessions() {
    let Some(judge) = omp() else { return };
    let sessions = if is_full() { FULL } else { REDUCED };
    let least = usize::try_from(sessions).unwrap();
    keep(&assert_equal(&judge, (0..sessions).map(damage::case), 2 * least));
}

#[test]
fn requests_at_random() {
    let Some(judge) = omp() else { return };
    let sessions = if is_full() { FULL } else { REDUCED };
    let least = usize::try_from(sessions).unwrap();
    let tally = assert_equal(&judge, (0..sessions).map(requests::case), 4 * least);
    keep_answers("LEAFLINE_OMP_REQUESTS", &tally.request_answers.concat());
    assert!(tally.requests > 4 * least, "only {} requests were compared", tally.requests);
}
