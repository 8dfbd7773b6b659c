//! The conversation that leads to the leaf, as Markdown.

use std::collections::HashMap;
use std::io::Write;

use leafline_import::view::{Part, Role, View};

use super::call::{self, Piece};
use super::html::visible;
use super::markup::{code, fenced, folded, plain, prose};
use super::span::Span;
use super::speaker::{self, Showing};
use super::{ShareOptions, Sheet, diff, title};
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
    // Before anything is written.
    let span = match (&options.from, &options.to) {
        (None, None) => None,
        _ => Some(Span::of(reader, options, &reader.get_outline()?)?),
    };
    let calls = HashMap::new();
    let mut text = Text { sheet: Sheet { out }, speaker: None, model: None, calls };
    let facts = reader.facts();
    text.put(format!("# {}\n", plain(&title(reader, options))))?;
    let cwd = facts.cwd.as_deref().map(|cwd| code(&options.shown_text(cwd)));
    let time = facts.created.or(facts.modified).map(speaker::time);
    let said = [Some(facts.family.name().to_owned()), time, cwd];
    let said: Vec<String> = said.into_iter().flatten().collect();
    text.put(format!("\n{}\n", said.join(" · ")))?;

    let Some(span) = span else {
        reader.get_path(None, |entry| text.entry(&options.shown(entry.clone())))?;
        return Ok(());
    };
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
    /// The model that was named last.
    model: Option<String>,
    /// The names of the tools that were called, by call.
    calls: HashMap<String, String>,
}

impl Text<'_> {
    /// Writes a text. Whatever stands in it is seen.
    fn put(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.sheet.put(visible(text.as_ref()))
    }

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
                self.put(format!("\n**Error:** {}\n", plain(&speaker::beginning(error, 2000))))
            }
            None => Ok(()),
        }
    }

    fn note(&mut self, view: &View) -> Result<()> {
        let name = speaker::name(view);
        let words = speaker::beginning(&view.text(), 120);
        self.speaker = None;
        self.put(format!("\n*{}*\n", plain(format!("{name} {words}").trim())))
    }

    fn heading(&mut self, view: &View) -> Result<()> {
        let name = speaker::name(view);
        let is_answer = view.role == Role::Assistant;
        // An answer that says no model is of the one before.
        let is_other_model = view.model.is_some() && view.model != self.model;
        if is_answer && self.speaker.as_ref() == Some(&name) && !is_other_model {
            return Ok(());
        }
        if is_answer && view.model.is_some() {
            self.model.clone_from(&view.model);
        }
        self.speaker = is_answer.then(|| name.clone());
        let time = view.time.map(speaker::time);
        let facts: Vec<String> = [Some(plain(&name)), time, view.model.as_deref().map(plain)]
            .into_iter()
            .flatten()
            .collect();
        self.put(format!("\n## {}\n", facts.join(" · ")))
    }

    fn part(&mut self, part: &Part, role: Role) -> Result<()> {
        let text = match part {
            Part::Text(command) if role == Role::Shell => fenced(command, "sh"),
            // What begins with spaces would belong to a list before it.
            Part::Text(text) if text.starts_with([' ', '\t']) => {
                format!("<!-- -->\n\n{}", prose(text))
            }
            Part::Text(text) => prose(text),
            Part::Thinking(thought) => folded("Thought", &prose(thought)),
            Part::ToolCall { id, name, arguments } => {
                if let Some(id) = id.as_ref().filter(|_| self.calls.len() < MOST_CALLS) {
                    self.calls.insert(id.clone(), name.clone());
                }
                let subject = speaker::subject(arguments);
                let heading = format!("→ {} {subject}", speaker::beginning(name, 100));
                folded(&heading, &called(name, arguments))
            }
            Part::ToolResult { call_id, name, is_error, text } => {
                let called = call_id.as_ref().and_then(|id| self.calls.remove(id));
                let name = name.clone().or(called).unwrap_or_default();
                let failed = if *is_error { " failed" } else { "" };
                let name = speaker::beginning(&name, 100);
                let heading = format!("← {name}{failed} {}", speaker::beginning(text, 60));
                let heading = speaker::beginning(&heading, 200);
                folded(&heading, &fenced(text, ""))
            }
            Part::Image { .. } => "*(an image)*".to_owned(),
            Part::Other { type_name, title, text } => {
                let heading = speaker::block(type_name, title.as_deref());
                if text.is_empty() {
                    format!("*({})*", plain(&heading))
                } else {
                    folded(&heading, &fenced(text, ""))
                }
            }
            _ => return Ok(()),
        };
        self.put(format!("\n{}\n", text.trim_end()))
    }
}

/// What a call is given: each argument by its name, texts of files and commands in fences, and an old and a new text as a
/// diff.
fn called(name: &str, arguments: &str) -> String {
    let (mut words, mut fences) = (String::new(), Vec::new());
    call::each_argument(name, arguments, |name, pieces| {
        let name = Some(name).filter(|name| !name.is_empty());
        let name = name.map(|name| code(&speaker::beginning(name, 100))).unwrap_or_default();
        if let [Piece::Words(text)] = pieces {
            words.push_str(&format!("- {name}: {}\n", code(text)));
            return;
        }
        fences.push((name, pieces.iter().map(shown).collect::<Vec<_>>().join("\n\n")));
    });
    // What stands alone needs no name.
    let is_alone = words.is_empty() && fences.len() == 1;
    let named = |(name, text): (String, String)| {
        if is_alone || name.is_empty() { text } else { format!("{name}:\n\n{text}") }
    };
    let words = Some(words.trim_end().to_owned()).filter(|words| !words.is_empty());
    let parts: Vec<String> = words.into_iter().chain(fences.into_iter().map(named)).collect();
    parts.join("\n\n")
}

fn shown(piece: &Piece<'_>) -> String {
    match piece {
        Piece::Words(text) => code(text),
        Piece::Code { text, language } => fenced(text, language),
        Piece::Change { old, new, .. } => {
            let mut lines = String::new();
            diff::each_line_of_change(old, new, |sign, line| {
                lines.push(sign);
                lines.push_str(line);
                lines.push('\n');
            });
            fenced(&lines, "diff")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_shown_by_what_they_do() {
        for (name, arguments, expected) in [
            ("bash", r#"{"command":"npm test"}"#, "```bash\nnpm test\n```"),
            (
                "write",
                r#"{"path":"a.py","content":"x = 1\n```\n"}"#,
                "- `path`: `a.py`\n\n`content`:\n\n````python\nx = 1\n```\n````",
            ),
            (
                "Edit",
                r#"{"file_path":"a.rs","new_string":"a\nc","old_string":"a\nb"}"#,
                "- `file_path`: `a.rs`\n\n`change`:\n\n```diff\n a\n-b\n+c\n```",
            ),
            (
                "edit",
                r#"{"path":"a.rs","edits":[{"oldText":"a","newText":"b"},{"oldText":"c","newText":"d"}]}"#,
                "- `path`: `a.rs`\n\n`edits`:\n\n```diff\n-a\n+b\n```\n\n```diff\n-c\n+d\n```",
            ),
            (
                "shell",
                r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n-a\n+b\n*** End Patch"}"#,
                "```diff\n*** Begin Patch\n*** Update File: a.rs\n-a\n+b\n*** End Patch\n```",
            ),
            ("list", "{}", "```json\n{}\n```"),
            ("raw", "*** not JSON", "```\n*** not JSON\n```"),
        ] {
            assert_eq!(called(name, arguments), expected, "{arguments}");
        }
    }
}
