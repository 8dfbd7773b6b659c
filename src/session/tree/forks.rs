//! Where a conversation branches.

use std::collections::HashSet;

use leafline_import::claude::{ForkEntry, forks};
use leafline_import::{EntryKind, Family, MessageRole};

use super::Tree;

impl Tree {
    /// Marks the forks, and counts the branches. `copies` has, for each node, the one that answers look-ups of its id.
    pub(super) fn find_forks(&mut self, family: Family, copies: &[usize]) {
        let starts = if family == Family::Claude {
            self.mark_prompts_forks(copies)
        } else {
            self.mark_all_forks();
            self.roots.len() as u64
        };
        let ways = self.forks().map(|fork| self.ways_on(fork).saturating_sub(1)).sum::<u64>();
        self.branches = starts + ways;
    }

    fn ways_on(&self, fork: usize) -> u64 {
        let children = self.nodes.get(fork).map(|node| node.children.as_slice());
        let is_branch = |child: &&usize| self.nodes.get(**child).is_some_and(|node| node.is_branch);
        children.unwrap_or_default().iter().filter(is_branch).count() as u64
    }

    /// Every node with several children is a fork.
    fn mark_all_forks(&mut self) {
        for place in 0..self.nodes.len() {
            let children = match self.nodes.get_mut(place) {
                Some(node) if node.children.len() > 1 => {
                    node.is_fork = true;
                    node.children.clone()
                }
                _ => continue,
            };
            self.mark_branches(&children);
        }
    }

    fn mark_branches(&mut self, branches: &[usize]) {
        for &branch in branches {
            if let Some(node) = self.nodes.get_mut(branch) {
                node.is_branch = true;
            }
        }
    }

    /// Marks the forks of a session of Claude Code: where the user went back and asked something else. Answers how many
    /// roots a conversation begins with.
    fn mark_prompts_forks(&mut self, copies: &[usize]) -> u64 {
        let is_own = |node: &super::TreeNode| node.kind == EntryKind::Message && !node.is_sidechain;
        let takes_sidechains = !self.nodes.iter().any(is_own);
        let entries: Vec<ForkEntry<usize>> = (0..)
            .zip(&self.nodes)
            .filter(|(_, node)| takes_sidechains || !node.is_sidechain)
            .filter(|(place, _)| copies.get(*place).is_none_or(|copy| copy == place))
            .map(|(place, node)| ForkEntry {
                entry: place,
                parent: node.parent,
                is_prompt: node.role == MessageRole::User,
            })
            .collect();
        for fork in forks(&entries) {
            if let Some(node) = self.nodes.get_mut(fork.at) {
                node.is_fork = true;
            }
            self.mark_branches(&fork.branches);
        }
        let mut begun = HashSet::new();
        let mut met = HashSet::new();
        for prompt in entries.iter().filter(|entry| entry.is_prompt) {
            let mut above = Some(prompt.entry);
            while let Some(place) = above
                && met.insert(place)
                && let Some(node) = self.nodes.get(place)
            {
                above = node.parent;
                if above.is_none() && node.kind != EntryKind::Compaction {
                    begun.insert(place);
                }
            }
        }
        let least = u64::from(!self.nodes.is_empty());
        least.max(begun.len() as u64)
    }
}
