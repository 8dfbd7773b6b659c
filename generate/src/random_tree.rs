//! Small sessions full of legal but rare things: the input of property tests.

use crate::number::instant;
use crate::random::{BASE64, Random};
use crate::shape::Family;

const WORDS: [&str; 10] = [
    "flaky",
    "retry",
    "caf\u{e9}",
    r"line\nbreak",
    r"\ud83c\udf42",
    r"\u00e9",
    r#"quote \" and \\"#,
    "\u{1f342}",
    "\u{2028}",
    "x",
];

/// A session of about `entries` lines after its header, often with a tree that no program would write: orphans, parents
/// that come later, repeated ids, loops, labels set and cleared, unknown types, blank and malformed lines, CRLF, a
/// missing final line end; for omp sometimes a title line before the header. Each seed chooses among these, so some
/// sessions are quite regular. Claude Code's family is treated as pi's.
///
/// ```
/// use leafline_generate::{Family, random_tree_session};
///
/// let bytes = random_tree_session(4, 20, Family::Pi);
/// assert_eq!(bytes, random_tree_session(4, 20, Family::Pi));
/// ```
#[must_use]
pub fn random_tree_session(seed: u64, entries: usize, family: Family) -> Vec<u8> {
    let mut random = Random::new(seed ^ 0x7ee5);
    let oddness = [0, 40, 150][random.below(3)];
    let mut writer = Writer {
        family,
        version: [3, 3, 3, 2, 1][random.below(5)],
        ids: Vec::new(),
        clock: 1_772_352_000_000 + random.below(1_000_000_000) as u64,
        oddness,
        line_end: if oddness > 0 && random.chance(150) { "\r\n" } else { "\n" },
        out: Vec::new(),
        random,
    };
    writer.head(seed);
    for _ in 0..entries {
        writer.line();
    }
    if writer.random.chance(100) {
        let kept = writer.out.len().saturating_sub(writer.random.between(1, 40));
        writer.out.truncate(kept);
    }
    writer.out
}

struct Writer {
    random: Random,
    family: Family,
    version: u32,
    ids: Vec<String>,
    clock: u64,
    /// How many of 1,000 things are odd.
    oddness: usize,
    line_end: &'static str,
    out: Vec<u8>,
}

impl Writer {
    fn odd(&mut self) -> bool {
        self.random.chance(self.oddness)
    }

    fn push(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.extend_from_slice(self.line_end.as_bytes());
    }

    fn time(&mut self) -> String {
        self.clock += self.random.rank(500_000) as u64;
        let shown = if self.odd() { self.clock - 600_000 } else { self.clock };
        let mut text = Vec::new();
        instant(&mut text, shown);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn text(&mut self) -> String {
        let mut text = String::new();
        for place in 0..self.random.between(1, 8) {
            if place > 0 {
                text.push(' ');
            }
            text.push_str(WORDS[self.random.below(WORDS.len())]);
        }
        text
    }

    fn head(&mut self, seed: u64) {
        if self.family == Family::Omp && self.random.chance(400) {
            let start = r#"{"type":"title","v":1,"title":"Random","updatedAt":"2026-03-01T08:00:00.000Z","pad":""#;
            self.push(&format!("{start:<253}\"}}"));
        }
        let version = match self.version {
            1 => String::new(),
            version => format!("\"version\":{version},"),
        };
        let time = self.time();
        self.push(&format!(
            r#"{{"type":"session",{version}"id":"random-{seed}","timestamp":"{time}","cwd":"/home/robin/work/random"}}"#
        ));
    }

    fn line(&mut self) {
        if self.odd() {
            self.odd_line();
        }
        let kind = self.random.weighted(&[40, 6, 6, 5, 4, 8, 4, 4, 3, 3, 3, 2]);
        let (kind, members) = self.members(kind);
        let time = self.time();
        let ids = if self.version == 1 { String::new() } else { self.ids() };
        let line = if kind.starts_with("custom") {
            format!(r#"{{"type":"{kind}"{members}{ids},"timestamp":"{time}"}}"#)
        } else {
            format!(r#"{{"type":"{kind}"{ids},"timestamp":"{time}"{members}}}"#)
        };
        self.push(&line);
    }

    /// An id and a parent, mostly the last entry.
    fn ids(&mut self) -> String {
        let mut id = Vec::new();
        self.random.hexadecimal(&mut id, 8);
        let mut id = String::from_utf8_lossy(&id).into_owned();
        if self.odd() && !self.ids.is_empty() {
            id = self.known();
        }
        let parent = if self.odd() {
            match self.random.below(5) {
                0 => Some("gone0000".to_owned()),
                1 => Some(id.clone()),
                2 => None,
                // The id of a later entry.
                3 => {
                    let mut later = self.random.clone();
                    let mut text = Vec::new();
                    later.hexadecimal(&mut text, 8);
                    Some(String::from_utf8_lossy(&text).into_owned())
                }
                _ => Some(self.known()),
            }
        } else if self.random.chance(120) && !self.ids.is_empty() {
            Some(self.known())
        } else {
            self.ids.last().cloned()
        };
        self.ids.push(id.clone());
        match parent {
            Some(parent) => format!(r#","id":"{id}","parentId":"{parent}""#),
            None => format!(r#","id":"{id}","parentId":null"#),
        }
    }

    fn known(&mut self) -> String {
        match self.ids.len() {
            0 => "none0000".to_owned(),
            count => self.ids[self.random.below(count)].clone(),
        }
    }

    fn odd_line(&mut self) {
        let first = self.known();
        let second = self.known();
        match self.random.below(9) {
            0 => self.push(""),
            1 => self.push("  \t "),
            2 => self.push("{\"type\":\"message\",\"id\":\"torn"),
            3 => self.push("no json at all"),
            4 => self.push("[1,2,3]"),
            // Two entries that are each other's parent.
            5 if self.version > 1 => {
                for (id, parent) in [("loop000a", "loop000b"), ("loop000b", "loop000a")] {
                    self.push(&format!(r#"{{"type":"custom","customType":"loop","id":"{id}","parentId":"{parent}","timestamp":"2026-03-01T08:00:00.000Z"}}"#));
                    self.ids.push(id.to_owned());
                }
            }
            // A repeated id, below another entry: a loop if the two were related.
            6 if self.version > 1 => self.push(&format!(r#"{{"type":"custom","customType":"again","id":"{first}","parentId":"{second}","timestamp":"2026-03-01T08:00:00.000Z"}}"#)),
            7 => self.push(r#"{"type":"session","version":3,"id":"another","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/"}"#),
            _ => self.push(&format!(r#"{{"type":"leaf","targetId":"{first}"}}{{"type":"leaf","targetId":"{second}"}}"#)),
        }
    }

    /// The type of an entry and its own members.
    fn members(&mut self, kind: usize) -> (&'static str, String) {
        let text = self.text();
        let target = self.known();
        match kind {
            0 => ("message", self.message(&text)),
            1 => {
                let level = ["off", "low", "high"][self.random.below(3)];
                ("thinking_level_change", format!(r#","thinkingLevel":"{level}""#))
            }
            2 if self.family == Family::Omp => {
                let role = ["", r#","role":"default""#, r#","role":"smol""#][self.random.below(3)];
                ("model_change", format!(r#","model":"openai/gpt-5.1"{role}"#))
            }
            2 => ("model_change", r#","provider":"openai","modelId":"gpt-5.1""#.to_owned()),
            3 => ("compaction", self.compaction(&text, &target)),
            4 => {
                let from = if self.odd() { "root".to_owned() } else { target };
                let summary = if self.odd() { "" } else { &text };
                ("branch_summary", format!(r#","fromId":"{from}","summary":"{summary}""#))
            }
            5 => {
                let label = ["", r#","label":"""#, r#","label":"keep""#, r#","label":"later""#];
                let label = label[self.random.below(4)];
                ("label", format!(r#","targetId":"{target}"{label}"#))
            }
            6 => (
                "custom",
                r#","customType":"state","data":{"count":1.0,"big":9007199254740993}"#.to_owned(),
            ),
            7 => {
                let display = self.random.chance(500);
                (
                    "custom_message",
                    format!(r#","customType":"note","content":"{text}","display":{display}"#),
                )
            }
            8 if self.family == Family::Pi => ("session_info", format!(r#","name":" {text} ""#)),
            8 => {
                let mode = ["plan", "none"][self.random.below(2)];
                ("mode_change", format!(r#","mode":"{mode}","data":{{"planFile":"plan.md"}}"#))
            }
            9 if self.family == Family::Omp => {
                let rule = ["a", "b", "c"][self.random.below(3)];
                ("ttsr_injection", format!(r#","injectedRules":["{rule}","b"]"#))
            }
            10 if self.family == Family::Omp => (
                "session_init",
                format!(r#","systemPrompt":"{text}","task":"find it","tools":["read"]"#),
            ),
            _ => ("active_tools_change", r#","tools":["read","bash"]"#.to_owned()),
        }
    }

    fn compaction(&mut self, text: &str, target: &str) -> String {
        let without = self.odd();
        let kept = match self.version {
            1 => format!(r#","firstKeptEntryIndex":{}"#, self.random.below(12)),
            _ if without => String::new(),
            _ => format!(r#","firstKeptEntryId":"{target}""#),
        };
        let short = match self.family {
            Family::Omp => r#","shortSummary":"so far""#,
            Family::Pi | Family::Claude => "",
        };
        format!(r#","summary":"{text}"{short}{kept},"tokensBefore":4000"#)
    }

    fn message(&mut self, text: &str) -> String {
        let time = self.clock;
        let body = match self.random.weighted(&[30, 35, 20, 5, 5, 5]) {
            0 => format!(r#""role":"user","content":"{text}""#),
            1 => format!(
                r#""role":"assistant","content":[{{"type":"thinking","thinking":"{text}","thinkingSignature":"c2ln"}},{{"type":"toolCall","id":"call_1","name":"read","arguments":{{"path":"a.ts"}}}}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{{"input":0.000003,"output":0.00003,"cacheRead":0,"cacheWrite":0,"total":0.000033}}}},"stopReason":"toolUse""#
            ),
            2 => format!(
                r#""role":"toolResult","toolCallId":"call_1","toolName":"read","content":[{{"type":"text","text":"{text}"}}],"isError":false"#
            ),
            3 => format!(
                r#""role":"bashExecution","command":"ls","output":"{text}","exitCode":0,"cancelled":false,"truncated":false"#
            ),
            4 if self.version < 3 => {
                format!(
                    r#""role":"hookMessage","customType":"lint","content":"{text}","display":true"#
                )
            }
            _ => {
                let mut data = Vec::new();
                // Three characters, four bytes and no padding: any such text is what an encoder writes.
                let size = self.random.between(1, 500) * 4;
                self.random.characters(&mut data, BASE64, size);
                let data = String::from_utf8_lossy(&data).into_owned();
                format!(
                    r#""role":"user","content":[{{"type":"text","text":"{text}"}},{{"type":"image","data":"{data}","mimeType":"image/png"}}]"#
                )
            }
        };
        format!(r#","message":{{{body},"timestamp":{time}}}"#)
    }
}
