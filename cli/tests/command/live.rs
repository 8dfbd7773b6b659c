//! `leafline new`, `append`, `branch`, `reset-leaf`, `label`, `name`, `fork` and `extract`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::scene::{
    OMP_3, PI_3, Run, Scene, command, file, finished, header, message, path, samples,
};

const USER: &str = r#"{"type":"message","message":{"role":"user","content":"Hello"}}"#;
const ASSISTANT: &str = r#"{"type":"message","message":{"role":"assistant","content":[]}}"#;

impl Run {
    /// Standard output, which is one id.
    #[track_caller]
    fn id(self) -> String {
        let text = self.ok().text();
        assert_eq!(text.lines().count(), 1, "{text}");
        text.trim_end().to_owned()
    }
}

impl Scene {
    /// A folder whose store holds a session `s1` that was begun here.
    fn of_new_session() -> Self {
        let scene = Self::new();
        assert_eq!(scene.run(["new", "--id", "s1", "--cwd", "/work"]).id(), "s1");
        scene
    }

    fn entry(&self, session: &str, id: &str) -> Value {
        self.run(["show", session, id]).ok().json()
    }

    fn leaf(&self, session: &str) -> Value {
        self.run(["show", session, "--json"]).ok().json()["leaf"].clone()
    }

    /// The session's lines, as the programs would find them.
    fn lines(&self, session: &str) -> Vec<Value> {
        self.run(["export", session]).ok().json_lines()
    }

    #[track_caller]
    fn is_sound(&self) {
        assert!(self.run(["verify"]).ok().text().contains("no problems"));
    }
}

fn numbered(number: usize) -> String {
    format!(r#"{{"type":"message","message":{{"role":"user","content":"entry {number}"}}}}"#)
}

fn members(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn new_makes_a_session_of_pi_for_the_current_directory() {
    let scene = Scene::new();
    let mut new = command(&scene.store());
    let id = finished(new.arg("new").current_dir(scene.folder()).output().unwrap()).id();
    assert_eq!(id.len(), 36);
    let lines = scene.lines(&id);
    assert_eq!(members(&lines[0]), ["type", "version", "id", "timestamp", "cwd"]);
    let here = scene.folder().canonicalize().unwrap();
    assert_eq!((lines.len(), lines[0]["cwd"].as_str()), (1, here.to_str()));
    let facts = scene.run(["show", &id, "--json"]).ok().json();
    assert_eq!((&facts["family"], &facts["leaf"]), (&"pi".into(), &Value::Null));
    assert_eq!(scene.run(["ls"]).ok().text().lines().count(), 1);
    assert!(scene.run(["tree", &id]).ok().text().contains("0 entries"));
    assert_eq!(scene.run(["path", &id]).ok().text(), "");
    scene.is_sound();
}

#[test]
fn new_takes_what_a_header_says() {
    let scene = Scene::new();
    let told = scene.run([
        "new",
        "--family",
        "omp",
        "--id",
        "mine",
        "--title",
        "A title",
        "--parent",
        "s0",
        "--cwd",
        "/a/./b/../c/",
        "--json",
    ]);
    assert_eq!(told.ok().text(), "{\"session\":\"mine\"}\n");
    let header = &scene.lines("mine")[0];
    let said = [&header["title"], &header["parentSession"], &header["cwd"]];
    assert_eq!(said, ["A title", "s0", "/a/c"]);
    assert_eq!(scene.run(["name", "mine"]).ok().text(), "A title\n");

    let taken = scene.run(["new", "--id", "mine"]).fails(1);
    assert!(taken.contains("\"mine\"") && taken.contains("exists"), "{taken}");
    let generated = scene.run(["new", "--family", "omp"]).id();
    assert_eq!(generated.len(), 16);
}

#[test]
fn a_terminal_goes_on_with_its_last_session() {
    let scene = Scene::new();
    let run = |pane: &str, arguments: &[&str]| {
        let mut command = command(&scene.store());
        for variable in
            ["TMUX_PANE", "KITTY_WINDOW_ID", "WEZTERM_PANE", "TERM_SESSION_ID", "WT_SESSION"]
        {
            command.env_remove(variable);
        }
        if !pane.is_empty() {
            command.env("TMUX_PANE", pane);
        }
        finished(command.args(arguments).output().unwrap()).id()
    };
    let here = ["new", "--continue", "--cwd", "/work"];
    let first = run("%1", &["new", "--cwd", "/work"]);
    let second = run("%2", &["new", "--cwd", "/work"]);
    assert_eq!(run("%1", &here), first);
    assert_eq!(run("%2", &here), second);
    // Without a terminal, or in one that had none, it is the newest.
    run("", &["append", &first, USER]);
    assert_eq!(run("", &here), first);
    assert_eq!(run("%3", &here), first);
    // What a terminal appends to is what it had last.
    run("%2", &["append", &first, USER]);
    assert_eq!(run("%2", &here), first);
    // Another directory has a session of its own.
    let other = run("%1", &["new", "--continue", "--cwd", "/other"]);
    assert!(other != first && other != second);
    assert_eq!(run("%1", &["new", "--continue", "--cwd", "/other"]), other);
}

#[test]
fn append_hangs_an_entry_below_the_leaf() {
    let scene = Scene::of_new_session();
    let first = scene.run(["append", "s1", USER]).id();
    let second = scene.run(["append", "s1", ASSISTANT, "--json"]).ok().json();
    assert_eq!(members(&second), ["id"]);
    let line = scene.entry("s1", second["id"].as_str().unwrap());
    assert_eq!(members(&line), ["type", "id", "parentId", "timestamp", "message"]);
    assert_eq!(line["parentId"], first.as_str());
    assert_eq!(scene.entry("s1", &first)["parentId"], Value::Null);
    assert_eq!(scene.leaf("s1"), second["id"]);
    let tree = scene.run(["tree", "s1"]).ok().text();
    assert!(tree.contains("user \"Hello\"") && tree.contains("◀ leaf"), "{tree}");
    assert!(scene.run(["ls"]).ok().text().contains("Hello"));
    scene.is_sound();
}

#[test]
fn append_goes_on_with_an_imported_session() {
    let scene = Scene::of_samples();
    let id = scene.run(["append", PI_3, USER]).id();
    assert_eq!(scene.entry(PI_3, &id)["parentId"], "cc2ef6d4");
    // omp has one name for a model, pi a provider and an id.
    let model = r#"{"type":"model_change","model":"a/b"}"#;
    scene.run(["append", OMP_3, model]).id();
    let complaint = scene.run(["append", PI_3, model]).fails(1);
    assert!(complaint.starts_with("leafline: ENTRY-JSON: ") && complaint.contains("provider"));
    scene.is_sound();
}

#[test]
fn what_is_no_entry_is_told_with_what_is_wrong() {
    let scene = Scene::of_new_session();
    for (entry, problem) in [
        ("{\"type\":", "cannot be read"),
        ("[]", "not a JSON object"),
        ("{}", "has no type"),
        (r#"{"type":"message"}"#, "has no message"),
        (r#"{"type":"session","id":"x"}"#, "leafline import"),
        (r#"{"type":"label","targetId":"gone","label":"x"}"#, "\"gone\""),
    ] {
        let complaint = scene.run(["append", "s1", entry]).fails(1);
        assert!(complaint.contains(problem), "{complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        let complaint = scene.run_with_input(["append", "s1"], entry.as_bytes()).fails(1);
        assert!(complaint.starts_with("leafline: standard input, line 1: "), "{complaint}");
        assert!(complaint.contains(problem) && complaint.contains("nothing was stored"));
    }
    let complaint = scene.run(["append", "gone", USER]).fails(1);
    assert!(complaint.contains("\"gone\""), "{complaint}");
    assert_eq!(scene.lines("s1").len(), 1);
}

#[test]
fn append_reads_a_stream() {
    let scene = Scene::of_new_session();
    let input = format!("\n{USER}\r\n  \n{ASSISTANT}\n{}", numbered(3));
    let run = scene.run_with_input(["append", "s1"], input.as_bytes()).ok();
    let ids: Vec<String> = run.text().lines().map(str::to_owned).collect();
    assert_eq!(ids.len(), 3);
    let path = scene.run(["path", "s1"]).ok().json_lines();
    assert_eq!(path.iter().map(|line| line["id"].as_str().unwrap()).collect::<Vec<_>>(), ids);
    assert_eq!(scene.run_with_input(["append", "s1"], b"").ok().text(), "");
    assert_eq!(scene.run_with_input(["append", "s1"], b"\n\n").ok().text(), "");
    let told = scene.run_with_input(["append", "s1", "--json"], input.as_bytes()).ok();
    assert!(told.json_lines().iter().all(|line| line["id"].is_string()));
}

#[test]
fn a_long_stream_stops_at_a_line_that_is_no_entry() {
    let scene = Scene::of_new_session();
    let mut lines: Vec<String> = (0..5000).map(numbered).collect();
    lines[2500] = "{\"type\": torn".to_owned();
    let run = scene.run_with_input(["append", "s1"], &file(lines));
    let ids: Vec<String> = run.text().lines().map(str::to_owned).collect();
    let complaint = run.fails(1);
    assert!(complaint.starts_with("leafline: standard input, line 2501: "), "{complaint}");
    assert!(complaint.ends_with("; the 2,500 entries before it are stored\n"), "{complaint}");

    let path = scene.run(["path", "s1"]).ok().json_lines();
    assert_eq!(path.len(), 2500);
    for (number, (line, id)) in path.iter().zip(&ids).enumerate() {
        assert_eq!(line["id"], id.as_str());
        assert_eq!(line["message"]["content"], format!("entry {number}"));
    }
    scene.is_sound();
}

#[test]
fn a_line_of_a_stream_has_a_bound() {
    let scene = Scene::of_new_session();
    let long = USER.len().to_string();
    let arguments = ["append", "s1", "--longest-line", &long];
    let longer = format!(" {USER}");
    let run =
        scene.run_with_input(arguments, &file([USER, USER, &longer, USER].map(str::to_owned)));
    assert_eq!(run.text().lines().count(), 2);
    let complaint = run.fails(1);
    let said =
        format!("line 3: it has more than {long} bytes, the bound for a line (--longest-line)");
    assert!(complaint.contains(&said), "{complaint}");
    // The last line needs no line feed, and an endless one is given up.
    scene.run_with_input(arguments, USER.as_bytes()).ok();
    scene.run_with_input(arguments, longer.as_bytes()).fails(1);
    scene.is_sound();
}

#[test]
fn a_label_in_a_stream_needs_an_entry() {
    let scene = Scene::of_new_session();
    let target = scene.run(["append", "s1", USER]).id();
    let label = |target: &str| format!(r#"{{"type":"label","targetId":"{target}","label":"x"}}"#);
    let input = file([USER.to_owned(), label(&target), label("gone"), USER.to_owned()]);
    let run = scene.run_with_input(["append", "s1"], &input);
    assert_eq!(run.text().lines().count(), 2);
    let complaint = run.fails(1);
    assert!(complaint.contains("line 3: ") && complaint.contains("\"gone\""), "{complaint}");
    assert!(complaint.contains("the 2 entries before it are stored"), "{complaint}");
    assert_eq!(scene.lines("s1").len(), 4);
}

#[test]
fn a_line_that_is_not_text_is_no_entry() {
    let scene = Scene::of_new_session();
    let complaint = scene.run_with_input(["append", "s1"], b"{\"type\":\"\xff\"}").fails(1);
    assert!(complaint.contains("line 1: the entry is not UTF-8"), "{complaint}");
}

fn appending(scene: &Scene) -> Child {
    let mut append = command(&scene.store());
    append.args(["append", "s1"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    append.stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn two_streams_at_once_make_one_chain() {
    const ENTRIES: usize = 3000;
    let scene = Scene::of_new_session();
    let input = file((0..ENTRIES).map(numbered));
    let mut told: Vec<Vec<String>> = std::thread::scope(|scope| {
        let streams: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let run = scene.run_with_input(["append", "s1"], &input).ok();
                    run.text().lines().map(str::to_owned).collect()
                })
            })
            .collect();
        streams.into_iter().map(|stream| stream.join().unwrap()).collect()
    });
    let path = scene.run(["path", "s1"]).ok().json_lines();
    assert_eq!(path.len(), 2 * ENTRIES);
    for stream in &mut told {
        let mut ids = stream.drain(..).peekable();
        for line in &path {
            ids.next_if(|id| line["id"] == id.as_str());
        }
        assert_eq!(ids.next(), None, "each stream's entries come in their order");
    }
    assert!(scene.run(["tree", "s1"]).ok().text().contains("1 root, 1 branch"));
    scene.is_sound();
}

#[test]
fn a_stream_is_stored_when_nobody_listens() {
    let scene = Scene::of_new_session();
    let mut append = appending(&scene);
    drop(append.stdout.take());
    let mut stdin = append.stdin.take().unwrap();
    stdin.write_all(&file((0..3000).map(numbered))).unwrap();
    drop(stdin);
    let run = finished(append.wait_with_output().unwrap());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(scene.lines("s1").len(), 3001);
}

#[test]
fn ids_come_while_the_stream_goes_on() {
    use std::io::{BufRead, BufReader};
    let scene = Scene::of_new_session();
    let mut append = appending(&scene);
    let mut stdin = append.stdin.take().unwrap();
    stdin.write_all(&file((0..1000).map(numbered))).unwrap();
    stdin.flush().unwrap();
    let mut ids = BufReader::new(append.stdout.take().unwrap()).lines();
    let first = ids.next().unwrap().unwrap();
    assert_eq!(scene.entry("s1", &first)["message"]["content"], "entry 0");
    assert_eq!(ids.by_ref().take(999).count(), 999);
    append.kill().unwrap();
    append.wait().unwrap();
    assert_eq!(scene.lines("s1").len(), 1001);
    drop(stdin);
}

#[test]
#[cfg(target_os = "linux")]
fn ids_that_cannot_be_written_are_a_failure_and_the_entries_stay() {
    let scene = Scene::of_new_session();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut append = command(&scene.store());
    let output = append.args(["append", "s1", USER]).stdout(full).output().unwrap();
    let complaint = finished(output).fails(1);
    assert!(complaint.starts_with("leafline: writing"), "{complaint}");
    assert_eq!(scene.lines("s1").len(), 2);
}

/// What the README appends.
#[test]
fn the_answer_among_the_examples_is_appended() {
    let scene = Scene::of_new_session();
    scene.run(["append", "s1", USER]).ok();
    let answer = path(&samples()).replace("import/samples", "examples/answer.jsonl");
    let mut append = command(&scene.store());
    append.args(["append", "s1"]).stdin(std::fs::File::open(answer).unwrap());
    assert_eq!(finished(append.output().unwrap()).ok().text().lines().count(), 3);
    let context = scene.run(["context", "s1"]).ok().text();
    assert!(context.contains("\u{2190} bash \"moon-phase 41 ms tide-table 12 ms\""), "{context}");
    assert!(context.contains("  `moon-phase`, at 41 ms."), "{context}");
}

#[test]
fn branch_goes_back() {
    let scene = Scene::of_new_session();
    let [first, second] = [USER, ASSISTANT].map(|entry| scene.run(["append", "s1", entry]).id());
    assert_eq!(scene.run(["branch", "s1", &first]).ok().text(), "");
    assert_eq!(scene.leaf("s1"), first.as_str());
    let aside = scene.run(["append", "s1", ASSISTANT]).id();
    assert_eq!(scene.entry("s1", &aside)["parentId"], first.as_str());
    let told = scene.run(["branch", "s1", &second, "--json"]).ok().json();
    assert_eq!(told, json!({ "leaf": second }));
    assert_eq!(scene.run(["children", "s1", &first]).ok().text().lines().count(), 2);
    for entry in ["gone", "root"] {
        let complaint = scene.run(["branch", "s1", entry]).fails(1);
        assert!(complaint.contains(entry), "{complaint}");
    }
    assert_eq!(scene.leaf("s1"), second.as_str());
    scene.is_sound();
}

#[test]
fn branch_tells_what_was_left() {
    let scene = Scene::of_new_session();
    let first = scene.run(["append", "s1", USER]).id();
    scene.run(["append", "s1", ASSISTANT]).id();
    let summary = scene.run(["branch", "s1", &first, "--summary", "It failed."]).id();
    let line = scene.entry("s1", &summary);
    assert_eq!(
        [&line["type"], &line["parentId"], &line["fromId"], &line["summary"]],
        ["branch_summary", &first, &first, "It failed."]
    );
    assert_eq!(scene.leaf("s1"), summary.as_str());
    let told = scene.run(["--json", "branch", "s1", "root", "--summary", "All of it."]).ok().json();
    let line = scene.entry("s1", told["id"].as_str().unwrap());
    assert_eq!((&line["parentId"], &line["fromId"]), (&Value::Null, &"root".into()));
    scene.run(["branch", "s1", "gone", "--summary", "x"]).fails(1);
    assert_eq!(scene.lines("s1").len(), 5);
    scene.is_sound();
}

#[test]
fn an_entry_can_be_called_root() {
    let scene = Scene::of_session(&file([
        header("s1"),
        message("root", None, "I am"),
        message("b", Some("root"), "on"),
    ]));
    let summary = scene.run(["branch", "s1", "root", "--summary", "left"]).id();
    assert_eq!(scene.entry("s1", &summary)["parentId"], "root");
}

#[test]
fn reset_leaf_begins_again() {
    let scene = Scene::of_new_session();
    scene.run(["append", "s1", USER]).id();
    assert_eq!(scene.run(["reset-leaf", "s1"]).ok().text(), "");
    assert_eq!(scene.leaf("s1"), Value::Null);
    assert_eq!(scene.run(["path", "s1"]).ok().text(), "");
    assert_eq!(scene.run(["context", "s1", "--json"]).ok().json()["messages"], json!([]));
    assert!(!scene.run(["tree", "s1"]).ok().text().contains("◀"));
    let told = scene.run(["reset-leaf", "s1", "--json"]).ok().json();
    assert_eq!(told, json!({ "leaf": null }));
    let root = scene.run(["append", "s1", USER]).id();
    assert_eq!(scene.entry("s1", &root)["parentId"], Value::Null);
    assert!(scene.run(["tree", "s1"]).ok().text().contains("2 roots"));
    scene.is_sound();
}

#[test]
fn labels_are_set_and_cleared() {
    let scene = Scene::of_new_session();
    let entry = scene.run(["append", "s1", USER]).id();
    let label = scene.run(["label", "s1", &entry, "start here"]).id();
    assert_eq!(scene.entry("s1", &label)["label"], "start here");
    assert!(scene.run(["tree", "s1"]).ok().text().contains("[start here]"));
    for clear in [&["label", "s1", &entry, "--json"][..], &["label", "s1", &entry, "", "--json"]] {
        let told = scene.run(clear.iter().copied()).ok().json();
        let line = scene.entry("s1", told["id"].as_str().unwrap());
        assert_eq!((&line["targetId"], line.get("label")), (&entry.as_str().into(), None));
        assert!(!scene.run(["tree", "s1"]).ok().text().contains("[start here]"));
    }
    let complaint = scene.run(["label", "s1", "gone", "x"]).fails(1);
    assert!(complaint.contains("\"gone\""), "{complaint}");
    assert_eq!(scene.lines("s1").len(), 5);
    scene.is_sound();
}

#[test]
fn several_sessions_are_named_and_their_names_printed() {
    let scene = Scene::of_new_session();
    scene.run(["new", "--id", "s2", "--family", "omp"]).ok();
    scene.run(["name", "--set", "Dark mode", "s2"]).ok();
    assert_eq!(scene.run(["name", "s1", "s2"]).ok().text(), "s1\t\ns2\tDark mode\n");
    // A name in the place of a session names nothing, and neither does one for a session that is not there.
    let said = scene.run(["name", "s1", "Dark mode"]).fails(2);
    assert!(said.contains("Dark mode: there is no such session; --set NAME"), "{said}");
    scene.run(["name", "--set", "Lost", "s1", "no-such-session"]).fails(1);
    assert_eq!(scene.run(["name", "s1"]).ok().text(), "");
    scene.run(["name", "--set", "Both", "s1", "s2"]).ok();
    let told = scene.run(["name", "s1", "s2", "--json"]).ok().json_lines();
    let both = ["s1", "s2"].map(|id| json!({ "session": id, "name": "Both" }));
    assert_eq!(told, both);
}

#[test]
fn names_are_given_as_the_programs_give_them() {
    let scene = Scene::of_new_session();
    scene.run(["new", "--id", "s2", "--family", "omp"]).ok();
    for session in ["s1", "s2"] {
        assert_eq!(scene.run(["name", session]).ok().text(), "");
        assert_eq!(
            scene.run(["name", session, "--json"]).ok().json(),
            json!({ "session": session, "name": null })
        );
        assert_eq!(scene.run(["name", "--set", "Dark mode", session]).ok().text(), "");
        assert_eq!(scene.run(["name", session]).ok().text(), "Dark mode\n");
        assert!(scene.run(["tree", session]).ok().text().contains("Dark mode"));
        let told = scene.run(["name", "--set", "Darker", session, "--json"]).ok().json();
        assert_eq!(told, json!({ "session": session, "name": "Darker" }));
    }
    assert_eq!(scene.lines("s1")[2]["type"], "session_info");
    assert_eq!(scene.lines("s2").len(), 1);
    assert_eq!(scene.lines("s2")[0]["title"], "Darker");
    assert_eq!(
        scene.run(["name", "--set", "", "s2", "--json"]).ok().json(),
        json!({ "session": "s2", "name": null })
    );
    scene.is_sound();
}

/// Panics unless a parent is the path of the file from which this session was imported, which pi follows.
#[track_caller]
fn assert_is_file_of(parent: &Value, session: &str) {
    let path = std::path::Path::new(parent.as_str().unwrap());
    let header = std::fs::read_to_string(path).unwrap();
    let header: Value = serde_json::from_str(header.lines().next().unwrap()).unwrap();
    assert!(path.is_absolute());
    assert_eq!(header["id"], session);
}

#[test]
fn fork_copies_a_session() {
    let scene = Scene::of_samples();
    let fork = scene.run(["fork", PI_3, "--cwd", "/elsewhere"]).id();
    let (lines, of_source) = (scene.lines(&fork), scene.run(["export", PI_3]).ok().text());
    assert_is_file_of(&lines[0]["parentSession"], PI_3);
    assert_eq!(lines[0]["cwd"], "/elsewhere");
    let of_source: Vec<Value> =
        of_source.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(lines[1..], of_source[1..]);
    let told = scene.run(["fork", PI_3, "--json"]).ok().json();
    let header = &scene.lines(told["session"].as_str().unwrap())[0];
    let here = std::env::current_dir().unwrap();
    assert_eq!(header["cwd"].as_str(), here.to_str());
    scene.run(["fork", "gone"]).fails(1);
    scene.is_sound();
}

#[test]
fn extract_makes_a_session_of_a_branch() {
    let scene = Scene::of_samples();
    let branch = scene.run(["extract", PI_3, "5937c1f0"]).id();
    let lines = scene.lines(&branch);
    assert_is_file_of(&lines[0]["parentSession"], PI_3);
    let source = scene.run(["path", PI_3, "--from", "5937c1f0"]).ok().json_lines();
    let kept = source.iter().filter(|line| line["type"] != "label").count();
    let copied = lines[1..].iter().filter(|line| line["type"] != "label");
    assert_eq!(copied.clone().count(), kept);
    assert!(copied.clone().any(|line| line["id"] == "5937c1f0"));
    let complaint = scene.run(["extract", PI_3, "gone"]).fails(1);
    assert!(complaint.contains("\"gone\""), "{complaint}");
    scene.is_sound();
}

#[test]
fn extract_does_not_wait_for_an_assistant() {
    let scene = Scene::of_new_session();
    let first = scene.run(["append", "s1", USER]).id();
    let told = scene.run(["extract", "s1", &first, "--json"]).ok().json();
    assert_eq!(scene.leaf(told["session"].as_str().unwrap()), first.as_str());
    assert_eq!(scene.run(["ls"]).ok().text().lines().count(), 2);
    scene.is_sound();
}

#[test]
fn what_was_made_here_can_be_exported_and_imported() {
    let scene = Scene::of_new_session();
    scene.run_with_input(["append", "s1"], &file([USER.to_owned(), ASSISTANT.to_owned()])).ok();
    let exported = scene.run(["export", "s1"]).ok().stdout;
    let session = scene.write("s1.jsonl", &exported);
    let other = Scene::new();
    other.run(["import", path(&session)]).ok();
    assert_eq!(other.run(["export", "s1"]).ok().stdout, exported);
    assert_eq!(other.leaf("s1"), scene.leaf("s1"));
    let text = scene.run(["import", path(&session)]).ok().text();
    assert!(text.contains("1 file: 1"), "{text}");
    scene.run(["append", "s1", USER]).id();
    scene.run(["rm", "s1"]).ok();
    scene.run(["append", "s1", USER]).fails(1);
}

#[test]
fn whoever_waits_for_an_id_gets_it_before_the_stream_ends() {
    use std::io::BufRead;

    let scene = Scene::of_new_session();
    let mut append = appending(&scene);
    let mut input = append.stdin.take().unwrap();
    let mut ids = std::io::BufReader::new(append.stdout.take().unwrap()).lines();
    let mut told = Vec::new();
    for number in 0..5 {
        writeln!(input, "{}", numbered(number)).unwrap();
        input.flush().unwrap();
        told.push(ids.next().unwrap().unwrap());
    }
    drop(input);
    assert!(append.wait().unwrap().success());
    let path: Vec<String> = scene
        .run(["path", "s1"])
        .ok()
        .json_lines()
        .iter()
        .map(|entry| entry["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(path, told);
}

#[test]
fn entries_of_omps_are_stored_as_omp_stores_them() {
    let scene = Scene::new();
    let long = "l".repeat(500_001);
    let image = "QUJD".repeat(400);
    let entry = json!({"type": "message", "message": {
        "role": "user",
        "content": [{"type": "text", "text": long}, {"type": "image", "data": image}],
        "partialJson": "{",
    }});
    let path = scene.write("entry.jsonl", entry.to_string().as_bytes());
    let append = |session: &str, arguments: &[&str]| {
        let mut command = command(&scene.store());
        command.arg("append").arg(session).args(arguments);
        command.stdin(std::fs::File::open(&path).unwrap());
        finished(command.output().unwrap()).id()
    };
    for (family, keeps) in [("omp", false), ("pi", true)] {
        scene.run(["new", "--family", family, "--id", family]).ok();
        append(family, &[]);
        let text = scene.run(["export", family]).ok().text();
        assert_eq!(text.contains("partialJson"), keeps, "{family}");
        assert_eq!(text.contains(&long), keeps, "{family}");
        assert_eq!(text.contains(&image), keeps, "{family}");
        assert_eq!(text.contains("blob:sha256:"), !keeps, "{family}");
        append(family, &["--keep-everything"]);
        let text = scene.run(["export", family]).ok().text();
        let last = text.lines().last().unwrap();
        assert!(last.contains("partialJson") && last.contains(&long) && last.contains(&image));
        assert!(!last.contains("blob:sha256:"));
    }
    scene.is_sound();
}

#[test]
fn lines_of_a_file_are_kept_as_they_are() {
    // Of Codex's, too, to which no entries can be appended.
    for (family, folder) in [
        ("codex", "codex"),
        ("claude", "claude/projects"),
        ("pi", "pi/sessions/--home-robin-work-tide-clock--"),
    ] {
        let scene = Scene::new();
        let file = first_file(&samples().join(folder));
        let whole = std::fs::read(&file).unwrap();
        let ends: Vec<usize> = (1..=whole.len()).filter(|end| whole[end - 1] == b'\n').collect();
        let (half, most) = (ends[ends.len() / 2], ends.len() - 1 - ends.len() / 2);
        let name = file.file_name().unwrap().to_str().unwrap();
        let half_file = scene.write(name, &whole[..half]);
        scene.run(["import", "--family", family, path(&half_file)]).ok();
        let id =
            scene.run(["ls", "--json"]).ok().json_lines()[0]["id"].as_str().unwrap().to_owned();
        let rest = &whole[half..];
        let run = scene.run_with_input(["append", &id, "--lines"], rest).ok();
        assert_eq!(run.text(), format!("added {most}\n"));
        assert_eq!(scene.run(["export", &id]).ok().stdout, whole, "{family}");
        // Again: what has an id is there already.
        let again = ["append", &id, "--lines", "--ignore-repeated", "--json"];
        let told = scene.run_with_input(again, rest).ok().json();
        if family != "codex" {
            assert_eq!(
                told["ignored"].as_u64().unwrap() + told["added"].as_u64().unwrap(),
                most as u64
            );
            assert!(told["ignored"].as_u64().unwrap() > 0, "{told}");
        }
        scene.is_sound();
    }
}

/// The first session's file below a folder, by its path.
fn first_file(folder: &Path) -> PathBuf {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                let bytes = std::fs::read(&path).unwrap();
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                if path.ends_with("session_index.jsonl") || lines < 4 || !bytes.ends_with(b"\n") {
                    continue;
                }
                files.push(path);
            }
        }
    }
    files.sort();
    files.swap_remove(0)
}

#[test]
fn a_stream_is_stored_as_it_is_asked_to() {
    let input = file((0..50).map(numbered));
    for when in ["each", "ready", "batch"] {
        let scene = Scene::of_new_session();
        let run = scene.run_with_input(["append", "s1", "--sync", when], &input).ok();
        assert_eq!(run.text().lines().count(), 50);
        assert_eq!(scene.lines("s1").len(), 51);
        scene.is_sound();
    }
    // A batch waits for more: nothing is answered while the input is open.
    for (when, answers) in [("batch", false), ("ready", true), ("each", true)] {
        let scene = Scene::of_new_session();
        let mut child = command(&scene.store())
            .args(["append", "s1", "--sync", when])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{USER}").unwrap();
        let stdout = child.stdout.take().unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            for line in std::io::BufRead::lines(std::io::BufReader::new(stdout)) {
                send.send(line.unwrap()).unwrap();
            }
        });
        let patience = std::time::Duration::from_secs(if answers { 600 } else { 1 });
        assert_eq!(receive.recv_timeout(patience).is_ok(), answers, "{when}");
        drop(stdin);
        assert!(child.wait().unwrap().success());
        reader.join().unwrap();
        assert_eq!(scene.lines("s1").len(), 2);
    }
}
