//! The files below the folder of an export: no link below it is followed, and no file is written through one.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::standing::Stamp;
use crate::destination::folder_of;
use crate::error::{FileContext, Result};
use crate::open_folder::{Found, Kind, OpenFolder, parts};
use crate::temporary::remove_left_inside;

/// The folder of an export and those below it.
pub(super) struct FileTree<'a> {
    folder: &'a Path,
    /// `None` until it is there.
    root: Option<Arc<OpenFolder>>,
    /// Folders in which others were made, whose names are not durable yet.
    grown: BTreeSet<PathBuf>,
}

/// The place of a file.
#[derive(Debug)]
pub(super) struct Place {
    /// Its path, for messages.
    pub(super) path: PathBuf,
    name: OsString,
    /// `None` if there is no such folder.
    folder: Option<Arc<OpenFolder>>,
}

impl<'a> FileTree<'a> {
    pub(super) fn new(folder: &'a Path) -> Result<Self> {
        let root = OpenFolder::open_if_there(folder).at("opening the folder", folder)?;
        Ok(Self { folder, root: root.map(Arc::new), grown: BTreeSet::new() })
    }

    /// The folder's path.
    pub(super) fn folder(&self) -> &Path {
        self.folder
    }

    /// The folder, if it is there.
    pub(super) fn root(&self) -> Option<&OpenFolder> {
        self.root.as_deref()
    }

    /// The folder, made if it is not there.
    pub(super) fn make_root(&mut self) -> Result<Arc<OpenFolder>> {
        if let Some(root) = &self.root {
            return Ok(Arc::clone(root));
        }
        let made = OpenFolder::make(self.folder).at("making the folder", self.folder)?;
        Ok(Arc::clone(self.root.insert(Arc::new(made))))
    }

    /// The whole path of a relative one, whose parts have `/` between them.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        path.split('/').fold(self.folder.to_owned(), |folder, part| folder.join(part))
    }

    /// The place of a file, whether it and its folders are there or not.
    ///
    /// # Errors
    ///
    /// If something on the way is not a folder, such as a link to one.
    pub(super) fn place(&self, path: &str) -> Result<Place> {
        let (folders, name) = parts(path);
        let mut folder = self.root.clone();
        let mut at = self.folder.to_owned();
        for part in folders {
            at.push(part);
            folder = match folder.map(|folder| folder.inner(part)) {
                None => None,
                Some(Err(error)) if error.kind() == ErrorKind::NotFound => None,
                Some(opened) => Some(Arc::new(opened.at("opening the folder", &at)?)),
            };
        }
        Ok(Place { path: self.path(path), name: name.into(), folder })
    }

    /// The same with its folders, which are made if they are not there.
    pub(super) fn make_place(&mut self, path: &str) -> Result<Place> {
        let (folders, name) = parts(path);
        let folder = self.make_folders(folders)?;
        Ok(Place { path: self.path(path), name: name.into(), folder: Some(folder) })
    }

    /// A folder, made if it is not there.
    pub(super) fn make_folder(&mut self, path: &str) -> Result<Arc<OpenFolder>> {
        self.make_folders(path.split('/').map(OsStr::new))
    }

    fn make_folders<'p>(
        &mut self,
        folders: impl Iterator<Item = &'p OsStr>,
    ) -> Result<Arc<OpenFolder>> {
        let mut folder = self.make_root()?;
        let mut at = self.folder.to_owned();
        for part in folders {
            at.push(part);
            let is_there = folder.look(part).at("looking at", &at)?.is_some();
            let inner = folder.make_inner(part).at("making the folder", &at)?;
            if !is_there {
                self.grown.insert(folder_of(&at).to_owned());
            }
            folder = Arc::new(inner);
        }
        Ok(folder)
    }

    /// Those in which others were made since this was asked last.
    pub(super) fn take_grown(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.grown)
    }

    /// Removes the folders of a file that are empty, but not the folder of the export.
    pub(super) fn remove_empty(&self, path: &str) {
        let mut path = path;
        while let Some((folder, _)) = path.rsplit_once('/')
            && let Ok(Place { name, folder: Some(above), .. }) = self.place(folder)
            // Fails if it is not empty.
            && above.remove_folder(&name).is_ok()
        {
            path = folder;
        }
    }

    /// The paths of the folders in the folder, down to a depth.
    pub(super) fn folders(&self, depth: usize) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(root) = self.root() {
            add_folders(root, "", depth, &mut all);
        }
        all
    }

    /// Removes what killed exports left behind in the folder and in these below it.
    pub(super) fn remove_left(&self, folders: &BTreeSet<String>) {
        self.root().into_iter().for_each(remove_left_inside);
        for folder in folders {
            if let Ok(Place { name, folder: Some(above), .. }) = self.place(folder)
                && let Ok(folder) = above.inner(&name)
            {
                remove_left_inside(&folder);
            }
        }
    }
}

impl Place {
    /// The place of a file in a folder that is not one of Leafline's: the path is followed to the folder, whatever links are in
    /// it.
    pub(super) fn at(path: &Path) -> Result<Self> {
        let above = folder_of(path);
        let folder = OpenFolder::open_if_there(above).at("opening the folder", above)?;
        let name = path.file_name().ok_or(ErrorKind::InvalidInput.into()).at("writing", path)?;
        Ok(Self { path: path.to_owned(), name: name.to_owned(), folder: folder.map(Arc::new) })
    }

    /// Makes the folder if it is not there.
    pub(super) fn make_folder(&mut self) -> Result<&Arc<OpenFolder>> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => {
                let above = folder_of(&self.path);
                Arc::new(OpenFolder::make(above).at("making the folder", above)?)
            }
        };
        Ok(self.folder.insert(folder))
    }

    /// The folder and the name in it, if the folder is there.
    pub(super) fn in_folder(&self) -> Option<(&Arc<OpenFolder>, &OsStr)> {
        Some((self.folder.as_ref()?, &self.name))
    }

    /// What is there. A link is a link, whatever it leads to.
    pub(super) fn look(&self) -> Result<Option<Found>> {
        match self.in_folder() {
            Some((folder, name)) => folder.look(name).at("looking at", &self.path),
            None => Ok(None),
        }
    }

    /// The file's stamp; `None` if there is no file.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let found = self.look().ok().flatten();
        found.filter(|found| found.kind == Kind::File).as_ref().map(Stamp::of_found)
    }

    /// Opens the file to read it.
    pub(super) fn read(&self) -> Result<File> {
        let (folder, name) =
            self.in_folder().ok_or(ErrorKind::NotFound.into()).at("reading", &self.path)?;
        folder.read(name).at("reading", &self.path)
    }

    /// Removes the file.
    pub(super) fn remove(&self) -> std::io::Result<()> {
        match self.in_folder() {
            Some((folder, name)) => folder.remove(name),
            None => Err(ErrorKind::NotFound.into()),
        }
    }
}

/// Adds the paths of the folders in a folder, down to a depth. No link is followed.
fn add_folders(folder: &OpenFolder, path: &str, depth: usize, all: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for name in folder.names().into_iter().flatten() {
        // A name that is not text was not made here, and most others are those of sessions.
        let Some(text) = name.to_str().filter(|name| !name.ends_with(".jsonl")) else { continue };
        let is_folder = matches!(folder.look(&name), Ok(Some(found)) if found.kind == Kind::Folder);
        if is_folder && let Ok(inner) = folder.inner(&name) {
            let path = if path.is_empty() { text.to_owned() } else { format!("{path}/{text}") };
            add_folders(&inner, &path, depth, all);
            all.push(path);
        }
    }
}
