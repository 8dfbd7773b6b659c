//! `leafline history`.

use std::process::Stdio;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::scene::{Scene, command, path};

/// The prompts of a listing.
fn prompts(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["prompt"].as_str().unwrap()).collect()
}

#[test]
fn prompts_are_kept_recalled_and_found() {
    let scene = Scene::new();
    let added =
        scene.run(["history", "add", "why", "is the", "build slow?", "--cwd", "/work"]).ok();
    assert_eq!(added.text(), "0\n");
    let input = "  Profile\nthe café build \n".as_bytes();
    assert_eq!(
        scene.run_with_input(["history", "add", "--json"], input).ok().json(),
        json!({"id": 1})
    );

    let recent = scene.run(["history", "recent", "--json"]).ok().json_lines();
    assert_eq!(prompts(&recent), ["Profile\nthe café build", "why is the build slow?"]);
    assert_eq!(recent[1]["cwd"], "/work");
    assert_eq!(recent[0]["cwd"], std::env::current_dir().unwrap().to_str().unwrap());
    assert!(recent[0]["created_at"].as_i64().unwrap() > 1_700_000_000_000);

    let lines = scene.run(["history", "search", "buil", "SLO"]).ok().text();
    let columns: Vec<&str> = lines.trim_end().split('\t').collect();
    assert_eq!(columns[1..], ["/work", "why is the build slow?"]);
    assert!(columns[0].ends_with('Z'));
    let found = scene.run(["history", "search", "CAFE-bui", "--json"]).ok().json_lines();
    assert_eq!(prompts(&found), ["Profile\nthe café build"]);
    assert_eq!(scene.run(["history", "search", "uild"]).ok().text(), "");
    assert_eq!(scene.run(["history", "search", "... ?"]).ok().text(), "");
}

#[test]
fn prompts_are_found_composed_and_decomposed() {
    let composed = "が データ 데이터 Việt";
    let decomposed = "か\u{3099} テ\u{3099}ータ \u{1103}\u{1166}\u{110b}\u{1175}\u{1110}\u{1165} Vie\u{323}\u{302}t";
    for (kept, typed) in [(composed, decomposed), (decomposed, composed)] {
        let scene = Scene::new();
        scene.run(["history", "add", "か Vie\u{302}t"]).ok();
        scene.run(["history", "add", kept]).ok();
        for sought in typed.split(' ').skip(1).chain([typed]) {
            let found = scene.run(["history", "search", "--json", sought]).ok().json_lines();
            assert_eq!(prompts(&found)[0], kept, "{sought}");
        }
        let found = scene.run(["history", "search", "--json", "が"]).ok().json_lines();
        assert_eq!(prompts(&found), [kept]);
    }
}

#[test]
fn empty_prompts_and_repeats_are_not_kept() {
    let scene = Scene::new();
    scene.run(["history", "add", "same"]).ok();
    assert_eq!(scene.run(["history", "add", " same "]).ok().text(), "");
    assert_eq!(scene.run(["history", "add", "--json", "same"]).ok().json(), json!({"id": null}));
    assert_eq!(scene.run_with_input(["history", "add"], b" \n").ok().text(), "");
    assert_eq!(scene.run(["history", "recent", "--json"]).ok().json_lines().len(), 1);
}

#[test]
fn limits_are_clamped() {
    let scene = Scene::new();
    for prompt in ["one", "two", "three"] {
        scene.run(["history", "add", prompt]).ok();
    }
    let count = |limit: &str| {
        scene.run(["history", "recent", "--json", "--limit", limit]).ok().json_lines().len()
    };
    assert_eq!([count("2"), count("0"), count("-3"), count("999999")], [2, 0, 0, 3]);
    scene.run(["history", "recent", "--limit", "many"]).fails(2);
    scene.run(["history", "search"]).fails(2);
    scene.run(["history"]).fails(2);
}

#[test]
fn a_history_that_is_not_there_is_an_error() {
    let scene = Scene::new();
    assert!(scene.run(["history", "recent"]).fails(1).contains("does not exist"));
    let absent = scene.folder().join("absent.db");
    let said = scene.run(["history", "import", path(&absent)]).fails(1);
    assert!(said.contains("absent.db"), "{said}");
    let text = scene.write("text.db", "no database at all ".repeat(100).as_bytes());
    let said = scene.run(["history", "import", path(&text)]).fails(1);
    assert!(said.contains("omp's history.db") && said.contains("not a database"), "{said}");
    let said = scene.run(["history", "export", path(&text)]).fails(1);
    assert!(said.contains("not a database"), "{said}");
}

#[test]
fn omps_history_comes_in_and_goes_out() {
    let scene = Scene::new();
    let file = scene.folder().join("history.db");
    let connection = Connection::open(&file).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
               created_at INTEGER NOT NULL DEFAULT (unixepoch()), cwd TEXT);
             INSERT INTO history (prompt, created_at, cwd) VALUES ('from omp', 1771237230, '/work'), ('', 5, NULL);",
        )
        .unwrap();
    let told = scene.run(["history", "import", path(&file)]).ok().text();
    let said = "history.db: 1 prompt imported, 0 there already; 1 row holds no prompt\n";
    assert!(told.ends_with(said), "{told}");
    let told = scene.run(["history", "import", path(&file), "--json"]).ok().json();
    assert_eq!(
        told,
        json!({"file": path(&file), "copied": 0, "present": 1, "left_out": 1, "lost": 0})
    );
    let listed = scene.run(["history", "recent"]).ok().text();
    assert_eq!(listed, "2026-02-16T10:20:30.000Z\t/work\tfrom omp\n");

    scene.run(["history", "add", "from leafline"]).ok();
    let told = scene.run(["history", "export", path(&file)]).ok().text();
    assert!(told.ends_with("history.db: 1 prompt exported, 1 there already\n"), "{told}");
    let found: String = connection
        .query_row(
            "SELECT h.prompt FROM history_fts f JOIN history h ON h.id = f.rowid WHERE history_fts MATCH '\"leaf\"*'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(found, "from leafline");
}

#[test]
fn an_export_counts_what_arrives() {
    let scene = Scene::new();
    for prompt in ["one", "two", "three"] {
        scene.run(["history", "add", prompt]).ok();
    }
    let database = |name: &str, trigger: &str| {
        let file = scene.folder().join(name);
        let schema =
            "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
               created_at INTEGER NOT NULL, cwd TEXT);
             INSERT INTO history (prompt, created_at) VALUES ('its own', 5);";
        let connection = Connection::open(&file).unwrap();
        connection.execute_batch(&format!("{schema}{trigger}")).unwrap();
        (file, connection)
    };
    let count = |connection: &Connection| {
        connection
            .query_row("SELECT count(*) FROM history", [], |row| row.get::<_, i64>(0))
            .unwrap()
    };

    let keeps_one = "CREATE TRIGGER t AFTER INSERT ON history WHEN new.prompt <> 'two' BEGIN
           DELETE FROM history WHERE id = new.id; END;";
    let (file, connection) = database("deletes.db", keeps_one);
    let run = scene.run(["history", "export", path(&file)]);
    let said = "1 prompt exported, 0 there already; 2 not in it, removed or changed by the file's own triggers\n";
    assert!(run.text().ends_with(said), "{}", run.text());
    run.fails(1);
    assert_eq!(count(&connection), 2);

    let changes = "CREATE TRIGGER t AFTER INSERT ON history BEGIN
           UPDATE history SET prompt = 'x' WHERE id = new.id; END;";
    let (file, _connection) = database("changes.db", changes);
    let told = scene.run(["history", "export", "--json", path(&file)]);
    let expected =
        json!({"file": path(&file), "copied": 0, "present": 0, "left_out": 0, "lost": 3});
    assert_eq!(told.json(), expected);

    // What the file had is not given up for what is added.
    let makes_room = "CREATE TRIGGER t AFTER INSERT ON history BEGIN
           DELETE FROM history WHERE id < new.id; END;";
    let (file, connection) = database("makes-room.db", makes_room);
    let said = scene.run(["history", "export", path(&file)]).fails(1);
    assert!(said.contains("its own triggers remove or change prompts that it has"), "{said}");
    assert_eq!(count(&connection), 1);
    let own: String =
        connection.query_row("SELECT prompt FROM history", [], |row| row.get(0)).unwrap();
    assert_eq!(own, "its own");
}

#[test]
fn processes_add_at_once() {
    let scene = Scene::new();
    scene.run(["history", "add", "first"]).ok();
    let children: Vec<_> = (0..12)
        .map(|number| {
            let mut child = command(&scene.store());
            child.args(["history", "add", &format!("prompt {number}")]);
            child.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut ids: Vec<String> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        })
        .collect();
    ids.sort_by_key(|id| id.parse::<u64>().unwrap());
    let expected: Vec<String> = (1..13).map(|id| id.to_string()).collect();
    assert_eq!(ids, expected);
    assert_eq!(scene.run(["history", "search", "prom", "--json"]).ok().json_lines().len(), 12);
    let verified = scene.run(["verify"]).ok().text();
    assert_eq!(
        verified,
        "0 sessions, 0 lines, 0 blobs and 13 prompts checked: no problems, 0 remarks\n"
    );
    let statistics = scene.run(["stats", "--json"]).ok().json();
    assert_eq!(statistics["prompts"], 13);
    let tables: Vec<&str> = statistics["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| table["name"].as_str().unwrap())
        .collect();
    for table in ["history", "history_terms", "history_blocks"] {
        assert!(tables.contains(&table), "{tables:?}");
    }
    assert!(scene.run(["stats"]).ok().text().contains("prompts   13\n"));
}
