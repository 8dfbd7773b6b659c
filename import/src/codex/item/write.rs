//! An item as it is sent.

use crate::codex::item::image::stand_in;
use crate::codex::item::schema::Form;
use crate::codex::item::{Item, check};
use crate::codex::json::Object;
use crate::codex::truncate::{Truncation, truncate};
use crate::ecma::write_string;
use crate::scan::Raw;

impl Item<'_> {
    /// Appends the item as it is sent. Strings and numbers stay as they are written in the file. `truncation` applies
    /// to a tool's output.
    pub(in crate::codex) fn write(&self, truncation: Truncation, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(self.kind.name().as_bytes());
        out.push(b'"');
        for &(member, value) in &self.members {
            let start = out.len();
            out.extend_from_slice(b",\"");
            out.extend_from_slice(member.name.as_bytes());
            out.extend_from_slice(b"\":");
            if !write_value(member.form, value, truncation, out) {
                out.truncate(start);
            }
        }
        out.push(b'}');
    }
}

/// Appends a member's value. Returns false if it is not sent.
fn write_value(
    form: Form,
    value: Option<Raw<'_>>,
    truncation: Truncation,
    out: &mut Vec<u8>,
) -> bool {
    let Some(value) = value else {
        out.extend_from_slice(b"null");
        return form.is_sent_as_null();
    };
    match form {
        Form::UnsentText | Form::UnsentTexts | Form::Unsent => return false,
        Form::Id if !check::is_sent_id(value) => return false,
        Form::Content => write_list(value, out, write_block),
        Form::AgentContent => write_list(value, out, write_block),
        Form::Output => write_output(value, truncation, out),
        Form::Summary => write_list(value, out, write_block),
        Form::Thought => {
            let is_sent = |part: Raw<'_>| {
                part.member("type").is_some_and(|name| name.is_text("reasoning_text"))
            };
            if !value.elements().any(is_sent) {
                return false;
            }
            write_list(value, out, write_block);
        }
        Form::ShellAction => write_shell_action(value, out),
        Form::WebAction => write_web_action(value, out),
        _ => write_raw(value, out),
    }
    true
}

fn write_raw(value: Raw<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(value.as_str().as_bytes());
}

fn write_list<'a>(list: Raw<'a>, out: &mut Vec<u8>, mut write: impl FnMut(Raw<'a>, &mut Vec<u8>)) {
    out.push(b'[');
    for (place, element) in list.elements().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// Appends the members of an object that are present, and null for those that are sent without a value.
fn write_members(object: &Object<'_>, names: &[&str], nullable: &[&str], out: &mut Vec<u8>) {
    let mut separator = b'{';
    for name in names {
        let value = object.value(name);
        if value.is_none() && !nullable.contains(name) {
            continue;
        }
        out.push(std::mem::replace(&mut separator, b','));
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        match value {
            Some(value) => write_raw(value, out),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.extend_from_slice(if separator == b'{' { b"{}" } else { b"}" });
}

/// A block of a message, of a tool's output or of reasoning.
fn write_block(block: Raw<'_>, out: &mut Vec<u8>) {
    if let Some(text) = stand_in(block) {
        write_text_block(text, out);
        return;
    }
    let names = [
        "type",
        "text",
        "image_url",
        "file_id",
        "detail",
        "encrypted_content",
        "annotations",
        "logprobs",
    ];
    write_members(&Object::of(block), &names, &[], out);
}

/// A text block that the program made.
pub(in crate::codex) fn write_text_block(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"input_text\",\"text\":");
    write_string(text.as_bytes(), out);
    out.push(b'}');
}

/// A tool's output. Each of several texts uses up what the ones before it left of the limit; the rest are only counted.
fn write_output(output: Raw<'_>, truncation: Truncation, out: &mut Vec<u8>) {
    if let Some(text) = output.to_string_lossy() {
        match truncate(&text, truncation) {
            Some(truncated) => write_string(truncated.as_bytes(), out),
            None => write_raw(output, out),
        }
        return;
    }
    let mut left = truncation;
    let mut omitted = 0_usize;
    let mut separator = b'[';
    for block in output.elements() {
        let text = block.member("text").and_then(Raw::to_string_lossy);
        let is_text = block.member("type").is_some_and(|name| name.is_text("input_text"));
        match text.filter(|_| is_text) {
            Some(_) if left.is_used_up() => omitted += 1,
            Some(text) => {
                out.push(std::mem::replace(&mut separator, b','));
                match truncate(&text, left) {
                    Some(truncated) => write_text_block(&truncated, out),
                    None => write_block(block, out),
                }
                left = left.less(&text);
            }
            None => {
                out.push(std::mem::replace(&mut separator, b','));
                write_block(block, out);
            }
        }
    }
    if omitted > 0 {
        out.push(std::mem::replace(&mut separator, b','));
        write_text_block(&format!("[omitted {omitted} text items ...]"), out);
    }
    out.extend_from_slice(if separator == b'[' { b"[]" } else { b"]" });
}

fn write_shell_action(action: Raw<'_>, out: &mut Vec<u8>) {
    let nullable = ["timeout_ms", "working_directory", "env", "user"];
    let names = ["type", "command", "timeout_ms", "working_directory", "env", "user"];
    write_members(&Object::of(action), &names, &nullable, out);
}

fn write_web_action(action: Raw<'_>, out: &mut Vec<u8>) {
    let object = Object::of(action);
    let names: &[&str] = match object.get("type").and_then(Raw::as_string).as_deref() {
        Some(b"search") => &["type", "query", "queries"],
        Some(b"open_page") => &["type", "url"],
        Some(b"find_in_page") => &["type", "url", "pattern"],
        _ => {
            out.extend_from_slice(b"{\"type\":\"other\"}");
            return;
        }
    };
    write_members(&object, names, &[], out);
}
