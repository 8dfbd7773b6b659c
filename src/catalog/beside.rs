//! The files that a session's program keeps beside its file.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::path_text;
use crate::error::{Error, ExportError, Result, SessionError};
use crate::session::SessionReader;
use crate::store::beside::BesideRow;
use crate::store::snapshot::Snapshot;
use crate::store::source_record::path_of_bytes;

/// A file that a session's program keeps beside the session's file, as the store has it: a long output of a tool, for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileBeside {
    /// Its path in the folder beside the session's file, as in `tool-results/toolu_1.txt`; or in the program's home, if it is there
    /// in a folder for the session, as in `tasks/<id>/1.json`.
    #[serde(serialize_with = "path_text")]
    pub name: PathBuf,
    /// Where it was when it was imported.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// When it was written, in milliseconds since 1970, by the file's time of modification; a millisecond less if it was imported
    /// within two seconds after that.
    pub written: i64,
    #[serde(skip)]
    row: BesideRow,
}

impl SessionReader {
    /// The files that the session's program keeps beside the session's file, by their names: those in the folder with the name of
    /// the file without `.jsonl`, and below it. A file stands beside the session of the nearest such folder, so that those of an
    /// agent are the agent's. And those that Claude Code keeps elsewhere in its home, in folders with the session's id.
    ///
    /// A session that was imported from two places has the files of both. Where two have the same name, the one that was written
    /// last comes first.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// let at = |name: &str| folder.path().join(name);
    /// std::fs::write(at("4f2e.jsonl"), concat!(
    ///     r#"{"type":"user","uuid":"5c1f0f4e-6a53-4c0a-9b1f-0a4d5b7c2e11","parentUuid":null,"sessionId":"4f2e","#,
    ///     r#""timestamp":"2026-02-16T10:20:30.000Z","message":{"role":"user","content":"Hi"}}"#, "\n",
    /// )).unwrap();
    /// std::fs::create_dir_all(at("4f2e/tool-results")).unwrap();
    /// std::fs::write(at("4f2e/tool-results/1.txt"), "a long output").unwrap();
    /// let store = leafline::Store::open(at("sessions.leafline"))?;
    /// store.import(&[folder.path()], &leafline::import::ImportOptions::default(), &mut ())?;
    ///
    /// let reader = store.reader("4f2e")?;
    /// let files = reader.files_beside()?;
    /// assert_eq!(files[0].name, std::path::Path::new("tool-results").join("1.txt"));
    /// let mut bytes = Vec::new();
    /// reader.read_file_beside(&files[0], &mut bytes)?;
    /// assert_eq!(bytes, b"a long output");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn files_beside(&self) -> Result<Vec<FileBeside>> {
        let rows = self.snapshot().files_beside(self.key(), self.record())?;
        // On a system where a path cannot be made of its bytes it was never imported.
        let mut files: Vec<FileBeside> = rows.into_iter().filter_map(FileBeside::of).collect();
        files.sort_by(|a, b| {
            let by_time = || b.written.cmp(&a.written).then_with(|| a.path.cmp(&b.path));
            a.name.cmp(&b.name).then_with(by_time)
        });
        Ok(files)
    }

    /// The file with a name beside the session's file: of two with the same name, the one that was written last.
    ///
    /// # Errors
    ///
    /// [`SessionError::FileNotFound`]; those of [`Self::files_beside`].
    pub fn file_beside(&self, name: &Path) -> Result<FileBeside> {
        let found = self.files_beside()?.into_iter().find(|file| file.name == name);
        found.ok_or_else(|| {
            let (session, name) = (self.id(), name.to_owned());
            Error::Session(SessionError::FileNotFound { session, name })
        })
    }

    /// Writes the bytes of a file that [`Self::files_beside`] has listed. They are in memory a megabyte at a time.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`] if they cannot be written; [`Error::Corrupted`] if some of them are missing.
    pub fn read_file_beside(&self, file: &FileBeside, out: &mut impl Write) -> Result<()> {
        file.each_piece(self.snapshot(), |piece| {
            out.write_all(piece).map_err(|error| Error::Export(ExportError::Output(error)))?;
            Ok(true)
        })
    }
}

impl FileBeside {
    fn of(row: BesideRow) -> Option<Self> {
        let (name, path) = (path_of_bytes(row.name())?, path_of_bytes(&row.path)?);
        Some(Self { name, path, bytes: row.size, written: row.written, row })
    }

    /// Where it belongs if the session's file is this one; `None` if nothing can stand beside that.
    pub(super) fn place_for(&self, session_file: &Path) -> Option<PathBuf> {
        path_of_bytes(&self.row.place_for(session_file.as_os_str().as_encoded_bytes())?)
    }

    /// Passes on its bytes, until `take` says that it needs no more.
    pub(super) fn each_piece(
        &self,
        snapshot: &Snapshot,
        take: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        snapshot.each_piece_of_file(&self.row.path, (self.row.number, self.row.size), take)
    }
}
