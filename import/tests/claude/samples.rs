//! The samples, which are invented: one with everything, one as the document has it, an agent's file.

use std::fs;
use std::path::Path;

use leafline_import::claude::{
    LeafSource, Scanner, context, detect, full_history, messages, path, project_folder_name,
};
use leafline_import::conversation::PathEnd;
use leafline_import::forks::Fork;
use leafline_import::{lines, text};

use crate::{lines_of, read};

fn sample(name: &str) -> Vec<u8> {
    let folder =
        concat!(env!("CARGO_MANIFEST_DIR"), "/samples/claude/projects/-home-robin-work-tide-clock");
    fs::read(Path::new(folder).join(name)).unwrap()
}

const SESSION: &str = "5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl";
const DOCUMENTED: &str = "c0a4f1de-33b2-4d0b-9a51-7f6f0f4be2aa.jsonl";
const AGENT: &str = "agent-7d31c0be.jsonl";

#[test]
fn a_session_with_everything() {
    let file = sample(SESSION);
    let detection = detect(&file, true).unwrap();
    assert_eq!(detection.session_id.as_deref(), SESSION.strip_suffix(".jsonl"));
    assert_eq!(detection.version.as_deref(), Some("2.1.38"));
    assert_eq!(detection.agent, None);
    assert_eq!(
        project_folder_name(&detection.cwd.unwrap()),
        "-home-robin-work-tide-clock",
        "the folder the samples stand in"
    );

    let finder = read(&file);
    let leaf = finder.leaf().unwrap();
    assert_eq!((leaf.line, leaf.source), (21, LeafSource::LastPrompt));
    assert_eq!(finder.summary_line(), None);

    let tree = finder.into_tree();
    let shown = context(&tree, leaf.entry).unwrap();
    assert_eq!(lines_of(&tree, &shown.entries), [18, 19, 20, 21]);
    assert_eq!(shown.end, PathEnd::Boundary);
    assert_eq!(path(&tree, leaf.entry).unwrap().entries, shown.entries);
    // Across the boundary to a torn record, and from there over two that share a line.
    let history = full_history(&tree, leaf.entry).unwrap();
    let expected = [2, 3, 4, 6, 7, 10, 11, 15, 16, 16, 17, 18, 19, 20, 21];
    assert_eq!(lines_of(&tree, &history.entries), expected);
    assert_eq!(history.end, PathEnd::Root);

    let forks = tree.forks();
    let [Fork { at, branches }] = &forks[..] else { panic!("{forks:?}") };
    assert_eq!(tree.line(*at), 11);
    assert_eq!(lines_of(&tree, branches), [13, 15]);
    assert_eq!(tree.orphans().count(), 0);
    assert_eq!(lines_of(&tree, &tree.roots().collect::<Vec<_>>()), [2, 8, 18]);
}

#[test]
fn parts_of_one_message() {
    let file = sample(SESSION);
    let texts: Vec<_> = lines::split(&file).map(text::decode).collect();
    let mut scanner = Scanner::new();
    let ids: Vec<_> = texts.iter().map(|text| scanner.scan(text).message_id()).collect();
    let groups = messages((0..).zip(ids.iter().map(|id| id.as_deref())));
    let shared: Vec<Vec<usize>> = groups
        .into_iter()
        .filter(|message| message.entries.len() > 1)
        .map(|message| message.entries)
        .collect();
    assert_eq!(shared, [[3, 4]]);
}

#[test]
fn a_session_as_the_document_has_it() {
    let finder = read(&sample(DOCUMENTED));
    let leaf = finder.leaf().unwrap();
    assert_eq!((leaf.line, leaf.source), (4, LeafSource::Summary));
    assert_eq!(finder.summary_line(), Some(0));
    let tree = finder.tree();
    let conversation = path(tree, leaf.entry).unwrap();
    assert_eq!(lines_of(tree, &conversation.entries), [2, 3, 4]);
}

#[test]
fn a_file_of_an_agent() {
    let file = sample(AGENT);
    let agent = detect(&file, true).unwrap().agent.unwrap();
    assert_eq!(agent.id.as_deref(), Some("7d31c0be"));
    assert_eq!(agent.session_id.as_deref(), SESSION.strip_suffix(".jsonl"));
    let finder = read(&file);
    assert_eq!(finder.leaf().unwrap().line, 3);
}
