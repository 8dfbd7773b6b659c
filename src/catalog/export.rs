//! Exporting many sessions: one file each, in the documented folders.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::names;
use crate::error::{Error, FileContext, Result};
use crate::session::{ExportMode, SessionFacts};
use crate::store::Store;

/// What became of one session of an export.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportReport {
    /// The session's id.
    pub session: String,
    /// Its file.
    pub path: PathBuf,
    /// The bytes written, or why there is no file.
    pub outcome: Result<u64>,
}

impl Store {
    /// Writes every session below `folder`, and tells of each. Files have the names that the session's program gives them:
    /// `--<cwd>--/<time>_<id>.jsonl` (pi and omp), `<project>/<id>.jsonl` (Claude Code), `<id>.jsonl` (Opal).
    ///
    /// Each file is written beside its place and renamed, so that a file with that name is always whole. A
    /// session that cannot be exported costs the others nothing.
    ///
    /// # Errors
    ///
    /// Only where the list of sessions cannot be read.
    pub fn export_all(
        &self,
        folder: impl AsRef<Path>,
        mode: &ExportMode,
        mut tell: impl FnMut(&ExportReport),
    ) -> Result<()> {
        let mut taken = HashSet::new();
        for facts in self.sessions()? {
            let path = folder.as_ref().join(free_name(&facts, &mut taken));
            let outcome = self.export_file(&facts.id, mode, &path);
            tell(&ExportReport { session: facts.id, path, outcome });
        }
        Ok(())
    }

    /// Writes a session to a file, beside its place and renamed; answers the bytes written.
    ///
    /// # Errors
    ///
    /// [`Error::File`] of the file, and those of [`crate::SessionReader::export`].
    pub fn export_file(&self, session: &str, mode: &ExportMode, path: &Path) -> Result<u64> {
        let session = self.session(session)?;
        let reader = session.reader()?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(folder).at("making the folder", folder)?;
        let temporary = tempfile::Builder::new()
            .prefix(".leafline-")
            .permissions(new_file_permissions())
            .tempfile_in(folder)
            .at("making a file in", folder)?;
        let mut out = BufWriter::with_capacity(1 << 20, temporary.as_file());
        let written = match reader.export(mode, &mut out) {
            Err(Error::Output(source)) => {
                return Err(Error::File { action: "writing", path: path.to_owned(), source });
            }
            other => other?,
        };
        out.flush().at("writing", path)?;
        drop(out);
        temporary.as_file().sync_all().at("writing", path)?;
        temporary.persist(path).map_err(|error| error.error).at("naming", path)?;
        sync_folder(folder);
        Ok(written)
    }
}

/// What a file made in the ordinary way would have; a temporary file is the owner's alone.
#[cfg(unix)]
fn new_file_permissions() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o666)
}

#[cfg(not(unix))]
fn new_file_permissions() -> std::fs::Permissions {
    // The one platform-independent source of permissions is a file that has them.
    std::env::current_exe()
        .and_then(std::fs::metadata)
        .map(|metadata| metadata.permissions())
        .expect("a running program's file can be looked at")
}

/// Makes the rename durable where the system can; elsewhere it is when the system says so.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// The session's name below the folder; a second session with the same one gets a number.
fn free_name(facts: &SessionFacts, taken: &mut HashSet<PathBuf>) -> PathBuf {
    let first = names::path(facts);
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    let mut path = first.clone();
    let mut number = 2;
    while !taken.insert(path.clone()) {
        path = first.with_file_name(format!("{stem}-{number}.jsonl"));
        number += 1;
    }
    path
}
