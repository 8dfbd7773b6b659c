//! What Claude Code sends when it resumes a session.

use serde_json::Value;

/// What the program sends when it resumes a session.
#[derive(Debug)]
pub struct Resumed {
    /// The messages; `None` if it did not resume the session.
    pub messages: Option<Vec<Value>>,
    /// The uuid of the record at which it resumed it, where that is to be seen.
    pub leaf: Option<String>,
    /// What it said.
    pub error: Option<String>,
    /// Whether it took too long.
    pub hangs: bool,
}

impl Resumed {
    /// Reads an answer to the jobs `resume` and `play`.
    ///
    /// # Panics
    ///
    /// If it is none.
    pub fn of(answer: &Value) -> Self {
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        let message = |text: &Value| serde_json::from_str(text.as_str().unwrap()).unwrap();
        let messages = answer["context"].as_array();
        Self {
            messages: messages.map(|messages| with_strings(messages.iter().map(message).collect())),
            leaf: text("leaf"),
            error: text("error"),
            hangs: crate::hangs(answer),
        }
    }
}

/// Messages in which a text that stands alone is a string: the program's prompt makes a block of the one that it follows.
pub fn with_strings(mut messages: Vec<Value>) -> Vec<Value> {
    for message in &mut messages {
        let text = match message["content"].as_array().map(Vec::as_slice) {
            Some([block]) if message["role"] == "user" && block["type"] == "text" => {
                Some(block["text"].clone())
            }
            _ => None,
        };
        if let Some(text) = text {
            message["content"] = text;
        }
    }
    messages
}
