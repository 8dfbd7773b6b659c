//! Words that are looked for in rows, and marked where they are found.

use std::ops::Range;

use leafline_import::normalised::Normalised;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Words, each of which is marked.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    words: Vec<Vec<char>>,
    /// Whether upper and lower case differ.
    is_exact: bool,
}

/// What looking for them has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    Found,
    /// Found beyond the end that was gone towards, from the other one on.
    Wrapped,
    Nowhere,
    /// To go on from the beginning, the tree has to be read.
    AwaitsStart,
}

impl Words {
    /// A text to be found as it stands; upper and lower case differ only if it has upper case, as in `less -i`.
    pub(super) fn text(text: &str) -> Self {
        let is_exact = text.chars().any(char::is_uppercase);
        let words = if text.is_empty() { Vec::new() } else { vec![text] };
        Self::new(words.into_iter(), is_exact)
    }

    /// The words that a search in all sessions is for.
    pub(super) fn of_search(query: &str) -> Self {
        let query: String = Normalised::new(query).map(|(character, _)| character).collect();
        let wanted = query.split_whitespace().filter(|word| !word.starts_with('-'));
        let words = wanted.flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
        let words = words.filter(|word| !word.is_empty());
        Self::new(words, false)
    }

    fn new<'w>(words: impl Iterator<Item = &'w str>, is_exact: bool) -> Self {
        let folded = |word| folded(word, is_exact).map(|(character, _)| character).collect();
        Self { words: words.map(folded).collect(), is_exact }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether one of them is there.
    pub(super) fn are_in(&self, text: &str) -> bool {
        !self.places(text).is_empty()
    }

    /// The bytes that belong to a word, each as its place.
    fn places(&self, text: &str) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        let (characters, ranges): (Vec<char>, Vec<Range<usize>>) =
            folded(text, self.is_exact).unzip();
        let mut places = Vec::new();
        for word in &self.words {
            let windows = characters.windows(word.len()).zip(ranges.windows(word.len()));
            let found = windows.filter(|(there, _)| *there == word.as_slice());
            places.extend(found.flat_map(|(_, ranges)| ranges.iter().cloned().flatten()));
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The line with the words marked.
    pub(super) fn marked(&self, line: &Line<'static>, mark: Style) -> Line<'static> {
        let text: String = line.spans.iter().map(|span| &*span.content).collect();
        marked_at(line, &self.places(&text), mark)
    }
}

/// The line with the characters at these bytes marked, which are ascending.
pub(super) fn marked_at(line: &Line<'static>, places: &[usize], mark: Style) -> Line<'static> {
    if places.is_empty() {
        return line.clone();
    }
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut at = 0;
    for span in &line.spans {
        let mut piece = String::new();
        let mut was_marked = false;
        let mut end = |piece: &mut String, is_marked: bool| {
            if !piece.is_empty() {
                let style = if is_marked { span.style.patch(mark) } else { span.style };
                spans.push(Span::styled(std::mem::take(piece), style));
            }
        };
        for character in span.content.chars() {
            let is_marked = places.binary_search(&at).is_ok();
            if is_marked != was_marked {
                end(&mut piece, was_marked);
            }
            was_marked = is_marked;
            piece.push(character);
            at += character.len_utf8();
        }
        end(&mut piece, was_marked);
    }
    Line { spans, ..line.clone() }
}

/// The characters as they are compared, and the bytes that they are made from.
fn folded(text: &str, is_exact: bool) -> impl Iterator<Item = (char, Range<usize>)> {
    Normalised::new(text).flat_map(move |(character, at)| {
        let lower = (!is_exact).then(|| character.to_lowercase());
        let same = is_exact.then_some(character);
        same.into_iter().chain(lower.into_iter().flatten()).map(move |one| (one, at.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(words: &Words, line: Line<'static>) -> Vec<String> {
        let line = words.marked(&line, Style::new().reversed());
        let pieces = line.spans.iter().map(|span| {
            let is_marked = span.style == Style::new().reversed();
            if is_marked { format!("<{}>", span.content) } else { span.content.to_string() }
        });
        pieces.collect()
    }

    #[test]
    fn words_are_marked_across_spans() {
        let line = || Line::from(vec![Span::raw("a Tim"), Span::raw("er, İtimer")]);
        assert_eq!(
            marked(&Words::text("timer"), line()),
            ["a ", "<Tim>", "<er>", ", İ", "<timer>"]
        );
        assert_eq!(marked(&Words::text("Timer"), line()), ["a ", "<Tim>", "<er>", ", İtimer"]);
        assert_eq!(marked(&Words::text(""), line()), ["a Tim", "er, İtimer"]);
        let words = Words::of_search("\"a tim*\" -er");
        assert_eq!(marked(&words, line()), ["<a>", " ", "<Tim>", "er, İ", "<tim>", "er"]);
        assert!(words.are_in("x TIM") && !words.are_in("er"));
    }
    #[test]
    fn words_are_marked_however_they_are_typed() {
        let line =
            || Line::from(vec![Span::raw("aフ"), Span::raw("\u{309a}ロ Vie\u{323}\u{302}t １２")]);
        assert_eq!(
            marked(&Words::text("プロ"), line()),
            ["a", "<フ>", "<\u{309a}ロ>", " Vie\u{323}\u{302}t １２"]
        );
        let words = Words::of_search("フ\u{309a} việt １2");
        assert_eq!(
            marked(&words, line()),
            ["a", "<フ>", "<\u{309a}>", "ロ ", "<Vie\u{323}\u{302}t>", " ", "<１２>"]
        );
        assert!(
            !Words::text("フ").are_in("プ") && Words::text("한").are_in("\u{1112}\u{1161}\u{11ab}")
        );
    }
}
