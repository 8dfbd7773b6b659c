//! Reading a line's facts, whatever its family.

use std::borrow::Cow;

use leafline_import::claude::{self, RecordKind};
use leafline_import::opal::{self, LineKind};
use leafline_import::recover::{Recovered, RecoveredParent, Wholeness, recover};
use leafline_import::scan::{Payload, Raw, Scan, Scanner, Shape};
use leafline_import::{EntryKind, Family, MessageRole, pi_omp, text, time};

use crate::error::Result;
use crate::store::session_record::SessionRecord;

/// Bytes of the shortest line that can hold a payload.
const SHORTEST_WITH_PAYLOAD: usize = leafline_import::scan::SMALLEST_BASE64;

/// How the lines of a session are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Whose they are.
    pub(crate) family: Family,
    /// Whether records are recovered from lines that are not JSON.
    pub(crate) recovers: bool,
}

impl Reading {
    /// That of a stored session.
    pub(crate) fn of(record: &SessionRecord) -> Result<Self> {
        Ok(Self { family: record.known_family()?, recovers: record.recovers })
    }

    /// That of sessions which are made here: every line is JSON.
    pub(crate) fn plain(family: Family) -> Self {
        Self { family, recovers: false }
    }
}

/// Reads lines; keeps its memory from one to the next.
#[derive(Debug)]
pub(crate) struct LineReader {
    reading: Reading,
    scanner: Scanner,
    claude: claude::Scanner,
    opal: opal::Scanner,
}

impl LineReader {
    pub(crate) fn new(reading: Reading) -> Self {
        Self {
            reading,
            scanner: Scanner::new(),
            claude: claude::Scanner::new(),
            opal: opal::Scanner::new(),
        }
    }

    pub(crate) fn reading(&self) -> Reading {
        self.reading
    }

    /// Reads the lines of another session from now on.
    pub(crate) fn set_reading(&mut self, reading: Reading) {
        self.reading = reading;
    }

    /// The facts of a line, or of a record on its own, given its decoded text.
    pub(crate) fn read<'a>(&mut self, text: &'a str) -> Line<'a> {
        let scan = self.scan(text);
        let shape = scan.shape();
        let is_malformed = shape == Shape::Malformed;
        if !is_malformed || !self.reading.recovers {
            return Line::new(scan, is_malformed);
        }
        let Some(recovered) = recover(text.as_bytes()).into_iter().next() else {
            return Line::new(scan, is_malformed);
        };
        // What is JSON by itself, with something around it, has all its facts.
        if recovered.wholeness == Wholeness::Whole
            && let Some(whole) = text.get(recovered.bytes.clone())
        {
            let scan = self.scan(whole);
            if scan.shape() == Shape::Object {
                return Line::new(scan, is_malformed);
            }
        }
        Line::new(LineScan::Recovered(self.reading.family, recovered), is_malformed)
    }

    fn scan<'a>(&mut self, text: &'a str) -> LineScan<'a> {
        match self.reading.family {
            Family::Claude => LineScan::Claude(self.claude.scan(text)),
            Family::Opal => {
                if text.len() >= SHORTEST_WITH_PAYLOAD {
                    self.scanner.scan(text);
                }
                LineScan::Opal(self.opal.scan(text))
            }
            _ => LineScan::PiOmp(self.scanner.scan(text)),
        }
    }

    /// What the user or the model says in a line on its own, which is known to be a message.
    pub(crate) fn message_text(&mut self, line: &[u8]) -> Option<String> {
        let decoded = text::decode(line);
        self.read(text::trim_start_of_file(&decoded)).message_text()
    }

    /// The payloads of the line with this text, which was read last and is JSON.
    pub(crate) fn payloads(&self, text: &str) -> &[Payload] {
        match self.reading.family {
            Family::Claude => self.claude.payloads(),
            Family::Opal if text.len() < SHORTEST_WITH_PAYLOAD => &[],
            _ => self.scanner.payloads(),
        }
    }
}

/// Reads something off one line that is on its own, as it would be read in its file.
pub(crate) fn read_line<T>(reading: Reading, line: &[u8], read: impl FnOnce(&Line<'_>) -> T) -> T {
    let decoded = text::decode(line);
    read(&LineReader::new(reading).read(text::trim_start_of_file(&decoded)))
}

/// Scans one line of pi or omp that is on its own, as it would be scanned in its file.
pub(crate) fn scan_line<T>(line: &[u8], read: impl FnOnce(&Scan<'_>) -> T) -> T {
    let decoded = text::decode(line);
    read(&Scanner::new().scan(text::trim_start_of_file(&decoded)))
}

/// What a line says of its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParentLink<'a> {
    /// Nothing, null, or an empty id: a root, or no entry.
    None,
    /// This id, WTF-8.
    Id(Cow<'a, [u8]>),
    /// A value that is no id: it can name no entry.
    NoId,
}

/// One line, or one record of it.
#[derive(Debug, Clone)]
pub(crate) struct Line<'a> {
    scan: LineScan<'a>,
    is_malformed: bool,
    kind: EntryKind,
    role: MessageRole,
}

/// What a line is read from.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a box would cost every line an allocation")]
pub(crate) enum LineScan<'a> {
    PiOmp(Scan<'a>),
    Claude(claude::Record<'a>),
    Opal(opal::Line<'a>),
    /// What could be read of a record that is not JSON.
    Recovered(Family, Recovered<'a>),
}

impl<'a> LineScan<'a> {
    fn shape(&self) -> Shape {
        match self {
            Self::PiOmp(scan) => scan.shape,
            Self::Claude(record) => record.scan().shape,
            Self::Opal(line) => line.shape,
            Self::Recovered(..) => Shape::Malformed,
        }
    }

    /// What kind of line it is.
    fn kind(&self) -> EntryKind {
        match self {
            Self::PiOmp(scan) => match EntryKind::of(scan) {
                // Only a title line stands outside the tree; a record of that type with an id is an entry.
                EntryKind::Title if scan.members.id.is_some_and(Raw::is_string) => {
                    EntryKind::Unknown
                }
                kind => kind,
            },
            Self::Claude(record) if record.is_compact_boundary() => EntryKind::Compaction,
            Self::Claude(record) => kind_of_record(record.kind(), record.is_entry()),
            Self::Opal(line) => match line.kind() {
                LineKind::Blank => EntryKind::Blank,
                LineKind::Malformed => EntryKind::Malformed,
                LineKind::Scalar => EntryKind::Scalar,
                LineKind::Header => EntryKind::Header,
                LineKind::Message => EntryKind::Message,
            },
            Self::Recovered(Family::Claude, recovered) => {
                match claude::Node::of_recovered(recovered) {
                    node if node.is_entry => kind_of_record(node.kind, true),
                    _ => EntryKind::Malformed,
                }
            }
            Self::Recovered(_, recovered) if recovered.id.is_some() => {
                let name = recovered.record_type.as_deref();
                let kind = name.and_then(EntryKind::of_name).filter(|kind| kind.is_entry());
                kind.unwrap_or(EntryKind::Unknown)
            }
            Self::Recovered(..) => EntryKind::Malformed,
        }
    }

    /// Whose message it is.
    fn role(&self, kind: EntryKind) -> MessageRole {
        match self {
            Self::PiOmp(scan) if kind == EntryKind::Message => MessageRole::of(scan),
            Self::Claude(record) if kind == EntryKind::Message => role_of_record(record),
            Self::Opal(line) => summary_role(line).unwrap_or_else(|| line.role()),
            Self::Recovered(Family::Claude, _) if kind == EntryKind::Message => {
                match self.type_name().as_deref() {
                    Some("assistant") => MessageRole::Assistant,
                    _ => MessageRole::Other,
                }
            }
            _ => MessageRole::None,
        }
    }

    /// The value of its `type`.
    fn type_name(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::PiOmp(scan) => scan.members.entry_type.and_then(Raw::to_string_lossy),
            Self::Claude(record) => record.type_name(),
            Self::Opal(line) => line.members.entry_type.and_then(Raw::to_string_lossy),
            Self::Recovered(_, recovered) => {
                let name = recovered.record_type.as_deref();
                name.map(|name| Cow::Owned(String::from_utf8_lossy(name).into_owned()))
            }
        }
    }
}

impl<'a> Line<'a> {
    fn new(scan: LineScan<'a>, is_malformed: bool) -> Self {
        let kind = scan.kind();
        let role = scan.role(kind);
        Self { scan, is_malformed, kind, role }
    }

    /// What it was read from.
    pub(crate) fn scan(&self) -> &LineScan<'a> {
        &self.scan
    }

    /// Whether it is not JSON, whatever could be recovered of it.
    pub(crate) fn is_malformed(&self) -> bool {
        self.is_malformed
    }

    /// What kind of line it is.
    pub(crate) fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Whose message it is.
    pub(crate) fn role(&self) -> MessageRole {
        self.role
    }

    /// The value of its `type`.
    pub(crate) fn type_name(&self) -> Option<Cow<'a, str>> {
        self.scan.type_name()
    }

    /// Whether it is part of an agent's conversation beside the session's own.
    pub(crate) fn is_sidechain(&self) -> bool {
        match &self.scan {
            LineScan::Claude(record) => record.is_sidechain(),
            LineScan::Recovered(_, recovered) => recovered.is_sidechain,
            LineScan::PiOmp(_) | LineScan::Opal(_) => false,
        }
    }

    /// Its timestamp in milliseconds since 1970.
    pub(crate) fn time(&self) -> Option<i64> {
        let timestamp = match &self.scan {
            LineScan::PiOmp(scan) => scan.members.timestamp.and_then(Raw::to_string_lossy),
            LineScan::Claude(record) => return record.timestamp_ms(),
            LineScan::Opal(line) => return line.timestamp(),
            LineScan::Recovered(_, recovered) => {
                recovered.timestamp.as_deref().map(String::from_utf8_lossy)
            }
        };
        timestamp.and_then(|timestamp| time::parse_timestamp(&timestamp))
    }

    /// When the user or the model said something.
    pub(crate) fn activity(&self) -> Option<i64> {
        match (&self.scan, self.role()) {
            (LineScan::PiOmp(scan), MessageRole::User | MessageRole::Assistant) => {
                pi_omp::message_timestamp(scan).or_else(|| self.time())
            }
            (LineScan::Claude(record), _) if record.kind().is_message() => self.time(),
            (LineScan::Opal(_), _) => self.time(),
            _ => None,
        }
    }

    /// What the user or the model says in it: its text, or its text blocks with a space between them, as pi lists
    /// sessions. `None` for all else, and where there is none.
    pub(crate) fn message_text(&self) -> Option<String> {
        if !matches!(self.role(), MessageRole::User | MessageRole::Assistant) {
            return None;
        }
        match &self.scan {
            LineScan::PiOmp(scan) => pi_omp::message_text(scan),
            LineScan::Claude(record) => pi_omp::message_text(record.scan()),
            LineScan::Opal(line) => {
                line.content().map(Cow::into_owned).filter(|text| !text.is_empty())
            }
            LineScan::Recovered(..) => None,
        }
    }

    /// The id by which others name it, WTF-8.
    pub(crate) fn id(&self) -> Option<Cow<'a, [u8]>> {
        match &self.scan {
            LineScan::PiOmp(scan) => scan.members.id.and_then(Raw::as_string),
            LineScan::Claude(record) => record.uuid(),
            LineScan::Opal(line) => line.id(),
            LineScan::Recovered(Family::Claude, recovered) => recovered.uuid.clone(),
            LineScan::Recovered(_, recovered) => recovered.id.clone(),
        }
    }

    /// Its parent.
    pub(crate) fn parent(&self) -> ParentLink<'a> {
        match &self.scan {
            LineScan::PiOmp(scan) => {
                match scan.members.parent_id.filter(|parent| parent.is_truthy()) {
                    None => ParentLink::None,
                    Some(raw) => raw.as_string().map_or(ParentLink::NoId, ParentLink::Id),
                }
            }
            LineScan::Claude(record) => match record.parent() {
                claude::Parent::Root => ParentLink::None,
                claude::Parent::Uuid(uuid) => ParentLink::Id(uuid),
                claude::Parent::Unusable => ParentLink::NoId,
            },
            LineScan::Opal(line) => match line.parent() {
                opal::Parent::Root => ParentLink::None,
                opal::Parent::Id(id) => ParentLink::Id(id),
                opal::Parent::NoId => ParentLink::NoId,
            },
            LineScan::Recovered(family, recovered) => {
                let is_claude = *family == Family::Claude;
                let parent = if is_claude { &recovered.parent_uuid } else { &recovered.parent_id };
                match parent {
                    None | Some(RecoveredParent::Null) => ParentLink::None,
                    Some(RecoveredParent::Id(id)) if id.is_empty() => ParentLink::None,
                    Some(RecoveredParent::Id(id)) => ParentLink::Id(id.clone()),
                    Some(RecoveredParent::Other) => ParentLink::NoId,
                }
            }
        }
    }

    /// The name under which it counts; `None` where kind and role say it.
    pub(crate) fn count_name(&self) -> Option<Cow<'a, str>> {
        let kind = self.kind();
        match &self.scan {
            _ if matches!(kind, EntryKind::Blank | EntryKind::Malformed | EntryKind::Scalar) => {
                None
            }
            LineScan::Claude(record) => Some(match record.subtype() {
                Some(subtype) if record.kind() == RecordKind::System => {
                    Cow::Owned(format!("system/{subtype}"))
                }
                _ => self.type_name().unwrap_or_default(),
            }),
            LineScan::Opal(line) if kind == EntryKind::Message => {
                Some(line.members.role.and_then(Raw::to_string_lossy).unwrap_or_default())
            }
            _ if kind == EntryKind::Unknown => Some(self.type_name().unwrap_or_default()),
            _ => None,
        }
    }
}

/// The kind of a record of Claude Code that is no compact boundary.
fn kind_of_record(kind: RecordKind, is_entry: bool) -> EntryKind {
    match kind {
        RecordKind::Blank => EntryKind::Blank,
        RecordKind::Malformed => EntryKind::Malformed,
        RecordKind::Scalar => EntryKind::Scalar,
        RecordKind::Summary if !is_entry => EntryKind::Summary,
        _ if !is_entry => EntryKind::Outside,
        RecordKind::User | RecordKind::Assistant => EntryKind::Message,
        RecordKind::System => EntryKind::System,
        _ => EntryKind::Unknown,
    }
}

/// Whose message a record of Claude Code is. The user's are prompts alone.
fn role_of_record(record: &claude::Record<'_>) -> MessageRole {
    match record.kind() {
        RecordKind::Assistant => MessageRole::Assistant,
        _ if record.is_compact_summary() => MessageRole::CompactionSummary,
        _ if record.is_meta() => MessageRole::Meta,
        _ if record.is_prompt() => MessageRole::User,
        _ => match record.content() {
            claude::Content::ToolResults => MessageRole::ToolResult,
            _ => MessageRole::Other,
        },
    }
}

/// The role of a message that sums up others. Opal marks it by its metadata alone.
fn summary_role(line: &opal::Line<'_>) -> Option<MessageRole> {
    let kind = line.members.metadata?.member("type")?;
    match kind.as_string().as_deref() {
        Some(b"compaction_summary") => Some(MessageRole::CompactionSummary),
        Some(b"branch_summary") => Some(MessageRole::BranchSummary),
        _ => None,
    }
}
