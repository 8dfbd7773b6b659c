//! What the user says while the model works.

use super::super::object;
use super::prompt;
use crate::scan::Raw;
use crate::text;

/// The content of such a message with omp's words around its text: all blocks of text as one, and the images below. `None`
/// if it has no text.
pub(super) fn wrapped(content: Option<Raw<'_>>) -> Option<String> {
    let content = content?;
    let wrapped = if let Some(said) = content.as_string() {
        if said.is_empty() {
            return None;
        }
        let mut json = Vec::new();
        crate::ecma::write_string(&prompt::interjection(&said), &mut json);
        json
    } else {
        let of_type = |name: &'static str| {
            content.elements().filter(move |block| object::is_text(block.member("type"), name))
        };
        let mut said = Vec::new();
        for (place, block) in of_type("text").enumerate() {
            if place > 0 {
                said.push(b'\n');
            }
            let part = block.member("text").and_then(Raw::as_string);
            said.extend_from_slice(&part.unwrap_or_default());
        }
        if said.is_empty() {
            return None;
        }
        let block = object::text_block(&prompt::interjection(&said));
        let images = of_type("image").map(|image| image.as_str().as_bytes());
        object::list(std::iter::once(&block[..]).chain(images))
    };
    Some(text::decode(&wrapped).into_owned())
}
