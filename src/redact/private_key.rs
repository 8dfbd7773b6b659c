//! Private keys in the form of PEM: from their first line to their last, however the lines are divided.

use std::ops::Range;

use super::text::{Class, run};

/// What the first line of every PEM block begins with.
pub(super) const BEGINS: &str = "-----BEGIN";

const ENDS: &[u8] = b"-----END";

/// The longest key: 16 kB is one of RSA with 16,384 bits.
const LONGEST: usize = 64 << 10;

/// The fewest characters of base64 by which a line is known for one of a key that has lost its last line.
const LEAST_OF_LINE: usize = 16;

/// A private key, or what is there of one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PrivateKey {
    pub(super) place: Range<usize>,
    /// Whether it is cut off at the end of the text: more of it may follow elsewhere.
    pub(super) goes_on: bool,
}

/// The key whose first line begins at a place.
pub(super) fn at(text: &[u8], start: usize) -> Option<PrivateKey> {
    let from = start + BEGINS.len();
    let label = text.get(from..)?;
    let label = label.get(..run(label, 100, is_of_label))?;
    let is_private = label.windows(11).any(|part| part.eq_ignore_ascii_case(b"PRIVATE KEY"));
    if !is_private {
        return None;
    }
    let from = from + label.len();
    let body = text.get(from..text.len().min(from + LONGEST))?;
    if let Some(place) = end_in(body) {
        return Some(PrivateKey { place: start..from + place, goes_on: false });
    }
    let length = lines_of_key(body);
    let goes_on = from + length == text.len();
    Some(PrivateKey { place: start..from + length, goes_on })
}

/// How much of a text belongs to a key that was cut off before it, and whether the key ends there.
pub(super) fn rest(text: &[u8]) -> Option<(usize, bool)> {
    let body = text.get(..text.len().min(LONGEST))?;
    if let Some(end) = end_in(body)
        && lines_of_key(body) + 128 >= end
    {
        return Some((end, true));
    }
    let length = lines_of_key(body);
    (length > 0).then_some((length, length < text.len()))
}

fn is_of_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-')
}

/// The end of the last line of a key.
fn end_in(body: &[u8]) -> Option<usize> {
    let at = memchr::memmem::find(body, ENDS)?;
    let label = body.get(at + ENDS.len()..)?;
    Some(at + ENDS.len() + run(label, 100, is_of_label))
}

/// The length of the lines at the beginning that are a key's: base64, a header, or nothing. A margin may be before each:
/// a line's number, or the sign of a diff.
fn lines_of_key(body: &[u8]) -> usize {
    let mut length = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let content = line.trim_ascii();
        let is_in_margin = |byte: &u8| !byte.is_ascii_alphabetic() && !b"/".contains(byte);
        let margin = content.iter().take(12).take_while(|byte| is_in_margin(byte)).count();
        let is_base64 =
            |text: &[u8]| text.iter().all(|byte| Class::Base64.has(*byte) || *byte == b'\\');
        let is_key = |text: &[u8]| text.len() >= LEAST_OF_LINE && is_base64(text);
        let is_header = [&b"Proc-Type:"[..], b"DEK-Info:", b"Comment:", b"Version:"]
            .iter()
            .any(|header| content.get(margin..).unwrap_or_default().starts_with(header));
        let without_margin = content.get(margin..).unwrap_or_default();
        // The last line of base64 may be a short one, which ends with the text.
        let is_end =
            length > 0 && !content.is_empty() && is_base64(content) && content.ends_with(b"=");
        if content.is_empty() || is_key(content) || is_key(without_margin) || is_header || is_end {
            length += line.len();
        } else {
            break;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(lines: usize, separator: &str, ending: bool) -> String {
        let line = ["MIIEow", "IBAAKC", "AQEAx7", "Zq9LrT", "4bVn2s", "Wd8fGh"].concat();
        let mut parts = vec![format!("{BEGINS} RSA {} KEY-----", "PRIVATE")];
        parts.extend((0..lines).map(|_| line.clone()));
        if ending {
            parts.push(format!("-----END RSA {} KEY-----", "PRIVATE"));
        }
        parts.join(separator)
    }

    #[test]
    fn a_key_is_found_from_its_first_line_to_its_last() {
        for separator in ["\n", "\r\n", "\\n", "\n     7\u{2192}", "\n+", " "] {
            let key = key(5, separator, true);
            let text = format!("the key:\n{key}\nthat was it");
            let found = at(text.as_bytes(), 9).unwrap();
            assert_eq!((&text[found.place], found.goes_on), (key.as_str(), false));
        }
    }

    #[test]
    fn a_key_without_an_end_is_found_as_far_as_it_goes() {
        let text = format!("{}\n\nThe file has more lines than these.", key(3, "\n", false));
        let found = at(text.as_bytes(), 0).unwrap();
        assert_eq!(&text[found.place.end..], "The file has more lines than these.");
        assert!(!found.goes_on);
        let cut = key(3, "\n", false);
        assert_eq!(at(cut.as_bytes(), 0), Some(PrivateKey { place: 0..cut.len(), goes_on: true }));
    }

    #[test]
    fn the_rest_of_a_key_is_known_by_its_lines() {
        let line = format!("+{}", ["MIIEow", "IBAAKC", "AQEAx7"].concat());
        assert_eq!(rest(line.as_bytes()), Some((line.len(), false)));
        let end = format!("-----END {} KEY-----", "PRIVATE");
        assert_eq!(rest(end.as_bytes()), Some((end.len(), true)));
        assert_eq!(rest(b"and now to something else"), None);
    }

    #[test]
    fn other_blocks_are_not_private() {
        let certificate = format!("{BEGINS} CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----");
        assert_eq!(at(certificate.as_bytes(), 0), None);
    }
}
