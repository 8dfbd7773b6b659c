//! Tables: padded for a person, separated by tabs for a program.

use super::failure::Failure;
use super::output::{FAINT, Output};
use super::text;

/// The space between two columns, in characters.
const GAP: usize = 2;

/// The narrowest width to which a column is cut.
const NARROWEST: usize = 8;

/// The width to which paths are cut before any text is: enough for most names of projects.
const SHORT_PATH: usize = 14;

/// The width of names and texts that columns of numbers make room for: `claude-sonnet-4-5-20250929` has it.
const READABLE: usize = 26;

/// A column's alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Left-aligned, and cut if the terminal is too narrow.
    Text(&'static str),
    /// Left-aligned, and cut at its beginning: the end of a path says more.
    Path(&'static str),
    /// Left-aligned, never cut.
    Whole(&'static str),
    /// Right-aligned, never cut.
    Number(&'static str),
}

/// A table for a person.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Text(title) | Self::Path(title) | Self::Whole(title) | Self::Number(title) => {
                title
            }
        }
    }
}

impl Table {
    /// A table without rows.
    pub(super) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row: one cell per column, fit for a terminal.
    pub(super) fn push(&mut self, row: impl Into<Vec<String>>) {
        self.rows.push(row.into());
    }

    /// Whether it has no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes out columns, the first of these first, until the others fit a terminal with names and texts that can be read.
    /// Returns those that are taken out.
    pub(super) fn leave_out(
        &mut self,
        titles: &[&'static str],
        terminal: usize,
    ) -> Vec<&'static str> {
        let mut left_out = Vec::new();
        for title in titles {
            if self.readable_width() <= terminal {
                break;
            }
            let Some(place) = self.columns.iter().position(|column| column.title() == *title)
            else {
                continue;
            };
            self.columns.remove(place);
            for row in &mut self.rows {
                row.remove(place);
            }
            left_out.push(*title);
        }
        left_out
    }

    /// The width that the table needs at least if names and texts are to be read.
    fn readable_width(&self) -> usize {
        let widths = self.widths(None);
        let least = widths.iter().zip(&self.columns).map(|(&width, column)| match column {
            Column::Text(_) | Column::Path(_) => width.min(READABLE),
            Column::Whole(_) | Column::Number(_) => width,
        });
        least.sum::<usize>() + GAP * widths.len().saturating_sub(1)
    }

    /// Prints the table padded, under its titles, and cut to the terminal's width.
    pub(super) fn write(&self, out: &mut Output) -> Result<(), Failure> {
        let widths = self.widths(out.width());
        let titles: Vec<String> =
            self.columns.iter().map(|column| column.title().to_owned()).collect();
        let titles = self.padded(&titles, &widths);
        let titles = out.paint(FAINT, &titles);
        out.line(format_args!("{titles}"))?;
        for row in &self.rows {
            out.line(format_args!("{}", self.padded(row, &widths)))?;
        }
        Ok(())
    }

    /// Each column's width: that of its cells, or less if the terminal is narrower.
    fn widths(&self, terminal: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> =
            self.columns.iter().map(|column| text::width(column.title())).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(text::width(cell));
            }
        }
        let Some(terminal) = terminal else {
            return widths;
        };
        let mut excess = (widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1))
            .saturating_sub(terminal);
        // Paths shrink first, as what is read is beside them, and of several columns the widest.
        let is_path = |column: &Column| matches!(column, Column::Path(_));
        let is_text = |column: &Column| matches!(column, Column::Text(_));
        for (shrinks, least) in [
            (is_path as fn(&Column) -> bool, SHORT_PATH),
            (is_text, NARROWEST),
            (is_path, NARROWEST),
        ] {
            while excess > 0 {
                let columns = widths.iter_mut().zip(&self.columns);
                let widest = columns
                    .filter(|(_, column)| shrinks(column))
                    .map(|(width, _)| width)
                    .max()
                    .filter(|width| **width > least);
                let Some(widest) = widest else { break };
                *widest -= 1;
                excess -= 1;
            }
        }
        widths
    }

    fn padded(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, &width), column) in row.iter().zip(widths).zip(&self.columns) {
            let cell = match column {
                Column::Path(_) => text::fit_end(cell, width),
                _ => text::fit(cell, width),
            };
            let padding = " ".repeat(width.saturating_sub(text::width(&cell)));
            if matches!(column, Column::Number(_)) {
                line.push_str(&padding);
                line.push_str(&cell);
            } else {
                line.push_str(&text::isolated(&cell));
                line.push_str(&padding);
            }
            line.push_str(&" ".repeat(GAP));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Prints a row for a program: its whole cells, separated by tabs.
pub(super) fn write_tabs(out: &mut Output, row: &[String]) -> Result<(), Failure> {
    out.line(format_args!("{}", row.join("\t")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table =
            Table::new([Column::Whole("id"), Column::Text("title"), Column::Number("size")]);
        table.push(["a1".to_owned(), "a title that is rather long".to_owned(), "1".to_owned()]);
        table.push(["b2".to_owned(), "短い".to_owned(), "1,000".to_owned()]);
        table
    }

    #[test]
    fn cells_stand_below_each_other() {
        let table = table();
        let widths = table.widths(None);
        assert_eq!(widths, [2, 27, 5]);
        assert_eq!(table.padded(&table.rows[0], &widths), "a1  a title that is rather long      1");
        assert_eq!(table.padded(&table.rows[1], &widths), "b2  短い                         1,000");
    }

    #[test]
    fn texts_are_cut_to_the_terminal() {
        let table = table();
        let widths = table.widths(Some(24));
        assert_eq!(widths, [2, 13, 5]);
        assert_eq!(table.padded(&table.rows[0], &widths), "a1  a title that…      1");
        assert_eq!(table.widths(Some(3)), [2, 8, 5]);
    }

    #[test]
    fn columns_make_room_for_texts() {
        let wide = |width| {
            let mut table = table();
            let left_out = table.leave_out(&["none", "size", "id"], width);
            (left_out, table.columns.len(), table.rows[0].len())
        };
        assert_eq!(wide(37), (vec![], 3, 3));
        assert_eq!(wide(36), (vec!["size"], 2, 2));
        assert_eq!(wide(29), (vec!["size", "id"], 1, 1));
        assert_eq!(wide(3), (vec!["size", "id"], 1, 1));
    }
}
