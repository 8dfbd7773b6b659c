//! Sessions whose ids, directories, titles, times and blobs' names try to leave their folder, or to reach the terminal.
//!
//! Guards against every command that writes or prints, for the sessions of every family.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::scene::{Run, Scene, command, finished, path};

/// What the sessions have as ids, directories and so on.
const HOSTILE: [&str; 15] = [
    "../../../escaped",
    "../../../escaped/",
    "..",
    ".",
    "/tmp/leafline-escaped",
    "a/../../../../escaped",
    "..\\..\\escaped",
    "C:\\escaped",
    "nul\0byte",
    "CON",
    ".hidden",
    "$(touch escaped)",
    "--all",
    "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}drow\u{2066}x\u{7f}\u{85}",
    "two\nlines\r\nand\ttabs",
];

/// The families, and the ending of the names of their sessions' files here.
const FAMILIES: [&str; 5] = ["pi", "omp", "claude", "opal", "codex"];

/// A session of a family that has this wherever it can.
fn session(family: &str, number: usize, hostile: &str) -> Vec<u8> {
    let time = "2026-03-01T08:00:00.000Z";
    let image =
        json!({"type": "image", "mimeType": hostile, "data": format!("blob:sha256:{hostile}")});
    let content = json!([{"type": "text", "text": hostile}, image]);
    let lines = match family {
        "claude" => vec![
            json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": hostile, "cwd": hostile, "version": hostile,
                "gitBranch": hostile, "timestamp": time, "message": {"role": "user", "content": content}}),
            json!({"type": "assistant", "uuid": hostile, "parentUuid": "u1", "sessionId": hostile, "timestamp": hostile,
                "message": {"role": "assistant", "model": hostile, "content": [
                    {"type": "tool_use", "id": hostile, "name": hostile, "input": {hostile: hostile}}]}}),
            json!({"type": "custom-title", "customTitle": hostile, "sessionId": hostile}),
            json!({"type": "summary", "summary": hostile, "leafUuid": hostile}),
            json!({"type": hostile, "uuid": "u3", "parentUuid": "u1"}),
        ],
        "opal" => vec![
            json!({"current_id": "m1", "session_id": hostile,
                "metadata": {"created_at": hostile, "title": hostile, "working_dir": hostile}}),
            json!({"id": "m1", "parent_id": null, "role": "user", "content": hostile, "is_error": false}),
            json!({"id": hostile, "parent_id": "m1", "role": hostile, "content": hostile, "is_error": true,
                "tool_calls": [{"call_id": hostile, "name": hostile, "arguments": {hostile: hostile}}]}),
        ],
        "codex" => vec![
            json!({"timestamp": time, "type": "session_meta", "payload": {"id": hostile, "timestamp": hostile, "cwd": hostile,
                "originator": hostile, "cli_version": hostile, "model_provider": hostile}}),
            json!({"timestamp": hostile, "type": "response_item", "payload": {"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": hostile}]}}),
            json!({"timestamp": time, "type": hostile, "payload": {"type": hostile}}),
        ],
        _ => vec![
            json!({"type": "session", "version": 3, "id": hostile, "timestamp": if number.is_multiple_of(2) { time } else { hostile },
                "cwd": hostile, "title": hostile, "parentSession": hostile}),
            json!({"type": "message", "id": "m1", "parentId": null, "timestamp": time,
                "message": {"role": "user", "content": content}}),
            json!({"type": "message", "id": hostile, "parentId": "m1", "timestamp": hostile,
                "message": {"role": "assistant", "model": hostile, "provider": hostile, "content": [
                    {"type": "toolCall", "id": hostile, "name": hostile, "arguments": {hostile: hostile}}]}}),
            json!({"type": "label", "id": "l", "parentId": "m1", "targetId": "m1", "label": hostile}),
            json!({"type": "session_info", "id": "i", "parentId": "l", "name": hostile}),
            json!({"type": hostile, "id": "o", "parentId": "i", "timestamp": time}),
            json!({"type": "custom", "id": "c", "parentId": "o", "customType": hostile, "data": hostile}),
        ],
    };
    lines.iter().map(|line| line.to_string() + "\n").collect::<String>().into_bytes()
}

/// A folder deep in the scene, so that a path that leads some folders up is still in it.
struct Hostile {
    scene: Scene,
    deep: PathBuf,
}

impl Hostile {
    fn new() -> Self {
        let scene = Scene::in_memory();
        let deep = scene.folder().join("1/2/3/4");
        for (number, hostile) in HOSTILE.iter().enumerate() {
            for family in FAMILIES {
                let folder = deep.join("in").join(family).join("projects/p/sessions");
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(
                    folder.join(format!("{number}.jsonl")),
                    session(family, number, hostile),
                )
                .unwrap();
            }
        }
        // A name that is hostile itself.
        let named = deep.join("in/pi/projects/p/sessions/\u{1b}[2J\u{9b}31m\u{202e}.jsonl");
        std::fs::write(named, session("pi", 0, "of a hostile file")).unwrap();
        Self { scene, deep }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.deep.join(name)
    }

    /// Runs a command in the deep folder; what it prints must be harmless, and it must not panic.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = command(&self.deep.join("store"));
        command.current_dir(&self.deep).env("TMUX_PANE", "%7").args(arguments);
        let run = finished(command.output().unwrap());
        assert!((0..=2).contains(&run.status), "{arguments:?}: {}", run.stderr);
        // Lines as they are; only on a terminal are they made harmless.
        let is_raw = match arguments[0] {
            "export" => !arguments.contains(&"-o") && !arguments.contains(&"--to-source"),
            "path" => arguments.len() == 2,
            "tree" => arguments[1] == "--json",
            "context" => arguments[1] == "--request",
            "show" => arguments.len() == 3 && arguments[1] != "--json" || arguments[1] == "--entry",
            _ => false,
        };
        assert_harmless(arguments, &run, is_raw);
        run
    }

    /// Runs a command as at a terminal, where nothing is raw.
    #[track_caller]
    fn run_for_a_person(&self, arguments: &[&str]) {
        let mut command = command(&self.deep.join("store"));
        command.current_dir(&self.deep).args(["--width", "80"]).args(arguments);
        let run = finished(command.output().unwrap());
        assert!((0..=2).contains(&run.status), "{arguments:?}: {}", run.stderr);
        assert_harmless(arguments, &run, false);
    }

    /// Imports a session from standard input.
    #[track_caller]
    fn import_from_input(&self, bytes: &[u8], more: &[&str]) {
        let store = self.deep.join("store");
        let all = [&["--store", path(&store), "import", "-"], more].concat();
        let run = self.scene.run_with_input(all.iter().copied(), bytes);
        assert!((0..=1).contains(&run.status), "{}", run.stderr);
        assert_harmless(&all, &run, false);
    }

    /// Whether what was exported back is where a program would look for it: the programs' folders are below `out`.
    fn put_back(&self, id: &str) -> Run {
        let mut command = command(&self.deep.join("store"));
        let home = self.deep.join("out/home");
        command.env("HOME", &home).env("USERPROFILE", &home).current_dir(&self.deep);
        let run = finished(command.args(["export", "--to-source", "--", id]).output().unwrap());
        assert!((0..=1).contains(&run.status), "{id:?}: {}", run.stderr);
        assert_harmless(&["export", "--to-source", id], &run, false);
        run
    }

    /// Everything but the folders `in` and `out`.
    fn others(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut folders = vec![self.scene.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.deep.join("in") || path == self.deep.join("out") {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(path);
            }
        }
        found
    }

    /// Whatever was written is below `out`, and the terminals' folder.
    #[track_caller]
    fn assert_nothing_escaped(&self) {
        let known = |path: &PathBuf| {
            let name = path.strip_prefix(self.scene.folder()).unwrap().to_str().unwrap();
            ["1", "1/2", "1/2/3", "1/2/3/4", "1/2/3/4/store", "1/2/3/4/history.db"].contains(&name)
                || name == "1/2/3/4/store.journal"
                || name.starts_with("1/2/3/4/store.search")
                || ["1/2/3/4/store.terminals", "1/2/3/4/store.terminals/tmux-%7"].contains(&name)
        };
        let others: Vec<_> = self.others().into_iter().filter(|path| !known(path)).collect();
        assert_eq!(others, Vec::<PathBuf>::new());
        assert!(!Path::new("/tmp/leafline-escaped").exists());
    }

    /// The ids of all sessions that an argument can name.
    fn ids(&self) -> Vec<String> {
        self.ids_of(None)
    }

    /// The same of the sessions of a family, or all.
    fn ids_of(&self, family: Option<&str>) -> Vec<String> {
        let listed = ["ls", "--json", "--agents", "--limit", "1000"];
        let family = family.map_or(vec![], |family| vec!["--family", family]);
        let listed = self.run(&[&listed[..], &family].concat());
        let ids = listed.json_lines().into_iter().flat_map(|value| match value {
            Value::Array(values) => values,
            value => vec![value],
        });
        ids.filter_map(|facts| facts["id"].as_str().map(str::to_owned))
            .filter(|id| !id.contains('\0'))
            .collect()
    }
}

#[track_caller]
fn assert_harmless(arguments: &[&str], run: &Run, is_raw: bool) {
    for text in [&run.text(), &run.stderr] {
        let raw = text.chars().find(|c| is_harmful(*c));
        assert!(raw.is_none() || is_raw, "{arguments:?}: {raw:?} in {text:?}");
    }
}

/// Characters that control a terminal, or the direction of its text.
fn is_harmful(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// With all sessions imported, each family's as its own.
fn imported() -> Hostile {
    let hostile = Hostile::new();
    for family in FAMILIES {
        let folder = hostile.place(&format!("in/{family}"));
        let arguments = ["import", "--no-index", "--family", family, path(&folder)];
        hostile.run(&arguments);
        hostile.run(&["sync", "--json", "--family", family, path(&folder)]);
        hostile.run(&["ls", "--files", path(&folder)]);
        hostile.run(&["ls", "--quick", "--json", "--files", path(&folder)]);
    }
    hostile
}

/// A terminal in whose name `script` runs the command.
#[test]
#[cfg(target_os = "linux")]
fn lines_on_a_terminal_are_harmless() {
    let hostile = imported();
    let run = |arguments: &str| {
        let mut script = std::process::Command::new("script");
        script.env("LEAFLINE_STORE", hostile.place("store")).current_dir(&hostile.deep);
        let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_leafline"));
        let run = script.args(["-qec", &command, "/dev/null"]).stdin(std::process::Stdio::null());
        run.output().ok().map(|output| String::from_utf8(output.stdout).unwrap())
    };
    let id = "of a hostile file";
    let append = r#"{"type":"custom","customType":"x","data":"\u009b31m-raw-\u202e"}"#
        .replace(r"\u009b", "\u{9b}");
    hostile.run(&["append", id, &append.replace(r"\u202e", "\u{202e}")]);
    for arguments in [
        "export 'of a hostile file'",
        "path 'of a hostile file'",
        "--json path 'of a hostile file'",
    ] {
        // Where there is no such program, there is no terminal.
        let Some(text) = run(arguments) else { return };
        assert!(text.contains(r"\u009b31m-raw-\u202e"), "{text:?}");
        assert!(!text.contains(|c| is_harmful(c) && c != '\r'), "{arguments}: {text:?}");
    }
}

/// The same through a pager, and in the question of `rm`, which goes to standard error.
#[test]
#[cfg(target_os = "linux")]
fn a_pager_and_a_question_get_nothing_hostile() {
    use crate::terminal::{USUAL, at_store};
    let hostile = imported();
    let ids = hostile.ids();
    let controls: Vec<&str> =
        ids.iter().filter(|id| id.contains(char::is_control)).map(String::as_str).collect();
    assert!(controls.len() > 2, "{ids:?}");
    let store = hostile.place("store");
    let variables = [("NO_COLOR", "1"), ("LEAFLINE_PAGER", "echo '[pager]'; cat")];
    let harmless = |arguments: &[&str], text: &str| {
        let raw = text.chars().find(|c| is_harmful(*c) && *c != '\r');
        assert_eq!(raw, None, "{arguments:?}: {text:?}");
    };
    for arguments in [
        &["ls", "--agents"][..],
        &[&["show", "--"], &*controls].concat(),
        &[&["show", "--entry", "@last", "--"], &*controls].concat(),
        &["history", "recent"],
        &["verify"],
        &["path", controls[0], "--text", "--full"],
        &["tree", controls[0], "--full"],
    ] {
        let (status, text) = at_store(&store, arguments, &variables, USUAL).ends();
        assert!(matches!(status, Some(0 | 1)), "{arguments:?}: {text}");
        harmless(arguments, &text);
        assert!(text.contains("[pager]") || arguments[0] != "ls", "{text}");
    }
    let rm = [&["rm", "--"], &*controls].concat();
    let mut terminal = at_store(&store, &rm, &variables, USUAL);
    terminal.waits_for("[y/N] ");
    terminal.types("n\n");
    let (status, text) = terminal.ends();
    assert_eq!(status, Some(1), "{text}");
    harmless(&rm, &text);
}

#[test]
fn nothing_hostile_is_printed() {
    let hostile = imported();
    let ids = hostile.ids();
    assert!(ids.len() > 4 * (HOSTILE.len() - 3), "{ids:?}");
    hostile.run(&["index"]);
    for arguments in [
        &["ls"][..],
        &["ls", "--json"],
        &["stats"],
        &["stats", "--json"],
        &["verify"],
        &["verify", "--json"],
        &["search", "owned"],
        &["search", "--json", "escaped"],
        &["search", "\u{1b}]0;owned"],
        &["ls", "--agents"],
        &["ls", "--gone"],
        &["ls", "--gone", "--json"],
        &["import", "-v", "in"],
        &["sync", "-v", "in"],
        &["rm", "--dry-run", "--older-than", "2027-01-01"],
        &["rm", "--dry-run", "--json", "--family", "pi"],
    ] {
        hostile.run(arguments);
        hostile.run_for_a_person(arguments);
    }
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    for command in [&["show", "--"][..], &["name", "--"], &["show", "--json", "--"]] {
        let arguments = [command, &all].concat();
        hostile.run(&arguments);
        hostile.run_for_a_person(&arguments);
    }
    hostile.run_for_a_person(&[&["export", "--"], &*all].concat());
    hostile.run_for_a_person(&[&["show", "--entry", "@last", "--"], &*all].concat());
    completions_are_plain(&hostile);
    // Those that have what a terminal would obey, or what it would take for another line. A session of Claude Code has its
    // file's name.
    let controls = HOSTILE.len() - 2;
    let is_shown = |id: &&String| {
        let of_file = (controls..HOSTILE.len()).any(|number| id.starts_with(&number.to_string()));
        of_file || id.contains(char::is_control)
    };
    let shown: Vec<&String> = ids.iter().filter(is_shown).collect();
    assert!(shown.len() > FAMILIES.len(), "{shown:?}");
    for id in shown {
        for arguments in [
            &["show", id.as_str()][..],
            &["show", "--json", id],
            &["show", id, "m1"],
            &["tree", id],
            &["tree", "--full", id],
            &["tree", "--json", id],
            &["path", id],
            &["path", "--json", id],
            &["path", "--text", "--full", id],
            &["children", id, "m1"],
            &["context", id],
            &["stats", id],
            &["verify", id],
            &["name", id],
            &["show", id, "\u{1b}[2Jno such entry\u{202e}"],
            &["export", id, "--as", "original"],
            &["show", "--entry", "@last", id],
            &["show", id, "of a hostile file"],
            &["context", "--full", id],
            &["context", "--request", id],
            &["name", "--json", id],
        ] {
            hostile.run(arguments);
            hostile.run_for_a_person(arguments);
        }
    }
    for wrong in HOSTILE.iter().filter(|wrong| !wrong.contains('\0')) {
        for arguments in [
            &["show", "--", *wrong][..],
            &["import", "--", wrong],
            &["history", "import", "--", wrong],
            &["ls", "--cwd", wrong],
            &["ls", "--text", wrong],
            &["search", "--", wrong],
            &["show", "--entry", wrong, "of a hostile file"],
            &["show", "of a hostile file", "--", wrong],
            &["export", "of a hostile file", "-o", "out/x/", "--", wrong],
            &["name", "of a hostile file", "--", wrong],
            &["sync", "--", wrong],
        ] {
            hostile.run(arguments);
            hostile.run_for_a_person(arguments);
        }
    }
    hostile.assert_nothing_escaped();
}

/// Nothing that a shell would run, or take for an option, is offered to it.
fn completions_are_plain(hostile: &Hostile) {
    for shell in ["bash", "fish"] {
        let mut command = command(&hostile.deep.join("store"));
        command.env("COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "2").env("_CLAP_IFS", "\n");
        let run = finished(command.args(["--", "leafline", "show", ""]).output().unwrap());
        assert_harmless(&[shell], &run, false);
        let text = run.text();
        let words: Vec<&str> = text.lines().filter_map(|line| line.split('\t').next()).collect();
        assert!(words.contains(&"CON") && words.contains(&"CON~2"), "{shell}: {text}");
        let odd =
            words.iter().find(|word| word.contains(['$', '(', '\\', ' ', '{', ';', '\'', '"']));
        assert_eq!(odd, None, "{shell}: {text}");
        assert!(!words.contains(&"--all"), "{shell}: {text}");
    }
}

/// While programs append, and after they were killed, when their entries are in the journal.
#[test]
fn a_journal_leads_nowhere_and_prints_nothing_hostile() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let hostile = imported();
    let is_odd = |id: &&String| id.contains(['/', '\\']) || id.contains(char::is_control);
    let ids = hostile.ids_of(Some("pi"));
    let ids: Vec<&String> = ids.iter().filter(is_odd).collect();
    assert!(ids.len() > 6, "{ids:?}");
    for id in ids {
        let mut append = command(&hostile.deep.join("store"));
        append.current_dir(&hostile.deep).args(["append", "--", id]);
        append.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut append = append.spawn().unwrap();
        let mut input = append.stdin.take().unwrap();
        let mut output = BufReader::new(append.stdout.take().unwrap());
        for text in HOSTILE {
            let message = json!({"type": "message", "message": {"role": "user", "content": text}});
            writeln!(input, "{message}").unwrap();
            input.flush().unwrap();
            let mut stored = String::new();
            output.read_line(&mut stored).unwrap();
            assert!(!stored.is_empty(), "{id:?}");
        }
        assert!(hostile.deep.join("store.journal").exists());
        for _ in 0..2 {
            for arguments in [
                &["show", "--", id][..],
                &["tree", "--full", "--", id],
                &["path", "--text", "--", id],
                &["context", "--", id],
                &["verify"],
            ] {
                hostile.run(arguments);
                hostile.run_for_a_person(arguments);
            }
            hostile.assert_nothing_escaped();
            append.kill().unwrap();
            append.wait().unwrap();
        }
    }
}

#[test]
fn nothing_is_written_elsewhere() {
    let hostile = imported();
    let out = |name: &str| path(&hostile.place(&format!("out/{name}"))).to_owned();
    std::fs::create_dir(hostile.place("out")).unwrap();
    let sessions = hostile.ids().len();
    for form in ["current", "exact", "refs"] {
        let folder = out(form);
        let mut arguments = vec!["export", "--all", "-o", &folder, "--as", form];
        let blobs = out("blobs");
        if form == "refs" {
            arguments.extend(["--blobs", &blobs]);
        }
        let run = hostile.run(&arguments);
        assert_eq!(run.status, 0, "{form}: {}{}", run.text(), run.stderr);
        let again = hostile.run(&arguments);
        assert!(again.text().contains(" unchanged"), "{}", again.text());
        hostile.assert_nothing_escaped();
    }
    let ids = hostile.ids();
    let some = format!("{}/", out("some"));
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    let run = hostile.run(&[&["export", "-o", &some, "--"], &*all].concat());
    assert_eq!(run.status, 0, "{}{}", run.text(), run.stderr);
    hostile.assert_nothing_escaped();
    for id in &ids {
        hostile.put_back(id);
    }
    hostile.assert_nothing_escaped();
    // Each has a file of its own, and what is written is imported again as the same sessions.
    let back = hostile.run(&["import", "--json", &out("exact")]);
    assert_eq!(back.json_lines().last().unwrap()["failed"], 0);
    assert!(hostile.ids().len() >= sessions);
    for id in hostile.ids() {
        for arguments in [
            &["export", &id, "-o", &out("one.jsonl")][..],
            &["fork", &id],
            &["extract", &id, "m1"],
            &["label", &id, "m1", "\u{1b}[2J\u{202e}../../escaped"],
            &["name", "--set", "\u{1b}[2J\u{202e}../../escaped", &id],
            &[
                "append",
                &id,
                r#"{"type":"message","message":{"role":"user","content":"\u001b[2J"}}"#,
            ],
            &["branch", &id, "m1"],
            &["reset-leaf", &id],
            &["move", "--", &id, "\u{1b}[2J\u{202e}../../escaped"],
        ] {
            hostile.run(arguments);
        }
        hostile.put_back(&id);
    }
    for (number, text) in HOSTILE.iter().enumerate() {
        for family in FAMILIES {
            let bytes = session(family, number, &format!("{text} of a stream"));
            hostile.import_from_input(&bytes, &["--family", family]);
            hostile.import_from_input(&bytes, &["--json"]);
        }
    }
    hostile.run(&["man", &out("man")]);
    hostile.run(&["index", "--rebuild"]);
    hostile.assert_nothing_escaped();
    for wrong in HOSTILE.iter().filter(|wrong| !wrong.contains('\0')) {
        for family in ["omp", "claude"] {
            hostile.run(&["new", "--family", family, "--continue", "--cwd", wrong]);
            hostile.run(&["new", "--family", family, &format!("--id={wrong}")]);
            hostile.run(&["new", "--family", family, &format!("--title={wrong}")]);
        }
        hostile.run(&["history", "add", "--cwd", wrong, "--", wrong]);
        hostile.run(&["relocate", "--", wrong, "/elsewhere"]);
    }
    hostile.run(&["history", "recent"]);
    hostile.run(&["history", "search", "owned"]);
    hostile.run_for_a_person(&["history", "recent"]);
    hostile.run(&["history", "export", path(&hostile.place("history.db"))]);
    hostile.run(&["history", "import", path(&hostile.place("history.db"))]);
    hostile.assert_nothing_escaped();
    let run = hostile.run(&["export", "--all", "-o", &out("current")]);
    assert!(!run.text().contains("failed"), "{}", run.text());
    hostile.assert_nothing_escaped();
    for id in hostile.ids() {
        hostile.run(&["rm", "--", &id]);
    }
    hostile.assert_nothing_escaped();
}
