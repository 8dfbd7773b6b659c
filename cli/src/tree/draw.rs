//! Draws a tree, trunk by trunk, without recursion: a conversation is as deep as it is long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use leafline::tree::{Outline, OutlineEntry, OutlineReader, Segment};
use leafline::{EntryKind, SessionReader};

use super::trunks::{Trunks, begins_branch};
use crate::failure::Failure;
use crate::number::counted;
use crate::output::{BAD, FAINT, GOOD, KIND, LABEL, Output};
use crate::{preview, text};

/// The width of a line if there is no terminal.
const USUAL_WIDTH: usize = 120;

/// The least columns for an entry's text.
const NARROWEST: usize = 16;

/// The most columns for an id or a label: the programs' have 36.
const LONGEST_NAME: usize = 40;

/// What is told of each line once it is printed: the output, and the ordinal of the entry that the line shows, or of the last
/// of those that it stands for.
pub(crate) type Printed<'a> = &'a mut dyn FnMut(&mut Output, u64) -> Result<(), Failure>;

/// A tree that is being drawn. Memory grows with the segments of its outline.
pub(crate) struct Drawing<'a> {
    outline: &'a Outline,
    walk: OutlineReader<'a>,
    trunks: Trunks,
    full: bool,
    /// The number of lines still to skip at the beginning.
    skipped: u64,
    out: &'a mut Output,
    printed: Printed<'a>,
}

/// A trunk still to be drawn, from one of its segments on.
#[derive(Debug, Clone, Copy)]
struct Trunk {
    from: usize,
    level: usize,
    /// Whether a branch begins here, rather than continuing after one.
    is_branch: bool,
}

/// Entries of a run that are not shown.
#[derive(Debug, Default)]
struct Hidden {
    count: u64,
    last: Option<OutlineEntry>,
}

impl<'a> Drawing<'a> {
    /// A drawing of the session's tree.
    pub(crate) fn new(
        reader: &'a SessionReader,
        outline: &'a Outline,
        full: bool,
        out: &'a mut Output,
        printed: Printed<'a>,
    ) -> Self {
        let (walk, trunks) = (reader.read_outline(outline), Trunks::new(outline));
        Self { outline, walk, trunks, full, skipped: 0, out, printed }
    }

    /// Skips the given number of lines at the beginning, which were already printed.
    pub(crate) fn after(self, lines: u64) -> Self {
        Self { skipped: lines, ..self }
    }

    /// Returns true if the next line is skipped, and counts it.
    fn skips(&mut self) -> bool {
        let is_skipped = self.skipped > 0;
        self.skipped = self.skipped.saturating_sub(1);
        is_skipped
    }

    /// Draws all of it.
    pub(crate) fn draw(mut self) -> Result<(), Failure> {
        for &root in self.outline.roots() {
            let mut waiting = vec![Trunk { from: root, level: 0, is_branch: false }];
            while let Some(trunk) = waiting.pop() {
                let run = self.run(trunk.from);
                self.draw_run(&run, trunk)?;
                // Last in, first out: the branches are drawn first, the oldest ahead, and then the trunk continues.
                for &fork in run.iter().rev().filter(|&&place| self.is_fork(place)) {
                    self.branch_off(fork, trunk.level, &mut waiting);
                }
            }
        }
        Ok(())
    }

    /// Queues what is drawn after the fork at the end of a segment.
    fn branch_off(&self, fork: usize, level: usize, waiting: &mut Vec<Trunk>) {
        let Some(onward) = self.trunks.onward(self.outline, fork) else { return };
        waiting.push(Trunk { from: onward, level, is_branch: false });
        let branches = self.outline.children(fork).iter().rev().copied();
        let branches =
            branches.filter(|&child| child != onward && begins_branch(self.outline, child));
        waiting.extend(branches.map(|from| Trunk { from, level: level + 1, is_branch: true }));
    }

    /// The entries from a segment on, down to the next fork or the end. Entries beside that way that are not branches,
    /// such as tool results and progress reports, are among them in file order, but never before their parents.
    fn run(&self, from: usize) -> Vec<usize> {
        let mut run = Vec::new();
        let mut waiting = BinaryHeap::from([Reverse(from)]);
        while let Some(Reverse(place)) = waiting.pop() {
            run.push(place);
            let children = self.outline.children(place).iter().copied();
            let beside = children.filter(|&child| !begins_branch(self.outline, child));
            waiting.extend(beside.map(Reverse));
        }
        run
    }

    fn is_fork(&self, place: usize) -> bool {
        self.outline.segment(place).is_some_and(Segment::is_fork)
    }

    fn draw_run(&mut self, run: &[usize], trunk: Trunk) -> Result<(), Failure> {
        let mut hidden = Hidden::default();
        let mut is_first = true;
        for (index, &place) in run.iter().enumerate() {
            let is_last_segment = index + 1 == run.len();
            let last = self.outline.segment(place).map(Segment::last);
            self.walk.begin(place);
            while let Some(entry) = self.walk.next_entry()? {
                let is_end = is_first || is_last_segment && Some(entry.ordinal) == last;
                if self.full || is_end || self.stands_out(&entry) {
                    self.draw_hidden(&mut hidden, trunk.level)?;
                    self.draw_entry(&entry, trunk.level, trunk.is_branch && is_first)?;
                } else {
                    hidden.count += 1;
                    hidden.last = Some(entry);
                }
                is_first = false;
            }
        }
        Ok(())
    }

    /// Whether the entry is shown even in the middle of a run.
    fn stands_out(&self, entry: &OutlineEntry) -> bool {
        matches!(entry.kind, EntryKind::Compaction | EntryKind::BranchSummary)
            || entry.is_fork
            || self.outline.label(entry.ordinal).is_some()
            || self.is_leaf(entry)
    }

    fn is_leaf(&self, entry: &OutlineEntry) -> bool {
        self.outline.leaf() == Some(entry.ordinal)
    }

    fn draw_hidden(&mut self, hidden: &mut Hidden, level: usize) -> Result<(), Failure> {
        match std::mem::take(hidden) {
            Hidden { last: None, .. } => Ok(()),
            // The entry itself takes no more room than a line that hides it.
            Hidden { count: 1, last: Some(only) } => self.draw_entry(&only, level, false),
            Hidden { last: Some(_), .. } if self.skips() => Ok(()),
            Hidden { count, last: Some(last) } => {
                let hidden = counted(count, "entry", "entries");
                let line = self.out.paint(FAINT, &format!("{}┊ … {hidden} …", "│ ".repeat(level)));
                self.out.line(format_args!("{line}"))?;
                (self.printed)(self.out, last.ordinal)
            }
        }
    }

    fn draw_entry(
        &mut self,
        entry: &OutlineEntry,
        level: usize,
        is_branch: bool,
    ) -> Result<(), Failure> {
        if self.skips() {
            return Ok(());
        }
        let line = self.walk.line(entry.ordinal)?;
        let (id, view) = (line.id(), line.view());
        let (kind, mut words) = (preview::name(&line, &view), preview::words(&line, &view));
        // For a message in parts, the first part with text.
        let mut records = 0;
        for record in self.outline.records(entry.ordinal) {
            records += 1;
            if words.is_empty() && record != entry.ordinal {
                let part = self.walk.line(record)?;
                words = preview::words(&part, &part.view());
            }
        }
        let gutter = if is_branch {
            format!("{}├─", "│ ".repeat(level.saturating_sub(1)))
        } else {
            "│ ".repeat(level)
        };
        let marks = self.marks(entry, id.as_deref(), records);
        let taken = text::width(&gutter)
            + 2
            + text::width(&kind)
            + 2
            + marks.iter().map(Mark::width).sum::<usize>();
        let room = self.out.width().unwrap_or(USUAL_WIDTH).saturating_sub(taken).max(NARROWEST);
        let mut line = format!("{}{} ", self.out.paint(FAINT, &gutter), bullet(entry));
        line.push_str(&self.out.paint(KIND, &kind));
        let words = text::fit(&words, room);
        if !words.is_empty() {
            line.push(' ');
            line.push_str(&text::isolated(&words));
        }
        for mark in marks {
            line.push(' ');
            line.push_str(&self.out.paint(mark.style, &mark.text));
        }
        self.out.line(format_args!("{line}"))?;
        (self.printed)(self.out, entry.ordinal)
    }

    /// What follows an entry's text: its id, label and marks.
    fn marks(&self, entry: &OutlineEntry, id: Option<&str>, records: u64) -> Vec<Mark> {
        let mut marks = Vec::new();
        if let Some(id) = id {
            marks.push(Mark { text: format!("({})", name(id)), style: FAINT });
        }
        if let Some(label) = self.outline.label(entry.ordinal) {
            marks.push(Mark { text: format!("[{}]", name(label)), style: LABEL });
        }
        if records > 0 {
            marks.push(Mark { text: counted(records, "record", "records"), style: FAINT });
        }
        // In an agent's own file, not every entry needs the mark.
        if entry.is_sidechain && !self.outline.is_sidechain() {
            marks.push(Mark { text: "sidechain".to_owned(), style: FAINT });
        }
        if entry.is_orphan {
            marks.push(Mark { text: "orphan".to_owned(), style: BAD });
        }
        if self.is_leaf(entry) {
            marks.push(Mark { text: "◀ leaf".to_owned(), style: GOOD });
        }
        marks
    }
}

/// A short mark after an entry.
struct Mark {
    text: String,
    style: anstyle::Style,
}

impl Mark {
    /// Its width, including the space before it.
    fn width(&self) -> usize {
        1 + text::width(&self.text)
    }
}

fn bullet(entry: &OutlineEntry) -> char {
    match (entry.is_orphan, entry.is_root) {
        (true, _) => '◇',
        (false, true) => '◆',
        (false, false) => '●',
    }
}

fn name(name: &str) -> String {
    text::isolated(&text::fit(&text::printable(name), LONGEST_NAME)).into_owned()
}
