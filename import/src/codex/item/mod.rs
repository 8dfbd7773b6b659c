//! The items of a conversation, as the program reads them from a rollout and sends them to the model.
//!
//! The program reads an item strictly: if a required member is missing or of another type, it drops the whole line. It
//! sends the members that it knows, in its own order. The tables of [`schema`] say both.

mod check;
mod image;
mod schema;
mod write;

pub(super) use check::is_sent_id;
pub(super) use schema::ItemKind;
pub(super) use write::write_text_block;

use std::borrow::Cow;

use crate::codex::json::Object;
use crate::scan::Raw;
use schema::{Form, Member};

/// An item that the program reads.
#[derive(Debug, Clone)]
pub(super) struct Item<'a> {
    pub(super) kind: ItemKind,
    /// A value for each member of the kind's table that is present and not null, and for each that is sent as null.
    members: Vec<(&'static Member, Option<Raw<'a>>)>,
}

impl<'a> Item<'a> {
    /// Reads an item; `None` if the program would not accept it.
    pub(super) fn read(raw: Raw<'a>) -> Option<Self> {
        let object = Object::of(raw);
        let kind = ItemKind::of(&object.get("type")?.as_string()?);
        let mut members = Vec::new();
        for member in kind.members() {
            let value = match member.form {
                Form::Json => object.get(member.name),
                _ => object.value(member.name),
            };
            if !check::fits(member.form, value) {
                return None;
            }
            if value.is_some() || member.form.is_sent_as_null() {
                members.push((member, value));
            }
        }
        Some(Self { kind, members })
    }

    fn member(&self, name: &str) -> Option<Raw<'a>> {
        let found = self.members.iter().find(|(member, _)| member.name == name);
        found.and_then(|&(_, value)| value)
    }

    /// `role`, of a message.
    pub(super) fn role(&self) -> Option<Cow<'a, [u8]>> {
        self.member("role")?.as_string()
    }

    /// `call_id` of a tool's call or output.
    pub(super) fn call_id(&self) -> Option<Cow<'a, [u8]>> {
        self.member("call_id")?.as_string()
    }

    /// `id`, if the program sends it.
    pub(super) fn id(&self) -> Option<Raw<'a>> {
        self.member("id").filter(|&id| check::is_sent_id(id))
    }

    /// The blocks of a message.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Raw<'a>> + use<'a> {
        self.member("content").into_iter().flat_map(Raw::elements)
    }

    /// The texts of a message's blocks of a type.
    pub(super) fn texts(&self, block_type: &str) -> impl Iterator<Item = Cow<'a, str>> {
        self.blocks().filter_map(move |block| {
            let [name, text] = block.members(["type", "text"]);
            if name?.is_text(block_type) { text?.to_string_lossy() } else { None }
        })
    }
}
