//! Lines of code and of shell output, written as patterns with slots.
//!
//! Patterns are plain text; the output is already escaped for a JSON string, because all text of a session ends up in
//! one, and escaping a pattern once, when it is read, is all that a session needs.

use crate::random::{ALPHANUMERIC, Random};
use crate::vocabulary::{Name, Vocabulary};

/// The contents of a pattern's slots: words of the language and names that this file keeps using.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) names: &'a [Name],
    pub(crate) types: &'a [Name],
    pub(crate) snake: bool,
}

/// Appends `pattern` with its slots filled. `$` and a letter is a slot:
///
/// | slot | filled with |
/// | --- | --- |
/// | `v` `T` `K` `k` | a name as a variable, a type, a constant, a part of a path |
/// | `w` `s` `c` | a word, a phrase of 1 to 3 words, a sentence of 4 to 10 |
/// | `d` `n` `N` | a digit, a number up to 99, a number up to 99,999 |
/// | `h` `b` | 7 hexadecimal digits, 8 letters and digits |
pub(crate) fn fill(out: &mut Vec<u8>, pattern: &str, scope: Scope<'_>, random: &mut Random) {
    let mut rest = pattern.as_bytes();
    while let Some(place) = rest.iter().position(|byte| *byte == b'$') {
        escape(out, &rest[..place]);
        let Some(slot) = rest.get(place + 1) else {
            break;
        };
        fill_slot(out, *slot, scope, random);
        rest = &rest[place + 2..];
    }
    escape(out, rest);
}

fn fill_slot(out: &mut Vec<u8>, slot: u8, scope: Scope<'_>, random: &mut Random) {
    match slot {
        b'v' => {
            let name = &scope.names[random.rank(scope.names.len())];
            let text = if scope.snake { &name.snake } else { &name.camel };
            out.extend_from_slice(text.as_bytes());
        }
        b'T' => {
            let name = &scope.types[random.rank(scope.types.len())];
            out.extend_from_slice(name.pascal.as_bytes());
        }
        b'K' => {
            let name = &scope.names[random.rank(scope.names.len())];
            out.extend(name.snake.bytes().map(|byte| byte.to_ascii_uppercase()));
        }
        b'k' => {
            let name = &scope.types[random.rank(scope.types.len())];
            out.extend_from_slice(name.kebab.as_bytes());
        }
        b'w' => out.extend_from_slice(scope.vocabulary.noun(random).as_bytes()),
        b's' => words(out, scope, random, 1, 3),
        b'c' => words(out, scope, random, 4, 10),
        b'd' => out.push(b'0' + random.below(10) as u8),
        b'n' => crate::number::integer(out, random.rank(100) as u64),
        b'N' => crate::number::integer(out, random.rank(100_000) as u64),
        b'h' => random.hexadecimal(out, 7),
        b'b' => random.characters(out, ALPHANUMERIC, 8),
        other => out.push(other),
    }
}

fn words(out: &mut Vec<u8>, scope: Scope<'_>, random: &mut Random, low: usize, high: usize) {
    for place in 0..random.between(low, high) {
        if place > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(scope.vocabulary.word(random).as_bytes());
    }
}

/// Appends text escaped for a JSON string, as ECMAScript's `JSON.stringify` does.
pub(crate) fn escape(out: &mut Vec<u8>, text: &[u8]) {
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let mut rest = text;
    while let Some(place) = rest.iter().position(special) {
        out.extend_from_slice(&rest[..place]);
        match rest[place] {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte @ 0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte => out.extend_from_slice(&[b'\\', byte]),
        }
        rest = &rest[place + 1..];
    }
    out.extend_from_slice(rest);
}
