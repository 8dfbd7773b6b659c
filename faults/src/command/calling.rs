//! Calls of the system that a run of the program makes: which, the how manieth, and on what.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Calls that change a file, a folder, or what others see.
pub const WRITING: &str = "\
write,writev,pwrite64,pwritev,fsync,fdatasync,ftruncate,fallocate,rename,renameat,renameat2,\
unlink,unlinkat,link,linkat,symlinkat,mkdir,mkdirat,rmdir,fchmod,fchmodat,chmod,openat,\
copy_file_range,sendfile";

/// Calls that may fail.
pub const FAILING: &str = "\
read,pread64,write,writev,pwrite64,fsync,fdatasync,ftruncate,fallocate,openat,rename,renameat,\
renameat2,unlink,unlinkat,link,linkat,mkdir,mkdirat,mmap,flock,fcntl,getdents64,fstat,\
newfstatat,statx,copy_file_range,mremap,clone,clone3";

/// The nth call of a name that a thread makes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The call's name.
    pub call: String,
    /// Counted from 1 in each thread, as the tracer does.
    pub nth: u64,
}

/// The places in what a tracer wrote down whose calls are about something below a folder, or a standard stream.
///
/// What the dynamic loader and the runtime do before the program begins is about other files, and so left out.
#[must_use]
pub fn places(calls: &str, folder: &Path) -> BTreeSet<Place> {
    let folder = folder.to_string_lossy();
    let mut counts: HashMap<(&str, &str), u64> = HashMap::new();
    let mut places = BTreeSet::new();
    for line in calls.lines() {
        let Some((thread, call, arguments)) = parse(line) else { continue };
        let nth = counts.entry((thread, call)).or_default();
        *nth += 1;
        if is_about(call, arguments, &folder) {
            places.insert(Place { call: call.to_owned(), nth: *nth });
        }
    }
    places
}

/// The places in what a tracer wrote down at which the first thread asks for memory or a thread, from the first call on that is
/// about something below a folder.
///
/// The tracer counts in each thread, so that the first calls of another would also be those of the dynamic loader. A `brk` that
/// fails is left out: the system returns an address then, and the tracer an error, which no program expects.
#[must_use]
pub fn places_of_memory(calls: &str, folder: &Path) -> BTreeSet<Place> {
    let folder = folder.to_string_lossy();
    let mut counts: HashMap<(&str, &str), u64> = HashMap::new();
    let mut places = BTreeSet::new();
    let mut has_begun = false;
    let mut first = None;
    for line in calls.lines() {
        let Some((thread, call, arguments)) = parse(line) else { continue };
        if *first.get_or_insert(thread) != thread {
            continue;
        }
        let nth = counts.entry((thread, call)).or_default();
        *nth += 1;
        has_begun |= is_about(call, arguments, &folder);
        if has_begun && is_for_memory(call, arguments) {
            places.insert(Place { call: call.to_owned(), nth: *nth });
        }
    }
    places
}

/// Whether a call that was made to fail asked for memory or a thread, and none was about the folder.
#[must_use]
pub fn is_met_by_memory(calls: &str, folder: &Path) -> bool {
    failed(calls).iter().any(|(call, arguments)| is_for_memory(call, arguments))
        && !failed_about(calls, &folder.to_string_lossy())
}

/// Whether a call that was made to fail was the runtime's own, by which its threads wake each other: such a failure is in no
/// file, and which thread makes the nth call differs from run to run.
#[must_use]
pub fn is_met_by_runtime(calls: &str, folder: &Path) -> bool {
    let folder = folder.to_string_lossy();
    failed(calls).iter().any(|(call, arguments)| {
        let is_own =
            ["<anon_inode:", "<pipe:", "<socket:"].iter().any(|kind| arguments.contains(kind));
        is_own && !is_about(call, arguments, &folder)
    })
}

fn is_for_memory(call: &str, arguments: &str) -> bool {
    match call {
        "mmap" => arguments.contains("MAP_ANONYMOUS"),
        _ => matches!(call, "mremap" | "clone" | "clone3"),
    }
}

/// Whether a call that was made to fail was about something below the folder.
#[must_use]
pub fn is_met(calls: &str, folder: &Path) -> bool {
    // A lock that its holder cannot give back is one that the system does not know: it fails for nobody.
    failed(calls).iter().all(|(_, arguments)| !arguments.contains("F_UNLCK"))
        && failed_about(calls, &folder.to_string_lossy())
}

/// Whether one of the calls that failed was about the folder.
fn failed_about(calls: &str, folder: &str) -> bool {
    failed(calls).iter().any(|(call, arguments)| is_about(call, arguments, folder))
}

/// The calls that were made to fail, with their arguments. The end of a call that another thread's has interrupted does not repeat
/// them.
fn failed(calls: &str) -> Vec<(&str, &str)> {
    let mut unfinished = HashMap::new();
    let mut failed = Vec::new();
    for line in calls.lines() {
        let is_failed = line.ends_with("(INJECTED)");
        if let Some((thread, call, arguments)) = parse(line) {
            if is_failed {
                failed.push((call, arguments));
            } else if line.ends_with("<unfinished ...>") {
                unfinished.insert(thread, (call, arguments));
            }
        } else if let Some(begun) =
            line.split_once(' ').and_then(|(thread, _)| unfinished.remove(thread))
            && is_failed
        {
            failed.push(begun);
        }
    }
    failed
}

/// A thread's number, the call's name, and what stands behind.
fn parse(line: &str) -> Option<(&str, &str, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let rest = rest.trim_start();
    let (call, arguments) = rest.split_once('(')?;
    let is_name = call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !call.is_empty()).then_some((thread, call, arguments))
}

fn is_about(call: &str, arguments: &str, folder: &str) -> bool {
    // Other uses of this call do not touch the file.
    if call == "fcntl" && !arguments.contains("SETLK") {
        return false;
    }
    let stream = ["0<", "1<", "2<"].iter().any(|start| arguments.starts_with(start));
    let is_stream = stream && matches!(call, "read" | "write" | "writev");
    // The folder's own name is also where the program runs.
    let below = format!("{folder}/");
    is_stream || arguments.contains(&below) || arguments.contains(&format!("\"{folder}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_thread_and_name() {
        let calls = "\
7 openat(AT_FDCWD</w>, \"/lib/libc.so\", O_RDONLY) = 3</lib/libc.so>
7 openat(AT_FDCWD</w>, \"/w/store\", O_RDWR) = 3</w/store>
8 openat(AT_FDCWD</w>, \"/w/other\", O_RDWR <unfinished ...>
7 pwrite64(3</w/store>, \"\"..., 4096, 0) = 4096
8 <... openat resumed>) = 4</w/other>
7 fcntl(3</w/store>, F_GETFL) = 0
7 fcntl(3</w/store>, F_OFD_SETLK, {l_type=F_RDLCK}) = 0
7 write(1</p/stdout>, \"\"..., 3) = 3
7 mmap(NULL, 8, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7";
        let found: Vec<(String, u64)> = places(calls, Path::new("/w"))
            .into_iter()
            .map(|place| (place.call, place.nth))
            .collect();
        let expected = [("fcntl", 2), ("openat", 1), ("openat", 2), ("pwrite64", 1), ("write", 1)];
        assert_eq!(found, expected.map(|(call, nth)| (call.to_owned(), nth)));
    }

    #[test]
    fn memory_counts_once_the_program_has_begun() {
        let calls = "\
7 mmap(NULL, 8, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7
7 openat(AT_FDCWD</w>, \"/w/store\", O_RDWR) = 3</w/store>
7 mmap(NULL, 8, PROT_READ, MAP_PRIVATE, 3</w/store>, 0) = 0x7
7 mmap(NULL, 8, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7
7 clone3({flags=CLONE_VM}, 88) = 8
8 mmap(NULL, 8, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7";
        let found: Vec<(String, u64)> = places_of_memory(calls, Path::new("/w"))
            .into_iter()
            .map(|place| (place.call, place.nth))
            .collect();
        let expected = [("clone3", 1), ("mmap", 3)];
        assert_eq!(found, expected.map(|(call, nth)| (call.to_owned(), nth)));
        let failed =
            "7 mremap(0x7, 8, 16, MREMAP_MAYMOVE) = -1 ENOMEM (Cannot allocate memory) (INJECTED)";
        assert!(is_met_by_memory(failed, Path::new("/w")));
        assert!(!is_met(failed, Path::new("/w")));
    }

    #[test]
    fn the_runtimes_own_calls_are_told_apart() {
        let own = "7 write(6<anon_inode:[eventfd]>, \"\"..., 8) = -1 EDQUOT (Disk quota exceeded) (INJECTED)";
        let interrupted = "\
7 write(6<anon_inode:[eventfd]>, \"\"..., 8 <unfinished ...>
8 write(1</p/stdout>, \"\"..., 3) = 3
7 <... write resumed>) = -1 EDQUOT (Disk quota exceeded) (INJECTED)";
        let printed = "7 write(1<pipe:[3]>, \"\"..., 3) = -1 EIO (Input/output error) (INJECTED)";
        let work = Path::new("/w");
        for calls in [own, interrupted] {
            assert!(is_met_by_runtime(calls, work) && !is_met(calls, work));
        }
        assert!(!is_met_by_runtime(printed, work) && is_met(printed, work));
    }

    #[test]
    fn a_failure_beside_the_folder_is_none() {
        let one =
            "7 openat(AT_FDCWD</w>, \"/w/store\", O_RDWR) = -1 EIO (Input/output error) (INJECTED)";
        assert!(is_met(one, Path::new("/w")));
        assert!(!is_met(one, Path::new("/v")));
        assert!(!is_met(
            "7 openat(AT_FDCWD</w>, \"/w/store\", O_RDWR) = 3</w/store>",
            Path::new("/w")
        ));
    }
}
