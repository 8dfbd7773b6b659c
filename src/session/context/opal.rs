//! The messages of Opal's contexts: those of the path. What a compaction replaced is no longer in the session.

use leafline_import::claude::Extent;
use leafline_import::opal::HeaderFacts;
use leafline_import::scan::Raw;
use leafline_import::{Family, ecma, opal, text};

use super::super::history::walk;
use super::super::index::reading::{LineReader, LineScan};
use super::super::reader::SessionReader;
use super::super::render::{Renderer, Rendering};
use super::Take;
use super::json_text::JsonText;
use super::settings::ContextSettings;
use crate::error::Result;

/// Hands out the messages of the path to an entry, and answers the settings in force.
pub(super) fn tell(
    reader: &SessionReader,
    leaf: Option<u64>,
    take: Take<'_>,
) -> Result<ContextSettings> {
    let mut settings = ContextSettings::without_path(Family::Opal);
    settings.set_model(model(reader)?);
    let Some(leaf) = leaf else { return Ok(settings) };
    let history = walk(reader, leaf, Extent::Path)?;
    let mut lines = LineReader::new(reader.reading());
    let mut renderer = Renderer::new(reader.snapshot(), Rendering::Exact);
    let mut cursor = reader.cursor(0);
    let (mut bytes, mut message) = (Vec::new(), Vec::new());
    for ordinal in history.ordinals() {
        let line = cursor.line(ordinal)?;
        bytes.clear();
        renderer.render(line.text, line.holes, &mut bytes)?;
        let decoded = text::decode(&bytes);
        let read = lines.read(text::trim_start_of_file(&decoded));
        message.clear();
        if let LineScan::Opal(line) = read.scan()
            && append_message(line, &mut message)
        {
            take(&[ordinal], &message)?;
        }
    }
    Ok(settings)
}

/// Appends what is said in a message: all but its place in the session. Answers whether it has a role.
fn append_message(line: &opal::Line<'_>, out: &mut Vec<u8>) -> bool {
    let members = &line.members;
    let role = members.role.filter(|role| role.is_string());
    if role.is_none() {
        return false;
    }
    let mut separator = b'{';
    for (name, value) in [
        ("role", role),
        ("content", members.content),
        ("thinking", members.thinking),
        ("tool_calls", members.tool_calls),
        ("call_id", members.call_id),
        ("name", members.name),
        ("is_error", members.is_error),
    ] {
        let is_content = name == "content";
        let value = value.map_or("null", Raw::as_str);
        if value == "null" && !is_content {
            continue;
        }
        out.push(separator);
        separator = b',';
        out.extend_from_slice(format!("\"{name}\":").as_bytes());
        ecma::restringify(value, out).expect("what a scan gives is JSON");
    }
    out.push(b'}');
    true
}

/// The model that the header's metadata name.
fn model(reader: &SessionReader) -> Result<Option<JsonText>> {
    let Some(header) = reader.get_header()? else {
        return Ok(None);
    };
    let decoded = text::decode(header.line());
    let mut scanner = opal::Scanner::new();
    let line = scanner.scan(text::trim_start_of_file(&decoded));
    let model = HeaderFacts::of(&line, header.ordinal()).and_then(|facts| facts.model);
    Ok(model.and_then(|model| JsonText::of_raw(&model).ok()))
}
