//! The conversation that leads to the leaf, as Markdown.

use std::collections::HashMap;
use std::io::Write;

use leafline_import::view::{Part, Role, View};

use super::span::Span;
use super::speaker::{self, Showing};
use super::{ShareOptions, Sheet, patch, title};
use crate::error::Result;
use crate::session::{Entry, SessionReader};
use crate::store::ordinal::Ordinal;

/// So many calls wait for their results at once; others lose their names.
const MOST_CALLS: usize = 10_000;

pub(super) fn write(
    reader: &SessionReader,
    options: &ShareOptions,
    out: &mut dyn Write,
) -> Result<()> {
    let mut text = Text { sheet: Sheet { out }, speaker: None, calls: HashMap::new() };
    let facts = reader.facts();
    text.sheet.put(format!("# {}\n", title(reader, options)))?;
    let cwd = facts.cwd.as_deref().map(|cwd| options.shown_text(cwd));
    let time = facts.created.or(facts.modified).map(speaker::time);
    let said = [Some(facts.family.name().to_owned()), time, cwd.map(|cwd| format!("`{cwd}`"))];
    let said: Vec<String> = said.into_iter().flatten().collect();
    text.sheet.put(format!("\n{}\n", said.join(" · ")))?;

    if options.from.is_none() && options.to.is_none() {
        reader.get_path(None, |entry| text.entry(&options.shown(entry.clone())))?;
        return Ok(());
    }
    let span = Span::of(reader, options, &reader.get_outline()?)?;
    let Some(end) = span.end else { return Ok(()) };
    let mut begun = span.from.is_none();
    reader.each_on_path(Ordinal::new(end), |entry| {
        begun |= Some(entry.ordinal()) == span.from;
        if begun { text.entry(&options.shown(entry.clone())) } else { Ok(()) }
    })?;
    Ok(())
}

struct Text<'o> {
    sheet: Sheet<'o>,
    /// Under whose heading the text is.
    speaker: Option<String>,
    /// The names of the tools that were called, by call.
    calls: HashMap<String, String>,
}

impl Text<'_> {
    fn entry(&mut self, entry: &Entry) -> Result<()> {
        let view = entry.view();
        match Showing::of(entry, &view) {
            Showing::Spoken => {}
            Showing::Noted => return self.note(&view),
            Showing::Hidden => return Ok(()),
        }
        // Results follow the calls that they answer.
        if view.role != Role::Tool {
            self.heading(&view)?;
        }
        for part in &view.parts {
            self.part(part, view.role)?;
        }
        match &view.error {
            Some(error) => {
                self.sheet.put(format!("\n**Error:** {}\n", speaker::beginning(error, 2000)))
            }
            None => Ok(()),
        }
    }

    fn note(&mut self, view: &View) -> Result<()> {
        let name = speaker::name(view);
        let words = speaker::beginning(&view.text(), 120);
        self.speaker = None;
        self.sheet.put(format!("\n*{}*\n", plain(format!("{name} {words}").trim())))
    }

    fn heading(&mut self, view: &View) -> Result<()> {
        let name = speaker::name(view);
        let is_answer = view.role == Role::Assistant;
        if is_answer && self.speaker.as_ref() == Some(&name) {
            return Ok(());
        }
        self.speaker = is_answer.then(|| name.clone());
        let time = view.time.map(speaker::time);
        let facts: Vec<String> = [Some(plain(&name)), time, view.model.as_deref().map(plain)]
            .into_iter()
            .flatten()
            .collect();
        self.sheet.put(format!("\n## {}\n", facts.join(" · ")))
    }

    fn part(&mut self, part: &Part, role: Role) -> Result<()> {
        let text = match part {
            Part::Text(command) if role == Role::Shell => fenced(command, "sh"),
            Part::Text(text) => closed(text),
            Part::Thinking(thought) => folded("Thought", &closed(thought)),
            Part::ToolCall { id, name, arguments } => {
                if let Some(id) = id.as_ref().filter(|_| self.calls.len() < MOST_CALLS) {
                    self.calls.insert(id.clone(), name.clone());
                }
                let subject = speaker::subject(arguments);
                folded(&format!("→ {name} {subject}"), &called(arguments))
            }
            Part::ToolResult { call_id, name, is_error, text } => {
                let called = call_id.as_ref().and_then(|id| self.calls.remove(id));
                let name = name.clone().or(called).unwrap_or_default();
                let failed = if *is_error { " failed" } else { "" };
                let heading = format!("← {name}{failed} {}", speaker::beginning(text, 60));
                folded(&heading, &fenced(text, ""))
            }
            Part::Image { .. } => "*(an image)*".to_owned(),
            _ => return Ok(()),
        };
        self.sheet.put(format!("\n{}\n", text.trim_end()))
    }
}

/// What a call is given: JSON, but of a patch that stands alone its text.
fn called(arguments: &str) -> String {
    match patch::find(arguments) {
        Some(found) => fenced(found.patch, "diff"),
        None => fenced(arguments, "json"),
    }
}

/// A text that is folded where Markdown is shown, with a heading.
fn folded(heading: &str, text: &str) -> String {
    let heading = super::html::escaped(heading.trim());
    format!("<details><summary>{heading}</summary>\n\n{text}\n\n</details>")
}

/// A text between fences that are longer than those in it.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// A text whose last fence is closed, so that what follows is not in it.
fn closed(text: &str) -> String {
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim_start();
        let mark = if line.starts_with('~') { '~' } else { '`' };
        let length = line.len() - line.trim_start_matches(mark).len();
        let fence = line.get(..length).unwrap_or_default();
        match open {
            None if length >= 3 => open = Some(fence),
            Some(opened) if fence.starts_with(opened) && line.trim_end() == fence => open = None,
            _ => {}
        }
    }
    match open {
        Some(fence) => format!("{}\n{fence}", text.trim_end()),
        None => text.to_owned(),
    }
}

/// Words in which nothing is Markdown.
fn plain(words: &str) -> String {
    let mut plain = String::with_capacity(words.len());
    for character in words.chars() {
        if "\\`*_[]<>#|".contains(character) {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_hold_what_is_in_them() {
        assert_eq!(fenced("a\n", "sh"), "```sh\na\n```");
        assert_eq!(fenced("a ``` b", ""), "````\na ``` b\n````");
        assert_eq!(closed("a\n```rust\nfn"), "a\n```rust\nfn\n```");
        assert_eq!(closed("~~~~\n```\n~~~~"), "~~~~\n```\n~~~~");
        assert_eq!(closed("```\nx\n```"), "```\nx\n```");
    }

    #[test]
    fn what_is_folded_cannot_end_its_heading() {
        let folded = folded("</summary><b>", "x");
        assert!(folded.starts_with("<details><summary>&lt;/summary&gt;&lt;b&gt;</summary>"));
        assert_eq!(plain("a_*<b"), "a\\_\\*\\<b");
    }
}
