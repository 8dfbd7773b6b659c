//! `leafline usage`.

use crate::scene::{CLAUDE, OMP_3, Run, Scene, command, finished, on_samples, path};

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
    let remark =
        "the cost leaves out 1 answer of 9 tokens: there is no price for \"own\" in the prices of ";
    assert!(
        run.stderr.starts_with(remark) && run.stderr.contains("; --prices FILE adds them"),
        "{}",
        run.stderr
    );
    let run = scene.run(["usage", "--by", "project", "--csv"]);
    let text = "project,answers,input,output,reasoning,cache_read,cache_write,cost,unpriced,unpriced_tokens,agents_cost,\
        agents_answers,agents_input,agents_output,agents_reasoning,agents_cache_read,agents_cache_write\n\
        \"/work/a,b\",3,1000017,22,1,30,40,6.250000,1,9,0.000000,0,0,0,0,0,0\n";
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
        assert!(said.contains("the prices cannot be read: "), "{said}");
        // As of any wrong value.
        assert!(
            said.starts_with(&format!("error: invalid value '{file}' for '--prices <FILE>': "))
        );
        assert!(!said.contains("Usage:"), "{said}");
    }
}

#[test]
fn wrong_values_are_told_as_those_of_other_commands() {
    let said = |arguments: &[&str]| on_samples(arguments.iter().copied()).fails(2);
    assert_eq!(said(&["usage", "--since", "nonsense"]), said(&["ls", "--since", "nonsense"]));
    let by = said(&["usage", "--by", "x"]).replace("--by <BY>", "--sort <SORT>");
    let (by, sort) = (by.lines(), said(&["ls", "--sort", "x"]));
    let without_values = |line: &&str| !line.contains("possible values");
    assert!(by.filter(without_values).eq(sort.lines().filter(without_values)), "{sort}");
}

/// Runs the command as at a terminal of so many columns.
fn at_width(scene: &Scene, width: usize, arguments: &[&str]) -> Run {
    let mut command = command(&scene.store());
    command.env_remove("LC_ALL").env_remove("LC_CTYPE").env("LANG", "C.UTF-8");
    command.args(["--width", &width.to_string(), "usage"]).args(arguments);
    finished(command.output().unwrap())
}

/// A session of pi's whose answers have numbers of many digits.
fn of_many_tokens(model: &str, cost: &str) -> String {
    let header = r#"{"type":"session","version":3,"id":"019c6605-4c90-7d2a-9b41-5f0e3c77a1d2","timestamp":"2026-03-01T23:30:00.000Z","cwd":"/home/someone/work/projects/of-some-length/and-depth"}"#;
    let answer = format!(
        r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-03-01T23:30:00.000Z","message":{{"role":"assistant","content":[],"model":"{model}","usage":{{"input":123456789,"output":23456789,"reasoning":3456789,"cacheRead":4567890123,"cacheWrite":56789012,"cost":{{"total":{cost}}}}}}}}}"#
    );
    format!("{header}\n{answer}\n")
}

#[test]
fn tables_fit_narrow_terminals_and_keep_their_names() {
    let samples = Scene::of_samples();
    let long =
        Scene::of_session(of_many_tokens("claude-sonnet-4-5-20250929", "12345.67").as_bytes());
    for scene in [&samples, &long] {
        for by in ["day", "week", "month", "project", "model", "family", "session"] {
            for width in [40, 60, 80, 120, 200] {
                let text = at_width(scene, width, &["--by", by]).ok().text();
                assert!(text.lines().all(|line| line.chars().count() <= width), "{by}: {text}");
                assert!(text.lines().next().unwrap().contains("cost"), "{text}");
            }
        }
    }
    let text = at_width(&long, 80, &["--by", "model"]).ok().text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("claude-sonnet-4-5-20250929  "), "{text}");
    assert!(lines[1].ends_with("$12345.67"), "{text}");
    assert!(!lines[0].contains("reasoning") && !lines[0].contains("cache write"), "{text}");
    assert!(lines[3].starts_with("no room for reasoning, cache write"), "{text}");
    assert!(lines[3].ends_with("; --json has all"), "{text}");
    let wide = at_width(&long, 120, &["--by", "model"]).ok().text();
    assert!(wide.contains("reasoning  ") && wide.lines().count() == 3, "{wide}");
    // A session is named as `ls` names it, and its title can be read.
    let text = at_width(&samples, 80, &["--by", "session"]).ok().text();
    let row = text.lines().find(|line| line.contains("Dark mode for the map")).unwrap();
    let prefix = row.split(' ').next().unwrap();
    assert!(OMP_3.starts_with(prefix), "{text}");
    samples.run(["show", prefix]).ok();
}

#[test]
fn costs_of_any_size_are_numbers() {
    let scene = Scene::new();
    for id in ["s1", "s2"] {
        let session = String::from_utf8(SESSION.to_vec()).unwrap();
        let session = session.replace(r#""total":1.25"#, r#""total":1e308"#);
        let session =
            session.replace("\"s1\"", &format!("\"{id}\"")).replace("a1", &format!("{id}-1"));
        scene.run(["import", path(&scene.write(&format!("{id}.jsonl"), session.as_bytes()))]).ok();
    }
    let most = br#"{"date":"2099-01-01","models":{"own":{"input":1e308,"output":1e308}}}"#;
    let prices = scene.write("prices.json", most);
    for own in [&[][..], &["--prices", path(&prices)]] {
        for by in ["month", "session"] {
            let arguments = [&["usage", "--by", by][..], own].concat();
            let json = scene.run([&arguments[..], &["--json"]].concat()).json();
            assert!(json["total"]["cost"].as_f64().unwrap() > 1e300, "{json}");
            assert!(json["rows"].as_array().unwrap().iter().all(|row| row["cost"].is_number()));
            let plain = scene.run(arguments.iter().copied()).text();
            let csv = scene.run([&arguments[..], &["--csv"]].concat()).text();
            let shown = at_width(&scene, 80, &arguments[1..]).text();
            for text in [&plain, &csv, &shown] {
                assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
            }
            assert!(shown.contains("$1.80e308"), "{shown}");
        }
    }
}

#[test]
fn names_of_any_length_are_cut_in_what_is_said() {
    let name = "a".repeat(5_000);
    let scene = Scene::new();
    let session = String::from_utf8(SESSION.to_vec()).unwrap();
    let models = [name.as_str(), ""].into_iter().map(str::to_owned);
    for (place, model) in models.chain((0..12).map(|number| format!("m{number}"))).enumerate() {
        let mut session = session.replace("\"own\"", &format!("\"{model}\""));
        for id in ["s1", "a1", "a2", "a3"] {
            session = session.replace(&format!("\"{id}\""), &format!("\"{id}-{place}\""));
        }
        let file = scene.write(&format!("{place}.jsonl"), session.as_bytes());
        scene.run(["import", path(&file)]).ok();
    }
    let run = scene.run(["usage", "--by", "model"]);
    assert!(run.text().contains(&name), "a program gets whole names");
    assert!(run.stderr.len() < 1_000, "{}", run.stderr);
    let shown = at_width(&scene, 80, &["--by", "model"]);
    assert!(shown.text().contains("\n(no name)  "), "{}", shown.text());
    let said = format!("no price for (no name), \"{}…\", \"m0\", ", "a".repeat(59));
    assert!(shown.stderr.contains(&said), "{}", shown.stderr);
    assert!(shown.stderr.contains(" and 4 more in the prices of "), "{}", shown.stderr);
}

#[test]
fn a_terminal_is_told_that_nothing_was_used() {
    let scene = Scene::of_session(SESSION);
    for (arguments, said) in [
        (&["--since", "2027-01-01"][..], "no session states any usage since 2027-01-01 00:00\n"),
        (&["--until", "2025-01-01"], "no session states any usage before 2025-01-01 00:00\n"),
        (
            &["--since", "2025-01-01", "--until", "2025-02-01"],
            "no session states any usage between 2025-01-01 00:00 and 2025-02-01 00:00\n",
        ),
        (&["--family", "omp", "--cwd", "/x"], "no session of omp in /x states any usage\n"),
    ] {
        let shown = at_width(&scene, 80, arguments);
        assert_eq!((shown.status, shown.text().as_str(), shown.stderr.as_str()), (0, "", said));
        let plain = scene.run(["usage"].into_iter().chain(arguments.iter().copied())).ok();
        assert_eq!(plain.text(), "");
    }
}

#[test]
fn a_time_zone_that_is_not_known_is_said_once() {
    let scene = Scene::of_session(SESSION);
    let in_zone = |zone: &str| {
        let mut command = command(&scene.store());
        finished(
            command
                .current_dir("/")
                .env("TZ", zone)
                .args(["usage", "--since", "2026-01-01"])
                .output()
                .unwrap(),
        )
    };
    let said = "days and times are those of UTC, since the time zone in TZ, Nowhere/Land, is not known here\n";
    let run = in_zone("Nowhere/Land");
    assert_eq!((run.status, run.stderr.matches(said).count()), (0, 1), "{}", run.stderr);
    for zone in ["", "UTC", "Europe/Berlin", "CET-1", "<LONGERNAME>-1"] {
        assert!(!in_zone(zone).stderr.contains("TZ"), "{zone}");
    }
    assert!(in_zone("Europe/Berlin").text().starts_with("2026-03-02\t"));
    // A device has no end.
    for zone in ["/dev/zero", ":/dev/zero", "dev/zero"] {
        assert!(!cfg!(unix) || in_zone(zone).stderr.contains("is not known here"), "{zone}");
    }
}

#[test]
fn rows_of_sessions_have_what_the_table_has() {
    let json = on_samples(["usage", "--by", "session", "--json"]).json();
    let row = json["rows"].as_array().unwrap().iter().find(|row| row["name"] == CLAUDE).unwrap();
    let text =
        |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let number = |of: &serde_json::Value| {
        let names = ["answers", "input", "output", "reasoning", "cache_read", "cache_write"];
        let mut numbers: Vec<String> = names.iter().map(|name| text(&of[*name])).collect();
        numbers.push(format!("{:.6}", of["cost"].as_f64().unwrap()));
        numbers
    };
    let facts = ["title", "project", "family"].map(|name| text(&row[name]));
    assert!(!facts[0].contains([',', '"']), "a value that needs no quotes");
    let plain = on_samples(["usage", "--by", "session"]).text();
    let plain = plain.lines().find(|line| line.starts_with(CLAUDE)).unwrap();
    let (own, agents) = (number(row), number(&row["agents"]));
    let expected = [vec![CLAUDE.to_owned()], own.clone(), agents.clone(), facts.to_vec()].concat();
    assert_eq!(plain.split('\t').collect::<Vec<_>>(), expected);
    let csv = on_samples(["usage", "--by", "session", "--csv"]).text();
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let values = csv.lines().find(|line| line.starts_with(CLAUDE)).unwrap();
    let values: Vec<&str> = values.split(',').collect();
    assert_eq!(names.len(), values.len());
    let value = |name: &str| values[names.iter().position(|other| *other == name).unwrap()];
    assert_eq!(["title", "project", "family"].map(value), facts);
    assert_eq!(
        ["agents_answers", "agents_output", "agents_cost"].map(value),
        [&*agents[0], &agents[2], &agents[6]]
    );
    assert_eq!(["session", "answers", "cost"].map(value), [CLAUDE, &own[0], &own[6]]);
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

#[test]
fn values_cannot_control_a_terminal() {
    let session = String::from_utf8(SESSION.to_vec()).unwrap();
    let session =
        session.replace("\"own\"", "\"\\u001b[2Jown\"").replace("/work/a,b", "/\\u001b[2J");
    let title = r#"{"type":"session_info","id":"a4","parentId":"a3","timestamp":"2026-03-02T12:00:02.000Z","name":"=\u001b[2J"}"#;
    let scene = Scene::of_session(format!("{session}{title}\n").as_bytes());
    for by in ["model", "project", "session"] {
        for form in [&[][..], &["--csv"], &["--width", "80"]] {
            let run = scene.run([&["usage", "--by", by], form].concat());
            let text = run.text() + &run.stderr;
            assert!(
                !text.contains('\u{1b}') && text.contains("\\u{1b}[2J"),
                "{by} {form:?}: {text}"
            );
        }
    }
    let csv = scene.run(["usage", "--by", "session", "--csv"]).text();
    assert!(csv.ends_with(",'=\\u{1b}[2J,/\\u{1b}[2J,pi\n"), "{csv}");
}
