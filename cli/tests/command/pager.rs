//! Output that is longer than the terminal.

use crate::scene::{Scene, file, header, message, path};
use crate::terminal::{CTRL_C, Size, Terminal, USUAL, at_terminal};

/// A pager that says when it was run, and shows what it reads.
const ECHO: &str = "echo '[pager]'; cat; echo '[end]'";

/// A session whose path takes many lines.
fn long() -> Scene {
    let entry = |number: usize| {
        let parent = number.checked_sub(1).map(|parent| format!("{parent:08x}"));
        message(&format!("{number:08x}"), parent.as_deref(), &format!("prompt {number}."))
    };
    Scene::of_session(&file(std::iter::once(header("s1")).chain((0..200).map(entry))))
}

fn run(scene: &Scene, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let (status, text) = at_terminal(scene, arguments, variables, USUAL).ends();
    assert_eq!(status, Some(0), "{arguments:?}: {text}");
    text
}

#[test]
fn what_is_longer_than_the_terminal_is_paged() {
    let scene = long();
    scene.run(["index"]).ok();
    for number in 0..30 {
        scene.run(["new", "--id", &format!("n{number}")]).ok();
        scene.run(["history", "add", &format!("prompt {number}")]).ok();
    }
    for arguments in [
        &["ls"][..],
        &["tree", "--full", "s1"],
        &["path", "s1"],
        &["path", "s1", "--text"],
        &["context", "s1"],
        &["search", "prompt", "--limit", "50"],
        &["history", "recent", "--limit", "50"],
        &["history", "search", "prompt", "--limit", "50"],
        &["stats"],
    ] {
        let text = run(&scene, arguments, &[("LEAFLINE_PAGER", ECHO)]);
        assert!(text.starts_with("[pager]\r\n") && text.ends_with("[end]\r\n"), "{text}");
        // The same as without one, but for the pager's words.
        let plain = run(&scene, arguments, &[("LEAFLINE_PAGER", "")]);
        let within = text.replace("[pager]\r\n", "").replace("[end]\r\n", "");
        assert!(within == plain, "{arguments:?}:\n{within}\n{plain}");
        assert!(plain.lines().count() >= usize::from(USUAL.rows), "{arguments:?}: {plain}");
    }
}

#[test]
fn what_verify_finds_is_paged() {
    let scene = Scene::new();
    for number in 0..30 {
        let mut bytes = file([header(&format!("s{number}")), message("a", None, "x")]);
        bytes.extend_from_slice(b"torn\n");
        scene.write(&format!("torn/{number}.jsonl"), &bytes);
    }
    scene.run(["import", path(&scene.folder().join("torn"))]).ok();
    let text = run(&scene, &["verify"], &[("LEAFLINE_PAGER", ECHO)]);
    let shown = text.rsplit_once("[pager]\r\n").unwrap().1;
    assert_eq!(shown.matches("remark ").count(), 30, "{text}");
    assert!(shown.ends_with("30 remarks\r\n[end]\r\n"), "{text}");
}

#[test]
fn what_fits_or_is_for_a_program_is_not() {
    let scene = long();
    for (arguments, variables) in [
        (&["show", "s1"][..], &[("LEAFLINE_PAGER", ECHO)][..]),
        (&["path", "s1", "--json"], &[("LEAFLINE_PAGER", ECHO)]),
        (&["path", "s1", "--no-pager"], &[("LEAFLINE_PAGER", ECHO)]),
        (&["--no-pager", "path", "s1"], &[("PAGER", ECHO)]),
        (&["path", "s1"], &[("LEAFLINE_PAGER", ""), ("PAGER", ECHO)]),
        (&["path", "s1"], &[("PAGER", "cat")]),
        (&["export", "s1"], &[("PAGER", ECHO)]),
        (&["path", "s1"], &[("TERM", "dumb")]),
    ] {
        let text = run(&scene, arguments, variables);
        assert!(!text.contains("[pager]") && text.contains("prompt 0."), "{arguments:?}: {text}");
    }
    // The pager's end is no terminal.
    let mut piped = crate::scene::command(&scene.store());
    piped.env("LEAFLINE_PAGER", ECHO).args(["path", "s1"]);
    let piped = crate::scene::finished(piped.output().unwrap()).ok();
    assert!(!piped.text().contains("[pager]"));
}

#[test]
fn lines_that_are_wider_than_the_terminal_count_for_more() {
    let scene = Scene::of_session(&file([header("s1"), message("a", None, &"x ".repeat(1000))]));
    let paged = |size| {
        let pager = [("LEAFLINE_PAGER", ECHO)];
        at_terminal(&scene, &["path", "s1"], &pager, size).ends().1.contains("[pager]")
    };
    assert!(paged(Size { rows: 24, columns: 80 }));
    assert!(!paged(Size { rows: 24, columns: 200 }));
    assert!(paged(Size { rows: 10, columns: 200 }));
}

#[test]
fn the_pager_is_named_by_variables_and_may_have_arguments() {
    let scene = long();
    let variables = [("LEAFLINE_PAGER", "sed -e 's/^/> /'"), ("PAGER", ECHO)];
    let text = run(&scene, &["path", "s1", "--text"], &variables);
    assert!(text.starts_with("> ") && !text.contains("[pager]"), "{text}");
    let text = run(&scene, &["path", "s1"], &[("PAGER", ECHO)]);
    assert!(text.starts_with("[pager]"), "{text}");
    // What it is given: colours, and less's options unless there are some.
    let options = "cat > /dev/null; echo \"LESS=$LESS\"";
    assert_eq!(run(&scene, &["path", "s1"], &[("PAGER", options)]), "LESS=FRX\r\n");
    let variables = [("PAGER", options), ("LESS", "-i")];
    assert_eq!(run(&scene, &["path", "s1"], &variables), "LESS=-i\r\n");
    let text = run(&scene, &["path", "s1", "--text"], &[("PAGER", ECHO)]);
    assert!(text.contains("\u{1b}["), "{text}");
    let variables = [("PAGER", ECHO), ("NO_COLOR", "1")];
    let text = run(&scene, &["path", "s1", "--text"], &variables);
    assert!(text.starts_with("[pager]") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_pager_that_ends_early_ends_the_command_quietly() {
    let entries = (0..5000).map(|number| message(&format!("{number:08x}"), None, "words"));
    let scene = Scene::of_session(&file(std::iter::once(header("s1")).chain(entries)));
    let text = run(&scene, &["tree", "s1"], &[("LEAFLINE_PAGER", "head -n 3")]);
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn a_pager_that_cannot_be_run_is_named() {
    let scene = long();
    let pager = [("LEAFLINE_PAGER", "no-such-pager -x")];
    let (status, text) = at_terminal(&scene, &["path", "s1"], &pager, USUAL).ends();
    assert_eq!(status, Some(1));
    assert!(text.contains("leafline: the pager `no-such-pager -x`"), "{text}");
    assert!(text.contains("LEAFLINE_PAGER") && text.contains("--no-pager"), "{text}");
}

#[test]
fn ctrl_c_is_the_pagers_and_the_command_outlives_it() {
    let scene = long();
    scene.run(["index"]).ok();
    let seen = scene.folder().join("seen");
    let pager = format!(
        "trap 'echo [caught]' INT; echo '[pager]'; until [ -e {} ]; do sleep 0.05; done; echo '[seen]'",
        seen.display()
    );
    // The search has listened for ctrl-c before.
    for arguments in [&["path", "s1"][..], &["search", "prompt", "--limit", "50"]] {
        let pager = [("LEAFLINE_PAGER", &*pager)];
        let mut terminal = at_terminal(&scene, arguments, &pager, USUAL);
        terminal.waits_for("[pager]");
        for times in 1..=3 {
            terminal.types(CTRL_C);
            waits_for_times(&terminal, "[caught]", times);
        }
        std::fs::write(&seen, "").unwrap();
        let (status, text) = terminal.ends();
        assert_eq!(status, Some(0), "{text}");
        assert!(text.ends_with("[seen]\r\n"), "{text}");
        std::fs::remove_file(&seen).unwrap();
    }
}

fn waits_for_times(terminal: &Terminal, text: &str, times: usize) {
    let begun = std::time::Instant::now();
    while terminal.text().matches(text).count() < times {
        assert!(begun.elapsed().as_secs() < 600, "{:?}", terminal.text());
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[test]
fn less_is_the_usual_one_where_it_is() {
    let scene = long();
    let mut terminal = at_terminal(&scene, &["path", "s1", "--text"], &[], USUAL);
    if std::process::Command::new("less").arg("--version").output().is_ok() {
        terminal.waits_for("\r\n:");
        assert!(!terminal.text().contains("prompt 199."));
        terminal.types("q");
    }
    let (status, text) = terminal.ends();
    assert_eq!(status, Some(0), "{text}");
    // Where there is none, everything is shown.
    let nowhere = scene.folder().join("bin");
    std::fs::create_dir(&nowhere).unwrap();
    for program in ["setsid", "env"] {
        std::os::unix::fs::symlink(which(program), nowhere.join(program)).unwrap();
    }
    let text = run(&scene, &["path", "s1"], &[("PATH", nowhere.to_str().unwrap())]);
    assert!(text.contains("prompt 0.") && text.contains("prompt 199."), "{text}");
}

fn which(program: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|at| at.exists()).unwrap()
}

#[test]
fn a_pager_in_these_tests_saves_nothing_into_the_sources() {
    let scene = long();
    let pager = [("LEAFLINE_PAGER", "cat > saved; pwd; echo $HOME")];
    let text = run(&scene, &["path", "s1"], &pager);
    let folder = scene.folder().canonicalize().unwrap();
    assert_eq!(text.lines().next(), Some(path(&folder)), "{text}");
    assert_eq!(text.lines().nth(1), Some(path(scene.folder())), "{text}");
    assert!(scene.folder().join("saved").exists());
}

#[test]
fn what_is_said_beside_comes_after_the_pager() {
    let scene = long();
    scene.run(["index"]).ok();
    scene.run(["fork", "s1"]).ok();
    let arguments = ["search", "--no-wait", "prompt", "--limit", "50"];
    let text = run(&scene, &arguments, &[("LEAFLINE_PAGER", ECHO)]);
    let (shown, said) = text.split_once("[end]\r\n").unwrap();
    assert!(shown.starts_with("[pager]"), "{text}");
    assert!(said.contains("not in the search index yet"), "{text}");
}

/// A command that held its state of the store meanwhile made the store grow with each commit of other processes.
#[test]
fn no_space_is_held_back_while_a_pager_waits() {
    let words = "some words ".repeat(200);
    let entries = (0..200).map(|number| message(&format!("{number:08x}"), None, &words));
    let scene = Scene::of_session(&file(std::iter::once(header("s1")).chain(entries)));
    let go = scene.folder().join("go");
    // The pager reads nothing until `go` exists; the output is larger than a pipe.
    let pager =
        format!("echo '[pager]'; while [ ! -e '{}' ]; do sleep 0.02; done; cat", go.display());
    let terminal = at_terminal(&scene, &["path", "s1"], &[("LEAFLINE_PAGER", &pager)], USUAL);
    terminal.waits_for("[pager]");
    let store = leafline::Store::open(scene.store()).unwrap();
    let mut other =
        store.create_session(&leafline::NewSession::new(leafline::Family::Pi, "/work")).unwrap();
    let size = || std::fs::metadata(scene.store()).unwrap().len();
    // The command may still be reading the store at first.
    let is_free = (0..100).any(|_| {
        let before = size();
        for _ in 0..30 {
            other
                .append_message(&serde_json::json!({"role": "assistant", "content": "x"}))
                .unwrap();
            other.reader().unwrap();
        }
        size() < before + (256 << 10)
    });
    assert!(is_free);
    drop((other, store));
    std::fs::write(go, "").unwrap();
    assert_eq!(terminal.ends().0, Some(0));
}
