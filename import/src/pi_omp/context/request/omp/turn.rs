//! Turns of the model's.

use super::super::object::{self, is_text};
use super::Output;
use crate::scan::Raw;
use crate::text::{self, trim};

/// The note that omp puts after a turn whose thinking was interrupted.
const INTERRUPTED_THINKING: &str = "interrupted-thinking";

/// The flag in `errorId` of a turn that the user interrupted, and the message of such a turn.
const INTERRUPTED: u32 = 0x0400_0000;
const INTERRUPTED_WORDS: &str = "Interrupted by user";

/// Whether a message is a turn of the model's.
pub(in super::super) fn is_turn(message: Raw<'_>) -> bool {
    is_text(message.member("role"), "assistant")
}

/// Passes on what omp makes of a turn.
pub(super) fn convert<E>(
    turn: Raw<'_>,
    next: Option<Raw<'_>>,
    out: &mut Output<'_, '_, E>,
) -> Result<(), E> {
    let [content, reason, details] = turn.members(["content", "stopReason", "stopDetails"]);
    if is_text(reason, "error") && is_refusal(details) {
        return Ok(());
    }
    let has_note = next.is_some_and(|next| {
        let [role, name] = next.members(["role", "customType"]);
        is_text(role, "custom") && is_text(name, INTERRUPTED_THINKING)
    });
    let is_interrupted = is_text(reason, "aborted") && is_by_user(turn);
    if !has_note && !is_interrupted {
        return (out.take)(out.places, turn.as_str().as_bytes());
    }
    let kept = content.filter(|content| content.is_array()).and_then(without_last_thoughts);
    let is_empty = match (&kept, content) {
        (Some(kept), _) => kept == "[]",
        (None, content) => content.is_some_and(|it| matches!(it.as_str(), "[]" | "\"\"")),
    };
    if is_interrupted && !has_note && is_empty {
        return Ok(());
    }
    match kept {
        Some(kept) => out.changed(turn, |document| document.set("content", kept)),
        None => (out.take)(out.places, turn.as_str().as_bytes()),
    }
}

/// Whether a provider refused to answer.
fn is_refusal(details: Option<Raw<'_>>) -> bool {
    let kind = details.and_then(|details| details.member("type"));
    is_text(kind, "refusal") || is_text(kind, "sensitive")
}

fn is_by_user(turn: Raw<'_>) -> bool {
    let [id, message] = turn.members(["errorId", "errorMessage"]);
    let flags = id.and_then(Raw::as_f64).map_or(0, low_bits);
    flags & INTERRUPTED != 0 || is_text(message, INTERRUPTED_WORDS)
}

/// The lowest 32 bits of a number, as JavaScript's bitwise operators take them.
fn low_bits(number: f64) -> u32 {
    if !number.is_finite() {
        return 0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the remainder is a whole number of 32 bits"
    )]
    let bits = number.trunc().rem_euclid(4_294_967_296.0) as u32;
    bits
}

/// The content without the thoughts at its end that have no signature, and what is empty below them; `None` if there are
/// none.
fn without_last_thoughts(content: Raw<'_>) -> Option<String> {
    let blocks: Vec<Raw<'_>> = content.elements().collect();
    let mut end = blocks.len();
    while end > 0 && is_blank(blocks[end - 1], "text") == Some(true) {
        end -= 1;
    }
    let mut start = end;
    while start > 0
        && is_blank(blocks[start - 1], "thinking") == Some(false)
        && !object::is_truthy(blocks[start - 1].member("thinkingSignature"))
    {
        start -= 1;
    }
    if start == end {
        return None;
    }
    let kept = object::list(blocks[..start].iter().map(|block| block.as_str().as_bytes()));
    Some(text::decode(&kept).into_owned())
}

/// Whether a block of this type has nothing in the member of the same name; `None` for a block of another type.
fn is_blank(block: Raw<'_>, kind: &str) -> Option<bool> {
    let [of_type, text] = block.members(["type", kind]);
    if !is_text(of_type, kind) {
        return None;
    }
    // omp throws where it is no text.
    Some(text?.to_string_lossy().is_some_and(|text| trim(&text).is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_javascript() {
        for (number, bits) in [
            (0.0, 0),
            (67_108_864.9, 0x0400_0000),
            (4_294_967_297.0, 1),
            (-1.0, u32::MAX),
            (1e300, 0),
            (f64::INFINITY, 0),
        ] {
            assert_eq!(low_bits(number), bits, "{number}");
        }
    }
}
