//! The values of names that say that they are secret: `password=…`, `"api_key": "…"`, `Authorization: Bearer …`, the
//! signature in an address, and what a command is given as `--token …`.

use std::ops::Range;

use super::judge::is_secret;
use super::text::{self, Class};
use super::value::{self, LONGEST_VALUE, Written};

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
pub(super) const SOUGHT: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pass",
    "secret",
    "token",
    "key",
    "credential",
    "key_base",
    "authorization",
    "auth",
    "bearer ",
    "basic ",
];

/// Of addresses that let in whoever has them, the member that does (Azure, Amazon, Google).
pub(super) const SIGNATURES: [&str; 2] = ["sig=", "signature="];

/// The longest name.
const LONGEST_NAME: usize = 64;

/// The shortest signature: 256 bits in base64.
const SHORTEST_SIGNATURE: usize = 43;

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Password,
    Secret,
    /// A user's name and password in base64.
    Login,
}

impl Name {
    /// The kind of its values.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Password | Self::Login => "password",
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
        if PASSWORDS.iter().any(|word| joined.ends_with(word)) || ends_with_pass(name) {
            return Some(Self::Password);
        }
        if joined == "auth" {
            return Some(Self::Login);
        }
        SECRETS.iter().any(|word| joined.ends_with(word)).then_some(Self::Secret)
    }
}

/// Whether the last word of a name is `pass`, as in `DB_PASS` and `dbPass`, and not in `bypass`.
fn ends_with_pass(name: &[u8]) -> bool {
    let Some(before) = name.len().checked_sub(4) else { return false };
    let (before, last) = name.split_at(before);
    let is_own_word = match before.last() {
        None => true,
        Some(byte) if byte.is_ascii_lowercase() => last.starts_with(b"P"),
        Some(byte) => !byte.is_ascii_uppercase(),
    };
    last.eq_ignore_ascii_case(b"pass") && is_own_word
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
        let place = value::assigned(text, start..end, 0)?.0;
        return header_value(text, place.start);
    }
    let name_says = Name::of(name)?;
    let (place, written) = value::of_variable(text, start..end)
        .or_else(|| value::assigned(text, start..end, 0))
        .or_else(|| value::of_option(text, start..end))?;
    is_secret(name_says, text.get(place.clone())?, written).then_some((name_says, place))
}

/// The value behind the name of a service: `DATADOG_API_KEY=…`.
pub(super) fn value_of_service(text: &[u8], name: Range<usize>) -> Option<Range<usize>> {
    let (place, _) = value::assigned(text, name, 24)?;
    let value = text.get(place.clone())?;
    let length = text::run(value, LONGEST_VALUE, |byte| !b"\"'`\\<>;,&".contains(&byte));
    Some(place.start..place.start + length)
}

/// The signature of an address, given the place of its member.
pub(super) fn signature(text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(..found.start)?;
    let name = before.iter().rev().take(16).take_while(|byte| Class::Hyphened.has(**byte)).count();
    let is_in_address = before.len().checked_sub(name + 1).and_then(|last| before.get(last));
    if !is_in_address.is_some_and(|byte| b"?&;".contains(byte)) {
        return None;
    }
    let in_value = |byte: u8| Class::Base64.has(byte) || b"%-_".contains(&byte);
    let length = text::run(text.get(found.end..)?, 2 * LONGEST_VALUE, in_value);
    let place = found.end..found.end + length;
    let value = text.get(place.clone())?;
    (length >= SHORTEST_SIGNATURE && is_secret(Name::Secret, value, Written::Quoted))
        .then_some(place)
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
    let is_login = is_secret(Name::Login, value, Written::Quoted);
    let is_token = length >= 16 && has_digit && is_secret(Name::Secret, value, Written::Quoted);
    (is_token || is_login).then_some((Name::Secret, place))
}

/// The value of a header `Authorization` that states no scheme, or another one than those that are found by themselves.
fn header_value(text: &[u8], start: usize) -> Option<(Name, Range<usize>)> {
    let rest = text.get(start..)?;
    let word = text::run(rest, 16, |byte| byte.is_ascii_alphabetic());
    let skipped = if rest.get(word) == Some(&b' ') { word + 1 } else { 0 };
    scheme_value(text, start + skipped..start + skipped).or_else(|| {
        let is_of_word = |byte: u8| byte > b' ' && byte != b'"' && byte != b'\'';
        let place = start..start + text::run(rest, LONGEST_VALUE, is_of_word);
        let value = text.get(place.clone())?;
        is_secret(Name::Secret, value, Written::Bare).then_some((Name::Secret, place))
    })
}

/// The length of the end of an escape by which a terminal changes its colour, if a name begins behind one.
fn colour_before(text: &[u8], start: usize, name: &[u8]) -> usize {
    let before = start.checked_sub(1).and_then(|last| text.get(last));
    let digits = text::run(name, 3, |byte| byte.is_ascii_digit());
    let is_colour =
        before.is_some_and(|byte| b"[;".contains(byte)) && name.get(digits) == Some(&b'm');
    if is_colour { digits + 1 } else { 0 }
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
            format!("os.environ.get(\"DB_PASSWORD\", \"{secret}\")"),
            format!("password = b'{secret}'"),
            format!("<add key=\"Password\" value=\"{secret}\" />"),
            format!("- name: DB_PASSWORD\n  value: {secret}\n"),
            format!("**Password**: {secret}"),
            format!("**Password:** `{secret}`"),
            format!("| password | {secret} |"),
            format!("const key = process.env.API_KEY || '{secret}';"),
            format!("dbPass: {secret}"),
            format!("password: \"{secret}"),
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
            "password: Option<String2>,",
            "password: &'static str2,",
            "password: z.string().min(8).max(72),",
            "password: this.form.value.password1!,",
            "password = await hash(input1, 10);",
            "password: hashed_password1",
            "password = first2 + other22",
            "password: user?.password2 ?? other1",
            "passwordField: '#password1'",
            "password: [hidden:12]",
            "PWD=/work/tide/3fa9-x1",
            "OLDPWD=C:\\Users\\robin1",
            "password: %DB_PASSWORD_1%",
            "PASS: test_names_2 (12.5 ms)",
            "bypass=a1b2c3d4e5",
            "author: a1b2c3d4e5",
            "auth: dGhlIHdvcmRz",
            "password: ${{ secrets.DB_1 }}",
            "password=$(openssl rand -base64 12)",
            "password: /^[a-z0-9]{8,}$/",
            "<input type=password name=password1>",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
