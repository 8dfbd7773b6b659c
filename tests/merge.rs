//! Two continuations of one beginning: the program goes on in its file, and the store changes the session.
//!
//! Guards against the loss or repetition of a line of the program or a change in the store, and against a session that is no
//! longer kept afterwards.
//!
//! A sync and an export back to the program that merge are killed at each of their calls by `leafline-faults kills`
//! (faults/src/command/writing.rs, the cases that are merged), of which faults/tests/kills.rs is a short run.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use leafline::context::ContextLeaf;
use leafline::export::{ExportMode, ExportOutcome, ExportReport};
use leafline::import::{FileReport, ImportOptions, ImportStatus};
use leafline::{Family, Store};
use place::Reports;
use serde_json::{Value, json};

/// The number of rounds of the property test; `LEAFLINE_MERGES` sets another number, or a range.
const ROUNDS: u64 = 80;

/// The variable that names a test's own home folder when the test runs again in a child process.
const HOME: &str = "LEAFLINE_MERGE_HOME";

/// The home folder of the test, in the child process; `None` in the parent, which has then run the test in a child.
fn in_home(test: &str) -> Option<PathBuf> {
    if let Some(home) = std::env::var_os(HOME) {
        return Some(home.into());
    }
    let home = tempfile::tempdir().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(HOME, home.path())
        .env("HOME", home.path())
        .env("USERPROFILE", home.path())
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("PI_CODING_AGENT_DIR")
        .status()
        .unwrap();
    assert!(status.success());
    None
}

const SESSION: &str = "5e551011-0000-4000-8000-000000000001";

/// A program with its file, and a store.
struct Scene {
    family: Family,
    path: PathBuf,
    store: Store,
    /// The number of turns and changes so far; each has its own number.
    count: u64,
    /// The entry below which the running program adds its next one; `None` if the program is not running.
    leaf: Option<String>,
    /// Markers that only the file has, and markers that the store must have.
    unread: Vec<String>,
    kept: Vec<String>,
    /// The name that was set last, empty if it was cleared.
    title: Option<String>,
    _folder: tempfile::TempDir,
}

fn time(count: u64) -> String {
    format!("2026-02-16T{:02}:{:02}:{:02}.000Z", 10 + count / 3600, count / 60 % 60, count % 60)
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

impl Scene {
    /// Begins a session with a few turns.
    fn new(home: &Path, family: Family) -> Self {
        let folder = match family {
            Family::Pi => ".pi/agent/sessions/--work--/2026-02-16T10-00-00-000Z_",
            Family::Omp => ".omp/agent/sessions/-work/2026-02-16T10-00-00-000Z_",
            Family::Opal => ".opal/sessions/",
            _ => ".claude/projects/-work/",
        };
        let path = home.join(format!("{folder}{SESSION}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let header = line(
            &json!({"type": "session", "version": 3, "id": SESSION, "timestamp": time(0), "cwd": "/work"}),
        );
        let title = r#"{"type":"title","v":1,"title":"At first","updatedAt":"2026-03-01T08:00:00.000Z","pad":""#;
        let beginning = match family {
            Family::Pi => header,
            Family::Omp => {
                format!("{title}{}\"}}\n{header}", " ".repeat(253 - title.len()))
            }
            Family::Opal => line(
                &json!({"current_id": null, "metadata": {"title": "At first"}, "session_id": SESSION}),
            ),
            _ => String::new(),
        };
        std::fs::write(&path, beginning).unwrap();
        let store_folder = tempfile::tempdir().unwrap();
        let store = Store::in_memory().unwrap();
        let mut scene = Self {
            family,
            path,
            store,
            count: 0,
            leaf: None,
            unread: Vec::new(),
            kept: Vec::new(),
            title: None,
            _folder: store_folder,
        };
        scene.turn();
        scene.turn();
        scene.sync();
        scene
    }

    fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// An entry as the program writes it.
    fn entry(&self, count: u64, parent: Option<&str>, text: &str) -> (String, String) {
        let role = if count.is_multiple_of(2) { "assistant" } else { "user" };
        match self.family {
            Family::Claude => {
                let id = format!("5e551011-0000-4000-8001-{count:012}");
                let content = json!([{"type": "text", "text": text}]);
                let entry = json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/work",
                    "sessionId": SESSION, "version": "2.1.332", "type": role, "uuid": id, "timestamp": time(count),
                    "message": {"role": role, "content": content}});
                (id, line(&entry))
            }
            Family::Opal => {
                let id = format!("{count:016x}");
                let entry = json!({"content": text, "id": id, "is_error": false, "parent_id": parent, "role": role});
                (id, line(&entry))
            }
            _ => {
                let id = format!("{count:08x}");
                let entry = json!({"type": "message", "id": id, "parentId": parent, "timestamp": time(count),
                    "message": {"role": role, "content": text}});
                (id, line(&entry))
            }
        }
    }

    /// The entry at which the program starts when it reads its file.
    fn read_leaf(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.path).unwrap();
        if self.family == Family::Opal {
            let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            return header["current_id"].as_str().map(str::to_owned);
        }
        let mut leaf = None;
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            let id = match value["type"].as_str().unwrap() {
                "session" | "title" => continue,
                "last-prompt" if value["explicit"] == true => &value["leafUuid"],
                _ if self.family == Family::Claude && value["uuid"].is_null() => continue,
                _ if self.family == Family::Claude => &value["uuid"],
                _ => &value["id"],
            };
            leaf = id.as_str().map(str::to_owned);
        }
        leaf
    }

    /// The program adds a turn, if its file exists.
    fn turn(&mut self) {
        if !self.path.exists() {
            return;
        }
        let count = self.number();
        let parent = self.leaf.take().or_else(|| self.read_leaf());
        let marker = format!("turn {count}.");
        let (id, line) = self.entry(count, parent.as_deref(), &marker);
        if self.family == Family::Opal {
            self.save_whole(&id, &line);
        } else {
            let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
            file.write_all(line.as_bytes()).unwrap();
            self.leaf = Some(id);
        }
        self.unread.push(marker);
    }

    /// Opal reads its file and writes it whole, its messages in any order.
    fn save_whole(&self, leaf: &str, added: &str) {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let (header, messages) = text.split_once('\n').unwrap();
        let mut header: Value = serde_json::from_str(header).unwrap();
        header["current_id"] = leaf.into();
        let mut messages: Vec<&str> = messages.split_inclusive('\n').chain([added]).collect();
        Rng::with_seed(self.count).shuffle(&mut messages);
        std::fs::write(&self.path, line(&header) + &messages.concat()).unwrap();
    }

    /// omp names the session in its file.
    fn rename(&mut self) {
        if self.family != Family::Omp || !self.path.exists() {
            return;
        }
        // No two names are given in the same millisecond.
        std::thread::sleep(Duration::from_millis(2));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        let time = leafline_import::time::format_timestamp(now.try_into().unwrap());
        let name = format!("program {}.", self.number());
        let title =
            format!(r#"{{"type":"title","v":1,"title":"{name}","updatedAt":"{time}","pad":""#);
        let title = format!("{title}{}\"}}", " ".repeat(253 - title.len()));
        let mut file = OpenOptions::new().write(true).open(&self.path).unwrap();
        file.write_all(title.as_bytes()).unwrap();
        self.title = Some(name);
        std::thread::sleep(Duration::from_millis(2));
    }

    fn sync(&mut self) -> Vec<FileReport> {
        let mut reports = Reports::default();
        let folder = self.path.parent().unwrap();
        self.store.sync(&[folder], &ImportOptions::default(), &mut reports).unwrap();
        // The next sync judges the file by its size and time.
        assert_eq!(self.store.standing_of(folder).unwrap().behind, []);
        for report in &reports.0 {
            assert_ne!(report.status, ImportStatus::Failed, "{report:?}");
            assert_eq!(report.session.as_deref(), Some(SESSION), "{report:?}");
        }
        self.kept.append(&mut self.unread);
        reports.0
    }

    /// Sets the file's modification time to one long ago.
    fn age(&self) {
        if self.path.exists() {
            let time = SystemTime::now() - Duration::from_secs(10_000 - self.count);
            File::options().write(true).open(&self.path).unwrap().set_modified(time).unwrap();
        }
    }

    fn change(&mut self, rng: &mut Rng) {
        let count = self.number();
        let mut session = self.store.session(SESSION).unwrap();
        let reader = session.reader().unwrap();
        let entries = reader.get_tree().unwrap();
        let ids: Vec<String> = entries.nodes().iter().filter_map(|node| node.id.clone()).collect();
        drop(reader);
        let any = rng.choice(ids).unwrap();
        let marker = match rng.u8(0..4) {
            0 => {
                let is_in_header = matches!(self.family, Family::Omp | Family::Opal);
                let name = match is_in_header && rng.u8(0..4) == 0 {
                    true => String::new(),
                    false => format!("name {count}."),
                };
                session.set_session_name(&name).unwrap();
                self.title = Some(name.clone());
                if is_in_header {
                    return;
                }
                name
            }
            1 => {
                let text = format!("own {count}.");
                let mut message = json!({"role": "user", "content": text});
                if self.family != Family::Opal {
                    message["timestamp"] = (1_771_236_000_000_u64 + 1000 * count).into();
                }
                session.append_message(&message).unwrap();
                text
            }
            2 if !matches!(self.family, Family::Claude | Family::Opal) => {
                let label = format!("label {count}.");
                session.label(&any, Some(&label)).unwrap();
                label
            }
            _ => return session.branch(&any).unwrap(),
        };
        self.kept.push(marker);
    }

    fn resume(&mut self) -> ExportReport {
        let before = std::fs::read(&self.path).unwrap_or_default();
        let mut reports = self.store.export_to_source(SESSION).unwrap();
        self.kept.append(&mut self.unread);
        let now = std::fs::read(&self.path).unwrap();
        let report = reports.remove(0);
        let is_there =
            matches!(report.outcome, ExportOutcome::Written { .. } | ExportOutcome::Unchanged);
        assert!(is_there, "{report:?}");
        assert_eq!(report.path, self.path);
        if self.family == Family::Opal {
            let (before, now) = (shown(self.entries(&before)), shown(&now));
            assert!(before.lines().all(|line| now.contains(line)), "{now}");
        } else {
            assert!(self.entries(&now).starts_with(self.entries(&before)), "{}", shown(&now));
        }
        report
    }

    /// The lines that a name does not change: those after omp's title and header, and after Opal's header.
    fn entries<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let header = match self.family {
            Family::Omp => 2,
            Family::Opal => 1,
            _ => 0,
        };
        let mut lines = bytes.splitn(header + 1, |&byte| byte == b'\n');
        lines.nth(header).unwrap_or_default()
    }

    fn exact(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.store.reader(SESSION).unwrap().export(&ExportMode::Exact, &mut bytes).unwrap();
        bytes
    }

    /// The leaf of the store.
    fn leaf(&self) -> Option<String> {
        self.store.reader(SESSION).unwrap().get_leaf().unwrap().and_then(|leaf| leaf.id())
    }

    /// Checks that everything is in the store once, and that nothing changes any more.
    fn check(&mut self) {
        self.sync();
        let report = self.resume();
        let bytes = self.exact();
        assert_eq!(shown(&bytes), shown(&std::fs::read(&self.path).unwrap()), "{report:?}");
        let text = String::from_utf8(bytes.clone()).unwrap();
        for marker in &self.kept {
            let count = text.matches(&format!("\"{marker}\"")).count();
            assert!(
                count == 1 || (count > 1 && marker.starts_with("name")),
                "{marker} {count}: {text}"
            );
        }
        assert_eq!(self.read_leaf(), self.leaf());
        for _ in 0..2 {
            let statuses: Vec<_> = self.sync().iter().map(|report| report.status).collect();
            assert_eq!(statuses, [ImportStatus::Unchanged]);
            assert_eq!(self.resume().outcome.name(), "unchanged");
            self.age();
        }
        assert_eq!(shown(&self.exact()), shown(&bytes));
        let sessions = self.store.sessions().unwrap();
        assert_eq!(sessions.len(), 1);
        if let Some(title) = &self.title {
            assert_eq!(sessions[0].title.as_deref().unwrap_or_default(), title);
        }
        if self.count.is_multiple_of(4) {
            assert_eq!(self.store.verify().unwrap().problems, []);
        }
    }
}

/// Prints the seed of a round that has failed.
struct ShowsSeed(u64);

impl Drop for ShowsSeed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("seed {}", self.0);
        }
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn no_order_of_changes_loses_or_repeats_anything() {
    let Some(home) = in_home("no_order_of_changes_loses_or_repeats_anything") else { return };
    let rounds = std::env::var("LEAFLINE_MERGES").ok();
    let rounds = match rounds.as_deref().map(|asked| asked.split_once("..").unwrap_or(("0", asked)))
    {
        Some((from, to)) => from.parse().unwrap()..to.parse().unwrap(),
        None => 0..ROUNDS,
    };
    for seed in rounds {
        let _shows = ShowsSeed(seed);
        let mut rng = Rng::with_seed(seed);
        let families = [Family::Pi, Family::Claude, Family::Omp, Family::Opal];
        let family = families[usize::try_from(seed % 4).unwrap()];
        // Each round has its own folder below the program's.
        let mut scene = Scene::new(&home, family);
        for _ in 0..rng.usize(1..12) {
            if rng.bool() {
                scene.age();
            }
            match rng.u8(0..13) {
                0..4 => scene.turn(),
                4..7 => scene.change(&mut rng),
                7 | 8 => drop(scene.sync()),
                9 => drop(scene.resume()),
                10 => scene.leaf = None,
                11 => scene.rename(),
                _ => {
                    scene.sync();
                    let _ = std::fs::remove_file(&scene.path);
                    scene.leaf = None;
                }
            }
        }
        scene.check();
        std::fs::remove_dir_all(scene.path.parent().unwrap()).unwrap();
    }
}

#[test]
fn the_newest_message_sets_the_leaf_and_a_name_does_not() {
    let Some(home) = in_home("the_newest_message_sets_the_leaf_and_a_name_does_not") else {
        return;
    };
    for family in [Family::Pi, Family::Claude] {
        let mut scene = Scene::new(&home, family);
        scene.store.session(SESSION).unwrap().set_session_name("Named").unwrap();
        scene.turn();
        let turn = scene.leaf.clone();
        let reports = scene.sync();
        assert_eq!(reports[0].status, ImportStatus::Grown);
        assert!(reports[0].reason.as_ref().unwrap().contains("merged"), "{reports:?}");
        assert_eq!(scene.leaf(), turn);
        scene.resume();
        // The restarted program continues below its last turn.
        scene.leaf = None;
        scene.turn();
        scene.sync();
        let text = String::from_utf8(scene.exact()).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let parent = last["parentUuid"].as_str().or(last["parentId"].as_str()).unwrap();
        let reader = scene.store.reader(SESSION).unwrap();
        let mut path = Vec::new();
        reader
            .get_path(Some(parent), |entry| {
                path.push(entry.id());
                Ok(())
            })
            .unwrap();
        assert!(path.contains(&turn), "{text}");
        drop(reader);
        // The store adds a message that is newer than the turn.
        let message = json!({"role": "user", "content": "own", "timestamp": 1_900_000_000_000_u64});
        let own = scene.store.session(SESSION).unwrap().append_message(&message).unwrap();
        scene.turn();
        scene.sync();
        assert_eq!(scene.leaf(), Some(own));
        scene.check();
        std::fs::remove_dir_all(scene.path.parent().unwrap()).unwrap();
    }
}

#[test]
fn the_program_starts_at_the_branch_of_the_store() {
    let Some(home) = in_home("the_program_starts_at_the_branch_of_the_store") else { return };
    for family in [Family::Pi, Family::Omp, Family::Claude] {
        let mut scene = Scene::new(&home, family);
        scene.turn();
        scene.turn();
        scene.sync();
        let first = scene.entry(1, None, "").0;
        scene.store.session(SESSION).unwrap().branch(&first).unwrap();
        scene.resume();
        // For pi, an entry outside the conversation is below the leaf.
        let leaf = scene.read_leaf().unwrap();
        assert_eq!(scene.leaf().as_ref(), Some(&leaf));
        let reader = scene.store.reader(SESSION).unwrap();
        let mut path = Vec::new();
        reader
            .get_path(Some(&leaf), |entry| {
                path.push(entry.id().unwrap());
                Ok(())
            })
            .unwrap();
        path.retain(|id| *id != leaf || family == Family::Claude);
        assert_eq!(path, [first]);
        drop(reader);
        scene.check();
        // The leaf moves before all entries.
        scene.store.session(SESSION).unwrap().reset_leaf().unwrap();
        scene.resume();
        let reader = scene.store.reader(SESSION).unwrap();
        let said = reader.build_context(ContextLeaf::Current, None).unwrap().messages.len();
        assert_eq!(said, 0);
        drop(reader);
        std::fs::remove_dir_all(scene.path.parent().unwrap()).unwrap();
    }
}

#[test]
fn a_last_line_without_an_end_is_not_joined_with_the_lines_of_the_store() {
    let place = place::Place::new();
    let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
    let other = header.replace("\"cwd\"", "\"branch\":\"main\",\"cwd\"");
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-02-16T10:21:00.000Z","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let (first, second) = (line("a1", "null"), line("b1", "\"a1\""));
    let file = place.write("s.jsonl", format!("{header}\n{first}\n"));
    place.import(&file);
    let mut session = place.store.session("s1").unwrap();
    session.append_message(&json!({"role": "user", "content": "of the store"})).unwrap();
    place.write("s.jsonl", format!("{other}\n{first}\n{second}"));
    assert_eq!(place.import(&file).status, ImportStatus::Grown);
    let text = String::from_utf8(place.exact("s1")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert_eq!(text.matches("of the store").count(), 1, "{text}");
    place.assert_sound();
}

#[test]
fn a_name_that_the_store_gave_back_stays() {
    let place = place::Place::new();
    let title = |title: &str| {
        format!(r#"{{"type":"custom-title","customTitle":"{title}","sessionId":"s1"}}"#)
    };
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"sessionId":"s1","timestamp":"2026-02-16T10:21:00.000Z","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let begun = format!("{}\n{}\n{}\n", line("a1", "null"), title("Alpha"), title("Beta"));
    let file = place.write("s1.jsonl", &begun);
    place.import(&file);
    place.store.session("s1").unwrap().set_session_name("Alpha").unwrap();
    place.write("s1.jsonl", format!("{begun}{}\n", line("b1", "\"a1\"")));
    assert_eq!(place.import(&file).status, ImportStatus::Grown);
    let facts = place.store.reader("s1").unwrap().facts();
    assert_eq!(facts.title.as_deref(), Some("Alpha"));
    assert_eq!(facts.entries, 2);
    place.assert_sound();
}

/// An omp session with a message and, in its file, a title of this time.
fn omp_file(title: &str, time: &str, lines: &[String]) -> String {
    let slot = format!(r#"{{"type":"title","v":1,"title":"{title}","updatedAt":"{time}","pad":""#);
    let slot = format!("{slot}{}\"}}", " ".repeat(253 - slot.len()));
    let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
    format!("{slot}\n{header}\n{}", lines.concat())
}

fn omp_line(id: &str, parent: &str) -> String {
    line(
        &json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-02-16T10:21:00.000Z",
        "message": {"role": "user", "content": id}}),
    )
}

const LATER: &str = "2999-01-01T00:00:00.000Z";
const EARLIER: &str = "2026-02-16T10:20:30.000Z";

#[test]
fn the_last_name_is_kept() {
    let (first, second) = (omp_line("a1", "null"), omp_line("b1", "a1"));
    for (time, lines, name) in [
        (EARLIER, vec![first.clone()], "Of the store"),
        (EARLIER, vec![first.clone(), second.clone()], "Of the store"),
        (LATER, vec![first.clone()], "Of omp"),
        (LATER, vec![first.clone(), second.clone()], "Of omp"),
    ] {
        let place = place::Place::new();
        let file =
            place.write("s1.jsonl", omp_file("First", EARLIER, std::slice::from_ref(&first)));
        place.import(&file);
        place.store.session("s1").unwrap().set_session_name("Of the store").unwrap();
        place.write("s1.jsonl", omp_file("Of omp", time, &lines));
        place.import(&file);
        let facts = place.store.reader("s1").unwrap().facts();
        assert_eq!((facts.title.as_deref(), facts.entries), (Some(name), lines.len() as u64));
        place.assert_sound();
    }
}

#[test]
fn a_name_that_was_cleared_later_does_not_come_back() {
    let spare = line(
        &json!({"type": "compaction", "id": "c1", "parentId": "a1", "timestamp": "2026-02-16T10:22:00.000Z",
        "summary": "So far", "shortSummary": "Spare", "firstKeptEntryId": "a1", "tokensBefore": 9}),
    );
    for (begun, title) in
        [(vec![omp_line("a1", "null")], None), (vec![omp_line("a1", "null"), spare], Some("Spare"))]
    {
        let grown = [&begun[..], &[omp_line("b1", "a1")]].concat();
        for (time, name) in [(EARLIER, title), (LATER, Some("Of omp"))] {
            let place = place::Place::new();
            let file = place.write("s1.jsonl", omp_file("Of omp", EARLIER, &begun));
            place.import(&file);
            place.store.session("s1").unwrap().set_session_name("").unwrap();
            place.write("s1.jsonl", omp_file("Of omp", time, &grown));
            place.import(&file);
            let facts = place.store.reader("s1").unwrap().facts();
            assert_eq!((facts.title.as_deref(), facts.entries), (name, grown.len() as u64));
            assert_eq!(place.import(&file).status, ImportStatus::Unchanged);
            // A second merge decides the same.
            place.write(
                "s1.jsonl",
                omp_file("Of omp", time, &[&grown[..], &[omp_line("d1", "b1")]].concat()),
            );
            place.import(&file);
            assert_eq!(place.store.reader("s1").unwrap().facts().title.as_deref(), name);
            place.assert_sound();
        }
    }
}

#[test]
fn a_migrated_session_keeps_its_name_and_its_original_bytes() {
    let place = place::Place::new();
    let header =
        r#"{"type":"session","id":"s1","timestamp":"2025-11-20T10:00:00.000Z","cwd":"/work"}"#;
    let said = |text: &str| {
        line(
            &json!({"type": "message", "timestamp": "2025-11-20T10:00:01.000Z", "message": {"role": "user", "content": text}}),
        )
    };
    let options = ImportOptions { family: Some(Family::Omp), ..ImportOptions::default() };
    let mut bytes = format!("{header}\n{}", said("one"));
    let file = place.write("s1.jsonl", &bytes);
    place.import_with(&file, &options);
    assert!(place.store.reader("s1").unwrap().facts().migrated);
    place.store.session("s1").unwrap().set_session_name("Of the store").unwrap();
    for text in ["two", "three"] {
        bytes += &said(text);
        place.write("s1.jsonl", &bytes);
        assert_eq!(place.import_with(&file, &options).status, ImportStatus::Grown);
        assert_eq!(shown(&place.export("s1", &ExportMode::Original)), bytes);
        let facts = place.store.reader("s1").unwrap().facts();
        assert_eq!(facts.title.as_deref(), Some("Of the store"));
        assert_eq!(place.import_with(&file, &options).status, ImportStatus::Unchanged);
        place.assert_sound();
    }
}

/// The first line of a pi session.
const PI_HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;

/// Sets a file's modification time to so many seconds ago.
fn age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Syncs a file, and checks that the next sync does not open it.
fn sync_and_note(place: &place::Place, file: &Path) -> FileReport {
    let mut reports = Reports::default();
    place.store.sync(&[file], &ImportOptions::default(), &mut reports).unwrap();
    let standing = place.store.standing_of(file.parent().unwrap()).unwrap();
    assert_eq!((standing.behind, standing.in_step), (vec![], 1));
    reports.0.remove(0)
}

#[test]
fn the_state_of_a_file_is_noted_when_it_is_merged_or_holds_nothing_new() {
    let place = place::Place::new();
    let [first, second, third] =
        [("a1", "null"), ("b1", "a1"), ("c1", "a1")].map(|(id, parent)| omp_line(id, parent));
    let file = place.write("files/s1.jsonl", format!("{PI_HEADER}\n{first}{second}"));
    age(&file, 300);
    sync_and_note(&place, &file);
    let message = json!({"role": "user", "content": "of the store"});
    place.store.session("s1").unwrap().append_message(&message).unwrap();
    place.write("files/s1.jsonl", format!("{PI_HEADER}\n{first}{second}{third}"));
    age(&file, 200);
    assert_eq!(sync_and_note(&place, &file).status, ImportStatus::Grown);
    // The session has every line, in another order.
    let before = place.exact("s1");
    place.write("files/s1.jsonl", format!("{PI_HEADER}\n{first}{third}{second}"));
    age(&file, 100);
    let report = sync_and_note(&place, &file);
    assert_eq!((report.status, report.lines), (ImportStatus::Unchanged, 5), "{report:?}");
    assert_eq!(shown(&place.exact("s1")), shown(&before));
    place.assert_sound();
}

#[test]
fn a_line_without_an_id_that_the_program_repeats_is_kept() {
    let place = place::Place::new();
    let repeated = "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s1\"}\n";
    let said = r#"{"type":"user","uuid":"a1","parentUuid":null,"sessionId":"s1","timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi"}}"#;
    let begun = format!("{said}\n{repeated}");
    let file = place.write("s1.jsonl", &begun);
    place.import(&file);
    let message = json!({"role": "user", "content": "of the store"});
    place.store.session("s1").unwrap().append_message(&message).unwrap();
    place.write("s1.jsonl", format!("{begun}{repeated}"));
    assert_eq!(place.import(&file).status, ImportStatus::Grown);
    for _ in 0..2 {
        let text = shown(&place.exact("s1"));
        let counts = [repeated, "of the store"].map(|part| text.matches(part).count());
        assert_eq!(counts, [2, 1], "{text}");
        assert_eq!(place.import(&file).status, ImportStatus::Unchanged);
    }
    place.assert_sound();
}

#[test]
fn a_file_that_is_kept_apart_has_its_own_name() {
    let place = place::Place::new();
    let file = place.write("s1.jsonl", omp_file("First", EARLIER, &[omp_line("a1", "null")]));
    place.import(&file);
    place.store.session("s1").unwrap().set_session_name("Of the store").unwrap();
    let changed = omp_line("a1", "null").replace("\"user\"", "\"assistant\"");
    let other = omp_file("First", EARLIER, &[changed, omp_line("b1", "a1")]);
    place.write("s1.jsonl", &other);
    let report = place.import(&file);
    assert_eq!(report.session.as_deref(), Some("s1~2"), "{report:?}");
    assert!(report.reason.unwrap().contains("kept as s1~2"));
    assert_eq!(shown(&place.exact("s1~2")), other);
    assert_eq!(place.store.reader("s1").unwrap().facts().title.as_deref(), Some("Of the store"));
    assert_eq!(place.import(&file).status, ImportStatus::Unchanged);
    place.assert_sound();
}

#[test]
fn a_copy_that_has_gone_on_elsewhere_is_merged() {
    let place = place::Place::new();
    let (first, here, there) = (omp_line("a1", "null"), omp_line("b1", "a1"), omp_line("c1", "a1"));
    let file =
        place.write("here/s1.jsonl", omp_file("First", EARLIER, std::slice::from_ref(&first)));
    place.import(&file);
    let message = json!({"role": "user", "content": "of the store"});
    place.store.session("s1").unwrap().append_message(&message).unwrap();
    let copy = place.write("there/s1.jsonl", omp_file("First", EARLIER, &[first.clone(), there]));
    assert_eq!(place.import(&copy).session.as_deref(), Some("s1"));
    place.write("here/s1.jsonl", omp_file("First", EARLIER, &[first, here.clone()]));
    let report = place.import(&file);
    assert_eq!((report.status, report.session.as_deref()), (ImportStatus::Grown, Some("s1")));
    let text = shown(&place.exact("s1"));
    let ids: Vec<_> = ["a1", "b1", "c1", "of the store"]
        .map(|text_of| text.matches(&format!("\"content\":\"{text_of}\"")).count())
        .into();
    assert_eq!(ids, [1, 1, 1, 1], "{text}");
    for path in [&file, &copy] {
        assert_eq!(place.import(path).status, ImportStatus::Unchanged);
    }
    assert_eq!(place.store.sessions().unwrap().len(), 1);
    place.assert_sound();
}
