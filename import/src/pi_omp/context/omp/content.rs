//! A turn's content without the tool calls that have no result.

use std::collections::HashSet;

use super::key::{Key, key};
use crate::ecma::Document;
use crate::scan::Raw;

/// Writes the blocks of a turn's content without the calls that have no result. What a provider would refuse in a changed
/// turn is left out as well: redacted thinking, and the signatures of other thinking.
pub(super) fn without_loose_calls(content: Raw<'_>, results: &HashSet<Key>) -> String {
    let mut out = vec![b'['];
    for block in content.elements() {
        let [name, id, signature] = block.members(["type", "id", "thinkingSignature"]);
        let is = |other: &str| name.is_some_and(|name| name.is_text(other));
        let is_loose = is("toolCall") && !key(id).is_some_and(|id| results.contains(&id));
        if is_loose || is("redactedThinking") {
            continue;
        }
        // An element of what has been parsed is JSON.
        let Ok(mut document) = Document::parse(block.as_str()) else { continue };
        if is("thinking") && signature.is_some_and(Raw::is_truthy) {
            document.remove("thinkingSignature");
        }
        if out.len() > 1 {
            out.push(b',');
        }
        document.write(&mut out);
    }
    out.push(b']');
    String::from_utf8(out).expect("what is written from text is text: lone surrogates are escapes")
}
