//! The corpus: every file is exported unchanged, and the store's tree and leaf are those of the file in memory.

use std::path::{Path, PathBuf};

use leafline::Family;
use leafline::import::{ImportStatus, Refusal};
use leafline_import::claude::{LeafFinder, Scanner, for_each_node};
use leafline_import::lines;

use crate::forks::forks;
use crate::place::{Place, corpus};

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_file_of_the_corpus_comes_back() {
    let Some(corpus) = corpus() else { return };
    let mut imported = 0;
    for path in files(&corpus.join("claude")) {
        let place = Place::new();
        let bytes = std::fs::read(&path).unwrap();
        let report = place.import(&path);
        if report.refusal == Some(Refusal::NotASession) {
            println!("{}: {:?}", path.display(), report.reason);
            continue;
        }
        assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
        assert_eq!(report.family, Some(Family::Claude), "{report:?}");
        imported += 1;
        let session = report.session.unwrap();
        assert_eq!(Some(session.as_str()), path.file_stem().unwrap().to_str());
        assert_eq!(report.lines, lines::split(&bytes).count() as u64, "{}", path.display());
        assert!(place.exact(&session) == bytes, "{}", path.display());
        place.assert_sound();
        is_as_in_memory(&place, &session, &bytes, &path);
        assert_eq!(place.import(&path).status, ImportStatus::Unchanged);
    }
    assert!(imported > 50, "{imported}");
}

/// Uuids, parents and the leaf, compared with the rules in memory.
fn is_as_in_memory(place: &Place, session: &str, bytes: &[u8], path: &Path) {
    let mut finder = LeafFinder::new();
    let mut scanner = Scanner::new();
    let mut expected = Vec::new();
    for (line, text) in (0..).zip(lines::split(bytes)) {
        for_each_node(text, &mut scanner, |_, node| {
            finder.observe(line, node);
            if node.is_entry {
                let uuid = node.uuid.as_deref().map(String::from_utf8_lossy);
                expected.push(uuid.map(String::from));
            }
        });
    }
    let reader = place.store.reader(session).unwrap();
    let tree = reader.get_tree().unwrap();
    let found: Vec<_> = tree.nodes().iter().map(|node| node.id.clone()).collect();
    assert_eq!(found, expected, "{}", path.display());
    let leaf = finder.leaf();
    assert_eq!(tree.leaf(), leaf.map(|leaf| leaf.entry), "{}", path.display());
    let roots: Vec<usize> = finder.tree().roots().collect();
    assert_eq!(tree.roots(), roots, "{}", path.display());
    let theirs = finder.tree().forks();
    let theirs: Vec<_> = theirs.into_iter().map(|fork| (fork.at, fork.branches)).collect();
    assert_eq!(forks(&tree), theirs, "{}", path.display());
    let folded = reader.get_folded_tree().unwrap();
    let records = folded.nodes().iter().map(|node| node.records.len().max(1)).sum::<usize>();
    assert_eq!(records, tree.nodes().len(), "{}", path.display());
    assert_eq!(folded.forks().count(), theirs.len(), "{}", path.display());
}
