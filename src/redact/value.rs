//! Where the value of a name begins and ends.

use std::ops::Range;

use super::text::{self, Class};

/// The longest value that is looked at.
pub(super) const LONGEST_VALUE: usize = 1024;

/// How much of a line before a name says how the value is written.
const LONGEST_BEFORE: usize = 512;

/// How a value is written, which says how much is sure about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// Between quotation marks, or as a value of JSON.
    Quoted,
    /// Behind `NAME=`, as in a file of settings or in a shell.
    Setting,
    /// As all of its line but for its name, as in YAML. It may be code.
    Line,
    /// Otherwise: it may be code.
    Bare,
}

/// A value's place, and how it is written.
pub(super) type Value = (Range<usize>, Written);

/// What assigns a value to a name, the longer ones first.
const ASSIGNMENTS: [&[u8]; 18] = [
    b":::=", b"===", b"::=", b"||=", b"??=", b":=", b"=>", b"==", b"?=", b"?:", b"!:", b"||",
    b"??", b"=", b":", b"|", b">", b",",
];

/// What can be before a name: its line as far as the name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before<'t>(&'t [u8]);

impl<'t> Before<'t> {
    pub(super) fn of(text: &'t [u8], name_start: usize) -> Self {
        let before = text.get(..name_start).unwrap_or_default();
        let before = before.get(before.len().saturating_sub(LONGEST_BEFORE)..).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        Self(before.get(start..).unwrap_or_default())
    }

    /// Whether a name stands between two of these quotation marks, so that the next one ends the text that has it.
    fn is_between(self, quote: u8) -> bool {
        let line = self.0;
        let is_letter = |at: Option<usize>| {
            at.and_then(|at| line.get(at)).is_some_and(u8::is_ascii_alphanumeric)
        };
        // An apostrophe is none.
        let is_mark = |&at: &usize| {
            quote != b'\'' || !(is_letter(at.checked_sub(1)) && is_letter(Some(at + 1)))
        };
        memchr::memchr_iter(quote, line).filter(is_mark).count() % 2 == 1
    }

    /// Whether the line has escapes, as a text has that is itself in a string.
    fn has_escapes(self) -> bool {
        self.0.windows(2).any(|pair| pair[0] == b'\\' && br#"nrt"'"#.contains(&pair[1]))
    }

    /// Whether a bracket is open.
    fn has_open(self, open: u8, close: u8) -> bool {
        let count = |sought: u8| memchr::memchr_iter(sought, self.0).count();
        count(open) > count(close)
    }

    /// Whether nothing but what begins the lines of lists, changes, and numbered files is before the name.
    fn is_beginning(self) -> bool {
        let line = self.0.trim_ascii();
        let line = line.strip_suffix(b"export").unwrap_or(line).trim_ascii();
        line.iter().all(|byte| byte.is_ascii_digit() || b"-+* \t:>#\"'|\xe2\x86\x92".contains(byte))
    }

    /// Whether a command is before it that is given a name and then its value: `ENV NAME value`.
    fn is_setting_command(self) -> bool {
        let line = self.0.trim_ascii_end();
        let ends = |command: &[u8]| {
            line.ends_with(command) && text::begins_a_word(line, line.len() - command.len())
        };
        let has_space = self.0.last().is_some_and(|byte| *byte == b' ' || *byte == b'\t');
        has_space
            && ["ENV", "setx", "set -x", "set -gx", "set -Ux", "set -Ux -g"]
                .iter()
                .any(|command| ends(command.as_bytes()))
    }
}

/// What is assigned behind a name's end: `= value`, `: "value"`, `=> 'value'`, `>value<`. `further` characters of the name
/// may follow first.
pub(super) fn assigned(text: &[u8], name: Range<usize>, further: usize) -> Option<Value> {
    let before = Before::of(text, name.start);
    let mut at = name.end;
    let run = |at: usize, most: usize, is_in: &dyn Fn(u8) -> bool| {
        text::run(text.get(at..).unwrap_or_default(), most, is_in)
    };
    let is_space = |byte: u8| byte == b' ' || byte == b'\t';
    at += run(at, further, &|byte| Class::Hyphened.has(byte) || byte == b'.');
    let closed = run(at, 4, &|byte| br#"'"`\])*"#.contains(&byte));
    let is_quoted =
        text.get(at..at + closed).unwrap_or_default().iter().any(|byte| b"'\"".contains(byte));
    at += closed;
    let named = text.get(name.clone())?;
    if closed == 0 && text.get(at) == Some(&b'=') && is_setting(named, text, name.start) {
        // All that follows is the value, unless it is compared.
        let is_compared = text.get(at + 1) == Some(&b'=')
            && text.get(at + 2).is_some_and(|byte| b"'\" =".contains(byte));
        if !is_compared {
            let (place, written) = value_at(text, at + 1, before)?;
            return Some(match written {
                Written::Quoted => (place, written),
                _ => (place.start..end_of_setting(text, place.start, before), Written::Setting),
            });
        }
    }
    if let Some(at) = behind_member_value(text, at).filter(|_| further == 0) {
        return value_at(text, at, before);
    }
    at += run(at, 8, &is_space);
    let rest = text.get(at..)?;
    let assignment = *ASSIGNMENTS.iter().find(|assignment| rest.starts_with(assignment))?;
    // Of several marks without a space behind them, the others may belong to the value.
    let is_sure = rest.get(assignment.len()).is_some_and(|byte| b" \t\"'`\\".contains(byte));
    let is_one = assignment.len() == 1 || !is_sure && b"=:".contains(rest.first()?);
    at += if is_one { 1 } else { assignment.len() };
    // The next column of a table.
    if *assignment == *b"|" && text.get(at) != Some(&b' ') {
        return None;
    }
    // A name and its value as two arguments, of which both are texts.
    let is_argument = *assignment == *b",";
    // The end of emphasis.
    at += if text.get(at..)?.starts_with(b"**") { 2 } else { 0 };
    at += run(at, 8, &is_space);
    let (place, written) = value_at(text, at, before)?;
    (!is_argument || is_quoted && written == Written::Quoted).then_some((place, written))
}

/// The value of an option of a command, which follows behind spaces.
pub(super) fn of_option(text: &[u8], name: Range<usize>) -> Option<Value> {
    let is_option = text.get(name.clone())?.windows(2).any(|pair| pair == b"--");
    let spaces = text::run(text.get(name.end..)?, 4, |byte| byte == b' ');
    if !is_option || spaces == 0 {
        return None;
    }
    value_at(text, name.end + spaces, Before::of(text, name.start))
}

/// The value of a variable that a command sets, which follows behind a space: `ENV NAME value`.
pub(super) fn of_variable(text: &[u8], name: Range<usize>) -> Option<Value> {
    let before = Before::of(text, name.start);
    let spaces = text::run(text.get(name.end..)?, 4, |byte| byte == b' ');
    if spaces == 0 || !before.is_setting_command() {
        return None;
    }
    let start = name.end + spaces;
    quoted_at(text, start).or_else(|| {
        let place = start..end_of_setting(text, start, before);
        (!place.is_empty()).then_some((place, Written::Setting))
    })
}

/// The place behind `value:` or `value=`, if what was a name is itself the value of a member such as `name`: in a manifest
/// of Kubernetes, in XML, in JSON.
fn behind_member_value(text: &[u8], at: usize) -> Option<usize> {
    const MEMBER: &[u8] = b"value";
    let rest = text.get(at..)?;
    let skipped =
        text::run(rest, 64, |byte| byte.is_ascii_whitespace() || b",\"'\\".contains(&byte));
    let behind = rest.get(skipped..)?;
    if skipped == 0 || !behind.get(..MEMBER.len())?.eq_ignore_ascii_case(MEMBER) {
        return None;
    }
    let behind = behind.get(MEMBER.len()..)?;
    let closed = text::run(behind, 4, |byte| b"\"'\\ ".contains(&byte));
    let behind = behind.get(closed..)?;
    let assignment = text::run(behind, 1, |byte| b":=".contains(&byte));
    let spaces = text::run(behind.get(assignment..)?, 8, |byte| byte == b' ');
    (assignment > 0).then_some(at + skipped + MEMBER.len() + closed + assignment + spaces)
}

/// The value that begins at a place, of a name with this before it.
pub(super) fn value_at(text: &[u8], at: usize, before: Before<'_>) -> Option<Value> {
    let rest = text.get(at..)?;
    // The letters before a text that say how a language reads it.
    let letters = text::run(rest, 2, |byte| b"bfruBFRU".contains(&byte));
    let has_letters = rest.get(letters).is_some_and(|byte| b"\"'".contains(byte));
    let at = if has_letters { at + letters } else { at };
    let is_empty = matches!(text.get(at..at + 2), Some(b"\"\"" | b"''" | b"``"));
    if is_empty {
        return None;
    }
    quoted_at(text, at).or_else(|| bare_at(text, at, before))
}

/// The value between quotation marks at a place. What ends with the text is torn.
fn quoted_at(text: &[u8], at: usize) -> Option<Value> {
    let rest = text.get(at..)?;
    // A quotation mark that is itself in a quoted text has a backslash before it.
    let backslashes = text::run(rest, 4, |byte| byte == b'\\');
    let quote = *rest.get(backslashes)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let start = at + backslashes + 1;
    let inside = text.get(start..)?;
    let mut length = 0;
    while let Some(&byte) = inside.get(length).filter(|byte| **byte != b'\n') {
        let ends_here = match (backslashes, byte) {
            (0, b'\\') => {
                length += 2;
                continue;
            }
            (0, byte) => byte == quote,
            (_, b'\\') => inside.get(length + 1) == Some(&quote),
            (_, _) => false,
        };
        if ends_here {
            return (length > 0).then_some((start..start + length, Written::Quoted));
        }
        if length >= LONGEST_VALUE {
            return None;
        }
        length += 1;
    }
    let is_torn = length > 0 && length >= inside.len();
    is_torn.then_some((start..text.len(), Written::Quoted))
}

/// The value without quotation marks at a place: a word.
fn bare_at(text: &[u8], at: usize, before: Before<'_>) -> Option<Value> {
    let rest = text.get(at..)?;
    let whole = length_of_word(rest, before, Ends::Word);
    if before.is_beginning() && ends_line(rest.get(whole..).unwrap_or_default()) {
        let place = at..at + without_brackets(rest.get(..whole)?, before);
        return (!place.is_empty()).then_some((place, Written::Line));
    }
    let is_in_url = before.0.last().is_some_and(|byte| b"?&".contains(byte));
    let ends = if is_in_url { Ends::Address } else { Ends::List };
    let length = length_of_word(rest, before, ends);
    let word = rest.get(..length)?;
    let inside = without_brackets(word, before);
    // The mark that ends a part of a sentence, or of a list.
    let is_marked = word.last().is_some_and(|last| b",;.:".contains(last))
        && rest.get(length).is_none_or(|byte| *byte <= b' ' || b"\"'`".contains(byte));
    let length = if inside == length && is_marked { length - 1 } else { inside };
    (length > 0).then_some((at..at + length, Written::Bare))
}

/// The end of a value behind `NAME=`: a word, with all that ends sentences and statements.
fn end_of_setting(text: &[u8], start: usize, before: Before<'_>) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let length = length_of_word(rest, before, Ends::Word);
    start + without_brackets(rest.get(..length).unwrap_or_default(), before)
}

/// Whether a line has nothing more but a comment.
fn ends_line(rest: &[u8]) -> bool {
    let line = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"#")
}

/// The length of a value without the brackets that were opened before it.
fn without_brackets(value: &[u8], before: Before<'_>) -> usize {
    let is_loose = |open: u8, close: u8| before.has_open(open, close) && !value.contains(&open);
    let ends = value.iter().rev().take_while(|byte| match byte {
        b'}' => is_loose(b'{', b'}'),
        b')' => is_loose(b'(', b')'),
        b']' => is_loose(b'[', b']'),
        b'>' => is_loose(b'<', b'>'),
        _ => false,
    });
    value.len() - ends.count()
}

/// What ends a word, besides spaces and the quotation marks between which it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Nothing.
    Word,
    /// The next one of several values.
    List,
    /// What ends a member of an address.
    Address,
}

/// How long a word is.
fn length_of_word(rest: &[u8], before: Before<'_>, ends: Ends) -> usize {
    let has_escapes = before.has_escapes();
    let open = br#""'`"#.map(|quote| (quote, before.is_between(quote)));
    let (is_address, is_list) = (ends == Ends::Address, ends != Ends::Word);
    let ends_at = |at: usize, byte: u8| {
        let next = rest.get(at + 1..).unwrap_or_default();
        match byte {
            0..=b' ' => true,
            b'"' if is_json(next) => true,
            b'"' | b'\'' | b'`' => is_address || open.contains(&(byte, true)),
            b'\\' => {
                let next = next.first().copied().unwrap_or(b' ');
                has_escapes && br#"nrt"'`\u/"#.contains(&next) || open.contains(&(next, true))
            }
            b'<' => is_tag(next),
            b'&' => is_address || is_list && (is_assignment(next) || is_reference(next)),
            b';' | b',' => is_list && is_assignment(next),
            b'#' | b'>' | b')' => is_address,
            _ => false,
        }
    };
    let rest = rest.get(..rest.len().min(LONGEST_VALUE)).unwrap_or_default();
    rest.iter().enumerate().position(|(at, byte)| ends_at(at, *byte)).unwrap_or(rest.len())
}

/// Whether a tag goes on behind its `<`: one that ends an element, or a common one of HTML.
fn is_tag(rest: &[u8]) -> bool {
    const COMMON: [&[u8]; 10] =
        [b"br", b"p", b"td", b"tr", b"li", b"span", b"div", b"code", b"pre", b"b"];
    let is_end = rest.first() == Some(&b'/');
    let rest = rest.get(usize::from(is_end)..).unwrap_or_default();
    let length =
        text::run(rest, 32, |byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte));
    let (name, behind) = rest.split_at(length);
    match is_end {
        true => length > 0 && behind.first() == Some(&b'>'),
        false => COMMON.contains(&name) && behind.first().is_some_and(|byte| b"> /".contains(byte)),
    }
}

/// Whether JSON goes on behind the end of one of its strings.
fn is_json(rest: &[u8]) -> bool {
    let begins = [&b",\""[..], b",{", b", \"", b"},", b"}]", b"}}", b"],", b"]}", b"\":", b":"];
    begins.iter().any(|beginning| rest.starts_with(beginning)) || matches!(rest, b"}" | b"]")
}

/// Whether a name and what assigns follow: the next one of several values.
fn is_assignment(rest: &[u8]) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphabetic() || b"-_. ".contains(&byte);
    let letters = text::run(rest, 64, is_of_name);
    letters > 2 && rest.get(letters) == Some(&b'=')
}

/// Whether a character of HTML goes on behind its `&`.
fn is_reference(rest: &[u8]) -> bool {
    [&b"amp;"[..], b"quot;", b"lt;", b"gt;", b"apos;", b"#39;", b"nbsp;"]
        .iter()
        .any(|name| rest.starts_with(name))
}

/// Whether a name is one of settings, by itself and not in an address.
fn is_setting(name: &[u8], text: &[u8], start: usize) -> bool {
    let is_upper = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let before = start.checked_sub(1).and_then(|last| text.get(last));
    name.iter().all(is_upper) && before.is_none_or(|byte| !b"?&/.".contains(byte))
}
