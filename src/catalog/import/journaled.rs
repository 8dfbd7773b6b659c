//! A file that has grown by a few whole lines while others follow: a sync has them appended to the journal and needs no transaction
//! of the tables.

use std::io::{self, Read, Seek, SeekFrom};

use super::super::file_time::nanoseconds;
use super::beginning::take_title_beside;
use super::candidate::Candidate;
use super::digest::Digest;
use super::folder::FoundFile;
use super::quick::begins_alike;
use super::report::{FileReport, ImportOptions, ImportStatus};
use crate::error::Result;
use crate::session::index::beginning::fill;
use crate::session::live::{Beyond, FileGrowth};
use crate::session::view::View;
use crate::store::Store;
use crate::store::commit::proof;
use crate::store::fingerprint::block_start;
use crate::store::session_record::{ImportedBytes, SessionRecord};

/// The most bytes that are taken so, which a record of the journal has room for. More is worth a commit.
const MOST_GAINED: u64 = 128 << 10;

/// Takes what a file has gained into the journal. `None`, and nothing is written, if the file has to be compared with the tables;
/// `opened` is the file then if it was opened.
pub(super) fn take(
    store: &Store,
    (options, more_follows): (&ImportOptions, bool),
    found: &FoundFile,
    opened: &mut Option<Candidate>,
) -> Result<Option<FileReport>> {
    if !store.has_journal() || found.kept.is_some() {
        return Ok(None);
    }
    let Ok(absolute) = std::path::absolute(&found.path) else { return Ok(None) };
    let path = absolute.as_os_str().as_encoded_bytes();
    let snapshot = store.committed()?;
    let row = snapshot.journal_row()?;
    // Only a file that is followed is worth a new journal.
    if row.epoch == 0 && !more_follows {
        return Ok(None);
    }
    let Some(source) = snapshot.source(path)? else { return Ok(None) };
    let session = source.session;
    let Some(record) = snapshot.session(session)? else { return Ok(None) };
    let (before, source, is_journaled) = match store.beyond_tables(&row, session)? {
        Beyond::Nothing => (record.imported, source, false),
        Beyond::File(file) if file.path == path => (file.imported, file.source, true),
        Beyond::File(_) | Beyond::Other => return Ok(None),
    };
    let view = View::new(snapshot.rows(session), &record);
    let unchanged = || {
        let mut report = FileReport::new(found.path.clone(), ImportStatus::Unchanged);
        report.family = Some(record.known_family());
        report.bytes = found.bytes;
        report.describe(&record);
        Some(report)
    };
    let modified = found.modified.map(nanoseconds);
    if is_journaled
        && source.size == found.bytes
        && modified.is_some()
        && source.modified == modified
    {
        return Ok(unchanged());
    }
    let Ok(candidate) = Candidate::open_found(found, options.family, options.recovery) else {
        return Ok(None);
    };
    let candidate = opened.insert(candidate);
    let is_open = candidate.leave_open_line(before.length).is_err();
    let is_known = is_journaled || candidate.size > before.length;
    if is_open || !is_known || !takes_lines(&record, &before, candidate) {
        return Ok(None);
    }
    if proof::at_its_ends(view.rows(), &record)?.is_some() || !begins_alike(view, candidate)? {
        return Ok(None);
    }
    // What cannot be read here is read, and reported, in the ordinary way.
    let Ok(Some((lines, after))) = gained(candidate, &before, options.longest_line) else {
        return Ok(None);
    };
    let Some((_, now)) = candidate.source(session) else { return Ok(None) };
    if lines.is_empty() && now == source {
        return Ok(unchanged());
    }
    let growth = FileGrowth { before, lines: &lines, after, path, source: now, more_follows };
    let id = record.id();
    drop(snapshot);
    let Some(file) = growth.append(store, (session, &id))? else { return Ok(None) };
    if lines.is_empty() {
        return Ok(unchanged());
    }
    let mut report = candidate.report(ImportStatus::Grown);
    report.describe(&record);
    (report.lines, report.entries, report.stored) = (file.lines, file.entries, lines.len() as u64);
    Ok(Some(report))
}

/// Whether the session is what the file was, and new lines say nothing but what they have in them.
fn takes_lines(record: &SessionRecord, before: &ImportedBytes, candidate: &Candidate) -> bool {
    let mut noted = record.clone();
    fill(&mut noted, &candidate.start);
    take_title_beside(&mut noted, candidate);
    before.length > 0
        && before.complete
        && candidate.size >= before.length
        && !record.is_ahead()
        && !record.migrated
        && !candidate.needs_migration()
        && record.external_id == candidate.external_id()
        && record.reading() == candidate.reading()
        && !record.known_family().saves_whole()
        && (record.agent.is_none() || candidate.is_certain_agent())
        && noted == *record
}

/// The lines that a file has gained, and what the store has of it with them. `None` if they are too many, the last one has no end,
/// or the file does not begin with what is known of it: of a file that has not grown all of it is compared, otherwise the last block.
fn gained(
    candidate: &mut Candidate,
    before: &ImportedBytes,
    longest_line: u64,
) -> io::Result<Option<(Vec<u8>, ImportedBytes)>> {
    let gained = candidate.size - before.length;
    if gained > MOST_GAINED.min(longest_line) {
        return Ok(None);
    }
    if gained == 0 {
        let is_same = candidate.digests(&[before.length])?.first().copied()
            == Some((before.length, before.digest));
        return Ok(is_same.then(|| (Vec::new(), *before)));
    }
    let start = block_start(before.length);
    candidate.file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    (&mut candidate.file).take(candidate.size - start).read_to_end(&mut bytes)?;
    let known = usize::try_from(before.length - start).unwrap_or(usize::MAX);
    let Some((known, lines)) = bytes.split_at_checked(known) else { return Ok(None) };
    let mut digest = Digest::resume(before);
    digest.take(known);
    if digest.clone().finish().digest != before.digest {
        return Ok(None);
    }
    digest.take(lines);
    let after = digest.finish();
    let is_whole = after.complete && after.length == candidate.size;
    Ok(is_whole.then(|| (lines.to_vec(), after)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs::{File, OpenOptions};
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    use tempfile::TempDir;

    use super::super::read::Mode;
    use super::super::{How, ImportOptions, ImportTotals, find_files};
    use crate::session::ExportMode;
    use crate::store::Store;

    /// A store and a file that is followed.
    struct Scene {
        folder: TempDir,
        file: PathBuf,
        store: Store,
        lines: usize,
    }

    impl Scene {
        /// A file that has grown until the store uses a journal.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("f.jsonl");
            let header = r#"{"type":"session","version":3,"id":"f","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
            std::fs::write(&file, format!("{header}\n")).unwrap();
            let store = Store::open(folder.path().join("store")).unwrap();
            let mut scene = Self { folder, file, store, lines: 0 };
            assert_eq!(scene.follow().imported, 1);
            for _ in 0..2 {
                scene.add_line();
                assert_eq!(scene.follow().grown, 1);
            }
            assert_ne!(scene.store.committed().unwrap().journal_row().unwrap().epoch, 0);
            scene
        }

        fn add_line(&mut self) {
            let number = self.lines;
            let parent =
                number.checked_sub(1).map_or("null".to_owned(), |above| format!("\"m{above}\""));
            let mut file = OpenOptions::new().append(true).open(&self.file).unwrap();
            writeln!(
                file,
                r#"{{"type":"message","id":"m{number}","parentId":{parent},"message":{{"role":"user","content":"line {number}"}}}}"#
            )
            .unwrap();
            self.lines += 1;
        }

        fn follow(&self) -> ImportTotals {
            follow(&self.store, &self.file)
        }

        /// The number of the journal's last record.
        fn last_record(&self) -> u64 {
            let row = self.store.committed().unwrap().journal_row().unwrap();
            let mut lock = self.store.lock_journal().unwrap().unwrap();
            lock.catch_up(&row).unwrap();
            lock.last().sequence
        }

        /// The store and its journal as a killed process leaves them.
        fn image(&self, name: &str) -> PathBuf {
            let image = self.folder.path().join(name);
            for ending in ["", ".journal"] {
                let from = format!("{}{ending}", self.store.path().display());
                std::fs::copy(from, format!("{}{ending}", image.display())).unwrap();
            }
            image
        }

        /// Asserts that a store has the file's bytes, and knows of the file what an import of all of it says.
        fn is_in(&self, store: &Store) {
            let reader = store.reader("f").unwrap();
            let mut bytes = Vec::new();
            reader.export(&ExportMode::Original, &mut bytes).unwrap();
            assert_eq!(bytes, std::fs::read(&self.file).unwrap());
            let whole = Store::in_memory().unwrap();
            whole.import(&[&self.file], &ImportOptions::default(), &mut ()).unwrap();
            let whole = whole.reader("f").unwrap();
            assert_eq!(reader.record().imported, whole.record().imported);
            assert_eq!(reader.facts().entries, self.lines as u64);
            assert_eq!(store.verify().unwrap().problems, []);
        }
    }

    fn follow(store: &Store, file: &Path) -> ImportTotals {
        let options = ImportOptions::default();
        let how = How { options: &options, mode: Mode::Follow, named: &HashSet::new() };
        store.import_by((&[file], &[]), &how, &mut ()).unwrap()
    }

    #[test]
    fn each_growth_is_one_record_of_the_journal() {
        let mut scene = Scene::new();
        for _ in 0..20 {
            scene.add_line();
            let before = scene.last_record();
            let totals = scene.follow();
            assert_eq!((totals.grown, totals.entries), (1, scene.lines as u64));
            assert_eq!(scene.last_record(), before + 1);
            // What is in the journal is not taken again.
            assert_eq!(scene.follow().unchanged, 1);
            assert_eq!(scene.last_record(), before + 1);
        }
        // Once the time of the file is certain, it is noted.
        let long_ago = SystemTime::now() - Duration::from_secs(100);
        File::options().write(true).open(&scene.file).unwrap().set_modified(long_ago).unwrap();
        let before = scene.last_record();
        for _ in 0..2 {
            assert_eq!(scene.follow().unchanged, 1);
            assert_eq!(scene.last_record(), before + 1);
        }
        scene.is_in(&scene.store);
        assert_eq!(scene.follow().unchanged, 1);
        let Scene { folder, file, store, .. } = scene;
        drop(store);
        let store = Store::open(folder.path().join("store")).unwrap();
        assert_eq!(follow(&store, &file).unchanged, 1);
    }

    #[test]
    fn a_kill_between_two_lines_loses_none_and_takes_none_twice() {
        let mut scene = Scene::new();
        for number in 0..3 {
            let [before, after] = ["before", "after"].map(|name| format!("{name}-{number}"));
            scene.add_line();
            let before = scene.image(&before);
            assert_eq!(scene.follow().grown, 1);
            let after = scene.image(&after);
            for (image, grown) in [(before, 1), (after, 0)] {
                let store = Store::open(image).unwrap();
                let totals = follow(&store, &scene.file);
                assert_eq!((totals.grown, totals.unchanged), (grown, 1 - grown));
                scene.is_in(&store);
                assert_eq!(follow(&store, &scene.file).unchanged, 1);
            }
        }
    }

    #[test]
    fn other_changes_of_the_session_come_between() {
        let mut scene = Scene::new();
        scene.add_line();
        assert_eq!(scene.follow().grown, 1);
        // The store's own entry follows what only the journal has, and the next lines of the file are merged with it.
        let said = serde_json::json!({"role": "user", "content": "own"});
        let own = scene.store.session("f").unwrap().append_message(&said).unwrap();
        scene.add_line();
        assert_eq!(scene.follow().grown, 1);
        let reader = scene.store.reader("f").unwrap();
        assert_eq!(reader.facts().entries, scene.lines as u64 + 1);
        assert!(reader.get_entry(&own).is_ok());
        // An entry that is repeated changes what earlier lines mean.
        let mut scene = Scene::new();
        scene.lines -= 1;
        scene.add_line();
        scene.lines += 1;
        assert_eq!(scene.follow().grown, 1);
        assert_eq!(scene.store.reader("f").unwrap().facts().entries, 3);
        // A file that was rewritten is compared as a whole.
        let text = std::fs::read_to_string(&scene.file).unwrap().replace("line 0", "line X");
        std::fs::write(&scene.file, text).unwrap();
        scene.add_line();
        assert_eq!(scene.follow().grown + scene.follow().unchanged, 1);
        assert_eq!(scene.store.verify().unwrap().problems, []);
    }

    #[test]
    fn a_file_that_does_not_fit_the_journal_is_opened_once() {
        let mut scene = Scene::new();
        scene.lines -= 1;
        scene.add_line();
        let found = find_files(&[&scene.file], &mut |_, _| {}).remove(0);
        let mut opened = None;
        let taken =
            super::take(&scene.store, (&ImportOptions::default(), true), &found, &mut opened);
        assert!(taken.unwrap().is_none());
        assert!(opened.is_some());
    }
}
