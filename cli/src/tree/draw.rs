//! Drawing a tree, trunk by trunk. No recursion: a conversation is as deep as it is long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use leafline::{EntryKind, SessionReader, Tree, TreeNode};

use super::trunks::Trunks;
use crate::failure::Failure;
use crate::number::counted;
use crate::output::{BAD, FAINT, GOOD, KIND, LABEL, Output};
use crate::{preview, text};

/// Columns of a line where there is no terminal to say how many it has.
const USUAL_WIDTH: usize = 120;

/// Columns that an entry's words have at least.
const NARROWEST: usize = 16;

/// Columns of an id or a label at most: those of the programs have 36.
const LONGEST_NAME: usize = 40;

/// A tree that is being drawn.
pub(super) struct Drawing<'a> {
    reader: &'a SessionReader,
    tree: &'a Tree,
    trunks: Trunks,
    full: bool,
    /// Whether sidechains stand beside something else: an agent's own file need not say it of each entry.
    marks_sidechains: bool,
    out: &'a mut Output,
}

/// A trunk that is still to be drawn, from one of its nodes on.
#[derive(Debug, Clone, Copy)]
struct Trunk {
    from: usize,
    level: usize,
    /// Whether it branches off here, rather than going on after a branch.
    is_branch: bool,
}

impl<'a> Drawing<'a> {
    /// A drawing of the session's tree.
    pub(super) fn new(
        reader: &'a SessionReader,
        tree: &'a Tree,
        full: bool,
        out: &'a mut Output,
    ) -> Self {
        let marks_sidechains = !tree.nodes().iter().all(|node| node.is_sidechain);
        Self { reader, tree, trunks: Trunks::new(tree), full, marks_sidechains, out }
    }

    /// Draws all of it.
    pub(super) fn draw(mut self) -> Result<(), Failure> {
        for &root in self.tree.roots() {
            let mut waiting = vec![Trunk { from: root, level: 0, is_branch: false }];
            while let Some(trunk) = waiting.pop() {
                let (run, fork) = self.run(trunk.from);
                self.draw_run(&run, trunk)?;
                let Some((fork, onward)) =
                    fork.and_then(|fork| Some((fork, self.trunks.onward(fork)?)))
                else {
                    continue;
                };
                // Last in, first out: the branches are drawn first, the oldest ahead, and then the trunk goes on.
                waiting.push(Trunk { from: onward, level: trunk.level, is_branch: false });
                let branches =
                    self.tree.node(fork).map(|node| node.children.as_slice()).unwrap_or_default();
                let branches = branches.iter().rev().filter(|&&child| child != onward);
                waiting.extend(
                    branches.filter(|&&child| self.is_branch(child)).map(|&from| Trunk {
                        from,
                        level: trunk.level + 1,
                        is_branch: true,
                    }),
                );
            }
        }
        Ok(())
    }

    /// The entries from a node on, down to the next fork or the end, and the fork. What hangs beside the way there and
    /// is no branch, as the results of tools and what they report do, is among them, in the order of the file, but never
    /// ahead of its parent.
    fn run(&self, from: usize) -> (Vec<usize>, Option<usize>) {
        let mut run = Vec::new();
        let mut fork = None;
        let mut waiting = BinaryHeap::from([Reverse(from)]);
        while let Some(Reverse(place)) = waiting.pop() {
            run.push(place);
            let Some(node) = self.tree.node(place) else { continue };
            if node.is_fork {
                fork = Some(place);
            }
            let beside = node.children.iter().filter(|&&child| !self.is_branch(child));
            waiting.extend(beside.map(|&child| Reverse(child)));
        }
        (run, fork)
    }

    fn is_branch(&self, place: usize) -> bool {
        self.tree.node(place).is_some_and(|node| node.is_branch)
    }

    fn draw_run(&mut self, run: &[usize], trunk: Trunk) -> Result<(), Failure> {
        let mut folded: Vec<usize> = Vec::new();
        for (index, &place) in run.iter().enumerate() {
            let is_end = index == 0 || index + 1 == run.len();
            if self.full || is_end || self.stands_out(place) {
                self.draw_fold(&mut folded, trunk.level)?;
                self.draw_node(place, trunk.level, trunk.is_branch && index == 0)?;
            } else {
                folded.push(place);
            }
        }
        Ok(())
    }

    /// Whether the entry is shown even in the middle of a run.
    fn stands_out(&self, place: usize) -> bool {
        let Some(node) = self.tree.node(place) else {
            return false;
        };
        let is_summary = matches!(node.kind, EntryKind::Compaction | EntryKind::BranchSummary);
        is_summary || node.is_fork || node.label.is_some() || self.tree.leaf() == Some(place)
    }

    fn draw_fold(&mut self, folded: &mut Vec<usize>, level: usize) -> Result<(), Failure> {
        match folded.as_slice() {
            [] => {}
            // The entry itself takes no more room than a line that hides it.
            &[only] => self.draw_node(only, level, false)?,
            several => {
                let hidden = counted(several.len() as u64, "entry", "entries");
                let line = self.out.paint(FAINT, &format!("{}┊ … {hidden} …", "│ ".repeat(level)));
                self.out.line(format_args!("{line}"))?;
            }
        }
        folded.clear();
        Ok(())
    }

    fn draw_node(&mut self, place: usize, level: usize, is_branch: bool) -> Result<(), Failure> {
        let Some(node) = self.tree.node(place) else {
            return Ok(());
        };
        let entry = self.reader.line(node.ordinal)?;
        let (kind, mut words) = match entry.as_ref().map(|entry| (entry, entry.view())) {
            Some((entry, view)) => (preview::name(entry, &view), preview::words(entry, &view)),
            None => (preview::kind_name(node.kind, node.role).to_owned(), String::new()),
        };
        // Of a message in parts, what the first says that says anything.
        for record in node.records.iter().skip(1) {
            if words.is_empty()
                && let Some(part) = self.reader.line(record.ordinal)?
            {
                words = preview::words(&part, &part.view());
            }
        }
        let gutter = if is_branch {
            format!("{}├─", "│ ".repeat(level.saturating_sub(1)))
        } else {
            "│ ".repeat(level)
        };
        let marks = self.marks(place, node);
        let taken = text::width(&gutter)
            + 2
            + text::width(&kind)
            + 2
            + marks.iter().map(Mark::width).sum::<usize>();
        let room = self.out.width().unwrap_or(USUAL_WIDTH).saturating_sub(taken).max(NARROWEST);
        let mut line = format!("{}{} ", self.out.paint(FAINT, &gutter), bullet(node));
        line.push_str(&self.out.paint(KIND, &kind));
        let words = text::fit(&words, room);
        if !words.is_empty() {
            line.push(' ');
            line.push_str(&words);
        }
        for mark in marks {
            line.push(' ');
            line.push_str(&self.out.paint(mark.style, &mark.text));
        }
        self.out.line(format_args!("{line}"))
    }

    /// What stands behind an entry's words: its id, its label, what is special about it.
    fn marks(&self, place: usize, node: &TreeNode) -> Vec<Mark> {
        let mut marks = Vec::new();
        if let Some(id) = &node.id {
            marks.push(Mark { text: format!("({})", name(id)), style: FAINT });
        }
        if let Some(label) = &node.label {
            marks.push(Mark { text: format!("[{}]", name(label)), style: LABEL });
        }
        if !node.records.is_empty() {
            let records = counted(node.records.len() as u64, "record", "records");
            marks.push(Mark { text: records, style: FAINT });
        }
        if node.is_sidechain && self.marks_sidechains {
            marks.push(Mark { text: "sidechain".to_owned(), style: FAINT });
        }
        if node.is_orphan {
            marks.push(Mark { text: "orphan".to_owned(), style: BAD });
        }
        if self.tree.leaf() == Some(place) {
            marks.push(Mark { text: "◀ leaf".to_owned(), style: GOOD });
        }
        marks
    }
}

/// A few words behind an entry.
struct Mark {
    text: String,
    style: anstyle::Style,
}

impl Mark {
    /// Its columns, with the space ahead of it.
    fn width(&self) -> usize {
        1 + text::width(&self.text)
    }
}

fn bullet(node: &TreeNode) -> char {
    match (node.is_orphan, node.parent) {
        (true, _) => '◇',
        (false, None) => '◆',
        (false, Some(_)) => '●',
    }
}

fn name(name: &str) -> String {
    text::fit(&text::printable(name), LONGEST_NAME).into_owned()
}
