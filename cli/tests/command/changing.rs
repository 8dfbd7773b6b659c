//! `leafline rm` and `compact`.

use crate::scene::{AGENTS, CLAUDE, OMP_3, PI_1, PI_3, SAMPLES, Scene, path, sample, samples};

#[test]
fn rm_deletes_and_tells_what_was_freed() {
    let scene = Scene::of_samples();
    let text = scene.run(["rm", "--yes", &PI_3[..9], OMP_3]).ok().text();
    assert_eq!(text.lines().count(), 2);
    assert!(text.contains(PI_3) && text.contains(OMP_3), "{text}");
    assert_eq!(scene.run(["ls", "--agents"]).ok().text().lines().count(), SAMPLES - 2);
    scene.run(["show", PI_3]).fails(1);
    assert_eq!(scene.run(["export", PI_1, "--as", "exact"]).ok().stdout, sample(PI_1));
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn agents_go_and_come_back_with_their_session() {
    let scene = Scene::of_samples();
    let listed = || scene.run(["ls", "--agents"]).ok().text().lines().count();
    let foretold = scene.run(["rm", CLAUDE, "--dry-run"]).ok().text();
    assert_eq!(foretold.lines().count(), 4, "{foretold}");
    let removed = scene.run(["rm", CLAUDE]).ok().text();
    let removed: Vec<&str> = removed.lines().collect();
    assert_eq!(removed.len(), 3, "{removed:?}");
    for (line, id) in removed.iter().zip([CLAUDE, AGENTS[0], AGENTS[1]]) {
        assert!(line.contains(id), "{line}");
    }
    assert_eq!(listed(), SAMPLES - 3);
    let project = samples().join("claude/projects/-home-robin-work-tide-clock");
    let file = project.join(format!("{CLAUDE}.jsonl"));
    scene.run(["import", path(&file)]).ok();
    assert_eq!(listed(), SAMPLES - 3);
    // One agent is in the folder next to the file, the other in the project's folder.
    scene.run(["import", "--restore", path(&file)]).ok();
    assert_eq!(listed(), SAMPLES - 1);
    scene.run(["import", "--restore", path(&project)]).ok();
    assert_eq!(listed(), SAMPLES);
    scene.run(["rm", AGENTS[0]]).ok();
    assert_eq!(listed(), SAMPLES - 1);
    scene.run(["verify"]).ok();
}

#[test]
fn agents_stay_as_long_as_a_session_with_their_starters_id_does() {
    let scene = Scene::of_samples();
    let message = r#"{"role":"user","content":"Another one"}"#;
    let other = format!(
        r#"{{"type":"user","uuid":"0b6d0d0e-6a53-4c0a-9b1f-0a4d5b7c2e11","parentUuid":null,"sessionId":"{CLAUDE}","timestamp":"2026-02-18T10:00:00.000Z","message":{message}}}"#
    );
    let file = scene.write(&format!("other/{CLAUDE}.jsonl"), format!("{other}\n").as_bytes());
    scene.run(["import", path(&file)]).ok();
    let lines = |run: crate::scene::Run| run.ok().text().lines().count();
    assert_eq!(lines(scene.run(["rm", CLAUDE, "--dry-run"])), 2);
    assert_eq!(lines(scene.run(["rm", CLAUDE])), 1);
    assert_eq!(lines(scene.run(["rm", &format!("{CLAUDE}~2")])), 3);
    scene.run(["verify"]).ok();
}

#[test]
fn rm_as_json() {
    let scene = Scene::of_samples();
    let lines = scene.run(["rm", OMP_3, "--json"]).ok().json_lines();
    assert_eq!(lines[0]["session"], OMP_3);
    assert!(lines[0]["blob_bytes"].as_u64().unwrap() > 0, "{}", lines[0]);
    assert_eq!(lines[0]["bytes"], sample(OMP_3).len() as u64);
}

#[test]
fn rm_of_an_unknown_session_deletes_none() {
    let scene = Scene::of_samples();
    scene.run(["rm", PI_3, "nothing"]).fails(1);
    scene.run(["rm"]).fails(2);
    assert_eq!(scene.run(["ls", "--agents"]).ok().text().lines().count(), SAMPLES);
}

#[test]
fn rm_of_a_session_named_twice_deletes_it_once() {
    let scene = Scene::of_samples();
    assert_eq!(scene.run(["rm", PI_3, &PI_3[..12]]).ok().text().lines().count(), 1);
}

#[test]
fn compact_gives_space_back() {
    let scene = Scene::of_samples();
    scene.run(["rm", "--yes", PI_3, OMP_3, PI_1]).ok();
    let before = std::fs::metadata(scene.store()).unwrap().len();
    let told = scene.run(["--json", "compact"]).ok().json();
    let after = std::fs::metadata(scene.store()).unwrap().len();
    assert_eq!((told["before"].as_u64(), told["after"].as_u64()), (Some(before), Some(after)));
    assert!(after <= before);
    assert!(scene.run(["compact"]).ok().text().contains("given back"));
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn compact_wants_the_store_for_itself() {
    let scene = Scene::of_samples();
    let store = leafline::Store::open(scene.store()).unwrap();
    let reader = store.reader(PI_3).unwrap();
    let complaint = scene.run(["compact"]).fails(1);
    assert!(complaint.contains("in use"), "{complaint}");
    drop(reader);
    drop(store);
    scene.run(["compact"]).ok();
}

#[test]
fn damage_is_a_problem_and_status_1() {
    let scene = Scene::of_samples();
    let mut builder = redb::Builder::new();
    builder.set_concurrency_mode(redb::ConcurrencyMode::MultiWriter);
    let database = builder.open(scene.store()).unwrap();
    let transaction = database.begin_write().unwrap();
    let entries = redb::TableDefinition::<(u64, &[u8]), &[u8]>::new("entries");
    transaction.open_table(entries).unwrap().retain(|_, _| false).unwrap();
    transaction.commit().unwrap();
    drop(database);

    let run = scene.run(["verify"]);
    let text = run.text();
    let problems = text.lines().filter(|line| line.starts_with("problem")).count();
    assert!(problems >= 7 && text.contains(PI_3), "{text}");
    let summary = text.lines().last().unwrap();
    assert!(summary.contains(&format!(": {problems} problems, ")), "{text}");
    run.fails(1);
    let one = scene.run(["verify", PI_1, "--json"]);
    assert_eq!(one.json()["problems"][0]["session"], PI_1);
    one.fails(1);
}
