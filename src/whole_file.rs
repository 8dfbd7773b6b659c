//! Output files: written under a temporary name and renamed, so that they appear complete, or written to a device or
//! pipe.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::destination::{Destination, folder_of, refuse_store_file};
use crate::error::{FileContext, Result};
use crate::lasting::sync_folder;
use crate::open_folder::{Kind, OpenFolder};
use crate::private::keep_rights;
use crate::temporary::{Temporary, remove_left};

/// A file that is being written under a temporary name; it is deleted if it is dropped before it gets its own.
#[derive(Debug)]
pub(crate) struct WholeFile {
    temporary: Temporary,
    /// Its final name in its folder, and its final path.
    name: OsString,
    place: PathBuf,
    store: PathBuf,
}

impl WholeFile {
    /// Begins a file in a folder that Leafline manages. A link of its name is not followed but replaced; anything else that
    /// is not a file is refused.
    ///
    /// Every output file is written this way or by [`OutputFile`], so none replaces a store, what belongs to one, or
    /// anything that is not a file.
    pub(crate) fn inside(folder: &Arc<OpenFolder>, name: &OsStr, store: &Path) -> Result<Self> {
        let temporary = Temporary::inside(folder).at("making a file in", folder.path())?;
        let place = folder.path().join(name);
        let old = folder.look(name).at("looking at", &place)?;
        if let Some(old) = old {
            let kept = match old.kind {
                Kind::File => keep_rights(temporary.file(), old.permissions),
                Kind::Link => Ok(()),
                Kind::Folder | Kind::Other => {
                    Err(Error::new(ErrorKind::InvalidInput, "it is not a file"))
                }
            };
            kept.at("writing", &place)?;
        }
        Ok(Self { temporary, name: name.to_owned(), place, store: store.to_owned() })
    }

    /// Begins a file at its final path, which is not a link, in its folder, which is made if it does not exist.
    fn in_place(place: &Path, store: &Path) -> Result<Self> {
        let folder = folder_of(place);
        let opened = OpenFolder::make(folder).at("making the folder", folder)?;
        let name = place.file_name().ok_or_else(|| ErrorKind::InvalidInput.into());
        Self::inside(&Arc::new(opened), name.at("writing", place)?, store)
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
        refuse_store_file(&self.place, &self.store)?;
        self.temporary.rename(&self.name).at("naming", &self.place)?;
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
    /// Opens it, and removes what killed exports left beside it. If it is a link, the link stays, and the file that it
    /// leads to is written. A pipe waits for its reader.
    pub(crate) fn open(path: &Path, store: &Path) -> Result<Self> {
        match Destination::of(path, store)? {
            Destination::File(place) => {
                remove_left(folder_of(&place));
                Ok(Self::Whole(WholeFile::in_place(&place, store)?))
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
