//! Commands of a shell, as calls of tools have them.

use serde_json::Value;

use super::{language, patch};

/// The arguments of calls that are commands.
const NAMES: [&str; 3] = ["command", "cmd", "script"];

/// Programs that print a file, which is named last.
const PRINTING: [&str; 7] = ["bat", "cat", "head", "less", "nl", "sed", "tail"];

/// The argument of this name and value as a command: a text, or the words of a program's start, of which that of a shell is
/// the script that it is given, and that of `apply_patch` the patch.
pub(super) fn of<'v>(name: &str, value: &'v Value) -> Option<&'v str> {
    if !NAMES.contains(&name) {
        return None;
    }
    if let Value::String(command) = value {
        return Some(command);
    }
    let words: Vec<&str> = value.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [program, options, script] if options.starts_with('-') => {
            let program = program.rsplit('/').next().unwrap_or_default();
            ["bash", "dash", "ksh", "sh", "zsh"].contains(&program).then_some(*script)
        }
        [_, text] if patch::find(text).is_some() => Some(text),
        _ => None,
    }
}

/// The language of what a command prints, if it does nothing but print a file.
pub(super) fn prints(command: &str) -> Option<&'static str> {
    let command = command.trim();
    if command.contains(['\n', ';', '|', '&', '>', '<', '`', '$', '*']) {
        return None;
    }
    let mut words = command.split_whitespace();
    let program = words.next().filter(|program| PRINTING.contains(program))?;
    let rest: Vec<&str> = words.collect();
    // Without it, sed changes what it prints, or the file itself.
    if program == "sed" && rest.first() != Some(&"-n") {
        return None;
    }
    language::of_path(rest.last()?.trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scripts_are_found_in_the_words_of_a_shell() {
        for (value, script) in [
            (json!("ls"), Some("ls")),
            (json!(["bash", "-lc", "ls | wc"]), Some("ls | wc")),
            (json!(["/bin/sh", "-c", "ls"]), Some("ls")),
            (
                json!(["apply_patch", "*** Begin Patch\n*** End Patch"]),
                Some("*** Begin Patch\n*** End Patch"),
            ),
            (json!(["rg", "-n", "x"]), None),
            (json!(["sh", 1, "x"]), None),
            (json!({}), None),
        ] {
            assert_eq!(of("command", &value), script, "{value}");
        }
        assert_eq!(of("path", &json!("ls")), None);
    }

    #[test]
    fn what_prints_a_file_prints_its_language() {
        for (command, language) in [
            ("cat src/face.rs", Some("rust")),
            ("sed -n '1,200p' \"src/a.ts\"", Some("typescript")),
            ("nl -ba a.py", Some("python")),
            ("sed -i s/a/b/ a.py", None),
            ("cat a.rs | wc -l", None),
            ("cat notes.txt", None),
            ("python a.py", None),
            ("cat", None),
            ("", None),
        ] {
            assert_eq!(prints(command), language, "{command}");
        }
    }
}
