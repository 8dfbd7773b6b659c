//! A message's parts, read from a parsed value by the documents' words.

use leafline_import::view::Part;
use serde_json::Value;

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn text(value: &Value) -> Option<Part> {
    string(value).filter(|text| !text.is_empty()).map(Part::Text)
}

/// The parts of a `content`.
pub(crate) fn parts(content: &Value) -> Vec<Part> {
    if let Some(blocks) = content.as_array() {
        blocks.iter().flat_map(block).collect()
    } else {
        text(content).into_iter().collect()
    }
}

fn block(block: &Value) -> Vec<Part> {
    if block.is_string() {
        return text(block).into_iter().collect();
    }
    let Some(name) = block["type"].as_str() else {
        return Vec::new();
    };
    match name {
        "text" => text(&block["text"]).into_iter().collect(),
        "thinking" => {
            let thought = string(&block["thinking"]).filter(|thought| !thought.is_empty());
            thought.map(Part::Thinking).into_iter().collect()
        }
        "toolCall" => vec![call(&block["id"], &block["name"], block.get("arguments"))],
        "tool_use" => vec![call(&block["id"], &block["name"], block.get("input"))],
        "tool_result" => {
            result(&block["tool_use_id"], &Value::Null, &block["is_error"], &block["content"])
        }
        "image" => {
            let pi = (&block["mimeType"], &block["data"]);
            let claude = (&block["source"]["media_type"], &block["source"]["data"]);
            let (mime_type, data) = if block["source"].is_object() { claude } else { pi };
            vec![Part::Image {
                mime_type: string(mime_type),
                // As it is written in the line, without its quotes.
                base64_length: if data.is_string() { data.to_string().len() - 2 } else { 0 },
            }]
        }
        other => vec![named(other)],
    }
}

/// A call; its arguments as serde_json writes them.
pub(crate) fn call(id: &Value, name: &Value, arguments: Option<&Value>) -> Part {
    Part::ToolCall {
        id: string(id),
        name: string(name).unwrap_or_default(),
        arguments: arguments.map_or_else(String::new, Value::to_string),
    }
}

/// A result, and the parts of it that are not text.
pub(crate) fn result(id: &Value, name: &Value, is_error: &Value, content: &Value) -> Vec<Part> {
    let mut texts = Vec::new();
    let mut rest = Vec::new();
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    for inner in blocks {
        if inner["type"] == "tool_result" {
            rest.push(named("tool_result"));
            continue;
        }
        let of_string = content.is_array() || inner.is_string();
        for part in if of_string { block(inner) } else { Vec::new() } {
            match part {
                Part::Text(text) => texts.push(text),
                other => rest.push(other),
            }
        }
    }
    let mut parts = vec![Part::ToolResult {
        call_id: string(id),
        name: string(name),
        is_error: *is_error == true,
        text: texts.join("\n"),
    }];
    parts.append(&mut rest);
    parts
}

/// A block that has no part of its own.
fn named(type_name: &str) -> Part {
    Part::Other { type_name: type_name.to_owned(), title: None, text: String::new() }
}

/// The parts with the arguments of calls as serde_json writes them, and other blocks by their names alone.
pub(crate) fn rewritten(parts: Vec<Part>) -> Vec<Part> {
    let rewrite = |part| match part {
        Part::ToolCall { id, name, arguments } if !arguments.is_empty() => Part::ToolCall {
            id,
            name,
            arguments: serde_json::from_str::<Value>(&arguments).unwrap().to_string(),
        },
        Part::Other { type_name, .. } => named(&type_name),
        other => other,
    };
    parts.into_iter().map(rewrite).collect()
}
