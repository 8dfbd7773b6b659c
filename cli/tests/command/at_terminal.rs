//! What a person at a terminal types and sees: questions, ctrl-c, bars.

use std::time::{Duration, Instant};

use leafline_generate::{Shape, generate};

use crate::scene::{OMP_3, PI_3, Scene, file, header, message, path};
use crate::terminal::{CTRL_C, Terminal, USUAL, at_terminal, screen};

/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(600);

fn begin(scene: &Scene, arguments: &[&str]) -> Terminal {
    at_terminal(scene, arguments, &[], USUAL)
}

#[test]
fn rm_asks_before_it_deletes_several() {
    for (answer, is_deleted) in
        [("y\n", true), ("yes\n", true), ("n\n", false), ("\n", false), ("\u{4}", false)]
    {
        let scene = Scene::of_samples();
        let mut terminal = begin(&scene, &["rm", PI_3, OMP_3]);
        terminal.waits_for("delete 2 sessions, ");
        terminal.waits_for("? [y/N] ");
        assert!(terminal.text().contains("Flaky scheduler test"), "{}", terminal.text());
        terminal.types(answer);
        let (status, text) = terminal.ends();
        assert_eq!(status, Some(i32::from(!is_deleted)), "{answer:?}: {text}");
        assert_eq!(text.contains("nothing was deleted"), !is_deleted, "{text}");
        let listed = scene.run(["ls"]).ok().text();
        assert_eq!(!listed.contains(PI_3) && !listed.contains(OMP_3), is_deleted, "{listed}");
    }
}

#[test]
fn what_rm_asks_about_fits_the_terminal() {
    let scene = Scene::new();
    for id in ["a-session-with-a-name-of-some-length", "another-session-with-a-name-of-some-length"]
    {
        let bytes = file([header(id), message("a", None, &"a long title ".repeat(20))]);
        scene.run(["import", path(&scene.write(&format!("{id}.jsonl"), &bytes))]).ok();
    }
    let rm = ["rm", "a-session", "another-session"];
    let mut terminal = begin(&scene, &rm);
    terminal.waits_for("? [y/N] ");
    terminal.types("n\n");
    let (_, text) = terminal.ends();
    assert!(text.contains("a long title"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= USUAL.columns.into()), "{text}");
    let dry = scene.run(["--width", "80", "rm", "-n", "a-session", "another-session"]).ok().text();
    assert!(dry.contains("a long title"), "{dry}");
    assert!(dry.lines().all(|line| line.chars().count() <= 80), "{dry}");
}

#[test]
fn ctrl_c_answers_the_question_with_no() {
    let scene = Scene::of_samples();
    let mut terminal = begin(&scene, &["rm", PI_3, OMP_3]);
    terminal.waits_for("? [y/N] ");
    terminal.types(CTRL_C);
    let (status, text) = terminal.ends();
    assert_ne!(status, Some(0), "{text}");
    let listed = scene.run(["ls"]).ok().text();
    assert!(listed.contains(PI_3) && listed.contains(OMP_3), "{listed}");
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn one_session_is_deleted_without_a_question() {
    let scene = Scene::of_samples();
    let (status, text) = begin(&scene, &["rm", PI_3]).ends();
    assert_eq!(status, Some(0), "{text}");
    assert!(!text.contains("[y/N]") && text.contains(PI_3), "{text}");
}

/// Sessions of many bytes, in one file each.
fn many_files(scene: &Scene, count: u64) {
    for seed in 0..count {
        let mut bytes = Vec::new();
        generate(&Shape { seed, bytes: 1_000_000, ..Shape::default() }, &mut bytes).unwrap();
        scene.write(&format!("sessions/{seed:04}.jsonl"), &bytes);
    }
}

#[test]
fn ctrl_c_leaves_no_bar() {
    let scene = Scene::new();
    many_files(&scene, 60);
    // An export says more of them than a terminal holds that is not read.
    for number in 0..400 {
        let bytes = file([header(&format!("s{number}")), message("a", None, "x")]);
        scene.write(&format!("sessions/small/{number}.jsonl"), &bytes);
    }
    let [sessions, out] = ["sessions", "out"].map(|name| scene.folder().join(name));
    let mut bars = 0;
    for arguments in [
        &["import", "--no-index", path(&sessions)][..],
        &["sync", "--no-index", "-v", path(&sessions)],
        &["export", "--all", "-o", path(&out)],
    ] {
        let mut terminal = begin(&scene, arguments);
        // A bar comes after a second: the command waits that long for the terminal.
        terminal.pauses_at(".jsonl");
        while !terminal.text().contains(['█', '░']) && !terminal.text().contains(".jsonl") {
            assert!(!terminal.is_at_end(), "{}", terminal.text());
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(1200));
        terminal.goes_on();
        while !terminal.text().contains('█') && !terminal.is_at_end() {
            std::thread::sleep(Duration::from_millis(1));
        }
        bars += u32::from(terminal.text().contains('█'));
        terminal.types(CTRL_C);
        let (status, text) = terminal.ends();
        assert!(matches!(status, Some(0 | 130)), "{arguments:?}: {text}");
        let rows = screen(&text, USUAL.columns.into());
        let stale = rows.iter().find(|row| row.contains(['█', '░']));
        assert_eq!(stale, None, "{arguments:?}");
        assert!(!text.contains("\u{1b}[?25l") || text.contains("\u{1b}[?25h"), "{text:?}");
    }
    assert!(bars > 0, "no bar was seen");
}

#[test]
fn the_second_ctrl_c_ends_at_once() {
    let scene = Scene::new();
    for number in 0..3000 {
        let bytes = file([header(&format!("s{number}")), message("a", None, "x")]);
        scene.write(&format!("sessions/{number}.jsonl"), &bytes);
    }
    let sessions = scene.folder().join("sessions");
    let mut terminal = begin(&scene, &["import", "--no-index", path(&sessions)]);
    // It waits for the terminal in the middle of what it has to say.
    terminal.pauses_at(".jsonl");
    terminal.waits_for(".jsonl");
    std::thread::sleep(Duration::from_millis(300));
    assert!(!terminal.is_at_end(), "{}", terminal.text());
    terminal.types(CTRL_C);
    let begun = Instant::now();
    while !terminal.is_at_end() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain");
        // Two that come before the first is handled are one.
        std::thread::sleep(Duration::from_millis(300));
        terminal.types(CTRL_C);
    }
    terminal.goes_on();
    let (status, text) = terminal.ends();
    assert_eq!(status, Some(130), "{text}");
    assert!(!text.contains("3,000 files"), "{text}");
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn an_export_to_the_terminal_ends_on_ctrl_c() {
    let entries = (0..20_000).map(|number| message(&format!("{number:08x}"), None, "words"));
    let scene = Scene::of_session(&file(std::iter::once(header("s1")).chain(entries)));
    let mut terminal = begin(&scene, &["export", "s1"]);
    terminal.pauses_at("00000010");
    terminal.waits_for("00000010");
    terminal.types(CTRL_C);
    terminal.goes_on();
    let (status, text) = terminal.ends();
    assert_eq!(status, None, "a signal ends it");
    assert!(!text.contains(&format!("{:08x}", 19_999)), "it came to its end");
}
