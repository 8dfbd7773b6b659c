//! Calls of tools and what they return, as a page shows them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::html::{escaped, linked};
use super::number::counted;
use super::prose::write_code;
use super::{command, diff, language, patch, speaker};

/// The arguments that name a file, and those that are what a file has or is to have.
const PATHS: [&str; 6] = ["file_path", "filePath", "path", "filename", "file", "notebook_path"];
const CONTENTS: [&str; 6] =
    ["content", "contents", "text", "file_text", "new_source", "insert_text"];

/// A call as its result is shown by it.
#[derive(Debug, Clone, Default)]
pub(super) struct Called {
    /// The tool's name.
    pub(super) name: String,
    /// The language of what it returns, if it reads a file.
    prints: Option<&'static str>,
}

/// Appends a call.
pub(super) fn write(name: &str, arguments: &str, out: &mut String) -> Called {
    let shown = if name.is_empty() { "tool" } else { name };
    out.push_str(&format!(
        "<details class=\"call\"><summary><b>{}</b> <code>{}</code></summary>",
        escaped(shown),
        escaped(&speaker::subject(arguments))
    ));
    let mut prints = None;
    match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) => {
            let call = Call::of(name, &members);
            prints = call.prints();
            call.write(out);
        }
        Ok(_) => write_code(arguments, "json", out),
        Err(_) => write_code(arguments, "", out),
    }
    out.push_str("</details>");
    Called { name: name.to_owned(), prints }
}

/// A call whose arguments have names.
struct Call<'c> {
    name: &'c str,
    members: &'c Map<String, Value>,
    path: Option<&'c str>,
    /// The language of the file that it is about.
    language: Option<&'static str>,
}

impl<'c> Call<'c> {
    fn of(name: &'c str, members: &'c Map<String, Value>) -> Self {
        let path = PATHS.into_iter().find_map(|name| members.get(name)?.as_str());
        Self { name, members, path, language: path.and_then(language::of_path) }
    }

    /// The language of what it returns, as far as it is a file's.
    fn prints(&self) -> Option<&'static str> {
        let name = self.name.to_ascii_lowercase();
        let reads = ["read", "view", "cat", "get_file", "open_file"];
        if self.path.is_some() {
            return self.language.filter(|_| reads.iter().any(|word| name.contains(word)));
        }
        let command = self.members.iter().find_map(|(name, value)| command::of(name, value));
        command.and_then(command::prints)
    }

    fn write(&self, out: &mut String) {
        out.push_str("<dl>");
        for (name, pieces) in self.arguments() {
            out.push_str(&format!("<dt>{}</dt><dd>", escaped(name)));
            pieces.iter().for_each(|piece| piece.write(out));
            out.push_str("</dd>");
        }
        out.push_str("</dl>");
    }

    /// The arguments' names, and how each is shown: an old and a new text as the change that they are, behind all others.
    fn arguments(&self) -> Vec<(&'c str, Vec<Piece<'c>>)> {
        let change = change(self.members);
        let is_changed = |name: &str| change.is_some_and(|(old, new)| name == old || name == new);
        let others = self.members.iter().filter(|(name, _)| !is_changed(name));
        let mut arguments: Vec<_> =
            others.map(|(name, value)| (name.as_str(), self.argument(name, value))).collect();
        if let Some(names) = change {
            arguments.push(("change", vec![self.change(self.members, names)]));
        }
        arguments
    }

    fn change(
        &self,
        members: &'c Map<String, Value>,
        (old, new): (&'static str, &'static str),
    ) -> Piece<'c> {
        let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        Piece::Change { old: text(old), new: text(new), language: self.language }
    }

    fn argument(&self, name: &str, value: &'c Value) -> Vec<Piece<'c>> {
        // Where there is a path, it is the name of what an editor does with it.
        let command = command::of(name, value).filter(|_| self.path.is_none());
        if let Some(command) = command {
            return of_command(command);
        }
        match value {
            Value::String(text) => vec![match self.language_of(name) {
                Some(language) => Piece::code(text, language),
                None if text.contains('\n') || text.len() > 120 => Piece::code(text, ""),
                None => Piece::Words(text),
            }],
            Value::Array(changes)
                if changes.iter().any(|each| each.as_object().and_then(change).is_some()) =>
            {
                let piece = |each: &'c Value| match each
                    .as_object()
                    .and_then(|members| Some((members, change(members)?)))
                {
                    Some((members, names)) => self.change(members, names),
                    None => Piece::code(each.to_string(), "json"),
                };
                changes.iter().map(piece).collect()
            }
            other => {
                let text =
                    serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string());
                vec![Piece::code(text, "json")]
            }
        }
    }

    /// The language of an argument that is a text.
    fn language_of(&self, argument: &str) -> Option<&'static str> {
        let runs_python = || self.name.to_ascii_lowercase().contains("python");
        match argument {
            "code" => self.language.or_else(|| runs_python().then_some("python")),
            argument if CONTENTS.contains(&argument) => self.language,
            _ => None,
        }
    }
}

/// How a part of an argument is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'c> {
    /// A short text.
    Words(&'c str),
    /// A text in a language; in none if that is not known.
    Code { text: Cow<'c, str>, language: &'static str },
    /// The change of one text into another.
    Change { old: &'c str, new: &'c str, language: Option<&'static str> },
}

impl<'c> Piece<'c> {
    fn code(text: impl Into<Cow<'c, str>>, language: &'static str) -> Self {
        Self::Code { text: text.into(), language }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Words(text) => {
                out.push_str("<code>");
                linked(text, out);
                out.push_str("</code>");
            }
            Self::Code { text, language } => write_code(text, language, out),
            Self::Change { old, new, language } => diff::write_change(old, new, *language, out),
        }
    }
}

/// A command of a shell; a patch in it is shown as one.
fn of_command(command: &str) -> Vec<Piece<'_>> {
    let Some(found) = patch::find(command) else { return vec![Piece::code(command, "bash")] };
    [(found.before, "bash"), (found.patch, "diff"), (found.behind, "bash")]
        .into_iter()
        .filter(|(text, _)| !text.trim().is_empty())
        .map(|(text, language)| Piece::code(text.trim_start_matches('\n'), language))
        .collect()
}

/// Passes on a call's arguments as they are shown: their names, of arguments that have none an empty one, and their pieces.
pub(super) fn each_argument(name: &str, arguments: &str, mut each: impl FnMut(&str, &[Piece<'_>])) {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) if !members.is_empty() => {
            let call = Call::of(name, &members);
            call.arguments().iter().for_each(|(name, pieces)| each(name, pieces));
        }
        Ok(_) => each("", &[Piece::code(arguments, "json")]),
        Err(_) => each("", &[Piece::code(arguments, "")]),
    }
}

/// The names of an old and a new text among a call's arguments.
fn change(members: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    let names = [
        ("old_string", "new_string"),
        ("oldText", "newText"),
        ("old_text", "new_text"),
        ("old_str", "new_str"),
    ];
    names.into_iter().find(|(old, new)| {
        [old, new].into_iter().all(|name| members.get(*name).is_some_and(Value::is_string))
    })
}

/// Appends what a call returned.
pub(super) fn write_result(called: &Called, is_error: bool, text: &str, out: &mut String) {
    let lines = text.lines().count() as u64;
    out.push_str(if is_error {
        "<details class=\"result failed\">"
    } else {
        "<details class=\"result\">"
    });
    out.push_str(&format!(
        "<summary><b>{}</b> {} <small>{}</small></summary>",
        escaped(&called.name),
        escaped(&speaker::beginning(text, 90)),
        counted(lines, "line", "lines")
    ));
    match called.prints.filter(|_| !is_error) {
        Some(language) => {
            let (head, printed) = parted(text);
            if !head.is_empty() {
                write_code(head, "text", out);
            }
            write_code(printed, language, out);
        }
        None => write_code(text, "text", out),
    }
    out.push_str("</details>");
}

/// What Codex says of a command, and what that has printed.
fn parted(text: &str) -> (&str, &str) {
    const OUTPUT: &str = "\nOutput:\n";
    let is_head = text.starts_with("Chunk ID: ") || text.starts_with("Exit code: ");
    match text.find(OUTPUT).filter(|_| is_head) {
        Some(at) => text.split_at_checked(at + OUTPUT.len()).unwrap_or(("", text)),
        None => ("", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(name: &str, arguments: &str) -> (String, Called) {
        let mut out = String::new();
        let called = write(name, arguments, &mut out);
        (out, called)
    }

    #[test]
    fn what_a_call_is_about_says_its_language() {
        let (out, called) = html("Read", r#"{"file_path":"/work/src/a.rs","offset":10}"#);
        assert_eq!(called.prints, Some("rust"));
        assert!(out.contains("<code>/work/src/a.rs</code>"), "{out}");

        let (out, called) = html("write", r#"{"path":"a.py","content":"x = 1"}"#);
        assert_eq!(called.prints, None);
        assert!(out.contains("<pre class=\"code\" data-language=\"python\"><code>x = 1<"), "{out}");

        let (out, _) = html("edit", r#"{"path":"a.ts","edits":[{"oldText":"a","newText":"b"}]}"#);
        assert!(
            out.contains(
                "<span data-language=\"typescript\"><del>-a</del>\n<ins>+b</ins>\n</span>"
            ),
            "{out}"
        );

        let (out, called) = html("bash", r#"{"command":"cat a.rs"}"#);
        assert_eq!(called.prints, Some("rust"));
        assert!(out.contains("data-language=\"bash\"><code>cat a.rs<"), "{out}");

        let (out, _) = html("str_replace_editor", r#"{"command":"view","path":"a.rs"}"#);
        assert!(out.contains("<code>view</code>"), "{out}");
    }

    #[test]
    fn patches_are_diffs() {
        let patch = "*** Begin Patch\\n*** Update File: a.rs\\n@@\\n-a\\n+b\\n*** End Patch";
        for arguments in [
            format!(r#"{{"input":"{patch}"}}"#),
            patch.replace("\\n", "\n"),
            format!(r#"{{"command":["apply_patch","{patch}"]}}"#),
            format!(r#"{{"cmd":"apply_patch <<'EOF'\n{patch}\nEOF"}}"#),
        ] {
            let (out, _) = html("shell", &arguments);
            assert!(out.contains("</b> <code>a.rs</code></summary>"), "{out}");
            let change =
                "<span data-language=\"rust\"><i>@@</i>\n<del>-a</del>\n<ins>+b</ins>\n</span>";
            assert!(out.contains(change), "{out}");
        }
    }

    #[test]
    fn what_was_read_is_in_its_files_language() {
        let (_, called) = html("exec_command", r#"{"cmd":"cat src/face.rs"}"#);
        let mut out = String::new();
        let text = "Chunk ID: 1\nProcess exited with code 0\nOutput:\nfn main() {}\n";
        write_result(&called, false, text, &mut out);
        assert!(out.contains("data-language=\"rust\"><code>fn main() {}</code>"), "{out}");
        let mut out = String::new();
        write_result(&called, true, text, &mut out);
        assert!(!out.contains("rust"), "{out}");
    }
}
