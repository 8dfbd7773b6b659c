//! What a terminal shows, at three widths, compared with the pictures in `pictures/`.
//!
//! `LEAFLINE_DRAW=1 cargo test --workspace --test command pictures` draws them again; look at what has changed.

use std::path::Path;

use crate::scene::{CLAUDE, PI_3, Run, Scene, command, file, finished, header, message, path};
use crate::terminal::{Size, at_store};

const WIDTHS: [usize; 3] = [80, 120, 200];

fn run(scene: &Scene, locale: &str, width: usize, arguments: &[&str]) -> Run {
    let mut command = command(&scene.store());
    command.env_remove("LC_ALL").env_remove("LC_CTYPE").env("LANG", locale);
    command.args(["--width", &width.to_string()]).args(arguments);
    finished(command.output().unwrap())
}

/// The columns of a line whose characters all take one.
fn columns(line: &str) -> usize {
    line.chars().count()
}

#[test]
fn the_pictures_are_as_they_were() {
    let scene = Scene::of_samples();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/pictures");
    for (name, arguments) in [
        ("ls", &["ls"][..]),
        ("search", &["search", "timers"]),
        ("tree", &["tree", PI_3]),
        ("path", &["path", CLAUDE, "--text"]),
        ("show", &["show", CLAUDE]),
        ("stats", &["stats", CLAUDE]),
        ("usage", &["usage", "--by", "session"]),
    ] {
        for width in WIDTHS {
            let text = run(&scene, "C.UTF-8", width, arguments).ok().text();
            let picture = folder.join(format!("{name}-{width}.txt"));
            if std::env::var_os("LEAFLINE_DRAW").is_some() {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&picture, &text).unwrap();
            }
            let expected = std::fs::read_to_string(&picture).unwrap();
            assert!(text == expected, "{}:\n{text}", path(&picture));
            for line in text.lines() {
                assert!(columns(line) <= width, "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn a_list_at_80_columns_has_room_for_titles() {
    let title = "A title of some length, of which enough is to be read";
    let mut header = header("019c6605-4c90-7d2a-9b41-5f0e3c77a1d2");
    header = header.replace("/work", "/home/someone/work/projects/of-some-length/and-depth");
    let scene = Scene::of_session(&file([header, message("a", None, title)]));
    let text = run(&scene, "C.UTF-8", 80, &["ls"]).ok().text();
    assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    assert!(text.contains("A title of some length,"), "{text}");
}

#[test]
fn a_list_at_80_columns_has_room_for_titles_beside_long_ids_and_gone_files() {
    let scene = Scene::new();
    let title = "A title of some length, of which enough is to be read";
    for id in ["019c6f5a-002b-7c4e", "019c6f5a-0023-7c4e"] {
        let header = header(id).replace("/work", "/home/someone/work/projects/tide-clock");
        let file = scene.write("session.jsonl", &file([header, message("a", None, title)]));
        scene.run(["import", path(&file)]).ok();
        std::fs::remove_file(file).unwrap();
    }
    let text = run(&scene, "C.UTF-8", 80, &["ls"]).ok().text();
    assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    let rows = text.lines().filter(|line| line.contains("A title of some lengt"));
    assert_eq!(rows.filter(|line| line.ends_with("gone")).count(), 2, "{text}");
}

#[test]
fn odd_text_keeps_the_table_straight() {
    let scene = Scene::new();
    for (id, title) in [
        ("s1", "e\u{301}e\u{301}e\u{301} combining"),
        ("s2", "\u{5e9}\u{5dc}\u{5d5}\u{5dd} from right to left"),
        ("s3", "日本語 wide"),
        ("s4", "plain"),
    ] {
        let bytes = file([header(id), message("a", None, title)]);
        scene.run(["import", path(&scene.write(&format!("{id}.jsonl"), &bytes))]).ok();
    }
    let text = run(&scene, "C.UTF-8", 80, &["ls"]).ok().text();
    // Where the folder begins, in columns: characters of no width do not count, wide ones do twice.
    let place = |line: &str| -> usize {
        let before = line.split("/work").next().unwrap();
        before
            .chars()
            .map(|character| match character {
                '\u{301}' | '\u{2068}' | '\u{2069}' => 0,
                '\u{3000}'..='\u{9fff}' => 2,
                _ => 1,
            })
            .sum()
    };
    let places: Vec<usize> = text.lines().skip(1).map(place).collect();
    assert_eq!(places.len(), 4);
    assert!(places.iter().all(|at| *at == places[0]), "{places:?} {text}");
    assert!(
        text.contains("\u{2068}\u{5e9}\u{5dc}\u{5d5}\u{5dd} from right to left\u{2069}"),
        "{text}"
    );
}

#[test]
fn a_tree_and_facts_isolate_text_from_right_to_left() {
    let hebrew = "\u{5e9}\u{5dc}\u{5d5}\u{5dd}";
    let scene = Scene::of_session(&file([header("s1"), message("aaaa", None, hebrew)]));
    scene.run(["label", "s1", "aaaa", hebrew]).ok();
    let isolated = format!("\u{2068}{hebrew}\u{2069}");
    let tree = run(&scene, "C.UTF-8", 80, &["tree", "s1"]).ok().text();
    assert!(tree.contains(&format!("[{isolated}]")), "{tree}");
    assert!(tree.contains(&format!("{hebrew}\"\u{2069} (aaaa)")), "{tree}");
    let shown = run(&scene, "C.UTF-8", 80, &["show", "s1"]).ok().text();
    assert!(shown.contains(&format!("prompt    {isolated}")), "{shown}");
}

#[test]
fn facts_are_wrapped_beside_their_names() {
    let prompt = "one two three four five six seven eight nine ten ".repeat(4);
    let scene = Scene::of_session(&file([header("s1"), message("a", None, prompt.trim())]));
    let text = run(&scene, "C.UTF-8", 60, &["show", "s1"]).ok().text();
    assert!(text.lines().all(|line| columns(line) <= 60), "{text}");
    let prompt = text.lines().skip_while(|line| !line.starts_with("prompt"));
    assert!(prompt.clone().nth(1).unwrap().starts_with("          "), "{text}");
    // A word that is wider than the terminal, as the store's path, goes on below.
    for width in [40, 60] {
        let text = run(&scene, "C.UTF-8", width, &["stats"]).ok().text();
        assert!(
            text.lines().take_while(|line| !line.is_empty()).all(|line| columns(line) <= width)
        );
        let store = text.lines().take_while(|line| !line.starts_with("file"));
        let store: String = store.map(|line| &line[10..]).collect();
        assert_eq!(store, path(&scene.store()), "{text}");
    }
    let path = format!("/home/{}", "long".repeat(40));
    let scene = Scene::of_session(&file([header("s1").replace("/work", &path)]));
    let text = run(&scene, "C.UTF-8", 60, &["stats", "s1"]).ok().text();
    assert!(text.lines().all(|line| columns(line) <= 60), "{text}");
}

#[test]
fn what_verify_finds_fits_the_terminal() {
    let orphan = message("b", Some("nowhere-to-be-found"), "x");
    let scene = Scene::of_session(&file([header("s1"), orphan]));
    let whole = scene.run(["verify"]).ok().text();
    let text = run(&scene, "C.UTF-8", 40, &["verify"]).ok().text();
    let found = |text: &str| -> Vec<String> {
        let lines = text.lines().take_while(|line| !line.contains("checked"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(found(&whole).len(), 1, "{whole}");
    let found_there = found(&text);
    assert!(found_there.len() > 1, "{text}");
    assert!(found_there.iter().all(|line| columns(line) <= 40), "{text}");
    assert!(found_there[1..].iter().all(|line| line.starts_with("         ")), "{text}");
}

#[test]
fn lines_about_files_are_broken_between_words() {
    let scene = Scene::new();
    let deep = scene.folder().join("a folder of words").join("and-another-of-some-length");
    std::fs::create_dir_all(&deep).unwrap();
    let mut bytes = file([header("s1"), message("a", None, "x")]);
    bytes.extend_from_slice(b"torn\n");
    std::fs::write(deep.join("one.jsonl"), &bytes).unwrap();
    std::fs::write(deep.join("two.jsonl"), "nothing of the kind\n").unwrap();
    let words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().map(str::to_owned);
        // But for the seconds.
        words.filter(|word| word.parse::<f64>().is_err()).collect()
    };
    scene.run(["import", "--no-index", path(&deep)]).ok();
    let out = scene.folder().join("out of here");
    for arguments in [
        &["import", "-v", "--no-index", path(&deep)][..],
        &["sync", "-v", "--no-index", path(&deep)],
        &["export", "s1", "-o", path(&out.join("a file with a name of some length.jsonl"))],
    ] {
        let mut piped = command(&scene.store());
        let piped = finished(piped.args(arguments).output().unwrap()).ok().text();
        assert!(piped.lines().any(|line| columns(line) > 80), "{piped}");
        for width in [WIDTHS[0], 100, WIDTHS[1]] {
            let text = run(&scene, "C.UTF-8", width, arguments).ok().text();
            assert!(text.lines().all(|line| columns(line) <= width), "{text}");
            assert!(text.lines().all(|line| !line.ends_with(' ')), "{text}");
            // A path may be a word that is wider than its lines.
            let joined = words(&text).concat();
            assert_eq!(joined, words(&piped).concat(), "{text}");
            let shown = words(&text);
            let whole = words(&piped).into_iter().filter(|word| word.len() <= width - 12);
            whole.for_each(|word| assert!(shown.contains(&word), "{word}: {text}"));
        }
        let width = 300;
        let text = run(&scene, "C.UTF-8", width, arguments).ok().text();
        assert_eq!(text.lines().count(), piped.lines().count(), "{text}");
    }
}

#[test]
fn a_message_is_broken_between_words_and_its_command_is_not() {
    let scene = Scene::of_session(&file([header("s1"), message("a", None, "x")]));
    let old = "/a/folder/of/some/length/in/which/there/is/nothing/at/all";
    for columns in [60, 80, 120] {
        let size = Size { rows: 24, columns };
        let arguments = ["relocate", old, "/elsewhere"];
        let (status, text) = at_store(&scene.store(), &arguments, &[], size).ends();
        assert_eq!(status, Some(1), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= columns.into()), "{text}");
        assert!(text.lines().any(|line| line.contains("`leafline ls`")), "{text}");
        let piped = scene.run(arguments).fails(1);
        assert_eq!(piped.lines().count(), 1);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words.join(" "), piped.trim_end());
    }
}

#[test]
fn a_plain_locale_gets_ascii() {
    let scene = Scene::of_samples();
    for arguments in [&["tree", PI_3][..], &["ls"], &["path", CLAUDE, "--text"]] {
        let plain = run(&scene, "C", 80, arguments).ok().text();
        assert!(plain.is_ascii(), "{plain}");
        let usual = run(&scene, "C.UTF-8", 80, arguments).ok().text();
        assert_eq!(plain.lines().count(), usual.lines().count());
    }
    assert!(run(&scene, "C", 80, &["tree", PI_3]).ok().text().contains("|-* user"));
    // So do messages, help, and the question of `rm`.
    scene.run(["name", "--set", "Käsespätzle", PI_3]).ok();
    let variables = [("LC_ALL", "C"), ("LEAFLINE_PAGER", "")];
    let size = Size { rows: 50, columns: 80 };
    for (arguments, expected) in [
        (&["tree", "--help"][..], "  * a root   o an orphan"),
        (&["show", "ü"], "no session has the id \"?\""),
        (&["relocate", "/ö", "/x"], "no session is in /? or below it"),
        (&["rm", PI_3, CLAUDE], "K?sesp?tzle"),
    ] {
        let mut terminal = at_store(&scene.store(), arguments, &variables, size);
        if arguments[0] == "rm" {
            terminal.waits_for("[y/N] ");
            terminal.types("n\n");
        }
        let (_, text) = terminal.ends();
        assert!(text.is_ascii() && text.contains(expected), "{arguments:?}: {text}");
    }
    // What a program reads is never changed.
    let mut command = command(&scene.store());
    let piped = finished(command.env("LC_ALL", "C").args(["tree", PI_3]).output().unwrap()).ok();
    assert!(!piped.text().is_ascii());
}
