//! The words of a query.

use super::words::{Words, words};

/// A word, or words that stand next to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    /// The words; never empty.
    pub(super) words: Vec<String>,
    /// Whether the last one is the beginning of a word.
    pub(super) is_prefix: bool,
    /// Whether entries that have it are left out.
    pub(super) is_excluded: bool,
}

/// Parses a query: words that an entry must all contain, `"words in this order"`, `begin*`, and `-without`.
///
/// Several words written together (`build_context`, `src/main.rs`) are words in this order.
pub(super) fn clauses(query: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let is_excluded = is_exclusion(rest);
        let text = if is_excluded { &rest[1..] } else { rest };
        let (inside, behind) = match text.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            // A quote also ends a word, so that `a"b c"` is the word and the phrase.
            None => text.split_at(text.find(is_end).unwrap_or(text.len())),
        };
        let (star, behind) = match behind.strip_prefix('*') {
            Some(behind) => (true, behind),
            None => (false, behind),
        };
        let is_prefix = (star || inside.ends_with('*')) && ends_in_word(inside);
        let words = words(inside);
        if !words.is_empty() {
            clauses.push(Clause { words, is_prefix, is_excluded });
        }
        rest = behind.trim_start();
    }
    clauses
}

fn is_end(character: char) -> bool {
    character.is_whitespace() || character == '"'
}

/// Whether a `-` at the beginning of the text excludes something: `--flag` and a dash alone do not.
fn is_exclusion(text: &str) -> bool {
    let next = text.strip_prefix('-').and_then(|text| text.chars().next());
    next.is_some_and(|character| character == '"' || !(is_end(character) || character == '-'))
}

/// Whether the text before the stars ends in a word: `a-*` is not the beginning of a word.
fn ends_in_word(text: &str) -> bool {
    let text = text.trim_end_matches('*');
    let (mut stream, mut word) = (Words::new(text), String::new());
    std::iter::from_fn(|| stream.next_into(&mut word))
        .last()
        .is_some_and(|last| last.end == text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(query: &str) -> Vec<String> {
        let shown = |clause: Clause| {
            let minus = if clause.is_excluded { "-" } else { "" };
            let star = if clause.is_prefix { "*" } else { "" };
            format!("{minus}{}{star}", clause.words.join("+"))
        };
        clauses(query).into_iter().map(shown).collect()
    }

    #[test]
    fn words_phrases_prefixes_and_exclusions() {
        assert_eq!(read("Fix the  BUG"), ["fix", "the", "bug"]);
        assert_eq!(read(r#""fix the" bug"#), ["fix+the", "bug"]);
        assert_eq!(read("migrat* -test"), ["migrat*", "-test"]);
        assert_eq!(
            read(r#""cannot open fi"* -"no such file""#),
            ["cannot+open+fi*", "-no+such+file"]
        );
        assert_eq!(read(r#""cannot open fi*""#), ["cannot+open+fi*"]);
        assert_eq!(read("cafe\u{301}* フ\u{309a}*"), ["cafe*", "プ*"]);
        assert_eq!(read("build_context src/main.rs"), ["build+context", "src+main+rs"]);
    }

    #[test]
    fn what_is_no_word_asks_for_nothing() {
        assert_eq!(read("  "), [""; 0]);
        assert_eq!(read(r#"- -- * "" "" -"""#), [""; 0]);
        assert_eq!(read("--flag -* a-* (b)"), ["flag", "a", "b"]);
        assert_eq!(read(r#""open quote"#), ["open+quote"]);
        assert_eq!(read(r#"a"b c"d"#), ["a", "b+c", "d"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(query in "[a-c \"*\\-é中]{0,24}") {
            for clause in clauses(&query) {
                prop_assert!(!clause.words.is_empty());
            }
        }
    }
}
