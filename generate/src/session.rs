//! The course of a session: someone asks, the agent works and answers, and now and then something else happens.

use std::io::{self, Write};

use crate::image::Images;
use crate::number::{instant, integer};
use crate::project::Project;
use crate::prose;
use crate::random::{BASE64, Random};
use crate::recorder::{Members, Recorder, integer_member, text_member};
use crate::shape::{Family, Shape, Summary};
use crate::shell;
use crate::template::fill;
use crate::tools::{self, Call};
use crate::usage::{MODELS, Model, Tokens};

/// The approximate number of entries between two compactions.
const COMPACTION_EVERY: u64 = 200;
/// The start of a session: 2026-01-05T09:00:00Z, in milliseconds since 1970.
const FIRST_MOMENT: u64 = 1_767_603_600_000;

/// A session being generated.
pub(crate) struct Session<'a, W> {
    pub(crate) shape: &'a Shape,
    pub(crate) random: Random,
    pub(crate) project: Project,
    pub(crate) recorder: Recorder<'a, W>,
    pub(crate) model: &'static Model,
    pub(crate) body: Vec<u8>,
    pub(crate) tokens: Tokens,
    images: Images,
    image_bytes: u64,
    unseen: usize,
    compacted_at: u64,
    id: String,
}

impl<'a, W: Write> Session<'a, W> {
    pub(crate) fn new(shape: &'a Shape, out: &'a mut W) -> Self {
        let mut random = Random::new(shape.seed);
        let project = Project::new(&mut random);
        let clock = FIRST_MOMENT + random.below(86_400_000) as u64;
        let recorder = Recorder::new(out, shape.version > 1, clock, &mut random);
        let id = format!(
            "{:08x}-{:04x}-7{:03x}-a{:03x}-{:012x}",
            (clock >> 16) as u32,
            clock & 0xffff,
            random.below(0x1000),
            random.below(0x1000),
            random.next() >> 16
        );
        Self {
            shape,
            random,
            project,
            recorder,
            model: &MODELS[0],
            body: Vec::new(),
            tokens: Tokens { context: 14_000 },
            images: Images::default(),
            image_bytes: 0,
            unseen: 0,
            compacted_at: 0,
            id,
        }
    }

    pub(crate) fn run(mut self) -> io::Result<Summary> {
        self.header()?;
        self.first_settings()?;
        while !self.done() {
            self.turn()?;
            self.events()?;
        }
        self.recorder.finish(self.id)
    }

    pub(crate) fn done(&self) -> bool {
        self.recorder.bytes() >= self.shape.bytes
    }

    fn header(&mut self) -> io::Result<()> {
        if self.shape.family == Family::Omp && self.shape.version == 3 {
            self.title()?;
        }
        let mut line = b"{\"type\":\"session\"".to_vec();
        if self.shape.version > 1 {
            integer_member(&mut line, "version", u64::from(self.shape.version));
        }
        text_member(&mut line, "id", self.id.as_bytes());
        line.extend_from_slice(b",\"timestamp\":\"");
        instant(&mut line, self.recorder.clock);
        line.push(b'"');
        text_member(&mut line, "cwd", self.project.folder.as_bytes());
        if self.shape.version == 1 {
            text_member(&mut line, "provider", self.model.provider.as_bytes());
            text_member(&mut line, "modelId", self.model.id.as_bytes());
            text_member(&mut line, "thinkingLevel", b"off");
        }
        line.push(b'}');
        self.recorder.line(&line)
    }

    /// The first line of newer omp files: 256 bytes with its terminator, so that it can be rewritten in place.
    fn title(&mut self) -> io::Result<()> {
        let mut line = b"{\"type\":\"title\",\"v\":1,\"title\":\"".to_vec();
        let scope = self.project.scope(self.place());
        fill(&mut line, "$w $w", scope, &mut self.random);
        line.extend_from_slice(b"\",\"updatedAt\":\"");
        instant(&mut line, self.recorder.clock);
        line.extend_from_slice(b"\",\"pad\":\"");
        line.resize(253, b' ');
        line.extend_from_slice(b"\"}");
        self.recorder.line(&line)
    }

    /// A person's request, the agent's tool calls, its answer.
    fn turn(&mut self) -> io::Result<()> {
        self.pause(20_000.0, 4.0);
        self.request()?;
        let rounds = self.random.size(6.0, 2.3).min(80);
        for _ in 0..rounds {
            if self.done() {
                return Ok(());
            }
            self.pause(5_000.0, 2.2);
            let calls = self.answer(true)?;
            for call in calls {
                if self.done() {
                    return Ok(());
                }
                self.pause(30.0, 5.0);
                self.result(&call)?;
            }
            self.maybe_compact()?;
        }
        if !self.done() {
            self.pause(6_000.0, 2.2);
            self.answer(false)?;
            self.recorder.stop_here(&mut self.random);
        }
        Ok(())
    }

    /// Advances the time by about `median` milliseconds, with a long tail of `spread`.
    pub(crate) fn pause(&mut self, median: f64, spread: f64) {
        self.recorder.clock += self.random.size(median, spread) as u64;
    }

    /// Completes the message that begins in `body`, and writes it as an entry.
    pub(crate) fn message(&mut self, lag: u64) -> io::Result<()> {
        let time = self.recorder.clock - lag;
        integer_member(&mut self.body, "timestamp", time);
        self.body.push(b'}');
        self.recorder.entry("message", Members::AfterIds, &self.body)
    }

    pub(crate) fn begin(&mut self, text: &[u8]) {
        self.body.clear();
        self.body.extend_from_slice(text);
    }

    pub(crate) fn place(&self) -> usize {
        self.project.last()
    }

    fn request(&mut self) -> io::Result<()> {
        self.begin(b",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"");
        let size = self.random.size(45.0, 3.2).min(6_000);
        let scope = self.project.scope(self.place());
        prose::request(&mut self.body, size, scope, &mut self.random);
        self.body.extend_from_slice(b"\"}");
        if self.owes_image() {
            self.body.push(b',');
            self.image();
        }
        self.body.push(b']');
        if self.shape.family == Family::Omp {
            text_member(&mut self.body, "attribution", b"user");
        }
        self.unseen += self.body.len();
        let lag = self.random.below(20) as u64;
        self.message(lag)
    }

    /// An assistant's message. With tools it calls some and returns the calls, without tools it is an answer in words.
    fn answer(&mut self, with_tools: bool) -> io::Result<Vec<Call>> {
        self.begin(b",\"message\":{\"role\":\"assistant\",\"content\":[");
        let start = self.body.len();
        if self.random.chance(60) {
            self.thinking();
        }
        if !with_tools || self.random.chance(430) {
            self.text(with_tools);
        }
        let mut calls = Vec::new();
        if with_tools {
            for _ in 0..1 + self.random.weighted(&[92, 6, 2]) {
                calls.push(tools::call(&mut self.body, &mut self.project, &mut self.random));
                self.body.push(b',');
            }
        }
        let answer = self.body.len() - start;
        self.body.pop();
        self.body.push(b']');
        text_member(&mut self.body, "api", self.model.api.as_bytes());
        text_member(&mut self.body, "provider", self.model.provider.as_bytes());
        text_member(&mut self.body, "model", self.model.id.as_bytes());
        self.body.push(b',');
        let unseen = std::mem::take(&mut self.unseen);
        self.tokens.write(&mut self.body, self.model, answer, unseen, &mut self.random);
        let reason: &[u8] = if with_tools { b"toolUse" } else { b"stop" };
        text_member(&mut self.body, "stopReason", reason);
        let lag = self.random.between(500, 4_000) as u64;
        self.message(lag)?;
        Ok(calls)
    }

    fn thinking(&mut self) {
        self.body.extend_from_slice(b"{\"type\":\"thinking\",\"thinking\":\"");
        let size = self.random.size(450.0, 2.2).min(20_000);
        let scope = self.project.scope(self.place());
        prose::prose(&mut self.body, size, scope, &mut self.random);
        self.body.extend_from_slice(b"\",\"thinkingSignature\":\"");
        let signature = (size + self.random.between(300, 700)) / 4 * 4;
        self.random.characters(&mut self.body, BASE64, signature);
        self.body.extend_from_slice(b"\"},");
    }

    fn text(&mut self, short: bool) {
        self.body.extend_from_slice(b"{\"type\":\"text\",\"text\":\"");
        let size = if short { self.random.size(80.0, 2.4) } else { self.random.size(380.0, 2.8) };
        let scope = self.project.scope(self.place());
        prose::prose(&mut self.body, size.min(12_000), scope, &mut self.random);
        self.body.extend_from_slice(b"\"},");
    }

    fn result(&mut self, call: &Call) -> io::Result<()> {
        self.begin(b",\"message\":{\"role\":\"toolResult\"");
        text_member(&mut self.body, "toolCallId", &call.id);
        text_member(&mut self.body, "toolName", call.tool.as_bytes());
        self.body.extend_from_slice(b",\"content\":[{\"type\":\"text\",\"text\":\"");
        self.body.extend_from_slice(&call.result);
        self.body.extend_from_slice(b"\"}");
        if call.tool == "read" && self.owes_image() {
            self.body.push(b',');
            self.image();
        }
        self.body.push(b']');
        if !call.details.is_empty() {
            self.body.extend_from_slice(b",\"details\":");
            self.body.extend_from_slice(&call.details);
        }
        self.body.extend_from_slice(if call.failed {
            b",\"isError\":true"
        } else {
            b",\"isError\":false"
        });
        self.unseen += self.body.len();
        self.message(0)
    }

    /// A command that the person ran, with all of its output.
    pub(crate) fn own_command(&mut self) -> io::Result<()> {
        let size = self.random.size(2_500.0, 3.0).min(100_000);
        let (mut command, mut output) = (Vec::new(), Vec::new());
        let place = self.place();
        shell::run(&mut command, &mut output, size, &self.project, place, &mut self.random);
        self.begin(b",\"message\":{\"role\":\"bashExecution\"");
        text_member(&mut self.body, "command", &command);
        text_member(&mut self.body, "output", &output);
        self.body.extend_from_slice(b",\"exitCode\":0,\"cancelled\":false,\"truncated\":false");
        self.unseen += self.body.len();
        self.message(0)
    }

    fn owes_image(&self) -> bool {
        self.shape.images > 0.0
            && (self.image_bytes as f64) < self.recorder.bytes() as f64 * self.shape.images
    }

    fn image(&mut self) {
        let allowed = self.shape.bytes as f64 * self.shape.images / 4.0;
        let limit = (allowed as usize).clamp(1_200, 600_000);
        self.body.extend_from_slice(b"{\"type\":\"image\",\"data\":\"");
        let start = self.body.len();
        self.images.write(&mut self.body, limit, &mut self.random);
        self.image_bytes += (self.body.len() - start) as u64;
        self.recorder.images += 1;
        self.body.extend_from_slice(b"\",\"mimeType\":\"image/png\"}");
    }

    fn maybe_compact(&mut self) -> io::Result<()> {
        let since = self.recorder.entries() - self.compacted_at;
        if !self.shape.compactions || since < COMPACTION_EVERY || self.done() {
            return Ok(());
        }
        self.compacted_at = self.recorder.entries();
        self.pause(25_000.0, 1.5);
        let kept = self.random.between(20, 60);
        let Some(first_kept) = self.recorder.ancestor(kept) else {
            return Ok(());
        };
        self.begin(b",\"summary\":\"");
        let scope = self.project.scope(self.place());
        let size = self.random.size(3_800.0, 1.3);
        prose::summary(&mut self.body, size, scope, &mut self.random);
        self.body.push(b'"');
        if self.shape.family == Family::Omp {
            self.body.extend_from_slice(b",\"shortSummary\":\"");
            prose::prose(&mut self.body, 120, scope, &mut self.random);
            self.body.push(b'"');
        }
        if self.shape.version == 1 {
            self.body.extend_from_slice(b",\"firstKeptEntryIndex\":");
            integer(&mut self.body, first_kept);
        } else {
            self.body.extend_from_slice(b",\"firstKeptEntryId\":\"");
            self.recorder.write_id(&mut self.body, first_kept);
            self.body.push(b'"');
        }
        integer_member(&mut self.body, "tokensBefore", self.tokens.context as u64);
        self.tokens.context = 20_000 + size / 4;
        self.recorder.compactions += 1;
        self.recorder.entry("compaction", Members::AfterIds, &self.body)
    }
}
