//! Words for searching.
//!
//! They are those of the prompt history, SQLite's `unicode61`: runs of letters and numbers, in lower case and without
//! diacritics. In scripts written without spaces (Chinese, Japanese) each character is a word, so that any part of a
//! sentence is found as a phrase.

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::history::unicode61::{Class, classify};

/// The most characters of a word that count: longer ones are hashes or encoded data, and are found by their beginning.
const MOST_CHARACTERS: usize = 64;

/// Goes through the words of a text.
#[derive(Debug, Clone)]
pub(super) struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Puts the next word into `word`, and returns its place in the text.
    pub(super) fn next_into(&mut self, word: &mut String) -> Option<Range<usize>> {
        word.clear();
        let mut start = self.at;
        let mut count = 0;
        let rest = self.text.get(self.at..)?;
        for (offset, character) in rest.char_indices() {
            let place = self.at + offset;
            match classify(character) {
                Class::Token(folded) if stands_alone(character) => {
                    if count == 0 {
                        word.push(folded);
                        start = place;
                        self.at = place + character.len_utf8();
                    } else {
                        self.at = place;
                    }
                    return Some(start..self.at);
                }
                Class::Token(folded) => {
                    if count == 0 {
                        start = place;
                    }
                    count += 1;
                    if count <= MOST_CHARACTERS {
                        word.push(folded);
                    }
                }
                // A diacritic continues a word and begins none.
                Class::Dropped => {}
                Class::Separator if count == 0 => {}
                Class::Separator => {
                    self.at = place;
                    return Some(start..place);
                }
            }
        }
        self.at = self.text.len();
        (count > 0).then_some(start..self.at)
    }
}

/// Whether a character is a word by itself: ideographs and kana.
fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// All words of a text.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut stream = Words::new(text);
    let mut word = String::new();
    while stream.next_into(&mut word).is_some() {
        found.push(word.clone());
    }
    found
}

/// The words for the index.
#[derive(Debug, Clone, Default)]
pub(super) struct WordTokenizer {
    token: Token,
}

/// The words of one text for the index.
#[derive(Debug)]
pub(super) struct WordStream<'a> {
    words: Words<'a>,
    token: &'a mut Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { words: Words::new(text), token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(place) = self.words.next_into(&mut self.token.text) else { return false };
        self.token.position = self.token.position.wrapping_add(1);
        self.token.offset_from = place.start;
        self.token.offset_to = place.end;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::unicode61::tokens;

    #[test]
    fn words_are_runs_of_letters_and_numbers() {
        assert_eq!(
            words("Fix build_context(0x1F) — Über-Größe!"),
            ["fix", "build", "context", "0x1f", "uber", "große"]
        );
        assert_eq!(words("--- \n"), [""; 0]);
    }

    #[test]
    fn ideographs_are_words_by_themselves() {
        assert_eq!(words("修复login错误"), ["修", "复", "login", "错", "误"]);
        assert_eq!(words("テスト a"), ["テ", "ス", "ト", "a"]);
    }

    #[test]
    fn a_long_word_is_cut() {
        let long = "a".repeat(70);
        assert_eq!(words(&format!("{long} b")), [&"a".repeat(64), "b"]);
    }

    proptest! {
        #[test]
        fn without_ideographs_they_are_those_of_the_history(text in "[ -~À-ɏ\u{300}-\u{310}\\s]{0,60}") {
            prop_assert_eq!(words(&text), tokens(&text).collect::<Vec<_>>());
        }

        #[test]
        fn places_are_in_order_and_on_characters(text in ".{0,60}") {
            let mut stream = Words::new(&text);
            let mut word = String::new();
            let mut end = 0;
            while let Some(place) = stream.next_into(&mut word) {
                prop_assert!(place.start >= end && place.end > place.start && !word.is_empty());
                prop_assert!(text.get(place.clone()).is_some());
                end = place.end;
            }
        }
    }
}
