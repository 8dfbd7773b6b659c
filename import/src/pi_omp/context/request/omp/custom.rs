//! Messages of extensions.

use super::super::object::{self, is_text};
use super::super::words;
use super::{Output, steering};
use crate::scan::Raw;

/// What another user says in a session that is shared.
const COLLABORATION: &str = "collab-prompt";

/// A skill that the user asked for.
const SKILL: &str = "skill-prompt";

/// Passes on what omp makes of a message of an extension, or of a hook, as they were called before.
pub(super) fn convert<E>(
    role: &str,
    message: Raw<'_>,
    out: &mut Output<'_, '_, E>,
) -> Result<(), E> {
    let [name, content, by, time] =
        message.members(["customType", "content", "attribution", "timestamp"]);
    let content = content.filter(|content| content.is_string() || content.is_array());
    let Some(content) = content else { return Ok(()) };
    let is_by_user = role == "custom" && is_text(by, "user");
    if is_by_user && is_text(name, COLLABORATION) {
        let wrapped = steering::wrapped(Some(content));
        let content = wrapped.as_deref().unwrap_or(content.as_str());
        return out.made("user", |made| {
            made.json("content", content.as_bytes())
                .text("attribution", b"user")
                .member("timestamp", time)
        });
    }
    let blocks = if content.is_string() {
        object::list([&object::block_of(Some(content))[..]])
    } else {
        content.as_str().as_bytes().to_vec()
    };
    if is_by_user && is_text(name, SKILL) {
        return out.made("user", |made| {
            made.json("content", &blocks).text("attribution", b"user").member("timestamp", time)
        });
    }
    let of_type = |kind: &'static str| {
        let blocks = content.elements().filter(move |block| is_text(block.member("type"), kind));
        blocks.map(|block| block.as_str().as_bytes())
    };
    if of_type("image").next().is_none() {
        return out.made("developer", |made| {
            made.json("content", &blocks).member("attribution", by).member("timestamp", time)
        });
    }
    // Images go to the model as the user's only.
    if of_type("text").next().is_some() {
        let texts = object::list(of_type("text"));
        out.made("developer", |made| {
            made.json("content", &texts).member("attribution", by).member("timestamp", time)
        })?;
    }
    let mut text = b"Images attached to ".to_vec();
    words::push(name, &mut text);
    text.push(b'.');
    let text = object::text_block(&text);
    let images = object::list(std::iter::once(&text[..]).chain(of_type("image")));
    out.made("user", |made| {
        made.json("content", &images).member("attribution", by).member("timestamp", time)
    })
}
