//! `leafline usage`.

use crate::scene::{CLAUDE, OMP_3, Scene, on_samples, path};

/// Two answers of one model on two days, with a cost and without one, and one of a model without a price.
const SESSION: &[u8] = br#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T23:30:00.000Z","cwd":"/work/a,b"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-03-01T23:30:00.000Z","message":{"role":"assistant","content":[],"model":"claude-opus-4-6","usage":{"input":10,"output":20,"cacheRead":30,"cacheWrite":40,"cost":{"total":1.25}}}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-03-02T12:00:00.000Z","message":{"role":"assistant","content":[],"model":"claude-opus-4-6","usage":{"input":1000000,"output":0,"cacheRead":0,"cacheWrite":0}}}
{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-03-02T12:00:01.000Z","message":{"role":"assistant","content":[],"model":"own","usage":{"input":7,"output":2,"reasoning":1,"cacheRead":0,"cacheWrite":0}}}
"#;

#[test]
fn rows_for_a_program() {
    let scene = Scene::of_session(SESSION);
    let run = scene.run(["usage"]);
    let rows = "2026-03-01\t1\t10\t20\t0\t30\t40\t1.250000\n2026-03-02\t2\t1000007\t2\t1\t0\t0\t5.000000\n";
    assert_eq!(run.text(), rows);
    let remark = "the cost is without 1 answer of 9 tokens: the prices of ";
    assert!(
        run.stderr.starts_with(remark)
            && run.stderr.contains(" do not have own; --prices adds them"),
        "{}",
        run.stderr
    );
    let run = scene.run(["usage", "--by", "project", "--csv"]);
    let text = "project,answers,input,output,reasoning,cache_read,cache_write,cost,unpriced,unpriced_tokens,agents_cost\n\"/work/a,b\",3,1000017,22,1,30,40,6.250000,1,9,0.000000\n";
    assert_eq!(run.text(), text);
    let json = scene.run(["usage", "--by", "model", "--json"]).json();
    assert_eq!(json["rows"][0]["name"], "claude-opus-4-6");
    assert_eq!(json["rows"][0]["cost"], 6.25);
    assert_eq!(json["total"]["unpriced"], 1);
    assert_eq!(json["unpriced"]["own"]["unpriced_tokens"], 9);
}

#[test]
fn answers_are_chosen_by_time_and_place() {
    let scene = Scene::of_session(SESSION);
    let sums = |arguments: &[&str]| {
        let json =
            scene.run(["usage", "--json"].into_iter().chain(arguments.iter().copied())).json();
        (json["total"]["answers"].as_u64().unwrap(), json["total"]["input"].as_u64().unwrap())
    };
    assert_eq!(sums(&["--since", "2026-03-02"]), (2, 1_000_007));
    assert_eq!(sums(&["--until", "2026-03-02"]), (1, 10));
    assert_eq!(sums(&["--cwd", "/work"]), (3, 1_000_017));
    assert_eq!(sums(&["--cwd", "/work/a"]), (0, 0));
    assert_eq!(sums(&["--family", "claude"]), (0, 0));
    assert_eq!(scene.run(["usage", "--csv", "--json"]).status, 2);
}

#[test]
fn own_prices_count() {
    let scene = Scene::of_session(SESSION);
    let prices = scene.write(
        "prices.json",
        br#"{"date":"2099-01-01","models":{"own":{"input":1000000,"output":1}}}"#,
    );
    let json = scene.run(["usage", "--prices", path(&prices), "--json"]).ok().json();
    assert_eq!(json["prices"], "2099-01-01");
    assert!((json["total"]["cost"].as_f64().unwrap() - 13.250_002).abs() < 1e-9, "{json}");
    let wrong = scene.write("wrong.json", b"[]");
    for file in [path(&wrong), "/not/there"] {
        let said = scene.run(["usage", "--prices", file]).fails(2);
        assert!(said.contains("cannot be read"), "{said}");
    }
}

#[test]
fn sessions_of_all_families_are_summed_up() {
    let json = on_samples(["usage", "--by", "session", "--json"]).json();
    let of = |id: &str| {
        let rows = json["rows"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == id).cloned().unwrap_or_default()
    };
    assert_eq!(of(OMP_3)["family"], "omp");
    assert!(of(OMP_3)["cost"].as_f64().unwrap() > 0.0);
    assert!(of(CLAUDE)["agents"]["answers"].as_u64().unwrap() > 0, "{}", of(CLAUDE));
    let families = on_samples(["usage", "--by", "family", "--json"]).json();
    let names =
        families["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    assert_eq!(names, ["claude", "codex", "omp", "pi"]);
}
