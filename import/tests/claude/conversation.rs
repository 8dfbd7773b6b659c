//! A file of Claude Code's in memory, to look up in, and its context.

use leafline_import::claude::{LeafFinder, Node, Scanner};
use leafline_import::conversation::HistoryScope;
use leafline_import::scan::Shape;
use leafline_import::text::decode;
use leafline_import::{Family, LineReader, ParentLink, Reading, lines};
use serde_json::Value;

use crate::in_memory::{Entry, InMemory};

/// The model that stands for the last one of each session, in the judge and here.
pub(crate) const MODEL: &str = "claude-opus-5-5";

/// A session whose lines are read as JSON or not at all.
pub(crate) fn conversation(file: &[u8]) -> InMemory<'_> {
    let reading = Reading::plain(Family::Claude);
    InMemory::new(file, |line| {
        let text = decode(line);
        let mut reader = LineReader::new(reading);
        let line = reader.read(&text);
        let kind = line.kind();
        let parent = match line.parent() {
            ParentLink::Id(id) => Some(id.into_owned()),
            ParentLink::NoId => Some(b"\xff".to_vec()),
            ParentLink::None | ParentLink::Previous => None,
        };
        kind.is_entry().then(|| Entry {
            id: line.id().map_or_else(|| b"\xfe".to_vec(), |id| id.into_owned()),
            kind: Some(kind),
            role: Some(line.role()),
            parent,
            pointer: Scanner::new().scan(&text).logical_parent().map(|uuid| uuid.into_owned()),
            is_sidechain: line.is_sidechain(),
            time_ms: line.time(),
        })
    })
}

/// The messages at an entry, and the lines of each.
pub(crate) fn messages(session: &mut InMemory<'_>, leaf: u64) -> (Vec<Value>, Vec<Vec<u64>>) {
    let (mut messages, mut lines) = (Vec::new(), Vec::new());
    let take = &mut |places: &[u64], json: &[u8]| {
        lines.push(places.to_vec());
        messages.push(serde_json::from_slice(json).unwrap());
        Ok(())
    };
    let scope = HistoryScope::Context;
    Family::Claude.context(session, &mut [], Some(leaf), scope, take).unwrap();
    (messages, lines)
}

/// The leaf that Leafline says a file has of which the lines are read as JSON or not at all.
pub(crate) fn leaf(file: &[u8]) -> Option<u64> {
    let (mut finder, mut scanner) = (LeafFinder::new(), Scanner::new());
    for (line, bytes) in (0..).zip(lines::split(file)) {
        let text = decode(bytes);
        let record = scanner.scan(&text);
        if record.scan().shape == Shape::Object {
            finder.observe(line, &Node::of(&record));
        }
    }
    finder.leaf().map(|leaf| leaf.line)
}

/// A file in which the last model is the one that the judge resumes sessions with.
pub(crate) fn for_judge(file: &str) -> String {
    let Some(at) = leaf(file.as_bytes()) else { return file.to_owned() };
    let take = &mut |_: &[u64], _: &[u8]| Ok(());
    let mut session = conversation(file.as_bytes());
    let scope = HistoryScope::Context;
    let Ok(settings) = Family::Claude.context(&mut session, &mut [], Some(at), scope, take);
    let model = settings.model.and_then(|model| model.model_id?.text());
    let Some(model) = model.filter(|model| model != MODEL) else { return file.to_owned() };
    let mut named = file.to_owned();
    for space in ["", " "] {
        let member = |model: &str| format!("\"model\":{space}\"{model}\"");
        named = named.replace(&member(MODEL), &member("another"));
        named = named.replace(&member(&model), &member(MODEL));
    }
    named
}
