//! What happens to a journal.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fastrand::Rng;

use super::{SHARED, STORE, journal_of};

const PAGE: u64 = 4096;

/// Harm that is done to the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Incident {
    CutOff,
    Overwritten { is_first: bool, is_noise: bool },
    Deleted,
    MovedAway { is_put_back: bool },
    Replaced(By),
    Denied,
    Command { is_place_taken: bool },
    Stopped,
}

/// What takes the journal's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    EmptyFile,
    Folder,
    Pipe,
    OtherStore,
    Copy,
    Earlier,
}

impl Incident {
    pub(super) fn any(random: &mut Rng) -> Self {
        let kinds = [By::EmptyFile, By::Folder, By::Pipe, By::OtherStore, By::Copy, By::Earlier];
        match random.u8(..10) {
            0 => Self::CutOff,
            1 => Self::Overwritten { is_first: random.bool(), is_noise: random.bool() },
            2 => Self::Deleted,
            3 => Self::MovedAway { is_put_back: random.bool() },
            4..7 => Self::Replaced(kinds[random.usize(..kinds.len())]),
            7 => Self::Denied,
            8 => Self::Command { is_place_taken: random.bool() },
            _ => Self::Stopped,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::CutOff => "cut off",
            Self::Overwritten { is_first: true, .. } => "first page overwritten",
            Self::Overwritten { is_first: false, .. } => "a page overwritten",
            Self::Deleted => "deleted",
            Self::MovedAway { is_put_back: true } => "moved away and put back",
            Self::MovedAway { is_put_back: false } => "moved away",
            Self::Replaced(By::EmptyFile) => "replaced by an empty file",
            Self::Replaced(By::Folder) => "replaced by a folder",
            Self::Replaced(By::Pipe) => "replaced by a pipe",
            Self::Replaced(By::OtherStore) => "replaced by another store's",
            Self::Replaced(By::Copy) => "replaced by a copy's",
            Self::Replaced(By::Earlier) => "replaced by an earlier state",
            Self::Denied => "without rights",
            Self::Command { .. } => "named to a command",
            Self::Stopped => "an appender is stopped",
        }
    }

    /// Returns true if the file loses records. The first page has none.
    pub(super) fn takes_records(self) -> bool {
        matches!(self, Self::CutOff | Self::Overwritten { is_first: false, .. })
    }

    /// Whether bytes are lost that no process knows, if all were killed before.
    pub(super) fn destroys(self) -> bool {
        self.takes_records() || self == Self::Deleted
    }

    /// Whether the journal may be left as one that was written less far, which no later record contradicts.
    pub(super) fn may_shorten(self) -> bool {
        self.takes_records() || self == Self::Replaced(By::Earlier)
    }
}

/// Where an incident happens.
pub(super) struct Place<'p> {
    pub(super) folder: &'p Path,
    pub(super) program: &'p Path,
    pub(super) random: Rng,
    /// Whether this process may take a file away from its owner.
    pub(super) is_root: bool,
}

impl Place<'_> {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Where a journal is that was taken away.
    pub(super) fn taken(&self) -> PathBuf {
        self.file("taken")
    }

    fn take(&self) -> io::Result<()> {
        fs::rename(journal_of(&self.file(STORE)), self.taken())
    }

    /// Does it. A journal that is not there yet, or no longer, is an error that means nothing.
    pub(super) fn happen(&mut self, incident: Incident) -> io::Result<()> {
        let journal = journal_of(&self.file(STORE));
        let length = fs::metadata(&journal).map_or(0, |file| file.len());
        match incident {
            Incident::CutOff => {
                // Half of them within the records, as far as any are likely to go.
                let bound = if self.random.bool() { length } else { length.min(16 * PAGE) };
                let shorter = self.random.u64(..bound.max(1));
                File::options().write(true).open(&journal)?.set_len(shorter)
            }
            Incident::Overwritten { is_first, is_noise } => {
                // Most of the file has no records yet.
                let page = if is_first { 0 } else { self.random.u64(1..8) };
                let bytes: Vec<u8> =
                    (0..PAGE).map(|_| if is_noise { self.random.u8(..) } else { 0 }).collect();
                OpenOptions::new().write(true).open(&journal)?.write_all_at(&bytes, page * PAGE)
            }
            Incident::Deleted => fs::remove_file(&journal),
            Incident::MovedAway { .. } => self.take(),
            Incident::Replaced(by) => self.take().and_then(|()| self.put(by, &journal)),
            Incident::Denied => {
                fs::set_permissions(&journal, fs::Permissions::from_mode(0o000))?;
                if self.is_root { chown(&journal, Some(0), Some(0)) } else { Ok(()) }
            }
            Incident::Command { is_place_taken } => {
                if is_place_taken {
                    let by = if self.random.bool() { By::Folder } else { By::EmptyFile };
                    self.take().and_then(|()| self.put(by, &journal))?;
                }
                self.command(&journal)
            }
            Incident::Stopped => Ok(()),
        }
    }

    fn put(&self, by: By, journal: &Path) -> io::Result<()> {
        match by {
            By::EmptyFile => File::create_new(journal).map(drop),
            By::Folder => fs::create_dir(journal),
            By::Pipe => Command::new("mkfifo").arg(journal).status().map(drop),
            By::OtherStore => fs::copy(journal_of(&self.file("other")), journal).map(drop),
            By::Copy => fs::copy(journal_of(&self.file("copy")), journal).map(drop),
            By::Earlier => fs::copy(self.file("earlier"), journal).map(drop),
        }
    }

    /// Points a command at the journal. Each has to refuse, or to leave the journal alone.
    fn command(&mut self, journal: &Path) -> io::Result<()> {
        let mut command = Command::new(self.program);
        command.arg("--store").arg(self.file(STORE)).env("HOME", self.folder);
        match self.random.u8(..3) {
            0 => command.args(["export", SHARED, "-o"]).arg(journal),
            1 => command.arg("backup").arg(journal),
            _ => command.args(["compact", "--without-journal"]),
        };
        command.current_dir(self.folder).stdin(Stdio::null()).stdout(Stdio::null());
        let output = command.stderr(Stdio::piped()).output()?;
        match output.status.code() {
            Some(101) | None => Err(io::Error::other(format!("a command: {output:?}"))),
            Some(_) => Ok(()),
        }
    }
}
