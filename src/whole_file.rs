//! Output files: written under a temporary name and renamed, so that they appear complete, or written to a device or
//! pipe.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::destination::{Destination, folder_of, refuse_store};
use crate::error::{FileContext, Result};
use crate::private::{keep_rights, make_folders};
use crate::temporary::{Temporary, remove_left};

/// A file that is being written under a temporary name; it is deleted if it is dropped before it gets its own.
#[derive(Debug)]
pub(crate) struct WholeFile {
    temporary: Temporary,
    /// Its final path: what the given path leads to.
    place: PathBuf,
    store: PathBuf,
}

impl WholeFile {
    /// Begins a file in its final folder, which is made if it does not exist. A link stays, and its target is the final
    /// path.
    ///
    /// Every output file is written this way, so none replaces the store, another store, or anything that is not a
    /// file.
    pub(crate) fn beside(path: &Path, store: &Path) -> Result<Self> {
        Self::in_place(Destination::of(path, store)?.file(path)?, store)
    }

    fn in_place(place: PathBuf, store: &Path) -> Result<Self> {
        let folder = folder_of(&place);
        make_folders(folder).at("making the folder", folder)?;
        let temporary = Temporary::in_folder(folder).at("making a file in", folder)?;
        if let Ok(old) = std::fs::metadata(&place) {
            keep_rights(temporary.file(), &old).at("writing", &place)?;
        }
        Ok(Self { temporary, place, store: store.to_owned() })
    }

    /// The file, to be written.
    pub(crate) fn file(&self) -> &File {
        self.temporary.file()
    }

    /// Gives the file its name once its content is on disk, and returns the path. [`sync_folder`] makes the name
    /// survive a crash of the machine.
    pub(crate) fn name(self) -> Result<PathBuf> {
        self.file().sync_all().at("writing", &self.place)?;
        // It may have come there in the meantime.
        refuse_store(&self.place, &self.store)?;
        self.temporary.rename(&self.place).at("naming", &self.place)?;
        Ok(self.place)
    }
}

/// The output that the user named: a file that appears complete, or something that receives the bytes as they come.
#[derive(Debug)]
pub(crate) enum OutputFile {
    /// A file.
    Whole(WholeFile),
    /// A device, a pipe, or a file that a process has open.
    Stream(File),
}

impl OutputFile {
    /// Opens it, and removes what killed exports left beside it. A pipe waits for its reader.
    pub(crate) fn open(path: &Path, store: &Path) -> Result<Self> {
        match Destination::of(path, store)? {
            Destination::File(place) => {
                remove_left(folder_of(&place));
                Ok(Self::Whole(WholeFile::in_place(place, store)?))
            }
            Destination::Stream => {
                // An open file keeps its content: its opener chose it deliberately.
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

/// Makes the names of a folder's files durable if the system can; on others, the system decides when they are.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
