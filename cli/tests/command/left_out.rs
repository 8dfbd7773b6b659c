//! Codex's compressed files, and those of its first versions: a folder's import says how many it leaves out, and why.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use leafline::Store;
use leafline::import::{FileReport, ImportObserver, ImportOptions, ImportStatus, LeftOut};

use crate::scene::{self, PI_1, Scene, at_home, path, samples};

const ROLLOUT: &str = "rollout-2026-11-20T10-00-00-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61.jsonl";
const COMPRESSED: &str = "left out: compressed with Zstandard (rollout-*.jsonl.zst); decompress";
const EARLY: &str = "1 file left out: written by an early version of Codex (rollout-*.json)";

/// Codex's home with two compressed files, one of them archived, and one of an early version.
fn home() -> Scene {
    let scene = Scene::new();
    for name in
        [format!("sessions/2026/11/20/{ROLLOUT}"), "archived_sessions/rollout-a.jsonl".into()]
    {
        scene.write(&format!(".codex/{name}.zst"), b"\x28\xb5\x2f\xfd\x04\x00");
    }
    let early = "rollout-2025-04-17-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61.json";
    scene.write(&format!(".codex/sessions/{early}"), b"{\n  \"session\": {},\n  \"items\": []\n}");
    scene
}

fn sample() -> Vec<u8> {
    let day = samples().join("codex/sessions/2025/11/20");
    let file = std::fs::read_dir(day).unwrap().next().unwrap().unwrap().path();
    std::fs::read(file).unwrap()
}

#[test]
fn an_import_and_a_sync_say_how_many_and_why() {
    let scene = home();
    scene.write(".codex/sessions/rollout-plan.json", b"{}");
    for command in ["import", "sync"] {
        let text = at_home(&scene, [command]).ok().text();
        let two = format!("2 files {COMPRESSED} them to import them");
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("left out")).collect();
        assert_eq!(lines, [EARLY, &two], "{text}");
        assert!(text.contains("\n0 files\n") || text.starts_with("0 files\n"), "{text}");
        let listed = at_home(&scene, [command, "-v"]).ok().text();
        assert_eq!(listed.matches("left out   ").count(), 3, "{listed}");
        assert_eq!(at_home(&scene, [command, "-q"]).ok().text(), "");
    }
    // The session's file counts, once it is next to the compressed one.
    scene.write(&format!(".codex/sessions/2026/11/20/{ROLLOUT}"), &sample());
    let text = at_home(&scene, ["sync"]).ok().text();
    assert!(text.contains("1 file: 1 imported; "), "{text}");
    assert!(text.contains(&format!("\n1 file {COMPRESSED} it to import it\n")), "{text}");
}

#[test]
fn json_has_the_files_and_the_count() {
    let scene = home();
    scene.write(&format!(".codex/sessions/{ROLLOUT}"), &sample());
    let sessions = scene.folder().join(".codex/sessions");
    let lines = scene.run(["import", "--json", path(&sessions)]).ok().json_lines();
    let left_out: Vec<_> = lines.iter().filter(|line| line["status"] == "left_out").collect();
    assert_eq!(left_out.len(), 2, "{lines:?}");
    assert!(left_out.iter().any(|line| {
        line["path"].as_str().unwrap().ends_with(".jsonl.zst")
            && line["reason"].as_str().unwrap().contains("Zstandard")
    }));
    let totals = lines.last().unwrap();
    assert_eq!((&totals["files"], &totals["skipped"]), (&1.into(), &0.into()));
    let synced = scene.run(["sync", "--json", path(&sessions)]).ok().json();
    for totals in [totals, &synced] {
        let left_out = totals["left_out"].as_array().unwrap();
        assert_eq!(left_out.len(), 2, "{totals}");
        assert_eq!(left_out[1]["files"], 1);
        assert!(left_out[1]["reason"].as_str().unwrap().starts_with("compressed with Zstandard"));
    }
    // Nor are they files of a list, or unreadable ones.
    let listed = scene.run(["ls", "--files", path(&sessions)]).ok().text();
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn a_file_that_is_named_fails() {
    let scene = home();
    let file = scene.folder().join(format!(".codex/sessions/2026/11/20/{ROLLOUT}.zst"));
    for command in ["import", "sync"] {
        let run = scene.run([command, path(&file)]);
        let text = run.text();
        assert!(text.starts_with("failed") && text.contains("compressed with Zstandard"), "{text}");
        assert!(!text.contains("left out"), "{text}");
        run.fails(1);
    }
}

/// Collects what a watch reports of the files that it leaves out.
#[derive(Default)]
struct Reports {
    files: Vec<PathBuf>,
    counts: Vec<u64>,
}

impl ImportObserver for Reports {
    fn file(&mut self, report: &FileReport) {
        assert_eq!(report.status, ImportStatus::LeftOut, "{report:?}");
        self.files.push(report.path.clone());
    }

    fn left_out(&mut self, left_out: &LeftOut) {
        self.counts.push(left_out.files);
    }
}

/// Each run of a watch begins with a sync of everything.
#[test]
fn a_watch_says_it_once() {
    let scene = home();
    let store = Store::open(scene.store()).unwrap();
    let folder = scene.folder().join(".codex");
    let mut watch = store.watch(&[&folder], &ImportOptions::default()).unwrap();
    let mut reports = Reports::default();
    let stop = AtomicBool::new(true);
    for _ in 0..2 {
        watch.run(&mut reports, &stop).unwrap();
    }
    reports.counts.sort_unstable();
    assert_eq!((reports.files.len(), &reports.counts[..]), (3, &[1, 2][..]));
    scene.write(".codex/sessions/2026/11/21/rollout-b.jsonl.zst", b"");
    watch.run(&mut reports, &stop).unwrap();
    assert_eq!((reports.files.len(), reports.counts.last()), (4, Some(&1)));
}

#[test]
fn lines_without_their_header_are_reported() {
    let scene = Scene::new();
    let whole = scene::sample(PI_1);
    let end = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let name = format!("2026-02-16T10-20-30-112Z_{PI_1}.jsonl");
    scene.write(&format!(".omp/agent/sessions/-work/{name}"), &whole[end..]);
    // A file with such lines but another name is skipped.
    scene.write(".omp/agent/sessions/-work/notes.jsonl", &whole[end..]);
    let run = at_home(&scene, ["sync"]);
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status, 1, "{text}");
    assert!(text.contains("append its lines to the file that has its header"), "{text}");
    assert!(text.contains("2 files: 1 skipped, 1 failed"), "{text}");
    assert!(run.stderr.contains("1 file is not in step"), "{}", run.stderr);
}
