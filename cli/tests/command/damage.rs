//! One wrong bit in what the store knows of a session's tree: every command ends soon, and says what is wrong.

use std::process::{Command, Stdio};

use redb::{ConcurrencyMode, ReadableTable, TableDefinition};

use super::scene::{Run, Scene, file, finished, header, message};

const LINES: TableDefinition<(u64, u64, u32), &[u8]> = TableDefinition::new("lines");

/// A chunk's nodes: a column a field, in this order.
const PARENTS: usize = 2;
const DEPTHS: usize = 4;
const JUMPS: usize = 5;
const COMPACTIONS: usize = 7;

/// How many lines the session has. Its header is the first; the last entry is the leaf.
const COUNT: u64 = 24;

/// The line of the compaction, and the one that hangs beside it on another branch.
const COMPACTION: u64 = 12;
const BESIDE: u64 = 18;

fn session() -> Vec<u8> {
    let lines = (0..COUNT).map(|line| match line {
        0 => header("s1"),
        1 => message("e1", None, "first"),
        COMPACTION => format!(
            r#"{{"type":"compaction","id":"e{line}","parentId":"e{}","timestamp":"2026-03-01T08:00:01.000Z","summary":"so far","firstKeptEntryId":"e5","tokensBefore":9}}"#,
            line - 1
        ),
        BESIDE => message("e18", Some("e16"), "beside"),
        line => message(&format!("e{line}"), Some(&format!("e{}", line - 1)), "more"),
    });
    file(lines)
}

/// Reads a number as the store's records have it, and how many bytes it takes.
fn number(bytes: &[u8]) -> (usize, usize) {
    match bytes[0] {
        251 => (usize::from(u16::from_le_bytes([bytes[1], bytes[2]])), 3),
        small => (usize::from(small), 1),
    }
}

/// Opens the store's file beside the command, and changes the table of lines.
fn change_lines(
    scene: &Scene,
    change: impl FnOnce(&mut redb::Table<'_, (u64, u64, u32), &'static [u8]>),
) {
    let mut builder = redb::Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    let database = builder.open(scene.store()).unwrap();
    let transaction = database.begin_write().unwrap();
    change(&mut transaction.open_table(LINES).unwrap());
    transaction.commit().unwrap();
}

/// Changes the number of a line in a column of the nodes. All of them are below 251, and so a byte each.
fn change(scene: &Scene, column: usize, line: u64, change: impl FnOnce(u8) -> u8) {
    change_lines(scene, |table| {
        let mut chunk = table.get((1, 0, 0)).unwrap().unwrap().value().to_vec();
        // The version; the lengths of directory, nodes and frames; their check; the directory.
        let mut at = 1;
        let lengths = [(); 3].map(|()| {
            let (length, taken) = number(&chunk[at..]);
            at += taken;
            length
        });
        // The check of directory and nodes, which the change is not to be found by.
        let check = at..at + 4;
        let checked = check.end..check.end + lengths[0] + lengths[1];
        at = check.end + lengths[0];
        let count = u8::try_from(COUNT).unwrap();
        for _ in 0..column {
            assert_eq!(chunk[at], count);
            at += 1;
            for _ in 0..count {
                at += number_length(chunk[at]);
            }
        }
        assert_eq!(chunk[at], count);
        let place = at + 1 + usize::try_from(line).unwrap();
        let new = change(chunk[place]);
        assert_eq!((chunk[place] ^ new).count_ones(), 1, "one bit");
        chunk[place] = new;
        let digest = xxhash_rust::xxh3::xxh3_64(&chunk[checked]).to_le_bytes();
        chunk[check].copy_from_slice(&digest[..4]);
        table.insert((1, 0, 0), &chunk[..]).unwrap();
    });
}

/// Bytes of a number that begins with this one.
fn number_length(first: u8) -> usize {
    match first {
        251 => 3,
        252 => 5,
        253 => 9,
        _ => 1,
    }
}

/// Runs the command with a bound on its memory and its time, which an endless walk meets.
fn bounded(scene: &Scene, arguments: &[&str]) -> Run {
    let mut command = Command::new("sh");
    let limits = "ulimit -v 4000000; ulimit -t 20; exec \"$0\" \"$@\"";
    command.args(["-c", limits, env!("CARGO_BIN_EXE_leafline")]).args(arguments);
    command.env("LEAFLINE_STORE", scene.store()).env("TZ", "UTC").stdin(Stdio::null());
    finished(command.output().unwrap())
}

#[track_caller]
fn assert_told(scene: &Scene, arguments: &[&str]) {
    let told = bounded(scene, arguments).fails(1);
    assert!(told.contains("damaged record in table `lines`"), "{arguments:?}: {told}");
    assert!(told.contains("`leafline verify`"), "{arguments:?}: {told}");
}

/// Changes a bit, and runs the commands that walk: these have to fail. The others must end; the lines are not concerned.
#[track_caller]
fn assert_damage(column: usize, line: u64, changed: impl FnOnce(u8) -> u8, fail: &[&str]) {
    let scene = Scene::of_session(&session());
    change(&scene, column, line, changed);
    let commands: [&[&str]; 10] = [
        &["path", "s1"],
        &["path", "s1", "--json"],
        &["path", "s1", "--text"],
        &["tree", "s1"],
        &["tree", "s1", "--json"],
        &["context", "s1"],
        &["context", "s1", "--json"],
        &["context", "s1", "--full"],
        &["show", "s1", "e20"],
        &["children", "s1", "e16"],
    ];
    for arguments in commands {
        if fail.contains(&arguments[0]) {
            assert_told(&scene, arguments);
        } else {
            let run = bounded(&scene, arguments);
            assert!(matches!(run.status, 0 | 1), "{arguments:?}: {}", run.stderr);
        }
    }
    assert_eq!(bounded(&scene, &["show", "s1"]).status, 0);
    // The lines are as they were, and are to be had.
    assert_eq!(bounded(&scene, &["export", "s1"]).ok().stdout, session());
    let verified = bounded(&scene, &["verify"]);
    assert_eq!(verified.status, 1, "{}", verified.text());
}

#[test]
#[cfg(unix)]
fn an_entry_that_is_its_own_parent() {
    // 2 is the line before, 3 the line itself.
    assert_damage(PARENTS, COUNT - 1, |code| code | 1, &["path", "tree", "context"]);
    assert_damage(PARENTS, 14, |code| code | 1, &["path", "tree", "context"]);
}

#[test]
#[cfg(unix)]
fn a_parent_that_comes_later_or_not_at_all() {
    // An odd code leads behind the line: 2 + 2n + 1 to the one n lines behind it.
    assert_damage(PARENTS, BESIDE, |code| code | 1, &["path", "tree", "context", "children"]);
    assert_damage(PARENTS, 20, |code| code | 64, &["path", "tree", "context"]);
    // Of a child a root is made.
    assert_damage(PARENTS, 20, |code| code & !2, &["path", "tree", "context"]);
}

#[test]
#[cfg(unix)]
fn a_parent_on_another_branch() {
    assert_damage(PARENTS, 20, |code| code | 4, &["path", "tree", "context"]);
}

#[test]
#[cfg(unix)]
fn a_depth_and_a_jump_that_are_not_the_trees() {
    assert_damage(DEPTHS, 20, |code| code ^ 4, &["path", "tree", "context"]);
    assert_damage(JUMPS, 20, |code| code | 64, &["path", "tree", "context"]);
    assert_damage(JUMPS, 20, |code| code ^ 1, &["path", "tree", "context"]);
}

#[test]
#[cfg(unix)]
fn a_compaction_that_is_none() {
    for bit in [1, 2, 4, 8, 64] {
        assert_damage(COMPACTIONS, COUNT - 1, |code| code ^ bit, &["path", "tree", "context"]);
    }
    // Then its line is none.
    assert_damage(COMPACTIONS, COMPACTION, |code| code ^ 1, &["tree", "context"]);
}

#[test]
#[cfg(unix)]
fn lines_that_are_missing() {
    let text = "more ".repeat(500);
    let lines = (0..200).map(|line| match line {
        0 => header("s1"),
        1 => message("e1", None, &text),
        line => message(&format!("e{line}"), Some(&format!("e{}", line - 1)), &text),
    });
    for (number, behind) in [(1, true), (0, false)] {
        let scene = Scene::of_session(&file(lines.clone()));
        change_lines(&scene, |table| {
            let firsts = table.iter().unwrap().map(|row| row.unwrap().0.value());
            let firsts: Vec<_> = firsts.collect();
            assert!(firsts.len() > 2);
            let removed = if behind { firsts[number] } else { firsts[firsts.len() - 1] };
            table.remove(removed).unwrap();
        });
        for command in ["path", "tree", "context", "export"] {
            assert_told(&scene, &[command, "s1"]);
        }
        assert_eq!(bounded(&scene, &["verify"]).status, 1);
    }
}
