//! `leafline rm` on a disk that is full.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::scene::{Run, Scene, file, finished, header, message, path, run_on};

/// A store with the sessions `a`, `b` and `c`, of some ten kilobytes each, no page of which is free.
fn three_sessions() -> Scene {
    let scene = Scene::new();
    for id in ["a", "b", "c"] {
        let messages = (0..200_u32).map(|entry| {
            let parent = entry.checked_sub(1).map(|parent| format!("{parent:08x}"));
            let text =
                format!("{id} {entry} {:x}", u64::from(entry).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            message(&format!("{entry:08x}"), parent.as_deref(), &text)
        });
        scene.write(&format!("in/{id}.jsonl"), &file([header(id)].into_iter().chain(messages)));
    }
    scene.run(["import", path(&scene.folder().join("in"))]).ok();
    scene.run(["compact"]).ok();
    scene
}

fn ids(store: &Path) -> Vec<String> {
    let listed = run_on(store, ["ls", "--json"]).ok().json_lines();
    let mut ids: Vec<String> =
        listed.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// Runs the command where no file can grow beyond so many blocks of 512 bytes, as on a disk that is full.
fn run_limited(store: &Path, blocks: u64, arguments: &str) -> Run {
    let script = format!("ulimit -f {blocks}; exec {} {arguments}", env!("CARGO_BIN_EXE_leafline"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env("LEAFLINE_STORE", store).stdin(Stdio::null());
    finished(shell.output().unwrap())
}

/// Copies of a store, one for each limit of a file's size, from what it is now to where everything works.
fn limits(scene: &Scene) -> impl Iterator<Item = (PathBuf, u64)> {
    let blocks = std::fs::metadata(scene.store()).unwrap().len() / 512;
    (0..24).map(move |step| {
        let copy = scene.folder().join(format!("copy-{step}.leafline"));
        std::fs::copy(scene.store(), &copy).unwrap();
        (copy, blocks + step * 24)
    })
}

#[test]
fn on_a_full_disk_all_are_deleted_or_none() {
    let scene = three_sessions();
    let (mut failed, mut unswept) = (0, 0);
    for (store, blocks) in limits(&scene) {
        let run = run_limited(&store, blocks, "rm --yes a b");
        let left = ids(&store);
        match run.status {
            0 => {
                assert_eq!(left, ["c"], "{}{}", run.text(), run.stderr);
                assert_eq!(run.text().lines().count(), 2, "{}", run.text());
                unswept += u32::from(run.text().contains("the next import or compaction"));
            }
            _ => {
                failed += 1;
                assert_eq!(left, ["a", "b", "c"], "{}{}", run.text(), run.stderr);
                assert!(run.stderr.contains("nothing was deleted"), "{}", run.stderr);
                assert!(run.stderr.contains("kB") && run.stderr.contains("free"), "{}", run.stderr);
            }
        }
        // There is room again, and what was left is tidied up.
        run_on(&store, ["compact"]).ok();
        let verified = run_on(&store, ["verify"]).ok().text();
        assert!(verified.contains("no problems"), "{verified}");
        assert!(!verified.contains("cut off"), "{verified}");
    }
    assert!(failed > 0 && failed < 24, "{failed} failed");
    println!("{failed} failed, {unswept} are unswept");
}
