//! Files that are written out: beside their place and renamed, so that they appear whole, or into a device or pipe.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use crate::destination::{Destination, folder_of, refuse_store};
use crate::error::{FileContext, Result};
use crate::temporary::{Temporary, remove_left};

/// A file that is being written and has no place yet; gone when it is dropped before it has.
#[derive(Debug)]
pub(crate) struct WholeFile {
    temporary: Temporary,
    /// Where it will be: what the path leads to.
    place: PathBuf,
    store: PathBuf,
}

impl WholeFile {
    /// Begins a file in the folder of its place, which is made where it is not there. A link stays, and what it leads to is
    /// the place.
    ///
    /// Every file that is written out comes this way, and so none takes the place of the store, of another one, or of what
    /// is no file.
    pub(crate) fn beside(path: &Path, store: &Path) -> Result<Self> {
        Self::in_place(Destination::of(path, store)?.file(path)?, store)
    }

    fn in_place(place: PathBuf, store: &Path) -> Result<Self> {
        let folder = folder_of(&place);
        std::fs::create_dir_all(folder).at("making the folder", folder)?;
        let temporary = Temporary::in_folder(folder).at("making a file in", folder)?;
        // Whoever may not read the old one may not read the new one either.
        if let Ok(old) = std::fs::metadata(&place) {
            keep_permissions(temporary.file(), &old).at("writing", &place)?;
        }
        Ok(Self { temporary, place, store: store.to_owned() })
    }

    /// The file, to be written.
    pub(crate) fn file(&self) -> &File {
        self.temporary.file()
    }

    /// Gives the file its place, when what was written is on disk; returns that. Whether the name survives a crash of the
    /// machine is up to [`sync_folder`].
    pub(crate) fn name(self) -> Result<PathBuf> {
        self.file().sync_all().at("writing", &self.place)?;
        // It may have come there in the meantime.
        refuse_store(&self.place, &self.store)?;
        self.temporary.rename(&self.place).at("naming", &self.place)?;
        Ok(self.place)
    }
}

/// What a user named as the output: a file that appears whole, or something that takes what is written as it comes.
#[derive(Debug)]
pub(crate) enum OutputFile {
    /// A file.
    Whole(WholeFile),
    /// A device, a pipe, or a file that a process has open.
    Stream(File),
}

impl OutputFile {
    /// Opens it, and removes what killed exports have left beside it. A pipe waits for whoever reads it.
    pub(crate) fn open(path: &Path, store: &Path) -> Result<Self> {
        match Destination::of(path, store)? {
            Destination::File(place) => {
                remove_left(folder_of(&place));
                Ok(Self::Whole(WholeFile::in_place(place, store)?))
            }
            Destination::Stream => {
                // What an open file holds stays: it was opened by someone who knew.
                let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
                let opened = File::options().write(true).append(is_file).open(path);
                Ok(Self::Stream(opened.at("opening", path)?))
            }
        }
    }

    /// The file, to be written.
    pub(crate) fn file(&self) -> &File {
        match self {
            Self::Whole(file) => file.file(),
            Self::Stream(file) => file,
        }
    }

    /// Ends it: a file gets its place, for good.
    pub(crate) fn finish(self) -> Result<()> {
        if let Self::Whole(file) = self {
            sync_folder(folder_of(&file.name()?));
        }
        Ok(())
    }
}

fn keep_permissions(file: &File, old: &Metadata) -> std::io::Result<()> {
    // Some file systems have one for all, and refuse to change it.
    match file.metadata()?.permissions() == old.permissions() {
        true => Ok(()),
        false => file.set_permissions(old.permissions()),
    }
}

/// Makes the names of a folder's files durable where the system can; elsewhere they are when the system says so.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
