//! The work of a writer, and its reports.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline::error::{Error, StorageError};
use leafline::import::ImportOptions;
use leafline::live::Persistence;
use leafline::omp::OmpSession;
use leafline::pi::{Draft, PiSession, PiStore};
use leafline::storage::{ExpectedSize, SessionStorage, StoreSessionStorage, WriterOptions};
use leafline::{Family, NewSession, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the threads of one writer do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Work {
    pub store: PathBuf,
    /// Names the writer; no other has its name.
    pub writer: String,
    /// Whether each thread opens the store for itself, or all share one.
    pub opens_each: bool,
    /// A job a thread.
    pub jobs: Vec<Job>,
}

/// An operation to repeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Job {
    /// Appends entries to a session, this many at once.
    Append { session: String, operations: u64, batch: u64 },
    /// Rewrites all messages of a session: they get a higher version.
    Rewrite { session: String, operations: u64 },
    /// Forks a session.
    Fork { session: String, operations: u64 },
    /// Makes a session of the path to the leaf.
    Branch { session: String, operations: u64 },
    /// Begins sessions that wait for the first message of an assistant.
    Begin { operations: u64 },
    /// Imports nothing, which sweeps what others have left unfinished.
    Sweep { operations: u64 },
    /// Reads, and so folds what others have appended to the journal.
    Fold { operations: u64 },
    /// Writes lines to a path of the storage of files.
    WriteLines { path: PathBuf, operations: u64 },
    /// Writes what stands at a path once more, if it is still as long as it was.
    WriteAgain { path: PathBuf, operations: u64 },
}

/// An operation that the store has acknowledged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Acknowledged {
    /// The thread, by its writer's name and its number.
    pub worker: String,
    pub operation: u64,
    pub session: String,
    /// The entries that were appended.
    pub ids: Vec<String>,
}

/// Does the work, a thread a job.
pub fn carry_out(work: &Work, acknowledge: impl Fn(Acknowledged) + Sync) {
    let shared = Store::open(&work.store).unwrap();
    std::thread::scope(|scope| {
        for (number, job) in work.jobs.iter().enumerate() {
            let (shared, acknowledge) = (&shared, &acknowledge);
            scope.spawn(move || {
                let worker = format!("{}.{number}", work.writer);
                if work.opens_each {
                    let own = Store::open(&work.store).unwrap();
                    repeat(&own, &worker, job, acknowledge);
                } else {
                    repeat(shared, &worker, job, acknowledge);
                }
            });
        }
    });
}

fn repeat(store: &Store, worker: &str, job: &Job, acknowledge: &impl Fn(Acknowledged)) {
    let tell = |operation, session: &str, ids| {
        acknowledge(Acknowledged {
            worker: worker.to_owned(),
            operation,
            session: session.to_owned(),
            ids,
        });
    };
    match job {
        Job::Append { session, operations, batch } => {
            let mut handle = store.session(session).unwrap();
            for operation in 0..*operations {
                let mut drafts: Vec<Draft> = (0..*batch)
                    .map(|index| message(worker, operation, (index, *batch)))
                    .map(|message| Draft::message(&message.to_string()).unwrap())
                    .collect();
                let ids = match batch {
                    1 => vec![handle.append(drafts.remove(0)).unwrap()],
                    _ => handle.append_all(drafts).unwrap(),
                };
                tell(operation, session, ids);
            }
        }
        Job::Rewrite { session, operations } => {
            let mut handle = store.session(session).unwrap();
            for operation in 0..*operations {
                let rewritten = handle
                    .rewrite_entries(|entry| {
                        let mut entry = entry.json().unwrap();
                        let version = &mut entry["message"]["version"];
                        *version = json!(version.as_u64().unwrap() + 1);
                        Ok(Some(entry.to_string()))
                    })
                    .unwrap();
                assert!(rewritten > 0);
                tell(operation, session, Vec::new());
            }
        }
        Job::Fork { session, operations } => {
            for operation in 0..*operations {
                let fork = store.fork_from(session, &format!("/{worker}/{operation}")).unwrap();
                tell(operation, fork.id(), Vec::new());
            }
        }
        Job::Branch { session, operations } => {
            let source = store.session(session).unwrap();
            let leaf = source.reader().unwrap().get_leaf().unwrap().unwrap().id().unwrap();
            for operation in 0..*operations {
                let branched = source.create_branched_session(&leaf).unwrap();
                assert!(!branched.is_waiting());
                tell(operation, branched.id(), Vec::new());
            }
        }
        Job::Begin { operations } => {
            for operation in 0..*operations {
                let ids = begin_deferred(store, worker, operation);
                tell(operation, &format!("{worker}-{operation}"), ids);
            }
        }
        Job::Sweep { operations } => {
            let nothing: [&Path; 0] = [];
            for operation in 0..*operations {
                store.import(&nothing, &ImportOptions::default(), &mut ()).unwrap();
                tell(operation, "", Vec::new());
            }
        }
        Job::Fold { operations } => {
            for operation in 0..*operations {
                store.sessions().unwrap();
                tell(operation, "", Vec::new());
            }
        }
        Job::WriteLines { path, operations } => {
            let storage = StoreSessionStorage::new(store.clone());
            let mut writer = storage.open_writer(path, WriterOptions::default()).unwrap();
            for operation in 0..*operations {
                let id = format!("{worker}-{operation}");
                let line =
                    json!({ "type": "custom", "customType": "c", "id": id, "parentId": null });
                writer.write_line(line.to_string().as_bytes()).unwrap();
                tell(operation, "", vec![id]);
            }
        }
        Job::WriteAgain { path, operations } => {
            let storage = StoreSessionStorage::new(store.clone());
            for operation in 0..*operations {
                let before = storage.read(path).unwrap();
                let expected = ExpectedSize::Bytes(before.len() as u64);
                match storage.write_if(path, &before, expected) {
                    Ok(()) => tell(operation, "rewritten", Vec::new()),
                    Err(Error::Storage(StorageError::Conflict { .. })) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

/// A session that is stored with its third message, and continued.
fn begin_deferred(store: &Store, worker: &str, operation: u64) -> Vec<String> {
    let mut new = NewSession::new(Family::Pi, "/deferred");
    let mut persistence = Persistence::documented(Family::Pi);
    persistence.as_of = Some("0.87.1".parse().unwrap());
    new.persistence = Some(persistence);
    new.id = Some(format!("{worker}-{operation}"));
    let mut session = store.create_deferred_session(&new).unwrap();
    let mut ids = Vec::new();
    for index in 0..DEFERRED {
        assert!(session.is_waiting());
        let mut message = message(worker, operation, (index, DEFERRED));
        if index + 1 == DEFERRED {
            message["role"] = json!("assistant");
        }
        ids.push(session.append_message(&message).unwrap());
    }
    assert!(!session.is_waiting());
    ids
}

/// Messages of a waiting session; the last one is an assistant's.
pub const DEFERRED: u64 = 3;

/// A message that states its writer, its operation, and its number in the operation.
pub fn message(worker: &str, operation: u64, (index, of): (u64, u64)) -> Value {
    let number = operation * of + index;
    let words = format!("{worker} says {number} ").repeat(1 + (number * 7 % 40) as usize);
    let mut content = vec![json!({"type": "text", "text": words})];
    if number % 9 == 4 {
        // A few images, which lines of all workers share.
        let bytes = vec![(number % 5) as u8; 2000];
        let data = STANDARD.encode(bytes);
        content.push(json!({"type": "image", "data": data, "mimeType": "image/png"}));
    }
    json!({
        "role": "user",
        "content": content,
        "worker": worker,
        "operation": operation,
        "index": index,
        "of": of,
        "version": 0,
    })
}
