//! The store itself: its file, opening it, and writing it.

use std::path::{Path, PathBuf};

use super::Error;

/// Why a store cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store at this path, and none should be created.
    #[error("store {path} {}", if *.is_empty { "is empty" } else { "does not exist" })]
    NotFound {
        /// The store's file.
        path: PathBuf,
        /// Whether there is a file without anything in it.
        is_empty: bool,
    },
    /// The file is a redb database of something else, or of a later Leafline.
    #[error("{path} is not a store of this version of Leafline: {problem}")]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        problem: String,
    },
    /// This version of Leafline does not know the store's format.
    #[error("store {path} has format {format}, which this Leafline does not know; {}", reads(*.reader))]
    UnknownFormat {
        /// The store's file.
        path: PathBuf,
        /// Its format.
        format: u64,
        /// The first version of Leafline that reads it, if the store says so: major, minor, patch.
        reader: Option<[u16; 3]>,
    },
    /// Others are using the store, and the operation needs it exclusively.
    #[error(
        "store {path} is in use by another process or handle; try again when no one else has it open"
    )]
    InUse {
        /// The store's file.
        path: PathBuf,
    },
    /// Another process or handle reads the store, or has held its state for some seconds. No space becomes free, so moving pages
    /// would make the file longer. Nothing was changed.
    #[error(
        "store {path} is being read all the time, so moving pages would make it larger; nothing was changed"
    )]
    BeingRead {
        /// The store's file.
        path: PathBuf,
    },
    /// The store was opened by another process, which this one was forked from. Nothing was read or written.
    #[error(
        "{} was opened by process {process}, and this process was forked from it: open the store again here", opened(.path)
    )]
    Inherited {
        /// The store's file; empty for a store in memory.
        path: PathBuf,
        /// The process that opened it.
        process: u32,
    },
    /// A write failed where the engine cannot go on with the open file.
    #[error(
        "store {path} cannot be written any more until it is closed and opened again: a write to it failed"
    )]
    Broken {
        /// The store's file.
        path: PathBuf,
    },
    /// The store's file is read-only, and the operation writes.
    #[error("store {path} cannot be written: its file or its folder is read-only")]
    ReadOnly {
        /// The store's file.
        path: PathBuf,
    },
    /// The tables do not have all, and the journal that has the rest is not where it should be.
    #[error(
        "the journal of store {path} cannot be read, and what was written last is in it alone: {journal} ({problem}); put it back, or beside the store"
    )]
    NoJournal {
        /// The store's file.
        path: PathBuf,
        /// Where its journal was.
        journal: PathBuf,
        /// Why it cannot be used.
        problem: String,
    },
    /// The system does not let this process open the journal, and the tables do not have all.
    #[error(
        "the journal {journal} of store {path} cannot be opened ({source}{}), and what was appended last is in it alone: leave it in its place, and give it the owner and the mode of the store's file",
        belongs_to(*.owner)
    )]
    JournalDenied {
        /// The store's file.
        path: PathBuf,
        /// Its journal.
        journal: PathBuf,
        /// The number of the user whose file the journal is, if the system tells.
        owner: Option<u32>,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file system refuses locks, without which processes cannot share a store.
    #[error(
        "store {path} cannot be opened: its file system refuses locks ({source}); put it on a local disk, or on a share that has locks"
    )]
    NoLocks {
        /// The store's file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process keeps others from writing to the store, or from opening it, without progress.
    #[error(
        "cannot use store {path}: {} has blocked it for {seconds} s without progress; try again once it goes on or ends",
        holder(*.process, *.is_stopped)
    )]
    HeldUp {
        /// The store's file.
        path: PathBuf,
        /// The number of the process, if it is known.
        process: Option<u32>,
        /// Whether the system says that the process is stopped.
        is_stopped: bool,
        /// For how long nothing has happened.
        seconds: u64,
    },
    /// A file that has the journal's name is not the journal of this store.
    #[error(
        "{journal} cannot be the journal of store {path} ({problem}); if it is the journal of another store or of a copy, it may hold what was appended there last: put it back there, or else move it away"
    )]
    ForeignJournal {
        /// The store's file.
        path: PathBuf,
        /// The file where the journal should be.
        journal: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A store would be made in the place of another one's journal.
    #[error("no store can be made at {path}: it is the place of the journal of store {store}")]
    PlaceOfJournal {
        /// Where the store was to be made.
        path: PathBuf,
        /// The store that is there.
        store: PathBuf,
    },
    /// The journal goes on from another state of the store than the tables have, as from a later one or from that of a copy.
    #[error(
        "the journal {journal} continues another state of store {path} than its file has, and may hold entries that the file lacks: the file was put back from a copy, or the journal is a copy's; put back the one that belongs to the other, or move the journal away without deleting it"
    )]
    JournalAhead {
        /// The store's file.
        path: PathBuf,
        /// The journal.
        journal: PathBuf,
    },
    /// The file is a store, and not a backup that can be brought up to date from the store that is backed up.
    #[error(
        "{path} cannot be brought up to date as a backup of this store: {problem}; name another file"
    )]
    NotABackup {
        /// The file.
        path: PathBuf,
        /// What it is.
        problem: String,
    },
    /// The disk has no room for the commit that deletes sessions: none is deleted.
    #[error(
        "nothing was deleted: there is no room on the disk of {path} ({source}); make about {} kB free and try again, deleting then gives its own space back",
        .needed.div_ceil(1000)
    )]
    NoRoomToRemove {
        /// The store's file.
        path: PathBuf,
        /// Approximate bytes that must be free.
        needed: u64,
        /// What failed.
        source: Box<Error>,
    },
}

fn opened(path: &Path) -> String {
    match path.as_os_str().is_empty() {
        true => "the store in memory".to_owned(),
        false => format!("store {}", path.display()),
    }
}

fn belongs_to(owner: Option<u32>) -> String {
    owner.map_or_else(String::new, |owner| format!("; it belongs to user {owner}"))
}

fn holder(process: Option<u32>, is_stopped: bool) -> String {
    let process = match process {
        Some(process) => format!("process {process}"),
        None => "another process".to_owned(),
    };
    if is_stopped { format!("{process}, which is stopped,") } else { process }
}

fn reads(reader: Option<[u16; 3]>) -> String {
    let own = [
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR"),
        env!("CARGO_PKG_VERSION_PATCH"),
    ];
    let own = own.map(|part| part.parse().unwrap_or(0));
    match reader {
        Some(reader) if reader <= own => {
            "a development build made it: import its sessions again into a new store".to_owned()
        }
        Some([major, minor, patch]) => {
            format!("Leafline {major}.{minor}.{patch} and later read it")
        }
        None => "another version made it".to_owned(),
    }
}
