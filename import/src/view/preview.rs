//! The beginning of an entry on one line.

use crate::text::words_on_one_line;
use crate::view::Part;

/// The beginning of the parts' text, at most `most` characters; see [`crate::view::View::preview`].
pub(super) fn of(parts: &[Part], most: usize) -> String {
    let kinds: [fn(&Part) -> bool; 5] = [
        |part| matches!(part, Part::Text(_)),
        |part| matches!(part, Part::ToolResult { .. }),
        |part| matches!(part, Part::ToolCall { .. }),
        |part| matches!(part, Part::Thinking(_)),
        |part| matches!(part, Part::Other { .. }),
    ];
    let lines = kinds.into_iter().map(|is_of_kind| {
        let texts = parts.iter().filter(|part| is_of_kind(part)).flat_map(Part::texts);
        words_on_one_line(texts.flat_map(str::split_whitespace), most)
    });
    lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preview(text: &str, most: usize) -> String {
        of(&[Part::Text(text.to_owned())], most)
    }

    #[test]
    fn white_space_is_folded_and_the_rest_cut() {
        assert_eq!(preview(" a\r\n\tb\u{a0}c ", 5), "a b c");
        assert_eq!(preview("a b c", 4), "a b…");
        assert_eq!(preview("a b c", 3), "a…");
        assert_eq!(preview("🍃é🍃", 3), "🍃é🍃");
        assert_eq!(preview("🍃é🍃", 2), "🍃…");
        assert_eq!(preview("ab", 1), "…");
        assert_eq!(preview("a", 1), "a");
        assert_eq!(preview("a", 0), "");
        assert_eq!(preview(" \n", 9), "");
    }

    #[test]
    fn without_text_there_are_results_calls_and_thoughts() {
        let text = Part::Text("said".to_owned());
        let thinking = Part::Thinking("thought".to_owned());
        let call = Part::ToolCall {
            id: None,
            name: "read".to_owned(),
            arguments: r#"{"path": "a"}"#.to_owned(),
        };
        let result = Part::ToolResult {
            call_id: None,
            name: None,
            is_error: false,
            text: "one\ntwo".to_owned(),
        };
        let other = Part::Other {
            type_name: "document".to_owned(),
            title: Some("t.pdf".to_owned()),
            text: "read".to_owned(),
        };
        let mut parts = vec![other, thinking, call, result, text];
        for expected in ["said", "one two", r#"read {"path": "a"}"#, "thought", "t.pdf read", ""] {
            assert_eq!(of(&parts, 40), expected);
            parts.pop();
        }
    }

    #[test]
    fn several_texts_are_one_line() {
        let parts = ["a", "", "b"].map(|text| Part::Text(text.to_owned()));
        assert_eq!(of(&parts, 9), "a b");
    }
}
