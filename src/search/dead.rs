//! Deletes files in an index's folder that its commit does not name. They were left by a killed update, or by an update that did
//! not know of them.

use std::collections::HashSet;
use std::path::Path;

use tantivy::directory::{Directory, META_LOCK};
use tantivy::index::SegmentMeta;
use tantivy::{Index, TantivyError};

use super::directory::PrivateDirectory;
use super::folder::{MANAGED, META, delete_file, written_files};
use super::{SearchIndex, directory, failed, schema};
use crate::error::{FileContext, Result};

/// The extensions of the files that a complete segment has.
const ENDINGS: [&str; 6] = ["idx", "pos", "term", "store", "fast", "fieldnorm"];

impl SearchIndex {
    /// Returns true if there are dead files. While another process updates the index, its new files count as dead.
    pub(super) fn has_dead_files(&self) -> Result<bool> {
        if self.folder.as_os_str().is_empty() {
            return Ok(false);
        }
        let written = written_files(&self.folder)?;
        let live = self.live_files()?;
        Ok(written.iter().any(|(name, _)| !live.contains(name)))
    }

    /// The index opened for writing, with the writer's lock held: no other process writes, so it owns every file in the folder.
    pub(super) fn index_to_write(&self) -> Result<Index> {
        if self.folder.as_os_str().is_empty() {
            return Ok(self.index.clone());
        }
        let directory = directory(&self.folder)?;
        directory
            .lock_to_write()
            .map_err(|error| self.failed(&TantivyError::LockFailure(error, None)))?;
        self.collect(&directory)?;
        let mut index = Index::open(directory).map_err(|error| self.failed(&error))?;
        index.set_tokenizers(schema::tokenizers());
        Ok(index)
    }

    /// Deletes the dead files, and rewrites tantivy's list to name the remaining ones. The caller holds the writer's lock.
    fn collect(&self, directory: &PrivateDirectory) -> Result<()> {
        // A reader holds this lock while it opens the newest commit; once it is free, the reader has its files open.
        let opening = directory
            .acquire_lock(&META_LOCK)
            .map_err(|error| self.failed(&TantivyError::LockFailure(error, None)))?;
        let live = self.live_files()?;
        let mut listed = vec![META.to_owned()];
        for (name, is_segment) in written_files(&self.folder)? {
            // Some systems refuse to delete a file that is open; the next update deletes it.
            let is_there = live.contains(&name) || delete_file(&self.folder.join(&name)).is_err();
            if is_there && is_segment {
                listed.push(name);
            }
        }
        drop(opening);
        listed.sort_unstable();
        let path = Path::new(MANAGED);
        let known = directory.atomic_read(path).ok();
        let known = known.and_then(|text| serde_json::from_slice::<Vec<String>>(&text).ok());
        let is_same = known.is_some_and(|mut known| {
            known.sort_unstable();
            known == listed
        });
        if is_same {
            return Ok(());
        }
        let text =
            serde_json::to_vec(&listed).map_err(|error| failed(&self.folder, &error.into()))?;
        directory.atomic_write(path, &text).at("writing", &self.folder.join(MANAGED))
    }

    /// The names of the files of the newest commit's segments.
    fn live_files(&self) -> Result<HashSet<String>> {
        let metas = self.index.load_metas().map_err(|error| self.failed(&error))?;
        Ok(metas.segments.iter().flat_map(names).collect())
    }
}

/// The names of a segment's files.
fn names(segment: &SegmentMeta) -> impl Iterator<Item = String> {
    let id = segment.id().uuid_string();
    let deletions = segment.delete_opstamp().map(|stamp| format!("{id}.{stamp}.del"));
    ENDINGS.map(|ending| format!("{id}.{ending}")).into_iter().chain(deletions)
}
