//! The folders whose events the system reports.

use std::path::Path;
use std::thread::Builder;

use crossbeam_channel::{Receiver, Sender, unbounded};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use walkdir::WalkDir;

use super::super::import::is_named_as_session;
use super::turns::Turns;
use crate::error::{FileContext, Result};
use crate::store::contained;
use crate::store::opener::Opener;

/// Whether each folder has a watch of its own. So one that cannot be watched does not keep others from it. Other systems watch a
/// folder with all that is in it.
pub(super) const EACH_FOLDER: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// The folders that are watched, and those that are looked at by turns.
#[derive(Debug)]
pub(super) struct Folders {
    system: Option<RecommendedWatcher>,
    sender: Sender<notify::Result<Event>>,
    pub(super) opener: Opener,
    pub(super) turns: Turns,
    /// Why folders are not watched, until the observer knows.
    pub(super) news: Option<String>,
    /// The last reason.
    known: Option<String>,
}

impl Folders {
    pub(super) fn new(
        opener: Opener,
        first: &Path,
    ) -> Result<(Self, Receiver<notify::Result<Event>>)> {
        // The watcher needs a thread, and ends the process if it gets none (notify 8.2).
        let probe = Builder::new().spawn(|| {}).at("starting a thread to watch", first)?;
        // It does nothing that could panic.
        let _ = probe.join();
        let (sender, events) = unbounded();
        let (news, known, turns) = (None, None, Turns::default());
        let mut folders = Self { system: None, sender, opener, turns, news, known };
        folders.start();
        Ok((folders, events))
    }

    /// Asks the system for a watcher, unless it has given one already. Returns true if it gives one now.
    fn start(&mut self) -> bool {
        if self.system.is_some() {
            return false;
        }
        let sender = self.sender.clone();
        // The receiver may be gone; then nothing is missed.
        let started =
            contained(|| notify::recommended_watcher(move |event| drop(sender.send(event))));
        match started.unwrap_or_else(|problem| Err(notify::Error::generic(&problem.to_string()))) {
            Ok(system) => self.system = Some(system),
            Err(error) => self.note(&error),
        }
        self.system.is_some()
    }

    /// Calls the watcher. Where it cannot wake its own thread it panics (notify 8.2), which is an error here.
    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut RecommendedWatcher) -> notify::Result<T>,
    ) -> notify::Result<T> {
        let Some(watcher) = &mut self.system else { return Err(notify::Error::watch_not_found()) };
        contained(|| call(watcher))
            .unwrap_or_else(|problem| Err(notify::Error::generic(&problem.to_string())))
    }

    /// Notes why a folder is not watched, if others may not be for the same reason.
    fn note(&mut self, error: &notify::Error) {
        let reason = match &error.kind {
            ErrorKind::MaxFilesWatch if EACH_FOLDER => {
                "the system allows no more watches (fs.inotify.max_user_watches)".to_owned()
            }
            ErrorKind::MaxFilesWatch => "the system allows no more watches".to_owned(),
            ErrorKind::Io(error) if EACH_FOLDER && error.raw_os_error() == Some(EMFILE) => {
                "the system allows no more watchers (fs.inotify.max_user_instances)".to_owned()
            }
            _ if self.system.is_none() => format!("the system reports no changes ({error})"),
            // It is gone, or may not be read: the sync says so.
            _ => return,
        };
        if self.known.as_ref() != Some(&reason) {
            self.known = Some(reason.clone());
            self.news = Some(reason);
        }
    }

    /// Watches a folder with all that is in it. What the system may say nothing of is looked at by turns.
    pub(super) fn cover(&mut self, top: &Path) {
        let is_whole = !EACH_FOLDER
            && self.call(|watcher| watcher.watch(top, RecursiveMode::Recursive)).is_ok();
        // Of a folder that cannot be listed the sync says why.
        for entry in WalkDir::new(top).follow_links(true).into_iter().filter_map(|entry| entry.ok())
        {
            if entry.file_type().is_dir() {
                if !is_whole {
                    self.cover_folder(entry.path());
                }
            } else if entry.path_is_symlink() && is_named_as_session(entry.path()) {
                // Its events are those of another folder.
                self.turns.add(entry.into_path());
            }
        }
    }

    /// Watches what is directly in a folder.
    pub(super) fn cover_folder(&mut self, folder: &Path) {
        match self.call(|watcher| watcher.watch(folder, RecursiveMode::NonRecursive)) {
            Ok(()) if reports_changes(folder) => return self.turns.remove(folder),
            Ok(()) => {}
            // Without a watcher its own error is known.
            Err(error) if self.system.is_some() => self.note(&error),
            Err(_) => {}
        }
        self.turns.add(folder.to_owned());
    }

    /// Tries again to watch the folders that are looked at by turns: more watches may be allowed now.
    pub(super) fn cover_again(&mut self) {
        self.start();
        for folder in self.turns.folders() {
            self.cover_folder(&folder);
        }
    }

    /// Watches a folder no more that is gone or another one.
    pub(super) fn forget(&mut self, folder: &Path) {
        // The system forgets a folder that is gone by itself.
        let _ = self.call(|watcher| watcher.unwatch(folder));
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        if !self.opener.is_here() {
            // A forked process has its descriptors, and not its thread.
            return std::mem::forget(self.system.take());
        }
        // Its thread then ends with the process.
        let _ = contained(|| drop(self.system.take()));
    }
}

/// The error for too many inotify instances of a user, or too many open files of a process.
const EMFILE: i32 = 24;

/// Returns true if the system reports all changes in a folder. On network file systems and FUSE it reports only the changes made
/// through the same mount on this machine.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn reports_changes(folder: &Path) -> bool {
    // Those of local disks and of memory, from linux/magic.h and the file systems' own sources; any other one is suspected.
    const LOCAL: [u32; 21] = [
        0xef53,      // ext2, ext3, ext4
        0x9123_683e, // btrfs
        0x5846_5342, // xfs
        0xf2f5_2010, // f2fs
        0xca45_1a4e, // bcachefs
        0x2fc1_2fc1, // zfs
        0x0102_1994, // tmpfs
        0x8584_58f6, // ramfs
        0x794c_7630, // overlay
        0xf15f,      // ecryptfs
        0x4d44,      // FAT
        0x2011_bab0, // exFAT
        0x7366_746e, // NTFS
        0x482b,      // HFS+
        0x4244,      // HFS
        0x3153_464a, // jfs
        0x5265_4973, // reiserfs
        0x3434,      // nilfs
        0x1501_3346, // UDF
        0x9660,      // ISO 9660
        0x7371_7368, // squashfs
    ];
    rustix::fs::statfs(folder).is_ok_and(|facts| {
        // The number has 32 bits, in a field that may have more, or a sign.
        let kind = facts.f_type.to_ne_bytes();
        let low = if cfg!(target_endian = "big") { &kind[kind.len() - 4..] } else { &kind[..4] };
        <[u8; 4]>::try_from(low).is_ok_and(|low| LOCAL.contains(&u32::from_ne_bytes(low)))
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn reports_changes(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_panic_of_the_watcher_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (mut folders, _events) =
            Folders::new(Opener::new(PathBuf::new()), folder.path()).unwrap();
        let error = folders.call(|_| -> notify::Result<()> { panic!("no way to wake") });
        assert!(error.unwrap_err().to_string().contains("no way to wake"));
        folders.cover(folder.path());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_watched_keeps_no_other_from_it() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        use std::time::Duration;

        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "b", "c"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::fs::set_permissions(at("b"), std::fs::Permissions::from_mode(0o0)).unwrap();
        symlink("nowhere", at("a/link.jsonl")).unwrap();
        let (mut folders, events) =
            Folders::new(Opener::new(PathBuf::new()), folder.path()).unwrap();
        folders.cover(folder.path());
        assert_eq!(folders.news, None);
        std::fs::write(at("c/new"), "").unwrap();
        let is_new = |event: notify::Result<Event>| event.unwrap().paths.contains(&at("c/new"));
        while !is_new(events.recv_timeout(Duration::from_secs(600)).unwrap()) {}
        std::fs::set_permissions(at("b"), std::fs::Permissions::from_mode(0o700)).unwrap();
        // Without any watcher all are looked at by turns.
        folders.system = None;
        folders.cover(folder.path());
        assert_eq!(folders.turns.folders().len(), 4);
    }

    #[test]
    fn a_reason_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let (mut folders, _events) =
            Folders::new(Opener::new(PathBuf::new()), folder.path()).unwrap();
        folders.system = None;
        for _ in 0..2 {
            folders.note(&notify::Error::new(ErrorKind::MaxFilesWatch));
        }
        assert!(folders.news.take().unwrap().contains("max_user_watches") || !EACH_FOLDER);
        folders.note(&notify::Error::new(ErrorKind::MaxFilesWatch));
        assert_eq!(folders.news, None);
        folders.note(&notify::Error::io(std::io::Error::from_raw_os_error(EMFILE)));
        assert!(folders.news.take().unwrap().contains("max_user_instances") || !EACH_FOLDER);
    }
}
