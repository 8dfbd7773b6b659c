//! Targets of the text of JSON values: what is read of it, and how it is written again.

use leafline_import::ecma::{restringify, write_number, write_string};
use leafline_import::scan::{PayloadKind, Raw, Scanner};
use leafline_import::text::decode;
use serde::de::IgnoredAny;

use crate::store::blobs;

/// Values that nest deeper are not compared.
const DEEPEST: usize = 40;

/// A text is JSON or not, whoever reads it; written again it is the same value, and stays as it is then.
pub(super) fn json(data: &[u8]) {
    let text = decode(data);
    let raw = Raw::parse(&text);
    let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
    assert_eq!(raw.is_ok(), is_json, "{text:?}");
    let mut written = Vec::new();
    let is_written = restringify(&text, &mut written).is_ok();
    assert_eq!(is_written, is_json, "{text:?}");
    let Ok(raw) = raw else {
        assert!(written.is_empty());
        return;
    };
    let written = String::from_utf8(written).expect("surrogates are written as escapes");
    let mut again = Vec::new();
    restringify(&written, &mut again).expect("what was written is JSON");
    assert_eq!(again, written.as_bytes());
    same(raw, Raw::parse(&written).expect("what was written is JSON"), 0);
}

/// Both texts have the same value, but for members that are repeated or in another order.
fn same(was: Raw<'_>, is: Raw<'_>, depth: usize) {
    if let Some(number) = was.as_f64() {
        number_comes_back(was.as_str());
        // `JSON.stringify` writes `null` for a number that is out of range, and 0 for -0.
        let expected = number.is_finite().then_some(number);
        assert_eq!(is.as_f64(), expected, "{was:?}");
        return;
    }
    assert_eq!(was.as_string(), is.as_string());
    if let Some(value) = was.as_string() {
        let mut written = Vec::new();
        write_string(&value, &mut written);
        assert_eq!(written, is.as_str().as_bytes());
    }
    let kinds = |raw: Raw<'_>| [raw.is_null(), raw.is_object(), raw.is_array(), raw.is_truthy()];
    assert_eq!(kinds(was), kinds(is));
    if depth == DEEPEST {
        return;
    }
    assert_eq!(was.elements().count(), is.elements().count());
    for (was, is) in was.elements().zip(is.elements()) {
        same(was, is, depth + 1);
    }
    for name in ["", "id", "type", "message", "content", "data", "1"] {
        let (was, is) = (was.member(name), is.member(name));
        assert_eq!(was.is_some(), is.is_some(), "{name:?}");
        if let Some((was, is)) = was.zip(is) {
            same(was, is, depth + 1);
        }
    }
}

fn number_comes_back(text: &str) {
    let mut written = Vec::new();
    write_number(text, &mut written);
    let written = String::from_utf8(written).expect("a number is ASCII");
    let read = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    assert_eq!(read(&written), read(text), "{text}");
}

/// What the scanner takes for a blob, or for a reference to one, is one.
pub(super) fn references(data: &[u8]) {
    let mut scanner = Scanner::new();
    let text = decode(data);
    let _ = scanner.scan(&text);
    for payload in scanner.payloads() {
        let content = text.get(payload.range()).expect("a payload is a part of the text");
        assert_eq!(text.as_bytes().get(payload.start.wrapping_sub(1)), Some(&b'"'));
        assert_eq!(text.as_bytes().get(payload.end), Some(&b'"'));
        if payload.kind == PayloadKind::Reference {
            let hex = content.strip_prefix("blob:sha256:").expect("a reference begins so");
            let hash = blobs::from_hex(hex.as_bytes()).expect("it goes on with a hash");
            assert_eq!(blobs::hex(&hash), hex);
        }
    }
    // Any text in a hash's place.
    for word in data.split(|byte| !byte.is_ascii_alphanumeric()) {
        if let Some(hash) = blobs::from_hex(word) {
            assert_eq!(blobs::hex(&hash).as_bytes(), word);
        }
    }
}
