//! The passwords that stand behind a user's name: in a URL, and as an option of `curl`.

use std::ops::Range;

use super::judge::is_users_password;
use super::text;
use super::value::{Before, LONGEST_VALUE, value_at};

/// The longest part of a command that is looked at.
const LONGEST_COMMAND: usize = 2048;

/// The password of a URL, given the place of its `://`.
pub(super) fn password_of_url(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at + 3;
    let rest = text.get(from..)?;
    let is_inside = |byte: u8| byte > b' ' && byte < 127 && !br#"/?#"'`\"#.contains(&byte);
    let authority = rest.get(..text::run(rest, LONGEST_VALUE, is_inside))?;
    let end = memchr::memrchr(b'@', authority)?;
    let start = memchr::memchr(b':', authority.get(..end)?)? + 1;
    is_users_password(authority.get(start..end)?).then_some(from + start..from + end)
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
    let (place, _) = value_at(text, at, Before::of(text, at))?;
    let value = text.get(place.clone())?;
    let start = memchr::memchr(b':', value)? + 1;
    is_users_password(value.get(start..)?).then_some(place.start + start..place.end)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let odd = ["p$s", "*w[0", "(rd)"].concat();
        assert_eq!(of(&format!("amqp://app:{odd}@queue:5672/x")), Some(odd));
        for text in [
            "https://example.com/a:b@c",
            "postgres://app:$PASSWORD@db",
            "postgres://user:password@db",
            "postgres://<user>:<password>@db",
            "postgres://{user}:{password}@db",
            "postgres://user:${PASSWORD}@db",
            "ssh://git@host:22/x",
            "https://a.b/?x=@y",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
