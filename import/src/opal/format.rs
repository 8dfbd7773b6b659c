//! Opal's rules.

use std::path::PathBuf;

use crate::family::Family;
use crate::file_name::FileName;
use crate::format::{Format, NotSaved, RecoveryRule};
use crate::leaf::{Decided, LeafFacts, LeafHint, SessionLines};
use crate::migration::NoMigration;
use crate::opal::canonical::canonical;
use crate::opal::reading::PayloadScanner;
use crate::opal::{
    CurrentId, NotASession, ParentId, detect, encode, last_of_longest_path, with_session,
};
use crate::start::{Refusal, Start};
use crate::text;
use crate::view::{self, View};

/// Opal's rules.
#[derive(Debug)]
pub enum Opal {}

impl Format for Opal {
    type Scanner = PayloadScanner;
    type Migration = NoMigration;
    type Writing = Self;

    const FOLDER: &'static [&'static str] = &[".opal", "sessions"];
    const RECOVERY: RecoveryRule = RecoveryRule::Never;

    fn detect(prefix: &[u8], _: bool, complete: bool) -> Result<Start, Refusal> {
        let header = detect(prefix, complete).map_err(|reason| Refusal {
            is_undecided: matches!(reason, NotASession::PrefixTooShort { .. }),
            is_certain: false,
            reason: reason.to_string(),
        })?;
        Ok(Start {
            id: header.session_id,
            cwd: header.cwd,
            title: header.title,
            created_ms: header.created_at_ms,
            leaf: match header.current_id {
                CurrentId::Absent => LeafHint::None,
                CurrentId::Null => LeafHint::NoLeaf,
                CurrentId::Id(id) => LeafHint::Entry(id),
            },
            ..Start::new(Family::Opal)
        })
    }

    /// The leaf as [`leaf`](crate::opal::leaf()) finds it.
    fn leaf<L: SessionLines>(lines: &mut L, facts: &LeafFacts<'_>) -> Result<Decided, L::Error> {
        let current = match facts.hint {
            LeafHint::NoLeaf => return Ok(Decided::default()),
            LeafHint::Entry(id) => lines.find(id)?,
            LeafHint::None => None,
        };
        let leaf = match current {
            Some(current) => Some(current),
            None => longest(lines, facts)?,
        };
        Ok(Decided { leaf, summary: None })
    }

    fn canonical(text: &str) -> Option<Vec<u8>> {
        canonical(text)
    }

    fn save_header(
        line: &[u8],
        id: &[u8],
        leaf: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), NotSaved> {
        let mut header = Vec::with_capacity(line.len());
        let current_id = leaf.map_or(ParentId::Null, ParentId::Id);
        with_session(line, id, current_id, &mut header).map_err(NotSaved::new)?;
        Self::save_line(&header, out)
    }

    /// The line as Opal's encoder writes it, with all its members.
    fn save_line(line: &[u8], out: &mut Vec<u8>) -> Result<(), NotSaved> {
        let decoded = text::decode(line);
        encode(text::trim_start_of_file(&decoded), out).map_err(NotSaved::new)?;
        out.push(b'\n');
        Ok(())
    }

    /// `<id>.jsonl` (observed).
    fn file_path(name: &FileName<'_>) -> PathBuf {
        PathBuf::from(name.of_id())
    }

    fn is_file_path(name: &FileName<'_>, below: &[&str]) -> bool {
        matches!(below, [file] if *file == name.of_id())
    }

    fn view(line: &str) -> View {
        view::opal(line)
    }

    fn view_message(message: &str) -> View {
        view::opal(message)
    }
}

/// The last message of the longest path; of several paths, the one whose last message comes last. Depths in a regular
/// session are exact.
fn longest<L: SessionLines>(lines: &mut L, facts: &LeafFacts<'_>) -> Result<Option<u64>, L::Error> {
    let mut longest = None;
    let mut all = Vec::new();
    for ordinal in 0..facts.lines {
        let node = lines.node(ordinal)?;
        if !node.kind.is_entry() {
            continue;
        }
        if facts.is_regular {
            longest = longest.max(Some((node.depth, ordinal)));
        } else {
            all.push((ordinal, node.parent));
        }
    }
    if facts.is_regular {
        return Ok(longest.map(|(_, ordinal)| ordinal));
    }
    Ok(last_of_longest_path(all))
}
