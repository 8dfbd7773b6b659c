//! Random JSON texts, written in every way JSON allows, and damage to them.

/// A small random number generator, so that a failure names a seed that reproduces it.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % bound
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const PIECES: &[&str] = &[
    "a",
    "id",
    "é",
    "語",
    "🍃",
    "\u{7f}",
    "\u{2028}",
    "\u{feff}",
    "\u{d7ff}",
    "\u{e000}",
    " ",
    "/",
    "{",
    "]",
    "'",
    "\\\"",
    "\\\\",
    "\\/",
    "\\b",
    "\\f",
    "\\n",
    "\\r",
    "\\t",
    "\\u0041",
    "\\u00E9",
    "\\u0000",
    "\\u001F",
    "\\u0008",
    "\\u007f",
    "\\u2028",
    "\\ud83c\\udf43",
    "\\uD83C",
    "\\udf43",
    "\\ud83c\\ud83c",
    "\\uDBFF\\uDFFF",
    "\\ufffe",
    "twenty bytes of text",
    "a run of text that is much longer than any word or chunk that is looked at once, so that all paths are taken in turn",
];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "1.0",
    "0.1",
    "1e21",
    "1E20",
    "1e+2",
    "1e-7",
    "123456789012345678901234567890",
    "9007199254740993",
    "-9007199254740993",
    "1e999",
    "-1e999",
    "5e-324",
    "1e-400",
    "2.2250738585072011e-308",
    "1.7976931348623157e308",
    "0.000001",
    "0.30000000000000004",
    "100000000000000000000",
    "999999999999999",
    "9999999999999999",
    "1733234401500",
    "0.5e1",
    "-0.0",
    "0e5",
];

const NAMES: &[&str] = &[
    "a",
    "b",
    "id",
    "type",
    "message",
    "role",
    "data",
    "content",
    "0",
    "1",
    "9",
    "10",
    "01",
    "-1",
    "4294967294",
    "4294967295",
    "4294967296",
    "99999999999",
    "1.5",
    "__proto__",
    "constructor",
    "toString",
    "",
    "\\u0061",
    "\\u0031",
    "i\\u0064",
    "\\ud800",
    "é",
    "\\u00e9",
    "length",
    "b\\/",
    "b/",
];

pub(crate) fn space(random: &mut Random, out: &mut String) {
    while random.one_in(6) {
        out.push_str(random.pick(&[" ", "\t", "\r", "  "]));
    }
}

pub(crate) fn string(random: &mut Random, out: &mut String) {
    out.push('"');
    for _ in 0..random.below(6) {
        out.push_str(random.pick(PIECES));
    }
    out.push('"');
}

pub(crate) fn number(random: &mut Random, out: &mut String) {
    if random.one_in(2) {
        out.push_str(random.pick(NUMBERS));
    } else {
        let digits = random.next() >> random.below(64);
        match random.below(3) {
            0 => out.push_str(&digits.to_string()),
            1 => out.push_str(&format!("{digits}e{}", random.below(80) as i64 - 40)),
            _ => out.push_str(&format!("-{}.{digits}", random.below(1000))),
        }
    }
}

/// A value of at most that many levels.
pub(crate) fn value(random: &mut Random, depth: usize, out: &mut String) {
    space(random, out);
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 | 1 => string(random, out),
        2 | 3 => number(random, out),
        4 => out.push_str(random.pick(&["true", "false", "null"])),
        5 | 6 => {
            out.push('[');
            for place in 0..random.below(4) {
                if place > 0 {
                    out.push(',');
                }
                value(random, depth - 1, out);
            }
            space(random, out);
            out.push(']');
        }
        _ => object(random, depth, out),
    }
    space(random, out);
}

pub(crate) fn object(random: &mut Random, depth: usize, out: &mut String) {
    let members = if random.one_in(8) { random.below(40) } else { random.below(6) };
    out.push('{');
    for place in 0..members {
        if place > 0 {
            out.push(',');
        }
        space(random, out);
        if random.one_in(4) {
            string(random, out);
        } else {
            out.push_str(&format!("\"{}\"", random.pick(NAMES)));
        }
        space(random, out);
        out.push(':');
        value(random, depth.saturating_sub(1).min(if members > 8 { 1 } else { 5 }), out);
    }
    space(random, out);
    out.push('}');
}

/// Damages a text at a few places.
pub(crate) fn damage(random: &mut Random, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(2) {
        let at = random.below(characters.len() + 1);
        match random.below(3) {
            0 if at < characters.len() => {
                characters.remove(at);
            }
            1 if at < characters.len() => characters.truncate(at),
            _ => {
                let new = random.pick(&[
                    "\"", "\\", ",", ":", "{", "}", "[", "]", "0", "-", ".", "e", "\t", "\n", "\0",
                    "u", "\u{a0}", "é", " ",
                ]);
                characters.splice(at..at, new.chars());
            }
        }
    }
    characters.into_iter().collect()
}
