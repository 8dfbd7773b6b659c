//! Text as HTML.

/// Appends a text in which nothing is markup, neither between tags nor in an attribute with quotation marks.
pub(super) fn escape(text: &str, out: &mut String) {
    out.reserve(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => push_visible(character, out),
        }
    }
}

/// Appends a character, or what stands for it if it is not to be seen.
fn push_visible(character: char, out: &mut String) {
    match character {
        // Not allowed in HTML, and shown as such.
        '\0' => out.push('\u{2400}'),
        '\u{1b}' => out.push('\u{241b}'),
        // What turns the direction of what follows is shown as what it is.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            out.push_str(&format!("[U+{:04X}]", u32::from(character)));
        }
        _ => out.push(character),
    }
}

/// A text whose characters are all seen, as [`escape`] shows them.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|character| push_visible(character, &mut out));
    out
}

/// The same, as a text of its own.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    escape(text, &mut out);
    out
}

/// Whether a link may lead there: to another place of the web, and nowhere else.
pub(super) fn is_link(address: &str) -> bool {
    let begins = |scheme: &str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins("https://") || begins("http://")
}

/// Appends a link, or only its text if it may not lead there.
pub(super) fn open_link(address: &str, out: &mut String) {
    out.push_str("<a rel=\"noreferrer noopener\" target=\"_blank\" href=\"");
    escape(address, out);
    out.push_str("\">");
}

/// Appends a plain text, with the addresses in it as links.
pub(super) fn linked(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find("http") {
        let (before, behind) = rest.split_at(at);
        escape(before, out);
        let end = behind
            .find(|character: char| {
                character.is_whitespace()
                    || character.is_control()
                    || "<>\"'`\\{}|^".contains(character)
            })
            .unwrap_or(behind.len());
        let (mut address, _) = behind.split_at(end);
        address = address.trim_end_matches(|last| ".,;:!?)]*_".contains(last));
        if is_link(address) && address.len() > 8 && address.len() < 2000 {
            open_link(address, out);
            escape(address, out);
            out.push_str("</a>");
            rest = behind.get(address.len()..).unwrap_or_default();
        } else {
            out.push_str("http");
            rest = behind.get(4..).unwrap_or_default();
        }
    }
    escape(rest, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped("<a b=\"c\" d='&'>\0"),
            "&lt;a b=&quot;c&quot; d=&#39;&amp;&#39;&gt;\u{2400}"
        );
        assert_eq!(escaped("a\u{202e}b"), "a[U+202E]b");
        assert_eq!(visible("<\0\u{1b}\u{2066}>"), "<\u{2400}\u{241b}[U+2066]>");
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        for address in ["https://a.b", "HTTP://a.b"] {
            assert!(is_link(address), "{address}");
        }
        for address in
            ["javascript:alert(1)", "data:text/html,x", " https://a", "file:///x", "//a.b", ""]
        {
            assert!(!is_link(address), "{address}");
        }
        let mut out = String::new();
        linked("see https://a.b/c?d=1&e. or http: and \"https://x.y\"><img>", &mut out);
        assert!(
            out.contains(
                "href=\"https://a.b/c?d=1&amp;e\">https://a.b/c?d=1&amp;e</a>. or http: and"
            ),
            "{out}"
        );
        assert!(out.contains("</a>&quot;&gt;&lt;img&gt;"), "{out}");
    }
}
