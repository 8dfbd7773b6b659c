//! The keys, and what they do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// So many rows on, or back.
    Rows(isize),
    /// So many halves of a screen on, or back.
    Halves(isize),
    Start,
    End,
    /// To the next entry, or to the one before.
    Entry {
        forward: bool,
    },
    Open,
    Back,
    Quit,
    Find,
    Next {
        forward: bool,
    },
    Search,
    Tree,
    Labels,
    Label,
    Page,
    Resume,
    Copy,
    CopyEntry,
    Export,
    ShowAll,
    Agents,
    Help,
    Redraw,
}

/// What the help says: keys, and what they do; an empty one begins a part.
pub(super) const HELP: &[(&str, &str)] = &[
    ("", "Move"),
    ("j k, down up", "a row"),
    ("ctrl-d ctrl-u", "half a screen"),
    ("space b, page down, page up", "a screen"),
    ("g G, home end", "to the beginning, to the end; there, what is added is followed"),
    ("] [", "to the next entry, to the one before"),
    ("", "Look"),
    ("enter", "open the chosen session or entry"),
    ("esc q", "go back; q in the list of sessions ends it, as ctrl-c does everywhere"),
    ("/", "sessions: filter as in fzf; elsewhere: find a text in what is shown"),
    ("n N", "to the next place of the text or words, to the one before; all around"),
    ("s", "search all sessions: words, \"a phrase\", prefix*, -without"),
    ("t", "the session's tree"),
    ("f", "entries whole and the tree unfolded, or short again"),
    ("L", "the session's labels"),
    ("a", "list the sessions of agents too"),
    ("", "Do"),
    ("o", "open the session as a page"),
    ("r", "resume the session in its program"),
    ("y Y", "copy the session's id, the entry's id"),
    ("e", "export the session"),
    ("l", "label the entry (pi, omp)"),
    ("?", "this help"),
    ("", "Filter: 'exact  ^begins  ends$  !without  several words in any order"),
    (
        "",
        "Signs: ~ a thought  → a tool call  ← its result  $ a command  ! an error  · another entry",
    ),
];

/// What a key asks for outside of a line that is typed.
pub(super) fn action(key: KeyEvent) -> Option<Action> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return Some(match key.code {
            KeyCode::Char('c') => Action::Quit,
            KeyCode::Char('d') => Action::Halves(1),
            KeyCode::Char('u') => Action::Halves(-1),
            KeyCode::Char('f') => Action::Halves(2),
            KeyCode::Char('b') => Action::Halves(-2),
            KeyCode::Char('n' | 'e' | 'j') => Action::Rows(1),
            KeyCode::Char('p' | 'y' | 'k') => Action::Rows(-1),
            KeyCode::Char('l') => Action::Redraw,
            _ => return None,
        });
    }
    Some(match key.code {
        KeyCode::Char('j') | KeyCode::Down => Action::Rows(1),
        KeyCode::Char('k') | KeyCode::Up => Action::Rows(-1),
        KeyCode::Char('d') => Action::Halves(1),
        KeyCode::Char('u') => Action::Halves(-1),
        KeyCode::Char(' ') | KeyCode::PageDown => Action::Halves(2),
        KeyCode::Char('b') | KeyCode::PageUp => Action::Halves(-2),
        KeyCode::Char('g' | '<') | KeyCode::Home => Action::Start,
        KeyCode::Char('G' | '>' | 'F') | KeyCode::End => Action::End,
        KeyCode::Char(']') => Action::Entry { forward: true },
        KeyCode::Char('[') => Action::Entry { forward: false },
        KeyCode::Enter | KeyCode::Right => Action::Open,
        KeyCode::Esc | KeyCode::Left | KeyCode::Backspace | KeyCode::Char('q') => Action::Back,
        KeyCode::Char('Q') => Action::Quit,
        KeyCode::Char('/') => Action::Find,
        KeyCode::Char('n') => Action::Next { forward: true },
        KeyCode::Char('N') => Action::Next { forward: false },
        KeyCode::Char('s') => Action::Search,
        KeyCode::Char('t') => Action::Tree,
        KeyCode::Char('L') => Action::Labels,
        KeyCode::Char('l') => Action::Label,
        KeyCode::Char('o') => Action::Page,
        KeyCode::Char('r') => Action::Resume,
        KeyCode::Char('y') => Action::Copy,
        KeyCode::Char('Y') => Action::CopyEntry,
        KeyCode::Char('e') => Action::Export,
        KeyCode::Char('f') => Action::ShowAll,
        KeyCode::Char('a') => Action::Agents,
        KeyCode::Char('?' | 'h') => Action::Help,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_help_does_something() {
        let named = |name: &str| match name {
            "down" => KeyCode::Down,
            "up" => KeyCode::Up,
            "space" => KeyCode::Char(' '),
            "page down" => KeyCode::PageDown,
            "page up" => KeyCode::PageUp,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            other => {
                let mut characters = other.chars();
                let one = characters.next().unwrap();
                assert_eq!(characters.next(), None, "{other}");
                KeyCode::Char(one)
            }
        };
        for (keys, _) in HELP.iter().filter(|(keys, _)| !keys.is_empty()) {
            let keys = keys.replace("page down", "PgDn").replace("page up", "PgUp");
            for key in keys.split([' ', ',']).filter(|key| !key.is_empty()) {
                let key = key.replace("PgDn", "page down").replace("PgUp", "page up");
                let event = match key.strip_prefix("ctrl-") {
                    Some(letter) => KeyEvent::new(named(letter), KeyModifiers::CONTROL),
                    None => KeyEvent::new(named(&key), KeyModifiers::NONE),
                };
                assert!(action(event).is_some(), "{key}");
            }
        }
    }
}
