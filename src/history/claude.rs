//! Claude Code's `history.jsonl`: what was typed, a line each (observed in 2.1.330).

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use leafline_import::text;
use serde::Deserialize;
use serde_json::Value;

use super::PromptHistory;
use super::transfer::{Adding, HistoryTransfer, Same};
use crate::error::{FileContext, Result};
use crate::regular_file::open_regular;
use crate::store::prompt_record::PromptRecord;

/// The longest line that is read, and the longest text that was pasted, in bytes.
const LONGEST: u64 = 16 << 20;

/// The folder beside the file with long texts that were pasted, each named by its hash.
const PASTES: &str = "paste-cache";

/// What stands in a prompt for a text that was pasted, up to its number.
const MARKS: [&str; 2] = ["[Pasted text #", "[...Truncated text #"];

/// A line of the file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    display: String,
    timestamp: i64,
    project: Option<String>,
    /// What was pasted, by its number.
    #[serde(default)]
    pasted_contents: Value,
}

impl PromptHistory {
    /// Adds the prompts of Claude Code's `history.jsonl` that the history does not have. Prompts are the same if their directory
    /// and millisecond are. Texts that were pasted are put in place of their marks, those of `paste-cache` beside the file too, as
    /// long as the program has not deleted them. The file is only read, and may be in use.
    ///
    /// Lines that are no prompts, and those of 16 MiB and more, are counted as left out.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::Error::File) if it cannot be read; those of the store. Prompts read before the error are kept, and
    /// another import adds the rest.
    pub fn import_claude(&self, path: impl AsRef<Path>) -> Result<HistoryTransfer> {
        let path = path.as_ref();
        let mut file = BufReader::new(open_regular(path).at("reading", path)?);
        let pastes = path.with_file_name(PASTES);
        let mut adding = Adding::new(self, Same::InMillisecond);
        let mut line = Vec::new();
        while next_line(&mut file, &mut line).at("reading", path)? {
            adding.add(prompt(&line, &pastes))?;
        }
        adding.finish()
    }
}

/// Reads the next line that is not blank. Of one that is too long nothing is left.
fn next_line(file: &mut BufReader<File>, line: &mut Vec<u8>) -> std::io::Result<bool> {
    loop {
        line.clear();
        file.by_ref().take(LONGEST).read_until(b'\n', line)?;
        if line.is_empty() {
            return Ok(false);
        }
        if !line.ends_with(b"\n") && line.len() as u64 == LONGEST {
            file.skip_until(b'\n')?;
            line.clear();
            return Ok(true);
        }
        if !line.trim_ascii().is_empty() {
            return Ok(true);
        }
    }
}

/// The prompt in a line, if there is one.
fn prompt(line: &[u8], pastes: &Path) -> Option<PromptRecord> {
    let line: Line = serde_json::from_slice(line).ok()?;
    let prompt = with_pasted(&line, pastes);
    let prompt = text::trim(&prompt).to_owned();
    let is_one = !prompt.is_empty();
    is_one.then_some(PromptRecord {
        created_at: line.timestamp,
        cwd: line.project,
        prompt,
        use_count: 1,
    })
}

/// The text of a prompt, with what was pasted in place of its marks. What is not there any more leaves its mark.
fn with_pasted(line: &Line, pastes: &Path) -> String {
    let mut text = String::new();
    let mut rest = line.display.as_str();
    while let Some(at) = rest.find('[') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let pasted = mark(from).and_then(|(number, length)| {
            let pasted = line.pasted_contents.get(number)?;
            Some((pasted_text(pasted, pastes)?, length))
        });
        let (pasted, length) = pasted.unwrap_or_else(|| ("[".to_owned(), 1));
        text.push_str(&pasted);
        rest = from.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// The number in the mark with which a text begins, and the mark's bytes.
fn mark(text: &str) -> Option<(&str, usize)> {
    let number = MARKS.iter().find_map(|mark| text.strip_prefix(mark))?;
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let length = text.find(']')? + 1;
    Some((number.get(..digits)?, length))
}

/// A text that was pasted, if it is one that is still there.
fn pasted_text(pasted: &Value, pastes: &Path) -> Option<String> {
    let member = |name: &str| pasted.get(name)?.as_str();
    (member("type") == Some("text")).then_some(())?;
    if let Some(content) = member("content") {
        return Some(content.to_owned());
    }
    let hash = member("contentHash")?;
    // It is part of a path.
    if hash.is_empty() || !hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let file = open_regular(&pastes.join(format!("{hash}.txt"))).ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LONGEST).then(|| String::from_utf8_lossy(&bytes).into_owned())
}
