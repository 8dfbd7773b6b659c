//! `leafline export --redact` and `leafline secrets`. Secrets are put together here, so that no scanner finds one.

use std::path::Path;

use serde_json::{Value, json};

use crate::scene::{PI_3, Scene, file, header, message, path};

fn token() -> String {
    ["ghp_", "q7Rt2Lm9sa", "4Wdp8Zbn3H", "yV0cXe6TfK", "1uJo5G"].concat()
}

fn password() -> String {
    ["tide", "-clock", "-44!"].concat()
}

fn line(id: &str, parent: &str, text: &str) -> String {
    let message = json!({ "role": "user", "content": [{ "type": "text", "text": text }] });
    let entry = json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-02-16T10:20:01.000Z", "message": message });
    format!("{entry}\n")
}

/// A session with three secrets, one of them twice, and one on a torn line.
fn session() -> Vec<u8> {
    let mut bytes = format!("{}\n", header("shared")).into_bytes();
    let (token, password) = (token(), password());
    bytes
        .extend(line("aaaaaaaa", "", &format!("git clone https://{token}@github.com/x/y")).bytes());
    bytes.extend(line("bbbbbbbb", "aaaaaaaa", &format!("DB_PASSWORD={password}\nnothing")).bytes());
    bytes.extend(line("cccccccc", "bbbbbbbb", "Write to robin@example.org").bytes());
    bytes.extend(format!("{{\"torn\":\"{token}").bytes());
    bytes
}

fn session_id(scene: &Scene) -> String {
    scene.run(["ls", "--json"]).ok().json_lines()[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_form_is_exported_without_its_secrets() {
    let scene = Scene::of_session(&session());
    let id = session_id(&scene);
    let before = scene.run(["export", &id]).ok().stdout;
    let blobs = scene.folder().join("blobs");
    let mut first = None;
    for form in ["current", "exact", "original", "portable", "refs"] {
        let mut arguments = vec!["export", &id, "--as", form, "--redact"];
        if form == "refs" {
            arguments.extend(["--blobs", path(&blobs)]);
        }
        let run = scene.run(arguments);
        let text = run.text();
        assert!(!text.contains(&token()) && !text.contains(&password()), "{form}: {text}");
        assert!(text.contains("robin@example.org"), "{form}");
        assert_eq!(
            run.stderr,
            "leafline: 3 secrets were replaced: 2 github-token (1 different), 1 password\n"
        );
        // The same in each form, and the next time.
        assert_eq!(*first.get_or_insert(text.clone()), text);
        let lines: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert_eq!(lines.len(), 4);
    }
    // The store stays as it is.
    assert_eq!(scene.run(["export", &id]).ok().stdout, before);
    assert_eq!(scene.run(["verify"]).status, 0);
}

#[test]
fn a_file_and_a_folder_are_redacted_and_told_of() {
    let scene = Scene::of_session(&session());
    let id = session_id(&scene);
    let file = scene.folder().join("shared.jsonl");
    let run = scene.run(["export", &id, "-o", path(&file), "--redact", "--json"]).ok();
    let told = run.json_lines();
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(told[0]["bytes"], written.len());
    assert_eq!(told[1]["kinds"]["github-token"], json!({ "places": 2, "different": 1 }));
    assert!(!written.contains(&token()));

    let folder = scene.folder().join("all");
    let export = |more: &[&'static str]| {
        let mut arguments = vec!["export", "--all", "-o", path(&folder)];
        arguments.extend(more);
        let run = scene.run(arguments);
        assert_eq!(run.status, 0, "{}", run.stderr);
        run.text().lines().last().unwrap().to_owned()
    };
    assert!(export(&["--redact"]).contains("1 written"));
    let files = files_below(&folder);
    assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), written);
    assert!(export(&["--redact"]).contains("1 unchanged"));
    // Redacted by other rules, or not at all, it is another file.
    assert!(export(&["--redact-emails"]).contains("1 written"));
    assert!(!std::fs::read_to_string(&files[0]).unwrap().contains("robin@example.org"));
    assert!(export(&[]).contains("1 written"));
    assert!(std::fs::read_to_string(&files[0]).unwrap().contains(&token()));
    assert!(export(&["--redact"]).contains("1 written"));
}

#[test]
fn the_names_of_files_are_redacted_too() {
    let scene = Scene::of_samples();
    let folder = scene.folder().join("all");
    let run = scene.run(["export", "--all", "-o", path(&folder), "--redact-homes"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let files = files_below(&folder);
    assert!(files.len() > 10);
    for file in files {
        assert!(!path(&file).contains("robin"), "{}", file.display());
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("/home/robin"), "{}", file.display());
    }
}

#[test]
fn secrets_are_listed_without_being_shown() {
    let scene = Scene::of_session(&session());
    let id = session_id(&scene);
    let run = scene.run(["secrets", "--emails"]);
    let rows: Vec<Vec<String>> =
        run.text().lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    let expected = [
        ["aaaaaaaa", "github-token", "1"],
        ["bbbbbbbb", "password", "1"],
        ["cccccccc", "email", "1"],
        ["", "github-token", "1"],
    ];
    assert_eq!(rows.len(), expected.len(), "{rows:?}");
    for (row, expected) in rows.iter().zip(expected) {
        assert_eq!(row[0], id);
        assert_eq!(row[1..], expected);
    }
    assert!(run.stderr.contains("4 secrets in 1 of 1 session"), "{}", run.stderr);
    let told = scene.run(["secrets", &id, "--pattern", "(?i)nothing", "--json"]).ok().json_lines();
    assert_eq!(told[2]["kind"], "pattern");
    assert_eq!(told.last().unwrap()["kinds"]["github-token"]["places"], 2);
    // For a person they stand in columns, below their titles.
    let shown = scene.run(["--width", "100", "secrets"]).text();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert!(lines[0].starts_with("session ") && lines[0].ends_with("  secrets"), "{shown}");
    let kinds = ["github-token", "password", "github-token"];
    for (line, kind) in lines[1..].iter().zip(kinds) {
        assert!(line.starts_with(&id), "{shown}");
        assert_eq!(line.find(kind), lines[0].find("kind"), "{shown}");
        assert_eq!(line.len(), lines[0].len(), "{shown}");
    }
    // Who only looks makes no key.
    let mut key = scene.store().into_os_string();
    key.push(".redaction-key");
    assert!(!Path::new(&key).exists());
    assert_eq!(scene.run(["export", &id, "--redact"]).status, 0);
    assert!(Path::new(&key).exists());
    let said = scene.run(["secrets", "--pattern", "("]).fails(1);
    assert!(said.contains("the pattern ( is no regular expression"), "{said}");
    let none = Scene::of_samples().run(["secrets"]);
    assert_eq!((none.text(), none.stderr), (String::new(), "no secrets were found\n".into()));
}

#[test]
fn a_session_goes_back_to_its_program_as_it_is() {
    let said = Scene::of_samples().run(["export", PI_3, "--to-source", "--redact"]).fails(2);
    assert!(said.contains("cannot be used with"), "{said}");
}

pub(crate) fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let place = entry.unwrap().path();
            match place.is_dir() {
                true => folders.push(place),
                false if place.extension().is_some_and(|ending| ending == "jsonl") => {
                    found.push(place);
                }
                false => {}
            }
        }
    }
    found
}

/// The title repeats the first prompt, and a page shows the beginning of a branch twice.
#[test]
fn a_place_counts_once_in_every_form() {
    let token = format!("ghp_{}", "A1b2C3d4E5".repeat(4).get(..36).unwrap());
    let line = |id: &str, parent: Option<&str>, text: &str| message(id, parent, text);
    let scene = Scene::of_session(&file([
        header("s1"),
        line("a1", None, &format!("use {token} and {token}")),
        line("a2", Some("a1"), &format!("one way with {token}")),
        line("a3", Some("a1"), &format!("another way with {token}")),
    ]));
    let counted = scene.run(["secrets", "--json"]).ok().json_lines().pop().unwrap();
    assert_eq!(counted["kinds"]["github-token"], serde_json::json!({"places": 4, "different": 1}));
    let out = scene.folder().join("out");
    for form in ["current", "exact", "html"] {
        let arguments = ["--json", "export", "s1", "--as", form, "--redact", "-o", path(&out)];
        let told = scene.run(arguments).ok().json_lines().pop().unwrap();
        assert_eq!(told["kinds"], counted["kinds"], "{form}");
    }
    // A secret that only the title has counts, too.
    let scene = Scene::of_session(&file([header("s1"), message("a1", None, "no secret")]));
    scene.run(["name", "--set", &format!("about {token}"), "s1"]).ok();
    let out = scene.folder().join("out");
    let run = scene.run(["export", "s1", "--as", "md", "--redact", "-o", path(&out)]);
    assert!(run.stderr.contains("1 secret was replaced"), "{}", run.stderr);
}
