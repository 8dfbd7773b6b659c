//! Calls and outputs belong together: the model is sent both, or neither.

use std::collections::HashSet;

use crate::codex::context::fact::{Class, Fact, Pair, Side};
use crate::codex::context::{ContextItem, Use};

/// The items of a history, with an output added after each call without one, and without outputs that have no call. The
/// two sides of a pair can be anywhere in the history.
pub(super) fn complete(history: Vec<Fact>) -> Vec<ContextItem> {
    let of_side = |side| {
        let pairs = history.iter().filter_map(|fact| fact.pair);
        let pairs = pairs.filter(|pair| pair.side == side);
        pairs.map(|pair| (pair.class, pair.call)).collect::<HashSet<(Class, u32)>>()
    };
    let (calls, outputs) = (of_side(Side::Call), of_side(Side::Output));
    let mut items = Vec::with_capacity(history.len());
    for fact in history {
        match fact.pair {
            Some(Pair { side: Side::Output, class, call }) if !calls.contains(&(class, call)) => {}
            Some(Pair { side: Side::Call, class, call }) if !outputs.contains(&(class, call)) => {
                let place = fact.item.place;
                items.push(fact.item);
                items.push(ContextItem { place, use_as: Use::Aborted });
            }
            _ => items.push(fact.item),
        }
    }
    items
}
