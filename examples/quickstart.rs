//! Imports a folder of sessions, and reads them again.
//!
//! ```text
//! cargo run --example quickstart                     the samples of this repository
//! cargo run --example quickstart ~/.pi/agent/sessions
//! ```

use std::path::PathBuf;

use leafline::Store;
use leafline::export::ExportMode;
use leafline::import::{FileReport, ImportObserver, ImportOptions};

/// Prints each file's outcome once it is on disk.
struct Printer;

impl ImportObserver for Printer {
    fn file(&mut self, report: &FileReport) {
        let session = report.session.as_deref().unwrap_or("-");
        let reason = report.reason.as_deref().unwrap_or_default();
        println!("  {:?}: {session}, {} entries {reason}", report.status, report.entries);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples");
    let sessions = std::env::args_os().nth(1).map_or_else(|| PathBuf::from(samples), PathBuf::from);
    let folder = tempfile::tempdir()?;
    let store = Store::open(folder.path().join("sessions.leafline"))?;

    println!("Importing {}", sessions.display());
    // omp keeps images in files of their own; where the folder is known, the store takes them in.
    let blobs = Some(sessions.join("blobs")).filter(|blobs| blobs.is_dir());
    let options = ImportOptions { blobs, ..ImportOptions::default() };
    let totals = store.import(&[&sessions], &options, &mut Printer)?;
    println!("{} sessions, {} lines, {} bytes", totals.imported, totals.lines, totals.bytes);

    println!("\nSessions, the one with the latest message first");
    let list = store.sessions()?;
    for facts in &list {
        let name = facts.title.as_ref().or(facts.first_prompt.as_ref());
        println!("  {} {:>4} entries  {}", facts.id, facts.entries, name.map_or("", |name| name));
    }
    let Some(newest) = list.first() else {
        return Ok(());
    };

    // A reader shows the session as it is now, whatever is written meanwhile.
    let session = store.session(&newest.id)?;
    let reader = session.reader()?;
    let Some(leaf) = reader.get_leaf()? else {
        return Ok(());
    };

    println!("\nThe path to the leaf of {}", session.id());
    let mut last_id = None;
    let length = reader.get_path(None, |entry| {
        println!("  line {:>3}  {} {}", entry.ordinal(), entry.kind(), entry.role());
        last_id = entry.id();
        Ok(())
    })?;
    println!("  {length} entries; the leaf is line {}", leaf.ordinal());

    if let Some(id) = last_id {
        let entry = session.get_entry(&id)?;
        println!("\nEntry {id}, {} bytes", entry.line().len());
        println!(
            "  {}",
            String::from_utf8_lossy(entry.line()).chars().take(150).collect::<String>()
        );
    }

    // `Exact` gives back the bytes of the imported file.
    let mut exact = Vec::new();
    let written = reader.export(&ExportMode::Exact, &mut exact)?;
    println!("\nExported {written} bytes");
    Ok(())
}
