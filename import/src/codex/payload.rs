//! Images and other files in a line, as base64.

use crate::scan::{Payload, PayloadKind, PayloadPlace, SMALLEST_BASE64, is_base64};

/// How far into a data URL its base64 is searched for.
const LONGEST_MEDIA_TYPE: usize = 256;

/// The payload in a string without escapes, given the place of its content.
///
/// A payload is the base64 of a data URL that is an `image_url` or a `url`, or an element of a list (the `images` of a
/// `user_message`); or a `result` or `data` that is nothing but base64. No other string is examined: text that the user
/// or the model wrote stays in its line.
#[inline]
pub(super) fn find(text: &str, start: usize, end: usize) -> Option<Payload> {
    if end - start < SMALLEST_BASE64 {
        return None;
    }
    let content = text.get(start..end)?;
    let holder = holder(text.get(..start)?.strip_suffix('"')?)?;
    let offset = match holder {
        Holder::List | Holder::Member("image_url" | "url") => base64_in_url(content)?,
        Holder::Member("result" | "data") => 0,
        Holder::Member(_) => return None,
    };
    is_base64(&content.as_bytes()[offset..]).then_some(Payload {
        start: start + offset,
        end,
        place: PayloadPlace::Other,
        kind: PayloadKind::Base64,
    })
}

/// What holds a value.
enum Holder<'a> {
    List,
    Member(&'a str),
}

/// The member or list that holds the value after a text. If the name has escapes, only its end may be found, which
/// matches none of the names.
fn holder(before: &str) -> Option<Holder<'_>> {
    let before = before.trim_ascii_end();
    if before.ends_with(['[', ',']) {
        return Some(Holder::List);
    }
    let named = before.strip_suffix(':')?.trim_ascii_end().strip_suffix('"')?;
    let start = named.rfind('"')?;
    Some(Holder::Member(&named[start + 1..]))
}

/// Where the base64 of a data URL begins.
fn base64_in_url(url: &str) -> Option<usize> {
    const MARK: &[u8] = b";base64,";
    let beginning = url.as_bytes().get(..LONGEST_MEDIA_TYPE)?;
    let place = beginning.windows(MARK.len()).position(|window| window == MARK)?;
    url.starts_with("data:").then_some(place + MARK.len())
}

#[cfg(test)]
mod tests {
    use crate::codex::Scanner;
    use crate::scan::SMALLEST_BASE64;

    fn payloads(text: &str) -> Vec<String> {
        let mut scanner = Scanner::new();
        scanner.scan(text);
        scanner.payloads().iter().map(|payload| text[payload.range()].to_owned()).collect()
    }

    #[test]
    fn images_wherever_they_stand() {
        let data = "QUJD".repeat(SMALLEST_BASE64 / 4);
        let url = format!("data:image/png;base64,{data}");
        for text in [
            format!(
                r#"{{"payload":{{"content":[{{"type":"input_image","image_url":"{url}"}}]}}}}"#
            ),
            format!(r#"{{"payload":{{"images":["{url}"]}}}}"#),
            format!(
                r#"{{"payload":{{"item":{{"content":[{{"type":"image", "url" : "{url}"}}]}}}}}}"#
            ),
            format!(r#"{{"payload":{{"type":"image_generation_call","result":"{data}"}}}}"#),
        ] {
            assert_eq!(payloads(&text), [&*data], "{text}");
        }
        let two = format!(r#"{{"payload":{{"images":["{url}","{url}"]}}}}"#);
        assert_eq!(payloads(&two).len(), 2);
    }

    #[test]
    fn what_is_no_image_stays() {
        let data = "QUJD".repeat(SMALLEST_BASE64 / 4);
        let url = format!("data:image/png;base64,{data}");
        for text in [
            format!(r#"{{"payload":{{"content":[{{"type":"input_text","text":"{url}"}}]}}}}"#),
            format!(r#"{{"payload":{{"message":"{url}"}}}}"#),
            format!(r#"{{"payload":{{"image_url":"{data}"}}}}"#),
            format!(r#"{{"payload":{{"image_url":"https://x/;base64,{data}"}}}}"#),
            format!(r#"{{"payload":{{"image_url":"{url}\u0041AAA"}}}}"#),
            format!(r#"{{"payload":{{"image_url":"{url}"}}"#),
            format!(r#"{{"payload":{{"im\"image_url":"{url}A"}}}}"#),
            r#"{"payload":{"image_url":"data:image/png;base64,QUJD"}}"#.to_owned(),
        ] {
            assert_eq!(payloads(&text), [""; 0], "{text}");
        }
    }
}
