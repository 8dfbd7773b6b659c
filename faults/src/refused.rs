//! Calls that a file system, or a system, always refuses.

use std::fs::read_dir;
use std::path::{Path, PathBuf};

use crate::command::case::Prepared;
use crate::command::program::Fault;

/// Calls that do one thing, and of what they are refused.
#[derive(Debug, Clone, Copy)]
struct Kind {
    /// With commas between them.
    calls: &'static str,
    of: Of,
}

/// Of what a call is refused: a tracer knows the paths that are there before the run, and refuses no call of the runtime then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    Files,
    Folders,
}

const fn all(calls: &'static str) -> Kind {
    Kind { calls, of: Of::All }
}

const KINDS: [Kind; 14] = [
    Kind { calls: "openat", of: Of::Files },
    Kind { calls: "mmap", of: Of::Files },
    Kind { calls: "fsync", of: Of::Folders },
    all("fsync,fdatasync"),
    all("fcntl"),
    all("flock"),
    all("rename,renameat,renameat2"),
    all("renameat2,link,linkat"),
    all("chmod,fchmod,fchmodat"),
    all("chown,fchown,fchownat"),
    all("truncate,ftruncate"),
    all("utimensat"),
    all("unlink,unlinkat"),
    all("inotify_init1,inotify_add_watch"),
];

/// The calls whose refusals are tried.
pub(crate) const CALLS: &str = "\
openat,mmap,fsync,fdatasync,fcntl,flock,rename,renameat,renameat2,link,linkat,chmod,fchmod,fchmodat,\
chown,fchown,fchownat,truncate,ftruncate,utimensat,unlink,unlinkat,inotify_init1,inotify_add_watch";

const ERRORS: [&str; 10] = [
    "ENOSYS",
    "EOPNOTSUPP",
    "EINVAL",
    "EPERM",
    "ENOLCK",
    "EBUSY",
    "EXDEV",
    "EIO",
    "ENOSPC",
    "EMFILE",
];

/// Each refusal of a call that a command makes, with each error. `folder` is as it is before the command.
pub(crate) fn of_command(prepared: &Prepared, folder: &Path, call: &str) -> Vec<Fault> {
    let makes = |kind: &Kind| {
        prepared.places.iter().any(|place| kind.calls.split(',').any(|call| call == place.call))
    };
    let is_wanted = |kind: &Kind| call.is_empty() || kind.calls.split(',').any(|one| one == call);
    let mut faults = Vec::new();
    for kind in KINDS.iter().filter(|kind| makes(kind) && is_wanted(kind)) {
        let paths = match kind.of {
            Of::All => Vec::new(),
            of => paths_below(folder, of == Of::Folders),
        };
        for error in ERRORS {
            faults.push(Fault::Refused { calls: kind.calls, paths: paths.clone(), error });
        }
    }
    faults
}

/// The folders below one, and itself, or the files.
fn paths_below(folder: &Path, folders: bool) -> Vec<PathBuf> {
    let mut paths = if folders { vec![folder.to_owned()] } else { Vec::new() };
    for entry in read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder {
            paths.extend(paths_below(&path, folders));
        } else if !folders {
            paths.push(path);
        }
    }
    paths
}
