//! What a parent and the processes that it forks do.

use std::fs::{File, OpenOptions};
use std::io::{Write as _, stdout};
use std::os::unix::process::parent_id;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::time::Duration;

use fastrand::Rng;
use fork::{Fork, fork, waitpid};
use leafline::error::{Error, StoreError};
use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::prompts::PromptHistory;
use leafline::{Family, NewSession, Result, Session, SessionReader, Store};
use serde_json::json;

use super::{LOG, LONGEST, SESSION, STORE};

/// How often to look whether a parent has ended.
const PAUSE: Duration = Duration::from_millis(1);

/// How a store comes to a child, and how parent and child end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// A child calls everything that it has inherited, and ends in one way or another, while the parent goes on.
    Inherited,
    /// A pool appends to one session, as its parent does, each through a store of its own.
    Pool,
    /// A parent that only prepares, and workers of which one ends and is replaced.
    Preforking,
    /// The parent closes the store and ends before its child.
    Daemon,
    /// Two threads of the parent append until it is killed, and the child goes on.
    Orphan,
}

impl Case {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Inherited, Self::Pool, Self::Preforking, Self::Daemon, Self::Orphan];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Inherited => "inherited",
            Self::Pool => "pool",
            Self::Preforking => "preforking",
            Self::Daemon => "daemon",
            Self::Orphan => "orphan",
        }
    }

    /// Whether its parent appends until it is killed.
    pub(super) fn is_killed(self) -> bool {
        self == Self::Orphan
    }
}

/// Plays the parent of a case. It is the whole work of a process.
///
/// # Panics
///
/// If the case is unknown, or its folder has no store.
pub fn work(case: &str, seed: u64, folder: &Path) {
    let case = Case::ALL.into_iter().find(|known| known.name() == case).expect("a known case");
    let log = OpenOptions::new().create(true).append(true).open(folder.join(LOG));
    let path = folder.join(STORE);
    let log = log.expect("the folder can be written");
    let scene = Scene { path, log, random: Rng::with_seed(seed) };
    let held = Held::open(&scene.path).expect("the store can be opened");
    match case {
        Case::Inherited => scene.inherited(held),
        Case::Pool => scene.pool(held),
        Case::Preforking => scene.preforking(held),
        Case::Daemon => scene.daemon(held),
        Case::Orphan => scene.orphan(held),
    }
}

/// What a process has of a store.
struct Held {
    store: Store,
    session: Session,
    reader: SessionReader,
    history: PromptHistory,
    memory: Store,
}

impl Held {
    fn open(path: &Path) -> Result<Self> {
        let store = Store::open(path)?;
        let history = store.history();
        // Its thread is not there in a child.
        history.add_async("prompt", None);
        history.flush()?;
        Ok(Self {
            session: store.session(SESSION)?,
            reader: store.reader(SESSION)?,
            memory: Store::in_memory()?,
            history,
            store,
        })
    }
}

struct Scene {
    path: PathBuf,
    log: File,
    random: Rng,
}

impl Scene {
    /// Says something to the judge, in one piece.
    fn say(&self, kind: &str, what: &str) {
        let line = format!("{kind} {}\n", what.replace('\n', " "));
        (&self.log).write_all(line.as_bytes()).expect("the folder can be written");
    }

    fn append(&self, session: &mut Session, count: usize) {
        for number in 0..count {
            let text = format!("{number} of process {}", std::process::id());
            match session.append_message(&message(&text)) {
                Ok(id) => self.say("appended", &id),
                Err(error) => return self.say("failed", &format!("an append: {error}")),
            }
        }
    }

    /// Appends through a store that this process opens itself.
    fn append_anew(&self, count: usize) {
        match Store::open(&self.path).and_then(|store| store.session(SESSION)) {
            Ok(mut session) => self.append(&mut session, count),
            Err(error) => self.say("failed", &format!("opening the store anew: {error}")),
        }
    }

    /// Forks a process that does something with what it inherits, and ends. Returns its number to the parent.
    fn fork(&mut self, mut held: Held, child: impl FnOnce(&mut Self, &mut Held)) -> (i32, Held) {
        let seed = self.random.u64(..);
        match fork().expect("the system gives a process") {
            Fork::Parent(process) => (process, held),
            Fork::Child => {
                self.random = Rng::with_seed(seed);
                if catch_unwind(AssertUnwindSafe(|| child(self, &mut held))).is_err() {
                    self.say("failed", "the child panicked");
                }
                // What is not dropped ends with the process.
                if self.random.bool() {
                    drop(held);
                }
                exit(0)
            }
        }
    }

    fn wait_for(&self, children: &[i32]) {
        for child in children {
            match waitpid(*child) {
                Ok(0) => {}
                ended => self.say("failed", &format!("a child ended with {ended:?}")),
            }
        }
    }

    fn inherited(mut self, mut held: Held) {
        let before = self.random.usize(..4);
        self.append(&mut held.session, before);
        let (child, mut held) = self.fork(held, |scene, held| {
            scene.call_all(held);
            scene.find_in_use();
        });
        let (beside, afterwards) = (self.random.usize(..20), self.random.usize(1..4));
        self.append(&mut held.session, beside);
        self.wait_for(&[child]);
        self.append(&mut held.session, afterwards);
    }

    fn pool(mut self, mut held: Held) {
        let before = self.random.usize(..4);
        self.append(&mut held.session, before);
        let mut children = Vec::new();
        for _ in 0..4 {
            let (child, kept) = self.fork(held, |scene, held| {
                scene.call_one(held);
                let count = scene.random.usize(1..20);
                scene.append_anew(count);
            });
            held = kept;
            children.push(child);
        }
        let beside = self.random.usize(..20);
        self.append(&mut held.session, beside);
        self.wait_for(&children);
    }

    fn preforking(mut self, mut held: Held) {
        let before = self.random.usize(..4);
        self.append(&mut held.session, before);
        let work = |scene: &mut Self, _: &mut Held| {
            for _ in 0..3 {
                let count = scene.random.usize(1..6);
                scene.append_anew(count);
            }
        };
        let mut children = Vec::new();
        for _ in 0..3 {
            let (child, kept) = self.fork(held, work);
            held = kept;
            children.push(child);
        }
        self.wait_for(&[children.remove(0)]);
        let (replacement, held) = self.fork(held, work);
        children.push(replacement);
        if self.random.bool() {
            drop(held);
        }
        self.wait_for(&children);
    }

    fn daemon(mut self, mut held: Held) {
        let (parent, before) = (std::process::id(), self.random.usize(..4));
        self.append(&mut held.session, before);
        self.fork(held, |scene, held| {
            wait_for_end_of(parent);
            // As daemons do, it forks once more.
            match fork().expect("the system gives a process") {
                Fork::Parent(child) => scene.wait_for(&[child]),
                Fork::Child => {
                    scene.call_one(held);
                    let count = scene.random.usize(1..20);
                    scene.append_anew(count);
                }
            }
        });
    }

    fn orphan(mut self, held: Held) {
        for _ in 0..2 {
            let (path, log) = (self.path.clone(), self.log.try_clone().expect("the log is open"));
            let store = held.store.clone();
            let scene = Self { path, log, random: self.random.fork() };
            std::thread::spawn(move || match store.session(SESSION) {
                Ok(mut session) => scene.append(&mut session, usize::MAX),
                Err(error) => scene.say("failed", &error.to_string()),
            });
        }
        std::thread::sleep(Duration::from_micros(self.random.u64(..LONGEST)));
        let parent = std::process::id();
        let (_, _held) = self.fork(held, |scene, held| {
            wait_for_end_of(parent);
            if scene.random.bool() {
                scene.call_one(held);
            }
            let count = scene.random.usize(1..20);
            scene.append_anew(count);
        });
        // From now on the judge kills this process.
        stdout().write_all(b".").and_then(|()| stdout().flush()).expect("the judge reads");
        loop {
            std::thread::park();
        }
    }

    /// Expects that a call of an inherited handle fails, and says why.
    fn expect_refusal<T: std::fmt::Debug>(&self, call: &str, result: Result<T>) {
        match result {
            Err(Error::Store(StoreError::Inherited { .. })) => self.say("refused", call),
            other => self.say("failed", &format!("{call} of an inherited handle: {other:?}")),
        }
    }

    fn call_one(&self, held: &mut Held) {
        self.expect_refusal("append", held.session.append_message(&message("inherited")));
    }

    fn call_all(&self, held: &mut Held) {
        self.call_one(held);
        let Held { store, session, reader, history, memory } = held;
        self.expect_refusal("reset_leaf", session.reset_leaf());
        self.expect_refusal("session.reader", session.reader());
        self.expect_refusal("sessions", store.sessions());
        self.expect_refusal("session", store.session(SESSION));
        self.expect_refusal("reader", store.reader(SESSION));
        let new = NewSession::new(Family::Opal, "/work");
        self.expect_refusal("create_session", store.create_session(&new));
        self.expect_refusal("fork_from", store.fork_from(SESSION, "/work"));
        self.expect_refusal("remove", store.remove(SESSION));
        let nothing: &[&Path] = &[];
        let options = ImportOptions::default();
        self.expect_refusal("import", store.import(nothing, &options, &mut ()));
        self.expect_refusal("sync", store.sync(nothing, &options, &mut ()));
        self.expect_refusal("put_blob", store.put_blob(b"blob"));
        self.expect_refusal("statistics", store.statistics());
        self.expect_refusal("verify", store.verify());
        self.expect_refusal("compact", store.compact());
        self.expect_refusal("give_back", store.give_back());
        self.expect_refusal("header", reader.get_header());
        self.expect_refusal("lines", reader.lines(0, |_| Ok(true)));
        self.expect_refusal("export", reader.export(&ExportMode::Current, &mut Vec::new()));
        self.expect_refusal("add", history.add("prompt", None));
        self.expect_refusal("recent", history.recent(1));
        history.add_async("another prompt", None);
        self.expect_refusal("flush", history.flush());
        self.expect_refusal("sessions in memory", memory.sessions());
    }

    /// Expects that the parent has the store open, whatever this process did to what it inherited.
    fn find_in_use(&self) {
        let compacted = Store::open(&self.path).and_then(|mut store| store.compact());
        if !matches!(compacted, Err(Error::Store(StoreError::InUse { .. }))) {
            self.say("failed", &format!("nobody has the store open: {compacted:?}"));
        }
    }
}

fn message(text: &str) -> serde_json::Value {
    json!({"role": "user", "content": text, "timestamp": 1})
}

/// Waits until the parent of this process has ended.
fn wait_for_end_of(parent: u32) {
    while parent_id() == parent {
        std::thread::sleep(PAUSE);
    }
}
