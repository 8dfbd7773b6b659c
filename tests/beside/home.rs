//! Files that a program keeps of a session elsewhere in its home, in folders named by the session's id.

use std::path::PathBuf;

use leafline::export::ExportOptions;
use leafline::import::ImportOptions;

use super::place::Place;
use super::{CLAUDE, PI, Scene, age, binary, files, named, numbers, sample, sync};

/// Writes a file to a folder for the session in a home of Claude Code's, long ago.
fn keep_in_home(scene: &Scene, home: &str, name: &str, bytes: &[u8]) {
    age(&scene.0.write(&format!("{home}{}", name.replace("ID", CLAUDE)), bytes), 100);
}

#[test]
fn what_a_program_keeps_in_its_home_is_the_sessions() {
    let scene = Scene::new(&[("tool-results/1.txt", b"1")]);
    let long = binary(2_000_000);
    let kept: [(&str, &[u8]); 5] = [
        ("file-history/ID/3f@v1", &long),
        ("image-cache/ID/1.png", b"a picture"),
        ("tasks/ID/1.json", b"{}"),
        ("uploads/ID/in/data.jsonl", b"{\"no\":\"session\"}\n"),
        ("uploads/ID/in/session.jsonl", &sample(PI)),
    ];
    for (name, bytes) in kept {
        keep_in_home(&scene, "", name, bytes);
    }
    scene.0.write(&format!("file-history/{PI}/3f@v1"), "of no session here");
    scene.0.write(&format!("debug/{CLAUDE}/1.txt"), "of another folder");
    scene.0.write("tasks/list/1.json", "of no id");
    scene.0.write(&format!("tasks/{CLAUDE}.json"), "in no folder");
    assert_eq!(scene.sync().taken, 6);
    let mut expected: Vec<_> =
        kept.iter().map(|(name, bytes)| (name.replace("ID", CLAUDE), bytes.to_vec())).collect();
    expected.insert(3, ("tool-results/1.txt".to_owned(), b"1".to_vec()));
    assert_eq!(scene.files(CLAUDE), expected);
    assert_eq!(scene.0.store.sessions().unwrap().len(), 2, "an uploaded file is not a session");
    assert_eq!(scene.0.store.statistics().unwrap().beside.count, 6);
    scene.0.assert_sound();

    // Of a file that is named, too; of a folder there; and when the session's file is gone.
    let file = scene.folder().join("-work").join(format!("{CLAUDE}.jsonl"));
    keep_in_home(&scene, "", "tasks/ID/2.json", b"2");
    assert_eq!(sync(&scene.0.store, &file).0.taken, 1);
    std::fs::remove_file(&file).unwrap();
    keep_in_home(&scene, "", "tasks/ID/3.json", b"3");
    assert_eq!(sync(&scene.0.store, &scene.0.path(&format!("tasks/{CLAUDE}"))).0.taken, 1);
    assert_eq!(scene.files(CLAUDE).len(), 8);

    // They are exported to their places in the folder, and are the session's again when that is imported.
    let to = scene.0.path("exported");
    scene.0.store.export_all(&to, &ExportOptions::default(), |_| {}).unwrap();
    assert_eq!(
        std::fs::read(to.join(format!("claude/file-history/{CLAUDE}/3f@v1"))).unwrap(),
        long
    );
    let again = Place::new();
    sync(&again.store, &to);
    assert_eq!(files(&again.store, CLAUDE), scene.files(CLAUDE));

    assert_eq!(scene.0.store.remove(CLAUDE).unwrap().files, 8);
    assert_eq!(numbers(&scene.sync()), [0; 5]);
    assert_eq!(scene.0.store.statistics().unwrap().beside.count, 0);
    scene.0.assert_sound();
}

#[test]
fn what_is_in_a_home_follows_its_session() {
    let scene = Scene::new(&[]);
    keep_in_home(&scene, "", "tasks/ID/1.json", b"1");
    assert_eq!(scene.sync().taken, 1);
    // A copy of the session in another home, rewritten, takes the place of the first.
    let text = String::from_utf8(sample(CLAUDE)).unwrap();
    let rewritten = text.replacen("\n", "\n\n", 1);
    let replace = |path: PathBuf| {
        let options = ImportOptions { replace: true, ..ImportOptions::default() };
        let totals = scene.0.store.import(&[path], &options, &mut ()).unwrap();
        assert_eq!(totals.failed, 0, "{totals:?}");
    };
    let place = format!("other/projects/-work/{CLAUDE}.jsonl");
    let other = scene.0.write(&place, sample(CLAUDE));
    keep_in_home(&scene, "other/", "tasks/ID/1.json", b"another");
    replace(other);
    std::fs::remove_dir_all(scene.folder()).unwrap();
    let other = scene.0.write(&place, &rewritten);
    replace(other);
    let name = format!("tasks/{CLAUDE}/1.json");
    let found = scene.files(CLAUDE);
    assert_eq!(found, named(&[(&name, b"another"), (&format!("{name}~2"), b"1")]));
    scene.0.assert_sound();
    // One that is in no home has them beside it.
    let place = format!("elsewhere/{CLAUDE}.jsonl");
    let elsewhere = scene.0.write(&place, &rewritten);
    replace(elsewhere);
    let elsewhere = scene.0.write(&place, rewritten.replacen("\n", "\n\n", 1));
    replace(elsewhere);
    assert_eq!(scene.files(CLAUDE), found);
    assert_eq!(scene.0.store.remove(CLAUDE).unwrap().files, 2);
    assert_eq!(scene.0.store.statistics().unwrap().beside.count, 0);
    scene.0.assert_sound();
}

#[test]
fn a_folder_of_a_home_is_of_one_session() {
    let scene = Scene::new(&[]);
    scene.sync();
    let text = String::from_utf8(sample(CLAUDE)).unwrap();
    // A second project of the home has a session with the id and other bytes.
    let second = text.replacen("\n", "\n\n", 1);
    scene.0.write(&format!("projects/-second/{CLAUDE}.jsonl"), second);
    keep_in_home(&scene, "", "tasks/ID/1.json", b"1");
    assert_eq!(scene.sync().taken, 1);
    let sessions = scene.0.store.sessions().unwrap();
    let counts = sessions.iter().map(|session| files(&scene.0.store, &session.id).len());
    assert_eq!(counts.sum::<usize>(), 1, "{sessions:?}");
    assert_eq!(scene.0.store.statistics().unwrap().beside.count, 1);
}
