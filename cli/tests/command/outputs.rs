//! What a command writes out never takes the place of what must stay: a store, a device, a pipe, a link, a folder.

use crate::scene::{PI_3, Run, SAMPLES, Scene, file, header, message, on_samples, path, sample};

/// What a store was before a command that must not touch it.
struct Untouched<'a> {
    scene: &'a Scene,
    bytes: Vec<u8>,
}

impl<'a> Untouched<'a> {
    fn new(scene: &'a Scene) -> Self {
        Self { scene, bytes: std::fs::read(scene.store()).unwrap() }
    }

    /// Panics unless the run failed with a complaint of this, and the store is what it was.
    #[track_caller]
    fn after(&self, run: Run, complaint: &str) {
        let said = run.fails(1);
        assert!(said.contains(complaint), "{said}");
        assert!(std::fs::read(self.scene.store()).unwrap() == self.bytes, "the store has changed");
    }
}

/// A store of one small session, `other`, beside the scene's.
fn other_store(scene: &Scene, name: &str) -> std::path::PathBuf {
    let session = scene.write("other.jsonl", &file([header("other"), message("a", None, "x")]));
    let store = scene.folder().join(name);
    scene.run(["import", path(&session), "--store", path(&store)]).ok();
    store
}

#[test]
fn the_store_in_use_is_no_output() {
    let scene = Scene::of_samples();
    let untouched = Untouched::new(&scene);
    let detour = scene.folder().join("new/../store.leafline");
    std::fs::create_dir(scene.folder().join("new")).unwrap();
    let hard = scene.folder().join("hard.jsonl");
    std::fs::hard_link(scene.store(), &hard).unwrap();
    for name in [&scene.store(), &detour, &hard] {
        untouched.after(scene.run(["export", PI_3, "-o", path(name)]), "is the store in use");
        untouched.after(scene.run(["history", "export", path(name)]), "is the store in use");
        untouched.after(scene.run(["export", "--all", "-o", path(name)]), "is the store in use");
    }
    assert!(scene.run(["verify"]).ok().text().contains(&format!("{SAMPLES} sessions, ")));
}

#[test]
fn the_store_in_use_is_known_by_a_relative_path() {
    let scene = Scene::of_samples();
    let untouched = Untouched::new(&scene);
    let mut command = crate::scene::command(&scene.store());
    command.current_dir(scene.folder()).args(["export", PI_3, "-o", "store.leafline"]);
    let run = crate::scene::finished(command.output().unwrap());
    untouched.after(run, "is the store in use");
}

#[test]
fn another_store_is_no_output() {
    let scene = Scene::of_samples();
    let other = other_store(&scene, "other.leafline");
    let bytes = std::fs::read(&other).unwrap();
    for arguments in [
        &["export", PI_3, "-o", path(&other)][..],
        &["history", "export", path(&other)],
        &["export", "--all", "-o", path(&other)],
    ] {
        let said = scene.run(arguments.iter().copied()).fails(1);
        assert!(said.contains("other.leafline is a store"), "{said}");
        assert!(std::fs::read(&other).unwrap() == bytes, "{arguments:?}");
    }
}

/// A store whose last entries are in its journal only: their process was killed.
fn scene_with_journal() -> Scene {
    use std::io::{BufRead, BufReader, Write};
    let scene = Scene::of_session(&file([header("s"), message("a", None, "first")]));
    let mut child = crate::scene::command(&scene.store())
        .args(["append", "s"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let entry = r#"{"type":"message","message":{"role":"user","content":"next"}}"#;
    let mut ids = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        writeln!(child.stdin.as_mut().unwrap(), "{entry}").unwrap();
        assert_eq!(ids.next().unwrap().unwrap().len(), 8);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(scene.folder().join("store.leafline.journal").exists());
    scene
}

/// The files in a folder and below it, with their bytes.
fn files_below(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

/// Every command with an output of its own is given each place of what belongs to a store: by its name, by a hard link, in a
/// folder of it. The store in use is this one, or another one.
#[test]
fn nothing_that_belongs_to_a_store_is_an_output() {
    let scene = scene_with_journal();
    scene.run(["search", "first"]).ok();
    scene.run(["export", "s", "--redact"]);
    let at = |name: &str| scene.folder().join(name);
    std::fs::create_dir(at("store.leafline.terminals")).unwrap();
    std::fs::write(at("store.leafline.terminals/tty"), "/work\n").unwrap();
    std::fs::create_dir(at("links")).unwrap();
    for (name, link) in [("journal", "links/journal"), ("redaction-key", "links/key")] {
        std::fs::hard_link(at(&format!("store.leafline.{name}")), at(link)).unwrap();
    }
    let index = std::fs::read_dir(at("store.leafline.search")).unwrap();
    let index = index.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let own = scene.store();
    let other = other_store(&scene, "other.leafline");
    let before = files_below(scene.folder());
    let outputs = [
        at("store.leafline.journal"),
        at("links/journal"),
        at("links/../store.leafline.journal"),
        at("store.leafline.redaction-key"),
        at("store.leafline.terminals"),
        at("store.leafline.terminals/tty"),
        at("store.leafline.search"),
        at("store.leafline.search/new/file"),
        index.join("meta.json"),
        at("other.leafline.journal"),
        at("other.leafline.search/file"),
    ];
    for (number, output) in outputs.iter().enumerate() {
        let to = path(output);
        let (store, session) = [(&own, "s"), (&other, "other")][number % 2];
        for arguments in [
            &["export", session, "-o", to][..],
            &["export", session, "--as", "html", "-o", to],
            &["export", "--all", "-o", to],
            &["history", "export", to],
            &["backup", to],
            &["salvage", path(store), "-o", to],
            &["man", to],
        ] {
            let run = crate::scene::run_on(store, arguments.iter().copied());
            let said = [" of a store", "it is a folder", "write one file"];
            let is_said = said.iter().any(|said| run.stderr.contains(said));
            assert!(run.status > 0 && is_said, "{arguments:?}: {}", run.stderr);
        }
    }
    // The key has no beginning of its own: by another name only its store knows it.
    let said = scene.run(["export", "s", "-o", path(&at("links/key"))]).fails(1);
    assert!(said.contains("the redaction key of a store"), "{said}");
    let after = files_below(scene.folder());
    assert_eq!(after.len(), before.len());
    for (was, is) in before.iter().zip(&after).filter(|(was, _)| ![&own, &other].contains(&&was.0))
    {
        assert!(was == is, "{} and {}", was.0.display(), is.0.display());
    }
    assert_eq!(scene.run(["--json", "show", "s"]).ok().json()["entries"], 6);
}

#[test]
fn a_journal_among_the_files_of_a_folder_stays() {
    let scene = scene_with_journal();
    let journal = scene.folder().join("store.leafline.journal");
    let all = scene.folder().join("all");
    scene.run(["export", "--all", "-o", path(&all)]).ok();
    for (place, bytes) in files_below(&all) {
        std::fs::remove_file(&place).unwrap();
        std::fs::hard_link(&journal, &place).unwrap();
        let before = std::fs::read(&journal).unwrap();
        let run = scene.run(["export", "--all", "--replace", "-o", path(&all)]);
        let said = format!("{}{}", run.text(), run.stderr);
        assert!(run.status == 1 && said.contains("is the journal of a store"), "{said}");
        assert!(std::fs::read(&journal).unwrap() == before, "{}", place.display());
        std::fs::remove_file(&place).unwrap();
        std::fs::write(&place, bytes).unwrap();
    }
}

#[test]
fn a_store_in_the_place_of_a_session_stays_whatever_is_asked() {
    let scene = Scene::of_samples();
    let all = scene.folder().join("all");
    scene.run(["export", "--all", "-o", path(&all)]).ok();
    let told = scene.run(["export", "--all", "--json", "-o", path(&all)]).ok().json_lines();
    let told = told.iter().find(|told| told["session"] == PI_3).unwrap();
    let place = std::path::PathBuf::from(told["path"].as_str().unwrap());

    let untouched = Untouched::new(&scene);
    std::fs::remove_file(&place).unwrap();
    std::fs::hard_link(scene.store(), &place).unwrap();
    for arguments in [
        &["export", "--all", "-o", path(&all)][..],
        &["export", "--all", "--replace", "-o", path(&all)],
    ] {
        let run = scene.run(arguments.iter().copied());
        assert!(run.text().contains("is the store in use"), "{}", run.text());
        assert!(run.text().contains("17 unchanged"), "{}", run.text());
        untouched.after(run, "could not be exported");
    }
    std::fs::remove_file(&place).unwrap();
    let other = other_store(&scene, path(&place));
    let bytes = std::fs::read(&other).unwrap();
    let run = scene.run(["export", "--all", "--replace", "-o", path(&all)]);
    assert!(run.text().contains("is a store"), "{}", run.text());
    run.fails(1);
    assert!(std::fs::read(&other).unwrap() == bytes);
}

#[test]
fn a_store_in_the_place_of_the_manifest_stays() {
    let scene = Scene::of_samples();
    let all = scene.folder().join("all");
    std::fs::create_dir(&all).unwrap();
    std::fs::hard_link(scene.store(), all.join(".leafline-manifest")).unwrap();
    let untouched = Untouched::new(&scene);
    untouched.after(scene.run(["export", "--all", "-o", path(&all)]), "is the store in use");
    assert_eq!(std::fs::read_dir(&all).unwrap().count(), 1, "nothing was written");
}

#[test]
fn a_store_in_the_place_of_a_blob_stays() {
    use crate::scene::{BLOB, OMP_3};
    let scene = Scene::of_samples();
    let blobs = scene.folder().join("blobs");
    std::fs::create_dir(&blobs).unwrap();
    std::fs::hard_link(scene.store(), blobs.join(BLOB)).unwrap();
    let untouched = Untouched::new(&scene);
    let out = scene.folder().join("out.jsonl");
    let refs = ["--as", "refs", "--blobs", path(&blobs)];
    let one = ["export", OMP_3, "-o", path(&out)].into_iter().chain(refs);
    untouched.after(scene.run(one), "is the store in use");
    assert!(!out.exists());

    let store = scene.store();
    let refs = ["export", OMP_3, "--as", "refs", "--blobs", path(&store)];
    let run = scene.run(refs);
    assert!(run.stdout.is_empty(), "{}", run.text());
    untouched.after(run, "store.leafline");
    let all = scene.folder().join("all");
    let refs = ["export", "--all", "-o", path(&all), "--as", "refs", "--blobs", path(&store)];
    untouched.after(scene.run(refs), "is the store in use");
    assert!(!all.exists(), "nothing was written");
}

#[test]
fn a_folder_is_no_file() {
    let scene = Scene::new();
    let full = scene.write("folder/kept", b"kept");
    let folder = full.parent().unwrap();
    let said = on_samples(["history", "export", path(folder)]).fails(1);
    assert!(said.contains("it is a folder"), "{said}");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(scene.folder()).unwrap().count(), 1);
    let slash = format!("{}/", path(&full));
    for arguments in [&["--all", "-o", path(&full)][..], &[PI_3, "-o", &slash]] {
        let said = on_samples(["export"].iter().chain(arguments).copied()).fails(1);
        let is_said = said.contains("it is not a folder") || said.contains("Not a directory");
        assert!(is_said && said.contains(path(&full)), "{said}");
    }
    assert_eq!(std::fs::read(full).unwrap(), b"kept");
}

#[test]
fn a_dash_is_standard_output() {
    let run = on_samples(["export", PI_3, "-o", "-"]).ok();
    assert!(run.stdout == sample(PI_3), "{}", run.text());
    let run = on_samples(["--json", "export", PI_3, "--output=-"]).ok();
    assert!(run.stdout == sample(PI_3), "{}", run.text());
    let said = on_samples(["export", "--all", "-o", "-"]).fails(2);
    assert!(said.contains("--all") && said.contains("Usage"), "{said}");
}

#[cfg(unix)]
mod unix {
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::path::PathBuf;
    use std::process::{Command, Stdio};

    use super::{Untouched, other_store};
    use crate::scene::{
        BLOB, OMP_3, PI_1, PI_3, Scene, command, finished, on_samples, path, sample,
    };

    #[test]
    fn a_link_to_a_store_is_no_output() {
        let scene = Scene::of_samples();
        let untouched = Untouched::new(&scene);
        let (link, second) = (scene.folder().join("link"), scene.folder().join("second"));
        symlink("store.leafline", &link).unwrap();
        symlink(&link, &second).unwrap();
        for link in [&link, &second] {
            untouched.after(scene.run(["export", PI_3, "-o", path(link)]), "is the store in use");
            untouched.after(scene.run(["history", "export", path(link)]), "is the store in use");
        }
        // The store may be the one that is named by a link.
        let store = scene.store();
        let run = scene.run(["export", PI_3, "-o", path(&store), "--store", path(&second)]);
        untouched.after(run, "is the store in use");

        let other = other_store(&scene, "other.leafline");
        let bytes = std::fs::read(&other).unwrap();
        let link = scene.folder().join("to-other");
        symlink(&other, &link).unwrap();
        let said = scene.run(["export", PI_3, "-o", path(&link)]).fails(1);
        assert!(said.contains("to-other is a store"), "{said}");
        assert!(std::fs::read(&other).unwrap() == bytes);
    }

    #[test]
    fn links_in_folders_to_a_store_are_refused() {
        let scene = Scene::of_samples();
        let untouched = Untouched::new(&scene);
        let (all, blobs) = (scene.folder().join("all"), scene.folder().join("blobs"));
        std::fs::create_dir(&all).unwrap();
        std::fs::create_dir(&blobs).unwrap();
        symlink(scene.store(), blobs.join(BLOB)).unwrap();
        let refs = ["export", OMP_3, "--as", "refs", "--blobs", path(&blobs)];
        untouched.after(scene.run(refs), "is the store in use");
        symlink(scene.store(), all.join(".leafline-manifest")).unwrap();
        untouched.after(scene.run(["export", "--all", "-o", path(&all)]), "is the store in use");
        assert!(all.join(".leafline-manifest").is_symlink());
    }

    #[test]
    fn standard_output_is_not_the_store() {
        let scene = Scene::of_samples();
        let untouched = Untouched::new(&scene);
        for arguments in [&["export", PI_3][..], &["ls"], &["history", "add", "prompt"]] {
            let out = std::fs::File::options().append(true).open(scene.store()).unwrap();
            let run = command(&scene.store()).args(arguments).stdout(out).output().unwrap();
            untouched.after(finished(run), "standard output");
        }
    }

    #[test]
    fn standard_output_is_no_journal_of_any_store() {
        let scene = super::scene_with_journal();
        let other = other_store(&scene, "other.leafline");
        let journal = scene.folder().join("store.leafline.journal");
        let before = std::fs::read(&journal).unwrap();
        for (store, session) in [(scene.store(), "s"), (other, "other")] {
            let out = std::fs::File::options().append(true).open(&journal).unwrap();
            let run = command(&store).args(["export", session]).stdout(out).output().unwrap();
            let said = finished(run).fails(1);
            assert!(said.contains("is the journal of a store"), "{said}");
            assert!(std::fs::read(&journal).unwrap() == before);
        }
    }

    #[test]
    fn a_pipe_is_written_and_stays() {
        let scene = Scene::new();
        let fifo = fifo(&scene, "fifo");
        let mut reader = Command::new("cat").arg(&fifo).stdout(Stdio::piped()).spawn().unwrap();
        let mut from_reader = reader.stdout.take().unwrap();
        let read = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            from_reader.read_to_end(&mut bytes).map(|_| bytes)
        });
        let run = on_samples(["export", PI_3, "-o", path(&fifo)]);
        let is_fifo = std::fs::metadata(&fifo).unwrap().file_type().is_fifo();
        if !is_fifo {
            // It would wait for a writer for ever.
            reader.kill().unwrap();
        }
        reader.wait().unwrap();
        assert!(is_fifo, "the pipe was replaced");
        assert!(run.ok().text().contains("written"));
        assert!(read.join().unwrap().unwrap() == sample(PI_3));
        assert_eq!(std::fs::read_dir(scene.folder()).unwrap().count(), 1, "nothing beside it");
    }

    #[test]
    fn pipes_and_devices_are_no_history_and_no_file_of_a_folder() {
        let scene = Scene::of_samples();
        let fifo = fifo(&scene, "fifo");
        let said = scene.run(["history", "export", path(&fifo)]).fails(1);
        assert!(said.contains("fifo") && said.contains("not a file"), "{said}");
        let device = null_device(&scene);
        let said = scene.run(["history", "export", path(&device)]).fails(1);
        assert!(said.contains("not a file"), "{said}");
        // Whoever opened the pipe in the place of the manifest would wait for ever.
        let all = scene.folder().join("all");
        std::fs::create_dir(&all).unwrap();
        self::fifo(&scene, "all/.leafline-manifest");
        let said = scene.run(["export", "--all", "-o", path(&all)]).fails(1);
        assert!(said.contains(".leafline-manifest"), "{said}");
        let blobs = scene.folder().join("blobs");
        std::fs::create_dir(&blobs).unwrap();
        self::fifo(&scene, &format!("blobs/{BLOB}"));
        let said = scene.run(["export", OMP_3, "--as", "refs", "--blobs", path(&blobs)]).fails(1);
        assert!(said.contains(BLOB), "{said}");
    }

    #[test]
    fn a_device_is_written_and_stays() {
        let scene = Scene::new();
        let device = null_device(&scene);
        let link = scene.folder().join("link");
        symlink(&device, &link).unwrap();
        for name in [&device, &link] {
            on_samples(["export", PI_3, "-o", path(name)]).ok();
            assert!(std::fs::metadata(name).unwrap().file_type().is_char_device());
        }
        assert!(link.is_symlink());
    }

    #[test]
    fn a_socket_is_refused_and_stays() {
        let scene = Scene::new();
        let place = scene.folder().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&place).unwrap();
        on_samples(["export", PI_3, "-o", path(&place)]).fails(1);
        assert!(std::fs::metadata(&place).unwrap().file_type().is_socket());
    }

    #[test]
    fn standard_output_by_its_name_gets_the_session_alone() {
        let scene = Scene::new();
        // By a link of our own: what goes wrong replaces that, and not the system's.
        let link = scene.folder().join("link");
        symlink("/dev/fd/1", &link).unwrap();
        let run = on_samples(["export", PI_3, "-o", path(&link)]).ok();
        assert!(run.stdout == sample(PI_3), "{}", run.text());
        assert!(link.is_symlink());
    }

    #[test]
    fn what_an_open_file_holds_stays_before_the_session() {
        let scene = Scene::of_samples();
        let link = scene.folder().join("link");
        for number in [1, 3] {
            let held = scene.write("held", b"held\n");
            let _ = std::fs::remove_file(&link);
            symlink(format!("/dev/fd/{number}"), &link).unwrap();
            let script = format!("exec \"$0\" \"$@\" {number}>>{}", path(&held));
            let mut shell = Command::new("sh");
            shell.env("LEAFLINE_STORE", scene.store()).stdin(Stdio::null());
            shell.args(["-c", &script, env!("CARGO_BIN_EXE_leafline")]);
            finished(shell.args(["export", PI_3, "-o", path(&link)]).output().unwrap()).ok();
            let expected = [b"held\n".to_vec(), sample(PI_3)].concat();
            assert!(std::fs::read(&held).unwrap() == expected, "descriptor {number}");
        }
    }

    #[test]
    fn the_file_behind_a_link_is_written_and_the_link_stays() {
        let scene = Scene::of_samples();
        let real = scene.write("elsewhere/real.jsonl", b"old");
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
        let (link, second) = (scene.folder().join("link"), scene.folder().join("second"));
        symlink("elsewhere/real.jsonl", &link).unwrap();
        symlink("link", &second).unwrap();
        for (link, id) in [(&link, PI_3), (&second, OMP_3)] {
            scene.run(["export", id, "-o", path(link)]).ok();
            assert!(link.is_symlink());
            assert!(std::fs::read(&real).unwrap() == sample(id));
        }
        let mode = std::fs::metadata(&real).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "whoever may not read it still may not");
        assert_eq!(std::fs::read_dir(real.parent().unwrap()).unwrap().count(), 1);

        let dangling = scene.folder().join("dangling");
        symlink("elsewhere/new.jsonl", &dangling).unwrap();
        scene.run(["export", PI_3, "-o", path(&dangling)]).ok();
        assert!(dangling.is_symlink() && std::fs::read(&dangling).unwrap() == sample(PI_3));

        scene.run(["history", "add", "a prompt"]).ok();
        let history = scene.folder().join("history");
        symlink("elsewhere/history.db", &history).unwrap();
        for copied in [1, 0] {
            let told = scene.run(["history", "export", "--json", path(&history)]).ok().json();
            assert_eq!(told["copied"], copied);
            assert!(history.is_symlink());
        }
        let ring = scene.folder().join("ring");
        symlink("ring", &ring).unwrap();
        scene.run(["export", PI_3, "-o", path(&ring)]).fails(1);
        assert!(ring.is_symlink());
    }

    #[test]
    fn a_link_in_a_folder_stays_and_is_not_written_through() {
        let scene = Scene::of_samples();
        let all = scene.folder().join("all");
        scene.run(["export", "--all", "-o", path(&all)]).ok();
        let told = scene.run(["export", "--all", "--json", "-o", path(&all)]).ok().json_lines();
        let told = told.iter().find(|told| told["session"] == PI_1).unwrap();
        let place = PathBuf::from(told["path"].as_str().unwrap());
        let real = scene.folder().join("real.jsonl");
        std::fs::rename(&place, &real).unwrap();
        symlink(&real, &place).unwrap();
        scene.run(["name", "--set", "Another name", PI_1]).ok();
        let before = std::fs::read(&real).unwrap();
        let run = scene.run(["export", "--all", "-o", path(&all)]);
        assert!(run.text().contains("17 unchanged, 1 kept"), "{}", run.text());
        run.fails(1);
        assert!(place.is_symlink());
        assert!(std::fs::read(&real).unwrap() == before);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let scene = Scene::of_samples();
        let out = scene.write("new/out.jsonl", b"old");
        let limited = |before: &str| {
            let script = format!("{before} ulimit -f 1; exec \"$0\" \"$@\"");
            let mut shell = Command::new("sh");
            shell.env("LEAFLINE_STORE", scene.store()).stdin(Stdio::null());
            shell.args(["-c", &script, env!("CARGO_BIN_EXE_leafline")]);
            shell.args(["export", PI_3, "-o", path(&out)]).output().unwrap()
        };
        for before in ["", "trap '' XFSZ;"] {
            let said = finished(limited(before)).fails(1);
            assert!(said.contains("out.jsonl"), "{said}");
            assert_eq!(std::fs::read_dir(out.parent().unwrap()).unwrap().count(), 1);
        }
        assert_eq!(std::fs::read(&out).unwrap(), b"old");
        scene.run(["export", PI_3, "-o", path(&out)]).ok();
        assert_eq!(std::fs::read_dir(out.parent().unwrap()).unwrap().count(), 1, "tidied up");
    }

    fn fifo(scene: &Scene, name: &str) -> PathBuf {
        let fifo = scene.folder().join(name);
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        fifo
    }

    /// A device of our own where one can be made, so that the system's is in no danger; who cannot make one cannot
    /// replace the system's either.
    fn null_device(scene: &Scene) -> PathBuf {
        let device = scene.folder().join("null");
        let mut make = Command::new("mknod");
        make.arg(&device).args(["c", "1", "3"]).stderr(Stdio::null());
        let is_made = make.status().is_ok_and(|status| status.success());
        match is_made && std::fs::File::options().write(true).open(&device).is_ok() {
            true => device,
            false => PathBuf::from("/dev/null"),
        }
    }
}
