//! The leaf, case by case.

use proptest::prelude::*;

use super::*;
use crate::claude::Scanner;

/// Lines as words: a kind, a uuid, a parent (`-` for none), and marks: `side`, `prompt`, or a second.
fn finder(lines: &[&str]) -> LeafFinder {
    let mut finder = LeafFinder::new();
    let mut scanner = Scanner::new();
    for (line, text) in (0..).zip(lines) {
        let words: Vec<&str> = text.split(' ').collect();
        let text = match words[..] {
            ["anew"] => r#"{"type":"last-prompt","leafUuid":null,"explicit":true}"#.to_owned(),
            ["explicit", leaf] => {
                format!(r#"{{"type":"last-prompt","leafUuid":"{leaf}","explicit":true}}"#)
            }
            [kind @ ("summary" | "last-prompt"), leaf] => {
                format!(r#"{{"type":"{kind}","leafUuid":"{leaf}"}}"#)
            }
            ["boundary", uuid, logical] => format!(
                r#"{{"type":"system","subtype":"compact_boundary","uuid":"{uuid}","parentUuid":null,"logicalParentUuid":"{logical}"}}"#
            ),
            [kind, uuid, parent, ref marks @ ..] => format!(
                r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":"{}","isSidechain":{},"message":{{"content":"{}"}},"timestamp":{}}}"#,
                if parent == "-" { "" } else { parent },
                marks.contains(&"side"),
                if marks.contains(&"prompt") { "x" } else { "" },
                marks.iter().find_map(|mark| mark.parse().ok()).map_or("null".to_owned(), time),
            ),
            _ => panic!("{text}"),
        };
        finder.observe(line, &Node::of(&scanner.scan(&text)));
    }
    finder
}

fn time(second: u8) -> String {
    format!("\"2026-01-05T10:00:{second:02}Z\"")
}

fn leaf(lines: &[&str]) -> Option<(u64, LeafSource)> {
    finder(lines).leaf().map(|leaf| (leaf.line, leaf.source))
}

use LeafSource::{LastEntry, LastPrompt, Summary};

#[test]
fn the_documents_summary_names_the_tip() {
    let lines = ["summary c", "user a -", "assistant b a", "user c b"];
    assert_eq!(leaf(&lines), Some((3, Summary)));
    // What hangs on the tip and is no message does not make it older.
    let lines = ["summary b", "user a -", "assistant b a", "system s b", "progress g s"];
    assert_eq!(leaf(&lines), Some((2, Summary)));
    // A branch that came later in the file, below a summary that does not say when it was written.
    let lines = ["summary b", "user a -", "assistant b a", "user c a", "assistant d c"];
    assert_eq!(leaf(&lines), Some((2, Summary)));
}

#[test]
fn a_summary_that_is_out_of_date_hides_nothing() {
    let lines = ["summary a", "user a -", "assistant b a", "user c b"];
    assert_eq!(leaf(&lines), Some((3, LastEntry)));
    let lines = ["user a -", "assistant b a", "summary b", "user c a", "assistant d c"];
    assert_eq!(leaf(&lines), Some((4, LastEntry)));
    let lines = ["user a -", "assistant b a", "user c a", "summary b", "system s c"];
    assert_eq!(leaf(&lines), Some((1, Summary)));
    // The last summary counts, an older one does not come back.
    let lines =
        ["summary b", "user a -", "assistant b a", "user c a", "summary c", "assistant d c"];
    assert_eq!(leaf(&lines), Some((5, LastEntry)));
}

#[test]
fn a_conversation_goes_on_over_a_compaction() {
    let before = ["summary b", "user a -", "assistant b a"];
    let with = |boundary| [&before[..], &[boundary, "user k c", "assistant d k"]].concat();
    assert_eq!(leaf(&with("boundary c b")), Some((5, LastEntry)));
    assert_eq!(leaf(&with("boundary c lost")), Some((5, LastEntry)));
    // With nothing below it yet, the conversation is still above it.
    assert_eq!(leaf(&["user a -", "assistant b a", "boundary c b"]), Some((1, LastEntry)));
}

#[test]
fn summaries_of_other_files_and_of_sidechains_say_nothing() {
    let lines = ["summary x", "user a -", "user s - side", "summary s", "assistant b a"];
    assert_eq!(leaf(&lines), Some((4, LastEntry)));
    assert_eq!(leaf(&["summary x", "summary y"]), None);
    assert_eq!(finder(&["summary a", "user a -", "summary x"]).summary_line(), Some(0));
}

#[test]
fn the_last_prompt() {
    let lines = ["user a -", "assistant b a", "user c a", "last-prompt b"];
    assert_eq!(leaf(&lines), Some((1, LastPrompt)));
    let lines = ["user a -", "assistant b a", "last-prompt b", "user c b", "assistant d c"];
    assert_eq!(leaf(&lines), Some((4, LastEntry)));
    let lines = ["user a -", "assistant b a", "last-prompt b", "user c a"];
    assert_eq!(leaf(&lines), Some((1, LastPrompt)), "where it was goes on in no other branch");
    let lines = ["user a -", "assistant b a", "user c a", "last-prompt b", "last-prompt gone"];
    assert_eq!(leaf(&lines), Some((2, LastEntry)));
    let lines = ["summary c", "user a -", "assistant b a", "user c a", "last-prompt b"];
    assert_eq!(leaf(&lines), Some((3, Summary)));
    let lines = ["summary a", "user a -", "assistant b a", "user c a", "last-prompt b"];
    assert_eq!(leaf(&lines), Some((2, LastPrompt)));
}

/// Tools ran side by side: the results hang on records of one message, and what follows on the last of them.
#[test]
fn a_last_prompt_within_a_message() {
    let message = ["user a - prompt", "assistant b a", "assistant c b", "user r b", "user s c"];
    let with = |more: &[&'static str]| [&message[..], more].concat();
    assert_eq!(leaf(&with(&["last-prompt r", "assistant d s"])), Some((6, LastEntry)));
    assert_eq!(leaf(&with(&["last-prompt s", "assistant d r"])), Some((6, LastEntry)));
    assert_eq!(leaf(&with(&["last-prompt c", "assistant d r"])), Some((6, LastEntry)));
    // A prompt is another branch.
    assert_eq!(leaf(&with(&["last-prompt s", "user d b prompt"])), Some((4, LastPrompt)));
    let lines = with(&["assistant d s", "last-prompt d", "assistant e r"]);
    assert_eq!(leaf(&lines), Some((5, LastPrompt)));
}

#[test]
fn an_explicit_last_prompt() {
    let before = ["user a -", "assistant b a", "user c b", "assistant d c"];
    let with = |more: &[&'static str]| [&before[..], more].concat();
    assert_eq!(leaf(&with(&["last-prompt b"])), Some((3, LastEntry)));
    assert_eq!(leaf(&with(&["explicit b"])), Some((1, LastPrompt)));
    assert_eq!(leaf(&with(&["explicit b", "last-prompt b"])), Some((1, LastPrompt)));
    assert_eq!(leaf(&with(&["explicit b", "last-prompt a"])), Some((3, LastEntry)));
    assert_eq!(leaf(&with(&["explicit b", "user e b"])), Some((5, LastEntry)));
    assert_eq!(leaf(&with(&["explicit b", "user e a"])), Some((1, LastPrompt)));
    assert_eq!(leaf(&with(&["anew"])), None);
    assert_eq!(leaf(&with(&["anew", "user e -"])), Some((5, LastEntry)));
    assert_eq!(leaf(&with(&["anew", "last-prompt c"])), Some((3, LastEntry)));
    let lines = with(&["explicit b", "boundary f d", "user k f"]);
    assert_eq!(leaf(&lines), Some((6, LastEntry)), "a compaction begins anew");
}

#[test]
fn the_newest_below_the_last() {
    let lines = ["user a - 1", "user c b 9", "assistant b a 2"];
    assert_eq!(leaf(&lines), Some((1, LastEntry)));
    let lines = ["user a - 1", "user c b 9", "user d b 5", "assistant b a 2"];
    assert_eq!(leaf(&lines), Some((1, LastEntry)));
    // Nothing is newer than the last.
    assert_eq!(leaf(&["user a - 1", "user c b 3", "assistant b a 8"]), Some((2, LastEntry)));
    // What is newer need not be below it.
    let lines = ["user a - 1", "user c b 3", "user e a 9", "assistant b a 8"];
    assert_eq!(leaf(&lines), Some((1, LastEntry)));
    let lines = ["user a - 1", "user c b 9", "assistant b a 2", "last-prompt gone"];
    assert_eq!(leaf(&lines), Some((2, LastEntry)), "where there is one, times do not count");
    let lines =
        ["user a - 1", "user c b 9 side", "user d b 9", "assistant b a 2", "user e d 4 side"];
    assert_eq!(leaf(&lines), Some((2, LastEntry)));
}

#[test]
fn the_last_entry_that_leads_up_to_a_message() {
    let lines = ["user a -", "assistant b a", "system s b", "attachment t s", "attachment l gone"];
    assert_eq!(leaf(&lines), Some((3, LastEntry)));
    // What a tool reports is no part of the conversation.
    let lines = ["user a -", "assistant b a", "system s b", "progress g a"];
    assert_eq!(leaf(&lines), Some((2, LastEntry)));
    // Behind a note that has lost what it hangs on, the newest message.
    let lines = ["user a - 1", "assistant b a 9", "user c a 5", "system lost gone 10"];
    assert_eq!(leaf(&lines), Some((1, LastEntry)));
    let lines = ["user a -", "assistant b a", "system s b", "system lost gone"];
    assert_eq!(leaf(&lines), Some((1, LastEntry)));
    assert_eq!(leaf(&["user a -", "user s a side", "system t s side"]), Some((0, LastEntry)));
    assert_eq!(leaf(&["system s - 5", "system r s 3", "attachment t s"]), Some((0, LastEntry)));
    assert_eq!(leaf(&["attachment t -", "user a - side", "system s a"]), Some((2, LastEntry)));
    assert_eq!(leaf(&[]), None);
}

#[test]
fn an_agents_file_has_a_leaf_as_well() {
    let lines = ["user a - side", "assistant b a side", "progress g b side"];
    assert_eq!(leaf(&lines), Some((1, LastEntry)));
    assert_eq!(leaf(&[&lines[..], &["last-prompt b"]].concat()), Some((1, LastPrompt)));
}

#[test]
fn copies_and_loops() {
    let lines = ["summary a", "user a -", "user b a", "user a -"];
    assert_eq!(leaf(&lines), Some((3, LastEntry)));
    assert_eq!(leaf(&["summary a", "user a -", "user a -"]), Some((2, Summary)));
    assert_eq!(leaf(&["summary a", "user a b", "system b a"]), Some((1, Summary)));
    assert_eq!(leaf(&["summary a", "user a b", "user b a"]), Some((2, LastEntry)));
    assert_eq!(leaf(&["user m -", "system a b", "system b a"]), Some((0, LastEntry)));
}

proptest! {
    /// Against the rule written down plainly: it agrees wherever parents, kinds and summaries may stand.
    #[test]
    fn the_leaf_is_what_the_rule_says(
        records in proptest::collection::vec((0_usize..5, 0_usize..8, 0_usize..9), 0..14),
    ) {
        let lines: Vec<String> = records
            .iter()
            .enumerate()
            .map(|(number, &(kind, uuid, parent))| match kind {
                0 => format!("user u{uuid} u{parent}"),
                1 => format!("assistant n{number} u{parent}"),
                2 => format!("system u{uuid} n{parent}"),
                3 => format!("summary u{uuid}"),
                _ => format!("user u{uuid} u{parent} side"),
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        prop_assert_eq!(leaf(&lines).map(|(line, _)| line), plainly(&lines));
    }
}

/// The rule for lines without compact boundaries and last prompts, in quadratic time.
fn plainly(lines: &[&str]) -> Option<u64> {
    let words: Vec<Vec<&str>> = lines.iter().map(|line| line.split(' ').collect()).collect();
    let is_entry = |line: &usize| words[*line][0] != "summary";
    let is_side = |line: usize| words[line].get(3) == Some(&"side");
    let is_message = |line: usize| matches!(words[line][0], "user" | "assistant");
    let entries: Vec<usize> = (0..lines.len()).filter(is_entry).collect();
    let all_side = !entries.iter().any(|&line| is_message(line) && !is_side(line));
    let is_main = |line: usize| all_side || !is_side(line);
    let find = |uuid: &str| entries.iter().rev().copied().find(|&line| words[line][1] == uuid);
    let path = |line: usize| {
        let mut path = vec![line];
        let parent =
            |line: usize| find(words[line][2]).filter(|_| words[line][1] != words[line][2]);
        while let Some(above) = parent(path[path.len() - 1])
            && !path.contains(&above)
        {
            path.push(above);
        }
        path
    };
    let messages: Vec<usize> =
        entries.iter().copied().filter(|&line| is_message(line) && is_main(line)).collect();
    let summaries = (0..lines.len()).filter(|&line| words[line][0] == "summary");
    let named = summaries
        .filter_map(|line| Some((line, find(words[line][1]).filter(|&named| is_main(named))?)))
        .next_back();
    if let Some((summary, named)) = named {
        let below = messages.iter().any(|&line| line != named && path(line).contains(&named));
        let later = named < summary && messages.iter().any(|&line| line > summary);
        if !below && !later {
            return Some(named as u64);
        }
    }
    let leads_up = |line: &usize| path(*line).iter().any(|above| messages.contains(above));
    let notes = || entries.iter().copied().filter(|&line| words[line][0] == "system");
    let Some(newest) = messages.last() else { return notes().next_back().map(|it| it as u64) };
    let decides = |&line: &usize| leads_up(&line) || words[line][0] == "system";
    let last = entries.iter().rev().copied().filter(|&line| is_main(line)).find(decides)?;
    Some(if leads_up(&last) { last } else { *newest } as u64)
}
