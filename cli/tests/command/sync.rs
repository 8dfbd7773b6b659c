//! `leafline sync`, once and watching, while an agent writes.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use leafline::Store;
use leafline::export::ExportMode;
use leafline_generate::{Family, Shape, generate};

use crate::scene::Scene;

/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(600);

fn session(family: Family, seed: u64, bytes: u64) -> Vec<u8> {
    let mut out = Vec::new();
    generate(&Shape { seed, bytes, family, ..Shape::default() }, &mut out).unwrap();
    out
}

fn watch(store: &Path, folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leafline"));
    command.arg("--store").arg(store).args(["sync", "--watch"]).arg(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What ctrl-c does.
fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn exact(store: &Path, id: &str) -> Option<Vec<u8>> {
    let store = Store::open(store).ok()?;
    let mut bytes = Vec::new();
    store.reader(id).ok()?.export(&ExportMode::Exact, &mut bytes).ok()?;
    Some(bytes)
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Who reads a watch's reports through a pipe gets each as it is made, not at the end.
#[test]
fn a_program_gets_the_reports_of_a_watch_at_once() {
    let scene = Scene::new();
    let folder = scene.folder().join("sessions");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("one.jsonl"), session(Family::Pi, 1, 5_000)).unwrap();
    let mut watching = watch(&scene.store(), &folder);
    let mut reports = BufReader::new(watching.stdout.take().unwrap());
    let (send, reported) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || {
        let mut report = String::new();
        while reports.read_line(&mut report).unwrap() > 0 {
            let _ = send.send(std::mem::take(&mut report));
        }
    });
    let first = reported.recv_timeout(PATIENCE).unwrap();
    std::fs::write(folder.join("two.jsonl"), session(Family::Pi, 2, 5_000)).unwrap();
    let second = reported.recv_timeout(PATIENCE).unwrap();
    interrupt(&watching);
    assert!(watching.wait().unwrap().success());
    reading.join().unwrap();
    assert!(first.contains("one.jsonl") && second.contains("two.jsonl"), "{first}{second}");
}

/// In place of a line for each of them.
#[test]
fn a_watch_counts_the_files_that_it_leaves_out() {
    let scene = Scene::new();
    for name in ["rollout-a.jsonl.zst", "rollout-b.jsonl.zst"] {
        scene.write(&format!("sessions/{name}"), b"");
    }
    let mut watching = watch(&scene.store(), &scene.folder().join("sessions"));
    let mut reports = BufReader::new(watching.stdout.take().unwrap());
    let mut report = String::new();
    reports.read_line(&mut report).unwrap();
    interrupt(&watching);
    assert!(watching.wait().unwrap().success());
    assert!(report.starts_with("2 files left out: compressed with Zstandard"), "{report}");
    report.clear();
    assert_eq!(reports.read_line(&mut report).unwrap(), 0, "{report}");
}

/// Pieces that split lines, and characters, anywhere.
fn pieces(bytes: &[u8], seed: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let (mut rest, mut number) = (bytes, seed);
    while !rest.is_empty() {
        number =
            number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (piece, behind) = rest.split_at((1 + (number >> 33) % 9_000).min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

#[cfg(unix)]
#[test]
fn a_watching_store_follows_agents_that_write() {
    let scene = Scene::new();
    let folder = scene.folder().join("sessions");
    std::fs::create_dir(&folder).unwrap();
    let store = scene.folder().join("watched.leafline");
    let mut child = watch(&store, &folder);
    wait_for("the store", || store.exists());
    let mut expected = Vec::new();
    std::thread::scope(|scope| {
        for (number, family) in [Family::Pi, Family::Omp, Family::Claude].into_iter().enumerate() {
            let bytes = session(family, number as u64 + 1, 400_000);
            let path = folder.join(format!("below{number}/agent.jsonl"));
            std::fs::create_dir(path.parent().unwrap()).unwrap();
            expected.push((path.clone(), bytes.clone()));
            scope.spawn(move || {
                let mut file = File::options().append(true).create(true).open(path).unwrap();
                for (count, piece) in pieces(&bytes, number).into_iter().enumerate() {
                    file.write_all(piece).unwrap();
                    if count % 7 == 0 {
                        std::thread::sleep(Duration::from_millis(40));
                    }
                }
            });
        }
    });
    for (path, bytes) in &expected {
        assert!(std::fs::read(path).unwrap() == *bytes);
        let is_there = || {
            let store = Store::open(&store).unwrap();
            let all = store.sessions().unwrap();
            all.iter().any(|facts| exact(store.path(), &facts.id).as_ref() == Some(bytes))
        };
        wait_for(&format!("all of {}", path.display()), is_there);
    }
    // A file that is renamed into place, and a last line without an end.
    let (path, bytes) = &expected[0];
    let longer =
        [bytes, &b"{\"type\":\"custom\",\"id\":\"zz\",\"parentId\":null,\"customType\":\"\xc3"[..]]
            .concat();
    std::fs::write(folder.join("aside"), &longer).unwrap();
    std::fs::rename(folder.join("aside"), path).unwrap();
    wait_for("the renamed file", || {
        let all = Store::open(&store).unwrap().sessions().unwrap();
        all.iter().any(|facts| exact(&store, &facts.id).as_ref() == Some(&longer))
    });
    std::fs::remove_file(path).unwrap();
    interrupt(&child);
    let status = child.wait().unwrap();
    assert!(status.success(), "{status:?}");
    let verification = Store::open(&store).unwrap().verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
    assert_eq!(verification.sessions, 3);
}

#[test]
fn a_sync_tells_what_is_new() {
    let scene = Scene::new();
    let path = scene.folder().join("sessions/one.jsonl");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    let bytes = session(Family::Pi, 5, 100_000);
    let cut = bytes.iter().take(50_000).rposition(|&byte| byte == b'\n').unwrap() + 1;
    std::fs::write(&path, &bytes[..cut]).unwrap();
    std::fs::write(scene.folder().join("sessions/none.jsonl"), "no session").unwrap();
    let folder = scene.folder().join("sessions").to_string_lossy().into_owned();
    let first = scene.run(["sync", &folder]).ok().text();
    assert!(first.contains("imported") && !first.contains("none.jsonl"), "{first}");
    let second = scene.run(["sync", &folder]).ok().text();
    assert!(second.starts_with("2 files: 1 unchanged, 1 skipped"), "{second}");
    std::fs::write(&path, &bytes).unwrap();
    let third = scene.run(["--json", "sync", &folder]).ok().text();
    let objects: Vec<serde_json::Value> =
        third.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 2, "{third}");
    assert_eq!((&objects[0]["status"], &objects[1]["grown"]), (&"grown".into(), &1.into()));
}

#[test]
fn a_sync_takes_a_shortened_file_with_replace() {
    let scene = Scene::new();
    let bytes = session(Family::Pi, 7, 50_000);
    let path = scene.write("one.jsonl", &bytes);
    let path = path.to_str().unwrap();
    scene.run(["sync", path]).ok();
    let half = bytes.iter().take(25_000).rposition(|&byte| byte == b'\n').unwrap() + 1;
    std::fs::write(path, &bytes[..half]).unwrap();
    // The store has all of it and more.
    assert!(scene.run(["sync", path]).ok().text().contains("1 unchanged"));
    let taken = scene.run(["sync", "--replace", path]).ok().text();
    assert!(taken.starts_with("replaced "), "{taken}");
    let id = scene.run(["--json", "ls"]).ok().json()["id"].as_str().unwrap().to_owned();
    assert_eq!(scene.run(["export", &id]).ok().stdout, bytes[..half]);
    scene.run(["sync", "--replace", "--watch", path]).fails(2);
}

#[test]
fn a_sync_that_is_killed_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (store, path) = (folder.path().join("s.leafline"), folder.path().join("s.jsonl"));
    let whole = session(Family::Omp, 9, 120_000_000);
    let half = whole[..whole.len() * 11 / 20].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    std::fs::write(&path, &whole[..half]).unwrap();
    let sync = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leafline"));
        command.arg("--store").arg(&store).args(["sync", "--no-index"]).arg(&path);
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    assert!(sync().wait().unwrap().success());
    let watching = Store::open(&store).unwrap();
    let facts = || watching.sessions().unwrap().remove(0);
    let first = facts();
    assert_eq!(first.bytes, half as u64);
    std::fs::write(&path, &whole).unwrap();
    let mut child = sync();
    let begun = Instant::now();
    while facts().bytes == first.bytes {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for new lines");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What is there is what the file was at some time: some of what is new, or all of it on a machine with other things to do.
    let cut = usize::try_from(facts().bytes).unwrap();
    assert!(cut > half, "{cut} of {}", whole.len());
    assert!(exact(&store, &first.id).unwrap() == whole[..cut]);
    assert!(sync().wait().unwrap().success());
    assert!(exact(&store, &first.id).unwrap() == whole);
    assert!(watching.verify().unwrap().problems.is_empty());
}

#[test]
fn projects_move() {
    let scene = Scene::new();
    let bytes = session(Family::Pi, 6, 20_000);
    std::fs::write(scene.folder().join("one.jsonl"), bytes).unwrap();
    let file = scene.folder().join("one.jsonl").to_string_lossy().into_owned();
    scene.run(["import", &file]).ok().text();
    let list = |scene: &Scene| -> serde_json::Value {
        serde_json::from_str(scene.run(["--json", "ls"]).ok().text().lines().next().unwrap())
            .unwrap()
    };
    let before = list(&scene);
    let (id, cwd) = (before["id"].as_str().unwrap(), before["cwd"].as_str().unwrap());
    let told = scene.run(["move", id, "/new/place"]).ok().text();
    assert_eq!(told, format!("{id} is in /new/place now\n"));
    assert_eq!(list(&scene)["cwd"], "/new/place");
    assert_eq!(
        scene.run(["relocate", "/new", "/newer"]).ok().text(),
        "1 session is below /newer now\n"
    );
    assert_eq!(list(&scene)["cwd"], "/newer/place");
    scene.run(["move", id, cwd]).ok().text();
    assert_eq!(list(&scene), before);
}

/// A watch that a system runs as a service, on the programs' folders in a home folder.
#[cfg(target_os = "linux")]
mod service {
    use std::path::PathBuf;

    use super::*;
    use crate::scene::{file, finished, header, message};

    struct Service {
        scene: Scene,
        child: Child,
    }

    impl Service {
        /// Starts it; `before` is done by a shell.
        fn start(before: &str) -> Self {
            let scene = Scene::new();
            let home = scene.folder().join("home");
            std::fs::create_dir(&home).unwrap();
            let mut shell = Command::new("sh");
            shell.env("HOME", &home).env("LEAFLINE_STORE", scene.store());
            for family in leafline::Family::ALL {
                for name in family.folder_variables() {
                    shell.env_remove(name);
                }
            }
            shell.args([
                "-c",
                &format!("{before} exec \"$@\""),
                "sh",
                env!("CARGO_BIN_EXE_leafline"),
            ]);
            shell
                .args(["sync", "--watch", "--quiet"])
                .stderr(Stdio::piped())
                .stdout(Stdio::piped());
            let child = shell.spawn().unwrap();
            wait_for("the store", || scene.store().exists());
            Self { scene, child }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.scene.folder().join("home").join(name)
        }

        /// Writes a session of so many entries into a program's folder.
        fn write(&self, name: &str, id: &str, entries: usize) -> Vec<u8> {
            let lines = (0..entries).map(|place| message(&format!("{place:08x}"), None, "Hi"));
            let bytes = file([header(id)].into_iter().chain(lines));
            let path = self.at(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &bytes).unwrap();
            bytes
        }

        #[track_caller]
        fn wait_for(&self, id: &str, bytes: &[u8]) {
            wait_for(id, || exact(&self.scene.store(), id).as_deref() == Some(bytes));
        }

        /// Ends it as a system does; gives what it has said.
        fn end(self) -> String {
            let id = self.child.id().to_string();
            assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
            let run = finished(self.child.wait_with_output().unwrap());
            assert_eq!(run.status, 0, "{}", run.stderr);
            run.stderr
        }
    }

    #[test]
    fn a_service_sees_folders_that_come_later_and_stores_that_are_replaced() {
        let mut service = Service::start("");
        let pi = ".pi/agent/sessions/--work--";
        let first = service.write(&format!("{pi}/one.jsonl"), "one", 1);
        service.wait_for("one", &first);
        // One file that fails keeps no other.
        let broken = service.at(&format!("{pi}/broken.jsonl"));
        std::os::unix::fs::symlink("nowhere", broken).unwrap();
        let omp = service.write(".omp/agent/sessions/-work/two.jsonl", "two", 2);
        service.wait_for("two", &omp);
        // A folder that is another one.
        std::fs::remove_dir_all(service.at(".pi")).unwrap();
        let third = service.write(&format!("{pi}/three.jsonl"), "three", 3);
        service.wait_for("three", &third);
        // The store is closed once it is quiet: it can be compacted.
        wait_for("a compaction", || service.scene.run(["compact"]).status == 0);
        let more = service.write(&format!("{pi}/one.jsonl"), "one", 4);
        service.wait_for("one", &more);
        // While it is away, as its disk may be, none is made in its place.
        wait_for("the end of writing", || service.scene.run(["compact"]).status == 0);
        let away = service.scene.folder().join("away");
        std::fs::rename(service.scene.store(), &away).unwrap();
        let new = service.write(&format!("{pi}/four.jsonl"), "four", 1);
        let mut said = BufReader::new(service.child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().ends_with("goes on once it is back")));
        assert!(!service.scene.store().exists());
        std::fs::rename(&away, service.scene.store()).unwrap();
        service.wait_for("four", &new);
        service.wait_for("three", &third);
        service.end();
    }

    #[test]
    fn a_service_goes_on_when_a_full_disk_has_room_again() {
        let service = Service::start("ulimit -S -f unlimited;");
        let one = service.write(".pi/agent/sessions/--work--/one.jsonl", "one", 1);
        service.wait_for("one", &one);
        let id = service.child.id().to_string();
        let limit = |bytes: &str| {
            let limit = format!("--fsize={bytes}:");
            Command::new("prlimit").args(["--pid", &id, &limit]).status().unwrap().success()
        };
        if !limit("4096") {
            return println!("skipped: no prlimit");
        }
        let many = service.write(".pi/agent/sessions/--work--/many.jsonl", "many", 2_000);
        // Time for several tries.
        std::thread::sleep(Duration::from_secs(6));
        assert!(exact(&service.scene.store(), "many").is_none());
        assert!(limit("unlimited"));
        service.wait_for("many", &many);
        let said = service.end();
        assert!(!said.is_empty() && said.lines().count() < 20, "{said}");
    }
}
