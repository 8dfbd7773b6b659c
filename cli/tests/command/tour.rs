//! The tour of README.md, typed at a terminal: what it shows is what a newcomer sees.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::scene::{Scene, path};
use crate::terminal::{Size, in_folder, screen};

/// The terminal that the README names.
const SIZE: Size = Size { rows: 60, columns: 100 };

/// Printed between two commands.
const END: &str = "=== end ===";

/// A command of the tour, and what is shown below it.
struct Step<'r> {
    command: &'r str,
    shown: Vec<&'r str>,
}

/// The steps in the indented blocks of the section.
fn steps(readme: &str) -> Vec<Step<'_>> {
    let tour = readme.split("\n## The tour\n").nth(1).unwrap().split("\n| command").next().unwrap();
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut is_in_step = false;
    for line in tour.lines() {
        // A block goes on after a blank line.
        let row = line.strip_prefix("    ").or(line.is_empty().then_some(""));
        match row.map(|row| (row, row.strip_prefix("$ "))) {
            None => is_in_step = false,
            Some((_, Some(command))) => {
                steps.push(Step { command, shown: Vec::new() });
                is_in_step = true;
            }
            Some((row, None)) if is_in_step => steps.last_mut().unwrap().shown.push(row),
            Some(_) => {}
        }
    }
    for step in &mut steps {
        while step.shown.pop_if(|row| row.is_empty()).is_some() {}
    }
    steps
}

/// Compares the rows with those shown; a row of `...` matches any number of rows.
fn is_shown(shown: &[&str], rows: &[String]) -> bool {
    match shown {
        [] => rows.is_empty(),
        ["...", rest @ ..] => (1..=rows.len()).any(|from| is_shown(rest, &rows[from..])),
        [first, rest @ ..] => {
            rows.split_first().is_some_and(|(row, rows)| row == first && is_shown(rest, rows))
        }
    }
}

/// The row without what differs from run to run: how long it took, and ids and times that are not in the samples.
fn lasting(row: &str, samples: &str) -> String {
    let consists = |word: &str, of: fn(u8) -> bool| word.bytes().all(of);
    let mut words: Vec<&str> = row.split(' ').collect();
    for place in 0..words.len() {
        let word = words[place].trim_matches(|sign: char| !sign.is_ascii_alphanumeric());
        let is_id = matches!(word.len(), 8 | 36)
            && consists(word, |byte| byte.is_ascii_hexdigit() || byte == b'-');
        let is_day =
            word.len() == 10 && consists(word, |byte| byte.is_ascii_digit() || byte == b'-');
        if is_id && !samples.contains(word) {
            words[place] = "<id>";
        } else if is_day && !samples.contains(word) {
            words.splice(place..words.len().min(place + 2), ["<day>", "<time>"]);
        } else if word == "in" && words.get(place + 2).is_some_and(|unit| *unit == "s") {
            words[place + 1] = "<seconds>";
        }
    }
    words.join(" ").trim_end().to_owned()
}

/// The names and the contents of all files below a folder.
fn all_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        text += path.to_str().unwrap();
        text += &match path.is_dir() {
            true => all_text(&path),
            false => String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned(),
        };
    }
    text
}

#[test]
fn the_tour_is_what_a_terminal_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let steps = steps(&readme);
    let scene = Scene::new();
    for name in ["import", "examples"] {
        symlink(root.join(name), scene.folder().join(name)).unwrap();
    }
    std::fs::create_dir(scene.folder().join("target")).unwrap();
    let script: String =
        steps.iter().map(|step| format!("{}\necho '{END}'\n", step.command)).collect();
    let programs = Path::new(env!("CARGO_BIN_EXE_leafline")).parent().unwrap();
    let programs = format!("{}:{}", path(programs), std::env::var("PATH").unwrap());
    let shell = in_folder(scene.folder(), ("sh", &["-c", &script]), &[("PATH", &programs)], SIZE);
    let (status, text) = shell.ends();
    assert_eq!(status, Some(0), "{text}");
    // Its own breaks of lines are left out.
    let rows = screen(&text, usize::MAX);
    let samples = all_text(&root.join("import/samples"));
    let mut of_steps = rows.split(|row| row == END);
    let mut wrong = String::new();
    for step in &steps {
        let rows = of_steps.next().unwrap();
        let shown: Vec<String> = step.shown.iter().map(|row| lasting(row, &samples)).collect();
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        let lasting: Vec<String> = rows.iter().map(|row| lasting(row, &samples)).collect();
        if !is_shown(&shown, &lasting) {
            wrong += &format!("$ {}\n{}\n", step.command, rows.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "README.md shows something else:\n{wrong}");
}
