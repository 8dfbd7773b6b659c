//! Whether a value is a secret, and neither a word, nor code, nor a text that stands for a secret.

use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::GeneralPurposeConfig;

use super::names::Name;
use super::placeholder::BEGINNING;
use super::text::{self, entropy};
use super::value::Written;

/// The shortest secret. A shorter password is not told from a word.
const SHORTEST: usize = 8;

/// The least entropy of a value, in bits a character: eight different characters have three.
const LEAST_ENTROPY: f64 = 3.0;
const LEAST_ENTROPY_OF_PASSWORD: f64 = 2.5;
const LEAST_ENTROPY_OF_USERS: f64 = 1.5;

/// The shortest password behind a user's name.
const SHORTEST_OF_USERS: usize = 3;

/// The longest password that is told from a program without spaces, and the shortest such program.
const LONGEST_IN_LINE: usize = 64;
const SHORTEST_STATEMENT: usize = 32;

/// Words that stand where a secret is to be put.
const STAND_INS: [&str; 15] = [
    "example",
    "changeme",
    "change-me",
    "change_me",
    "your-",
    "your_",
    "yourpass",
    "xxxx",
    "****",
    "....",
    "placeholder",
    "dummy",
    "redacted",
    "process.env",
    "os.environ",
];

/// How much of a value is looked at for them.
const LONGEST_STAND_IN: usize = 128;

/// Words of which names in programs are made, and passwords seldom.
const OF_NAMES: [&str; 18] = [
    "pass", "pwd", "secret", "token", "key", "user", "string", "value", "param", "arg", "field",
    "input", "hash", "text", "const", "test", "name", "data",
];

/// Beginnings of addresses, of checksums, of patterns, and of what stands for a secret already.
const OPENINGS: [&str; 6] = ["http://", "https://", BEGINNING, "sha256:", "sha512-", "/^"];

/// Beginnings of what is put in later, by a shell or a template.
const INSERTIONS: [&str; 5] = ["${", "$(", "{{", "%(", "<%"];

const PADDED_OR_NOT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// Whether the value of a name is a secret.
pub(super) fn is_secret(name: Name, value: &[u8], written: Written) -> bool {
    if name == Name::Login {
        return is_login(value);
    }
    if value.len() < SHORTEST || value.iter().any(u8::is_ascii_whitespace) {
        return false;
    }
    // What is told fast comes first: a hostile text has a name at every few bytes.
    if !looks_random(name, value) || written == Written::Bare && is_statement(name, value) {
        return false;
    }
    let may_be_code = matches!(written, Written::Bare | Written::Line);
    let is_code = may_be_code
        && is_code(value, written)
        && !(written == Written::Line && is_no_name(name, value));
    !is_code && !stands_for_one(value)
}

/// Whether a value has the characters that a secret has.
fn looks_random(name: Name, value: &[u8]) -> bool {
    let has = |is_in: fn(&u8) -> bool| value.iter().any(is_in);
    let (digits, letters) = (has(u8::is_ascii_digit), has(u8::is_ascii_alphabetic));
    match name {
        Name::Password => {
            let symbols = has(|byte| byte.is_ascii_punctuation() && !b"_-.:/".contains(byte));
            let is_mixed = digits && letters || symbols && (digits || letters);
            (is_mixed || is_random(value)) && entropy(value) >= LEAST_ENTROPY_OF_PASSWORD
        }
        // What looks like a name, as that of a header, is one. Of random letters without a digit there must be more.
        Name::Secret if is_identifier(value) => false,
        _ => {
            (digits && letters || value.len() >= 32 && is_random(value))
                && entropy(value) >= LEAST_ENTROPY
        }
    }
}

/// Whether what stands behind a user's name and a colon is a password.
pub(super) fn is_users_password(password: &[u8]) -> bool {
    const WORDS: [&[u8]; 8] =
        [b"password", b"pass", b"pwd", b"passwd", b"secret", b"token", b"xxx", b"redacted"];
    password.len() >= SHORTEST_OF_USERS
        && !WORDS.contains(&password.to_ascii_lowercase().as_slice())
        && !stands_for_one(password)
        && entropy(password) >= LEAST_ENTROPY_OF_USERS
}

/// Whether a value is a user's name and password in base64, as Docker and npm keep them.
fn is_login(value: &[u8]) -> bool {
    let decoded = PADDED_OR_NOT.decode(value).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.is_some_and(|login| {
        let is_printed = !login.chars().any(char::is_control);
        is_printed
            && login.split_once(':').is_some_and(|(user, password)| {
                !user.is_empty() && password.len() >= SHORTEST_OF_USERS
            })
    })
}

/// Whether a value is a variable, a path, or a word for a secret.
fn stands_for_one(value: &[u8]) -> bool {
    let beginning = value.get(..value.len().min(LONGEST_STAND_IN)).unwrap_or_default();
    let lower = String::from_utf8_lossy(beginning).to_ascii_lowercase();
    let is_between = |open: u8, close: u8| {
        let inside = value.strip_prefix(&[open]).and_then(|rest| rest.strip_suffix(&[close]));
        let is_of_words = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.: ".contains(byte);
        inside.is_some_and(|inside| inside.iter().all(is_of_words))
    };
    let encloses = |open: &[u8], close: &[u8]| {
        let start = memchr::memmem::find(value, open).map(|at| at + open.len());
        let inside = start.and_then(|start| value.get(start..)).unwrap_or_default();
        let is_word =
            inside.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        is_word && memchr::memmem::find(inside, close).is_some()
    };
    // Its end may be behind a space.
    let is_of_insertion =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.:/)}|\"'%>$,".contains(byte);
    let begins_insertion = |opening: &str| {
        let rest = value.strip_prefix(opening.as_bytes());
        rest.is_some_and(|rest| rest.iter().all(is_of_insertion))
    };
    OPENINGS.iter().any(|opening| value.starts_with(opening.as_bytes()))
        || STAND_INS.iter().any(|word| lower.contains(word))
        || [(b'<', b'>'), (b'[', b']'), (b'{', b'}'), (b'%', b'%')]
            .iter()
            .any(|(open, close)| is_between(*open, *close))
        || INSERTIONS.iter().any(|opening| begins_insertion(opening))
        || encloses(b"${", b"}")
        || encloses(b"$(", b")")
        || encloses(b"{{", b"}}")
        || is_variable(value)
        || is_path(value)
}

/// Whether it is a variable of a shell or of PHP, or begins with one.
fn is_variable(value: &[u8]) -> bool {
    value.strip_prefix(b"$").is_some_and(|name| {
        name.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
            && is_code(name, Written::Bare)
    })
}

/// Whether it is a path: one of its parts is a word.
fn is_path(value: &[u8]) -> bool {
    let is_drive = value.first().is_some_and(u8::is_ascii_alphabetic)
        && value.get(1) == Some(&b':')
        && value.get(2).is_some_and(|byte| b"\\/".contains(byte));
    let begins = [&b"/"[..], b"./", b"../", b"~/"].iter().any(|root| value.starts_with(root));
    let is_word = |part: &[u8]| {
        let lower = part.iter().skip(1).all(u8::is_ascii_lowercase);
        part.len() >= 3 && lower && part.first().is_some_and(u8::is_ascii_alphabetic)
    };
    let is_of_path =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-@+%~:, ".contains(byte) || *byte >= 128;
    is_drive
        || begins
            && value.iter().all(is_of_path)
            && value.split(|byte| b"/.-_".contains(byte)).any(is_word)
}

/// Whether what stands within a line is a part of a program that has no spaces.
fn is_statement(name: Name, value: &[u8]) -> bool {
    const SIGNS: [&[u8]; 16] = [
        b"=>", b"??", b"||", b"&&", b"!=", b"==", b"()", b"({", b"})", b"};", b"),", b");", b"].",
        b").", b"(?", b"[0]",
    ];
    let is_of_token = |byte: &u8| !b"(){}[]<>|&?,;\"'`".contains(byte);
    match name {
        Name::Password => {
            let has = |sign: &&&[u8]| memchr::memmem::find(value, sign).is_some();
            // One of them may be in a password.
            let signs = SIGNS.iter().filter(has).count();
            let is_long = value.len() > SHORTEST_STATEMENT || value.contains(&b'"');
            value.len() > LONGEST_IN_LINE || signs > 1 || signs == 1 && is_long
        }
        _ => !value.iter().all(is_of_token),
    }
}

/// Whether a value without quotation marks is an expression of a program: names, members, calls and types.
fn is_code(value: &[u8], written: Written) -> bool {
    // Operators and brackets before it, and what ends it.
    let from = text::run(value, usize::MAX, |byte| b"!&*@:-+~([{'=".contains(&byte));
    let value = value.get(from..).unwrap_or_default();
    let ends = value.iter().rev().take_while(|byte| b")]},;:.>".contains(byte)).count();
    let (value, end) = value.split_at(value.len() - ends);
    // The `!` of TypeScript stands behind a member.
    let value = match value.strip_suffix(b"!") {
        Some(member) if ends > 0 || member.contains(&b'.') => member,
        _ => value,
    };
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let is_name = |word: &[u8]| is_identifier(word) || word.iter().all(u8::is_ascii_digit);
    let words = value.split(|byte| !is_of_word(byte));
    // Names of small and capital letters have more of the small ones.
    let (mut small, mut capitals) = (0, 0);
    for word in words.clone() {
        let count = |is_in: fn(&u8) -> bool| word.iter().filter(|byte| is_in(byte)).count();
        let of_word = (count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase));
        if of_word.0 > 0 {
            (small, capitals) = (small + of_word.0, capitals + of_word.1);
        }
    }
    if capitals > small || !words.clone().all(is_name) {
        return false;
    }
    let closes = |open: &mut Vec<u8>, close: &u8| match close {
        b')' => open.pop() == Some(b'('),
        b']' => open.pop() == Some(b'['),
        b'}' => open.pop() == Some(b'{'),
        b'>' => open.pop() == Some(b'<'),
        _ => true,
    };
    // Brackets of a call, an index or a type, which may go on behind a space. Only in them are there texts and lists.
    let mut open: Vec<u8> = Vec::new();
    for (at, byte) in value.iter().enumerate() {
        let is_doubled =
            value.get(at + 1) == Some(byte) || at > 0 && value.get(at - 1) == Some(byte);
        let is_possible = match byte {
            b'(' | b'[' | b'{' | b'<' => {
                open.push(*byte);
                at > 1
            }
            b'>' if value
                .get(..at)
                .is_some_and(|before| before.ends_with(b"=") || before.ends_with(b"-")) =>
            {
                true
            }
            b')' | b']' | b'}' | b'>' => closes(&mut open, byte),
            b'.' | b':' | b'+' | b'|' | b'?' | b'/' | b'=' | b'$' => true,
            b'&' => is_doubled,
            b',' | b'"' | b'\'' | b'*' | b'%' | b' ' => !open.is_empty(),
            byte => is_of_word(byte),
        };
        if !is_possible {
            return false;
        }
    }
    // Those that were open before the value may be closed behind it.
    let is_closed = end.iter().all(|close| open.is_empty() || closes(&mut open, close));
    // At the end of a line, what is open has just begun.
    let goes_on =
        written == Written::Bare || open.last().is_none_or(|last| value.last() == Some(last));
    is_closed && goes_on
}

/// Whether what may be a name of a program is none: words and a number, as many passwords are.
fn is_no_name(name: Name, value: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    name == Name::Password
        && value.iter().all(u8::is_ascii_alphanumeric)
        && value.last().is_some_and(u8::is_ascii_digit)
        && !OF_NAMES.iter().any(|word| lower.contains(word))
}

/// Whether it is a name as programs have it: words of letters, of which the last may have a number behind it.
fn is_identifier(name: &[u8]) -> bool {
    let is_word = |word: &[u8]| {
        let letters = text::run(word, usize::MAX, |byte| byte.is_ascii_alphabetic());
        let digits = word.get(letters..).unwrap_or_default();
        digits.len() <= 2 && digits.iter().all(u8::is_ascii_digit)
    };
    name.split(|byte| matches!(byte, b'_' | b'-')).all(is_word)
}

/// Whether letters of both sizes are mixed otherwise than in words.
fn is_random(value: &[u8]) -> bool {
    let count = |is_in: fn(&u8) -> bool| value.iter().filter(|byte| is_in(byte)).count();
    let (small, capitals) = (count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase));
    value.len() >= 16 && small > 0 && capitals * 4 > value.len()
}
