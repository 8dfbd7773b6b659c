//! Text for comparison. The same text may be typed composed or decomposed, in full or half width: Unicode's form NFKC
//! is the same for all of them.

use std::iter::once;
use std::ops::Range;

use unicode_normalization::char::{
    canonical_combining_class, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// The characters of a text in NFKC, each with the bytes of the text that it is made from.
///
/// Characters that are made from the same bytes have the same range.
///
/// ```
/// use leafline_import::normalised::Normalised;
///
/// let characters: Vec<_> = Normalised::new("ﾌﾟe\u{301}").collect();
/// assert_eq!(characters, [('プ', 0..6), ('é', 6..9)]);
/// ```
#[derive(Debug, Clone)]
pub struct Normalised<'t> {
    text: &'t str,
    at: usize,
    /// The characters of `range` that are still to come.
    pending: std::vec::IntoIter<char>,
    range: Range<usize>,
}

impl<'t> Normalised<'t> {
    /// The characters of the text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0, pending: Vec::new().into_iter(), range: 0..0 }
    }
}

impl Iterator for Normalised<'_> {
    type Item = (char, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(character) = self.pending.next() {
            return Some((character, self.range.clone()));
        }
        let mut characters = self.text.get(self.at..)?.chars();
        let first = characters.next()?;
        let marks: usize = characters.take_while(|&mark| continues(mark)).map(char::len_utf8).sum();
        let start = self.at;
        self.at += first.len_utf8() + marks;
        self.range = start..self.at;
        let is_normal = || is_nfkc_quick(once(first)) == IsNormalized::Yes;
        if marks == 0 && (first.is_ascii() || is_normal()) {
            return Some((first, self.range.clone()));
        }
        let normal: Vec<char> = self.text.get(self.range.clone())?.nfkc().collect();
        self.pending = normal.into_iter();
        Some((self.pending.next()?, self.range.clone()))
    }
}

/// Whether a character may be composed with what precedes it, or reordered among the marks there.
fn continues(character: char) -> bool {
    if character < '\u{300}' {
        return false;
    }
    let mut first = character;
    let mut is_first = true;
    decompose_compatible(character, |part| {
        if std::mem::take(&mut is_first) {
            first = part;
        }
    });
    canonical_combining_class(first) != 0 || is_nfc_quick(once(first)) == IsNormalized::Maybe
}

/// The text in NFKC and in lower case.
///
/// ```
/// use leafline_import::normalised::without_case;
///
/// assert_eq!(without_case("Ｅ\u{301}"), "é");
/// ```
#[must_use]
pub fn without_case(text: &str) -> String {
    // The lower case of a composed character may be a decomposed one.
    text.nfkc().collect::<String>().to_lowercase().nfc().collect()
}

/// The character without its marks.
#[must_use]
pub fn base(character: char) -> char {
    let mut base = None;
    decompose_canonical(character, |part| {
        base.get_or_insert(part);
    });
    base.unwrap_or(character)
}

/// The text composed, in NFC.
#[must_use]
pub fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// The text decomposed, in NFD.
#[must_use]
pub fn decomposed(text: &str) -> String {
    text.nfd().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> String {
        Normalised::new(text).map(|(character, _)| character).collect()
    }

    #[test]
    fn ranges_are_those_of_the_text() {
        let text = "a\u{1112}\u{1161}\u{11ab} ㍿か\u{3099}ﾃﾞ１";
        let parts: Vec<_> =
            Normalised::new(text).map(|(character, at)| (character, &text[at])).collect();
        assert_eq!(
            parts,
            [
                ('a', "a"),
                ('한', "\u{1112}\u{1161}\u{11ab}"),
                (' ', " "),
                ('株', "㍿"),
                ('式', "㍿"),
                ('会', "㍿"),
                ('社', "㍿"),
                ('が', "か\u{3099}"),
                ('デ', "ﾃﾞ"),
                ('1', "１"),
            ]
        );
        assert_eq!(base('ế'), 'e');
    }

    proptest! {
        #[test]
        fn the_parts_together_are_the_whole_in_nfkc(
            text in "([a-eß-ÿ\u{300}-\u{330}か-ポ\u{3099}-\u{309c}ｦ-ﾟ\u{1100}-\u{11ff}ㄱ-ㅣ가-각\u{ffa0}-\u{ffdc}ế-ự]|.){0,40}",
        ) {
            prop_assert_eq!(normal(&text), text.nfkc().collect::<String>());
            let mut end = 0;
            for (_, at) in Normalised::new(&text) {
                prop_assert!(at.end == end || at.start == end);
                end = at.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
