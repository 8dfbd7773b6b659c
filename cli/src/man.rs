//! `leafline man`.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Result as IoResult, Write};
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::Man;
use leafline::export::check_output;

use super::Status;
use super::failure::Failure;

/// Write the manual pages
///
/// Writes a page for the command and for each of its subcommands into a folder, leafline.1, leafline-import.1 and so on,
/// and makes the folder. `man` finds them below man1 in a folder of MANPATH, such as ~/.local/share/man.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline man ~/.local/share/man/man1")]
pub(super) struct Arguments {
    /// The folder
    folder: PathBuf,
}

/// Writes the pages.
pub(super) fn run(arguments: &Arguments) -> Result<Status, Failure> {
    let folder = &arguments.folder;
    let mut command = super::arguments::Arguments::command().disable_help_subcommand(true);
    command.build();
    check_output(folder, None)?;
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    write_pages(&command, folder)?;
    Ok(Status::Done)
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: &clap::Command, folder: &Path) -> Result<(), Failure> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        write_pages(inner, folder)?;
    }
    let man = Man::new(command.clone()).source(concat!("leafline ", env!("CARGO_PKG_VERSION")));
    let path = folder.join(man.get_filename());
    check_output(&path, None)?;
    write_page(command, &man, &path).map_err(|error| failed(folder, error))
}

fn failed(folder: &Path, source: std::io::Error) -> Failure {
    Failure::Manual { path: folder.to_owned(), source }
}

fn write_page(command: &clap::Command, man: &Man, path: &Path) -> IoResult<()> {
    // A link or a pipe in its place is not written through.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut page = BufWriter::new(File::create_new(path)?);
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = command.get_after_help() {
        page.write_all(sections(&after.to_string()).as_bytes())?;
    }
    page.flush()
}

/// The text that follows the options in a command's help: a section of examples, and one of notes.
fn sections(text: &str) -> String {
    let (mut examples, mut notes) = (String::new(), String::new());
    for block in text.split("\n\n") {
        let lines = block.lines();
        let rest = block.strip_prefix("Example").and_then(|rest| rest.split_once(":\n"));
        match rest {
            Some((_, lines)) => add_block(&mut examples, "EXAMPLES", lines.lines()),
            None => add_block(&mut notes, "NOTES", lines),
        }
    }
    examples + &notes
}

/// Adds lines to a section. Indented ones stay as they are, and all others are filled.
fn add_block<'l>(section: &mut String, heading: &str, lines: impl Iterator<Item = &'l str>) {
    section.push_str(&if section.is_empty() {
        format!(".SH {heading}\n")
    } else {
        ".PP\n".to_owned()
    });
    let mut is_kept = false;
    for line in lines {
        if line.starts_with(' ') != is_kept {
            is_kept = !is_kept;
            section.push_str(if is_kept { ".nf\n" } else { ".fi\n" });
        }
        section.push_str(&escaped(line));
        section.push('\n');
    }
    if is_kept {
        section.push_str(".fi\n");
    }
}

/// A line as roff prints it: plain quotes, hyphens and tildes, and no request.
fn escaped(line: &str) -> String {
    let mut out = String::from(if line.starts_with(['.', '\'']) { "\\&" } else { "" });
    for c in line.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '~' => out.push_str("\\(ti"),
            '^' => out.push_str("\\(ha"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_notes_are_sections() {
        let text = "Signs:\n  a  b\n\nExamples:\n  leafline ls -n 1\n  ls '~'\n\nA note\nthat goes on.\n.dot";
        let expected = [
            ".SH EXAMPLES\n.nf\n  leafline ls \\-n 1\n  ls \\(aq\\(ti\\(aq\n.fi\n",
            ".SH NOTES\nSigns:\n.nf\n  a  b\n.fi\n",
            ".PP\nA note\nthat goes on.\n\\&.dot\n",
        ];
        assert_eq!(sections(text), expected.concat());
    }
}
