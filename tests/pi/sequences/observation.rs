//! What is to be seen of a session, as Leafline tells it and as pi does.

use std::collections::BTreeMap;

use leafline::{ContextLeaf, Error, ExportMode, Session, SessionReader};
use serde_json::Value;

use crate::flatten;
use crate::oracle::{Node, nodes, text, texts};

/// Everything that both programs tell of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Observation {
    pub(super) header: String,
    pub(super) name: Option<String>,
    pub(super) entries: Vec<String>,
    pub(super) leaf: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) path: Vec<String>,
    pub(super) tree: Vec<Node>,
    pub(super) context: String,
    /// Of each id that was asked for.
    pub(super) paths: Vec<Vec<String>>,
    pub(super) children: Vec<Vec<String>>,
    pub(super) contexts: Vec<String>,
    /// The session's file; `None` where it is not compared, or there is none.
    pub(super) file: Option<String>,
}

/// Whose a session's header is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Header {
    /// That of a file that both have opened.
    Shared,
    /// Each program's own: its id and its time differ, and so does what it calls the parent, which for pi is a file's
    /// path, and for Leafline, which has no files, a session's id.
    Own { parent: Option<String> },
}

impl Header {
    /// The header's text, in which what is each program's own is blank.
    fn comparable(&self, header: &str) -> String {
        // A file of somebody's may begin with a mark that is no part of its first line.
        let header = header.trim_start_matches('\u{feff}');
        let mut value: Value = serde_json::from_str(header).unwrap();
        if *self == Self::Shared {
            return value.to_string();
        }
        assert_eq!(value.to_string(), header, "a header as JSON.stringify writes it");
        for member in ["id", "timestamp", "parentSession"] {
            if let Some(value) = value.get_mut(member) {
                assert!(value.is_string(), "{member} of {header}");
                *value = Value::Null;
            }
        }
        value.to_string()
    }

    /// The file's text with such a header.
    fn comparable_file(&self, file: &str) -> String {
        match file.split_once('\n') {
            Some((header, rest)) if *self != Self::Shared => {
                format!("{}\n{rest}", self.comparable(header))
            }
            // The end of the last line may be missing from a file of somebody's.
            _ => file.strip_suffix('\n').unwrap_or(file).to_owned(),
        }
    }
}

/// An id, or null: the leaf for paths, nothing for contexts, and the entries without a parent for children.
pub(super) type Asked = Option<String>;

/// What Leafline tells.
pub(super) fn ours(session: &Session<'_>, header: &Header, asked: &[Asked]) -> Observation {
    let reader = session.reader().unwrap();
    let tree = reader.get_tree().unwrap();
    let entries: Vec<String> = tree.nodes().iter().map(|node| node.id.clone().unwrap()).collect();
    let labels = entries.iter().filter_map(|id| Some((id.clone(), reader.get_label(id).unwrap()?)));
    let mut file = Vec::new();
    reader.export(&ExportMode::Current, &mut file).unwrap();
    let line = reader.get_header().unwrap().unwrap();
    let line = String::from_utf8_lossy(line.line());
    if let Header::Own { parent } = header {
        let stated: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(text(&stated["parentSession"]), *parent, "the parent session");
    }
    Observation {
        header: header.comparable(line.trim_end()),
        name: reader.facts().title,
        leaf: reader.get_leaf().unwrap().and_then(|leaf| leaf.id()),
        labels: labels.collect(),
        path: path(&reader, None),
        tree: flatten(&tree, &Clone::clone),
        context: context(&reader, ContextLeaf::Current),
        paths: asked.iter().map(|id| path(&reader, id.as_deref())).collect(),
        children: asked.iter().map(|id| children(&reader, id.as_deref())).collect(),
        contexts: asked
            .iter()
            .map(|id| context(&reader, id.as_deref().map_or(ContextLeaf::None, ContextLeaf::Entry)))
            .collect(),
        entries,
        file: Some(header.comparable_file(&String::from_utf8_lossy(&file))),
    }
}

fn path(reader: &SessionReader<'_>, from: Option<&str>) -> Vec<String> {
    let mut ids = Vec::new();
    let walked = reader.get_path(from, |entry| {
        ids.push(entry.id().unwrap());
        Ok(())
    });
    // pi's path from an id that it does not know is empty.
    assert!(matches!(walked, Ok(_) | Err(Error::EntryNotFound { .. })), "{walked:?}");
    ids
}

fn children(reader: &SessionReader<'_>, parent: Option<&str>) -> Vec<String> {
    match reader.get_children(parent) {
        Ok(children) => children
            .iter()
            // Leafline answers all roots. pi leaves orphans out, such as what hung below a label that a branched
            // session does not take over.
            .filter(|child| parent.is_some() || child.parent_id().is_none())
            .map(|child| child.id().unwrap())
            .collect(),
        // pi knows no children of what it does not know.
        Err(Error::EntryNotFound { .. }) => Vec::new(),
        Err(error) => panic!("{error}"),
    }
}

fn context(reader: &SessionReader<'_>, leaf: ContextLeaf<'_>) -> String {
    let built = reader.build_context(leaf, None).unwrap().to_json();
    let mut written = Vec::new();
    reader.write_context(leaf, None, &mut written).unwrap();
    assert!(built.as_bytes() == written, "a context is written as it is built");
    built
}

/// What pi tells, and the text of its file as it is.
pub(super) fn theirs(observed: &Value, header: &Header) -> Observation {
    let file = text(&observed["file"]);
    Observation {
        header: header.comparable(&observed["header"].to_string()),
        name: text(&observed["name"]),
        entries: texts(&observed["entries"]),
        leaf: text(&observed["leafId"]),
        labels: serde_json::from_value(observed["labels"].clone()).unwrap(),
        path: texts(&observed["path"]),
        tree: nodes(&observed["tree"]).unwrap_or_default(),
        context: text(&observed["context"]).unwrap_or_default(),
        paths: observed["paths"].as_array().unwrap().iter().map(texts).collect(),
        children: observed["children"].as_array().unwrap().iter().map(texts).collect(),
        contexts: texts(&observed["contexts"]),
        file: file.map(|file| header.comparable_file(&file)),
    }
}

impl Observation {
    /// The first thing that differs, in words.
    pub(super) fn difference(&self, theirs: &Self) -> Option<String> {
        let shown = |value: &dyn std::fmt::Debug| format!("{value:#?}");
        let pairs = [
            ("header", shown(&self.header), shown(&theirs.header)),
            ("name", shown(&self.name), shown(&theirs.name)),
            ("entries", shown(&self.entries), shown(&theirs.entries)),
            ("leaf", shown(&self.leaf), shown(&theirs.leaf)),
            ("labels", shown(&self.labels), shown(&theirs.labels)),
            ("path", shown(&self.path), shown(&theirs.path)),
            ("tree", shown(&self.tree), shown(&theirs.tree)),
            ("context", shown(&self.context), shown(&theirs.context)),
            ("paths", shown(&self.paths), shown(&theirs.paths)),
            ("children", shown(&self.children), shown(&theirs.children)),
            ("contexts", shown(&self.contexts), shown(&theirs.contexts)),
            ("file", shown(&self.file), shown(&theirs.file)),
        ];
        if self == theirs {
            return None;
        }
        let (what, ours, theirs) = pairs.into_iter().find(|(_, ours, theirs)| ours != theirs)?;
        Some(format!("{what} differs\n{}", around(&ours, &theirs)))
    }
}

/// Both texts from a little before the place where they part.
fn around(ours: &str, theirs: &str) -> String {
    let same = ours.chars().zip(theirs.chars()).take_while(|(ours, theirs)| ours == theirs).count();
    let cut =
        |text: &str| -> String { text.chars().skip(same.saturating_sub(200)).take(500).collect() };
    format!("ours:   {}\ntheirs: {}", cut(ours), cut(theirs))
}
