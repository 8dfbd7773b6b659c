//! The drawn tree against a model that holds all of it: sessions of all families, whose entries name any parents.

use std::collections::BTreeSet;

use leafline::tree::{Tree, TreeNode};
use leafline::{EntryKind, Store};
use leafline_generate::{Family, random_tree_session};

use crate::scene::{Scene, path};

/// Numbers, always the same after a seed (xorshift).
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    /// The id of an entry's parent: mostly of the entry before, and now and then of one that is not there.
    fn parent(&mut self, number: usize, others: usize) -> Option<usize> {
        match self.below(others) {
            0 => None,
            1 => Some(self.below(number + 20)),
            2 | 3 => Some(self.below(number + 1)),
            _ => number.checked_sub(1),
        }
    }
}

/// Records of Claude Code's, with sidechains, copies, messages in parts, and lines that are no entries.
fn claude(seed: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    let mut lines = Vec::new();
    let mut message = 0;
    for number in 0..60 {
        let id = if numbers.below(12) == 0 { numbers.below(number + 1) } else { number };
        let parent = match numbers.parent(number, [14, 90][number % 2]) {
            Some(parent) => format!("\"u{parent}\""),
            None => "null".to_owned(),
        };
        message += usize::from(numbers.below(2) == 0);
        let shown = if numbers.below(12) == 0 { numbers.below(message + 1) } else { message };
        let (kind, body) = match numbers.below(9) {
            0 | 1 => ("user", r#","message":{"role":"user","content":"ask"}"#.to_owned()),
            2 => ("user", r#","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}"#.to_owned()),
            3 => ("progress", String::new()),
            4 => ("system", r#","subtype":"compact_boundary","logicalParentUuid":"u0""#.to_owned()),
            5 => {
                lines.push(r#"{"type":"file-history-snapshot","messageId":"x"}"#.to_owned());
                continue;
            }
            _ => ("assistant", format!(r#","message":{{"id":"m{shown}","role":"assistant","content":[{{"type":"text","text":"say"}}]}}"#)),
        };
        let is_side = numbers.below(10) == 0;
        lines.push(format!(
            r#"{{"type":"{kind}","uuid":"u{id}","parentUuid":{parent},"sessionId":"s","isSidechain":{is_side},"timestamp":"2026-03-01T08:00:02.000Z"{body}}}"#
        ));
    }
    let first = r#"{"type":"user","uuid":"first","parentUuid":null,"sessionId":"s","isSidechain":false,"message":{"role":"user","content":"go"}}"#;
    format!("{first}\n{}\n", lines.join("\n")).into_bytes()
}

fn opal(seed: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    let mut text = format!(r#"{{"session_id":"opal-{seed}","current_id":"m20","metadata":{{}}}}"#);
    for number in 0..50 {
        let parent = match numbers.parent(number, 20) {
            Some(parent) => format!("\"m{parent}\""),
            None => "null".to_owned(),
        };
        let role = ["user", "assistant"][number % 2];
        let line =
            format!(r#"{{"id":"m{number}","parent_id":{parent},"role":"{role}","content":"x"}}"#);
        text.push('\n');
        text.push_str(&line);
    }
    text.into_bytes()
}

/// What a line of the drawing begins and ends with; what stands between them is the entry's own.
type Line = (String, String);

/// Draws a tree that is in memory, entry by entry.
struct Model<'t> {
    tree: &'t Tree,
    full: bool,
    lines: Vec<Line>,
}

impl Model<'_> {
    fn node(&self, place: usize) -> &TreeNode {
        self.tree.node(place).unwrap()
    }

    fn branches(&self, place: usize) -> Vec<usize> {
        let children = self.node(place).children.iter().copied();
        children.filter(|&child| self.node(child).is_branch).collect()
    }

    fn size(&self, place: usize) -> usize {
        1 + self.node(place).children.iter().map(|&child| self.size(child)).sum::<usize>()
    }

    fn has_leaf(&self, place: usize) -> bool {
        self.tree.leaf() == Some(place)
            || self.node(place).children.iter().any(|&child| self.has_leaf(child))
    }

    fn draw(&mut self, from: usize, level: usize, is_branch: bool) {
        let mut run = Vec::new();
        let mut waiting = BTreeSet::from([from]);
        while let Some(place) = waiting.pop_first() {
            run.push(place);
            let children = self.node(place).children.iter();
            waiting.extend(children.filter(|&&child| !self.node(child).is_branch));
        }
        let mut hidden = Vec::new();
        for &place in &run {
            let node = self.node(place);
            let is_shown = self.full
                || place == run[0]
                || place == run[run.len() - 1]
                || matches!(node.kind, EntryKind::Compaction | EntryKind::BranchSummary)
                || node.is_fork
                || node.label.is_some()
                || self.tree.leaf() == Some(place);
            if is_shown {
                self.draw_hidden(&hidden, level);
                hidden.clear();
                self.draw_node(place, level, is_branch && place == run[0]);
            } else {
                hidden.push(place);
            }
        }
        for &fork in run.iter().filter(|&&place| self.tree.node(place).unwrap().is_fork) {
            let branches = self.branches(fork);
            let weight = |place: &usize| (self.has_leaf(*place), self.size(*place));
            let onward = branches.iter().copied().max_by_key(weight).unwrap();
            for branch in branches.into_iter().filter(|&branch| branch != onward) {
                self.draw(branch, level + 1, true);
            }
            self.draw(onward, level, false);
        }
    }

    fn draw_hidden(&mut self, hidden: &[usize], level: usize) {
        match hidden {
            [] => {}
            &[only] => self.draw_node(only, level, false),
            several => {
                let line = format!("{}┊ … {} entries …", "│ ".repeat(level), several.len());
                self.lines.push((line, String::new()));
            }
        }
    }

    fn draw_node(&mut self, place: usize, level: usize, is_branch: bool) {
        let node = self.node(place);
        let mut start = "│ ".repeat(if is_branch { level - 1 } else { level });
        if is_branch {
            start.push_str("├─");
        }
        start.push(match (node.is_orphan, node.parent) {
            (true, _) => '◇',
            (false, None) => '◆',
            (false, Some(_)) => '●',
        });
        let mut end = String::new();
        end.extend(node.id.as_ref().map(|id| format!(" ({id})")));
        end.extend(node.label.as_ref().map(|label| format!(" [{label}]")));
        if !node.records.is_empty() {
            end.push_str(&format!(" {} records", node.records.len()));
        }
        if node.is_sidechain && self.tree.nodes().iter().any(|node| !node.is_sidechain) {
            end.push_str(" sidechain");
        }
        end.push_str(if node.is_orphan { " orphan" } else { "" });
        end.push_str(if self.tree.leaf() == Some(place) { " ◀ leaf" } else { "" });
        self.lines.push((start, end));
    }
}

fn assert_drawn(scene: &Scene, id: &str, tree: &Tree, option: Option<&'static str>) {
    let run = |more: &[&'static str]| {
        let arguments = ["tree", id].into_iter().chain(option).chain(more.iter().copied());
        scene.run(arguments).ok().text()
    };
    let mut json = Vec::new();
    tree.write_json(&mut json).unwrap();
    assert_eq!(run(&["--json"]), String::from_utf8(json).unwrap(), "{id}");
    for full in [false, true] {
        let mut model = Model { tree, full, lines: Vec::new() };
        for &root in tree.roots() {
            model.draw(root, 0, false);
        }
        let text = run(if full { &["--full"] } else { &[] });
        let mut drawn = text.lines().skip(1);
        for (start, end) in &model.lines {
            let line = drawn.next().unwrap_or_default();
            assert!(line.starts_with(start) && line.ends_with(end), "{id}: {line}: {start}{end}");
        }
        let rest: Vec<_> = drawn.collect();
        assert_eq!(rest.len(), usize::from(tree.unreachable() > 0), "{id}: {rest:?}");
    }
}

#[test]
fn random_sessions_are_drawn_as_their_trees_are() {
    let scene = Scene::new();
    let write = |name: String, bytes: Vec<u8>| drop(scene.write(&name, &bytes));
    for seed in 0..8 {
        write(format!("in/pi-{seed}.jsonl"), random_tree_session(seed, 60, Family::Pi));
        write(format!("in/omp-{seed}.jsonl"), random_tree_session(seed + 50, 60, Family::Omp));
        write(format!("in/claude-{seed}.jsonl"), claude(seed));
        write(format!("in/opal-{seed}.jsonl"), opal(seed));
    }
    scene.run(["import", path(&scene.folder().join("in"))]).ok();
    let store = Store::open(scene.store()).unwrap();
    let sessions = scene.run(["ls", "--json"]).ok().json_lines();
    assert_eq!(sessions.len(), 32);
    let mut forks = 0;
    for session in sessions {
        let id = session["id"].as_str().unwrap();
        let reader = store.reader(id).unwrap();
        let tree = reader.get_tree().unwrap();
        forks += tree.forks().count();
        assert_drawn(&scene, id, &tree, None);
        if session["family"] == "claude" {
            assert_drawn(&scene, id, &reader.get_folded_tree().unwrap(), Some("--fold"));
        }
    }
    assert!(forks > 100, "{forks}");
}
