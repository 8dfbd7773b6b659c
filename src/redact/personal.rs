//! What names a person rather than opens a door: e-mail addresses, and the user's name in the path of a home folder.

use std::ops::Range;

use super::placeholder::BEGINNING;
use super::text::{self, Class};

/// The beginnings of paths whose next part is a user's name, in small letters.
pub(super) const HOMES: [&str; 7] = [
    "/home/",
    "/users/",
    "\\users\\",
    "\\\\users\\\\",
    "-home-",
    "-users-",
    "/documents and settings/",
];

/// Names in such places that are nobody's.
const NOBODY: [&str; 4] = ["shared", "public", "default", "user"];

/// The e-mail address that has its `@` at a place.
pub(super) fn email(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_local = |byte: &&u8| Class::Hyphened.has(**byte) || b".%+".contains(byte);
    let local = text.get(..at)?.iter().rev().take(64).take_while(is_local).count();
    let domain = text.get(at + 1..)?;
    let domain = domain.get(
        ..text::run(domain, 255, |byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)),
    )?;
    let domain = domain.trim_ascii_end();
    let domain = domain.strip_suffix(b".").unwrap_or(domain);
    let last = domain.rsplit(|byte| *byte == b'.').next()?;
    let is_domain =
        domain.contains(&b'.') && last.len() >= 2 && last.iter().all(u8::is_ascii_alphabetic);
    let name = text.get(at - local..at)?;
    // The user of every clone by ssh.
    (local > 0 && is_domain && name != b"git").then_some(at - local..at + 1 + domain.len())
}

/// The user's name behind such a beginning of a path.
pub(super) fn user_of_home(text: &[u8], beginning: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(beginning.end..)?;
    let is_joined = text.get(beginning.end - 1) == Some(&b'-');
    let in_name = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || byte == b'_'
            || byte >= 128
            || !is_joined && b".-".contains(&byte)
    };
    let length = text::run(rest, 64, in_name);
    let name = rest.get(..length)?;
    let lower = String::from_utf8_lossy(name).to_ascii_lowercase();
    let is_somebody =
        length > 0 && !NOBODY.contains(&lower.as_str()) && !name.starts_with(BEGINNING.as_bytes());
    // In a folder's name that stands for a path, more of the path follows.
    let is_path =
        !is_joined || rest.get(length) == Some(&b'-') && text::begins_a_word(text, beginning.start);
    let is_placeholder = is_joined && name == b"REDACTED";
    (is_somebody && is_path && !is_placeholder).then_some(beginning.end..beginning.end + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_by_their_sign() {
        let of = |text: &str| Some(text[email(text.as_bytes(), text.find('@')?)?].to_owned());
        assert_eq!(
            of("<robin.doe+x@mail.example.org>."),
            Some("robin.doe+x@mail.example.org".into())
        );
        assert_eq!(of("Write to a@b.org."), Some("a@b.org".into()));
        for text in ["git@host.org:x", "@scope/name", "name@1.2.3", "a@b", "x @ y.org"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn the_user_is_the_part_behind_the_homes() {
        let of = |text: &str| {
            let lower = text.to_ascii_lowercase();
            let (at, home) = HOMES.iter().find_map(|home| Some((lower.find(home)?, home)))?;
            Some(text[user_of_home(text.as_bytes(), at..at + home.len())?].to_owned())
        };
        for text in [
            "/home/robin/work",
            "/Users/robin",
            "C:\\Users\\robin\\x",
            "a/-home-robin-work-x",
            "--home-robin-x--",
        ] {
            assert_eq!(of(text), Some("robin".into()), "{text}");
        }
        for text in ["/Users/Shared/x", "the-home-page", "/home/", "at-home-robin"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
