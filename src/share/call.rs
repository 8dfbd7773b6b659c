//! Calls of tools and what they return, as a page shows them.

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
        let change = change(self.members);
        for (name, value) in self.members {
            if change.is_some_and(|(old, new)| name == old || name == new) {
                continue;
            }
            out.push_str(&format!("<dt>{}</dt><dd>", escaped(name)));
            self.argument(name, value, out);
            out.push_str("</dd>");
        }
        if let Some(change) = change {
            out.push_str("<dt>change</dt><dd>");
            self.change(self.members, change, out);
            out.push_str("</dd>");
        }
        out.push_str("</dl>");
    }

    fn change(
        &self,
        members: &Map<String, Value>,
        (old, new): (&'static str, &'static str),
        out: &mut String,
    ) {
        let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        diff::write_change(text(old), text(new), self.language, out);
    }

    fn argument(&self, name: &str, value: &Value, out: &mut String) {
        // Where there is a path, it is the name of what an editor does with it.
        let command = command::of(name, value).filter(|_| self.path.is_none());
        if let Some(command) = command {
            return write_command(command, out);
        }
        match value {
            Value::String(text) => match self.language_of(name) {
                Some(language) => write_code(text, language, out),
                None if text.contains('\n') || text.len() > 120 => write_code(text, "", out),
                None => {
                    out.push_str("<code>");
                    linked(text, out);
                    out.push_str("</code>");
                }
            },
            Value::Array(changes)
                if changes.iter().any(|each| each.as_object().and_then(change).is_some()) =>
            {
                for each in changes {
                    match each.as_object().and_then(|members| Some((members, change(members)?))) {
                        Some((members, names)) => self.change(members, names, out),
                        None => write_code(&each.to_string(), "json", out),
                    }
                }
            }
            other => {
                let text =
                    serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string());
                write_code(&text, "json", out);
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

/// Appends a command of a shell; a patch in it is shown as one.
fn write_command(command: &str, out: &mut String) {
    let Some(found) = patch::find(command) else { return write_code(command, "bash", out) };
    for (text, language) in [(found.before, "bash"), (found.patch, "diff"), (found.behind, "bash")]
    {
        if !text.trim().is_empty() {
            write_code(text.trim_start_matches('\n'), language, out);
        }
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
