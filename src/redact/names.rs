//! The values of names that say that they are secret: `password=…`, `"api_key": "…"`, `Authorization: Bearer …`, the
//! password in a URL, and what a command is given as `--token …`.

use std::ops::Range;

use super::placeholder::BEGINNING;
use super::text::{self, Class, entropy};

/// The last words of names whose values are secret, in small letters, without hyphens and underscores.
const PASSWORDS: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];
const SECRETS: [&str; 16] = [
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "secretkeybase",
    "credential",
    "credentials",
    "accountkey",
    "webhookkey",
    "sharedkey",
];

/// Words of names that end like these, and whose values are not secret.
const HARMLESS: [&str; 12] = [
    "next",
    "page",
    "continuation",
    "cancel",
    "csrf",
    "xsrf",
    "public",
    "max",
    "min",
    "pad",
    "count",
    "sync",
];

/// Texts of which each such name has one, for the search.
pub(super) const SOUGHT: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "_pass",
    "secret",
    "token",
    "key",
    "credential",
    "key_base",
    "authorization",
    "bearer ",
    "basic ",
];

/// The longest value that is looked at, and the longest name.
const LONGEST_VALUE: usize = 1024;
const LONGEST_NAME: usize = 64;

/// The shortest secret. A shorter password is not told from a word.
const SHORTEST: usize = 8;

/// The least entropy of a value, in bits a character: eight different characters have three.
const LEAST_ENTROPY: f64 = 3.0;
const LEAST_ENTROPY_OF_PASSWORD: f64 = 2.5;
const LEAST_ENTROPY_OF_USERS: f64 = 2.0;

/// The longest part of a command that is looked at.
const LONGEST_COMMAND: usize = 2048;

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

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Password,
    Secret,
}

impl Name {
    /// The kind of its values.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
        }
    }

    /// What a name says, whatever its way of joining words.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        let from = name.len().saturating_sub(LONGEST_NAME);
        let name = name.get(from..)?;
        let joined: String = name
            .iter()
            .filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b' '))
            .map(|byte| char::from(byte.to_ascii_lowercase()))
            .collect();
        let joined = joined.trim_end_matches(|last: char| last.is_ascii_digit());
        // An account is no count.
        let judged = joined.replace("account", "");
        if HARMLESS.iter().any(|word| judged.contains(word)) {
            return None;
        }
        if PASSWORDS.iter().any(|word| joined.ends_with(word))
            || name.to_ascii_lowercase().ends_with(b"_pass")
        {
            return Some(Self::Password);
        }
        SECRETS.iter().any(|word| joined.ends_with(word)).then_some(Self::Secret)
    }
}

/// How a value is written, which says how much is sure about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Between quotation marks, or as a value of JSON.
    Quoted,
    /// By itself on a line behind `NAME=`, as in a file of settings.
    Line,
    /// Otherwise: it may be code.
    Bare,
}

/// Whether the value of a member of JSON is secret, given the member's name.
pub(super) fn is_secret_member(name: Name, value: &[u8]) -> bool {
    value.len() <= LONGEST_VALUE && is_secret(name, value, Written::Quoted)
}

/// The secret value of the name of which a part has been found; `None` if it is no such name, or has no such value.
pub(super) fn value_of(text: &[u8], found: Range<usize>) -> Option<(Name, Range<usize>)> {
    if text.get(found.clone())?.ends_with(b" ") {
        return scheme_value(text, found);
    }
    let rest = text.get(found.end..)?;
    // What was found may be in the middle: `apikey` of `apiKeys`, `secret` of `secret_access_key`.
    let end = found.end + text::run(rest, 2, |byte| byte.is_ascii_digit() || byte == b's');
    if text.get(end).is_some_and(|byte| Class::Hyphened.has(*byte)) {
        return None;
    }
    let before = text.get(..end)?.iter().rev().take(LONGEST_NAME);
    let start = end - before.take_while(|byte| Class::Dotted.has(**byte) && **byte != b'=').count();
    let start = start + colour_before(text, start, text.get(start..end)?);
    let name = text.get(start..end)?;
    if name.to_ascii_lowercase().ends_with(b"authorization") {
        let place = assigned(text, end, 0)?.0;
        return header_value(text, place);
    }
    let name_says = Name::of(name)?;
    let is_option = name.windows(2).any(|pair| pair == b"--");
    let (place, written) = match assigned(text, end, 0) {
        Some(found) => found,
        None if is_option => assigned_to_option(text, end)?,
        None => return None,
    };
    let is_setting = written == Written::Bare
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && text.get(end) == Some(&b'=')
        && stands_alone(text, start);
    let (place, written) = match is_setting {
        true => (to_end_of_word(text, place.start), Written::Line),
        false => (place, written),
    };
    is_secret(name_says, text.get(place.clone())?, written).then_some((name_says, place))
}

/// The value behind the name of a service: `DATADOG_API_KEY=…`.
pub(super) fn value_of_service(text: &[u8], name_end: usize) -> Option<Range<usize>> {
    assigned(text, name_end, 24).map(|(place, _)| place)
}

/// The password of a URL, given the place of its `://`.
pub(super) fn password_of_url(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at + 3;
    let rest = text.get(from..)?;
    let is_inside = |byte: u8| byte > b' ' && byte < 127 && !br#"/?#"'<>`\()"#.contains(&byte);
    let authority = rest.get(..text::run(rest, LONGEST_VALUE, is_inside))?;
    let end = memchr::memrchr(b'@', authority)?;
    let start = memchr::memchr(b':', authority.get(..end)?)? + 1;
    let password = authority.get(start..end)?;
    let is_open = password.iter().any(|byte| b"${}*[]%".contains(byte) && password.len() < 64)
        && !password.contains(&b'%');
    (password.len() >= 3 && !is_open && !is_word_for_one(password))
        .then_some(from + start..from + end)
}

/// Whether a password is a word for a password.
fn is_word_for_one(password: &[u8]) -> bool {
    let words =
        [&b"password"[..], b"pass", b"pwd", b"passwd", b"secret", b"token", b"xxx", b"redacted"];
    words.contains(&password.to_ascii_lowercase().as_slice())
        || password.starts_with(BEGINNING.as_bytes())
}

/// The password that `curl` is given for a user, as `-u user:password`, given the place behind the program's name (gitleaks,
/// `curl-auth-user`).
pub(super) fn password_of_curl(text: &[u8], from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let command = rest.get(..rest.len().min(LONGEST_COMMAND)).unwrap_or_default();
    // A line that ends with a backslash goes on.
    let ends = memchr::memchr_iter(b'\n', command).find(|&end| {
        let line = command.get(..end).unwrap_or_default();
        !line.trim_ascii_end().ends_with(b"\\")
    });
    let command = command.get(..ends.unwrap_or(command.len()))?;
    let after_option = |option: &[u8]| {
        let at = memchr::memmem::find(command, option)? + option.len();
        let skipped = text::run(command.get(at..)?, 8, |byte| b" =\t".contains(&byte));
        (skipped > 0).then_some(from + at + skipped)
    };
    let at = after_option(b" -u").or_else(|| after_option(b" --user"))?;
    let (place, _) = value_at(text, at)?;
    let value = text.get(place.clone())?;
    let start = memchr::memchr(b':', value)? + 1;
    let password = value.get(start..)?;
    let is_open = password.iter().any(|byte| b"${}<>*[]".contains(byte));
    let is_secret = password.len() >= 3
        && !is_open
        && !is_word_for_one(password)
        && !stands_for_one(password)
        && entropy(password) >= LEAST_ENTROPY_OF_USERS;
    is_secret.then_some(place.start + start..place.end)
}

/// The value behind `Bearer ` or `Basic `.
fn scheme_value(text: &[u8], found: Range<usize>) -> Option<(Name, Range<usize>)> {
    if !text::begins_a_word(text, found.start) {
        return None;
    }
    let rest = text.get(found.end..)?;
    let length = text::run(rest, 4096, |byte| Class::Dotted.has(byte) || b"~+/".contains(&byte));
    let place = found.end..found.end + length;
    let value = text.get(place.clone())?;
    let has_digit = value.iter().any(u8::is_ascii_digit);
    (length >= 16 && has_digit && is_secret(Name::Secret, value, Written::Quoted))
        .then_some((Name::Secret, place))
}

/// The value of a header `Authorization` that states no scheme, or another one than those that are found by themselves.
fn header_value(text: &[u8], place: Range<usize>) -> Option<(Name, Range<usize>)> {
    let rest = text.get(place.start..)?;
    let word = text::run(rest, 16, |byte| byte.is_ascii_alphabetic());
    let skipped = if rest.get(word) == Some(&b' ') { word + 1 } else { 0 };
    scheme_value(text, place.start + skipped..place.start + skipped).or_else(|| {
        let place = to_end_of_word(text, place.start);
        let value = text.get(place.clone())?;
        is_secret(Name::Secret, value, Written::Bare).then_some((Name::Secret, place))
    })
}

/// What is assigned behind a name's end: `= value`, `: "value"`, `=> 'value'`, `>value<`. `further` characters of the name
/// may follow first.
fn assigned(text: &[u8], name_end: usize, further: usize) -> Option<(Range<usize>, Written)> {
    let mut at = name_end;
    let mut skip = |most: usize, is_in: &dyn Fn(u8) -> bool| {
        let rest = text.get(at..).unwrap_or_default();
        let skipped = text::run(rest, most, is_in);
        at += skipped;
        skipped
    };
    skip(further, &|byte| Class::Hyphened.has(byte) || byte == b'.');
    skip(4, &|byte| br#"'"`\])"#.contains(&byte));
    skip(8, &|byte| byte == b' ' || byte == b'\t');
    if skip(3, &|byte| b":=>|?".contains(&byte)) == 0 {
        return None;
    }
    skip(8, &|byte| byte == b' ' || byte == b'\t');
    value_at(text, at)
}

fn assigned_to_option(text: &[u8], name_end: usize) -> Option<(Range<usize>, Written)> {
    let spaces = text::run(text.get(name_end..)?, 4, |byte| byte == b' ');
    if spaces == 0 {
        return None;
    }
    value_at(text, name_end + spaces)
}

/// The value that begins at a place.
fn value_at(text: &[u8], at: usize) -> Option<(Range<usize>, Written)> {
    let rest = text.get(at..)?;
    // A quotation mark that is itself in a quoted text has a backslash before it.
    let backslashes = text::run(rest, 4, |byte| byte == b'\\');
    let quote = *rest.get(backslashes)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        let ends = |byte: u8| byte <= b' ' || br#""'`,;\<>&"#.contains(&byte);
        let length = text::run(rest, LONGEST_VALUE, |byte| !ends(byte));
        return (length > 0).then_some((at..at + length, Written::Bare));
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
    None
}

/// Whether what begins at a place is a word by itself, not a part of an address.
fn stands_alone(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|last| text.get(last));
    before.is_none_or(|byte| !b"?&/.".contains(byte))
}

/// The length of the end of an escape by which a terminal changes its colour, if a name begins behind one.
fn colour_before(text: &[u8], start: usize, name: &[u8]) -> usize {
    let before = start.checked_sub(1).and_then(|last| text.get(last));
    let digits = text::run(name, 3, |byte| byte.is_ascii_digit());
    let is_colour =
        before.is_some_and(|byte| b"[;".contains(byte)) && name.get(digits) == Some(&b'm');
    if is_colour { digits + 1 } else { 0 }
}

fn to_end_of_word(text: &[u8], start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    start
        ..start
            + text::run(rest, LONGEST_VALUE, |byte| byte > b' ' && byte != b'"' && byte != b'\'')
}

/// Whether a value is a secret, and neither a word, nor code, nor a text that stands for a secret.
fn is_secret(name: Name, value: &[u8], written: Written) -> bool {
    let has = |is_in: fn(&u8) -> bool| value.iter().any(is_in);
    let (digits, letters) = (has(u8::is_ascii_digit), has(u8::is_ascii_alphabetic));
    if value.len() < SHORTEST || value.iter().any(u8::is_ascii_whitespace) || stands_for_one(value)
    {
        return false;
    }
    if written == Written::Bare && is_code(value) {
        return false;
    }
    match name {
        Name::Password => {
            let symbols = has(|byte| byte.is_ascii_punctuation() && !b"_-.:/".contains(byte));
            let is_mixed = digits && letters || symbols && (digits || letters);
            is_mixed && entropy(value) >= LEAST_ENTROPY_OF_PASSWORD
        }
        // What looks like a name, as that of a header, is one. Of random letters without a digit there must be more.
        Name::Secret if is_identifier(value) => false,
        Name::Secret => {
            let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
            (digits && letters || is_mixed && value.len() >= 32 && !is_words(value))
                && entropy(value) >= LEAST_ENTROPY
        }
    }
}

/// Whether a value is a variable, a path, or a word for a secret.
fn stands_for_one(value: &[u8]) -> bool {
    let begins = |beginning: &str| value.starts_with(beginning.as_bytes());
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    [
        "$", "{{", "<", "%(", "/", "./", "../", "~/", "http://", "https://", BEGINNING, "sha256:",
        "sha512-",
    ]
    .iter()
    .any(|beginning| begins(beginning))
        || STAND_INS.iter().any(|word| lower.contains(word))
        || value.windows(2).any(|pair| pair == b"${" || pair == b"$(" || pair == b"{{")
}

/// Whether a value without quotation marks is an expression of a program: a call, a member, a name, a type.
fn is_code(value: &[u8]) -> bool {
    if value.iter().any(|byte| b"()[]{}|*!?$".contains(byte))
        || value.windows(2).any(|pair| pair == b"::")
    {
        return true;
    }
    let value = value.trim_ascii_end();
    let value = value.strip_suffix(b".").or_else(|| value.strip_suffix(b":")).unwrap_or(value);
    value.split(|byte| *byte == b'.').all(is_identifier)
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

/// Whether its capitals are few enough to begin words.
fn is_words(value: &[u8]) -> bool {
    let capitals = value.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    capitals * 4 <= value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that are found in a text.
    fn found(text: &str) -> Vec<String> {
        let lower = text.to_ascii_lowercase();
        let mut found: Vec<String> = Vec::new();
        for sought in SOUGHT {
            for (at, _) in lower.match_indices(sought) {
                if let Some((_, place)) = value_of(text.as_bytes(), at..at + sought.len()) {
                    let value = text[place].to_owned();
                    if !found.contains(&value) {
                        found.push(value);
                    }
                }
            }
        }
        found
    }

    /// A value that looks random, built here so that no scanner takes it for a real one.
    fn random(length: usize) -> String {
        ["q7Rt", "x2Lm", "V9sa", "k4Wd", "p8Zb", "n3Hy"]
            .concat()
            .chars()
            .cycle()
            .take(length)
            .collect()
    }

    #[test]
    fn values_of_names_are_found_however_they_are_written() {
        let secret = random(20);
        for text in [
            format!("API_KEY={secret}"),
            format!("export DB_PASSWORD={secret}\nnext"),
            format!("api-key: {secret}"),
            format!("apiKey = \"{secret}\";"),
            format!("'client_secret' => '{secret}',"),
            format!("{{\"password\": \"{secret}\"}}"),
            format!("{{\\\"accessToken\\\":\\\"{secret}\\\"}}"),
            format!("mysql --password {secret} -h db"),
            format!("mysql --password={secret} -h db"),
            format!("<password>{secret}</password>"),
            format!("curl -H 'Authorization: Bearer {secret}' x"),
            format!("Authorization: token {secret}"),
            format!("?access_token={secret}&page=2"),
            format!("AWS_SECRET_ACCESS_KEY={secret}"),
            format!("password2: {secret}"),
            format!("  12\u{2192}SECRET_KEY_BASE={secret}"),
        ] {
            assert_eq!(found(&text), [secret.as_str()], "{text}");
        }
    }

    #[test]
    fn the_key_in_a_connection_string_is_found() {
        let key = [&random(80), "+/Zx1w=="].concat();
        let text = format!(
            "DefaultEndpointsProtocol=https;AccountName=tide;AccountKey={key};EndpointSuffix=core.windows.net"
        );
        assert_eq!(found(&text), [key.as_str()]);
    }

    #[test]
    fn a_password_may_have_any_characters() {
        let password = ["S3c", "r&t)", "!x9;"].concat();
        assert_eq!(found(&format!("DB_PASSWORD={password}\nPORT=1")), [password.as_str()]);
        assert_eq!(found(&format!("password: \"{password}\"")), [password.as_str()]);
    }

    #[test]
    fn words_code_and_stand_ins_are_no_secrets() {
        for text in [
            "password: string",
            "password = get_password(user1)",
            "token = request.headers2.token",
            "const token = next_token_2;",
            "\"input_tokens\": 12345678",
            "max_tokens=128000000",
            "PASSWORD=$DB_PASSWORD_1",
            "password: \"your-password-1\"",
            "API_KEY=xxxxxxxxxxxx1",
            "password: must be at least 8 characters",
            "key=AbCdEfGh12345",
            "nextPageToken: \"CAUQAA12bcd\"",
            "secret: /run/secrets/db1",
            "api_key=os.environ[\"API_KEY_1\"]",
            "token: &str,",
            "password_hash = \"a1b2c3d4e5f6\"",
            "if token == expected_token_1 {",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn the_password_that_curl_is_given_is_found() {
        let of = |text: &str| {
            let place = password_of_curl(text.as_bytes(), text.find("curl").unwrap() + 4)?;
            Some(text[place].to_owned())
        };
        let password = ["tide", "-", "41x"].concat();
        for text in [
            format!("curl -u robin:{password} https://a.example"),
            format!("curl -s -u \"robin:{password}\" https://a.example"),
            format!("curl --user=robin:{password} x | jq ."),
            format!("curl -X POST \\\n  --user 'robin:{password}' \\\n  x"),
        ] {
            assert_eq!(of(&text).as_deref(), Some(password.as_str()), "{text}");
        }
        for text in [
            "curl -u robin:$PASSWORD x",
            "curl -u robin:password x",
            "curl -u robin:<password> x",
            "curl -u robin x",
            "curl --user-agent a:b1c2d3 x",
            "curl x\n -u robin:tide-41x",
            "curl -u robin:aaaa x",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn the_password_of_a_url_is_found() {
        let of = |text: &str| {
            let place = password_of_url(text.as_bytes(), text.find("://").unwrap())?;
            Some(text[place].to_owned())
        };
        let password = ["tide", "-", "4"].concat();
        let url = format!("postgres://app:{password}@db.example:5432/app");
        assert_eq!(of(&url), Some(password));
        for text in [
            "https://example.com/a:b@c",
            "postgres://app:$PASSWORD@db",
            "postgres://user:password@db",
            "ssh://git@host:22/x",
            "https://a.b/?x=@y",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
