//! JSON's grammar exactly as `JSON.parse` defines it, walked once, without recursion and without building anything.
//!
//! Everything that reads JSON in this crate goes through [`walk`], so that all agree on what is malformed.

mod both;
mod string;

pub(crate) use both::Both;
pub(crate) use string::{StringToken, read_string, skip_plain};

/// The text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is not JSON: unexpected input at byte {at}")]
pub struct Malformed {
    /// The byte offset at which the text stops being JSON.
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Object,
    Array,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Number,
    /// `true`, `false` or `null`.
    Literal,
}

/// Receives the parts of a text in order. Positions are byte offsets in the text. If the text turns out to be
/// malformed, its parts mean nothing.
pub(crate) trait Visitor {
    fn open(&mut self, container: Container, start: usize);
    fn close(&mut self, container: Container, end: usize);
    fn key(&mut self, token: StringToken);
    fn string(&mut self, token: StringToken);
    fn scalar(&mut self, scalar: Scalar, start: usize, end: usize);
}

/// Only checks whether the text is JSON.
impl Visitor for () {
    fn open(&mut self, _: Container, _: usize) {}
    fn close(&mut self, _: Container, _: usize) {}
    fn key(&mut self, _: StringToken) {}
    fn string(&mut self, _: StringToken) {}
    fn scalar(&mut self, _: Scalar, _: usize, _: usize) {}
}

enum Expect {
    Value,
    FirstElement,
    FirstKey,
    Key,
    AfterValue,
}

/// Walks one JSON text. `open` is scratch memory: one byte per level of nesting.
#[inline]
pub(crate) fn walk(
    text: &str,
    open: &mut Vec<Container>,
    visitor: &mut impl Visitor,
) -> Result<(), Malformed> {
    let bytes = text.as_bytes();
    open.clear();
    let mut at = 0;
    let mut expect = Expect::Value;
    loop {
        at = skip_space(bytes, at);
        let byte = bytes.get(at).copied();
        match expect {
            Expect::FirstElement if byte == Some(b']') => {
                at += 1;
                close(open, visitor, at);
                expect = Expect::AfterValue;
            }
            Expect::Value | Expect::FirstElement => {
                expect = Expect::AfterValue;
                match byte {
                    Some(b'"') => {
                        let token = read_string(bytes, at + 1)?;
                        visitor.string(token);
                        at = token.end + 1;
                    }
                    Some(b'{') => {
                        open.push(Container::Object);
                        visitor.open(Container::Object, at);
                        at += 1;
                        expect = Expect::FirstKey;
                    }
                    Some(b'[') => {
                        open.push(Container::Array);
                        visitor.open(Container::Array, at);
                        at += 1;
                        expect = Expect::FirstElement;
                    }
                    _ => {
                        let (scalar, end) = read_scalar(bytes, at)?;
                        visitor.scalar(scalar, at, end);
                        at = end;
                    }
                }
            }
            Expect::FirstKey if byte == Some(b'}') => {
                at += 1;
                close(open, visitor, at);
                expect = Expect::AfterValue;
            }
            Expect::FirstKey | Expect::Key => {
                if byte != Some(b'"') {
                    return Err(Malformed { at });
                }
                let token = read_string(bytes, at + 1)?;
                visitor.key(token);
                at = skip_space(bytes, token.end + 1);
                if bytes.get(at) != Some(&b':') {
                    return Err(Malformed { at });
                }
                at += 1;
                expect = Expect::Value;
            }
            Expect::AfterValue => match (byte, open.last()) {
                (None, None) => return Ok(()),
                (Some(b','), Some(Container::Object)) => {
                    at += 1;
                    expect = Expect::Key;
                }
                (Some(b','), Some(Container::Array)) => {
                    at += 1;
                    expect = Expect::Value;
                }
                (Some(b'}'), Some(Container::Object)) | (Some(b']'), Some(Container::Array)) => {
                    at += 1;
                    close(open, visitor, at);
                }
                _ => return Err(Malformed { at }),
            },
        }
    }
}

#[inline]
fn close(open: &mut Vec<Container>, visitor: &mut impl Visitor, end: usize) {
    if let Some(container) = open.pop() {
        visitor.close(container, end);
    }
}

#[inline]
pub(crate) fn skip_space(bytes: &[u8], at: usize) -> usize {
    // Files seldom have space between tokens, so the loop is kept off the common path.
    match bytes.get(at) {
        Some(b' ' | b'\t' | b'\n' | b'\r') => skip_more_space(bytes, at + 1),
        _ => at,
    }
}

#[cold]
fn skip_more_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

#[inline]
fn read_scalar(bytes: &[u8], at: usize) -> Result<(Scalar, usize), Malformed> {
    let word: &[u8] = match bytes.get(at) {
        Some(b't') => b"true",
        Some(b'f') => b"false",
        Some(b'n') => b"null",
        _ => return Ok((Scalar::Number, read_number(bytes, at)?)),
    };
    if bytes[at..].starts_with(word) {
        Ok((Scalar::Literal, at + word.len()))
    } else {
        Err(Malformed { at })
    }
}

#[inline]
fn read_number(bytes: &[u8], start: usize) -> Result<usize, Malformed> {
    let mut at = start;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        Some(b'1'..=b'9') => skip_digits(bytes, at),
        _ => return Err(Malformed { at }),
    };
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = some_digits(bytes, at)?;
    }
    Ok(at)
}

#[inline]
fn skip_digits(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

#[inline]
fn some_digits(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    let end = skip_digits(bytes, at);
    if end == at {
        return Err(Malformed { at });
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str) -> bool {
        walk(text, &mut Vec::new(), &mut ()).is_ok()
    }

    #[test]
    fn what_json_parse_accepts() {
        for text in [
            "null",
            " [ ] ",
            "{}",
            "[1,-0,0.5,1e9,1E+9,1e-9]",
            r#"{"a":{"b":[true,false]}}"#,
            r#""\ud800""#,
            "\"\u{7f}\u{2028}\"",
            "\t\r\n0",
        ] {
            assert!(accepts(text), "{text:?}");
        }
    }

    #[test]
    fn what_json_parse_rejects() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1,]",
            "{,}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "tru",
            "nulll",
            "{}{}",
            "[1 2]",
            "\"\t\"",
            r#""\x""#,
            r#""\u12g4""#,
            "\"abc",
            "\u{a0}1",
            "[}",
            "{]",
            "NaN",
            "\u{feff}{}",
            "\0",
            "{}\0",
            "'a'",
        ] {
            assert!(!accepts(text), "{text:?}");
        }
    }

    #[test]
    fn a_million_levels() {
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert!(accepts(&deep));
        assert!(!accepts(&deep[..1_999_999]));
    }
}
