//! Seeds: the samples of the formats.

use std::path::{Path, PathBuf};

/// The longest seed: of a longer file the beginning.
const LONGEST: usize = 16 << 10;

/// The files of sessions, and their families' codes.
fn sessions() -> Vec<(u8, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples");
    let mut paths = Vec::new();
    find(&folder, &mut paths);
    paths.sort();
    let read = |path: &PathBuf| {
        let family = path.strip_prefix(&folder).ok()?.components().next()?;
        let family: leafline_import::Family = family.as_os_str().to_str()?.parse().ok()?;
        let mut bytes = std::fs::read(path).expect("the samples can be read");
        bytes.truncate(LONGEST);
        Some((family.code(), bytes))
    };
    paths.iter().filter_map(read).collect()
}

fn find(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the samples are beside the sources") {
        let path = entry.expect("the samples can be listed").path();
        if path.is_dir() {
            find(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            paths.push(path);
        }
    }
}

/// The files alone.
pub(super) fn files() -> Vec<Vec<u8>> {
    sessions().into_iter().map(|(_, bytes)| bytes).collect()
}

/// The files behind two bytes that say how they are read.
pub(super) fn with_two_bytes() -> Vec<Vec<u8>> {
    files().into_iter().map(|bytes| [&[100, 255], &*bytes].concat()).collect()
}
