//! What can be observed of a session in Leafline and in pi.

use std::collections::{BTreeMap, HashSet};

use leafline::context::{ContextLeaf, ContextProgram};
use leafline::error::SessionError;
use leafline::export::ExportMode;
use leafline::{Error, Session, SessionReader};
use serde_json::Value;

use crate::flatten;
use crate::oracle::{Node, nodes, text, texts};

/// Everything that both programs say about the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Observation {
    pub(super) header: String,
    pub(super) name: Option<String>,
    pub(super) entries: Vec<String>,
    pub(super) leaf: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    /// `None` here and below where pi would walk in a circle.
    pub(super) path: Option<Vec<String>>,
    pub(super) tree: Option<Vec<Node>>,
    pub(super) context: Option<String>,
    /// For each id that was asked for.
    pub(super) paths: Vec<Option<Vec<String>>>,
    pub(super) children: Vec<Vec<String>>,
    pub(super) contexts: Vec<Option<String>>,
    /// The session's file; `None` if it is not compared, or there is none.
    pub(super) file: Option<String>,
}

/// Whose a session's header is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Header {
    /// The text of a file that both have opened.
    Shared,
    /// The program's own values: its id and its time differ, and so does the parent's name, which is a file's path in pi. In
    /// Leafline it is the path of the file that the parent was imported from, otherwise the parent's id.
    Own { parent: Option<String> },
}

impl Header {
    /// The header's text, with each program's own values blanked.
    fn comparable(&self, header: &str) -> String {
        // A file of somebody's may begin with a mark that is not part of its first line.
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

/// What Leafline says.
pub(super) fn ours(session: &Session, header: &Header, asked: &[Asked]) -> Observation {
    let reader = session.reader().unwrap();
    let tree = reader.get_tree().unwrap();
    let entries: Vec<String> = tree.nodes().iter().map(|node| node.id.clone().unwrap()).collect();
    let labels = entries.iter().filter_map(|id| Some((id.clone(), reader.get_label(id).unwrap()?)));
    let mut file = Vec::new();
    reader.export(&ExportMode::Current, &mut file).unwrap();
    assert_eq!(reader.facts().entries, entries.len() as u64);
    for id in asked.iter().flatten().filter(|id| entries.contains(id)) {
        let entry = reader.get_entry(id).unwrap();
        assert_eq!(entry.id().as_ref(), Some(id));
        assert!(file.split_inclusive(|&byte| byte == b'\n').any(|line| line == entry.line()));
    }
    let line = reader.get_header().unwrap().unwrap();
    let line = String::from_utf8_lossy(line.line());
    if let Header::Own { parent } = header {
        let stated: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(text(&stated["parentSession"]), *parent, "the parent session");
    }
    Observation {
        header: header.comparable(line.trim_end()),
        name: reader.facts().title.map(String::from),
        leaf: reader.get_leaf().unwrap().and_then(|leaf| leaf.id()),
        labels: labels.collect(),
        path: Some(path(&reader, None)),
        tree: Some(flatten(&tree, &Clone::clone)),
        context: Some(context(&reader, ContextLeaf::Current)),
        paths: asked.iter().map(|id| Some(path(&reader, id.as_deref()))).collect(),
        children: asked.iter().map(|id| children(&reader, id.as_deref())).collect(),
        contexts: asked
            .iter()
            .map(|id| {
                let leaf = id.as_deref().map_or(ContextLeaf::None, ContextLeaf::Entry);
                Some(context(&reader, leaf))
            })
            .collect(),
        entries,
        file: Some(header.comparable_file(&String::from_utf8_lossy(&file))),
    }
}

fn path(reader: &SessionReader, from: Option<&str>) -> Vec<String> {
    let mut ids = Vec::new();
    let walked = reader.get_path(from, |entry| {
        ids.push(entry.id().unwrap());
        Ok(())
    });
    // pi's path from an unknown id is empty.
    assert!(
        matches!(walked, Ok(_) | Err(Error::Session(SessionError::EntryNotFound { .. }))),
        "{walked:?}"
    );
    ids
}

fn children(reader: &SessionReader, parent: Option<&str>) -> Vec<String> {
    match reader.get_children(parent) {
        Ok(children) => children
            .iter()
            // Leafline returns all roots. pi leaves orphans out, such as the children of a label that a branched
            // session omits.
            .filter(|child| parent.is_some() || child.parent_id().is_none())
            .map(|child| child.id().unwrap())
            .collect(),
        // pi returns no children for an unknown id.
        Err(Error::Session(SessionError::EntryNotFound { .. })) => Vec::new(),
        Err(error) => panic!("{error}"),
    }
}

fn context(reader: &SessionReader, leaf: ContextLeaf<'_>) -> String {
    // By the rules of the pi that plays the sequences.
    let program = || ContextProgram { family: None, as_of: Some("0.73.1".parse().unwrap()) };
    let built = reader.build_context(leaf, program()).unwrap().to_json();
    let mut written = Vec::new();
    reader.write_context(leaf, program(), &mut written).unwrap();
    assert!(built.as_bytes() == written, "a context is written as it is built");
    built
}

/// pi's observation, and the unchanged text of its file.
pub(super) fn theirs(observed: &Value, header: &Header) -> Observation {
    let file = text(&observed["file"]);
    Observation {
        header: header.comparable(&observed["header"].to_string()),
        name: text(&observed["name"]),
        entries: texts(&observed["entries"]),
        leaf: text(&observed["leafId"]),
        labels: serde_json::from_value(observed["labels"].clone()).unwrap(),
        path: path_of(&observed["path"]),
        tree: nodes(&observed["tree"]),
        context: text(&observed["context"]),
        paths: observed["paths"].as_array().unwrap().iter().map(path_of).collect(),
        children: observed["children"].as_array().unwrap().iter().map(texts).collect(),
        contexts: observed["contexts"].as_array().unwrap().iter().map(text).collect(),
        file: file.map(|file| header.comparable_file(&file)),
    }
}

fn path_of(value: &Value) -> Option<Vec<String>> {
    value.is_array().then(|| texts(value))
}

impl Observation {
    /// Whether an id is met twice.
    fn repeats_ids(&self) -> bool {
        let mut seen = HashSet::new();
        !self.entries.iter().all(|id| seen.insert(id))
    }

    /// Without what pi does not say, and what differs in its tree: for pi an entry whose id recurs is the later one,
    /// with the children of both and below the parents of both. In Leafline's tree it is an entry of its own.
    fn as_far_as(&self, theirs: &Self) -> Self {
        let mut ours = self.clone();
        if self.repeats_ids() {
            ours.tree.clone_from(&theirs.tree);
            ours.children.clone_from(&theirs.children);
        }
        ours.path = ours.path.filter(|_| theirs.path.is_some());
        ours.tree = ours.tree.filter(|_| theirs.tree.is_some());
        ours.context = ours.context.filter(|_| theirs.context.is_some());
        for (ours, theirs) in ours.paths.iter_mut().zip(&theirs.paths) {
            *ours = ours.take().filter(|_| theirs.is_some());
        }
        for (ours, theirs) in ours.contexts.iter_mut().zip(&theirs.contexts) {
            *ours = ours.take().filter(|_| theirs.is_some());
        }
        ours
    }

    /// The first thing that differs, in words.
    pub(super) fn difference(&self, theirs: &Self) -> Option<String> {
        let ours = self.as_far_as(theirs);
        if ours == *theirs {
            return None;
        }
        let shown = |value: &dyn std::fmt::Debug| format!("{value:#?}");
        let pairs = [
            ("header", shown(&ours.header), shown(&theirs.header)),
            ("name", shown(&ours.name), shown(&theirs.name)),
            ("entries", shown(&ours.entries), shown(&theirs.entries)),
            ("leaf", shown(&ours.leaf), shown(&theirs.leaf)),
            ("labels", shown(&ours.labels), shown(&theirs.labels)),
            ("path", shown(&ours.path), shown(&theirs.path)),
            ("tree", shown(&ours.tree), shown(&theirs.tree)),
            ("context", shown(&ours.context), shown(&theirs.context)),
            ("paths", shown(&ours.paths), shown(&theirs.paths)),
            ("children", shown(&ours.children), shown(&theirs.children)),
            ("contexts", shown(&ours.contexts), shown(&theirs.contexts)),
            ("file", shown(&ours.file), shown(&theirs.file)),
        ];
        let (what, ours, theirs) = pairs.into_iter().find(|(_, ours, theirs)| ours != theirs)?;
        Some(format!("{what} differs\n{}", around(&ours, &theirs)))
    }
}

/// Both texts from a little before the first difference.
fn around(ours: &str, theirs: &str) -> String {
    let same = ours.chars().zip(theirs.chars()).take_while(|(ours, theirs)| ours == theirs).count();
    let cut =
        |text: &str| -> String { text.chars().skip(same.saturating_sub(200)).take(500).collect() };
    format!("ours:   {}\ntheirs: {}", cut(ours), cut(theirs))
}
