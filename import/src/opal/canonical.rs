//! One text for all forms in which a message may be written.

use crate::opal::{Draft, Parent, ParentId, Scanner, encode_sorted};
use crate::text::trim_start_of_file;

/// A line with sorted members, without those of a message that say nothing; `None` if it is not JSON.
pub(super) fn canonical(text: &str) -> Option<Vec<u8>> {
    let text = trim_start_of_file(text);
    let mut sorted = Vec::with_capacity(text.len());
    match rewritten(text) {
        Some(message) => encode_sorted(&message, &mut sorted),
        None => encode_sorted(text, &mut sorted),
    }
    .ok()?;
    Some(sorted)
}

/// The message as Opal would write it; `None` if it is not one of its messages.
fn rewritten(text: &str) -> Option<String> {
    let line = Scanner::new().scan(text);
    let draft = Draft::from_json(text).ok()?;
    let (id, parent) = (line.id()?, line.parent());
    let parent = match &parent {
        Parent::Root => ParentId::Null,
        Parent::Id(id) => ParentId::Id(id),
        Parent::NoId => return None,
    };
    let mut message = Vec::with_capacity(text.len());
    draft.write(&id, parent, &mut message);
    String::from_utf8(message).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_for_all_forms_of_a_message() {
        let forms = [
            r#"{"id":"m","role":"user","content":"Hi","parent_id":null,"metadata":{"b":1.0,"a":2}}"#,
            r#" {"metadata":{"a":2,"b":10e-1},"is_error":false,"id":"m","tool_calls":[],"role":"user","content":"\u0048i"}"#,
        ];
        let found = forms.map(canonical);
        assert!(found[0].is_some() && found[0] == found[1], "{found:?}");
        for other in [
            r#"{"id":"m","role":"user","content":"Hi","parent_id":"p","metadata":{"b":1.0,"a":2}}"#,
            r#"{"id":"m","role":"user","content":"Hi","parent_id":null,"metadata":{"b":1,"a":2}}"#,
            r#"{"id":"m","role":"user","content":"Hi","parent_id":null,"metadata":{"b":1.0,"a":2},"x":0}"#,
        ] {
            assert_ne!(canonical(other), found[0], "{other}");
        }
        assert_eq!(
            canonical(r#"{"b":1,"a":{"d":1,"c":2}}"#),
            canonical(r#"{"a":{"c":2,"d":1},"b":1}"#)
        );
        assert_eq!(canonical("{torn"), None);
    }
}
