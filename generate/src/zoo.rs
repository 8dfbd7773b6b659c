//! Every known way in which a session file can be odd: each must be kept byte for byte and must not crash a reader.
//!
//! The files are tiny, except for the few that are about size.

mod lines;
mod numbers;
mod trees;
mod versions;

/// All files of the zoo, each with a name that says what is odd about it.
///
/// ```
/// let zoo = leafline_generate::zoo();
/// assert!(zoo.iter().any(|(name, bytes)| *name == "empty file" && bytes.is_empty()));
/// ```
#[must_use]
pub fn zoo() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = lines::files();
    files.extend(numbers::files());
    files.extend(trees::files());
    files.extend(versions::files());
    files
}

/// A header of version 3.
const HEADER: &str = r#"{"type":"session","version":3,"id":"zoo-session","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/home/robin/work/zoo"}"#;

/// A user's message with an id, a parent (JSON, so with its quotes or `null`), and a text as it is spelled in JSON.
fn user(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T08:00:01.000Z","message":{{"role":"user","content":"{text}","timestamp":1772352001000}}}}"#
    )
}

/// An assistant's message.
fn assistant(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T08:00:02.000Z","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":10,"output":5,"cacheRead":0,"cacheWrite":0}},"stopReason":"stop","timestamp":1772352002000}}}}"#
    )
}

/// A header and two messages, each line without its terminator.
fn conversation() -> [String; 3] {
    [
        HEADER.to_owned(),
        user("00000001", "null", "is the test still flaky?"),
        assistant("00000002", "\"00000001\"", "No."),
    ]
}

/// Lines, each ended by `\n`.
fn file<Text: AsRef<[u8]>>(lines: impl IntoIterator<Item = Text>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        bytes.extend_from_slice(line.as_ref());
        bytes.push(b'\n');
    }
    bytes
}

/// A header, then one message given as raw bytes.
fn with_line(line: impl AsRef<[u8]>) -> Vec<u8> {
    file([HEADER.as_bytes(), line.as_ref()])
}
