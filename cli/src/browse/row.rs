//! Rows of a screen, made of what the commands print.

use ansi_to_tui::IntoText;
use anstream::adapter::strip_str;
use ratatui::text::Line;

use crate::text;

/// A row that shows an entry, or a part of one.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) line: Line<'static>,
    /// The entry's ordinal.
    pub(super) entry: u64,
}

impl Row {
    /// What it says.
    pub(super) fn text(&self) -> String {
        self.line.spans.iter().map(|span| span.content.as_ref()).collect()
    }
}

/// Printed lines as rows of at most so many columns.
pub(super) fn lines(printed: &str, columns: usize) -> Vec<Line<'static>> {
    let pieces: Vec<String> =
        printed.lines().flat_map(|line| text::pieces(line, columns.max(1))).collect();
    let text = pieces.join("\n");
    let mut lines = match text.into_text() {
        Ok(text) => text.lines,
        Err(_) => strip_str(&text).to_string().lines().map(|l| Line::from(l.to_owned())).collect(),
    };
    // An empty last line is not a line to a parser.
    lines.resize(pieces.len(), Line::default());
    lines
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier};

    use super::*;
    use crate::output::{KIND, STRONG};

    fn said(lines: &[Line<'_>]) -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn styles_go_on_where_a_line_is_broken() {
        let printed = format!("{STRONG}abcdef{STRONG:#}g\n\n{KIND}日本語{KIND:#}\n\n");
        let lines = lines(&printed, 4);
        assert_eq!(said(&lines), ["abcd", "efg", "", "日本", "語", ""]);
        let bold = |line: usize, span: usize| {
            lines[line].spans[span].style.add_modifier.contains(Modifier::BOLD)
        };
        assert!(bold(0, 0) && bold(1, 0) && !bold(1, 1));
        assert_eq!(lines[4].spans[0].style.fg, Some(Color::Cyan));
        assert!(super::lines("", 10).is_empty());
    }
}
