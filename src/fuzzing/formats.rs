//! Targets of the formats: bytes to lines to records.

use std::borrow::Cow;

use leafline_import::lines::{BlockReader, LineTooLong, split};
use leafline_import::scan::{Payload, PayloadKind, Raw, Scanner, Shape};
use leafline_import::text::{decode, is_blank};
use serde::de::IgnoredAny;

/// Lines and blocks put together are the file, wherever they are cut.
pub(super) fn lines(data: &[u8]) {
    let Some((&[target, longest], file)) = data.split_first_chunk() else { return };
    let split: Vec<_> = split(file).collect();
    assert_eq!(split.concat(), file);
    for (place, line) in split.iter().enumerate() {
        let inside = line.strip_suffix(b"\n");
        assert!(inside.is_some() || place + 1 == split.len());
        assert!(!inside.unwrap_or(line).contains(&b'\n') && !line.is_empty());
    }

    let longest = u64::from(longest);
    let mut reader = BlockReader::new(file, target.into()).longest_line(longest).beginning_at(7);
    let mut read = Vec::new();
    let failed = loop {
        match reader.next_block(Vec::new()) {
            Ok(Some(block)) => {
                read.extend_from_slice(&block);
                assert!(block.ends_with(b"\n") || read.len() == file.len());
            }
            Ok(None) => break None,
            Err(error) => {
                let inner = error.into_inner().expect("no source fails here");
                break Some(*inner.downcast::<LineTooLong>().expect("a line is too long"));
            }
        }
    };
    let length = |line: &[u8]| line.strip_suffix(b"\n").unwrap_or(line).len() as u64;
    let mut at = 7;
    let mut too_long = None;
    for line in &split {
        if length(line) > longest {
            too_long = Some(LineTooLong { at, longest });
            break;
        }
        at += line.len() as u64;
    }
    assert_eq!(failed, too_long);
    assert!(file.starts_with(&read));
    if failed.is_none() {
        assert_eq!(read, file);
    }
}

/// The scanner accepts the lines that are JSON, and no others; what it finds in them is there.
pub(super) fn scan(data: &[u8]) {
    let mut scanner = Scanner::new();
    for line in split(data) {
        let text = decode(line);
        scan_line(&mut scanner, &text);
    }
}

fn scan_line(scanner: &mut Scanner, text: &str) {
    let scan = scanner.scan(text);
    // Values that are skipped are only checked against the grammar: no bound of nesting, surrogates or numbers.
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    assert_eq!(is_json, matches!(scan.shape, Shape::Scalar | Shape::Object), "{text:?}");
    assert_eq!(is_blank(text), scan.shape == Shape::Blank, "{text:?}");
    if scan.shape != Shape::Object {
        assert_eq!(scan.members, Default::default());
        assert!(scanner.payloads().is_empty() || scan.shape == Shape::Scalar);
    }
    let mut end = 0;
    for payload in scanner.payloads() {
        assert!(payload.start >= end && payload.end >= payload.start);
        end = payload.end;
        check_payload(text, payload);
    }
    if let Ok(raw) = Raw::parse(text) {
        assert!(is_json);
        look_into(raw, 0);
        let members = scan.members;
        assert_eq!(members.id, raw.member("id"));
        assert_eq!(members.data, raw.member("data"));
        assert_eq!(members.message, raw.member("message"));
        let within = |name| raw.member("message").and_then(|message| message.member(name));
        assert_eq!(members.message_role, within("role"));
        assert_eq!(members.message_content, within("content"));
    }
}

fn check_payload(text: &str, payload: &Payload) {
    let content = text.get(payload.range()).expect("a payload is a part of the text");
    assert!(!content.contains(['"', '\\']));
    match payload.kind {
        PayloadKind::Base64 => assert!(content.len().is_multiple_of(4)),
        PayloadKind::Reference => assert_eq!(content.len(), 76),
    }
}

/// Asks a value everything that can be asked of it.
fn look_into(raw: Raw<'_>, depth: usize) {
    let text = raw.as_str();
    let kinds = [raw.is_null(), raw.is_string(), raw.is_number(), raw.is_object(), raw.is_array()];
    let known = kinds.into_iter().filter(|is| *is).count();
    assert_eq!(known, usize::from(text != "true" && text != "false"));
    let _ = raw.is_truthy();
    assert_eq!(raw.as_f64().is_some(), raw.is_number());
    assert_eq!(raw.as_string().is_some(), raw.is_string());
    if let Some(Cow::Borrowed(value)) = raw.as_string() {
        assert_eq!(value, &text.as_bytes()[1..text.len() - 1]);
    }
    if depth < 4 {
        raw.elements().for_each(|element| look_into(element, depth + 1));
        for name in ["", "id", "message", "content", "data"] {
            if let Some(member) = raw.member(name) {
                look_into(member, depth + 1);
            }
        }
    }
}
