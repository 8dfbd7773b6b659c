//! Replaces a part of a path by other messages, as Opal's compaction does.
//!
//! The session is written again without the part, as a new session, which then replaces the old one under all its
//! names: before that commit everyone sees the old one, after it the new one.

use std::collections::HashSet;

use leafline_import::opal::{
    self, ParentId, ReplaceError, ReplaceOptions, Tree, replace_path_segment, with_parent_id,
};
use leafline_import::{Family, ParentLink, Reading, read_line};

use crate::error::{Error, LiveError, Result};
use crate::session::index::finish::NewLeaf;
use crate::session::live::append::exact_id;
use crate::session::live::build::Builder;
use crate::session::view::View;
use crate::session::{Entry, Session, SessionReader};
use crate::store::Store;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;

/// How often a session is written again if others change it meanwhile.
const ATTEMPTS: u32 = 16;

impl Session {
    /// Replaces a part of a path, as
    /// [`OpalSession::replace_path_segment`](super::OpalSession::replace_path_segment) describes it.
    pub(super) fn replace_segment(
        &mut self,
        messages: &[&str],
        drafts: Vec<opal::Draft>,
        options: ReplaceOptions,
    ) -> Result<Vec<String>> {
        self.only_opal("replacement of a part of the path")?;
        if drafts.is_empty() {
            let problem = "the messages need a replacement: none was given".to_owned();
            return Err(Error::Live(LiveError::InvalidEntry { problem }));
        }
        self.persist(|session| {
            let place = (session.key(), session.id());
            let (key, ids) = replace(session.place(), place, messages, &drafts, options)?;
            session.is_now(key);
            Ok(ids)
        })
    }
}

/// Writes the session again until nobody has changed it meanwhile. Returns its key, and the new messages' ids.
fn replace(
    store: &Store,
    session: (SessionKey, &str),
    messages: &[&str],
    drafts: &[opal::Draft],
    options: ReplaceOptions,
) -> Result<(SessionKey, Vec<String>)> {
    for _ in 0..ATTEMPTS {
        let reader = SessionReader::open(store.snapshot()?, session)?;
        let plan = Plan::new(reader.view(), messages, drafts, options)?;
        let mut builder = Builder::in_place_of(store, reader.view())?;
        let leaf = plan.copy(&reader, &mut builder)?;
        if let Some(key) = builder.finish_in_place(NewLeaf::Line(leaf))? {
            return Ok((key, plan.ids));
        }
    }
    Err(Error::Live(LiveError::Contended { id: session.1.to_owned() }))
}

/// What becomes of each line.
struct Plan {
    /// The line at which the replacements are written.
    first: Ordinal,
    removed: HashSet<Ordinal>,
    /// The ids of the removed messages, if earlier messages may have the same: Opal knows only the last of them.
    removed_ids: HashSet<Vec<u8>>,
    reparented: HashSet<Ordinal>,
    moves_leaf: bool,
    /// The replacements' lines and ids.
    lines: Vec<Vec<u8>>,
    ids: Vec<String>,
}

impl Plan {
    fn new(
        view: View<'_>,
        messages: &[&str],
        drafts: &[opal::Draft],
        options: ReplaceOptions,
    ) -> Result<Self> {
        let ordinals: Vec<Ordinal> =
            messages.iter().map(|id| view.named(id)).collect::<Result<_>>()?;
        let leaf = view.leaf()?;
        let plan = replace_path_segment(&mut Messages(view), &ordinals, leaf.as_ref(), options)
            .map_err(|error| not_a_segment(view, messages, error))?;
        let first = *ordinals.first().expect("a part of a path has a message");
        let parent = parent_of(view.reading(), &view.entry(first)?);
        let (lines, ids) = write_drafts(view, parent, drafts)?;
        let has_duplicates = view.record().duplicates > 0;
        let removed_ids = messages.iter().filter(|_| has_duplicates);
        Ok(Self {
            first,
            removed: plan.removed.into_iter().collect(),
            removed_ids: removed_ids.map(|id| id.as_bytes().to_vec()).collect(),
            reparented: plan.reparented.into_iter().collect(),
            moves_leaf: plan.moves_leaf,
            lines,
            ids,
        })
    }

    /// Passes the session's lines to the builder. Returns the leaf's line among them.
    fn copy(&self, reader: &SessionReader, builder: &mut Builder<'_>) -> Result<Option<Ordinal>> {
        let old_leaf = reader.view().leaf()?;
        let new_parent = self.ids.last().map(String::as_bytes).unwrap_or_default();
        let mut written = 0;
        let mut leaf = None;
        let mut line = Vec::new();
        reader.lines(0, |entry| {
            if entry.place() == self.first {
                for replacement in &self.lines {
                    builder.push(replacement)?;
                    written += 1;
                }
                if self.moves_leaf {
                    leaf = Ordinal::last_of(written);
                }
            }
            if self.drops(reader.reading(), &entry) {
                return Ok(true);
            }
            if old_leaf == Some(entry.place()) {
                leaf = Some(Ordinal::after(written));
            }
            line.clear();
            if self.reparented.contains(&entry.place()) {
                with_parent_id(entry.line(), ParentId::Id(new_parent), &mut line)?;
            } else {
                line.extend_from_slice(entry.line());
            }
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            builder.push(&line)?;
            written += 1;
            Ok(true)
        })?;
        Ok(leaf)
    }

    fn drops(&self, reading: Reading, entry: &Entry) -> bool {
        let is_hidden = || {
            entry.kind().is_entry()
                && exact_id(reading, entry.line()).is_some_and(|id| self.removed_ids.contains(&id))
        };
        self.removed.contains(&entry.place()) || (!self.removed_ids.is_empty() && is_hidden())
    }
}

/// The id that a line names as its parent, whether the session has such a message or not.
fn parent_of(reading: Reading, line: &Entry) -> Option<Vec<u8>> {
    read_line(reading, line.line(), |line| match line.parent() {
        ParentLink::Id(id) => Some(id.into_owned()),
        ParentLink::None | ParentLink::NoId | ParentLink::Previous => None,
    })
}

/// The drafts' lines, each below the one before, and their ids.
fn write_drafts(
    view: View<'_>,
    mut parent: Option<Vec<u8>>,
    drafts: &[opal::Draft],
) -> Result<(Vec<Vec<u8>>, Vec<String>)> {
    let (mut lines, mut ids) = (Vec::new(), Vec::<String>::new());
    for draft in drafts {
        let id = Family::Opal.fresh_entry_id(|id| -> Result<bool> {
            let stored = view.find(id.as_bytes())?;
            Ok(stored.is_some() || ids.iter().any(|known| known == id))
        })?;
        let mut line = Vec::new();
        draft.write(
            id.as_bytes(),
            parent.as_deref().map_or(ParentId::Null, ParentId::Id),
            &mut line,
        );
        parent = Some(id.clone().into_bytes());
        lines.push(line);
        ids.push(id);
    }
    Ok((lines, ids))
}

/// The stored tree. Ordinals name its messages.
struct Messages<'s>(View<'s>);

impl Tree for Messages<'_> {
    type Id = Ordinal;
    type Error = Error;

    fn parent(&mut self, message: &Ordinal) -> Result<Option<Option<Ordinal>>> {
        Ok(Some(self.0.entry_node(*message)?.parent.ordinal()))
    }

    fn children(&mut self, message: &Ordinal) -> Result<Vec<Ordinal>> {
        self.0.children(Some(*message))
    }
}

fn not_a_segment(view: View<'_>, messages: &[&str], error: ReplaceError<Ordinal, Error>) -> Error {
    let named = |place: usize| messages.get(place).copied().unwrap_or_default();
    let problem = match error {
        ReplaceError::Tree(error) => return error,
        ReplaceError::Unknown { place, .. } => return view.not_found(named(place)),
        ReplaceError::Empty => "none was given".to_owned(),
        ReplaceError::Repeated { first, place, .. } => {
            format!("{:?} is number {} and number {}", named(place), first + 1, place + 1)
        }
        ReplaceError::NotConsecutive { place, .. } => format!(
            "{:?}, number {}, is not a child of {:?}, the one before it",
            named(place),
            place + 1,
            named(place - 1)
        ),
        ReplaceError::Loop { .. } => {
            format!("the parent of {:?}, the first, is one of them", named(0))
        }
        other => other.to_string(),
    };
    Error::Live(LiveError::NotASegment { session: view.record().id(), problem })
}
