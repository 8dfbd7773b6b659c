//! A session of Claude Code: each block of an answer is a record of its own, a tool's result occurs twice in its
//! record, and every record names the place and session in which it was written.

use std::collections::VecDeque;
use std::io::{self, Write};

use crate::image::Images;
use crate::number::{instant, integer};
use crate::project::Project;
use crate::prose;
use crate::random::{ALPHANUMERIC, BASE64, Random};
use crate::recorder::{integer_member, text_member};
use crate::shape::{Shape, Summary};
use crate::tools::{self, Call};

/// The approximate number of records between two compactions.
const COMPACTION_EVERY: u64 = 260;
/// How many records of the current path are remembered, nearest last.
const REMEMBERED: usize = 256;
/// The most uuids that a summary samples.
const SAMPLES: usize = 10_000;
/// The start of a session: 2026-01-05T09:00:00Z, in milliseconds since 1970.
const FIRST_MOMENT: u64 = 1_767_603_600_000;
/// Bytes buffered before they are written.
const BUFFER: usize = 1 << 20;
/// The program's version.
const VERSION: &[u8] = b"2.0.76";
/// The model.
const MODEL: &[u8] = b"claude-opus-4-5-20251101";

/// A uuid as it is written.
type Uuid = [u8; 36];

/// A session being generated.
pub(crate) struct Session<'a, W> {
    shape: &'a Shape,
    out: &'a mut W,
    random: Random,
    project: Project,
    images: Images,
    image_bytes: u64,
    id: Uuid,
    /// Uuids of the path, nearest last.
    path: VecDeque<Uuid>,
    clock: u64,
    context: u64,
    compacted_at: u64,
    buffer: Vec<u8>,
    body: Vec<u8>,
    stride: u64,
    samples: Vec<(u64, Uuid)>,
    summary: Summary,
}

impl<'a, W: Write> Session<'a, W> {
    pub(crate) fn new(shape: &'a Shape, out: &'a mut W) -> Self {
        let mut random = Random::new(shape.seed);
        let project = Project::new(&mut random);
        let clock = FIRST_MOMENT + random.below(86_400_000) as u64;
        let id = uuid(&mut random);
        let summary = Summary {
            session_id: text_of(&id),
            lines: 0,
            entries: 0,
            bytes: 0,
            branches: 0,
            compactions: 0,
            images: 0,
            sample_ids: Vec::new(),
            leaf_id: None,
        };
        Self {
            shape,
            out,
            random,
            project,
            images: Images::default(),
            image_bytes: 0,
            id,
            path: VecDeque::with_capacity(REMEMBERED + 1),
            clock,
            context: 14_000,
            compacted_at: 0,
            buffer: Vec::with_capacity(BUFFER * 2),
            body: Vec::new(),
            stride: 1,
            samples: Vec::new(),
            summary,
        }
    }

    pub(crate) fn run(mut self) -> io::Result<Summary> {
        while !self.done() {
            self.turn()?;
            if self.shape.branches && self.random.chance(120) {
                self.go_back();
            }
        }
        self.last_prompt()?;
        self.out.write_all(&self.buffer)?;
        self.out.flush()?;
        self.summary.sample_ids = self.samples.iter().map(|(_, uuid)| text_of(uuid)).collect();
        self.summary.leaf_id = self.path.back().map(text_of);
        Ok(self.summary)
    }

    fn done(&self) -> bool {
        self.summary.bytes >= self.shape.bytes
    }

    /// A person's request, the agent's tool calls, its answer.
    fn turn(&mut self) -> io::Result<()> {
        self.pause(20_000.0, 4.0);
        self.prompt()?;
        let rounds = self.random.size(7.0, 2.3).min(80);
        for _ in 0..rounds {
            if self.done() {
                return Ok(());
            }
            self.pause(5_000.0, 2.2);
            self.round()?;
            self.maybe_compact()?;
        }
        self.pause(6_000.0, 2.2);
        self.body.clear();
        self.text(380.0);
        let message = self.message_id();
        self.answer(&message, true)
    }

    fn pause(&mut self, median: f64, spread: f64) {
        self.clock += self.random.size(median, spread) as u64;
    }

    fn place(&self) -> usize {
        self.project.last()
    }

    /// A checkpoint, and the prompt that belongs to it.
    fn prompt(&mut self) -> io::Result<()> {
        let uuid = uuid(&mut self.random);
        let mut line = b"{\"type\":\"file-history-snapshot\"".to_vec();
        text_member(&mut line, "messageId", &uuid);
        line.extend_from_slice(b",\"snapshot\":{\"messageId\":\"");
        line.extend_from_slice(&uuid);
        line.extend_from_slice(b"\",\"trackedFileBackups\":{},\"timestamp\":\"");
        instant(&mut line, self.clock);
        line.extend_from_slice(b"\"},\"isSnapshotUpdate\":false}");
        self.line(&line)?;
        self.body.clear();
        let owes_image = (self.image_bytes as f64) < self.summary.bytes as f64 * self.shape.images;
        self.body.extend_from_slice(b",\"message\":{\"role\":\"user\",\"content\":");
        let open: &[u8] = if owes_image { b"[{\"type\":\"text\",\"text\":\"" } else { b"\"" };
        self.body.extend_from_slice(open);
        let size = self.random.size(60.0, 3.2).min(6_000);
        let scope = self.project.scope(self.place());
        prose::request(&mut self.body, size, scope, &mut self.random);
        self.body.push(b'"');
        if owes_image {
            self.body.extend_from_slice(
                b"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"",
            );
            let start = self.body.len();
            let allowed = (self.shape.bytes as f64 * self.shape.images / 4.0) as usize;
            self.images.write(&mut self.body, allowed.clamp(1_200, 600_000), &mut self.random);
            self.image_bytes += (self.body.len() - start) as u64;
            self.summary.images += 1;
            self.body.extend_from_slice(b"\"}}]");
        }
        self.body.push(b'}');
        self.record("user", uuid, None)
    }

    /// What the model thinks and says, and its tool calls: one record per block, all of one message; then the tool
    /// results.
    fn round(&mut self) -> io::Result<()> {
        let message = self.message_id();
        if self.random.chance(60) {
            self.thinking();
            self.answer(&message, false)?;
        }
        if self.random.chance(430) {
            self.body.clear();
            self.text(80.0);
            self.answer(&message, false)?;
        }
        for _ in 0..1 + self.random.weighted(&[92, 6, 2]) {
            let call = tools::make(&mut self.project, &mut self.random);
            self.body.clear();
            self.body.extend_from_slice(b"{\"type\":\"tool_use\"");
            text_member(&mut self.body, "id", &call.id);
            text_member(&mut self.body, "name", name_of(&call));
            self.body.extend_from_slice(b",\"input\":{");
            self.body.extend_from_slice(&call.arguments[1..]);
            self.body.extend_from_slice(b"}}");
            self.answer(&message, false)?;
            if self.random.chance(50) {
                self.progress(&call)?;
            }
            self.pause(30.0, 5.0);
            self.result(&call)?;
        }
        Ok(())
    }

    fn message_id(&mut self) -> Vec<u8> {
        let mut id = b"msg_01".to_vec();
        self.random.characters(&mut id, ALPHANUMERIC, 22);
        id
    }

    fn thinking(&mut self) {
        self.body.clear();
        self.body.extend_from_slice(b"{\"type\":\"thinking\",\"thinking\":\"");
        let size = self.random.size(450.0, 2.2).min(20_000);
        let scope = self.project.scope(self.place());
        prose::prose(&mut self.body, size, scope, &mut self.random);
        self.body.extend_from_slice(b"\",\"signature\":\"");
        let signature = (size + self.random.between(300, 700)) / 4 * 4;
        self.random.characters(&mut self.body, BASE64, signature);
        self.body.extend_from_slice(b"\"}");
    }

    fn text(&mut self, median: f64) {
        self.body.extend_from_slice(b"{\"type\":\"text\",\"text\":\"");
        let size = self.random.size(median, 2.6).min(12_000);
        let scope = self.project.scope(self.place());
        prose::prose(&mut self.body, size, scope, &mut self.random);
        self.body.extend_from_slice(b"\"}");
    }

    /// A record of the model's message, whose only block is in `body`.
    fn answer(&mut self, message: &[u8], ends_turn: bool) -> io::Result<()> {
        let block = std::mem::take(&mut self.body);
        self.body.extend_from_slice(b",\"message\":{\"model\":\"");
        self.body.extend_from_slice(MODEL);
        self.body.push(b'"');
        text_member(&mut self.body, "id", message);
        self.body.extend_from_slice(b",\"type\":\"message\",\"role\":\"assistant\",\"content\":[");
        self.body.extend_from_slice(&block);
        self.body.extend_from_slice(if ends_turn {
            b"],\"stop_reason\":\"end_turn\"".as_slice()
        } else {
            b"],\"stop_reason\":null"
        });
        self.body.extend_from_slice(b",\"stop_sequence\":null,\"usage\":{\"input_tokens\":");
        integer(&mut self.body, self.random.between(1, 9) as u64);
        let fresh = (block.len() / 4) as u64;
        integer_member(&mut self.body, "cache_creation_input_tokens", fresh);
        integer_member(&mut self.body, "cache_read_input_tokens", self.context);
        self.body.extend_from_slice(b",\"cache_creation\":{\"ephemeral_5m_input_tokens\":");
        integer(&mut self.body, fresh);
        self.body.extend_from_slice(b",\"ephemeral_1h_input_tokens\":0}");
        integer_member(&mut self.body, "output_tokens", fresh + 8);
        self.body.extend_from_slice(b",\"service_tier\":\"standard\"}},\"requestId\":\"req_011C");
        self.random.characters(&mut self.body, ALPHANUMERIC, 20);
        self.body.push(b'"');
        self.context += fresh + 8;
        let uuid = uuid(&mut self.random);
        self.record("assistant", uuid, None)
    }

    /// A tool's result: as the model receives it, and as the program keeps it.
    fn result(&mut self, call: &Call) -> io::Result<()> {
        self.body.clear();
        self.body
            .extend_from_slice(b",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"");
        self.body.extend_from_slice(&call.id);
        self.body.extend_from_slice(b"\",\"type\":\"tool_result\"");
        text_member(&mut self.body, "content", &call.result);
        if call.failed {
            self.body.extend_from_slice(b",\"is_error\":true");
        }
        self.body.extend_from_slice(b"}]},\"toolUseResult\":");
        match call.tool {
            "read" => {
                self.body.extend_from_slice(b"{\"type\":\"text\",\"file\":{");
                self.body.extend_from_slice(&call.arguments[1..]);
                text_member(&mut self.body, "content", &call.result);
                self.body.extend_from_slice(b"}}");
            }
            "bash" => {
                self.body.extend_from_slice(b"{\"stdout\":\"");
                self.body.extend_from_slice(&call.result);
                self.body.extend_from_slice(
                    b"\",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}",
                );
            }
            _ => {
                self.body.push(b'{');
                self.body.extend_from_slice(&call.arguments[1..]);
                if !call.details.is_empty() {
                    self.body.extend_from_slice(b",\"structuredPatch\":");
                    self.body.extend_from_slice(&call.details);
                }
                self.body.extend_from_slice(b",\"userModified\":false}");
            }
        }
        self.context += (call.result.len() / 4) as u64;
        let uuid = uuid(&mut self.random);
        self.record("user", uuid, None)
    }

    fn progress(&mut self, call: &Call) -> io::Result<()> {
        self.body.clear();
        self.body.extend_from_slice(
            b",\"data\":{\"type\":\"hook_progress\",\"hookEvent\":\"PostToolUse\",\"hookName\":\"PostToolUse:",
        );
        self.body.extend_from_slice(name_of(call));
        self.body.extend_from_slice(b"\",\"command\":\"callback\"}");
        text_member(&mut self.body, "parentToolUseID", &call.id);
        text_member(&mut self.body, "toolUseID", &call.id);
        let uuid = uuid(&mut self.random);
        self.record("progress", uuid, None)
    }

    fn maybe_compact(&mut self) -> io::Result<()> {
        let since = self.summary.entries - self.compacted_at;
        if !self.shape.compactions || since < COMPACTION_EVERY || self.done() {
            return Ok(());
        }
        self.compacted_at = self.summary.entries;
        self.pause(25_000.0, 1.5);
        let logical = self.path.back().copied();
        self.path.clear();
        self.body.clear();
        self.body.extend_from_slice(
            b",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"isMeta\":false,\"level\":\"info\",\"compactMetadata\":{\"trigger\":\"auto\",\"preTokens\":",
        );
        integer(&mut self.body, self.context);
        self.body.push(b'}');
        let boundary = uuid(&mut self.random);
        self.record("system", boundary, logical)?;
        self.body.clear();
        self.body.extend_from_slice(b",\"message\":{\"role\":\"user\",\"content\":\"");
        let scope = self.project.scope(self.place());
        let size = self.random.size(6_000.0, 1.3);
        prose::summary(&mut self.body, size, scope, &mut self.random);
        self.body
            .extend_from_slice(b"\"},\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true");
        self.context = 20_000 + (size / 4) as u64;
        self.summary.compactions += 1;
        let uuid = uuid(&mut self.random);
        self.record("user", uuid, None)
    }

    /// Goes back to an earlier record of the path.
    fn go_back(&mut self) {
        if self.path.len() < 2 {
            return;
        }
        self.summary.branches += 1;
        let back = self.random.between(1, self.path.len() - 1);
        self.path.truncate(self.path.len() - back);
    }

    fn last_prompt(&mut self) -> io::Result<()> {
        let Some(leaf) = self.path.back().copied() else { return Ok(()) };
        let mut line = b"{\"type\":\"last-prompt\",\"lastPrompt\":\"".to_vec();
        let scope = self.project.scope(self.place());
        prose::request(&mut line, 40, scope, &mut self.random);
        line.push(b'"');
        text_member(&mut line, "leafUuid", &leaf);
        let id = self.id;
        text_member(&mut line, "sessionId", &id);
        line.push(b'}');
        self.line(&line)
    }

    /// Writes a record of the tree, whose own members are in `body`, below the previous one; it becomes the leaf.
    fn record(&mut self, kind: &str, uuid: Uuid, logical: Option<Uuid>) -> io::Result<()> {
        let start = self.buffer.len();
        let line = &mut self.buffer;
        match self.path.back() {
            Some(parent) => {
                line.extend_from_slice(b"{\"parentUuid\":\"");
                line.extend_from_slice(parent);
                line.push(b'"');
            }
            None => line.extend_from_slice(b"{\"parentUuid\":null"),
        }
        if let Some(logical) = logical {
            text_member(line, "logicalParentUuid", &logical);
        }
        line.extend_from_slice(b",\"isSidechain\":false,\"userType\":\"external\"");
        text_member(line, "cwd", self.project.folder.as_bytes());
        text_member(line, "sessionId", &self.id);
        text_member(line, "version", VERSION);
        text_member(line, "gitBranch", b"main");
        text_member(line, "type", kind.as_bytes());
        line.extend_from_slice(&self.body);
        text_member(line, "uuid", &uuid);
        line.extend_from_slice(b",\"timestamp\":\"");
        instant(line, self.clock);
        line.extend_from_slice(b"\"}");
        let length = self.buffer.len() - start;
        self.path.push_back(uuid);
        if self.path.len() > REMEMBERED {
            self.path.pop_front();
        }
        self.sample(uuid);
        self.summary.entries += 1;
        self.end_line(length)
    }

    fn sample(&mut self, uuid: Uuid) {
        let number = self.summary.entries;
        if number.is_multiple_of(self.stride) {
            self.samples.push((number, uuid));
        }
        if self.samples.len() > SAMPLES {
            self.stride *= 2;
            let stride = self.stride;
            self.samples.retain(|(number, _)| number.is_multiple_of(stride));
        }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(line);
        self.end_line(line.len())
    }

    fn end_line(&mut self, length: usize) -> io::Result<()> {
        self.buffer.push(b'\n');
        self.summary.bytes += length as u64 + 1;
        self.summary.lines += 1;
        if self.buffer.len() >= BUFFER {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

fn name_of(call: &Call) -> &'static [u8] {
    match call.tool {
        "read" => b"Read",
        "bash" => b"Bash",
        "edit" => b"Edit",
        _ => b"Write",
    }
}

/// A random uuid of version 4.
fn uuid(random: &mut Random) -> Uuid {
    let mut digits = Vec::with_capacity(32);
    random.hexadecimal(&mut digits, 32);
    digits[12] = b'4';
    digits[16] = b'a';
    let mut uuid = [b'-'; 36];
    let places = (0..36).filter(|place| ![8, 13, 18, 23].contains(place));
    for (place, digit) in places.zip(digits) {
        uuid[place] = digit;
    }
    uuid
}

fn text_of(uuid: &Uuid) -> String {
    String::from_utf8_lossy(uuid).into_owned()
}
