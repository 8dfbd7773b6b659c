//! What waits for ever, or never ends, in the place of a file: the command refuses it, or does without it, at once.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::scene::{
    BLOB, OMP_3, Run, Scene, command, file, finished, header, message, path, sample,
};

/// The longest that a command here may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// A history that a program would read for ever.
const ENDLESS: &str = "CREATE VIEW history AS WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
    SELECT 'a prompt' AS prompt, n AS created_at, '/work' AS cwd FROM numbers;";

/// A trigger that counts for ever.
const ENDLESS_TRIGGER: &str = "CREATE TRIGGER endless AFTER INSERT ON history BEGIN
    SELECT count(*) FROM (WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT n FROM numbers);
    END;";

/// Runs the command; panics if it does not end.
fn run_in_time(scene: &Scene, arguments: &[&str]) -> Run {
    let mut child = command(&scene.store())
        .env("TMUX_PANE", "%7")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    finished(child.wait_with_output().unwrap())
}

fn pipe(scene: &Scene, name: &str) -> PathBuf {
    let pipe = scene.folder().join(name);
    std::fs::create_dir_all(pipe.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

#[test]
fn what_is_no_file_is_not_imported_and_does_not_keep_the_others() {
    let scene = Scene::new();
    let good = scene.write("good.jsonl", &file([header("good"), message("a", None, "Hi")]));
    let pipe = pipe(&scene, "pipe.jsonl");
    for (named, kind) in [(path(&pipe), "pipe"), ("/dev/zero", "device")] {
        for verb in ["import", "sync"] {
            let run = run_in_time(&scene, &[verb, named, path(&good)]);
            assert!(run.text().contains(&format!("it is a {kind}, not a file")), "{}", run.text());
            run.fails(1);
            assert!(scene.run(["ls"]).ok().text().contains("good"));
        }
        for arguments in
            [&["ls", "--files", named, path(&good)][..], &["ls", "--quick", "--files", named]]
        {
            let run = run_in_time(&scene, arguments);
            let said = run.text() + &run.stderr;
            assert!(said.contains(&format!("it is a {kind}, not a file")), "{said}");
        }
    }
    // One that is found in a folder is nobody's session.
    let run = run_in_time(&scene, &["import", path(scene.folder())]).ok();
    assert!(!run.text().contains("pipe.jsonl"), "{}", run.text());
}

#[test]
fn what_is_no_file_is_no_blob() {
    let (pipes, links, huge) = ("pipes", "links", "huge");
    let scene = Scene::new();
    let session = scene.write("session.jsonl", &sample(OMP_3));
    pipe(&scene, &format!("{pipes}/{BLOB}"));
    std::fs::create_dir(scene.folder().join(links)).unwrap();
    let link = scene.folder().join(links).join(BLOB);
    std::os::unix::fs::symlink("/dev/zero", link).unwrap();
    let sparse = scene.write(&format!("{huge}/{BLOB}"), b"");
    std::fs::File::options().write(true).open(sparse).unwrap().set_len(1 << 40).unwrap();
    for blobs in [pipes, links, huge] {
        let blobs = scene.folder().join(blobs);
        run_in_time(&scene, &["import", "--restore", path(&session), "--blobs", path(&blobs)]).ok();
        assert_eq!(scene.run(["stats", "--json"]).ok().json()["blobs"]["missing"], 1);
        scene.run(["rm", OMP_3]).ok();
    }
}

#[test]
fn an_endless_history_is_none() {
    let scene = Scene::new();
    let database = scene.folder().join("history.db");
    Connection::open(&database).unwrap().execute_batch(ENDLESS).unwrap();
    scene.run(["history", "add", "a prompt"]).ok();
    for verb in ["import", "export"] {
        let said = run_in_time(&scene, &["history", verb, path(&database)]).fails(1);
        assert!(said.contains("no table `history`"), "{said}");
    }
    let pipe = pipe(&scene, "pipe.db");
    for named in [path(&pipe), "/dev/zero"] {
        let said = run_in_time(&scene, &["history", "import", named]).fails(1);
        assert!(said.contains("not a file"), "{said}");
    }
}

#[test]
fn a_trigger_that_never_ends_is_ended() {
    let scene = Scene::new();
    let database = scene.folder().join("history.db");
    scene.run(["history", "add", "a prompt"]).ok();
    scene.run(["history", "export", path(&database)]).ok();
    let connection = Connection::open(&database).unwrap();
    connection.execute_batch(ENDLESS_TRIGGER).unwrap();
    scene.run(["history", "add", "another prompt"]).ok();
    let said = run_in_time(&scene, &["history", "export", path(&database)]).fails(1);
    assert!(said.contains("its own triggers do not end"), "{said}");
    let count = "SELECT count(*) FROM history";
    assert_eq!(connection.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

#[test]
fn a_pipe_in_the_place_of_a_breadcrumb_is_no_breadcrumb() {
    let scene = Scene::new();
    pipe(&scene, "store.leafline.terminals/tmux-%7");
    let first = run_in_time(&scene, &["new", "--cwd", "/work"]).text();
    let again = run_in_time(&scene, &["new", "--continue", "--cwd", "/work"]).text();
    assert_eq!(first, again);
    let entry = r#"{"type":"message","message":{"role":"user","content":"Hi"}}"#;
    assert_eq!(run_in_time(&scene, &["append", first.trim(), entry]).status, 0);
}
