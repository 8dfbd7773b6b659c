//! Many processes at one store: eight keep it open and append, four come, append and go, three threads read, and others import,
//! sync, delete and compact.

mod changers;
mod people;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use leafline::live::Persistence;
use leafline::{Family, NewSession, Store};

use self::changers::Changes;
pub use self::changers::Compactions;
use self::people::{Append, Appended, Appender, Reads, Signs, Visitor, Visits};
use crate::answers::{Opening, open};
use crate::command::program::Program;

/// How many processes append and keep the store open: half of them to a session of their own, the others to one together.
pub const APPENDERS: usize = 8;

/// How many open the store, append a few entries and close it: half of them with the command, the others with the library, and
/// half to a session of their own.
pub const VISITORS: usize = 4;

/// Sessions: the first is shared.
const SESSIONS: usize = 1 + APPENDERS / 2 + VISITORS / 2;

/// How many threads read, each through a store of its own.
const READERS: usize = 3;

/// How much longer than the disk itself takes an append may take.
const MARGIN: Duration = Duration::from_millis(50);

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    /// How long each append took of those who keep the store open, from its line to its answer.
    pub appends: Vec<Duration>,
    /// Those among them that began while the large file was imported.
    pub beside_imports: Vec<Duration>,
    /// How long one write of 4,096 bytes in place and its `fdatasync` took.
    pub syncs: Vec<Duration>,
    /// How many appends took 50 ms longer than any of these writes, by cause: only because their process had no core for so long; or
    /// by what ran meanwhile, an import that was stopped, or else the last command. The first append of a process has the process
    /// begin and the store opened.
    pub late: BTreeMap<&'static str, u64>,
    /// How long each read took.
    pub reads: Vec<Duration>,
    /// How long each visit took, with opening the store and closing it.
    pub visits: Vec<Duration>,
    /// How many entries the visitors have appended.
    pub visited: u64,
    /// How many appends each of those has made who keep the store open.
    pub counts: Vec<usize>,
    /// How often the large file was imported, and for how long altogether.
    pub imports: (u64, Duration),
    /// How often the importing process was stopped within an import.
    pub stops: u64,
    /// Reads and appends that were begun and ended while it was stopped.
    pub within_stops: (u64, u64),
    /// What came of the compactions.
    pub compactions: Compactions,
    /// Files that have grown and were synced.
    pub synced: u64,
    /// What must not be.
    pub failures: Vec<String>,
}

/// Lets all of them work for so long, in a folder of its own below the given one. If no compaction succeeds meanwhile, that is a
/// failure: nothing was tried then.
///
/// # Errors
///
/// If there is no program.
///
/// # Panics
///
/// If the folder cannot be written.
pub fn run(time: Duration, program: Option<&Path>, folder: &Path) -> Result<Report, String> {
    let folder = tempfile::tempdir_in(folder).map_err(|error| error.to_string())?;
    let folder = folder.path();
    let program = Program::find(program, &folder.join("prints"))?;
    let path = folder.join("store.leafline");
    let sessions = begin(&path);
    let signs = Signs::default();
    let begun = Instant::now();
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let (signs, program) = (&signs, &program);
        let appenders: Vec<_> = (0..APPENDERS)
            .map(|number| {
                // Half of them share the first session.
                let session = sessions[(number + 1).saturating_sub(APPENDERS / 2)].clone();
                let appender = Appender { number, session };
                scope.spawn(move || appender.run(program, folder, signs))
            })
            .collect();
        let visitors: Vec<_> = (0..VISITORS)
            .map(|number| {
                let own = (number + 1).saturating_sub(VISITORS / 2);
                let session = if own == 0 { 0 } else { APPENDERS / 2 + own };
                let session = sessions[session].clone();
                let has_library = number % 2 == 1;
                let visitor = Visitor { number: APPENDERS + number, session, has_library };
                scope.spawn(move || visitor.run(program, folder, signs))
            })
            .collect();
        let readers: Vec<_> = (0..READERS)
            .map(|number| {
                let (path, sessions) = (&path, &sessions);
                scope.spawn(move || people::read(number, path, sessions, signs))
            })
            .collect();
        let syncer = scope.spawn(move || people::sync_bare(folder, signs));
        let changes = changers::run(program, folder, signs, begun + time);
        signs.end();
        let appended: Vec<Appended> = appenders.into_iter().map(joined).collect();
        let visits: Vec<Visits> = visitors.into_iter().map(joined).collect();
        let reads: Vec<Reads> = readers.into_iter().map(joined).collect();
        report.syncs = joined(syncer);
        judge(&mut report, &path, (appended, visits), reads, changes);
    });
    Ok(report)
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().expect("the thread does not panic")
}

/// Makes a store with a session for each who has one.
fn begin(path: &Path) -> Vec<String> {
    let store = Store::open(path).expect("a store can be made");
    let ids: Vec<String> = (0..SESSIONS).map(|number| format!("crowd-{number}")).collect();
    for id in &ids {
        let mut new = NewSession::new(Family::Pi, "/work/crowd");
        new.id = Some(id.clone());
        new.persistence = Some(Persistence::keep_everything());
        store.create_session(&new).expect("a session can be made");
    }
    ids
}

/// Adds up, and compares what the store has in the end with what was acknowledged.
fn judge(
    report: &mut Report,
    path: &Path,
    (mut appended, visits): (Vec<Appended>, Vec<Visits>),
    reads: Vec<Reads>,
    changes: Changes,
) {
    let imports: Vec<Span> = changes.imports().collect();
    report.imports = (imports.len() as u64, imports.iter().map(span).sum());
    report.stops = changes.stops.len() as u64;
    (report.compactions, report.synced) = (changes.compactions, changes.synced);
    report.failures.extend(changes.failures);
    let is_in = |spans: &[Span], begun: Instant, took: Duration| {
        spans.iter().any(|span| span.0 <= begun && begun + took <= span.1)
    };
    let limit = report.syncs.iter().max().copied().unwrap_or_default() + MARGIN;
    for appended in &appended {
        report.counts.push(appended.all.len());
        report.failures.extend(appended.failures.iter().cloned());
        for Append { begun, took, without_core, is_first, .. } in &appended.all {
            report.appends.push(*took);
            if *took > limit {
                let is_meanwhile = |span: &Span| span.0 < *begun + *took && *begun < span.1;
                let command = changes.commands.iter().rev().find(|(_, span)| is_meanwhile(span));
                let beside = match is_first {
                    _ if took.saturating_sub(*without_core) <= limit => "no core",
                    true => "the first of a process",
                    false if changes.stops.iter().any(is_meanwhile) => "an import that is stopped",
                    false => command.map_or("nothing", |command| command.0),
                };
                *report.late.entry(beside).or_default() += 1;
            }
            if imports.iter().any(|import| import.0 <= *begun && *begun < import.1) {
                report.beside_imports.push(*took);
            }
            report.within_stops.1 += u64::from(is_in(&changes.stops, *begun, *took));
        }
    }
    for reads in reads {
        report.failures.extend(reads.failures);
        for (begun, took) in reads.all {
            report.reads.push(took);
            report.within_stops.0 += u64::from(is_in(&changes.stops, begun, took));
        }
    }
    if report.counts.contains(&0) {
        report.failures.push(format!("one has appended nothing: {:?}", report.counts));
    }
    for Visits { all, appended: by_visits } in visits {
        if by_visits.all.is_empty() {
            report
                .failures
                .push(format!("a visitor of {} has appended nothing", by_visits.session));
        }
        report.visits.extend(all);
        report.visited += by_visits.all.len() as u64;
        report.failures.extend(by_visits.failures.iter().cloned());
        appended.push(by_visits);
    }
    if report.compactions.succeeded == 0 {
        report.failures.push(format!("no compaction succeeded: {:?}", report.compactions));
    }
    report.failures.extend(lost(path, &appended));
    let Report { appends, beside_imports, syncs, reads, visits, .. } = report;
    for times in [appends, beside_imports, syncs, reads, visits] {
        times.sort();
    }
}

/// A beginning and an end.
type Span = (Instant, Instant);

fn span((begun, ended): &Span) -> Duration {
    *ended - *begun
}

/// Acknowledged entries that are not there, or not in their order; and what `verify` finds.
fn lost(path: &Path, appended: &[Appended]) -> Vec<String> {
    let mut failures = Vec::new();
    let store = match open(path, Opening::ToWrite) {
        Ok(store) => store,
        Err(error) => return vec![format!("in the end the store cannot be opened: {error}")],
    };
    for one in appended {
        let mut ids = Vec::new();
        let read = store.reader(&one.session).and_then(|reader| {
            // Behind the header, which has an id, too.
            reader.lines(1, |entry| {
                ids.extend(entry.id());
                Ok(true)
            })
        });
        if let Err(error) = read {
            failures.push(format!("{}: {error}", one.session));
        }
        let mut there = ids.iter();
        for Append { id, .. } in &one.all {
            if !there.any(|other| other == id) {
                failures.push(format!("entry {id} of {} was acknowledged", one.session));
                break;
            }
        }
        let of_session = appended.iter().filter(|other| other.session == one.session);
        let expected: usize = of_session.map(|other| other.all.len()).sum();
        if ids.len() != expected {
            let (session, count) = (&one.session, ids.len());
            failures.push(format!("{session} has {count} entries, {expected} acknowledged"));
        }
    }
    match store.verify() {
        Ok(verification) => {
            failures.extend(verification.problems.iter().map(|problem| format!("{problem:?}")));
        }
        Err(error) => failures.push(error.to_string()),
    }
    failures
}

/// The share of sorted times that is given in thousandths.
#[must_use]
pub fn quantile(times: &[Duration], thousandths: usize) -> Duration {
    let last = times.len().saturating_sub(1);
    times.get(last * thousandths / 1000).copied().unwrap_or_default()
}
