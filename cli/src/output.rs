//! Standard output: for a person at a terminal, or for a program.

use std::fmt::Arguments;
use std::io::{BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::Serializer;

use super::failure::Failure;
use super::terminal::TerminalText;
use super::text::{self, PrintableJson};

/// The width of a terminal that does not report one.
const USUAL_WIDTH: usize = 80;

/// Emphasised text: an id, a heading.
pub(super) const STRONG: Style = Style::new().bold();

/// Dimmed text.
pub(super) const FAINT: Style = Style::new().dimmed();

/// A role, or a kind of entry.
pub(super) const KIND: Style = AnsiColor::Cyan.on_default();

/// A label.
pub(super) const LABEL: Style = AnsiColor::Yellow.on_default();

/// Success, or the session's leaf.
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();

/// An error or an oddity.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Standard output, buffered.
#[derive(Debug)]
pub(super) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    json: bool,
    /// The terminal's columns, when it is one.
    width: Option<usize>,
    colour: bool,
    terminal: TerminalText,
    /// Whether lines for a person are in ASCII.
    ascii: bool,
}

impl Output {
    /// Standard output, for JSON or for people. With a width it counts as a terminal of so many columns.
    pub(super) fn new(json: bool, width: Option<usize>) -> Self {
        let stdout = std::io::stdout();
        let of_terminal = stdout.is_terminal().then(|| {
            let size = terminal_size::terminal_size_of(&stdout);
            size.map_or(USUAL_WIDTH, |(columns, _)| usize::from(columns.0))
        });
        let width = width.or(of_terminal);
        let ascii = width.is_some() && is_ascii_locale();
        // The choice honours NO_COLOR and the like, and whether this is a terminal.
        let colour = anstream::AutoStream::choice(&stdout) != ColorChoice::Never;
        let out = BufWriter::with_capacity(64 << 10, stdout.lock());
        Self { out, json, width, colour, ascii, terminal: TerminalText::default() }
    }

    /// Whether JSON was requested.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// The columns of the terminal; `None` if it is not a terminal.
    pub(super) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Writes one value as JSON on a line of its own.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut serializer = Serializer::with_formatter(&mut self.out, PrintableJson);
        match value.serialize(&mut serializer) {
            Ok(()) => {}
            Err(error) if error.is_io() => return Err(Failure::Output(error.into())),
            Err(error) => return Err(Failure::Json(error)),
        }
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// Writes a line for a person.
    pub(super) fn line(&mut self, line: Arguments<'_>) -> Result<(), Failure> {
        if self.ascii {
            self.out.write_all(text::ascii(&line.to_string()).as_bytes())?;
        } else {
            self.out.write_fmt(line)?;
        }
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// The text in a style, if the terminal supports styles.
    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// Flushes for a person, who sees output as it comes; a program gets it in larger pieces.
    pub(super) fn show(&mut self) -> Result<(), Failure> {
        if self.width.is_some() {
            self.out.flush()?;
        }
        Ok(())
    }
}

/// Whether the user's locale is the plain one, of which only ASCII is certain.
fn is_ascii_locale() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale = set.into_iter().find(|locale| !locale.is_empty());
    locale.is_some_and(|locale| locale == "C" || locale == "POSIX")
}

/// Whether standard output is this file, under any name.
#[cfg(unix)]
pub(super) fn is_standard_output(path: &Path) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let output = std::io::stdout().as_fd().try_clone_to_owned();
    let output = output.and_then(|output| std::fs::File::from(output).metadata());
    match (output, std::fs::metadata(path)) {
        (Ok(output), Ok(file)) => (output.dev(), output.ino()) == (file.dev(), file.ino()),
        _ => false,
    }
}

/// Closes the file that a shell has made for standard output to other users: what is exported into it holds what the
/// store holds. A file that has something in it was somebody's before, and stays as it is.
#[cfg(unix)]
pub(super) fn close_to_others() {
    use std::os::fd::AsFd;
    use std::os::unix::fs::PermissionsExt;
    let Ok(output) = std::io::stdout().as_fd().try_clone_to_owned() else { return };
    let output = std::fs::File::from(output);
    let Ok(metadata) = output.metadata() else { return };
    let mut permissions = metadata.permissions();
    if metadata.is_file() && metadata.len() == 0 && permissions.mode() & 0o077 != 0 {
        permissions.set_mode(permissions.mode() & 0o700);
        // It may be another user's, who decides.
        let _ = output.set_permissions(permissions);
    }
}

/// Other systems have no modes.
#[cfg(not(unix))]
pub(super) fn close_to_others() {}

/// Other systems do not report this.
#[cfg(not(unix))]
pub(super) fn is_standard_output(_: &Path) -> bool {
    false
}

impl Write for Output {
    /// A session's bytes as they are; on a terminal, without what would control it.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.width.is_none() {
            return self.out.write(bytes);
        }
        self.out.write_all(self.terminal.of(bytes).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.write_all(self.terminal.rest().as_bytes())?;
        self.out.flush()
    }
}
