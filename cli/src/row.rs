//! The row of standard error's terminal in which progress is drawn.

use std::io::{IsTerminal, Result, Write};

use indicatif::{ProgressDrawTarget, TermLike};

/// Columns that stay free. What the terminal echoes of ctrl-c, twice too, stands in the same row, before what is drawn or
/// behind it: a row that is full would go on in the next one, and only that would be erased.
const FREE: u16 = 5;

/// How often it is drawn in a second, at most.
const RATE: u8 = 20;

/// Where progress is drawn; nowhere if standard error is no terminal.
pub(super) fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() {
        ProgressDrawTarget::term_like_with_hz(Box::new(Row), RATE)
    } else {
        ProgressDrawTarget::hidden()
    }
}

#[derive(Debug)]
struct Row;

fn write(text: &str) -> Result<()> {
    std::io::stderr().write_all(text.as_bytes())
}

/// Moves the cursor in the direction that the letter stands for.
fn moved(places: usize, letter: char) -> Result<()> {
    if places == 0 { Ok(()) } else { write(&format!("\u{1b}[{places}{letter}")) }
}

impl TermLike for Row {
    fn width(&self) -> u16 {
        let size = terminal_size::terminal_size_of(std::io::stderr());
        size.map_or(80, |(columns, _)| columns.0).saturating_sub(FREE).max(1)
    }

    fn move_cursor_up(&self, rows: usize) -> Result<()> {
        moved(rows, 'A')
    }

    fn move_cursor_down(&self, rows: usize) -> Result<()> {
        moved(rows, 'B')
    }

    fn move_cursor_right(&self, columns: usize) -> Result<()> {
        moved(columns, 'C')
    }

    fn move_cursor_left(&self, columns: usize) -> Result<()> {
        moved(columns, 'D')
    }

    fn write_line(&self, text: &str) -> Result<()> {
        write(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> Result<()> {
        write(text)
    }

    fn clear_line(&self) -> Result<()> {
        write("\r\u{1b}[2K")
    }

    fn flush(&self) -> Result<()> {
        std::io::stderr().flush()
    }
}
