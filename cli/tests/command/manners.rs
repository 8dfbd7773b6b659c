//! What holds for every command: the store's place, exit statuses, pipes.

use std::io::Read;
use std::process::Stdio;

use crate::scene::{
    OMP_3, PI_3, Scene, command, file, finished, header, message, on_samples, path, sample,
};

/// Every command that only reads or changes what is there.
const NEEDS_A_STORE: [&[&str]; 21] = [
    &["export", "x"],
    &["export", "--all", "-o", "x"],
    &["ls"],
    &["show", "x"],
    &["tree", "x"],
    &["path", "x"],
    &["children", "x", "y"],
    &["context", "x"],
    &["append", "x"],
    &["branch", "x", "y"],
    &["reset-leaf", "x"],
    &["label", "x", "y", "z"],
    &["name", "--set", "y", "x"],
    &["fork", "x"],
    &["extract", "x", "y"],
    &["history", "recent"],
    &["history", "search", "x"],
    &["history", "export", "x"],
    &["stats"],
    &["verify"],
    &["compact"],
];

#[test]
fn only_what_brings_something_makes_a_store() {
    let scene = Scene::new();
    for arguments in NEEDS_A_STORE {
        let complaint = scene.run(arguments.iter().copied()).fails(1);
        assert!(
            complaint.starts_with("leafline: store ") && complaint.contains("does not exist"),
            "{complaint}"
        );
        assert_eq!(complaint.lines().count(), 1);
        assert!(!scene.store().exists(), "{arguments:?}");
    }
}

#[test]
fn a_failure_says_what_to_do_about_it() {
    let missing = Scene::new().run(["ls"]).fails(1);
    assert!(missing.contains("`leafline import` or `leafline new` makes it"), "{missing}");
    let nowhere = on_samples(["show", "nowhere"]).fails(1);
    assert!(nowhere.contains("\"nowhere\"") && nowhere.contains("`leafline ls`"), "{nowhere}");
    let no_entry = on_samples(["show", PI_3, "nowhere"]).fails(1);
    assert!(no_entry.contains(&format!("`leafline tree --full {PI_3}`")), "{no_entry}");
    // One that stops a stream as well.
    let scene = Scene::of_session(&file([header("s1"), message("a", None, "x")]));
    let label = r#"{"type":"label","targetId":"nowhere","label":"x"}"#;
    let stopped = scene.run_with_input(["append", "s1"], label.as_bytes()).fails(1);
    assert!(stopped.contains("`leafline tree --full s1` shows its entries"), "{stopped}");
}

#[test]
fn the_store_is_named_by_option_then_variable_then_platform() {
    let scene = Scene::new();
    let session = scene.write("session.jsonl", &file([header("s1"), message("a", None, "x")]));
    let named = scene.folder().join("named/deep/store");
    scene.run(["import", path(&session), "--store", path(&named)]).ok();
    assert!(named.exists() && !scene.store().exists());
    assert_eq!(scene.run(["--store", path(&named), "ls"]).ok().text().lines().count(), 1);

    let home = scene.folder().join("home");
    let mut import = command(&scene.store());
    import.env("LEAFLINE_STORE", "").env("HOME", &home).env("XDG_DATA_HOME", home.join("data"));
    finished(import.args(["import", path(&session)]).output().unwrap()).ok();
    if cfg!(target_os = "linux") {
        assert!(home.join("data/leafline/sessions.leafline").exists());
    }
    assert!(!scene.store().exists());
}

#[test]
fn what_is_no_store_is_refused() {
    let scene = Scene::new();
    let text = scene.write("notes.txt", &b"just some notes. ".repeat(1000));
    let complaint = scene.run(["ls", "--store", path(&text)]).fails(1);
    assert!(complaint.contains("notes.txt"), "{complaint}");
    assert_eq!(std::fs::read(text).unwrap(), b"just some notes. ".repeat(1000));
}

#[test]
fn unknown_and_ambiguous_sessions_are_named() {
    let unknown = on_samples(["show", "nothing"]).fails(1);
    assert!(unknown.contains("\"nothing\"") && unknown.contains("leafline ls"), "{unknown}");
    let ambiguous = on_samples(["show", "019c"]).fails(1);
    assert!(ambiguous.contains("7 session ids") && ambiguous.contains(PI_3), "{ambiguous}");
    let entry = on_samples(["show", PI_3, "nothing"]).fails(1);
    assert!(entry.contains("\"nothing\"") && entry.contains(PI_3), "{entry}");
}

#[test]
fn wrong_usage_is_status_2() {
    for arguments in [
        &[][..],
        &["fly"],
        &["ls", "--limit", "many"],
        &["show"],
        &["import", "--family", "all"],
        &["ls", "--wrong"],
        &["export", "x", "--as", "zip"],
        &["append"],
        &["new", "--family", "codex"],
        &["new", "--title", "of pi's"],
        &["new", "--id", ""],
        &["new", "--id", "two\nlines"],
        &["new", "--cwd", ""],
        &["branch", "x"],
        &["context", "x", "--family", "zip"],
    ] {
        on_samples(arguments.iter().copied()).fails(2);
    }
    // The usage is that of the command.
    for (arguments, usage) in [
        (&["export", PI_3, OMP_3, "-o", "x"][..], "\nUsage: leafline export "),
        (&["rm", "--family", "pi"], "\nUsage: leafline rm "),
        (&["import", "-", "-"], "\nUsage: leafline import "),
    ] {
        let told = on_samples(arguments.iter().copied()).fails(2);
        assert!(told.contains(usage), "{told}");
    }
    // Where a value alone is wrong, all say so alike, without it.
    for arguments in [
        &["ls", "--since", "nonsense"][..],
        &["search", "x", "--role", "nobody"],
        &["new", "--id", "two\nlines"],
        &["relocate", "/work", "/work/."],
    ] {
        let told = on_samples(arguments.iter().copied()).fails(2);
        assert!(told.starts_with("error: ") && !told.contains("Usage:"), "{told}");
        assert!(told.ends_with("\n\nFor more information, try '--help'.\n"), "{told}");
    }
}

#[test]
fn help_teaches() {
    let text = on_samples(["--help"]).ok().text();
    for expected in ["Examples:", "LEAFLINE_STORE", "Exit status", "children", "leafline import"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    for name in [
        "import",
        "export",
        "secrets",
        "ls",
        "show",
        "tree",
        "path",
        "children",
        "context",
        "new",
        "append",
        "branch",
        "reset-leaf",
        "label",
        "name",
        "fork",
        "extract",
        "stats",
        "verify",
        "rm",
        "compact",
    ] {
        let help = on_samples([name, "--help"]).ok().text();
        assert!(help.contains("Example") && help.contains(&format!("leafline {name}")), "{help}");
        assert!(!help.contains('\u{1b}'));
        // Wherever an entry is named, the help says how.
        if help.contains("<ENTRY>") {
            assert!(help.contains("a unique prefix of") && help.contains("@last"), "{help}");
        }
        // A command's own options come first.
        let options = help.split_once("\nOptions:\n").unwrap().1;
        let names: Vec<&str> = options
            .lines()
            .filter(|line| line.starts_with("      --") || line.starts_with("  -"))
            .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
            .collect();
        let of_all = ["--store", "--json", "--color", "--no-pager", "--help"];
        assert!(names.ends_with(&of_all), "{names:?}");
    }
    assert!(on_samples(["--version"]).ok().text().starts_with("leafline "));
}

#[test]
fn a_reader_that_leaves_ends_the_command_quietly() {
    let long = |place: usize| message(&format!("{place:08x}"), None, &"word ".repeat(2000));
    let bytes = file(std::iter::once(header("s1")).chain((0..400).map(long)));
    let scene = Scene::of_session(&bytes);
    for arguments in [
        &["export", "s1"][..],
        &["tree", "s1"],
        &["show", "s1", "--json"],
        &["tree", "s1", "--json"],
    ] {
        let mut child = command(&scene.store())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut start = [0; 16];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments:?}");
    }
}

#[test]
fn an_import_goes_on_when_nobody_listens() {
    let scene = Scene::new();
    let session = scene.write("session.jsonl", &sample(PI_3));
    let mut child = command(&scene.store())
        .args(["import", path(&session)])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(scene.run(["export", PI_3]).ok().stdout, sample(PI_3));
}

#[test]
fn no_colour_without_a_terminal() {
    for arguments in [&["tree", PI_3][..], &["show", PI_3], &["stats"], &["ls"]] {
        assert!(!on_samples(arguments.iter().copied()).ok().text().contains('\u{1b}'));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_a_failure() {
    for arguments in [&["ls"][..], &["export", PI_3], &["show", PI_3, "--json"]] {
        let scene = Scene::of_session(&sample(PI_3));
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command(&scene.store()).args(arguments).stdout(full).output().unwrap();
        let complaint = finished(output).fails(1);
        assert!(complaint.starts_with("leafline: writing"), "{complaint}");
    }
}
