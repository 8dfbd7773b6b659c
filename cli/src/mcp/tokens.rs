//! How many tokens a text takes: an estimate that needs no model's vocabulary.
//!
//! docs/mcp.md compares it with two real vocabularies.

/// The parts of a token that the estimate counts in.
const PARTS: usize = 4;

/// The parts of a token that a character is counted as. Words of small letters take a token for four or more letters; a
/// capital or a sign half a one; a digit more, since most of them are in ids; other letters one each, and what is beyond the
/// first plane, as pictures are, two.
fn parts(character: char) -> usize {
    match character {
        'a'..='z' | ' ' => 1,
        '0'..='9' => 3,
        '\u{0}'..='\u{7f}' => 2,
        '\u{80}'..='\u{ffff}' => PARTS,
        _ => 2 * PARTS,
    }
}

/// The tokens of a text, rounded up.
pub(super) fn tokens(text: &str) -> usize {
    // Text that is not ASCII is rare, and bytes are counted faster than characters.
    let parts: usize = match text.is_ascii() {
        true => text.bytes().map(|byte| parts(char::from(byte))).sum(),
        false => text.chars().map(parts).sum(),
    };
    parts.div_ceil(PARTS)
}

/// The longest beginning of a text that takes at most so many tokens.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let most = most.saturating_mul(PARTS);
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        taken += parts(character);
        if taken > most {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_by_their_kind() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("four"), 1);
        assert_eq!(tokens("fours"), 2);
        assert_eq!(tokens("5b0c7a52"), 5);
        assert_eq!(tokens("日本語"), 3);
        assert_eq!(tokens("🍂"), 2);
    }

    #[test]
    fn a_beginning_takes_no_more_than_it_may() {
        assert_eq!(beginning("abcdefgh", 1), "abcd");
        assert_eq!(beginning("日本語", 2), "日本");
        assert_eq!(beginning("🍂🍂", 3), "🍂");
        assert_eq!(beginning("abc", 0), "");
        let text = "Mixed: 12 日本 🍂, and so on\n".repeat(20);
        for most in 0..tokens(&text) {
            let taken = beginning(&text, most);
            assert!(tokens(taken) <= most, "{most}");
            let next = text[taken.len()..].chars().next().unwrap();
            assert!(tokens(&format!("{taken}{next}")) > most, "{most}");
        }
        assert_eq!(beginning(&text, tokens(&text)), text);
    }
}
