//! Runs pi on Node.

use std::collections::{HashMap, HashSet};

use leafline_judges::{Answers, Questions, Script, folder, hangs, pi};
use serde_json::Value;

/// A node of a tree, depth first: id, depth, label.
pub(crate) type Node = (Option<String>, u64, Option<String>);

/// A version of pi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// 0.73.1.
    V0_73,
    /// 0.87.1.
    V0_87,
    /// 1.6.0, the newest one that Leafline knows.
    V1_6,
}

impl Version {
    pub(crate) const ALL: [Self; 3] = [Self::V0_73, Self::V0_87, Self::V1_6];

    /// Its name, to `load.mjs` and to Leafline.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::V0_73 => "0.73",
            Self::V0_87 => "0.87",
            Self::V1_6 => "1.6",
        }
    }
}

/// pi, ready to be asked.
pub(crate) struct Oracle {
    script: Script,
}

/// pi's answer for one file, and what it made of the file.
pub(crate) struct Answer {
    value: Value,
    /// The file after pi has opened it.
    pub(crate) file: Vec<u8>,
}

impl Oracle {
    /// Finds Node and version 0.73.1.
    pub(crate) fn find() -> Option<Self> {
        Self::find_version(Version::V0_73)
    }

    /// Finds Node and a version.
    pub(crate) fn find_version(version: Version) -> Option<Self> {
        let name = version.name();
        let script = || Script::new("node", folder("interop"), &["load.mjs", name]);
        pi(name).map(|_| Self { script: script() })
    }

    /// Starts a pi that takes jobs one by one. Answers come in their order. It ends when its input does.
    pub(crate) fn converse(&self) -> (Questions, Answers) {
        self.script.converse()
    }

    /// Has pi open copies of the files.
    pub(crate) fn load<'f>(&self, files: impl Iterator<Item = &'f [u8]>) -> Vec<Answer> {
        let copies = tempfile::tempdir().unwrap();
        let mut jobs = String::new();
        let mut paths = Vec::new();
        for (number, bytes) in files.enumerate() {
            let path = copies.path().join(format!("{number}.jsonl"));
            std::fs::write(&path, bytes).unwrap();
            jobs.push_str(&serde_json::json!({"op": "load", "path": path}).to_string());
            jobs.push('\n');
            paths.push(path);
        }
        let answers = self.ask(&jobs);
        assert_eq!(answers.len(), paths.len(), "an answer a file");
        answers
            .into_iter()
            .zip(paths)
            .map(|(value, path)| Answer { value, file: std::fs::read(path).unwrap() })
            .collect()
    }

    /// Passes jobs to pi, one per line, and returns its answers in their order: null for one that `serde_json` refuses.
    pub(crate) fn ask(&self, jobs: &str) -> Vec<Value> {
        let answers = self.script.ask(&jobs.lines().collect::<Vec<&str>>());
        assert!(!answers.iter().any(hangs), "pi hangs");
        answers
    }
}

/// A string of an answer.
pub(crate) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A list of strings.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

/// A tree; `None` if pi returned none.
pub(crate) fn nodes(value: &Value) -> Option<Vec<Node>> {
    let node =
        |node: &Value| (text(&node["id"]), node["depth"].as_u64().unwrap(), text(&node["label"]));
    Some(value.as_array()?.iter().map(node).collect())
}

impl Answer {
    /// pi found no session and began a new one, or could not read the file at all.
    pub(crate) fn found_no_session(&self) -> bool {
        self.value["ok"] != true || self.entries().is_empty()
    }

    /// The answer contains something that `serde_json` refuses.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.value.is_null()
    }

    pub(crate) fn entries(&self) -> Vec<Option<String>> {
        self.value["entries"].as_array().into_iter().flatten().map(text).collect()
    }

    pub(crate) fn leaf(&self) -> Option<String> {
        text(&self.value["leafId"])
    }

    pub(crate) fn path(&self) -> Option<Vec<String>> {
        let path = Some(&self.value["path"]).filter(|path| path.is_array())?;
        Some(texts(path))
    }

    pub(crate) fn tree(&self) -> Option<Vec<Node>> {
        nodes(&self.value["tree"])
    }

    pub(crate) fn repeats_ids(&self) -> bool {
        let mut seen = HashSet::new();
        self.entries().into_iter().any(|id| !seen.insert(id))
    }
}

/// A session's text with other ids, entry by entry: if a program makes up ids, only their places can be compared.
pub(crate) fn with_ids(bytes: &[u8], from: &[Option<String>], to: &[Option<String>]) -> Vec<u8> {
    let renames: HashMap<&str, &str> = from
        .iter()
        .zip(to)
        .filter_map(|(from, to)| Some((from.as_deref()?, to.as_deref()?)))
        .filter(|(from, to)| from != to)
        .collect();
    if renames.is_empty() {
        return bytes.to_vec();
    }
    let mut renamed = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    'text: while !rest.is_empty() {
        for member in ["\"id\":\"", "\"parentId\":\"", "\"firstKeptEntryId\":\""] {
            let Some(behind) = rest.strip_prefix(member.as_bytes()) else { continue };
            let id = behind.get(..8).and_then(|id| std::str::from_utf8(id).ok());
            if let Some(new) = id.and_then(|id| renames.get(id)) {
                renamed.extend_from_slice(member.as_bytes());
                renamed.extend_from_slice(new.as_bytes());
                rest = &behind[8..];
                continue 'text;
            }
        }
        renamed.push(rest[0]);
        rest = &rest[1..];
    }
    renamed
}
