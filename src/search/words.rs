//! Words for searching.
//!
//! They are nearly those of the prompt history, SQLite's `unicode61`: runs of letters and numbers, in lower case and
//! without diacritics, but of the text in NFKC, so that it is found however it was typed. In scripts written without spaces (Chinese, Japanese) each character is a word, so that any part of a
//! sentence is found as a phrase.

use std::iter::Peekable;
use std::ops::Range;

use leafline_import::normalised::{Normalised, base};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::history::unicode61::{Class, classify};

/// The most characters of a word that count: longer ones are hashes or encoded data, and are found by their beginning.
const MOST_CHARACTERS: usize = 64;

/// Goes through the words of a text.
#[derive(Debug, Clone)]
pub(super) struct Words<'t> {
    characters: Peekable<Normalised<'t>>,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { characters: Normalised::new(text).peekable() }
    }

    /// Puts the next word into `word`, and returns its place in the text. Words that one character stands for, as in
    /// `㍿`, have the same place.
    pub(super) fn next_into(&mut self, word: &mut String) -> Option<Range<usize>> {
        word.clear();
        let mut place: Option<Range<usize>> = None;
        let mut count = 0;
        while let Some((character, there)) = self.characters.peek().cloned() {
            match class(character) {
                Class::Token(folded) if stands_alone(character) => {
                    if place.is_none() {
                        word.push(folded);
                        place = Some(there);
                        self.characters.next();
                    }
                    return place;
                }
                Class::Token(folded) => {
                    count += 1;
                    if count <= MOST_CHARACTERS {
                        word.push(folded);
                    }
                    place.get_or_insert(there.clone()).end = there.end;
                }
                // A diacritic continues a word and begins none.
                Class::Dropped => {
                    if let Some(place) = &mut place {
                        place.end = there.end;
                    }
                }
                Class::Separator if place.is_none() => {}
                Class::Separator => return place,
            }
            self.characters.next();
        }
        place
    }
}

/// The role of a character in a word. `unicode61` itself keeps the marks of a letter that has two, as in `ế`.
fn class(character: char) -> Class {
    let base = base(character);
    classify(if base.is_ascii() { base } else { character })
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
        assert_eq!(words("㍿"), ["株", "式", "会", "社"]);
    }

    #[test]
    fn a_text_has_the_same_words_however_it_is_typed() {
        for (one, other) in [
            ("プロジェクト", "フ\u{309a}ロシ\u{3099}ェクト"),
            ("プロジェクト", "ﾌﾟﾛｼﾞｪｸﾄ"),
            ("데이터", "\u{1103}\u{1166}\u{110b}\u{1175}\u{1110}\u{1165}"),
            ("tiếng Việt", "tie\u{302}\u{301}ng Vie\u{323}\u{302}t"),
            ("tiếng Việt", "tiê\u{301}ng Vi\u{1eb9}\u{302}t"),
            ("tiếng Việt", "TIENG VIET"),
            ("Fix v12", "Ｆｉｘ　ｖ１２"),
            ("й ё", "и\u{306} е\u{308}"),
        ] {
            assert_eq!(words(one), words(other), "{other}");
        }
        assert_ne!(words("が"), words("か"));
        assert_eq!(words("データ"), ["デ", "ー", "タ"]);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "x ﾌﾟ Vie\u{323}\u{302}t １２.";
        let mut stream = Words::new(text);
        let mut word = String::new();
        let mut found = Vec::new();
        while let Some(place) = stream.next_into(&mut word) {
            found.push(&text[place]);
        }
        assert_eq!(found, ["x", "ﾌﾟ", "Vie\u{323}\u{302}t", "１２"]);
    }

    #[test]
    fn a_long_word_is_cut() {
        let long = "a".repeat(70);
        assert_eq!(words(&format!("{long} b")), [&"a".repeat(64), "b"]);
    }

    proptest! {
        #[test]
        fn of_letters_with_one_mark_they_are_those_of_the_history(
            text in "[ -~À-ÅÇ-×Ù-åç-÷ù-ÿ\u{300}-\u{310}\\s]{0,60}",
        ) {
            prop_assert_eq!(words(&text), tokens(&text).collect::<Vec<_>>());
        }

        #[test]
        fn places_are_in_order_and_on_characters(text in ".{0,60}") {
            let mut stream = Words::new(&text);
            let mut word = String::new();
            let mut last = 0..0;
            while let Some(place) = stream.next_into(&mut word) {
                prop_assert!(place.start >= last.start && place.end >= last.end);
                prop_assert!(text.get(place.clone()).is_some_and(|there| !there.is_empty()));
                prop_assert!(!word.is_empty());
                last = place;
            }
        }
    }
}
