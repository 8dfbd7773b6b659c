//! What holds of any input.

use std::collections::HashMap;

use leafline_import::ecma::restringify;
use leafline_import::opal::{
    Draft, Parent, ParentId, Scanner, detect, encode, last_of_longest_path, with_parent_id,
    with_session,
};
use leafline_import::text::decode;
use proptest::prelude::*;
use serde_json::Value;

use crate::oracle::random::{Random, value};

/// Bytes of an Opal file that is valid for long before something is wrong.
fn near_opal() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            &b"{\"metadata\":{}"[..], b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r\n", b" ",
            b"\"id\"", b"\"parent_id\":", b"\"current_id\":", b"\"session_id\":\"s\"", b"\"role\":\"user\"",
            b"\"content\":\"", b"\"", b"\\ud800", b"\\u00", b"null", b"true", b"1.50", b"1e999", b"-0",
            b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"\0", b"\"tool_calls\":[{}]", b"\"type\":1",
        ]).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Any JSON, written in every way that JSON allows.
fn json() -> impl Strategy<Value = String> {
    any::<u64>().prop_map(|seed| {
        let mut text = String::new();
        value(&mut Random::new(seed), 4, &mut text);
        text
    })
}

/// The value, with its numbers as doubles; `None` if it holds a lone surrogate.
fn as_javascript_reads(text: &str) -> Option<Value> {
    let mut out = Vec::new();
    restringify(text, &mut out).unwrap();
    serde_json::from_slice(&out).ok()
}

/// The last of the longest path, by walking up from every message.
fn slow_leaf(messages: &[(u64, Option<u64>)]) -> Option<u64> {
    let parents: HashMap<u64, Option<u64>> = messages.iter().copied().collect();
    let length = |mut ordinal: u64| {
        let mut seen = vec![ordinal];
        while let Some(parent) = parents[&ordinal].filter(|parent| parents.contains_key(parent)) {
            if seen.contains(&parent) {
                return None;
            }
            seen.push(parent);
            ordinal = parent;
        }
        Some(seen.len())
    };
    let ends = messages.iter().filter_map(|&(ordinal, _)| Some((length(ordinal)?, ordinal)));
    ends.max().map(|(_, ordinal)| ordinal)
}

fn messages() -> impl Strategy<Value = Vec<(u64, Option<u64>)>> {
    // Few ordinals, so that there are branches, loops and orphans.
    (1_usize..30).prop_flat_map(|count| {
        let message = (prop::option::weighted(0.9, 0..count as u64 + 2), any::<u32>());
        prop::collection::vec(message, count).prop_map(|parents| {
            let mut messages: Vec<_> = (0..)
                .zip(parents)
                .map(|(ordinal, (parent, key))| (key, ordinal * 3, parent))
                .collect();
            messages.sort_unstable();
            messages
                .into_iter()
                .map(|(_, ordinal, parent)| (ordinal, parent.map(|parent| parent * 3)))
                .collect()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_are_survived(bytes in near_opal(), complete: bool) {
        let _ = detect(&bytes, complete);
        let text = decode(&bytes);
        let scan = Scanner::new().scan(&text);
        let _ = (scan.kind(), scan.id(), scan.parent(), scan.role(), scan.is_error());
        let _ = (scan.has_tool_calls(), scan.timestamp());
        if let Some(range) = scan.content_range() {
            prop_assert!(text.is_char_boundary(range.start) && text.is_char_boundary(range.end));
            prop_assert_eq!(text.as_bytes()[range.end], b'"');
        }
        let mut out = Vec::new();
        let encoded = encode(&text, &mut out);
        prop_assert_eq!(encoded.is_ok(), !out.is_empty());
        let _ = Draft::from_json(&text);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let mut moved = Vec::new();
            if with_parent_id(line, ParentId::Id(b"p"), &mut moved).is_ok() {
                let text = decode(&moved);
                prop_assert_eq!(Scanner::new().scan(&text).parent(), Parent::Id(b"p"[..].into()));
            }
            let _ = with_session(line, b"s", ParentId::Null, &mut moved);
        }
    }

    #[test]
    fn what_is_written_says_what_was_given(
        content in any::<String>(),
        id in any::<String>(),
        parent in prop::option::of(any::<String>()),
        (is_error, thinking) in any::<(bool, String)>(),
    ) {
        let mut draft = Draft::tool_result(&id, &content, is_error);
        draft.set_member("thinking", &Value::from(&*thinking).to_string()).unwrap();
        let parent_id = parent.as_ref().map_or(ParentId::Null, |id| ParentId::Id(id.as_bytes()));
        let mut line = Vec::new();
        draft.write(id.as_bytes(), parent_id, &mut line);
        let text = decode(&line);
        let scan = Scanner::new().scan(&text);
        prop_assert_eq!(scan.id(), Some(id.as_bytes().into()));
        let parent = parent.map_or(Parent::Root, |id| Parent::Id(id.into_bytes().into()));
        prop_assert_eq!(scan.parent(), parent);
        prop_assert_eq!(scan.content(), Some((&*content).into()));
        prop_assert_eq!(scan.is_error(), is_error);
        prop_assert!(scan.members.thinking.unwrap().is_text(&thinking));
        prop_assert_eq!(Draft::from_json(&text), Ok(draft));
    }

    #[test]
    fn encoding_keeps_values_and_is_stable(text in json()) {
        let mut out = Vec::new();
        encode(&text, &mut out).unwrap();
        let encoded = String::from_utf8(out).unwrap();
        let mut again = Vec::new();
        encode(&encoded, &mut again).unwrap();
        prop_assert_eq!(&again, encoded.as_bytes());
        prop_assert_eq!(as_javascript_reads(&encoded), as_javascript_reads(&text));
    }

    #[test]
    fn only_the_parent_changes(text in json(), parent in any::<String>()) {
        let line = format!("{{\"id\":\"m\",\"metadata\":{text},\"parent_id\":null}}");
        let mut moved = Vec::new();
        with_parent_id(line.as_bytes(), ParentId::Id(parent.as_bytes()), &mut moved).unwrap();
        let moved = String::from_utf8(moved).unwrap();
        let start = line.len() - "null}".len();
        prop_assert_eq!(&moved[..start], &line[..start]);
        let text = &moved[start..moved.len() - 1];
        prop_assert_eq!(serde_json::from_str::<String>(text).unwrap(), parent);
    }

    #[test]
    fn the_leaf_is_the_one_that_walking_finds(messages in messages()) {
        prop_assert_eq!(last_of_longest_path(messages.iter().copied()), slow_leaf(&messages));
    }
}
