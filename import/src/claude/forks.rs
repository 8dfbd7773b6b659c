//! Where the user went back and asked something else, in a tree in memory.

use crate::claude::tree::SessionTree;
use crate::forks::{Fork, ForkEntry, forks};

impl SessionTree {
    /// The real forks of the conversation that the file is of, as [`forks`] finds them; sidechains have none. Of copies of
    /// an entry the last counts, below which all hangs that names them.
    #[must_use]
    pub fn forks(&self) -> Vec<Fork<usize>> {
        let is_main = self.is_main();
        let is_last = |number: usize| {
            let uuid = self.entry(number).and_then(|entry| entry.uuid);
            uuid.is_none_or(|uuid| self.find_key(uuid) == Some(number))
        };
        let entries: Vec<_> = (0..self.len())
            .filter(|&number| is_main(number) && is_last(number))
            .filter_map(|number| {
                let is_prompt = self.entry(number)?.is_prompt;
                Some(ForkEntry { entry: number, parent: self.parent_entry(number), is_prompt })
            })
            .collect();
        forks(&entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::{Node, Scanner};

    #[test]
    fn tools_are_no_forks_and_copies_no_branches() {
        let mut tree = SessionTree::new();
        let mut scanner = Scanner::new();
        let user = |uuid: &str, parent: &str, content: &str, more: &str| {
            format!(
                r#"{{"type":"user","uuid":"{uuid}","parentUuid":"{parent}","message":{{"content":{content}}}{more}}}"#
            )
        };
        let result = r#"[{"type":"tool_result"}]"#;
        let lines = [
            user("p1", "", "\"first\"", ""),
            r#"{"type":"assistant","uuid":"a1","parentUuid":"p1","message":{"id":"m"}}"#.to_owned(),
            r#"{"type":"assistant","uuid":"a2","parentUuid":"a1","message":{"id":"m"}}"#.to_owned(),
            user("r1", "a1", result, ""),
            user("r2", "a2", result, ""),
            r#"{"type":"progress","uuid":"g","parentUuid":"a2"}"#.to_owned(),
            user("meta", "a2", "\"note\"", r#","isMeta":true"#),
            user("p2", "r2", "\"second\"", ""),
            user("p2", "r2", "\"second, copied\"", ""),
            user("side", "r2", "\"to an agent\"", r#","isSidechain":true"#),
            user("p3", "r2", "\"instead\"", ""),
        ];
        for (line, text) in (0..).zip(&lines) {
            tree.add(line, &Node::of(&scanner.scan(text)));
        }
        assert_eq!(tree.forks(), [Fork { at: 4, branches: vec![8, 10] }]);
    }
}
