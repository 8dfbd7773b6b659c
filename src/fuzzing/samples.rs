//! Seeds: the samples of the formats.

use std::path::{Path, PathBuf};

use crate::import::ImportOptions;
use crate::store::Store;

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

/// The files behind a byte that chooses their family, and behind one that leaves the choice to them.
pub(super) fn with_family() -> Vec<Vec<u8>> {
    let chosen = |(family, bytes): (u8, Vec<u8>)| {
        [[&[family], &*bytes].concat(), [&[u8::MAX], &*bytes].concat()]
    };
    sessions().into_iter().flat_map(chosen).collect()
}

/// The same behind two bytes: the second says what is recovered.
pub(super) fn with_choices() -> Vec<Vec<u8>> {
    let chosen = |(family, bytes): (u8, Vec<u8>)| {
        [[&[u8::MAX, 0], &*bytes].concat(), [&[family, 1], &*bytes].concat()]
    };
    sessions().into_iter().flat_map(chosen).collect()
}

/// The lines of the files, and values that are written in other ways than they are stored.
pub(super) fn lines() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for file in files() {
        lines.extend(leafline_import::lines::split(&file).map(<[u8]>::to_vec));
    }
    let values: [&[u8]; 6] = [
        br#"{"b":1.0,"a":"\/\u00e9","1":-0,"b":[1E400,1e-7,123456789012345678901]}"#,
        br#"["\ud83c\udf43","\ud83c","\u0000\u001f\u2028","\b\f\n\r\t\"\\"]"#,
        b" [ true , false , null , {} , [] , \"\" ] ",
        br#"{"id":"","":{"":[[[[]]]]},"10":1,"9":2,"01":3,"__proto__":{"toJSON":1}}"#,
        b"5e-324",
        b"\xef\xbb\xbf{}",
    ];
    lines.extend(values.map(<[u8]>::to_vec));
    lines
}

/// Lines with references to blobs, and with their bytes.
pub(super) fn blobs() -> Vec<Vec<u8>> {
    let reference = format!("blob:sha256:{}", "0123456789abcdef".repeat(4));
    let image = "iVBORw0KGgo".repeat(96);
    let mut seeds = vec![
        format!("{{\"content\":[{{\"type\":\"image\",\"data\":\"{reference}\"}}]}}"),
        format!("[\"{reference}\",\"x{reference}\",\"{reference}0\"]"),
        format!("{{\"message\":{{\"content\":[{{\"type\":\"image\",\"data\":\"{image}\"}}]}}}}"),
        format!("{{\"data\":\"{image}A===\"}}"),
        reference,
    ];
    seeds.iter_mut().for_each(|seed| seed.push('\n'));
    let of_files = lines().into_iter().filter(|line| line.len() > 1024);
    seeds.into_iter().map(String::into_bytes).chain(of_files).collect()
}

/// Values of the tables of a store with all the files.
pub(super) fn values() -> Vec<Vec<u8>> {
    let store = Store::in_memory().expect("memory takes a store");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples");
    store.import(&[folder], &ImportOptions::default(), &mut ()).expect("the samples are sessions");
    for number in 0..5 {
        let prompt = format!("prompt number {number}");
        store.history().add(&prompt, Some("/work")).expect("a prompt can be added");
    }
    crate::store::fuzzing::seeds(&store)
}
