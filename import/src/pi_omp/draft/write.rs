//! The line of a draft.

use super::{Draft, Member};
use crate::ecma::write_string;
use crate::time::format_timestamp;

/// The members besides its type that every entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The entry's id; in both programs 8 hex digits.
    pub id: &'a str,
    /// The entry that it follows.
    pub parent: ParentId<'a>,
    /// The time in milliseconds since 1970, written in the form of [`format_timestamp`].
    pub timestamp: i64,
}

/// The value of `parentId`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentId<'a> {
    /// Null: the entry is a root.
    Null,
    /// An id as WTF-8 (see [`crate::text`]): ids in files may contain lone surrogates.
    Id(&'a [u8]),
}

impl Draft {
    /// Appends the entry's line, ended by `
    /// `, byte for byte as the programs write it (observed behaviour, writing): the type, id, parent and time, then the
    /// other members; in a `custom` or `custom_message` entry the other members come between the type and the id.
    ///
    /// A parent that is not WTF-8 makes a line that is not UTF-8.
    pub fn write(&self, place: &Place<'_>, out: &mut Vec<u8>) {
        let indices = self.members.iter().take_while(|member| member.index().is_some()).count();
        let (indices, others) = self.members.split_at(indices);
        out.push(b'{');
        write_members(indices, out);
        write_text_member("type", self.entry_type.as_bytes(), out);
        if self.layout.own_first {
            write_members(others, out);
            place.write(out);
        } else {
            place.write(out);
            write_members(others, out);
        }
        out.extend_from_slice(b"}\n");
    }
}

impl Place<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        write_string_member("id", self.id.as_bytes(), out);
        match self.parent {
            ParentId::Null => write_text_member("parentId", b"null", out),
            ParentId::Id(id) => write_string_member("parentId", id, out),
        }
        write_string_member("timestamp", format_timestamp(self.timestamp).as_bytes(), out);
    }
}

fn write_members(members: &[Member], out: &mut Vec<u8>) {
    for member in members {
        write_comma(out);
        out.extend_from_slice(member.name.as_bytes());
        out.push(b':');
        out.extend_from_slice(member.json.as_bytes());
    }
}

/// Appends a member whose value is JSON text.
pub(super) fn write_text_member(name: &str, json: &[u8], out: &mut Vec<u8>) {
    write_comma(out);
    write_string(name.as_bytes(), out);
    out.push(b':');
    out.extend_from_slice(json);
}

/// Appends a member whose value is a string, given as WTF-8.
pub(super) fn write_string_member(name: &str, value: &[u8], out: &mut Vec<u8>) {
    write_text_member(name, b"", out);
    write_string(value, out);
}

fn write_comma(out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
}
