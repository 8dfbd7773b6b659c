//! Paths and numbers that callers pass.
//!
//! Guards against a wrong path that only an observer hears of, relative paths that lead elsewhere once the process changes its
//! directory, and numbers that end the process because they are used as a size.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::io::Read;
use std::ops::Bound;
use std::path::Path;

use leafline::error::ImportError;
use leafline::export::ExportMode;
use leafline::files::SessionFiles;
use leafline::import::{ImportOptions, ImportTotals};
use leafline::list::{SessionFilter, SessionOrder};
use leafline::omp::{Breadcrumbs, OmpSession};
use leafline::page::PageLimit;
use leafline::storage::{
    FileSessionStorage, MemorySessionStorage, SessionStorage, StoreSessionStorage,
};
use leafline::usage::{UsageBy, UsageOptions};
use leafline::{Error, Family, NewSession, Result, Store, StoreOptions};
use place::Place;

const SESSION: &str = concat!(
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#,
    "\n",
);

/// The paths that a call could not read, its message, and its totals.
fn unreadable(imported: Result<ImportTotals>) -> (Vec<String>, String, ImportTotals) {
    let error = imported.unwrap_err();
    assert_eq!(error.code(), "IMPORT_UNREADABLE", "{error}");
    let message = error.to_string();
    let Error::Import(ImportError::Unreadable { reports, totals }) = error else { unreachable!() };
    (reports.iter().map(|report| report.path.display().to_string()).collect(), message, *totals)
}

#[test]
fn a_named_path_that_cannot_be_read_is_an_error_once_the_others_are_imported() {
    let place = Place::new();
    let session = place.write("s.jsonl", SESSION);
    let below_a_file = session.join("x");
    let too_long = place.path(&"x".repeat(300));
    let paths = [place.path("nope"), below_a_file, session, too_long];
    let wrong: Vec<String> = [0, 1, 3].map(|at: usize| paths[at].display().to_string()).into();
    let options = ImportOptions::default();
    for imported in
        [place.store.import(&paths, &options, &mut ()), place.store.sync(&paths, &options, &mut ())]
    {
        let (named, message, totals) = unreadable(imported);
        assert_eq!((&named, totals.failed), (&wrong, 3));
        assert!(wrong.iter().all(|path| message.contains(path.as_str())), "{message}");
    }
    assert_eq!(place.store.sessions().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_of_a_folder_that_cannot_be_read_is_reported_alone() {
    let place = Place::new();
    place.write("in/s.jsonl", SESSION);
    std::os::unix::fs::symlink("nowhere", place.path("in/x.jsonl")).unwrap();
    let options = ImportOptions::default();
    let totals = place.store.import(&[place.path("in")], &options, &mut ()).unwrap();
    assert_eq!((totals.imported, totals.failed), (1, 1));
    // The same file is an error if the caller names it.
    let link = place.path("in/x.jsonl");
    let named =
        unreadable(place.store.sync(&[place.path("in"), link.clone()], &options, &mut ())).0;
    assert!(named.contains(&link.display().to_string()));
}

struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the line is cut"))
    }
}

#[test]
fn a_stream_that_cannot_be_read_is_an_error() {
    let place = Place::new();
    let imported = place.store.import_from(&mut Failing, &ImportOptions::default(), &mut ());
    assert!(unreadable(imported).1.contains("the line is cut"));
}

#[test]
fn a_folder_of_blobs_must_be_there() {
    let place = Place::new();
    let session = place.write("s.jsonl", SESSION);
    for blobs in [place.path("nope"), session.clone()] {
        let options = ImportOptions { blobs: Some(blobs.clone()), ..ImportOptions::default() };
        let calls = [
            place.store.import(&[&session], &options, &mut ()),
            place.store.sync(&[&session], &options, &mut ()),
            place.store.import_from(&mut SESSION.as_bytes(), &options, &mut ()),
        ];
        for imported in calls {
            let error = imported.unwrap_err();
            assert!(matches!(&error, Error::File { path, .. } if *path == blobs), "{error}");
        }
    }
    assert!(place.store.sessions().unwrap().is_empty());
}

/// Nothing, more than there is room for, and the most.
const NUMBERS: [u64; 5] = [0, 1, 1_000_000_000_000, i64::MAX.unsigned_abs(), u64::MAX];

/// A store with the samples of pi, and one of its sessions.
fn samples() -> (Place, &'static str) {
    let place = Place::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    place.store.import(&[samples], &ImportOptions::default(), &mut ()).unwrap();
    (place, "019c6605")
}

#[test]
fn any_number_is_an_ordinal_or_a_limit_of_a_page() {
    let (place, id) = samples();
    let reader = place.store.reader(id).unwrap();
    let all = usize::try_from(reader.facts().entries).unwrap();
    let outline = reader.get_outline().unwrap();
    for number in NUMBERS {
        let size = usize::try_from(number).unwrap();
        for limit in [
            PageLimit { entries: size, ..PageLimit::default() },
            PageLimit { bytes: number, ..PageLimit::default() },
            PageLimit { entries: size, bytes: number },
        ] {
            assert!(!reader.entries(.., &limit).unwrap().entries.is_empty());
            assert!(!reader.path_backwards(None, &limit).unwrap().entries.is_empty());
            let around = reader.entries_around("588262d5", number, number, &limit).unwrap();
            assert!((1..=all).contains(&around.entries.len()));
        }
        let limit = PageLimit::default();
        reader.entries(number.., &limit).unwrap();
        reader.entries(..number, &limit).unwrap();
        reader.entries(..=number, &limit).unwrap();
        reader.entries((Bound::Excluded(number), Bound::Unbounded), &limit).unwrap();
        reader.path_backwards_from(number, &limit).unwrap();
        reader.lines(number, |_| Ok(true)).unwrap();
        assert_eq!(reader.line(number).unwrap().is_some(), number < 2);
        assert_eq!(reader.branch_leaf(number).is_ok(), number == 1);
        assert!(outline.segment_of(number).is_none() || number == 1);
        assert!(outline.end_through(number).is_none() || number == 1);
        assert!(!outline.leads_to(number, 0) && outline.label(number).is_none());
        assert_eq!(outline.records(number).count(), 0);
        assert_eq!(outline.children(size).is_empty(), size > 0 || outline.segments().len() == 1);
        let mut entries = reader.read_outline(&outline);
        entries.begin(size);
        assert!(entries.next_entry().unwrap().is_some() || size >= outline.segments().len());
        assert_eq!(entries.line(number).is_ok(), number < 2);
    }
}

#[test]
fn any_number_is_a_limit_or_a_time_of_a_list() {
    let (place, _) = samples();
    let all = place.store.sessions().unwrap().len();
    let files = SessionFiles::new([concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi")]);
    for number in NUMBERS {
        let limit = usize::try_from(number).unwrap();
        let expected = all.min(limit);
        assert_eq!(place.store.get_recent_sessions(limit).unwrap().len(), expected);
        assert_eq!(files.get_recent_sessions(limit).sessions.len(), expected);
        for order in [SessionOrder::Modified, SessionOrder::Title, SessionOrder::Size] {
            let limit = Some(limit);
            let filter = SessionFilter { order, limit, ..SessionFilter::default() };
            assert_eq!(place.store.list(&filter).unwrap().len(), expected);
            assert_eq!(files.list(&filter).sessions.len(), expected);
        }
        place.store.history().recent(limit).unwrap();
        place.store.history().search("text", limit).unwrap();
    }
    for time in [i64::MIN, -1, 0, 1_000_000_000_000, i64::MAX] {
        for (since, until) in [(Some(time), None), (None, Some(time)), (Some(time), Some(time))] {
            let filter = SessionFilter { since, until, ..SessionFilter::default() };
            place.store.list(&filter).unwrap();
            let options =
                UsageOptions { since, until, by: UsageBy::Day, ..UsageOptions::default() };
            place.store.usage(&options).unwrap();
        }
    }
}

#[cfg(feature = "search")]
#[test]
fn any_number_is_a_limit_or_a_time_of_a_search() {
    use leafline::search::{SearchIndex, SearchOrder, SearchQuery};

    let (place, _) = samples();
    let index = SearchIndex::open_or_create(&place.store).unwrap();
    index.update(|_| true).unwrap();
    let limited = |limit: u64, order: SearchOrder, (since, until): (Option<i64>, Option<i64>)| {
        let mut query = SearchQuery::new("the");
        query.limit = usize::try_from(limit).unwrap();
        (query.order, query.since, query.until) = (order, since, until);
        index.search(&query).unwrap().len()
    };
    for order in [SearchOrder::Best, SearchOrder::Newest] {
        let all = limited(100_000, order, (None, None));
        for number in NUMBERS {
            let found = limited(number, order, (None, None));
            assert_eq!(found, all.min(usize::try_from(number).unwrap()), "{number}");
            for time in [i64::MIN, 0, i64::MAX] {
                limited(number, order, (Some(time), None));
                limited(number, order, (None, Some(time)));
            }
        }
    }
}

#[test]
fn any_number_is_the_size_of_a_cache_or_a_bound_of_an_import() {
    let place = Place::new();
    let session = place.write("s.jsonl", SESSION);
    place.write("s/output.txt", "text");
    for number in NUMBERS {
        let path = place.path(&format!("{number}.leafline"));
        let options = StoreOptions {
            page_cache_bytes: usize::try_from(number).unwrap(),
            line_cache_bytes: number,
            ..StoreOptions::default()
        };
        let store = Store::open_with(path, &options).unwrap();
        let options = ImportOptions {
            longest_line: number,
            largest_file_beside: number,
            ..ImportOptions::default()
        };
        for totals in [
            store.import(&[&session], &options, &mut ()).unwrap(),
            store.sync(&[&session], &options, &mut ()).unwrap(),
        ] {
            assert_eq!((totals.failed > 0, totals.files), (number < 2, 1), "{number}");
        }
        let reader = store.reader("s");
        assert_eq!(reader.is_ok(), number > 1);
        assert!(reader.is_err() || reader.unwrap().line(0).unwrap().is_some());
    }
}

#[test]
fn any_number_is_a_length_of_a_slice() {
    let place = Place::new();
    let file = place.write("s.jsonl", SESSION);
    place.import(&file);
    let memory = MemorySessionStorage::new();
    memory.write(&file, SESSION.as_bytes()).unwrap();
    let storages: [&dyn SessionStorage; 3] =
        [&FileSessionStorage::new(), &memory, &StoreSessionStorage::new(place.store.clone())];
    for storage in storages {
        for number in NUMBERS {
            let (head, tail) = storage.read_slices(&file, number, number).unwrap();
            let expected = SESSION.len().min(usize::try_from(number).unwrap());
            assert_eq!((head.len(), tail.len()), (expected, expected), "{number}");
        }
    }
}

/// The files in a folder.
fn names_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// The only test that changes the directory, which is the whole process's; the others name no relative path.
#[test]
fn relative_paths_are_those_of_the_directory_in_which_they_were_given() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| {
        let project = folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(&project).unwrap();
        (project.to_str().unwrap().to_owned(), project)
    });
    std::env::set_current_dir(&one.1).unwrap();
    let store = Store::open("s.leafline").unwrap();
    assert_eq!(store.path(), one.1.join("s.leafline"));
    let cwd_of = |id: &str| store.reader(id).unwrap().facts().cwd.map(|cwd| cwd.to_string());

    // New sessions, and the one to continue.
    let first = store.create_session(&NewSession::new(Family::Pi, ".")).unwrap();
    assert_eq!(cwd_of(first.id()).as_deref(), Some(one.0.as_str()));
    let relative = NewSession::new(Family::Pi, ".");
    assert_eq!(store.continue_recent(&relative).unwrap().id(), first.id());
    std::env::set_current_dir(&other.1).unwrap();
    let second = store.continue_recent(&relative).unwrap();
    assert_ne!(second.id(), first.id());
    assert_eq!(cwd_of(second.id()).as_deref(), Some(other.0.as_str()));
    let fork = store.fork_from(first.id(), "../one//x/./").unwrap();
    assert_eq!(cwd_of(fork.id()), Some(format!("{}/x", one.0)));

    // Lists.
    let listed = |cwd: &str| store.list(&SessionFilter::of_cwd(cwd)).unwrap().len();
    for cwd in [".", "./", "../other", "../one/../other//."] {
        assert_eq!(listed(cwd), 1, "{cwd}");
    }
    for ending in ["", "/", "//", "/.", "/./"] {
        assert_eq!(listed(&format!("{}{ending}", one.0)), 1, "{ending}");
        assert_eq!(listed(&format!("/{}{ending}", one.0)), 1, "{ending}");
    }
    let below = SessionFilter { below: Some("/".into()), ..SessionFilter::default() };
    assert_eq!(store.list(&below).unwrap().len(), 3);
    assert_eq!(store.list(&SessionFilter { below: Some("..".into()), ..below }).unwrap().len(), 3);

    // Moves.
    store.move_session(second.id(), "a/").unwrap();
    assert_eq!(cwd_of(second.id()), Some(format!("{}/a", other.0)));
    assert_eq!(store.relocate("a", "./b/").unwrap(), 1);
    assert_eq!(cwd_of(second.id()), Some(format!("{}/b", other.0)));
    let mut omp = store.create_session(&NewSession::new(Family::Omp, "/")).unwrap();
    assert_eq!(cwd_of(omp.id()).as_deref(), Some("/"));
    omp.move_to("c").unwrap();
    assert_eq!(cwd_of(omp.id()), Some(format!("{}/c", other.0)));
    assert_eq!(omp.move_to("").unwrap_err().code(), "EMPTY_DIRECTORY");

    // Session files and breadcrumbs.
    std::fs::create_dir(folder.path().join("files")).unwrap();
    store.export_file(first.id(), &ExportMode::Current, Path::new("../files/x.jsonl")).unwrap();
    let files = SessionFiles::new(["../files"]);
    let breadcrumbs = Breadcrumbs::new("../crumbs").in_terminal(Some("terminal"));
    std::env::set_current_dir("/").unwrap();
    assert_eq!(files.list_all().sessions.len(), 1);
    assert!(breadcrumbs.write("/", &first).unwrap());
    assert!(folder.path().join("crumbs/terminal").is_file());
    std::env::set_current_dir(&other.1).unwrap();

    // What lies next to the store.
    #[cfg(feature = "search")]
    leafline::search::SearchIndex::open_or_create(&store).unwrap().update(|_| true).unwrap();
    omp.append_message(&serde_json::json!({"role": "user", "content": "Hello"})).unwrap();
    store.history().add("a prompt", Some(".")).unwrap();
    assert_eq!(store.history().recent(1).unwrap()[0].cwd.as_ref(), Some(&other.0));
    drop((first, second, fork, omp, store));
    let mut expected = vec!["s.leafline"];
    expected.extend(cfg!(feature = "search").then_some("s.leafline.search"));
    assert_eq!(names_in(&one.1), expected);
    assert_eq!(names_in(&other.1), [""; 0]);
}
