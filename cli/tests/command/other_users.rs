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
            let facts = std::fs::metadata(journal(&scene)).unwrap();
            assert_eq!((facts.uid(), facts.gid(), facts.mode() & 0o777), (USER, USER, 0o600));
        } else {
            append(command(&scene.store()), 5).ok();
            assert!(!journal(&scene).exists());
        }
        append(as_user(&scene), 4).ok();
        assert_eq!(entries(&scene), 9);
    }
}

/// As somebody has made it.
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

/// The owner, the group and the mode of everything in the folder that belongs to the store.
fn rights(scene: &Scene) -> Vec<(PathBuf, (u32, u32, u32))> {
    let mut found = Vec::new();
    let mut folders = vec![scene.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let facts = entry.path().symlink_metadata().unwrap();
            if entry.file_name().to_string_lossy().starts_with("store.leafline.") && facts.is_dir()
            {
                folders.push(entry.path());
            }
            if entry.path().to_string_lossy().contains("store.leafline") {
                found.push((entry.path(), (facts.uid(), facts.gid(), facts.mode() & 0o777)));
            }
        }
    }
    found
}

/// As with `sudo`: root works on a store, and its owner and group go on with it.
#[test]
fn all_that_root_makes_of_a_store_has_the_stores_rights() {
    if !can_change_users() {
        return;
    }
    let works: [&[&str]; 5] = [
        &["search", "first"],
        &["compact"],
        &["repair", "--rebuild"],
        &["export", "--redact", "s"],
        &["new", "--family", "pi"],
    ];
    for mode in [0o600, 0o640] {
        for work in works {
            let scene = scene_of_user();
            set_permissions(scene.store(), Permissions::from_mode(mode)).unwrap();
            let mut root = command(&scene.store());
            // Its terminal is known by this.
            done(&finished(root.args(work).env("TMUX_PANE", "%7").output().unwrap()));
            for (path, found) in rights(&scene) {
                let mode = mode | if path.is_dir() { (mode & 0o444) >> 2 } else { 0 };
                let is_kept = path.to_string_lossy().contains(".damaged-");
                let expected = (USER, USER, if is_kept { found.2 } else { mode });
                assert_eq!(found, expected, "{work:?}: {}", path.display());
            }
            for own in [&["search", "first"][..], &["index", "--rebuild"], &["search", "first"]] {
                done(&finished(as_user(&scene).args(own).output().unwrap()));
            }
        }
        let scene = scene_of_user();
        set_permissions(scene.store(), Permissions::from_mode(mode)).unwrap();
        let at = |name: &str| scene.folder().join(name);
        let mut salvage = command(&scene.store());
        salvage.arg("salvage").arg(scene.store()).arg("-o").arg(at("saved"));
        let mut backup = command(&scene.store());
        backup.arg("backup").arg(at("copy"));
        for (mut work, made) in [(backup, at("copy")), (salvage, at("saved"))] {
            done(&finished(work.output().unwrap()));
            let facts = std::fs::metadata(&made).unwrap();
            let found = (facts.uid(), facts.gid(), facts.mode() & 0o777);
            assert_eq!(found, (USER, USER, mode), "{}", made.display());
        }
    }
}

/// The access control list of a file, as the system has it.
#[cfg(target_os = "linux")]
fn list(path: &Path) -> Option<Vec<u8>> {
    let mut list = vec![0; 256];
    let length = rustix::fs::getxattr(path, "system.posix_acl_access", &mut list[..]).ok()?;
    list.truncate(length);
    Some(list)
}

#[cfg(target_os = "linux")]
#[test]
fn a_store_keeps_its_access_control_list() {
    use rustix::fs::{XattrFlags, setxattr};
    let scene = Scene::of_session(&file([header("s"), message("a1", None, "first")]));
    // Of the version 2: the owner, user 12345, the group, the mask and others, with their rights.
    let entries = [
        (1_u16, 6_u16, u32::MAX),
        (2, 4, 12_345),
        (4, 0, u32::MAX),
        (16, 4, u32::MAX),
        (32, 0, u32::MAX),
    ];
    let mut given = 2_u32.to_le_bytes().to_vec();
    for (kind, rights, id) in entries {
        given.extend([&kind.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat());
    }
    let name = "system.posix_acl_access";
    if setxattr(scene.store(), name, &given, XattrFlags::empty()).is_err() {
        eprintln!("not tried: the file system has no access control lists");
        return;
    }
    for work in [&["compact"][..], &["repair", "--rebuild"], &["search", "first"]] {
        done(&finished(command(&scene.store()).args(work).output().unwrap()));
        assert_eq!(list(&scene.store()).as_ref(), Some(&given), "{work:?}");
    }
    append_as_root_and_die(&scene, 5);
    assert_eq!(list(&journal(&scene)).as_ref(), Some(&given));
    let copy = scene.folder().join("copy.leafline");
    done(&finished(command(&scene.store()).arg("backup").arg(&copy).output().unwrap()));
    assert_eq!(list(&copy).as_ref(), Some(&given));
}
