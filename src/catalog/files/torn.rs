//! The last line of a prefix, which may be cut off anywhere.

use leafline_import::text::decode;

/// Marks where the line was cut off.
const ELLIPSIS: char = '…';

/// Completes a line of JSON that was cut off within a string, by closing that string and all open containers; `None` if
/// it was cut off elsewhere. The result need not be JSON: it is not if the string was a member's name.
pub(super) fn made_whole(torn: &[u8]) -> Option<String> {
    let text = decode(without_torn_character(torn));
    let mut open = Vec::new();
    // Within a string, the end of the text that stands for whole characters.
    let mut string_end = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (string_end, byte) {
            (Some(_), b'"') => string_end = None,
            (Some(_), b'\\') => {
                let escape = bytes.next().map(|(_, escape)| escape);
                let digits = if escape == Some(b'u') { 4 } else { 0 };
                if escape.is_none() || (0..digits).any(|_| bytes.next().is_none()) {
                    string_end = Some(at);
                    break;
                }
                string_end = Some(at + 2 + digits);
            }
            (Some(_), _) => string_end = Some(at + 1),
            (None, b'"') => string_end = Some(at + 1),
            (None, b'{') => open.push('}'),
            (None, b'[') => open.push(']'),
            (None, b'}' | b']') => drop(open.pop()),
            (None, _) => {}
        }
    }
    let mut whole = text.get(..string_end?)?.to_owned();
    whole.push(ELLIPSIS);
    whole.push('"');
    whole.extend(open.into_iter().rev());
    Some(whole)
}

/// The bytes without an incomplete character at their end.
fn without_torn_character(bytes: &[u8]) -> &[u8] {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let is_torn = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    let end = if is_torn { bytes.len() - last.len() } else { bytes.len() };
    bytes.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"a":[{"type":"text","text":"Äpfel \"zählen\" \u00e4 \\ end"}],"n":1}"#;

    #[test]
    fn wherever_a_string_is_cut_the_line_is_whole() {
        let string = LINE.find("Äpfel").unwrap()..LINE.find("\"}]").unwrap();
        let value = |end: usize| {
            let whole = made_whole(&LINE.as_bytes()[..end]).unwrap();
            let value: serde_json::Value = serde_json::from_str(&whole).unwrap();
            value["a"][0]["text"].as_str().unwrap().to_owned()
        };
        let all = "Äpfel \"zählen\" ä \\ end";
        for end in string.clone() {
            let shown = value(end);
            assert!(all.starts_with(shown.strip_suffix('…').unwrap()), "{shown}");
        }
        assert_eq!(value(string.start), "…");
        assert_eq!(value(string.start + 1), "…");
        assert_eq!(value(string.start + 2), "Ä…");
        assert_eq!(value(string.end), format!("{all}…"));
    }

    #[test]
    fn a_cut_outside_of_strings_shows_nothing() {
        for end in [0, 1, LINE.len() - 1, LINE.len()] {
            assert_eq!(made_whole(&LINE.as_bytes()[..end]), None);
        }
        assert_eq!(made_whole(b"{\"a\":\"b\xff").as_deref(), Some("{\"a\":\"b\u{fffd}…\"}"));
        assert_eq!(made_whole("}}]\"ä".as_bytes()).as_deref(), Some("}}]\"ä…\""));
    }
}
