//! Files that programs keep beside sessions: taken by a sync, kept when the program deletes them, and put back.
//!
//! Guards against a long output that is lost with its program's folder, and against one of somebody else's that is overwritten.

use std::path::{Path, PathBuf};

use crate::scene::{AGENTS, CLAUDE, Scene, at_home, command, path, sample};

/// The folder of the project, below the home folder.
const PROJECT: &str = ".claude/projects/-home-robin-work-tide-clock";

/// Bytes that are no text.
fn output() -> Vec<u8> {
    (0..2_000_000_u32).map(|at| (at % 253).to_le_bytes()[0]).collect()
}

/// A home folder with a session of Claude Code's, an agent of it, and files beside both; and all of these.
fn home() -> (Scene, Vec<(PathBuf, Vec<u8>)>) {
    let scene = Scene::new();
    let session = format!("{PROJECT}/{CLAUDE}");
    let agent = format!("{session}/subagents/{}", AGENTS[1]);
    let files = [
        (format!("{session}.jsonl"), sample(CLAUDE)),
        (format!("{session}/tool-results/toolu_1.txt"), output()),
        (format!("{session}/tool-results/empty.txt"), Vec::new()),
        (format!("{agent}.jsonl"), sample(AGENTS[1])),
        (format!("{agent}.meta.json"), b"{\"agentType\":\"explore\"}".to_vec()),
        (format!("{agent}/tool-results/toolu_2.txt"), b"of the agent\n".to_vec()),
        (format!(".claude/file-history/{CLAUDE}/3f@v1"), b"as it was".to_vec()),
    ];
    let files = files.into_iter().map(|(name, bytes)| (scene.write(&name, &bytes), bytes));
    let files = files.collect();
    (scene, files)
}

fn assert_there(files: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in files {
        let found = std::fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(found == *bytes, "{path:?}");
    }
}

fn delete_program(scene: &Scene) {
    let projects = scene.folder().join(".claude/projects");
    std::fs::remove_dir_all(&projects).unwrap();
    std::fs::create_dir(&projects).unwrap();
    std::fs::remove_dir_all(scene.folder().join(".claude/file-history")).unwrap();
}

#[test]
fn what_the_program_deletes_is_brought_back_with_its_session() {
    let (scene, files) = home();
    let told = at_home(&scene, ["sync"]).ok().text();
    assert!(told.contains("; 5 files beside sessions taken, 2.0 MB; "), "{told}");
    assert!(!told.contains("toolu_1"), "{told}");
    let told = at_home(&scene, ["sync", "--json"]).ok().json();
    assert_eq!(told["beside"]["taken"], 0);
    delete_program(&scene);
    let projects = scene.folder().join(".claude/projects");
    let told = at_home(&scene, ["sync", "--json", path(&projects)]).ok().json();
    assert_eq!((&told["files"], &told["beside"]["unchanged"]), (&0.into(), &0.into()));
    let resumed = at_home(&scene, ["resume", CLAUDE, "--json"]);
    assert_eq!(resumed.status, 0, "{}", resumed.stderr);
    assert!(resumed.stderr.contains("toolu_1.txt was written"), "{}", resumed.stderr);
    let told = resumed.json();
    let beside: Vec<_> =
        told["files"].as_array().unwrap().iter().filter(|file| file["beside"] == true).collect();
    assert_eq!(beside.len(), 5, "{told}");
    assert!(beside.iter().all(|file| file["status"] == "written"), "{told}");
    assert!(told["files"][0].get("beside").is_none(), "{told}");
    assert_there(&files);
    // Once more, everything is there; a sync reads the files and finds nothing new.
    let told = at_home(&scene, ["resume", CLAUDE, "--json"]).ok().json();
    let files_told = told["files"].as_array().unwrap();
    assert!(files_told.iter().all(|file| file["status"] == "unchanged"), "{told}");
    assert_eq!(at_home(&scene, ["sync", "--json"]).ok().json()["beside"]["taken"], 0);
    assert_eq!(at_home(&scene, ["verify"]).status, 0);
}

#[test]
fn another_file_in_the_place_stays() {
    let (scene, files) = home();
    at_home(&scene, ["import"]).ok();
    delete_program(&scene);
    let other = scene.write(&format!("{PROJECT}/{CLAUDE}/tool-results/toolu_1.txt"), b"another");
    let folder = scene.folder().join(format!("{PROJECT}/{CLAUDE}/tool-results/empty.txt"));
    std::fs::create_dir(&folder).unwrap();
    let resumed = at_home(&scene, ["resume", CLAUDE, "--json"]);
    assert_eq!(resumed.status, 0, "{}", resumed.stderr);
    assert!(
        resumed.stderr.contains("toolu_1.txt was kept: there is another file"),
        "{resumed}",
        resumed = resumed.stderr
    );
    assert!(
        resumed.stderr.contains("empty.txt was kept: something that is not a file"),
        "{resumed}",
        resumed = resumed.stderr
    );
    assert_eq!(std::fs::read(&other).unwrap(), b"another");
    assert!(folder.is_dir());
    assert_there(&files[3..]);
    // So it is with an export, which says so by its status.
    let told = at_home(&scene, ["export", "--to-source", CLAUDE, "--json"]);
    assert_eq!(told.status, 1, "{}", told.stderr);
    let told = told.json_lines();
    let kept: Vec<_> = told.iter().filter(|file| file["status"] == "kept").collect();
    assert!(kept.len() == 2 && kept.iter().all(|file| file["beside"] == true), "{kept:?}");
    assert_eq!(std::fs::read(&other).unwrap(), b"another");
}

#[test]
fn an_export_puts_them_back_and_a_folder_has_them() {
    let (scene, files) = home();
    at_home(&scene, ["import"]).ok();
    delete_program(&scene);
    at_home(&scene, ["export", "--to-source", CLAUDE]).ok();
    assert_there(&files);
    let to = scene.folder().join("exported");
    let told = at_home(&scene, ["export", "--all", "-o", path(&to)]).ok().text();
    assert!(told.contains("files beside them: 5 written"), "{told}");
    let exported: Vec<(PathBuf, Vec<u8>)> = files
        .iter()
        .map(|(path, bytes)| {
            let below = path.strip_prefix(scene.folder().join(".claude")).unwrap();
            (to.join("claude").join(below), bytes.clone())
        })
        .collect();
    assert_there(&exported);
    let told = at_home(&scene, ["export", "--all", "-o", path(&to)]).ok().text();
    assert!(told.contains("2 sessions: 2 unchanged; files beside them: 5 unchanged"), "{told}");
    // What somebody else has written there stays, unless it is to be replaced.
    std::fs::write(&exported[1].0, "another").unwrap();
    let failed = at_home(&scene, ["export", "--all", "-o", path(&to)]).fails(1);
    assert!(failed.contains("1 file was not written"), "{failed}");
    assert_eq!(std::fs::read(&exported[1].0).unwrap(), b"another");
    at_home(&scene, ["export", "--all", "--replace", "-o", path(&to)]).ok();
    assert_there(&exported);
    // No link is followed there.
    let outside = scene.folder().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let results = exported[1].0.parent().unwrap();
    std::fs::remove_dir_all(results).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, results).unwrap();
        at_home(&scene, ["export", "--all", "-o", path(&to)]).fails(1);
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
    // Of what is not looked at, nothing is given away.
    let redacted = scene.folder().join("redacted");
    let run = at_home(&scene, ["export", "--all", "--redact", "-o", path(&redacted)]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("5 file-withheld"), "{}", run.stderr);
    let folder = redacted.join("claude").join(PROJECT.strip_prefix(".claude/").unwrap());
    assert!(!folder.join(CLAUDE).join("tool-results").exists());
}

#[test]
fn they_are_listed_and_read_and_go_with_their_session() {
    let (scene, files) = home();
    at_home(&scene, ["import"]).ok();
    delete_program(&scene);
    let listed = scene.run(["files", CLAUDE]).ok().text();
    let names: Vec<&str> = listed.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
    let meta = format!("subagents/{}.meta.json", AGENTS[1]);
    let history = format!("file-history/{CLAUDE}/3f@v1");
    let results = ["tool-results/empty.txt", "tool-results/toolu_1.txt"];
    assert_eq!(names, [&*history, &*meta, results[0], results[1]]);
    assert!(scene.run(["files", CLAUDE, &history]).ok().stdout == files[6].1);
    let listed = scene.run(["files", CLAUDE, "--json"]).ok().json_lines();
    assert_eq!(listed[3]["bytes"], 2_000_000);
    assert_eq!(listed[3]["path"], path(&files[1].0));
    let read = scene.run(["files", CLAUDE, "tool-results/toolu_1.txt"]).ok();
    assert!(read.stdout == files[1].1);
    let failed = scene.run(["files", CLAUDE, "none"]).fails(1);
    assert!(failed.contains("has no file none beside it; `leafline files"), "{failed}");
    let stats = scene.run(["stats"]).ok().text();
    assert!(stats.contains("5 beside sessions, 2.0 MB"), "{stats}");
    assert!(stats.contains(" of JSONL and 2.0 MB beside sessions"), "{stats}");
    assert_eq!(scene.run(["stats", "--json"]).ok().json()["beside"]["count"], 5);
    assert_eq!(scene.run(["stats", CLAUDE, "--json"]).ok().json()["beside"]["count"], 4);
    let removed = scene.run(["rm", CLAUDE]).ok().text();
    assert!(removed.contains("; 4 files beside it, 2.0 MB; "), "{removed}");
    assert_eq!(scene.run(["stats", "--json"]).ok().json()["beside"]["count"], 0);
    scene.run(["verify"]).ok();
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let (scene, files) = home();
    let large = scene.write(&format!("{PROJECT}/{CLAUDE}/tool-results/large.bin"), b"");
    let sparse = std::fs::File::options().write(true).open(&large).unwrap();
    sparse.set_len((256 << 20) + 1).unwrap();
    let run = at_home(&scene, ["sync"]).ok().text();
    assert!(run.contains("skipped") && run.contains("it is larger than 268435456 bytes"), "{run}");
    let none = std::fs::Permissions::from_mode(0o000);
    let unreadable = scene.write(&format!("{PROJECT}/{CLAUDE}/tool-results/barred"), b"1");
    std::fs::set_permissions(&unreadable, none).unwrap();
    if std::fs::File::open(&unreadable).is_ok() {
        // Nothing is barred from this user.
        return;
    }
    let run = at_home(&scene, ["sync"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("1 file beside a session could not be read"), "{}", run.stderr);
    assert!(run.text().contains("reading it: "), "{}", run.text());
    assert_there(&files);
}

#[cfg(unix)]
#[test]
fn a_watch_takes_them_when_they_come() {
    use std::io::Write;
    use std::time::{Duration, Instant};
    let (scene, _) = home();
    let folder = scene.folder().join(".claude/projects");
    scene.write(".claude/history.jsonl", typed("fix the build", 1).as_bytes());
    let mut watching = command(&scene.store())
        .args(["sync", "--watch", "--no-index", path(&folder)])
        .env("HOME", scene.folder())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let listed = |name: &Path| {
        let run = scene.run(["files", CLAUDE, path(name)]);
        (run.status == 0).then_some(run.stdout)
    };
    let await_bytes = |name: &str, bytes: &[u8]| {
        let begun = Instant::now();
        while listed(Path::new(name)).as_deref() != Some(bytes) {
            assert!(begun.elapsed() < Duration::from_secs(600), "{name}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    await_bytes("tool-results/empty.txt", b"");
    scene.write(&format!("{PROJECT}/{CLAUDE}/tool-results/later.txt"), b"later");
    await_bytes("tool-results/later.txt", b"later");
    // In a folder that is new, too, and again when it has changed.
    scene.write(&format!("{PROJECT}/{CLAUDE}/more/deep/1.txt"), b"1");
    await_bytes("more/deep/1.txt", b"1");
    scene.write(&format!("{PROJECT}/{CLAUDE}/more/deep/1.txt"), b"12");
    await_bytes("more/deep/1.txt", b"12");
    // What the program keeps elsewhere in its home comes with the next line of the session.
    scene.write(&format!(".claude/file-history/{CLAUDE}/3f@v2"), b"as it was then");
    let session = scene.folder().join(format!("{PROJECT}/{CLAUDE}.jsonl"));
    let mut session = std::fs::File::options().append(true).open(session).unwrap();
    writeln!(session, r#"{{"type":"last-prompt","sessionId":"{CLAUDE}"}}"#).unwrap();
    await_bytes(&format!("file-history/{CLAUDE}/3f@v2"), b"as it was then");
    let begun = Instant::now();
    while !scene.run(["history", "recent", "--json"]).ok().text().contains("fix the build") {
        assert!(begun.elapsed() < Duration::from_secs(600));
        std::thread::sleep(Duration::from_millis(50));
    }
    watching.kill().unwrap();
    watching.wait().unwrap();
    scene.run(["verify"]).ok();
}

/// A line of the file in which Claude Code keeps what was typed.
fn typed(prompt: &str, time: u64) -> String {
    format!(
        r#"{{"display":"{prompt}","pastedContents":{{}},"timestamp":{time},"project":"/work"}}"#
    ) + "\n"
}

#[test]
fn what_was_typed_is_taken_with_the_sessions() {
    let (scene, _) = home();
    let file = scene.write(".claude/history.jsonl", typed("fix the build", 1).as_bytes());
    let told = at_home(&scene, ["sync"]).ok().text();
    assert!(told.ends_with(&format!("1 prompt of {} taken\n", path(&file))), "{told}");
    assert!(!at_home(&scene, ["sync"]).ok().text().contains("prompt"));
    let both = typed("fix the build", 1) + &typed("why is it slow", 2);
    scene.write(".claude/history.jsonl", both.as_bytes());
    at_home(&scene, ["import", "--quiet"]).ok();
    let listed = at_home(&scene, ["history", "search", "slo", "--json"]).ok().json();
    assert_eq!((&listed["prompt"], &listed["cwd"]), (&"why is it slow".into(), &"/work".into()));
    // The program prunes it; a folder that is not its own has none.
    scene.write(".claude/history.jsonl", b"");
    at_home(&scene, ["sync"]).ok();
    let recent = at_home(&scene, ["history", "recent", "--json"]).ok().json_lines();
    assert_eq!(recent.len(), 2);
    let copy = scene.write("copy/history.jsonl", typed("elsewhere", 3).as_bytes());
    std::fs::create_dir(scene.folder().join("copy/projects")).unwrap();
    at_home(&scene, ["sync", path(&scene.folder().join("copy/projects"))]).ok();
    assert_eq!(at_home(&scene, ["history", "recent", "--json"]).ok().json_lines().len(), 2);
    let told = at_home(&scene, ["history", "import", path(&copy)]).ok().text();
    assert!(told.contains("1 prompt imported, 0 there already"), "{told}");
    // A line that is no prompt costs nothing else.
    let mut damaged = b"no prompt\n".to_vec();
    damaged.extend(typed("after it", 4).bytes());
    scene.write(".claude/history.jsonl", &damaged);
    at_home(&scene, ["sync"]).ok();
    assert_eq!(at_home(&scene, ["history", "recent", "--json"]).ok().json_lines().len(), 4);
    assert_eq!(at_home(&scene, ["verify"]).status, 0);
}
