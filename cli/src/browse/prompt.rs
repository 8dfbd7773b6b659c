//! A line that is typed at the bottom of the screen.

use std::path::PathBuf;

/// What a line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Sessions to be listed.
    Filter,
    /// A text to be found in what is shown.
    Find,
    /// Words to be searched for in all sessions.
    Search,
    /// The file that a session is exported to.
    Export { session: String },
    /// Whether to replace a file.
    Replace { session: String, path: PathBuf },
    /// The label of an entry.
    Label { session: String, entry: String },
}

/// A line that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) purpose: Purpose,
    before: String,
    after: String,
}

impl Prompt {
    /// A line that begins with this.
    pub(super) fn new(purpose: Purpose, text: &str) -> Self {
        Self { purpose, before: text.to_owned(), after: String::new() }
    }

    /// What stands before the line.
    pub(super) fn question(&self) -> String {
        match &self.purpose {
            Purpose::Filter => "filter: ".to_owned(),
            Purpose::Find => "/".to_owned(),
            Purpose::Search => "search all sessions: ".to_owned(),
            Purpose::Export { .. } => "export to (.jsonl, .md or .html): ".to_owned(),
            Purpose::Replace { path, .. } => {
                format!("{} is there; replace it? [y/N] ", path.display())
            }
            Purpose::Label { .. } => "label (empty for none): ".to_owned(),
        }
    }

    pub(super) fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// What stands before the place at which is typed.
    pub(super) fn before(&self) -> &str {
        &self.before
    }

    pub(super) fn insert(&mut self, character: char) {
        if !character.is_control() {
            self.before.push(character);
        }
    }

    pub(super) fn delete_back(&mut self) {
        self.before.pop();
    }

    pub(super) fn delete(&mut self) {
        self.after = self.after.chars().skip(1).collect();
    }

    pub(super) fn delete_word(&mut self) {
        let kept = self.before.trim_end();
        let kept = kept.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        self.before.truncate(kept);
    }

    pub(super) fn delete_all(&mut self) {
        self.before.clear();
    }

    pub(super) fn left(&mut self) {
        if let Some(moved) = self.before.pop() {
            self.after.insert(0, moved);
        }
    }

    pub(super) fn right(&mut self) {
        let mut rest = self.after.chars();
        self.before.extend(rest.next());
        self.after = rest.as_str().to_owned();
    }

    pub(super) fn start(&mut self) {
        self.after.insert_str(0, &std::mem::take(&mut self.before));
    }

    pub(super) fn end(&mut self) {
        self.before.push_str(&std::mem::take(&mut self.after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited() {
        let mut line = Prompt::new(Purpose::Filter, "tide clock");
        line.left();
        line.left();
        assert_eq!((line.before(), line.text().as_str()), ("tide clo", "tide clock"));
        line.insert('ö');
        line.insert('\u{1b}');
        line.delete();
        assert_eq!(line.text(), "tide cloök");
        line.right();
        line.delete_back();
        assert_eq!(line.text(), "tide cloö");
        line.delete_word();
        assert_eq!(line.text(), "tide ");
        line.start();
        line.delete_back();
        line.right();
        assert_eq!((line.before(), line.text().as_str()), ("t", "tide "));
        line.end();
        line.delete_all();
        line.left();
        line.delete_back();
        assert_eq!(line.text(), "");
    }
}
