//! The order in which an object's members are written.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::ecma::document::{Child, Name};
use crate::text::unescape;

/// Up to this many members are compared pairwise; objects in real files have four to ten.
const FEW: usize = 8;

/// The order of members in a program's objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// ECMAScript's: array indices first, in numeric order; all others in the given order.
    IndicesFirst,
    /// By the bytes of their names, in objects with at most this many members; larger ones keep the given order.
    ByNameUpTo(usize),
}

/// Merges repeated members (first place, last value) of those from `first` on, and sorts them.
pub(super) fn arrange(order: Order, text: &str, members: &mut Vec<Child>, first: usize) {
    if may_repeat(text, &members[first..]) {
        merge_repeated(text, members, first);
    }
    let members = &mut members[first..];
    match order {
        Order::IndicesFirst => indices_first(text, members),
        Order::ByNameUpTo(most) => {
            if members.len() <= most {
                members.sort_by_cached_key(|member| unescape(raw_name(text, member)));
            }
        }
    }
}

fn indices_first(text: &str, members: &mut [Child]) {
    let is_index = |member: &Child| index_of(text, member).is_some();
    if members.iter().any(is_index) {
        // Stable, so that all other members keep their order.
        members.sort_by_cached_key(|member| index_of(text, member).map_or(u64::MAX, u64::from));
    }
}

fn raw_name<'a>(text: &'a str, member: &Child) -> &'a str {
    match member.name {
        Name::Written(token) => &text[token.start..token.end],
        Name::Given(name) => name,
        Name::Absent => "",
    }
}

fn may_repeat(text: &str, members: &[Child]) -> bool {
    let is_escaped = |member: &Child| matches!(member.name, Name::Written(token) if token.escaped);
    members.len() > FEW
        || members.iter().any(is_escaped)
        || members.iter().enumerate().any(|(place, member)| {
            let name = raw_name(text, member);
            members[..place].iter().any(|earlier| raw_name(text, earlier) == name)
        })
}

fn merge_repeated(text: &str, members: &mut Vec<Child>, first: usize) {
    let mut places: HashMap<Cow<'_, [u8]>, usize> = HashMap::with_capacity(members.len() - first);
    let mut kept = first;
    for place in first..members.len() {
        let member = members[place];
        match places.entry(unescape(raw_name(text, &member))) {
            Entry::Occupied(earlier) => members[*earlier.get()].node = member.node,
            Entry::Vacant(vacant) => {
                vacant.insert(kept);
                members[kept] = member;
                kept += 1;
            }
        }
    }
    members.truncate(kept);
}

fn index_of(text: &str, member: &Child) -> Option<u32> {
    array_index(&unescape(raw_name(text, member)))
}

/// The array index that a name, given as WTF-8, stands for: canonical decimal, at most 2^32 - 2. In an object such
/// members come before all others.
pub(crate) fn array_index(name: &[u8]) -> Option<u32> {
    let canonical = match *name {
        [b'0'] => true,
        [b'1'..=b'9', ref rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !canonical {
        return None;
    }
    let index = std::str::from_utf8(name).ok()?.parse().ok()?;
    (index != u32::MAX).then_some(index)
}
