//! Who may open what the command makes: only its user, whatever the umask, and at every moment.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::scene::{
    OMP_3, PI_3, Run, Scene, finished, header, path, run_on, sample, sample_blobs, samples,
};
use crate::terminal::{Size, at_store};

/// Runs the command with a umask that takes nothing away, in a terminal of its own.
fn run_unmasked(store: &Path, arguments: &[&str]) -> Run {
    finished(unmasked(store, "exec \"$0\" \"$@\"", arguments).output().unwrap())
}

fn unmasked(store: &Path, script: &str, arguments: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.env("LEAFLINE_STORE", store).env("TMUX_PANE", "%7").stdin(Stdio::null());
    shell.args(["-c", &format!("umask 000; {script}"), env!("CARGO_BIN_EXE_leafline")]);
    shell.args(arguments);
    shell
}

/// Everything below a folder that others have a right to; what is gone when it is looked at is left out.
fn open_below(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut open = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.path().symlink_metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            }
            if metadata.mode() & 0o077 != 0 {
                open.push((entry.path(), metadata.mode() & 0o777));
            }
        }
    }
    open
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn nothing_of_a_days_work_is_ever_open_to_others() {
    let scene = Scene::new();
    let made = scene.folder().join("made");
    std::fs::create_dir(&made).unwrap();
    let (samples, blobs) = (samples(), sample_blobs());
    let stop = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut seen = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                seen.extend(open_below(&made));
            }
            seen
        });
        work(&made, path(&samples), path(&blobs));
        stop.store(true, Ordering::Relaxed);
        watch.join().unwrap()
    });
    assert_eq!(seen, []);
    assert_eq!(open_below(&made), []);
}

/// Appends to a session, and is killed while it waits for more: what it leaves is looked at, too.
fn append_and_die(store: &Path, session: &str) {
    let mut append = unmasked(store, "exec \"$0\" \"$@\"", &["append", session]);
    let mut append = append.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = append.stdin.take().unwrap();
    let mut ids = BufReader::new(append.stdout.take().unwrap()).lines();
    for text in ["one", "two", "three"] {
        writeln!(input, "{}", message_of_user(text)).unwrap();
        input.flush().unwrap();
        assert!(!ids.next().unwrap().unwrap().is_empty());
    }
    let journal = store.with_file_name("store.leafline.journal");
    assert!(journal.exists());
    // Another process reads beside it, and one writes.
    assert!(run_unmasked(store, &["path", session]).ok().text().contains("three"));
    run_unmasked(store, &["name", "--set", "A name beside", session]).ok();
    assert_eq!(open_below(store.parent().unwrap()), []);
    append.kill().unwrap();
    append.wait().unwrap();
    assert!(journal.exists());
    assert!(run_unmasked(store, &["path", session]).ok().text().contains("three"));
}

fn message_of_user(text: &str) -> String {
    format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#)
}

/// Makes one of everything that the command makes, in a folder.
fn work(made: &Path, samples: &str, blobs: &str) {
    let place = |name: &str| path(&made.join(name)).to_owned();
    let store = made.join("deep/er/store.leafline");
    let run = |arguments: &[&str]| run_unmasked(&store, arguments).ok();
    run(&["import", "--no-index", samples, "--blobs", blobs]);
    run(&["sync", samples]);
    let script = "printf '%s\\n' \"$HEADER\" | \"$0\" \"$@\"";
    let mut import = unmasked(&store, script, &["import", "-"]);
    finished(import.env("HEADER", header("of a stream")).output().unwrap()).ok();
    run(&["index"]);
    assert!(!run(&["search", "the"]).text().is_empty());
    let session = run(&["new", "--cwd", "/work"]).text();
    let session = session.trim();
    run(&["append", session, &message_of_user("Hi")]);
    append_and_die(&store, session);
    assert_eq!(run(&["new", "--continue", "--cwd", "/work"]).text().trim(), session);
    run(&["name", "--set", "Another name", PI_3]);
    run(&["fork", PI_3]);
    run(&["extract", PI_3, "5937c1f0"]);
    run(&["index"]);
    run(&["export", PI_3, "-o", &place("out/one.jsonl")]);
    run(&["export", PI_3, "-o", &place("out/one.jsonl")]);
    run(&["export", PI_3, OMP_3, "-o", &place("some/")]);
    run(&["export", "--all", "-o", &place("all")]);
    run(&["export", "--all", "-o", &place("refs"), "--as", "refs", "--blobs", &place("blobs")]);
    run(&["history", "add", "a prompt"]);
    run(&["history", "export", &place("history.db")]);
    run(&["history", "add", "another prompt"]);
    run(&["history", "export", &place("history.db")]);
    run(&["history", "import", &place("history.db")]);
    run(&["rm", OMP_3]);
    run(&["index", "--rebuild"]);
    run(&["compact"]);
    run(&["verify"]);
    let made = [
        "deep/er/store.leafline",
        "deep/er/store.leafline.search",
        "deep/er/store.leafline.terminals/tmux-%7",
        "out/one.jsonl",
        "some/.leafline-manifest",
        "all/.leafline-manifest",
        "blobs",
        "history.db",
    ];
    for made in made {
        assert!(Path::new(&place(made)).exists(), "{made}");
    }
}

#[test]
fn a_replaced_file_has_the_rights_of_its_user_and_no_others() {
    let scene = Scene::of_samples();
    let out = scene.folder().join("out.jsonl");
    for (before, after) in [(0o644, 0o600), (0o660, 0o600), (0o600, 0o600)] {
        std::fs::write(&out, "old").unwrap();
        set_mode(&out, before);
        scene.run(["export", PI_3, "-o", path(&out)]).ok();
        assert_eq!(mode(&out), after);
    }
}

#[test]
fn a_file_that_the_shell_makes_for_an_export_is_closed_to_others() {
    let scene = Scene::of_samples();
    let out = scene.folder().join("out.jsonl");
    let export = |script: &str| {
        let script = format!("exec \"$0\" \"$@\" {script} {}", path(&out));
        finished(unmasked(&scene.store(), &script, &["export", PI_3]).output().unwrap()).ok();
    };
    export(">");
    assert_eq!((std::fs::read(&out).unwrap(), mode(&out)), (sample(PI_3), 0o600));
    // Who adds to a file of their own has decided who may read it.
    set_mode(&out, 0o644);
    export(">>");
    assert_eq!(mode(&out), 0o644);
}

#[test]
fn a_store_that_is_open_to_others_is_told_of_once() {
    let scene = Scene::of_samples();
    scene.run(["index"]).ok();
    let (store, search) = (scene.store(), scene.folder().join("store.leafline.search"));
    // A folder that its user made, and that others may look into, has nothing that they can open.
    set_mode(&search, 0o755);
    scene.run(["ls"]).ok();
    for (arguments, places) in [
        (&["name", "--set", "x", PI_3][..], vec![&store, &search]),
        (&["label", PI_3, "588262d5", "mine"], vec![&store]),
    ] {
        places.iter().for_each(|place| set_mode(place, 0o755));
        for index in std::fs::read_dir(&search).unwrap().filter(|_| places.contains(&&search)) {
            set_mode(&index.unwrap().path(), 0o755);
        }
        // What only reads neither writes down that it was told, nor tells.
        let before = std::fs::read(&store).unwrap();
        for reading in [&["stats"][..], &["ls"], &["search", "the"], &["show", PI_3]] {
            scene.run(reading.iter().copied()).ok();
            assert!(std::fs::read(&store).unwrap() == before, "{reading:?}");
        }
        let run = scene.run(arguments.iter().copied());
        assert_eq!(run.status, 0);
        let places: Vec<&str> = places.iter().map(|place| path(place)).collect();
        let command = format!("chmod -R go-rwx {}\n", places.join(" "));
        assert!(run.stderr.ends_with(&command), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
        for arguments in [["ls", "--json"], ["stats", "--json"], ["name", PI_3]] {
            assert!(!scene.run(arguments).stderr.contains("chmod"));
        }
        let remarked = scene.run(["verify"]).ok().text();
        assert!(remarked.contains("permissions: other users may open /"), "{remarked}");
        // The command does what it says.
        let mended = Command::new("sh").args(["-c", command.trim()]).status().unwrap();
        assert!(mended.success());
        assert_eq!(open_below(scene.folder()), []);
        scene.run(["name", "--set", "closed", PI_3]).ok();
        assert!(!scene.run(["verify"]).ok().text().contains("permissions"));
    }
}

#[test]
fn a_name_with_a_space_is_quoted_for_the_shell() {
    let scene = Scene::new();
    let store = scene.folder().join("my store");
    run_on(&store, ["import", path(&samples())]).ok();
    set_mode(&store, 0o640);
    let said = run_on(&store, ["name", "--set", "x", PI_3]).stderr;
    assert!(said.ends_with(&format!("chmod -R go-rwx '{}'\n", path(&store))), "{said}");
}

#[test]
fn the_command_that_closes_a_store_has_a_line_of_its_own_at_a_terminal() {
    let scene = Scene::of_samples();
    set_mode(&scene.store(), 0o644);
    let size = Size { rows: 50, columns: 60 };
    let (status, text) = at_store(&scene.store(), &["name", "--set", "x", PI_3], &[], size).ends();
    assert_eq!(status, Some(0), "{text}");
    let command = format!("chmod -R go-rwx {}", path(&scene.store()));
    assert!(text.lines().any(|line| line == command), "{text}");
    let others = text.lines().filter(|line| *line != command);
    assert!(others.clone().count() > 1, "{text}");
    others.for_each(|line| assert!(line.chars().count() <= 60, "{text}"));
}

#[test]
fn a_umask_takes_no_right_from_the_user() {
    let scene = Scene::new();
    let store = scene.folder().join("inner/store.leafline");
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 777; exec \"$0\" --store \"$1\" new --family pi"]);
    shell.arg(env!("CARGO_BIN_EXE_leafline")).arg(&store).env("TMUX_PANE", "%7");
    finished(shell.stdin(Stdio::null()).output().unwrap()).ok();
    assert_eq!((mode(&store), mode(&scene.folder().join("inner"))), (0o600, 0o700));
    assert_eq!(mode(&scene.folder().join("inner/store.leafline.terminals")), 0o700);
}
