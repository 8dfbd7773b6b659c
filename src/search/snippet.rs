//! The part of an entry that shows why it was found.

use std::ops::Range;

use super::query::Clause;
use super::words::Words;

/// Approximate number of characters in a snippet.
const WIDTH: usize = 160;

/// Characters before the first match.
const BEFORE: usize = 40;

/// A part of a text on one line, and the places of the matching words in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text: runs of white space become one space, and `…` marks what was left out.
    pub text: String,
    /// The matching words, as byte ranges of `text`, in order.
    pub matches: Vec<Range<usize>>,
}

/// The best part of the best passage: the one with most of the query's words.
pub(super) fn snippet(passages: &[String], clauses: &[Clause]) -> Snippet {
    let mut best: Option<(usize, &str, Range<usize>)> = None;
    for passage in passages {
        let Some((score, window)) = best_window(passage, clauses) else { continue };
        if best.as_ref().is_none_or(|(most, _, _)| score > *most) {
            best = Some((score, passage, window));
        }
    }
    let (passage, start) = match &best {
        Some((_, passage, window)) => (*passage, start_before(passage, window.start)),
        None => (passages.first().map_or("", String::as_str), 0),
    };
    cut(passage, start, clauses)
}

/// The place where the most different words of the query are close together, and their number.
fn best_window(passage: &str, clauses: &[Clause]) -> Option<(usize, Range<usize>)> {
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    let mut best: Option<(usize, Range<usize>)> = None;
    let mut first = 0;
    each_match(passage, clauses, |which, place| {
        found.push((which, place.clone()));
        while found.get(first).is_some_and(|(_, begun)| place.end - begun.start > WIDTH) {
            first += 1;
        }
        let within = found.get(first..).unwrap_or_default();
        let mut different: Vec<usize> = within.iter().map(|(which, _)| *which).collect();
        different.sort_unstable();
        different.dedup();
        let start = within.first().map_or(place.start, |(_, begun)| begun.start);
        if best.as_ref().is_none_or(|(most, _)| different.len() > *most) {
            best = Some((different.len(), start..place.end));
        }
    });
    best
}

/// Passes on the words of the text that match the query: which one, and where.
fn each_match(text: &str, clauses: &[Clause], mut take: impl FnMut(usize, Range<usize>)) {
    let asked: Vec<(&str, bool)> = clauses
        .iter()
        .filter(|clause| !clause.is_excluded)
        .flat_map(|clause| {
            let last = clause.words.len() - 1;
            let words = clause.words.iter().enumerate();
            words.map(move |(at, word)| (word.as_str(), clause.is_prefix && at == last))
        })
        .collect();
    let mut words = Words::new(text);
    let mut word = String::new();
    while let Some(place) = words.next_into(&mut word) {
        let is_asked = |&(asked, is_prefix): &(&str, bool)| {
            if is_prefix { word.starts_with(asked) } else { word == asked }
        };
        if let Some(which) = asked.iter().position(is_asked) {
            take(which, place);
        }
    }
}

/// A place some characters earlier, at the beginning of a word.
fn start_before(text: &str, place: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    let earliest = before.char_indices().rev().nth(BEFORE).map_or(0, |(at, _)| at);
    if earliest == 0 {
        return 0;
    }
    let range = before.get(earliest..).unwrap_or_default();
    range.find(char::is_whitespace).map_or(earliest, |space| earliest + space)
}

/// The text from a place on, on one line and not too long, with its matching words.
fn cut(passage: &str, start: usize, clauses: &[Clause]) -> Snippet {
    let mut text = String::new();
    if start > 0 {
        text.push('…');
    }
    let mut characters = 0;
    let mut is_cut = false;
    let mut space_is_due = false;
    for character in passage.get(start..).unwrap_or_default().chars() {
        if character.is_whitespace() || character.is_control() {
            space_is_due = characters > 0;
            continue;
        }
        if characters >= WIDTH {
            is_cut = true;
            break;
        }
        if std::mem::take(&mut space_is_due) {
            text.push(' ');
            characters += 1;
        }
        text.push(character);
        characters += 1;
    }
    if is_cut {
        text.push('…');
    }
    let mut matches: Vec<Range<usize>> = Vec::new();
    each_match(&text, clauses, |_, place| match matches.last_mut() {
        // Words that one character stands for.
        Some(last) if place.start < last.end => last.end = place.end,
        _ => matches.push(place),
    });
    Snippet { text, matches }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::query::clauses;
    use super::*;

    fn shown(passages: &[&str], query: &str) -> String {
        let passages: Vec<String> = passages.iter().map(|&passage| passage.to_owned()).collect();
        let Snippet { text, matches } = snippet(&passages, &clauses(query));
        let mut shown = text.clone();
        for place in matches.iter().rev() {
            shown.insert(place.end, ']');
            shown.insert(place.start, '[');
        }
        shown
    }

    #[test]
    fn a_short_passage_is_shown_whole() {
        assert_eq!(shown(&["Fix the\n\tlogin bug"], "LOGIN the"), "Fix [the] [login] bug");
        assert_eq!(shown(&["one", "the migrations"], "migrat*"), "the [migrations]");
        assert_eq!(shown(&["nothing of it"], "else"), "nothing of it");
        assert_eq!(shown(&[], "else"), "");
        assert_eq!(
            shown(&["ﾌﾟﾛ ㍿ Vie\u{323}\u{302}t"], "プ 株式 việt"),
            "[ﾌﾟ]ﾛ [㍿] [Vie\u{323}\u{302}t]"
        );
    }

    #[test]
    fn of_a_long_passage_the_place_with_most_words() {
        let filler = "word ".repeat(100);
        let passage = format!("cat {filler} here the cat sat on the mat {filler}");
        let snippet = shown(&[&passage], "cat mat -word");
        assert!(snippet.starts_with("…word word word"), "{snippet}");
        assert!(snippet.contains("here the [cat] sat on the [mat] word"), "{snippet}");
        assert!(snippet.ends_with('…'));
    }

    proptest! {
        #[test]
        fn places_are_words_of_the_text(passage in "[ab \n中é…]{0,400}", query in "[ab中 *\"]{1,9}") {
            let asked = clauses(&query);
            let Snippet { text, matches } = snippet(&[passage], &asked);
            prop_assert!(text.chars().count() <= WIDTH + 3);
            for place in matches {
                prop_assert!(text.get(place).is_some_and(|word| !word.is_empty()));
            }
        }
    }
}
