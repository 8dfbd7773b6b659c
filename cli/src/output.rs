//! Standard output: for a person at a terminal, or for a program.

use std::fmt::Arguments;
use std::io::{BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use leafline::Error;
use leafline::error::ExportError;
use leafline::export::check_output;
use serde::Serialize;
use serde_json::Serializer;

use super::failure::Failure;
use super::pager::{Pager, PagerChoice};
use super::place::on_the_store_named;
use super::screen::Screen;
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

/// Where output goes.
#[derive(Debug)]
enum Sink {
    /// To standard output, buffered.
    Direct(BufWriter<Stdout>),
    /// Nowhere yet: it goes to the pager if it is longer than the terminal.
    Held(Screen, PagerChoice),
    /// To a pager.
    Paged(Pager),
    /// Into memory, from which a screen takes it.
    Collected(Vec<u8>),
}

/// Standard output.
#[derive(Debug)]
pub(super) struct Output {
    sink: Sink,
    /// What standard error gets at the end.
    remarks: Vec<String>,
    json: bool,
    /// The terminal's columns, when it is one.
    width: Option<usize>,
    colour: bool,
    terminal: TerminalText,
    /// Whether lines for a person are in ASCII.
    ascii: bool,
    /// Whether a program gets what is shown at once, too.
    at_once: bool,
}

impl Output {
    /// Standard output, for JSON or for people. With a width it counts as a terminal of so many columns. With
    /// `is_paged`, what is longer than the terminal goes through the user's pager.
    pub(super) fn new(json: bool, width: Option<usize>, is_paged: bool) -> Self {
        let stdout = std::io::stdout();
        let size = stdout.is_terminal().then(|| terminal_size::terminal_size_of(&stdout));
        let of_terminal =
            size.map(|size| size.map_or(USUAL_WIDTH, |(columns, _)| usize::from(columns.0)));
        let pager = if is_paged && !json { PagerChoice::of_surroundings() } else { None };
        let width = width.or(of_terminal);
        let ascii = width.is_some() && is_ascii_locale();
        // The choice honours NO_COLOR and the like, and whether this is a terminal.
        let colour = anstream::AutoStream::choice(&stdout) != ColorChoice::Never;
        let sink = match (size.flatten(), pager) {
            (Some((columns, rows)), Some(pager)) => {
                Sink::Held(Screen::new(rows.0.into(), columns.0.into()), pager)
            }
            _ => direct(),
        };
        let (remarks, terminal) = (Vec::new(), TerminalText::default());
        Self { sink, remarks, json, width, colour, ascii, terminal, at_once: false }
    }

    /// Lines for a part of a screen that has so many columns: [`Self::take`] takes them.
    pub(super) fn collected(width: usize, colour: bool) -> Self {
        Self {
            sink: Sink::Collected(Vec::new()),
            remarks: Vec::new(),
            json: false,
            width: Some(width),
            colour,
            terminal: TerminalText::default(),
            ascii: is_ascii_locale(),
            at_once: false,
        }
    }

    /// What was collected since the last call.
    pub(super) fn take(&mut self) -> String {
        let Sink::Collected(bytes) = &mut self.sink else { return String::new() };
        String::from_utf8_lossy(&std::mem::take(bytes)).into_owned()
    }

    /// Shows what is still held, waits for the pager, and then makes the remarks.
    ///
    /// # Errors
    ///
    /// If something could not be written, or the pager not be run.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        let flushed = self.flush();
        match self.sink {
            Sink::Paged(pager) => pager.wait()?,
            Sink::Held(screen, _) => {
                let mut stdout = std::io::stdout().lock();
                stdout.write_all(screen.bytes())?;
                stdout.flush()?;
            }
            Sink::Direct(_) | Sink::Collected(_) => {}
        }
        for remark in self.remarks {
            // If standard error is gone, there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{remark}");
        }
        Ok(flushed?)
    }

    /// Says something on standard error once the output is seen.
    pub(super) fn remark(&mut self, remark: String) {
        self.remarks.push(on_the_store_named(&remark).into_owned());
    }

    /// Writes to wherever it goes now.
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let Sink::Held(screen, _) = &mut self.sink else { return self.sink.write_all(bytes) };
        screen.add(bytes);
        if !screen.is_full() {
            return Ok(());
        }
        let Sink::Held(screen, choice) = std::mem::replace(&mut self.sink, direct()) else {
            return Ok(());
        };
        if let Some(pager) = choice.start().map_err(std::io::Error::other)? {
            self.sink = Sink::Paged(pager);
        }
        self.sink.write_all(screen.bytes())
    }

    /// Whether JSON was requested.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// The columns of the terminal; `None` if it is not a terminal.
    pub(super) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Whether it is painted.
    pub(super) fn is_coloured(&self) -> bool {
        self.colour
    }

    /// Writes one value as JSON on a line of its own.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut serializer = Serializer::with_formatter(&mut self.sink, PrintableJson);
        match value.serialize(&mut serializer) {
            Ok(()) => {}
            Err(error) if error.is_io() => return Err(Failure::Output(error.into())),
            Err(error) => return Err(Failure::Json(error)),
        }
        self.sink.write_all(b"\n")?;
        Ok(())
    }

    /// Writes a line for a person.
    pub(super) fn line(&mut self, line: Arguments<'_>) -> Result<(), Failure> {
        if let (Sink::Direct(out), false) = (&mut self.sink, self.ascii) {
            out.write_fmt(line)?;
            out.write_all(b"\n")?;
            return Ok(());
        }
        let mut line = line.to_string();
        if self.ascii {
            line = text::ascii(&line);
        }
        line.push('\n');
        self.put(line.as_bytes())?;
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

    /// From now on, a program gets what is shown at once, as a person does: the command goes on for long.
    pub(super) fn at_once(&mut self) {
        self.at_once = true;
    }

    /// Flushes for a person, who sees output as it comes; a program gets it in larger pieces.
    pub(super) fn show(&mut self) -> Result<(), Failure> {
        if self.width.is_some() || self.at_once {
            self.sink.flush()?;
        }
        Ok(())
    }
}

/// Whether the user's locale is the plain one, of which only ASCII is certain.
pub(super) fn is_ascii_locale() -> bool {
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

/// Fails if standard output is a store or what belongs to one, as far as the system lets its file be looked at.
pub(super) fn refuse_standard_output(store: &Path) -> Result<(), Failure> {
    match check_output(Path::new("/dev/stdout"), Some(store)) {
        Err(error @ Error::Export(ExportError::WouldReplaceStore { .. })) => Err(error.into()),
        _ => Ok(()),
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
            return self.sink.write(bytes);
        }
        let text = self.terminal.of(bytes);
        self.put(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let rest = self.terminal.rest();
        self.put(rest.as_bytes())?;
        self.sink.flush()
    }
}

fn direct() -> Sink {
    Sink::Direct(BufWriter::with_capacity(64 << 10, std::io::stdout()))
}

impl Write for Sink {
    /// Held output is only added to.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Direct(out) => out.write(bytes),
            Self::Paged(pager) => pager.write(bytes),
            Self::Held(screen, _) => {
                screen.add(bytes);
                Ok(bytes.len())
            }
            Self::Collected(collected) => collected.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Direct(out) => out.flush(),
            Self::Paged(pager) => pager.flush(),
            Self::Held(..) | Self::Collected(_) => Ok(()),
        }
    }
}
