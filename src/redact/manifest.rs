//! The data of a Kubernetes secret in YAML: each value is one, whatever its name (gitleaks, `kubernetes-secret-yaml`).

use std::ops::Range;

/// How much of a manifest is looked at, before and behind the line that says what it is.
const BEFORE: usize = 8 << 10;
const BEHIND: usize = 16 << 10;

/// Another such line this near is of what is looked at already.
pub(super) const NEAR: usize = 4 << 10;

/// A shorter value is a word such as `true`.
const SHORTEST: usize = 4;

/// What the line is found by.
pub(super) const SOUGHT: [&str; 3] = ["kind: secret", "kind: \"secret\"", "kind: 'secret'"];

/// The values of the manifest that has such a line.
pub(super) fn values(text: &[u8], hit: &Range<usize>) -> Vec<Range<usize>> {
    let is_word = text.get(hit.end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    if !is_word {
        return Vec::new();
    }
    let from = hit.start.saturating_sub(BEFORE);
    let start = memchr::memmem::rfind(text.get(from..hit.start).unwrap_or_default(), b"\n---")
        .map_or(from, |found| from + found + 1);
    let until = text.len().min(hit.end + BEHIND);
    let end = memchr::memmem::find(text.get(hit.end..until).unwrap_or_default(), b"\n---")
        .map_or(until, |found| hit.end + found);
    let mut values = Vec::new();
    // The indentation of the member whose members are secret.
    let mut data: Option<usize> = None;
    let mut at = start;
    for line in text.get(start..end).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
        let line_start = at;
        at += line.len();
        let number = number_before(line);
        let numbered = line.get(number..).unwrap_or_default();
        let body = numbered.trim_ascii();
        if body.is_empty() || body.starts_with(b"#") {
            continue;
        }
        let indentation = numbered.len() - numbered.trim_ascii_start().len();
        if data.is_some_and(|of_data| indentation <= of_data) {
            data = None;
        }
        if body == b"data:" || body == b"stringData:" {
            data = Some(indentation);
            continue;
        }
        if data.is_none() {
            continue;
        }
        // A block of several lines has no name in its lines.
        let name = memchr::memmem::find(body, b": ")
            .filter(|&end| is_name(body.get(..end).unwrap_or_default()));
        let value = body.get(name.map_or(0, |end| end + 2)..).unwrap_or_default().trim_ascii();
        let is_block =
            matches!(value, b"|" | b"|-" | b">" | b">-" | b"|+" | b">+") || value.ends_with(b":");
        let value = unquoted(value);
        if value.len() < SHORTEST
            || is_block
            || value.starts_with(b"{{")
            || value.starts_with(b"REDACTED-")
        {
            continue;
        }
        let value_start = memchr::memmem::rfind(line, value).unwrap_or_default();
        values.push(line_start + value_start..line_start + value_start + value.len());
    }
    values
}

fn is_name(name: &[u8]) -> bool {
    let name = unquoted(name);
    !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn unquoted(value: &[u8]) -> &[u8] {
    let inside = |quote: &[u8]| value.strip_prefix(quote)?.strip_suffix(quote);
    inside(b"\"").or_else(|| inside(b"'")).unwrap_or(value)
}

/// The length of the number that a program has put before a line, as `   12→` or `12<tab>`.
fn number_before(line: &[u8]) -> usize {
    let spaces = line.iter().take_while(|byte| **byte == b' ').count();
    let digits = line.iter().skip(spaces).take_while(|byte| byte.is_ascii_digit()).count();
    let rest = line.get(spaces + digits..).unwrap_or_default();
    let mark = ["\u{2192}", "\t"].iter().find(|mark| rest.starts_with(mark.as_bytes()));
    mark.filter(|_| digits > 0).map_or(0, |mark| spaces + digits + mark.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let at = text.to_ascii_lowercase().find(SOUGHT[0]).unwrap();
        values(text.as_bytes(), &(at..at + SOUGHT[0].len()))
            .into_iter()
            .map(|place| &text[place])
            .collect()
    }

    #[test]
    fn all_values_of_a_secret_are_found() {
        let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: tide-login\ndata:\n  user: dGlkZQ==\n  'a.b': \"c2FsdA==\"\nstringData:\n  file: |\n    first line\n    x: second\ntype: Opaque\n";
        assert_eq!(found(text), ["dGlkZQ==", "c2FsdA==", "first line", "second"]);
        let behind = "data:\n  user: dGlkZQ==\nkind: Secret\n---\ndata:\n  user: other\n";
        assert_eq!(found(behind), ["dGlkZQ=="]);
        let numbered = "     1\u{2192}kind: Secret\n     2\u{2192}data:\n     3\u{2192}  user: dGlkZQ==\n     4\u{2192}type: x\n";
        assert_eq!(found(numbered), ["dGlkZQ=="]);
    }

    #[test]
    fn what_is_put_in_later_is_none() {
        assert_eq!(
            found("kind: Secret\ndata:\n  a: {{ .Values.a }}\n  # b: none\n  c: no\n"),
            Vec::<&str>::new()
        );
        assert_eq!(found("kind: SecretStore\ndata:\n  a: dGlkZQ==\n"), Vec::<&str>::new());
    }
}
