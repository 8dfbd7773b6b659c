//! A stored session as the families see it.

use leafline_import::conversation::{
    Above, Conversation, Images, Link, Node, PathEnd, PathLimit, PathRuns, PathSettings,
};
use leafline_import::{
    Effect, EntryKind, LineReader, MessageRole, ProgramVersion, read_line, text,
};

use super::super::ancestor::is_ancestor;
use super::super::change::whole_change;
use super::super::lines::LineCursor;
use super::super::render::{Renderer, Rendering};
use super::super::view::{View, is_entry};
use crate::error::{Error, Result};
use crate::store::chunk::{Hole, HoleKind};
use crate::store::node::{Node as StoredNode, Parent};
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::PointerKind;
use crate::store::settings_record::SettingsRecord;

/// A session's index and lines.
pub(super) struct Stored<'r> {
    view: View<'r>,
    is_indexed: bool,
    as_of: Option<ProgramVersion>,
    cursor: LineCursor<'r>,
    /// The current line, if it differs from its stored form.
    rendered: Vec<u8>,
}

impl<'r> Stored<'r> {
    pub(super) fn new(view: View<'r>) -> Self {
        let record = view.record();
        Self {
            view,
            is_indexed: !record.irregular && record.unaddressed == 0,
            as_of: None,
            cursor: view.cursor().keeping_chunks(),
            rendered: Vec::new(),
        }
    }

    /// The same, to be read by the rules of a version.
    pub(super) fn by_rules_of(self, as_of: Option<ProgramVersion>) -> Self {
        Self { as_of, ..self }
    }

    /// The settings in force at an entry, from the lines of its path.
    fn settings_by_lines(&self, entry: Ordinal) -> Result<SettingsRecord> {
        let mut settings = SettingsRecord::default();
        let mut lines = LineReader::new(self.view.reading());
        let mut cursor = self.view.cursor();
        for ordinal in self.view.walk(entry).up_to(PathLimit::Root)?.downwards() {
            let line = cursor.line(Ordinal::new(ordinal))?;
            let decoded = text::decode(line.text);
            let Some(Effect::Settings(stored)) = lines.read(&decoded).effect() else { continue };
            if let Some(change) = whole_change(self.view, &line, stored)?
                && !settings.is_kept_by(&change)
            {
                settings = settings.changed(&change);
            }
        }
        Ok(settings)
    }

    /// The node of a line, from the chunks whose lines are in memory if it is there.
    fn node_at_hand(&self, line: Ordinal) -> Result<StoredNode> {
        match self.cursor.node_at_hand(line) {
            Some(node) => Ok(*node),
            None => self.view.node(line),
        }
    }

    fn names_itself(&self, entry: Ordinal) -> Result<bool> {
        let line = self.view.line(entry)?;
        // What was cut out of the line is not an id.
        Ok(read_line(self.view.reading(), line.text(), |line| line.names_itself()))
    }
}

impl Conversation for Stored<'_> {
    type Error = Error;

    fn header(&self) -> Result<Option<u64>> {
        let record = self.view.record();
        if !record.header.is_within(record.lines) {
            return Ok(None);
        }
        let is_header = self.view.node(record.header)?.kind == EntryKind::Header.code();
        Ok(is_header.then_some(record.header.raw()))
    }

    fn last_entry(&self) -> Result<Option<u64>> {
        let end = Ordinal::after(self.view.record().lines);
        for ordinal in Ordinal::FIRST.up_to(end).rev() {
            if is_entry(&self.view.node(ordinal)?) {
                return Ok(Some(ordinal.raw()));
            }
        }
        Ok(None)
    }

    fn is_agent(&self) -> bool {
        self.view.record().agent.is_some()
    }

    fn recovers(&self) -> bool {
        self.view.reading().recovers
    }

    fn as_of(&self) -> Option<ProgramVersion> {
        self.as_of
    }

    fn is_indexed(&self) -> bool {
        self.is_indexed
    }

    fn find(&self, id: &[u8]) -> Result<Option<u64>> {
        Ok(self.view.find(id)?.map(Ordinal::raw))
    }

    fn last_copy(&self, entry: u64, id: &[u8]) -> Result<Option<u64>> {
        let record = self.view.record();
        // What is recovered of a line may be less than what the line says.
        if record.duplicates == 0 && record.recovered == 0 {
            return Ok(Some(entry));
        }
        self.find(id)
    }

    /// Claude Code's compactions, which all have a pointer.
    fn last_compaction(&self, place: u64) -> Result<Option<u64>> {
        let mut found = None;
        self.view.rows().pointers_backwards(|ordinal, pointer| {
            if pointer.kind == PointerKind::Boundary && ordinal.raw() <= place {
                found = Some(ordinal.raw());
            }
            Ok(found.is_none())
        })?;
        Ok(found)
    }

    fn node(&self, entry: u64) -> Result<Node> {
        let entry = Ordinal::new(entry);
        let node = self.node_at_hand(entry)?;
        self.view.order().check(entry, &node)?;
        Ok(seen(&node))
    }

    fn node_of_line(&self, place: u64) -> Result<Option<Node>> {
        let place = Ordinal::new(place);
        let node = self.node_at_hand(place)?;
        if !is_entry(&node) {
            return Ok(None);
        }
        self.view.order().check(place, &node)?;
        Ok(Some(seen(&node)))
    }

    fn node_ahead_of_line(&mut self, entry: u64) -> Result<Node> {
        let entry = Ordinal::new(entry);
        let node = self.cursor.line(entry)?.node;
        self.view.order().check(entry, node)?;
        Ok(seen(node))
    }

    fn parent(&self, entry: u64) -> Result<Link<u64>> {
        let entry = Ordinal::new(entry);
        match self.view.entry_node(entry)?.parent {
            Parent::At(parent) => Ok(Link::Entry(parent.raw())),
            Parent::None => Ok(Link::None),
            // The index counts an entry that is its own parent as an orphan.
            Parent::Orphan => {
                let is_own = self.names_itself(entry)?;
                Ok(if is_own { Link::Entry(entry.raw()) } else { Link::Missing })
            }
        }
    }

    fn children(&self, entry: u64) -> Result<Vec<u64>> {
        let children = self.view.children(Some(Ordinal::new(entry)))?;
        Ok(children.into_iter().map(Ordinal::raw).collect())
    }

    fn pointer(&self, entry: u64) -> Result<Link<u64>> {
        let Some(target) = self.view.rows().pointer(Ordinal::new(entry))?.target else {
            return Ok(Link::None);
        };
        Ok(self.find(&target)?.map_or(Link::Missing, Link::Entry))
    }

    fn is_above(&self, above: u64, below: u64) -> Result<bool> {
        is_ancestor(self.view, Ordinal::new(above), Ordinal::new(below))
    }

    fn settings(&self, entry: u64) -> Result<PathSettings> {
        let entry = Ordinal::new(entry);
        let record = if self.is_indexed {
            let id = self.view.entry_node(entry)?.settings;
            self.view.rows().settings(id)?
        } else {
            self.settings_by_lines(entry)?
        };
        let SettingsRecord { thinking_level, model, models, mode, injected_rules, .. } = record;
        Ok(PathSettings { thinking_level, model, models, mode, injected_rules })
    }

    fn path(&self, from: u64, limit: PathLimit) -> Result<PathRuns> {
        self.view.walk(Ordinal::new(from)).up_to(limit)
    }

    fn climb(
        &self,
        from: u64,
        mut above: impl FnMut(u64) -> Result<Above<u64>>,
    ) -> Result<(PathRuns, PathEnd)> {
        let mut walk = self.view.walk(Ordinal::new(from));
        let end = loop {
            let Some((ordinal, _)) = walk.step()? else { break PathEnd::Loop };
            match above(ordinal.raw())? {
                Above::Entry(above) => walk.go_on(ordinal, Ordinal::new(above)),
                Above::End(end) => break end,
            }
        };
        Ok((walk.finish(), end))
    }

    fn line(&mut self, place: u64, images: Images<'_>) -> Result<&[u8]> {
        let line = self.cursor.line(Ordinal::new(place))?;
        let resolved = match images {
            Images::Omitted => return Ok(line.text),
            _ if line.holes.is_empty() => return Ok(line.text),
            Images::AsWritten => None,
            Images::Resolved(places) => resolved_holes(line.text, line.holes, places),
        };
        let (rendering, holes) = match &resolved {
            Some(resolved) => (Rendering::InlineImages, &**resolved),
            None => (Rendering::Exact, line.holes),
        };
        self.rendered.clear();
        Renderer::new(self.view.snapshot(), rendering).render(
            line.text,
            holes,
            &mut self.rendered,
        )?;
        Ok(&self.rendered)
    }

    fn damage(&self, entry: u64, problem: String) -> Error {
        self.view.order().damage(Ordinal::new(entry), problem)
    }
}

/// What families see of a node.
fn seen(node: &StoredNode) -> Node {
    Node {
        kind: EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown),
        role: MessageRole::from_code(node.role).unwrap_or(MessageRole::None),
        is_sidechain: node.is_sidechain,
        time_ms: node.time,
        parent: node.parent.ordinal().map(Ordinal::raw),
        depth: node.depth,
        compaction: node.compaction.map(Ordinal::raw),
    }
}

/// The line's holes without the references that stay; `None` if it has no references.
fn resolved_holes(
    line: &[u8],
    holes: &[Hole],
    places: &dyn Fn(&str) -> Vec<usize>,
) -> Option<Vec<Hole>> {
    if holes.iter().all(|hole| hole.kind != HoleKind::ImageReference) {
        return None;
    }
    let places = places(&text::decode(line));
    let stays = |hole: &&Hole| {
        hole.kind != HoleKind::ImageReference
            || usize::try_from(hole.offset).is_ok_and(|offset| places.contains(&offset))
    };
    Some(holes.iter().filter(stays).cloned().collect())
}

#[cfg(test)]
mod tests {
    use leafline_import::conversation::HistoryScope;

    use super::*;
    use crate::Store;
    use crate::catalog::import::{ImportObserver, ImportOptions};
    use crate::import::FileReport;

    /// Collects the ids of imported sessions.
    #[derive(Default)]
    struct Sessions(Vec<String>);

    impl ImportObserver for Sessions {
        fn file(&mut self, report: &FileReport) {
            self.0.extend(report.session.clone());
        }
    }

    #[test]
    fn both_ways_choose_the_same_entries_and_settings() {
        use leafline_generate::{Family, random_tree_session};

        let folder = tempfile::tempdir().unwrap();
        for seed in 0..400 {
            let family = if seed % 2 == 0 { Family::Pi } else { Family::Omp };
            let entries = if seed % 8 == 0 { 400 } else { 60 };
            let bytes = random_tree_session(seed, entries, family);
            std::fs::write(folder.path().join(format!("{seed}.jsonl")), bytes).unwrap();
        }
        let store = Store::open(folder.path().join("store.leafline")).unwrap();
        let mut sessions = Sessions::default();
        store.import(&[folder.path()], &ImportOptions::default(), &mut sessions).unwrap();
        let (mut compared, mut keeping) = (0, 0);
        for id in &sessions.0 {
            let reader = store.reader(id).unwrap();
            let mut indexed = Stored::new(reader.view());
            if !indexed.is_indexed {
                continue;
            }
            let mut by_lines = Stored { is_indexed: false, ..Stored::new(reader.view()) };
            for leaf in 0..reader.record().lines {
                if !is_entry(&reader.view().node(Ordinal::new(leaf)).unwrap()) {
                    continue;
                }
                let scope = HistoryScope::Context;
                let fast = reader.family().history(&mut indexed, &mut [], leaf, scope).unwrap();
                let exact = reader.family().history(&mut by_lines, &mut [], leaf, scope).unwrap();
                assert_eq!(fast, exact, "{id}, line {leaf}");
                let settings = indexed.settings(leaf).unwrap();
                assert_eq!(settings, by_lines.settings(leaf).unwrap(), "{id}, line {leaf}");
                compared += 1;
                // A compaction comes first, followed by what it keeps.
                let mut entries = fast.ordinals();
                keeping += u32::from(entries.next() > entries.next());
            }
        }
        assert!(
            compared > 10_000 && keeping > 1_000,
            "{compared} compared, {keeping} keep entries"
        );
    }

    #[test]
    fn what_the_record_and_neighbours_tell_is_what_the_rows_say() {
        use leafline_generate::{Family, random_tree_session};

        let folder = tempfile::tempdir().unwrap();
        for seed in 0..60 {
            let bytes = random_tree_session(seed, 200, Family::Omp);
            std::fs::write(folder.path().join(format!("{seed}.jsonl")), bytes).unwrap();
        }
        let store = Store::open(folder.path().join("store.leafline")).unwrap();
        let mut sessions = Sessions::default();
        store.import(&[folder.path()], &ImportOptions::default(), &mut sessions).unwrap();
        let (mut unique, mut repeated, mut parents) = (0, 0, 0);
        for (place, id) in sessions.0.iter().enumerate() {
            let reader = store.reader(id).unwrap();
            let mut stored = Stored::new(reader.view());
            let lines = reader.record().lines;
            // Up, down, and to and fro.
            for step in 0..lines {
                let line = match place % 3 {
                    0 => step,
                    1 => lines - 1 - step,
                    _ => (step * 7919) % lines,
                };
                // A snapshot of its own remembers nothing.
                let other = store.reader(id).unwrap();
                let node = other.view().node(Ordinal::new(line)).unwrap();
                assert_eq!(stored.node_at_hand(Ordinal::new(line)).unwrap(), node, "{id}, {line}");
                if !is_entry(&node) {
                    continue;
                }
                let expected = other.view().children(Some(Ordinal::new(line))).unwrap();
                let expected: Vec<u64> = expected.into_iter().map(Ordinal::raw).collect();
                assert_eq!(stored.children(line).unwrap(), expected, "{id}, {line}");
                parents += usize::from(!expected.is_empty());
                let entry = other.view().entry(Ordinal::new(line)).unwrap();
                let name = entry.id().filter(|id| !id.contains('\u{fffd}'));
                let Some(name) = name.as_ref().map(String::as_bytes) else { continue };
                let found = other.view().find(name).unwrap().map(Ordinal::raw);
                assert_eq!(stored.last_copy(line, name).unwrap(), found, "{id}, {line}");
                unique += usize::from(found == Some(line));
                repeated += usize::from(found != Some(line));
                stored.line(line, Images::Omitted).unwrap();
            }
        }
        assert!(
            unique > 3_000 && repeated > 10 && parents > 2_000,
            "{unique} {repeated} {parents}"
        );
    }
}
