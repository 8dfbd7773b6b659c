//! A store that several users of the machine write to.

use std::fs::{Permissions, set_permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::scene::{Run, Scene, command, file, finished, header, message};

/// A user that has no right to root's files.
const USER: u32 = 65_534;

/// Whether this process can run commands as another user.
fn can_change_users() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("not tried: only root can run commands as another user");
    }
    is_root
}

/// The command, where the other user can run it.
fn program(folder: &Path) -> PathBuf {
    let program = folder.join("leafline");
    if !program.exists() {
        let own = command(Path::new("x"));
        // The folders above it may be closed to others.
        std::fs::hard_link(own.get_program(), &program)
            .or_else(|_| std::fs::copy(own.get_program(), &program).map(drop))
            .unwrap();
    }
    program
}

/// The command as the other user runs it.
fn as_user(scene: &Scene) -> Command {
    let mut command = Command::new(program(scene.folder()));
    command.arg("--store").arg(scene.store()).env("HOME", scene.folder());
    command.current_dir(scene.folder()).uid(USER).gid(USER);
    command
}

const ENTRY: &str = r#"{"type":"message","message":{"role":"user","content":"next"}}"#;

/// A store of the other user's, with a session.
fn scene_of_user() -> Scene {
    let scene = Scene::of_session(&file([header("s"), message("a1", None, "first")]));
    set_permissions(scene.folder(), Permissions::from_mode(0o777)).unwrap();
    chown(scene.store(), Some(USER), Some(USER)).unwrap();
    set_permissions(scene.store(), Permissions::from_mode(0o600)).unwrap();
    scene
}

fn journal(scene: &Scene) -> PathBuf {
    scene.folder().join("store.leafline.journal")
}

/// Appends so often through one process.
fn append(mut command: Command, count: usize) -> Run {
    let mut child = begin(&mut command);
    write(&mut child, count);
    drop(child.stdin.take());
    finished(child.wait_with_output().unwrap())
}

fn begin(command: &mut Command) -> Child {
    let command = command.args(["append", "s", "--sync", "each"]).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn write(child: &mut Child, count: usize) {
    for _ in 0..count {
        writeln!(child.stdin.as_mut().unwrap(), "{ENTRY}").unwrap();
    }
}

/// Appends as root, and is killed once that is acknowledged.
fn append_as_root_and_die(scene: &Scene, count: usize) {
    use std::io::{BufRead, BufReader};
    let mut child = begin(&mut command(&scene.store()));
    write(&mut child, count);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.take(count).flatten().count(), count);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// It says that others may read the journal, once.
fn done(run: &Run) {
    assert_eq!(run.status, 0, "{}", run.stderr);
}

fn entries(scene: &Scene) -> usize {
    let shown = as_user(scene).args(["export", "s"]).output().unwrap();
    finished(shown).ok().text().matches("next").count()
}

#[test]
fn a_store_that_root_has_written_to_stays_its_owners() {
    if !can_change_users() {
        return;
    }
    for is_killed in [false, true] {
        let scene = scene_of_user();
        if is_killed {
            append_as_root_and_die(&scene, 5);
        } else {
            append(command(&scene.store()), 5).ok();
        }
        let facts = std::fs::metadata(journal(&scene)).unwrap();
        assert_eq!((facts.uid(), facts.gid(), facts.mode() & 0o777), (USER, USER, 0o600));
        append(as_user(&scene), 4).ok();
        assert_eq!(entries(&scene), 9);
    }
}

/// As earlier versions left it, or as somebody has made it.
#[test]
fn a_journal_of_another_user_is_not_given_up() {
    if !can_change_users() {
        return;
    }
    for mode in [0o600, 0o644] {
        let scene = scene_of_user();
        append_as_root_and_die(&scene, 5);
        let journal = journal(&scene);
        chown(&journal, Some(0), Some(0)).unwrap();
        set_permissions(&journal, Permissions::from_mode(mode)).unwrap();
        let run = append(as_user(&scene), 4);
        if mode == 0o600 {
            let said = run.fails(1);
            assert!(said.contains("belongs to user 0") && said.contains("leave it"), "{said}");
            assert!(!said.contains("move it away"), "{said}");
            let shown = finished(as_user(&scene).args(["ls"]).output().unwrap()).fails(1);
            assert!(shown.contains("belongs to user 0"), "{shown}");
            chown(&journal, Some(USER), Some(USER)).unwrap();
            assert_eq!(entries(&scene), 5);
            append(as_user(&scene), 4).ok();
        } else {
            done(&run);
        }
        assert_eq!(entries(&scene), 9, "{mode:o}");
    }
}

/// A user who may only read a journal in use appends with commits.
#[test]
fn who_may_not_write_the_journal_appends_to_the_tables() {
    use std::io::{BufRead, BufReader};
    if !can_change_users() {
        return;
    }
    let scene = scene_of_user();
    let mut root = begin(&mut command(&scene.store()));
    let mut ids = BufReader::new(root.stdout.take().unwrap()).lines();
    let mut append_as_root = |count| {
        write(&mut root, count);
        assert_eq!(ids.by_ref().take(count).flatten().count(), count);
    };
    append_as_root(4);
    let journal = journal(&scene);
    chown(&journal, Some(0), Some(0)).unwrap();
    set_permissions(&journal, Permissions::from_mode(0o644)).unwrap();
    done(&append(as_user(&scene), 3));
    append_as_root(2);
    done(&append(as_user(&scene), 1));
    assert_eq!(entries(&scene), 10);
    drop(root.stdin.take());
    assert!(root.wait().unwrap().success());
    assert_eq!(entries(&scene), 10);
    let verified = finished(as_user(&scene).arg("verify").output().unwrap()).ok().text();
    assert!(verified.contains("no problems"), "{verified}");
}
