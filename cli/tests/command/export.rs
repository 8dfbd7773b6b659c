//! `leafline export`.

use std::path::Path;

use crate::scene::{
    BLOB, CLAUDE, OMP_3, PI_1, PI_3, SAMPLES, Scene, file, header, message, on_samples, path,
    sample, sample_blobs,
};
use leafline_generate::{Family, random_tree_session};

#[test]
fn version_3_comes_back_byte_for_byte() {
    for id in [PI_3, OMP_3] {
        assert_eq!(on_samples(["export", id]).ok().stdout, sample(id));
        assert_eq!(on_samples(["export", id, "--as", "exact"]).ok().stdout, sample(id));
    }
}

#[test]
fn several_sessions_come_out_one_after_the_other() {
    let both = [sample(PI_3), sample(OMP_3)].concat();
    assert_eq!(on_samples(["export", PI_3, OMP_3]).ok().stdout, both);
    assert_eq!(on_samples(["export", PI_3, OMP_3, "-o", "-"]).ok().stdout, both);
    // Nothing is written if one of them is not there, or if there is one file for all.
    let run = on_samples(["export", PI_3, "no-such-session"]);
    assert_eq!(run.stdout, b"");
    assert!(run.fails(1).contains("no-such-session"));
    let scene = Scene::new();
    let target = scene.folder().join("out.jsonl");
    let said = on_samples(["export", PI_3, OMP_3, "-o", path(&target)]).fails(2);
    assert!(
        said.contains("-o FILE takes one session: several go into a folder with -o FOLDER/")
            && !target.exists(),
        "{said}"
    );
}

#[test]
fn several_sessions_go_into_a_folder() {
    let scene = Scene::of_samples();
    let folder = scene.folder().join("out");
    let named = format!("{}/", path(&folder));
    let lines = |arguments: &[&str]| {
        let all = ["export"].iter().chain(arguments).copied();
        scene.run(all).ok().text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let told = lines(&[PI_3, CLAUDE, PI_3, "-o", &named]);
    assert!(told[2].starts_with("2 sessions: 2 written; "), "{told:?}");
    // The names, and the manifest, are those of an export of all.
    let whole = scene.folder().join("all");
    lines(&["--all", "-o", path(&whole)]);
    let below = |folder: &Path| -> Vec<String> {
        let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).unwrap() {
                let place = entry.unwrap().path();
                match place.is_dir() {
                    true => folders.push(place),
                    false => found.push(path(place.strip_prefix(folder).unwrap()).to_owned()),
                }
            }
        }
        found.sort();
        found
    };
    let [some, all] = [below(&folder), below(&whole)];
    assert_eq!(some.len(), 3);
    assert!(some.iter().all(|name| all.contains(name)), "{some:?} {all:?}");
    for name in some.iter().filter(|name| name.ends_with(".jsonl")) {
        assert_eq!(
            std::fs::read(folder.join(name)).unwrap(),
            std::fs::read(whole.join(name)).unwrap()
        );
    }
    // Again, by the folder that is there, and one of them alone; the others stay.
    assert!(lines(&[PI_3, CLAUDE, "-o", path(&folder)])[0].starts_with("2 sessions: 2 unchanged"));
    assert!(lines(&[PI_3, "-o", path(&folder)])[0].starts_with("1 session: 1 unchanged"));
    scene.run(["rm", CLAUDE]).ok();
    let told = lines(&[OMP_3, "-o", &named]);
    assert!(told.last().unwrap().starts_with("1 session: 1 written; "), "{told:?}");
    // With its blob, under both of its names.
    assert_eq!(below(&folder).len(), 6);
    // The rest follows, and the file of the session that is gone is told of then.
    let told = lines(&["--all", "-o", &named]);
    assert!(told.iter().any(|line| line.starts_with("left ") && line.contains(CLAUDE)), "{told:?}");
    assert!(told.last().unwrap().contains("2 unchanged"), "{told:?}");
    // What someone has added is kept, unless it is to be replaced.
    let file = folder.join(below(&folder).into_iter().find(|name| name.contains(PI_3)).unwrap());
    std::fs::write(&file, b"{\"mine\":1}\n").unwrap();
    let run = scene.run(["export", PI_3, OMP_3, "-o", &named]);
    assert!(run.text().starts_with("kept "), "{}", run.text());
    run.fails(1);
    assert_eq!(std::fs::read(&file).unwrap(), b"{\"mine\":1}\n");
    lines(&["--replace", PI_3, OMP_3, "-o", &named]);
    assert_eq!(std::fs::read(&file).unwrap(), sample(PI_3));
    let said = scene.run(["export", "--replace", PI_3, "-o", "x.jsonl"]).fails(2);
    assert!(said.contains("-o FOLDER/"), "{said}");
    let run = scene.run(["export", "--json", PI_3, "nowhere", "-o", &named]);
    assert!(run.text().is_empty() && run.fails(1).contains("nowhere"));
}

#[test]
fn a_session_without_an_end_of_its_last_line_does_not_run_into_the_next() {
    let scene = Scene::new();
    let one = file([header("s1"), message("aaaa", None, "Hi")]);
    let two = file([header("s2"), message("bbbb", None, "Ho")]);
    let open = &one[..one.len() - 1];
    scene.run(["import", path(&scene.write("one.jsonl", open))]).ok();
    scene.run(["import", path(&scene.write("two.jsonl", &two))]).ok();
    assert_eq!(scene.run(["export", "s1", "s2"]).ok().stdout, [&*one, &*two].concat());
    assert_eq!(scene.run(["export", "s2", "s1"]).ok().stdout, [&*two, open].concat());
}

#[test]
fn version_1_comes_out_as_current_or_exact() {
    assert_eq!(on_samples(["export", PI_1, "--as", "exact"]).ok().stdout, sample(PI_1));
    let current = on_samples(["export", PI_1]).ok();
    let lines = current.json_lines();
    assert_eq!(lines[0]["version"], 3);
    assert_eq!(lines[1]["parentId"], serde_json::Value::Null);
    assert_eq!(lines[2]["parentId"], lines[1]["id"]);
}

#[test]
fn any_bytes_come_back() {
    let scene = Scene::new();
    let mut files = Vec::new();
    for seed in 0..12 {
        let bytes = random_tree_session(seed, 40, Family::Pi);
        scene.write(&format!("in/{seed}.jsonl"), &bytes);
        files.push((format!("random-{seed}"), bytes));
    }
    scene.run(["import", path(&scene.folder().join("in"))]).ok();
    for (id, bytes) in files {
        assert_eq!(scene.run(["export", &id, "--as", "exact"]).ok().stdout, bytes, "{id}");
    }
}

#[test]
fn a_file_is_written_whole() {
    let scene = Scene::new();
    let target = scene.folder().join("new/out.jsonl");
    let run = on_samples(["export", PI_3, "-o", path(&target)]).ok();
    assert!(run.text().contains(PI_3) && run.text().contains("out.jsonl"), "{}", run.text());
    assert_eq!(std::fs::read(&target).unwrap(), sample(PI_3));
    assert_eq!(std::fs::read_dir(target.parent().unwrap()).unwrap().count(), 1);

    let told = on_samples(["--json", "export", PI_3, "-o", path(&target)]).ok().json();
    assert_eq!(told["session"], PI_3);
    assert_eq!(told["bytes"], sample(PI_3).len() as u64);
    assert_eq!(told["path"], path(&target));
}

#[test]
fn a_file_that_refers_to_blobs_says_so() {
    let scene = Scene::new();
    let (file, folder) = (scene.folder().join("one.jsonl"), scene.folder().join("out"));
    for arguments in [vec!["export", OMP_3], vec!["export", OMP_3, "-o", path(&file)]] {
        let run = on_samples(arguments).ok();
        assert!(run.stderr.contains("refers to 1 image or text in the store"), "{}", run.stderr);
        assert!(run.stderr.contains("--as portable"), "{}", run.stderr);
    }
    assert_eq!(on_samples(["export", OMP_3, "--as", "portable"]).ok().stderr, "");
    assert_eq!(on_samples(["export", PI_3]).ok().stderr, "");
    let run = on_samples(["export", OMP_3, "-o", &format!("{}/", path(&folder))]).ok();
    assert_eq!(run.stderr, "");
    let blob = std::fs::read(folder.join("omp/blobs").join(BLOB)).unwrap();
    // omp gives a picture a name for the system's viewers, too.
    assert!(blob == std::fs::read(folder.join(format!("omp/blobs/{BLOB}.png"))).unwrap());
    assert_eq!(blob, std::fs::read(sample_blobs().join(BLOB)).unwrap());
}

#[test]
fn references_and_inline_images_turn_into_each_other() {
    let scene = Scene::new();
    let portable = on_samples(["export", OMP_3, "--as", "portable"]).ok().stdout;
    assert_ne!(portable, sample(OMP_3));
    assert!(!String::from_utf8(portable.clone()).unwrap().contains("blob:sha256:"));

    let file = scene.write("portable.jsonl", &portable);
    scene.run(["import", path(&file)]).ok();
    let blobs = scene.folder().join("blobs");
    let references =
        scene.run(["export", OMP_3, "--as", "refs", "--blobs", path(&blobs)]).ok().stdout;
    let expected = std::fs::read(sample_blobs().join(BLOB)).unwrap();
    if references == sample(OMP_3) {
        assert_eq!(std::fs::read(blobs.join(BLOB)).unwrap(), expected);
    } else {
        // An image below 1,024 base64 characters stays inline.
        assert!(expected.len() < 768);
        assert_eq!(references, portable);
    }
}

#[test]
fn missing_blobs_are_named() {
    let scene = Scene::of_session(&sample(OMP_3));
    let complaint = scene.run(["export", OMP_3, "--as", "portable"]).fails(1);
    assert!(complaint.contains("3b860273") && complaint.contains("--blobs"), "{complaint}");
    assert_eq!(scene.run(["export", OMP_3]).ok().stdout, sample(OMP_3));
}

#[test]
fn all_sessions_go_into_documented_names() {
    let scene = Scene::new();
    let folder = scene.folder().join("all");
    let run = on_samples(["export", "--all", "-o", path(&folder), "--as", "exact"]).ok();
    assert_eq!(run.text().lines().count(), SAMPLES + 1);
    assert!(run.text().contains("\n18 sessions: 18 written; "), "{}", run.text());
    let name = format!("2026-02-16T10-20-30-112Z_{PI_3}.jsonl");
    let target = folder.join("pi/sessions/--home-robin-work-tide-clock--").join(name);
    assert_eq!(std::fs::read(target).unwrap(), sample(PI_3));
}

#[test]
fn one_session_that_fails_fails_the_whole_and_costs_the_others_nothing() {
    let scene = Scene::new();
    let other = scene.write("other.jsonl", &file([header("other")]));
    let omp = scene.write("omp.jsonl", &sample(OMP_3));
    scene.run(["import", path(&other), path(&omp)]).ok();
    let folder = scene.folder().join("all");
    let run = scene.run(["--json", "export", "--all", "-o", path(&folder), "--as", "portable"]);
    let lines = run.json_lines();
    assert_eq!(lines.len(), 2);
    let failed = lines.iter().find(|line| line["session"] == OMP_3).unwrap();
    assert!(failed["bytes"].is_null() && failed["reason"].is_string(), "{failed}");
    assert_eq!(failed["status"], "failed");
    let written = lines.iter().find(|line| line["session"] == "other").unwrap();
    assert!(std::path::Path::new(written["path"].as_str().unwrap()).exists());
    run.fails(1);
}

#[test]
fn a_folder_is_kept_in_step() {
    let scene = Scene::of_samples();
    let folder = scene.folder().join("all");
    let export = |arguments: &[&'static str]| {
        let all = ["export", "--all", "-o", path(&folder)];
        scene.run(arguments.iter().copied().chain(all))
    };
    export(&[]).ok();
    let told = export(&[]).ok().text();
    assert!(told.starts_with("18 sessions: 18 unchanged; 0 B in "), "{told}");
    assert_eq!(told.lines().count(), 1);

    scene.run(["name", "--set", "Another name", PI_3]).ok();
    let told = export(&["--json"]).ok().json_lines();
    let with = |status: &str| told.iter().filter(|told| told["status"] == status).count();
    assert_eq!((told.len(), with("unchanged"), with("written")), (SAMPLES, SAMPLES - 1, 1));
    let written = told.iter().find(|told| told["status"] == "written").unwrap();
    assert_eq!(written["session"], PI_3);
    let file = std::path::PathBuf::from(written["path"].as_str().unwrap());
    assert_eq!(std::fs::metadata(&file).unwrap().len(), written["bytes"].as_u64().unwrap());

    let line = message("ffffffff", Some("cc2ef6d4"), "by the agent") + "\n";
    let held = [std::fs::read(&file).unwrap(), line.into_bytes()].concat();
    std::fs::write(&file, &held).unwrap();
    let run = export(&[]);
    let told = run.text();
    assert!(told.starts_with("kept ") && told.contains("leafline sync"), "{told}");
    assert!(told.contains("\n18 sessions: 17 unchanged, 1 kept; "), "{told}");
    assert!(run.fails(1).contains("1 file was not written"));
    assert_eq!(std::fs::read(&file).unwrap(), held);

    scene.run(["sync", path(&folder), "--blobs", path(&sample_blobs())]).ok();
    export(&[]).ok();
    assert_eq!(std::fs::read(&file).unwrap(), held);
    std::fs::write(&file, "something else").unwrap();
    assert!(export(&["--json"]).fails(1).contains("1 file was not written"));
    let told = scene.run(["export", "--all", "--replace", "-o", path(&folder)]).ok().text();
    assert!(told.starts_with("written ") && told.contains("17 unchanged"), "{told}");
    assert_eq!(std::fs::read(&file).unwrap(), held);
}

#[test]
fn files_of_sessions_that_move_or_go_are_told_of() {
    let scene = Scene::of_samples();
    let folder = scene.folder().join("all");
    let export = || scene.run(["export", "--all", "-o", path(&folder)]).ok().text();
    export();
    scene.run(["move", PI_3, "/new/place"]).ok();
    scene.run(["rm", PI_1]).ok();
    let told = export();
    let with = |status: &str| told.lines().filter(|line| line.starts_with(status)).count();
    assert_eq!((with("written "), with("removed "), with("left ")), (1, 1, 1), "{told}");
    assert!(
        told.contains("\n17 sessions: 1 written, 16 unchanged; old files: 1 removed, 1 left; ")
    );
    assert!(export().starts_with("17 sessions: 17 unchanged; "));
}

#[test]
fn arguments_that_do_not_go_together_are_wrong_usage() {
    for arguments in [
        &["export"][..],
        &["export", "--all"],
        &["export", PI_3, "--replace"],
        &["export", PI_3, "--all", "-o", "x"],
        &["export", PI_3, "--as", "refs"],
        &["export", PI_3, "--as", "exact", "--blobs", "x"],
    ] {
        let complaint = on_samples(arguments.iter().copied()).fails(2);
        assert!(complaint.contains("Usage"), "{arguments:?}: {complaint}");
    }
}
