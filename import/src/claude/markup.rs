//! The tags by which Claude Code marks in the user's texts what was not typed as a prompt.

use crate::claude::commands::is_built_in;

/// The parts of a command that the user typed.
const COMMAND: [&str; 5] =
    ["command-name", "command-message", "command-args", "command-contents", "skill-format"];

/// A line that the user gave to the shell.
const SHELL: &str = "bash-input";

/// What a command or the shell printed.
const OUTPUT: [&str; 4] =
    ["bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr"];

/// Tags that the program or an editor adds anywhere in a text.
const ADDED: [&str; 3] = ["ide_selection", "ide_opened_file", "system-reminder"];

/// What the program writes in the user's name.
const OWN: [&str; 14] = [
    "agent-message",
    "bash-exit-code",
    "browser",
    "browser_instruction",
    "cross-session-message",
    "fork-boilerplate",
    "local-command-caveat",
    "mcp-polling-update",
    "mcp-resource-update",
    "post-tool-use-hook",
    "task-notification",
    "teammate-message",
    "terminal",
    "user-prompt-submit-hook",
];

/// The text with which the program notes that the user stopped the model.
const INTERRUPTED: &str = "[Request interrupted by user";

/// The most bytes of a tag's attributes.
const LONGEST_TAG: usize = 1000;

/// A piece of a text of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// What the user says.
    Text(&'t str),
    /// A command: its name with the slash, and its arguments.
    Command { name: String, arguments: &'t str },
    /// A line for the shell.
    Shell(&'t str),
    /// What a command or the shell printed.
    Output(&'t str),
    /// What was added, and the name of its tag.
    Added { name: &'static str, text: &'t str },
}

impl Piece<'_> {
    /// As a reader sees it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) | Self::Output(text) | Self::Added { text, .. } => (*text).to_owned(),
            Self::Command { name, arguments: "" } => name.clone(),
            Self::Command { name, arguments } => format!("{name} {arguments}"),
            Self::Shell(line) => format!("! {line}"),
        }
    }
}

/// The pieces of a text; a text without tags is one.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    // A command's parts come in any order.
    let (mut command, mut message) = (None, None);
    while let Some((name, inside, behind)) = leading(rest) {
        let inside = inside.trim();
        match name {
            "command-name" => {
                let slash = if inside.starts_with('/') { "" } else { "/" };
                command = Some((pieces.len(), format!("{slash}{inside}")));
            }
            "command-args" => message = Some((true, inside)),
            "command-message" => message = message.or(Some((false, inside))),
            _ if COMMAND.contains(&name) => {}
            SHELL => pieces.push(Piece::Shell(inside)),
            _ if OUTPUT.contains(&name) => {
                pieces.extend((!inside.is_empty()).then_some(Piece::Output(inside)));
            }
            name => pieces.push(Piece::Added { name, text: inside }),
        }
        rest = behind;
    }
    let arguments = message.filter(|(is_arguments, _)| *is_arguments);
    match (command, message) {
        (Some((place, name)), _) => {
            let arguments = arguments.map_or("", |(_, arguments)| arguments);
            pieces.insert(place, Piece::Command { name, arguments });
        }
        (None, Some((_, message))) if !message.is_empty() => {
            pieces.push(Piece::Output(message));
        }
        _ => {}
    }
    let has_tags = rest.len() < text.len();
    let end = push_with_added(rest, &mut pieces);
    // A text without tags stays as it is.
    if pieces.is_empty() && !has_tags {
        return vec![Piece::Text(text)];
    }
    push_text(rest.get(end..).unwrap_or_default(), &mut pieces);
    pieces
}

/// Adds what was added to a text, and the texts before it; returns where the last of it ends.
fn push_with_added<'t>(text: &'t str, pieces: &mut Vec<Piece<'t>>) -> usize {
    let (mut end, mut from) = (0, 0);
    // A tag that is not closed once is not closed later.
    let mut is_open = [false; ADDED.len()];
    while let Some(place) = text.get(from..).and_then(|rest| rest.find('<')).map(|at| from + at) {
        from = place + 1;
        let (before, tag) = text.split_at(place);
        let is_named = |name: &str| tag.get(1..).is_some_and(|tag| tag.starts_with(name));
        let Some(known) = ADDED.iter().position(|name| is_named(name)) else { continue };
        let name = ADDED[known];
        // A reminder in the midst of a line is quoted.
        let is_quoted = name == "system-reminder" && place > end && !before.ends_with('\n');
        if is_open[known] || is_quoted {
            continue;
        }
        let Some((inside, behind)) = inside(tag, name) else {
            is_open[known] = !tag.contains(&format!("</{name}>"));
            continue;
        };
        push_text(text.get(end..place).unwrap_or_default(), pieces);
        pieces.push(Piece::Added { name, text: inside.trim() });
        end = text.len() - behind.len();
        from = end;
    }
    end
}

fn push_text<'t>(text: &'t str, pieces: &mut Vec<Piece<'t>>) {
    let text = text.trim();
    pieces.extend((!text.is_empty()).then_some(Piece::Text(text)));
}

/// The title that the program makes of a user's text (observed): a prompt by itself, a command by its
/// name and arguments, a line for the shell by `!` and the line. Built-in commands, commands without arguments and what the
/// program writes have no title.
pub(crate) fn title(text: &str) -> Option<String> {
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) if is_own(text) => return None,
            Piece::Text(text) => return Some(text.to_owned()),
            Piece::Command { ref name, arguments } => {
                let has_title = !arguments.is_empty() && !is_built_in(name.trim_start_matches('/'));
                return has_title.then(|| piece.shown());
            }
            Piece::Shell("") => return None,
            Piece::Shell(_) => return Some(piece.shown()),
            Piece::Output(_) | Piece::Added { .. } => {}
        }
    }
    None
}

/// Whether a text is the program's own: it begins with a tag, or says that the user stopped the model.
fn is_own(text: &str) -> bool {
    let text = text.trim_start();
    if text.starts_with(INTERRUPTED) {
        return text.contains(']');
    }
    let Some(tag) = text.strip_prefix('<') else { return false };
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    let end = tag.find(|character| !is_name(character));
    tag.starts_with(|first: char| first.is_ascii_lowercase())
        && end
            .and_then(|end| tag.get(end..))
            .is_some_and(|rest| rest.starts_with(|next: char| next == '>' || next.is_whitespace()))
}

/// The name of the tag with which a text begins, what is inside, and what is behind; `None` of a tag that is not known or not
/// closed.
fn leading(text: &str) -> Option<(&'static str, &str, &str)> {
    let text = text.trim_start();
    if !text.starts_with('<') {
        return None;
    }
    let names = COMMAND.iter().chain([&SHELL]).chain(&OUTPUT).chain(&ADDED).chain(&OWN);
    names.copied().find_map(|name| {
        let (inside, behind) = inside(text, name)?;
        Some((name, inside, behind))
    })
}

/// What is inside a tag with which a text begins, and what is behind.
fn inside<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let rest = text.strip_prefix('<')?.strip_prefix(name)?;
    let end = rest.bytes().take(LONGEST_TAG).position(|byte| byte == b'>')?;
    let attributes = rest.get(..end)?;
    if !attributes.is_empty() && !attributes.starts_with(char::is_whitespace) {
        return None;
    }
    rest.get(end + 1..)?.split_once(&format!("</{name}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        pieces(text).iter().map(Piece::shown).collect()
    }

    fn command(name: &str, arguments: &str) -> String {
        format!(
            "<command-message>{name} is running…</command-message>\n<command-name>/{name}</command-name>\n<command-args>{arguments}</command-args>"
        )
    }

    #[test]
    fn titles() {
        for (text, expected) in [
            ("Fix the clock", Some("Fix the clock")),
            (" a < b ", Some(" a < b ")),
            (&command("clear", ""), None),
            (&command("model", "opus"), None),
            (&command("review-tides", "all of them"), Some("/review-tides all of them")),
            (&command("review-tides", ""), None),
            (
                "<command-name>tides</command-name><command-args> x </command-args>",
                Some("/tides x"),
            ),
            ("<command-message>tides</command-message>", None),
            ("<bash-input>ls -l</bash-input>", Some("! ls -l")),
            ("<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>", None),
            ("<local-command-stdout></local-command-stdout>", None),
            ("<local-command-caveat>Caveat</local-command-caveat>", None),
            ("<ide_selection>The user selected\na</ide_selection>", None),
            ("<ide_opened_file a=\"b\">c</ide_opened_file>\nFix it", Some("Fix it")),
            ("Fix it <ide_selection>c</ide_selection>", Some("Fix it")),
            ("<system-reminder>\nBe brief\n</system-reminder>\n\nFix it", Some("Fix it")),
            ("Fix it\n<system-reminder>\nBe brief\n</system-reminder>", Some("Fix it")),
            (
                "Why is <system-reminder>x</system-reminder> here?",
                Some("Why is <system-reminder>x</system-reminder> here?"),
            ),
            (
                "What does <command-name>/clear</command-name> do?",
                Some("What does <command-name>/clear</command-name> do?"),
            ),
            ("[Request interrupted by user for tool use]", None),
            ("<tick>1</tick>", None),
            ("<new-tag of=\"tomorrow\">1", None),
            ("<3 tides", Some("<3 tides")),
            ("<Tide />", Some("<Tide />")),
            ("", Some("")),
        ] {
            assert_eq!(title(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn tags_that_are_not_closed_take_no_time() {
        for part in [
            "<ide_selection>",
            "<ide_selection",
            "<system-reminder>\n",
            "<ide_selection>a</ide_selection>",
        ] {
            let text = part.repeat(100_000);
            assert!(!pieces(&text).is_empty());
        }
    }

    #[test]
    fn texts_as_a_reader_sees_them() {
        assert_eq!(shown("<not closed"), ["<not closed"]);
        assert_eq!(shown(" as it is\n"), [" as it is\n"]);
        assert_eq!(shown(&command("clear", "")), ["/clear"]);
        assert_eq!(shown("<command-message>tides</command-message>"), ["tides"]);
        assert_eq!(shown("<bash-stdout>a\n</bash-stdout><bash-stderr></bash-stderr>"), ["a"]);
        assert_eq!(
            pieces("<ide_opened_file>a</ide_opened_file>\n b <ide_selection>c</ide_selection>d"),
            [
                Piece::Added { name: "ide_opened_file", text: "a" },
                Piece::Text("b"),
                Piece::Added { name: "ide_selection", text: "c" },
                Piece::Text("d"),
            ]
        );
        assert_eq!(shown("<bash-input>a</bash-input><bash-input>b"), ["! a", "<bash-input>b"]);
    }
}
