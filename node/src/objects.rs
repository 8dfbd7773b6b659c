//! Plain objects that are handed to JavaScript and taken from it.

use std::str::FromStr;

use leafline::Family;
use leafline::context::{ContextProgram, HistoryScope, ProgramVersion};
use leafline::list::SessionOrder;
use leafline::live::{Persistence, RepeatedIds};
use leafline::page::PageLimit;
use napi_derive::napi;

use crate::work::{Result, invalid};

/// A count, size, ordinal or time as JavaScript's number, which is exact up to 2^53.
pub(crate) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// An ordinal or a bound from JavaScript.
pub(crate) fn natural(value: i64, name: &str) -> Result<u64> {
    u64::try_from(value).map_err(|_| invalid(format!("{name} is {value}, and cannot be negative")))
}

/// The same for what is in memory.
pub(crate) fn count(value: i64, name: &str) -> Result<usize> {
    usize::try_from(natural(value, name)?).map_err(invalid)
}

/// The family with this name.
pub(crate) fn family(name: &str) -> Result<Family> {
    Family::from_str(name).map_err(invalid)
}

/// How a store is opened.
#[napi(object)]
#[derive(Default)]
pub struct StoreOptions {
    /// Bytes of memory for the engine's pages. Default: 64 MiB.
    pub page_cache_bytes: Option<i64>,
    /// Bytes of memory for decompressed lines. Default: 8 MiB.
    pub line_cache_bytes: Option<i64>,
    /// Whether to create a store that does not exist. Default: yes.
    pub create: Option<bool>,
    /// Whether the store is only read: methods that write fail. Default: no.
    pub read_only: Option<bool>,
}

impl StoreOptions {
    pub(crate) fn options(self) -> Result<leafline::StoreOptions> {
        let mut options = leafline::StoreOptions::default();
        if let Some(bytes) = self.page_cache_bytes {
            options.page_cache_bytes = count(bytes, "pageCacheBytes")?;
        }
        if let Some(bytes) = self.line_cache_bytes {
            options.line_cache_bytes = natural(bytes, "lineCacheBytes")?;
        }
        options.create = self.create.unwrap_or(options.create);
        options.read_only = self.read_only.unwrap_or(options.read_only);
        Ok(options)
    }
}

/// What a new session is to be.
#[napi(object)]
pub struct NewSession {
    /// Whose format its lines have.
    #[napi(ts_type = "Family")]
    pub family: String,
    /// The working directory.
    pub cwd: String,
    /// Its id; one is made as the family's program does if there is none.
    pub id: Option<String>,
    /// The lineage in the header; not in Opal's and Claude Code's sessions.
    pub parent_session: Option<String>,
    /// The title, in the header of omp's and Opal's, in a record of Claude Code's; not in pi's.
    pub title: Option<String>,
    /// Whether entries are stored unchanged. Otherwise those of omp's are stored as omp stores them: long strings are cut, and
    /// images become blobs.
    pub keep_everything: Option<bool>,
}

impl NewSession {
    pub(crate) fn session(self) -> Result<leafline::NewSession> {
        let mut new = leafline::NewSession::new(family(&self.family)?, self.cwd);
        new.id = self.id;
        new.parent_session = self.parent_session;
        new.title = self.title;
        if self.keep_everything == Some(true) {
            new.persistence = Some(Persistence::keep_everything());
        }
        Ok(new)
    }
}

/// How a session is opened.
#[napi(object)]
#[derive(Default)]
pub struct SessionOptions {
    /// Whether entries are stored unchanged. Otherwise those of omp's are stored as omp stores them: long strings are cut, and
    /// images become blobs.
    pub keep_everything: Option<bool>,
}

impl SessionOptions {
    pub(crate) fn open(
        self,
        store: &leafline::Store,
        id: &str,
    ) -> leafline::Result<leafline::Session> {
        let session = store.session(id)?;
        Ok(match self.keep_everything {
            Some(true) => session.with_persistence(Persistence::keep_everything()),
            _ => session,
        })
    }
}

/// Which sessions a list has. The default is all of them, the one with the latest message first.
#[napi(object)]
#[derive(Default)]
pub struct SessionFilter {
    /// Of this family alone.
    #[napi(ts_type = "Family")]
    pub family: Option<String>,
    /// Only of this working directory.
    pub cwd: Option<String>,
    /// Of this working directory, or one below it.
    pub below: Option<String>,
    /// With their last message at this time or later, in milliseconds since 1970.
    #[napi(ts_type = "Time")]
    pub since: Option<i64>,
    /// With their last message before this time.
    #[napi(ts_type = "Time")]
    pub until: Option<i64>,
    /// With this text in the title or in the beginning of the first prompt, in upper or lower case.
    pub text: Option<String>,
    /// Without the conversations of agents whose session is in the store.
    pub without_agents: Option<bool>,
    /// In this order. Default: `modified`.
    #[napi(ts_type = "'modified' | 'created' | 'title' | 'size'")]
    pub order: Option<String>,
    /// No more than these.
    pub limit: Option<i64>,
}

impl SessionFilter {
    pub(crate) fn filter(self) -> Result<leafline::list::SessionFilter> {
        let order = match self.order.as_deref() {
            None | Some("modified") => SessionOrder::Modified,
            Some("created") => SessionOrder::Created,
            Some("title") => SessionOrder::Title,
            Some("size") => SessionOrder::Size,
            Some(other) => return Err(invalid(format!("there is no order {other:?}"))),
        };
        Ok(leafline::list::SessionFilter {
            family: self.family.as_deref().map(family).transpose()?,
            cwd: self.cwd,
            below: self.below,
            since: self.since,
            until: self.until,
            text: self.text,
            without_agents: self.without_agents.unwrap_or_default(),
            order,
            limit: self.limit.map(|limit| count(limit, "limit")).transpose()?,
        })
    }
}

/// The facts of a session that are known without reading its lines.
#[napi(object)]
pub struct SessionFacts {
    /// The id by which it is addressed.
    pub id: String,
    /// Whose format it has.
    #[napi(ts_type = "Family")]
    pub family: String,
    /// The working directory: where the project was moved to, or else the one in the header.
    pub cwd: Option<String>,
    /// Its title or name.
    pub title: Option<String>,
    /// The beginning of the first user message, on one line.
    pub first_prompt: Option<String>,
    /// The lineage in the header; for an agent's conversation the id of the session that started it.
    pub parent_session: Option<String>,
    /// The agent whose conversation it is, if the session `parentSession` started it.
    pub agent: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub created: Option<i64>,
    /// When its last message was, in milliseconds since 1970.
    pub modified: Option<i64>,
    /// Messages of the user, the model and tools.
    pub messages: i64,
    /// Lines of all kinds.
    pub lines: i64,
    /// Entries.
    pub entries: i64,
    /// Bytes of the lines.
    pub bytes: i64,
    /// Lines that are not JSON.
    pub malformed: i64,
    /// Entries whose parent is not in the session.
    pub orphans: i64,
    /// Entries whose id a later entry also has.
    pub duplicates: i64,
    /// Entries without a string id.
    pub unaddressed: i64,
    /// Whether some parents come later, ids repeat or parents form a loop.
    pub irregular: bool,
    /// Whether a migration rewrote it.
    pub migrated: bool,
}

impl From<&leafline::SessionFacts> for SessionFacts {
    fn from(facts: &leafline::SessionFacts) -> Self {
        let text =
            |text: &Option<leafline::list::SharedText>| text.as_ref().map(ToString::to_string);
        Self {
            id: facts.id.to_string(),
            family: facts.family.name().to_owned(),
            cwd: text(&facts.cwd),
            title: text(&facts.title),
            first_prompt: text(&facts.first_prompt),
            parent_session: text(&facts.parent_session),
            agent: text(&facts.agent),
            created: facts.created,
            modified: facts.modified,
            messages: number(facts.messages),
            lines: number(facts.lines),
            entries: number(facts.entries),
            bytes: number(facts.bytes),
            malformed: number(facts.malformed),
            orphans: number(facts.orphans),
            duplicates: number(facts.duplicates),
            unaddressed: number(facts.unaddressed),
            irregular: facts.irregular,
            migrated: facts.migrated,
        }
    }
}

/// One line of a session, with its place in it.
#[napi(object)]
pub struct Entry {
    /// Its number in its session, from 0, the header included.
    pub ordinal: i64,
    /// Its id; absent if it has none.
    pub id: Option<String>,
    /// The id of the parent that the line names, whether the session has such an entry or not.
    pub parent_id: Option<String>,
    /// The name of its type as the line states it.
    #[napi(js_name = "type")]
    pub type_name: Option<String>,
    /// Whose message it is; absent if it is not a message.
    pub role: Option<String>,
    /// Its timestamp in milliseconds since 1970, if it states one.
    pub timestamp: Option<i64>,
    /// The line, without its line feed. Bytes that are not UTF-8 are shown as U+FFFD: `SessionReader.lineBytes` has them.
    pub line: String,
}

impl From<&leafline::Entry> for Entry {
    fn from(entry: &leafline::Entry) -> Self {
        let role = entry.role();
        let is_message = role != leafline::MessageRole::None;
        Self {
            ordinal: number(entry.ordinal()),
            id: entry.id(),
            parent_id: entry.parent_id(),
            type_name: entry.type_name(),
            role: is_message.then(|| role.to_string()),
            timestamp: entry.timestamp(),
            line: line_text(entry.line()),
        }
    }
}

/// A line as text, without its line feed.
pub(crate) fn line_text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    String::from_utf8_lossy(line).into_owned()
}

/// The size of a page. Whichever bound is reached first ends it; a page has at least one entry, if there is one.
#[napi(object)]
#[derive(Default)]
pub struct PageSize {
    /// Entries. Default: 100.
    pub entries: Option<i64>,
    /// Total bytes of their lines. Default: 1 MiB.
    pub bytes: Option<i64>,
}

pub(crate) fn page_limit(size: Option<PageSize>) -> Result<PageLimit> {
    let (mut limit, size) = (PageLimit::default(), size.unwrap_or_default());
    if let Some(entries) = size.entries {
        limit.entries = count(entries, "entries")?;
    }
    if let Some(bytes) = size.bytes {
        limit.bytes = natural(bytes, "bytes")?;
    }
    Ok(limit)
}

/// Some entries of a session, and where to continue.
#[napi(object)]
pub struct Page {
    /// The entries, in the order that the method names.
    pub entries: Vec<Entry>,
    /// The ordinal of the entry that comes next; absent at the end.
    pub next: Option<i64>,
}

impl From<leafline::page::Page> for Page {
    fn from(page: leafline::page::Page) -> Self {
        Self {
            entries: page.entries.iter().map(Entry::from).collect(),
            next: page.next.map(number),
        }
    }
}

/// One entry in a session's tree.
#[napi(object)]
pub struct TreeNode {
    /// The entry's ordinal.
    pub ordinal: i64,
    /// Its id, where it has one.
    pub id: Option<String>,
    /// Its kind.
    pub kind: String,
    /// Whose message it is; absent if it is not a message.
    pub role: Option<String>,
    /// Its timestamp in milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// The label set on it.
    pub label: Option<String>,
    /// Whether it names a parent that the session does not have.
    pub is_orphan: bool,
    /// Whether the conversation branches here.
    pub is_fork: bool,
    /// The place of its parent in `Tree.nodes`.
    pub parent: Option<u32>,
    /// The places of its children.
    pub children: Vec<u32>,
}

/// A session's tree, without the text of its lines.
#[napi(object)]
pub struct Tree {
    /// All entries in the order of the file.
    pub nodes: Vec<TreeNode>,
    /// The places of the roots in `nodes`.
    pub roots: Vec<u32>,
    /// The place of the current leaf.
    pub leaf: Option<u32>,
    /// How many branches it has.
    pub branches: i64,
}

impl From<&leafline::tree::Tree> for Tree {
    fn from(tree: &leafline::tree::Tree) -> Self {
        let place = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let places = |places: &[usize]| places.iter().copied().map(place).collect();
        let node = |node: &leafline::tree::TreeNode| TreeNode {
            ordinal: number(node.ordinal),
            id: node.id.clone(),
            kind: node.kind.to_string(),
            role: (node.role != leafline::MessageRole::None).then(|| node.role.to_string()),
            timestamp: node.timestamp,
            label: node.label.clone(),
            is_orphan: node.is_orphan,
            is_fork: node.is_fork,
            parent: node.parent.map(place),
            children: places(&node.children),
        };
        Self {
            nodes: tree.nodes().iter().map(node).collect(),
            roots: places(tree.roots()),
            leaf: tree.leaf().map(place),
            branches: number(tree.branches()),
        }
    }
}

/// At which entry a context is built, and by which rules.
#[napi(object)]
#[derive(Default)]
pub struct ContextOptions {
    /// The id of the entry; the current leaf if it is absent.
    pub leaf: Option<String>,
    /// Whether it is built before the first entry, where it is empty.
    pub before_all: Option<bool>,
    /// The program whose context is built: pi's and omp's sessions can be read as each other's.
    #[napi(ts_type = "Family")]
    pub program: Option<String>,
    /// The version of the program whose rules are followed, as `0.73.1`; the newest one if it is absent.
    pub as_of: Option<String>,
    /// Whether what was compacted is in it too.
    pub full: Option<bool>,
}

/// The same, checked.
pub(crate) struct Asked {
    pub(crate) leaf: Option<String>,
    pub(crate) before_all: bool,
    pub(crate) program: ContextProgram,
    pub(crate) scope: HistoryScope,
}

impl Asked {
    pub(crate) fn new(options: Option<ContextOptions>) -> Result<Self> {
        let options = options.unwrap_or_default();
        let as_of = options.as_of.as_deref().map(ProgramVersion::from_str).transpose();
        Ok(Self {
            leaf: options.leaf,
            before_all: options.before_all.unwrap_or_default(),
            program: ContextProgram {
                family: options.program.as_deref().map(family).transpose()?,
                as_of: as_of.map_err(invalid)?,
            },
            scope: match options.full {
                Some(true) => HistoryScope::Full,
                _ => HistoryScope::Context,
            },
        })
    }
}

/// How `Session.appendLines` treats lines that the session already has.
#[napi(object)]
#[derive(Default)]
pub struct AppendOptions {
    /// Whether they are left out, so that the same lines can be given again. Otherwise they are added, and as in a file, the
    /// later of two entries with one id counts.
    pub ignore_repeated: Option<bool>,
}

pub(crate) fn repeated_ids(options: Option<AppendOptions>) -> RepeatedIds {
    match options.unwrap_or_default().ignore_repeated {
        Some(true) => RepeatedIds::Ignore,
        _ => RepeatedIds::Add,
    }
}

/// What became of appended lines.
#[napi(object)]
pub struct AppendedLines {
    /// Lines that were added, blank ones included.
    pub added: i64,
    /// Lines that were left out, since an entry with their id was there.
    pub ignored: i64,
}
