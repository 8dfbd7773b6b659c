//! Which entries are one message of the API.

use std::collections::HashMap;

/// Entries that are parts of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a, E> {
    /// `message.id`, as WTF-8; an entry without one is a message by itself.
    pub id: Option<&'a [u8]>,
    /// Its entries, in the order in which they were given; never empty.
    pub entries: Vec<E>,
}

/// Puts entries that share a `message.id` together, given each entry with its id, in the order of the file or of a path.
///
/// One message of the API spans several lines (observed): one for each block of its content, with tools' results between
/// them where tools run before the message is complete. So the parts of a message need not be neighbours. Messages come
/// in the order of their first parts. What is counted once a message (its usage) is to be taken from one part only.
///
/// ```
/// use leafline_import::claude::messages;
///
/// let found = messages([
///     (0, None),
///     (1, Some(&b"msg_1"[..])),
///     (2, None),
///     (3, Some(&b"msg_1"[..])),
/// ]);
/// let parts: Vec<_> = found.iter().map(|message| message.entries.as_slice()).collect();
/// assert_eq!(parts, [&[0][..], &[1, 3], &[2]]);
/// ```
#[must_use]
pub fn messages<'a, E>(
    entries: impl IntoIterator<Item = (E, Option<&'a [u8]>)>,
) -> Vec<Message<'a, E>> {
    let mut messages: Vec<Message<'a, E>> = Vec::new();
    let mut by_id = HashMap::new();
    for (entry, id) in entries {
        let place = match id {
            Some(id) => *by_id.entry(id).or_insert(messages.len()),
            None => messages.len(),
        };
        if place == messages.len() {
            messages.push(Message { id, entries: Vec::new() });
        }
        messages[place].entries.push(entry);
    }
    messages
}
