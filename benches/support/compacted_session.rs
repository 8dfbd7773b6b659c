//! Sessions that end in a compaction: long above it, short in what it keeps.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::session_file::{self, SessionFile, folder};

/// Entries that the compaction keeps.
pub(crate) const KEPT: usize = 50;

/// The session with one more entry: a compaction that keeps the last entries.
pub(crate) fn compacted(plain: &SessionFile) -> SessionFile {
    let name = plain.path().file_name().expect("a session is a file").to_string_lossy();
    let path = folder().join(format!("compacted-{name}"));
    if !path.exists() {
        let ids = plain.entry_ids();
        let last = ids.last().expect("a session has entries");
        let kept = ids.get(ids.len() - KEPT).expect("a session is long");
        session_file::write(&path, |out| {
            std::io::copy(&mut plain.open(), out)?;
            write_compaction(out, last, kept)
        });
    }
    SessionFile::in_place(path)
}

/// A session with this many messages in one chain, and a compaction that keeps the last of them.
pub(crate) fn linear(messages: u32) -> SessionFile {
    let path: PathBuf = folder().join(format!("linear-{messages}.jsonl"));
    if !path.exists() {
        write_linear(&path, messages);
    }
    SessionFile::in_place(path)
}

fn write_linear(path: &Path, messages: u32) {
    session_file::write(path, |out| {
        writeln!(
            out,
            r#"{{"type":"session","version":3,"id":"linear","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/work"}}"#
        )?;
        let mut parent = "null".to_owned();
        for message in 0..messages {
            writeln!(
                out,
                r#"{{"type":"message","id":"{}","parentId":{parent},"timestamp":"2026-03-01T08:00:00.000Z","message":{{"role":"user","content":"message {message} of a long conversation about nothing much","timestamp":1772352000000}}}}"#,
                id(message)
            )?;
            parent = format!("\"{}\"", id(message));
        }
        let kept = messages - u32::try_from(KEPT).expect("it is small");
        write_compaction(out, &id(messages - 1), &id(kept))
    });
}

/// Ids in an order that looks random; no two are equal.
fn id(message: u32) -> String {
    format!("{:08x}", message.wrapping_mul(0x9e37_79b1))
}

fn write_compaction(out: &mut impl Write, parent: &str, kept: &str) -> std::io::Result<()> {
    writeln!(
        out,
        r#"{{"type":"compaction","id":"compacted","parentId":"{parent}","timestamp":"2026-03-01T08:00:00.000Z","summary":"What was said before.","firstKeptEntryId":"{kept}","tokensBefore":100000}}"#
    )
}
