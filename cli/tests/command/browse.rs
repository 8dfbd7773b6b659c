//! `leafline browse` in a real terminal, which tmux is. Guards against keys that do something else than the help says, screens
//! that are torn, and a terminal that is not given back.
//!
//! `LEAFLINE_DRAW=1 cargo test --workspace --test command browse` draws the screens in `screens/` again; look at what has changed.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::scene::{CLAUDE, PI_3, Scene, file, header, message, path, sample};
use crate::terminal::{USUAL, at_terminal};

/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(600);

/// A terminal of tmux with a shell, in which the command runs.
struct Tmux {
    arguments: Vec<String>,
}

impl Tmux {
    /// One of so many columns and rows; `None`, with a word, if there is no tmux and none is required.
    fn start(scene: &Scene, columns: u16, rows: u16) -> Option<Self> {
        let is_there = Command::new("tmux").arg("-V").stdout(Stdio::null()).status();
        if !is_there.is_ok_and(|status| status.success()) {
            assert!(std::env::var_os("LEAFLINE_REQUIRE_TMUX").is_none(), "there is no tmux");
            eprintln!("skipped: there is no tmux");
            return None;
        }
        let socket = scene.folder().join("tmux");
        let arguments = ["-S", path(&socket), "-f", "/dev/null"].map(str::to_owned).to_vec();
        let tmux = Self { arguments };
        let size = [columns.to_string(), rows.to_string()];
        let mut command = tmux.command();
        command.args(["new-session", "-d", "-x", &size[0], "-y", &size[1]]);
        for name in ["LC_ALL", "LC_CTYPE", "NO_COLOR", "TMUX", "HOME"] {
            command.env_remove(name);
        }
        let programs = scene.folder().join("programs");
        let paths = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{paths}", path(&programs)));
        command.env("LANG", "C.UTF-8").env("TZ", "UTC").env("PS1", "$ ").env("ENV", "");
        command.env("HOME", scene.folder()).env("LEAFLINE_STORE", scene.store());
        command.env("BROWSE", env!("CARGO_BIN_EXE_leafline")).current_dir(scene.folder());
        assert!(command.args(["env", "-u", "TMUX", "sh"]).status().unwrap().success());
        tmux.waits_for("$");
        Some(tmux)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.args(&self.arguments).stdin(Stdio::null());
        command
    }

    fn tells(&self, arguments: &[&str]) -> String {
        let output = self.command().args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Types a text as it is.
    fn types(&self, text: &str) {
        self.tells(&["send-keys", "-l", text]);
    }

    /// Presses a key that has a name.
    fn presses(&self, key: &str) {
        self.tells(&["send-keys", key]);
    }

    fn screen(&self) -> String {
        let rows = self.tells(&["capture-pane", "-p"]);
        rows.lines().map(|row| row.trim_end().to_owned() + "\n").collect()
    }

    #[track_caller]
    fn waits(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{what}:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn waits_for(&self, text: &str) {
        self.waits(text, |screen| screen.contains(text));
    }

    /// Waits until the screen is the one that is kept under this name.
    #[track_caller]
    fn shows(&self, name: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/screens");
        let picture = folder.join(format!("{name}.txt"));
        if std::env::var_os("LEAFLINE_DRAW").is_some() {
            std::thread::sleep(Duration::from_secs(2));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&picture, self.screen()).unwrap();
        }
        let expected = std::fs::read_to_string(&picture).unwrap();
        self.waits(name, |screen| screen == expected);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").status();
    }
}

/// A program that says in a file of the scene's folder how it was called.
fn program(scene: &Scene, name: &str) {
    let folder = path(scene.folder());
    let script =
        format!("#!/bin/sh\necho \"{name} $*\" >> {folder}/called\npwd >> {folder}/called\n");
    let path = scene.write(&format!("programs/{name}"), script.as_bytes());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn called(scene: &Scene) -> String {
    let begun = Instant::now();
    loop {
        let called = std::fs::read_to_string(scene.folder().join("called")).unwrap_or_default();
        if called.lines().count() == 2 {
            return called;
        }
        assert!(begun.elapsed() < PATIENCE, "{called}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_screens_are_as_they_were() {
    let scene = Scene::of_samples();
    let Some(tmux) = Tmux::start(&scene, 110, 26) else { return };
    tmux.types("\"$BROWSE\" browse\n");
    tmux.shows("sessions");
    tmux.types("/flkysch");
    tmux.shows("filter");
    tmux.presses("Enter");
    tmux.shows("conversation");
    tmux.types("t");
    tmux.shows("tree");
    tmux.types("q/timer");
    tmux.presses("Enter");
    tmux.types("N");
    tmux.shows("find");
    tmux.types("stimers");
    tmux.presses("Enter");
    tmux.shows("search");
    tmux.types("?");
    tmux.shows("help");
    // The terminal is given back as it was.
    tmux.presses("C-c");
    tmux.waits("the shell", |screen| screen.trim_end().ends_with("browse\n$"));
    tmux.types("echo \"status $?\"\n");
    tmux.waits_for("status 0");
}

#[test]
fn keys_reach_other_programs() {
    let scene = Scene::new();
    for name in ["xdg-open", "pi"] {
        program(&scene, name);
    }
    let work = scene.folder().canonicalize().unwrap().join("work");
    let text = String::from_utf8(sample(PI_3)).unwrap();
    let text = text.replace("/home/robin/work/tide-clock", path(&work));
    scene.run(["import", path(&scene.write("backup/session.jsonl", text.as_bytes()))]).ok();
    let Some(tmux) = Tmux::start(&scene, 200, 26) else { return };
    // What is copied comes to the terminal, which keeps it as its own buffer.
    tmux.tells(&["set-option", "-g", "set-clipboard", "on"]);
    tmux.types(&format!("\"$BROWSE\" browse {PI_3}\n"));
    tmux.waits_for("4be91d7");
    tmux.types("y");
    tmux.waits_for("copied 019c6605");
    tmux.waits("the copy", |_| {
        let shown = tmux.command().arg("show-buffer").output().unwrap();
        shown.stdout == PI_3.as_bytes()
    });
    tmux.types("o");
    tmux.waits_for("opened /");
    let opened = called(&scene);
    let page = opened.lines().next().unwrap().strip_prefix("xdg-open ").unwrap();
    assert!(std::fs::read(page).unwrap().starts_with(b"<!doctype html>"));
    // Only the user can read the folder that it is in.
    let folder = Path::new(page).parent().unwrap();
    let mode = std::fs::metadata(folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::remove_file(scene.folder().join("called")).unwrap();
    // A file that is there is not written over without an answer.
    let mine = scene.write("mine.jsonl", b"mine");
    tmux.types("e");
    tmux.presses("C-u");
    tmux.types("mine.jsonl");
    tmux.presses("Enter");
    tmux.waits_for("mine.jsonl is there; replace it? [y/N]");
    tmux.types("n");
    tmux.waits_for("not exported");
    assert_eq!(std::fs::read(mine).unwrap(), b"mine");
    // The session's directory is not there: nothing is done.
    tmux.types("r");
    tmux.waits_for("does not exist");
    assert!(!scene.folder().join("called").exists() && !scene.folder().join(".pi").exists());
    std::fs::create_dir(&work).unwrap();
    tmux.types("r");
    let resumed = called(&scene);
    assert!(resumed.starts_with("pi --session "), "{resumed}");
    assert_eq!(resumed.lines().nth(1), Some(path(&work)));
}

#[test]
fn an_open_conversation_follows_what_others_append() {
    let session = file([header("s1"), message("a", None, "the first question")]);
    let scene = Scene::of_session(&session);
    let Some(tmux) = Tmux::start(&scene, 80, 12) else { return };
    tmux.types("\"$BROWSE\" browse s1\n");
    tmux.waits_for("the first question");
    for number in 0..20 {
        let entry = format!(
            r#"{{"type":"message","message":{{"role":"user","content":"question {number}"}}}}"#
        );
        scene.run(["append", "s1", &entry]).ok();
    }
    tmux.waits_for("question 19");
    tmux.waits_for("21 entries");
    // A label appears at its entry, wherever that is.
    tmux.types("g");
    tmux.waits_for("the first question");
    scene.run(["label", "s1", "a", "begin"]).ok();
    tmux.waits_for("[begin]");
    tmux.types("G");
    // Another size, and then as small as it gets.
    for (columns, rows) in [("40", "20"), ("1", "1"), ("80", "12")] {
        tmux.tells(&["resize-window", "-x", columns, "-y", rows]);
    }
    tmux.waits_for("question 19");
    tmux.types("qq");
    tmux.waits("the shell", |screen| screen.trim_end().ends_with('$'));
}

#[test]
fn without_a_terminal_it_says_so() {
    let scene = Scene::of_samples();
    let told = scene.run(["browse"]).fails(1);
    assert!(told.contains("standard output is not a terminal"), "{told}");
    let told = scene.run(["browse", "--json"]).fails(2);
    assert!(told.contains("cannot be used with 'browse'"), "{told}");
}

#[test]
fn the_terminal_is_given_back_when_it_is_told_to_stop() {
    use rustix::process::Signal;
    let scene = Scene::of_samples();
    for signal in [Signal::TERM, Signal::HUP] {
        let terminal = at_terminal(&scene, &["browse", CLAUDE], &[], USUAL);
        // The row of the heading is written as a whole.
        terminal.waits_for("Tide clock: time zone");
        let [enter, leave] = ["\u{1b}[?1049h", "\u{1b}[?1049l"];
        assert!(terminal.text().contains(enter) && !terminal.text().contains(leave));
        terminal.signals(signal);
        let (status, text) = terminal.ends();
        assert_eq!(status, Some(130));
        let rest = text.rsplit_once(leave).unwrap().1;
        assert!(rest.contains("\u{1b}[?25h"), "{rest:?}");
    }
}

/// A measurement: `cargo test --workspace --test command browse_starts -- --ignored --nocapture`.
#[test]
#[ignore = "it measures, on a machine that does nothing else"]
fn browse_starts_on_10_000_sessions() {
    let scene = Scene::new();
    for number in 0..10_000 {
        let session = header(&format!("{number:08}-4c90-7d2a"));
        let question = message("a", None, &format!("question {number} of ten thousand"));
        let minute =
            format!("2026-03-{:02}T{:02}:{:02}", 1 + number / 1440, number / 60 % 24, number % 60);
        let question = question.replace("2026-03-01T08:00", &minute);
        scene.write(&format!("many/{number}.jsonl"), &file([session, question]));
    }
    scene.run(["import", "-q", "--no-index", path(&scene.folder().join("many"))]).ok();
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..41 {
        let begun = Instant::now();
        let mut terminal = at_terminal(&scene, &["browse"], &[], USUAL);
        // The whole screen is written at once.
        // As much of it as has room in its column.
        terminal.waits_for("question 9999 of ten tho…");
        times.push(begun.elapsed());
        terminal.types("q");
        assert_eq!(terminal.ends().0, Some(0));
    }
    times.sort();
    let [median, most] = [times[20], times[40]];
    println!("from the start to the first screen: median {median:?}, at most {most:?}");
}
