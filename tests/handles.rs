//! Handles that an agent keeps in its own structs, threads and async tasks.
//!
//! Guards against a handle that borrows from another one, or that cannot leave its thread: then no struct could own a
//! store together with a session of it, no thread and no task could be given a session, and code that worked in `main`
//! would not compile in a larger program. Guards also against a store that closes while one of its handles is alive,
//! and against a compaction while one is in use.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::pin::pin;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};

use leafline::compact::{CompactOptions, Compaction};
use leafline::context::ContextLeaf;
use leafline::error::{SessionError, StoreError};
use leafline::omp::OmpSession;
use leafline::prompts::PromptHistory;
use leafline::{
    Error, Family, NewSession, PausedReader, Session, SessionReader, Store, StoreOptions,
};
use place::Place;
use serde_json::{Value, json};

const APPENDS: usize = 20;

/// What a program can put into its own struct and move to a thread or a task.
fn is_owned<T: Send + 'static>() {}

/// What several threads can also use at once.
fn is_shared<T: Send + Sync + 'static>() {}

fn is_cloned<T: Clone>() {}

#[test]
fn handles_are_owned_and_leave_their_thread() {
    is_shared::<Store>();
    is_cloned::<Store>();
    is_shared::<Session>();
    is_shared::<PromptHistory>();
    is_owned::<SessionReader>();
    is_shared::<PausedReader>();
    #[cfg(feature = "search")]
    is_shared::<leafline::search::SearchIndex>();
    #[cfg(feature = "watch")]
    is_owned::<leafline::import::Watch>();
}

/// An agent in a program: everything in one value.
struct Agent {
    store: Store,
    session: Session,
}

impl Agent {
    fn new(store: &Store, cwd: &str) -> Self {
        let session = store.create_session(&NewSession::new(Family::Omp, cwd)).unwrap();
        Self { store: store.clone(), session }
    }

    fn ask(&mut self, text: &str) {
        self.session.append_message(&user(text)).unwrap();
        self.session.append_message(&assistant(text)).unwrap();
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

fn messages(reader: &SessionReader) -> usize {
    reader.build_context(ContextLeaf::Current, None).unwrap().messages.len()
}

#[test]
fn an_agent_works_in_a_thread_while_others_read() {
    let place = Place::new();
    let store = &place.store;
    let mut agent = Agent::new(store, "/work");
    agent.ask("first");
    let id = agent.session.id().to_owned();
    let before = store.reader(&id).unwrap();
    let (tell, told) = channel();
    let worker = std::thread::spawn(move || {
        for number in 0..APPENDS {
            agent.ask(&number.to_string());
            tell.send(number).unwrap();
        }
        assert_eq!(agent.store.sessions().unwrap().len(), 1);
        agent
    });
    for number in told {
        // Every reader sees what was reported to the agent as stored.
        let now = messages(&store.reader(&id).unwrap());
        assert!(now >= 2 * (number + 2), "{now} messages after {number}");
    }
    assert_eq!(messages(&before), 2, "a reader shows the moment at which it was made");
    let agent = worker.join().unwrap();
    assert_eq!(messages(&agent.session.reader().unwrap()), 2 * (APPENDS + 1));
    place.assert_sound();
}

#[test]
fn threads_share_clones_of_one_store() {
    let place = Place::new();
    let store = &place.store;
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            let store = store.clone();
            std::thread::spawn(move || {
                let mut agent = Agent::new(&store, &format!("/work/{worker}"));
                for number in 0..APPENDS {
                    agent.ask(&format!("{worker}: {number}"));
                }
                agent.session.id().to_owned()
            })
        })
        .collect();
    for worker in workers {
        let id = worker.join().unwrap();
        assert_eq!(messages(&store.reader(&id).unwrap()), 2 * APPENDS);
    }
    assert_eq!(store.sessions().unwrap().len(), 4);
    place.assert_sound();
}

#[test]
fn a_session_and_a_reader_outlive_the_variable_of_their_store() {
    let Place { folder: _folder, store } = Place::new();
    let path = store.path().to_owned();
    let Agent { store: clone, mut session } = Agent::new(&store, "/work");
    drop((store, clone));
    session.append_message(&user("one")).unwrap();
    session.append_message(&assistant("two")).unwrap();
    let id = session.id().to_owned();
    let reader = session.reader().unwrap();
    session.append_message(&user("three")).unwrap();
    drop(session);
    // Only the reader keeps the store open now.
    assert_eq!(messages(&reader), 2);
    drop(reader);
    let again = Store::open(path).unwrap();
    assert_eq!(messages(&again.reader(&id).unwrap()), 3);
}

#[test]
fn a_task_holds_a_session_over_its_waits() {
    /// What a runtime requires of a task that it may move between threads.
    fn run<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> T {
        let worker = std::thread::spawn(|| {
            let mut task = pin!(task);
            loop {
                let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                if let Poll::Ready(value) = polled {
                    return value;
                }
            }
        });
        worker.join().unwrap()
    }

    let store = Store::in_memory().unwrap();
    let mut agent = Agent::new(&store, "/work");
    let (read, agent) = run(async move {
        agent.ask("before");
        let reader = agent.session.reader().unwrap();
        std::future::ready(()).await;
        agent.ask("after");
        (messages(&reader), agent)
    });
    assert_eq!((read, messages(&agent.session.reader().unwrap())), (2, 4));
}

#[test]
fn a_store_is_compacted_by_its_only_handle() {
    let Place { folder: _folder, mut store } = Place::new();
    let mut agent = Agent::new(&store, "/work");
    agent.ask("first");
    let id = agent.session.id().to_owned();
    let in_use = |outcome: leafline::Result<Compaction>| {
        matches!(outcome, Err(Error::Store(StoreError::InUse { .. })))
    };
    assert!(in_use(store.compact()), "a clone and a session are there");
    let Agent { store: clone, session } = agent;
    drop(clone);
    assert!(in_use(store.compact()), "the session is there");
    let reader = session.reader().unwrap();
    drop(session);
    assert!(in_use(store.compact()), "a reader is there");
    assert_eq!(messages(&reader), 2);
    drop(reader);
    let compaction = store.compact().unwrap();
    assert!(!compaction.in_place && compaction.after > 0, "{compaction:?}");
    let mut session = store.session(&id).unwrap();
    // Within the file, a handle of its own disturbs nobody who is not in the middle of a read.
    let mut another = Store::open(store.path()).unwrap();
    assert!(in_use(another.compact()), "another open store is there");
    let in_place = CompactOptions { in_place: true, ..CompactOptions::default() };
    assert!(another.compact_with(&in_place).unwrap().in_place);
    drop(another);
    session.append_message(&user("second")).unwrap();
    assert_eq!(messages(&store.reader(&id).unwrap()), 3);
}

fn size(store: &Store) -> u64 {
    std::fs::metadata(store.path()).unwrap().len()
}

/// The bytes by which 50 commits of one short message each lengthen the store's file.
fn grown_by_commits(agent: &mut Agent) -> u64 {
    let before = size(&agent.store);
    for number in 0..50 {
        agent.session.append_message(&user(&number.to_string())).unwrap();
        // Reading folds the journal into the tables.
        agent.session.reader().unwrap();
    }
    size(&agent.store).saturating_sub(before)
}

/// More bytes than 50 small commits take while no reader holds space back.
const LITTLE: u64 = 1 << 20;

#[test]
fn a_paused_reader_holds_no_space_back() {
    let place = Place::new();
    let mut agent = Agent::new(&place.store, "/work");
    let mut quiet = Agent::new(&place.store, "/quiet");
    quiet.ask("first");
    agent.ask("first");
    let reader = quiet.session.reader().unwrap();
    let held = grown_by_commits(&mut agent);
    assert!(held > LITTLE && reader.growth().unwrap() == held, "{held} bytes are held back");
    let paused = reader.pause();
    // Two idle handles that have read: a read-only one, which folds the journal in memory, and a writable one.
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    let others = [
        Store::open_with(place.store.path(), &options).unwrap(),
        Store::open(place.store.path()).unwrap(),
    ];
    quiet.ask("second");
    for other in &others {
        assert_eq!(messages(&other.reader(quiet.session.id()).unwrap()), 4);
    }
    let grown = grown_by_commits(&mut agent);
    assert!(grown < LITTLE, "{grown} bytes");
    assert_eq!(messages(&paused.resume().unwrap()), 4);
    assert_eq!(messages(&others[0].reader(quiet.session.id()).unwrap()), 4);
    place.assert_sound();
}

#[test]
fn a_paused_reader_notices_changed_lines() {
    let place = Place::new();
    let mut agent = Agent::new(&place.store, "/work");
    agent.ask("first");
    let paused = agent.session.reader().unwrap().pause();
    let before = paused.resume().unwrap().line(1).unwrap().unwrap();
    agent.ask("second");
    let reader = paused.resume().unwrap();
    assert_eq!(reader.line(1).unwrap().unwrap().line(), before.line());
    assert_eq!(messages(&reader), 4);
    drop(reader);
    let rewritten = agent.session.rewrite_entries(|entry| {
        let line = String::from_utf8_lossy(entry.line()).into_owned();
        Ok(line.contains("first").then(|| line.replace("first", "other")))
    });
    assert_eq!(rewritten.unwrap(), 2);
    let error = paused.resume().unwrap_err();
    assert!(matches!(error, Error::Session(SessionError::Rewritten { .. })), "{error}");
    assert_eq!(error.code(), "SESSION_REWRITTEN");
    let paused = agent.session.reader().unwrap().pause();
    place.store.remove(agent.session.id()).unwrap();
    let error = paused.resume().unwrap_err();
    assert!(matches!(error, Error::Session(SessionError::NotFound { .. })), "{error}");
}
