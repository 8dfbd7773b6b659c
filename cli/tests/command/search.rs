//! `leafline search` and `leafline index`.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use leafline_generate::{Shape, generate};

use super::scene::{CLAUDE, Scene, command, file, finished, header, on_samples, path};

fn generated(seed: u64, bytes: u64) -> Vec<u8> {
    let mut out = Vec::new();
    generate(&Shape { seed, bytes, ..Shape::default() }, &mut out).unwrap();
    out
}

fn search_folder(scene: &Scene) -> PathBuf {
    scene.folder().join("store.leafline.search")
}

fn prompt(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

#[test]
fn entries_are_found_in_sessions_of_all_families() {
    let hits = on_samples(["search", "the", "--limit", "1000", "--json"]).ok().json_lines();
    let mut families: Vec<&str> = hits.iter().map(|hit| hit["family"].as_str().unwrap()).collect();
    families.sort_unstable();
    families.dedup();
    assert_eq!(families, ["claude", "codex", "omp", "opal", "pi"]);
    for hit in &hits {
        let (text, matches) =
            (&hit["snippet"]["text"], hit["snippet"]["matches"].as_array().unwrap());
        let text = text.as_str().unwrap();
        assert!(!matches.is_empty(), "{hit}");
        for place in matches {
            let [start, end] =
                [0, 1].map(|at| usize::try_from(place[at].as_u64().unwrap()).unwrap());
            assert_eq!(text[start..end].to_lowercase(), "the", "{hit}");
        }
        assert!(hit["score"].as_f64().unwrap() > 0.0 && hit["session"].is_string(), "{hit}");
    }
    let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");

    // The same entry by its id.
    let hit = &hits[0];
    let (session, entry) = (hit["session"].as_str().unwrap(), hit["entry"].as_str().unwrap());
    let shown = on_samples(["show", session, entry, "--json"]).ok().text();
    assert!(shown.contains(entry), "{shown}");
}

#[test]
fn options_narrow_a_search() {
    let count = |arguments: &[&str]| {
        let all = ["search", "the", "--json", "--limit", "1000"];
        on_samples(all.iter().chain(arguments).copied()).ok().json_lines().len()
    };
    let all = count(&[]);
    let families = ["pi", "omp", "claude", "opal", "codex"];
    let by_family: Vec<usize> =
        families.iter().map(|family| count(&["--family", family])).collect();
    assert_eq!(by_family.iter().sum::<usize>(), all, "{by_family:?}");
    let users = count(&["--role", "user"]);
    let both = count(&["--role", "user", "--role", "assistant"]);
    assert!(0 < users && users < both && both < all, "{users} {both} {all}");
    let one = count(&["--session", CLAUDE]);
    assert!(0 < one && one < all, "{one}");
    assert_eq!(count(&["--cwd", "/no/such/folder"]), 0);
    assert_eq!(count(&["--since", "2099-01-01"]), 0);
    assert_eq!(on_samples(["search", "the", "--limit", "2"]).ok().text().lines().count(), 2);
}

#[test]
fn a_line_for_programs_has_five_columns() {
    let line = prompt("a1", r"tab\there \u001b[31m and a needle\nof it");
    let scene = Scene::of_session(format!("{}\n{line}\n", header("s1")).as_bytes());
    assert_eq!(
        scene.run(["search", "needle"]).ok().text(),
        "s1\ta1\t2026-03-01T10:00:00.000Z\tuser\ttab here [31m and a needle of it\n"
    );
    assert_eq!(scene.run(["search", "nothing"]).ok().text(), "");
    let wrong = scene.run(["search", "..."]).fails(1);
    assert!(wrong.contains("has no word to search for"), "{wrong}");
    let wrong = scene.run(["search", "needle", "--role", "setting"]).fails(2);
    assert!(wrong.contains("[possible values: user, assistant, tool"), "{wrong}");
}

#[test]
fn a_text_is_found_however_it_is_typed() {
    let decomposed = "フ\u{309a}ロシ\u{3099}ェクト \u{1103}\u{1166}\u{110b}\u{1175}\u{1110}\u{1165} Vie\u{323}\u{302}t ABC12";
    let composed = "プロジェクト 데이터 Việt ＡＢＣ１２";
    let half_width = "ﾌﾟﾛｼﾞｪｸﾄ 데이터 Việt abc12";
    let texts = [decomposed, composed, half_width];
    for text in texts {
        let scene =
            Scene::of_session(format!("{}\n{}\n", header("s1"), prompt("a1", text)).as_bytes());
        let words = texts.iter().flat_map(|text| text.split(' ')).chain(texts);
        for sought in words {
            let found = scene.run(["search", "--json", "--", sought]).ok().json_lines();
            assert_eq!(found.len(), 1, "{sought} in {text}");
            assert_eq!(found[0]["snippet"]["text"], text);
            assert!(!found[0]["snippet"]["matches"].as_array().unwrap().is_empty());
            let listed = scene.run(["ls", "--text", sought]).ok().text();
            assert_eq!(listed.lines().count(), 1, "{sought} in {text}");
        }
        for sought in ["フロ", "Viel"] {
            assert_eq!(scene.run(["search", sought]).ok().text(), "", "{sought}");
            assert_eq!(scene.run(["ls", "--text", sought]).ok().text(), "", "{sought}");
        }
    }
}

#[test]
fn an_import_brings_the_index_in_step() {
    let scene = Scene::new();
    let file = scene.write("large.jsonl", &generated(1, 6_000_000));
    scene.run(["import", path(&file), "--no-index"]).ok();
    assert!(!search_folder(&scene).exists());
    let done = scene.run(["index", "--json"]).ok().json();
    assert_eq!((&done["sessions"], &done["complete"]), (&1.into(), &true.into()));
    assert!(done["entries"].as_u64().unwrap() > 1000, "{done}");
    assert_eq!(scene.run(["index", "--json"]).ok().json()["sessions"], 0);

    let other = scene.write("other.jsonl", &generated(2, 6_000_000));
    scene.run(["import", path(&other)]).ok();
    assert_eq!(scene.run(["index", "--json"]).ok().json()["sessions"], 0);
    assert_eq!(scene.run(["index", "--rebuild", "--json"]).ok().json()["sessions"], 2);
    // What a file has gained counts as well.
    let whole = generated(4, 12_000_000);
    let half = whole.iter().take(7_000_000).rposition(|&byte| byte == b'\n').unwrap() + 1;
    let grown = scene.write("grown.jsonl", &whole[..half]);
    scene.run(["import", path(&grown)]).ok();
    scene.write("grown.jsonl", &whole);
    scene.run(["sync", path(&grown)]).ok();
    assert_eq!(scene.run(["index", "--json"]).ok().json()["sessions"], 0);
}

#[test]
fn a_large_import_is_indexed_in_the_background() {
    let scene = Scene::new();
    let file = scene.write("large.jsonl", &generated(3, 70_000_000));
    let run = scene.run(["import", path(&file)]);
    assert_eq!(run.status, 0);
    assert!(run.stderr.contains(" are made searchable in the background; "), "{}", run.stderr);
    // A script that does not wait is told, and one that waits has all.
    let hurried = scene.run(["search", "the", "--json", "--no-wait"]);
    assert!(hurried.stderr.contains("`leafline index`"), "{}", hurried.stderr);
    assert_eq!(scene.run(["search", "the", "--json"]).ok().json_lines().len(), 20);
    assert_eq!(scene.run(["index", "--json"]).ok().json()["sessions"], 0);
}

#[test]
fn a_search_brings_in_what_is_new() {
    let scene = Scene::of_session(format!("{}\n", header("s1")).as_bytes());
    let entry = r#"{"type":"message","message":{"role":"user","content":"a needle"}}"#;
    let id = scene.run(["append", "s1", entry]).ok().text();
    let found = scene.run(["search", "needle"]).ok().text();
    assert!(found.contains(id.trim()), "{found}");
    std::fs::remove_dir_all(search_folder(&scene)).unwrap();
    assert_eq!(scene.run(["search", "needle"]).ok().text(), found);
    scene.run(["rm", "s1"]).ok();
    assert_eq!(scene.run(["search", "needle"]).ok().text(), "");
}

#[test]
fn a_search_waits_for_another_process_that_updates_the_index() {
    let scene = Scene::of_session(&file([header("s1"), prompt("aaaa", "an acorn")]));
    scene.run(["search", "acorn"]).ok();
    scene.run(["append", "s1", &prompt("bbbb", "a needle")]).ok();
    // As a process holds it while it updates the index.
    let indexes = std::fs::read_dir(search_folder(&scene)).unwrap();
    let mut folders = indexes.map(|entry| entry.unwrap().path()).chain([search_folder(&scene)]);
    let index = folders.find(|folder| folder.join("meta.json").exists()).unwrap();
    let held = File::create(index.join(".tantivy-writer.lock")).unwrap();
    held.lock().unwrap();
    assert_eq!(scene.run(["search", "--no-wait", "needle"]).text(), "");
    let mut waiting = command(&scene.store());
    waiting.args(["search", "needle"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut waiting = waiting.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert!(waiting.try_wait().unwrap().is_none(), "it did not wait");
    held.unlock().unwrap();
    let run = finished(waiting.wait_with_output().unwrap()).ok();
    assert!(run.text().contains("a needle"), "{}", run.text());
}

#[test]
fn an_index_that_takes_a_while_is_made_by_its_command() {
    let scene = Scene::new();
    for seed in 0..2 {
        let file = scene.write(&format!("{seed}.jsonl"), &generated(seed, 50_000_000));
        scene.run(["import", path(&file), "--no-index"]).ok();
    }
    let told = scene.run(["search", "the", "--no-wait"]).fails(1);
    assert!(
        told.contains("`leafline index`, or a search without --no-wait, makes it from"),
        "{told}"
    );
    // It is killed in the middle, again and again, and goes on.
    for milliseconds in [30, 100, 300] {
        let mut child = command(&scene.store()).arg("index").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let _ = child.kill();
        child.wait().unwrap();
    }
    // A search does what is left.
    let found = scene.run(["search", "the", "--json"]).ok().json_lines();
    assert_eq!(found.len(), 20);
    assert_eq!(scene.run(["index", "--json"]).ok().json()["sessions"], 0);
}
