//! The shape of a conversation's tree: its branches, each as long as it has entries.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::super::number::{counted, grouped};
use super::super::tree::Ways;
use super::drawing::{Drawing, WIDTH};
use crate::session::{Outline, Segment};

/// The most parts of branches that are drawn: the largest ones.
const MOST_BRANCHES: usize = 239;

/// The height of all branches together, at most and at least for each.
const TALLEST: f64 = 420.0;
const LOWEST: f64 = 3.0;
const USUAL: f64 = 14.0;

/// A part of a branch, or the whole way to the leaf.
struct Line {
    /// Entries before it and behind its last one, on the way from the root.
    begin: u64,
    end: u64,
    lane: usize,
    /// The lane that it comes from.
    from: Option<usize>,
    is_to_leaf: bool,
    entries: u64,
}

/// Draws the tree; `None` if the session has no entries.
pub(super) fn draw(outline: &Outline, ways: &Ways<'_>) -> Option<Drawing> {
    let all: u64 = outline.roots().iter().map(|&root| ways.entries(root)).sum();
    if all == 0 {
        return None;
    }
    let shown = largest(outline, ways);
    let Lines { lines, lanes, leaf } = Lines::of(outline, ways, &shown);
    let branches = (0..outline.segments().len()).filter(|&place| !ways.is_to_leaf(place)).count();
    let drawn = lines.iter().filter(|line| !line.is_to_leaf).count();
    let hidden = branches.saturating_sub(drawn);
    let deepest = lines.iter().map(|line| line.end).max().unwrap_or_default();
    let mut remark = format!(
        "{}, {}, {} on the longest way",
        counted(all, "entry", "entries"),
        counted(outline.branches(), "branch", "branches"),
        grouped(deepest)
    );
    if hidden > 0 {
        remark.push_str(&format!(
            "; without {}",
            counted(hidden as u64, "small part", "small parts")
        ));
    }
    let mut drawing = Drawing::new("Tree", &remark);
    let top = drawing.height + 6.0;
    let apart = (TALLEST / lanes as f64).clamp(LOWEST, USUAL);
    let x = |entries: u64| 4.0 + (WIDTH - 8.0) * entries as f64 / deepest.max(1) as f64;
    let y = |lane: usize| top + apart * lane as f64;
    for line in &lines {
        let class = if line.is_to_leaf { "way" } else { "branch-way" };
        let (begin, end, at) = (x(line.begin), x(line.end), y(line.lane));
        let path = match line.from.filter(|&from| from != line.lane) {
            Some(from) => format!("M{begin:.1} {:.1}V{at:.1}H{end:.1}", y(from)),
            None => format!("M{begin:.1} {at:.1}H{end:.1}"),
        };
        drawing.path(class, &path, &counted(line.entries, "entry", "entries"));
    }
    if let Some((place, lane)) = leaf {
        drawing.dot((x(place), y(lane)), "leaf", "the leaf");
    }
    drawing.height = y(lanes.saturating_sub(1)) + 14.0;
    Some(drawing)
}

/// The branches that are drawn: those with the most entries in and below them, and so those that lead to them.
fn largest(outline: &Outline, ways: &Ways<'_>) -> HashSet<usize> {
    let all = 0..outline.segments().len();
    let mut places: Vec<usize> = all.filter(|&place| !ways.is_to_leaf(place)).collect();
    if places.len() > MOST_BRANCHES {
        places.select_nth_unstable_by_key(MOST_BRANCHES, |&place| Reverse(ways.entries(place)));
        places.truncate(MOST_BRANCHES);
    }
    places.into_iter().collect()
}

/// What is drawn.
#[derive(Default)]
struct Lines {
    lines: Vec<Line>,
    lanes: usize,
    /// Where the leaf is: the entries that lead to it, and its lane.
    leaf: Option<(u64, usize)>,
}

impl Lines {
    fn of(outline: &Outline, ways: &Ways<'_>, shown: &HashSet<usize>) -> Self {
        let mut lines = Self::default();
        // Each with the entries before it, the lane that it comes from, and whether it goes on in it.
        let mut next: Vec<(usize, u64, Option<usize>, bool)> = Vec::new();
        let others = ordered(outline.roots(), ways, shown);
        next.extend(others.into_iter().rev().map(|root| (root, 0, None, false)));
        // Branches near the leaf are taken first, and get the lanes near its way: so no line crosses another.
        for (place, end) in lines.way(outline) {
            let branches = ordered(outline.children(place), ways, shown);
            next.extend(branches.into_iter().map(|child| (child, end, Some(0), false)));
        }
        while let Some((place, begin, from, goes_on)) = next.pop() {
            let Some(segment) = outline.segment(place) else { continue };
            let lane = from.filter(|_| goes_on).unwrap_or(lines.lanes);
            lines.lanes = lines.lanes.max(lane + 1);
            let (entries, end) = (segment.entries(), begin + segment.entries());
            lines.lines.push(Line { begin, end, lane, from, is_to_leaf: false, entries });
            let children = ordered(outline.children(place), ways, shown);
            // The first stays in the lane.
            let children = children.into_iter().enumerate().rev();
            next.extend(children.map(|(order, child)| (child, end, Some(lane), order == 0)));
        }
        lines
    }

    /// Draws the way to the leaf as one line, and returns its segments, each with the entries up to its end.
    fn way(&mut self, outline: &Outline) -> Vec<(usize, u64)> {
        let Some(leaf) = outline.leaf() else { return Vec::new() };
        let mut above = outline.segment_of(leaf);
        let mut way = Vec::new();
        while let Some((place, segment)) =
            above.and_then(|place| Some((place, outline.segment(place)?)))
            && way.len() < outline.segments().len()
        {
            way.push((place, segment.entries()));
            above = segment.parent();
        }
        way.reverse();
        let mut end = 0;
        for (_, entries) in &mut way {
            end += *entries;
            *entries = end;
        }
        if let Some(&(last, _)) = way.last()
            && let Some(segment) = outline.segment(last)
        {
            let line = Line { begin: 0, end, lane: 0, from: None, is_to_leaf: true, entries: end };
            self.lines.push(line);
            self.lanes = 1;
            self.leaf = Some((end - segment.entries() + before(segment, leaf), 0));
        }
        way
    }
}

/// The children that are drawn, the larger ones first.
fn ordered(children: &[usize], ways: &Ways<'_>, shown: &HashSet<usize>) -> Vec<usize> {
    let mut drawn: Vec<usize> =
        children.iter().copied().filter(|child| shown.contains(child)).collect();
    drawn.sort_by_key(|&child| Reverse(ways.entries(child)));
    drawn
}

/// How many entries of a segment lead to one of it: by line numbers, among which others are few.
fn before(segment: &Segment, ordinal: u64) -> u64 {
    let lines = segment.last() - segment.first() + 1;
    let place = ordinal.saturating_sub(segment.first()) + 1;
    let share = place as f64 / lines as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the entries"
    )]
    let entries = (segment.entries() as f64 * share).round() as u64;
    entries
}
