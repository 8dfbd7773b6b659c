//! Bulk import: files and folders become sessions.

mod blob_folder;
mod candidate;
mod dictionary;
mod folder;
mod grow;
mod known;
mod losses;
mod pipeline;
mod read;
mod report;
mod writer;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crossbeam_channel::unbounded;

use self::blob_folder::BlobFolder;
use self::pipeline::Stopped;
use self::read::Reader;
pub use self::report::{FileReport, ImportObserver, ImportOptions, ImportStatus, ImportTotals};
use self::writer::Writer;
use crate::error::Result;
use crate::store::Store;
use crate::store::owner::Owner;

/// A bulk import ends with a compaction when it has brought more than this part of the file.
const COMPACT_SHARE: u64 = 4;

/// And when the file is at least as large: 16 MiB.
const COMPACT_FROM: u64 = 16 << 20;

impl Store {
    /// Imports files, and the `*.jsonl` files of folders and of the folders in them.
    ///
    /// Each file is stored as a whole or not at all; what a report calls imported is on disk. A file that is
    /// no session, or that cannot be read, is reported and costs the others nothing. Memory is bounded
    /// whatever the files' sizes, by 256 MB and the longest line.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("session.jsonl");
    /// std::fs::write(&file, concat!(
    ///     r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#, "\n",
    ///     r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi"}}"#, "\n",
    /// )).unwrap();
    /// let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// let totals = store.import(&[&file], &leafline::ImportOptions::default(), &mut ())?;
    /// assert_eq!((totals.imported, totals.entries), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Only where the store itself fails; a file's failure is in its report.
    pub fn import(
        &self,
        paths: &[impl AsRef<Path>],
        options: &ImportOptions,
        observer: &mut dyn ImportObserver,
    ) -> Result<ImportTotals> {
        self.sweep()?;
        let mut outcome = Outcome { totals: ImportTotals::default(), observer };
        let files = folder::find(paths, &mut outcome);
        let bytes = files.iter().map(|(_, size)| size).sum();
        outcome.observer.begin(files.len() as u64, bytes);
        let owner = Owner::new(self.path())?;
        let run = self.import_files(files, options, &owner, &mut outcome);
        let swept = self.sweep_own(&owner);
        run?;
        swept?;
        Ok(outcome.totals)
    }

    fn import_files(
        &self,
        files: Vec<(PathBuf, u64)>,
        options: &ImportOptions,
        owner: &Owner,
        outcome: &mut Outcome<'_>,
    ) -> Result<()> {
        let dictionary = dictionary::choose(self, &files)?;
        let blobs = options.blobs.clone().map(BlobFolder::new);
        let (send, reports) = unbounded();
        let writer = Writer::new(self, owner, dictionary.id, send);
        let mut reader_error = None;
        let written = pipeline::run(writer, &dictionary, blobs.as_ref(), |feeder| {
            let mut reader = Reader::new(self, options, blobs.as_ref(), &dictionary);
            let mut in_flight = HashSet::new();
            for (path, _) in files {
                while let Ok(report) = reports.try_recv() {
                    outcome.add(&report);
                }
                match reader.read_file(&path, &mut in_flight, feeder, outcome) {
                    Ok(Ok(())) => {}
                    Ok(Err(stopped)) => return Err(stopped),
                    Err(error) => {
                        reader_error = Some(error);
                        return Err(Stopped);
                    }
                }
            }
            Ok(())
        });
        for report in reports {
            outcome.add(&report);
        }
        written?;
        reader_error.map_or(Ok(()), Err)
    }

    /// Whether an import of so many bytes has left enough room in the file to give back.
    pub fn is_worth_compacting(&self, totals: &ImportTotals) -> Result<bool> {
        let file = self.file_bytes()?;
        let brought = totals.imported + totals.replaced + totals.grown > 0;
        Ok(brought && file >= COMPACT_FROM && totals.bytes / COMPACT_SHARE >= file / COMPACT_SHARE)
    }
}

/// Adds reports up, and passes them on.
struct Outcome<'o> {
    totals: ImportTotals,
    observer: &'o mut dyn ImportObserver,
}

impl Outcome<'_> {
    fn add(&mut self, report: &FileReport) {
        self.totals.add(report);
        self.observer.file(report);
    }
}

/// A step of reading: the outer result is the store's, the inner says whether the pipeline goes on.
type Step<T = ()> = Result<Result<T, Stopped>>;

/// Unwraps a step of the pipeline within a function that answers a [`Step`].
macro_rules! go_on {
    ($step:expr) => {
        match $step {
            Ok(value) => value,
            Err(stopped) => return Ok(Err(stopped)),
        }
    };
}
use go_on;

