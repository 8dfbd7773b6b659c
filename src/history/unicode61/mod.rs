//! The words of a text by FTS5's default tokenizer `unicode61` (SQLite documentation, FTS5, unicode61 tokenizer): runs
//! of letters, numbers and private-use characters, in lower case, without diacritics (`remove_diacritics 1`).
//!
//! Each character is treated as in FTS5, not by the current Unicode: FTS5 has version 6.1, and treats a character that
//! was not assigned then as part of a word.

mod tables;
// The tests compare with FTS5, and SQLite comes with this feature.
#[cfg(test)]
#[cfg(feature = "omp-history")]
mod tests;

use self::tables::{DROPPED, FOLDS, SEPARATORS};

/// The role of a character in a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It ends one.
    Separator,
    /// It is omitted, and does not end a token.
    Dropped,
    /// It is part of a token, in this form.
    Token(char),
}

/// The tokens of a text, in order.
pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { characters: text.chars() }
}

/// An iterator over the tokens of a text.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'t> {
    characters: std::str::Chars<'t>,
}

impl Iterator for Tokens<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut token = String::new();
        for character in self.characters.by_ref() {
            match classify(character) {
                Class::Token(folded) => token.push(folded),
                // A diacritic continues a token and begins none.
                Class::Dropped => {}
                Class::Separator if token.is_empty() => {}
                Class::Separator => return Some(token),
            }
        }
        (!token.is_empty()).then_some(token)
    }
}

/// The role of a character in a token.
pub(crate) fn classify(character: char) -> Class {
    match character {
        'a'..='z' | '0'..='9' => return Class::Token(character),
        'A'..='Z' => return Class::Token(character.to_ascii_lowercase()),
        '\0'..='\x7f' => return Class::Separator,
        _ => {}
    }
    let code = u32::from(character);
    if holds(&SEPARATORS, code) {
        return Class::Separator;
    }
    if holds(&DROPPED, code) {
        return Class::Dropped;
    }
    Class::Token(fold(code).unwrap_or(character))
}

/// Whether one of the sorted ranges contains the code.
fn holds(ranges: &[(u32, u32)], code: u32) -> bool {
    let place = ranges.partition_point(|&(first, _)| first <= code);
    let range = place.checked_sub(1).and_then(|place| ranges.get(place));
    range.is_some_and(|&(_, last)| code <= last)
}

/// The character that the one with this code is folded to; `None` if it stays.
fn fold(code: u32) -> Option<char> {
    let place = FOLDS.partition_point(|&(first, _, _, _)| first <= code);
    let &(first, last, step, delta) = FOLDS.get(place.checked_sub(1)?)?;
    let is_in = code <= last && (code - first).is_multiple_of(step);
    if is_in { char::from_u32(code.checked_add_signed(delta)?) } else { None }
}
