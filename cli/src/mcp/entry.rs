//! The tool `get_entry`.

use std::fmt::Write;

use leafline::{Entry, Store};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Answer, QUOTED, boundary, budget, quoted_within};
use super::names::{SessionNames, entry_name, entry_ordinal};
use super::read;
use super::refusal::Refusal;
use crate::transcript::turn::{self, Calls, TurnPart};

/// Some less than 4,000: another vocabulary may count more than the estimate.
const USUAL_TOKENS: usize = 3500;

/// A run of at least so many characters of base64 is an image or another file, and is left out.
const LONG_BASE64: usize = 1024;

/// Which entry is read, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// The session
    session: String,
    /// The entry
    entry: String,
    #[serde(default)]
    form: Form,
    /// Where to go on in a long one, in bytes, as the answer before says
    #[serde(default)]
    offset: usize,
    /// 3500 by default
    max_tokens: Option<usize>,
}

/// text is what it says; json is its line as its program wrote it, without the base64 of images
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Form {
    #[default]
    Text,
    Json,
}

/// Reads an entry.
pub(super) fn answer(asked: &Asked, store: &Store) -> Result<String, Refusal> {
    let mut answer = Answer::new(budget(asked.max_tokens, USUAL_TOKENS)?);
    let reader = store.reader(&asked.session)?;
    let ordinal = entry_ordinal(&reader, &asked.entry)?;
    let Some(entry) = reader.line(ordinal)? else {
        return Err(Refusal::wrong(format!("the session has no entry #{ordinal}")));
    };
    let turn = turn::entry(&entry, true, &mut Calls::new());
    let mut heading = read::heading(&entry_name(&reader, &entry)?, &turn, entry.timestamp());
    let names = SessionNames::of(store, [&*reader.id()])?;
    let _ = writeln!(heading, "session {}. {QUOTED}", names.name(&reader.id()));
    answer.add(&heading);
    let text = match asked.form {
        Form::Text => of_parts(&turn.parts),
        Form::Json => without_base64(&String::from_utf8_lossy(line_of(&entry))),
    };
    let text = text.trim_end();
    let begin = boundary(text, asked.offset);
    let rest = text.get(begin..).unwrap_or_default();
    let (lines, bytes) = quoted_within(rest, answer.left());
    answer.add(&lines);
    let mut end = String::new();
    if rest.is_empty() {
        let what =
            if text.is_empty() { "it says nothing" } else { "nothing is behind that offset" };
        let _ = writeln!(end, "{what}; it has {} bytes of text", text.len());
    } else if bytes < rest.len() {
        let _ = writeln!(end, "more: offset={} of {}", begin + bytes, text.len());
    }
    Ok(answer.end(&end))
}

fn line_of(entry: &Entry) -> &[u8] {
    entry.line().trim_ascii_end()
}

/// All parts of an entry, one below the other.
fn of_parts(parts: &[TurnPart]) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        match part {
            TurnPart::Text(said) => text.push_str(said),
            TurnPart::Aside { sign, name, text: said, .. } => {
                text.push_str(format!("{sign} {name}").trim_end());
                text.push(if said.contains('\n') { '\n' } else { ' ' });
                text.push_str(said);
            }
        }
    }
    text
}

/// A line with the length of each long run of base64 in its place.
fn without_base64(line: &str) -> String {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let mut kept = String::with_capacity(line.len().min(1 << 16));
    let mut rest = line;
    while !rest.is_empty() {
        let run = rest.bytes().take_while(|byte| is_base64(byte)).count();
        let (run, behind) = rest.split_at(run);
        match run.len() {
            long if long >= LONG_BASE64 => {
                let _ = write!(kept, "[{long} characters of base64]");
            }
            _ => kept.push_str(run),
        }
        let other = behind.bytes().take_while(|byte| !is_base64(byte)).count();
        let (other, behind) = behind.split_at(other);
        kept.push_str(other);
        rest = behind;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_base64_is_left_out() {
        let image = "iVBORw0KGgo".repeat(100);
        let line = format!(r#"{{"text":"a+b/c= é","data":"{image}==","n":1.50}}"#);
        let expected = r#"{"text":"a+b/c= é","data":"[1102 characters of base64]","n":1.50}"#;
        assert_eq!(without_base64(&line), expected);
        assert_eq!(without_base64("日本語 a"), "日本語 a");
        assert_eq!(without_base64(""), "");
    }
}
