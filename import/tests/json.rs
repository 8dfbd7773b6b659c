//! Scanning and rewriting agree with `JSON.parse` and `JSON.stringify`.
//!
//! Guards against numbers, escapes and key orders that JavaScript would write differently.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod oracle;

use leafline_import::ecma::restringify;
use leafline_import::scan::{Scanner, Shape};
use oracle::random::{Random, damage, value};
use proptest::prelude::*;

fn texts(count: u64) -> Vec<String> {
    (0..count)
        .map(|seed| {
            let mut random = Random::new(seed);
            let mut text = String::new();
            value(&mut random, 5, &mut text);
            if random.one_in(3) {
                text = damage(&mut random, &text);
            }
            text
        })
        .collect()
}

fn rewritten(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    restringify(text, &mut out).ok()?;
    Some(out)
}

#[test]
fn node_gives_the_same_bytes() {
    if !oracle::has_node("node_gives_the_same_bytes") {
        return;
    }
    let texts = texts(20_000);
    let answers = oracle::stringify_all(&texts);
    let mut scanner = Scanner::new();
    let mut accepted = 0;
    for (text, answer) in texts.iter().zip(answers) {
        let ours = rewritten(text);
        assert_eq!(
            ours.as_deref().map(String::from_utf8_lossy),
            answer.as_deref().map(String::from_utf8_lossy),
            "{text:?}"
        );
        let shape = scanner.scan(text).shape;
        assert_eq!(matches!(shape, Shape::Object | Shape::Scalar), answer.is_some(), "{text:?}");
        accepted += usize::from(answer.is_some());
    }
    assert!(accepted > texts.len() / 2 && accepted < texts.len());
}

proptest! {
    /// serde_json has the same grammar, except for lone surrogates, numbers out of range, and deep nesting.
    #[test]
    fn serde_json_accepts_the_same(text in r#"[{}\[\],:"\\u0-9a-f.eE+\- \ttruefalsn]{0,24}"#) {
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
        let ours = rewritten(&text).is_some();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn any_bytes_can_be_scanned(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = leafline_import::text::decode(&bytes);
        prop_assert_eq!(&*text, &*String::from_utf8_lossy(&bytes));
        let scan = Scanner::new().scan(&text);
        prop_assert_eq!(
            rewritten(&text).is_some(),
            matches!(scan.shape, Shape::Object | Shape::Scalar)
        );
    }

    #[test]
    fn any_text_can_be_unescaped_and_quoted(text in any::<String>()) {
        let mut quoted = Vec::new();
        leafline_import::ecma::write_string(text.as_bytes(), &mut quoted);
        let theirs = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(&*quoted, theirs.as_bytes());
        let _ = leafline_import::text::unescape(&text);
    }

    #[test]
    fn rewriting_twice_changes_nothing(seed in any::<u64>()) {
        let mut text = String::new();
        value(&mut Random::new(seed), 5, &mut text);
        let once = rewritten(&text).unwrap();
        let twice = rewritten(std::str::from_utf8(&once).unwrap()).unwrap();
        prop_assert_eq!(once, twice);
    }
}
