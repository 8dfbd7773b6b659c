//! `leafline ls`, `show`, `path`, `children`, `stats` and `verify`.

use crate::scene::{
    AGENTS, OMP_3, PI_3, SAMPLES, Scene, file, header, message, on_samples, path, sample,
    sample_blobs,
};
use serde_json::Value;

/// The sample's lines, terminators included.
fn sample_lines(id: &str) -> Vec<Vec<u8>> {
    sample(id).split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn line_of(id: &str, entry: &str) -> Vec<u8> {
    let needle = format!("\"id\":\"{entry}\"");
    let lines = sample_lines(id);
    lines.into_iter().find(|line| String::from_utf8_lossy(line).contains(&needle)).unwrap()
}

#[test]
fn ls_lists_the_newest_first() {
    let text = on_samples(["ls"]).ok().text();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 7));
    assert_eq!(rows[0][..4], [OMP_3, "omp", "Dark mode for the map", "/home/robin/work/lantern"]);
    let times: Vec<&str> = rows.iter().map(|row| row[6]).collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older), "{times:?}");
    let pi = rows.iter().find(|row| row[0] == PI_3).unwrap();
    assert_eq!((pi[2], pi[5]), ("Flaky scheduler test", sample(PI_3).len().to_string().as_str()));
    assert_eq!(on_samples(["ls", "--limit", "2"]).ok().text().lines().count(), 2);
    assert_eq!(on_samples(["ls", "--limit", "0"]).ok().text(), "");
}

#[test]
fn ls_as_json_has_the_facts() {
    let lines = on_samples(["ls", "--json"]).ok().json_lines();
    assert_eq!(lines.len(), SAMPLES - AGENTS.len());
    assert_eq!(lines[0]["id"], OMP_3);
    assert_eq!(lines[0]["family"], "omp");
    assert!(lines[0]["modified"].is_i64() && lines[0]["bytes"].is_u64());
    assert!(lines[0]["messages"].is_u64() && lines[0]["types"].is_null());
}

#[test]
fn show_takes_several_sessions() {
    let one = |id: &str| on_samples(["show", id]).ok().text();
    let both = on_samples(["show", PI_3, OMP_3]).ok().text();
    assert_eq!(both, format!("{}\n{}", one(PI_3), one(OMP_3)));
    let three = on_samples(["show", &PI_3[..10], OMP_3, PI_3]).ok().text();
    assert_eq!(three, format!("{both}\n{}", one(PI_3)));
    let json = on_samples(["show", "--json", PI_3, OMP_3]).ok().json_lines();
    assert_eq!((&json[0]["id"], &json[1]["id"]), (&PI_3.into(), &OMP_3.into()));
    // Nothing is printed if one of them is not there.
    for arguments in [&["show", PI_3, OMP_3, "nowhere"][..], &["show", OMP_3, "nowhere"]] {
        let run = on_samples(arguments.iter().copied());
        assert_eq!(run.text(), "");
        assert!(run.fails(1).contains("\"nowhere\""));
    }
}

#[test]
fn show_tells_entries_from_sessions() {
    let [header_1, header_2] = [header("s1"), header("s2")];
    let scene = Scene::new();
    let entry = message("s2", None, "an entry with a session's name");
    let other = message("b1", None, "Ho");
    let one = scene.write("one.jsonl", &file([header_1, entry.clone()]));
    let two = file([header_2, other.clone()]);
    let two = scene.write("two.jsonl", &two[..two.len() - 1]);
    scene.run(["import", path(&one), path(&two)]).ok();
    let text = |arguments: &[&str]| scene.run(arguments.iter().copied()).ok().text();
    // Of two arguments, the second is an entry of the first one if it has it.
    assert_eq!(text(&["show", "s1", "s2"]), format!("{entry}\n"));
    assert!(text(&["show", "s2", "s1"]).contains("\n\nsession   s1\n"));
    assert_eq!(text(&["show", "s1", "@last"]), format!("{entry}\n"));
    // Of three it is a session, and so it is beside --entry.
    assert!(text(&["show", "s1", "s2", "s2"]).contains("\n\nsession   s2\n"));
    let both = text(&["show", "--entry", "@last", "s2", "s1"]);
    assert_eq!(both, format!("{other}\n{entry}\n"));
    let twice = text(&["show", "s2", "--entry", "b1", "--entry", "@leaf"]);
    assert_eq!(twice, format!("{other}\n{other}"));
    let json = scene.run(["show", "--json", "s1", "s2", "--entry", "@leaf"]).ok().json_lines();
    assert_eq!((&json[0]["id"], &json[1]["id"]), (&"s2".into(), &"b1".into()));
    let run = scene.run(["show", "s1", "s2", "--entry", "b1"]);
    assert_eq!(run.text(), "");
    assert!(run.fails(1).contains(" tree --full s1` shows its entries"));
}

#[test]
fn show_tells_what_is_in_a_session() {
    let text = on_samples(["show", &PI_3[..10]]).ok().text();
    for expected in [
        PI_3,
        "Flaky scheduler test",
        "tide-clock",
        "1 malformed line",
        "message/assistant",
        "cc2ef6d4",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(text.contains("2026-02-16 10:20"), "{text}");
    let json = on_samples(["show", PI_3, "--json"]).ok().json();
    assert_eq!((&json["id"], &json["leaf"]), (&PI_3.into(), &"cc2ef6d4".into()));
    assert_eq!(json["malformed"], 1);
}

#[test]
fn show_prints_an_entry_exactly() {
    for (session, entry) in [(PI_3, "b6d75031"), (PI_3, "0efcd38b"), (OMP_3, "0e111600")] {
        let line = line_of(session, entry);
        assert_eq!(on_samples(["show", session, entry]).ok().stdout, line);
        let json = on_samples(["show", session, entry, "--json"]).ok().json();
        assert_eq!(json["id"], entry);
        assert_eq!(json["type"], "message");
        assert_eq!(json["line"].as_str().unwrap().as_bytes(), line);
        let parsed: Value = serde_json::from_slice(&line).unwrap();
        for name in ["parentId", "timestamp"] {
            assert_eq!(json[name], parsed[name]);
        }
        assert_eq!(json["role"], parsed["message"]["role"]);
        let ordinal = usize::try_from(json["ordinal"].as_u64().unwrap()).unwrap();
        assert_eq!(sample_lines(session)[ordinal], line);
    }
    let label = on_samples(["show", PI_3, "b6d3e879", "--json"]).ok().json();
    assert_eq!((&label["type"], &label["role"]), (&"label".into(), &Value::Null));
}

#[test]
fn show_prints_a_line_without_an_end_as_it_is() {
    let mut bytes = file([header("s1"), message("a", None, "caf\u{e9}")]);
    bytes.pop();
    let scene = Scene::of_session(&bytes);
    assert_eq!(
        scene.run(["show", "s1", "a"]).ok().stdout,
        message("a", None, "caf\u{e9}").into_bytes()
    );
}

#[test]
fn path_prints_the_lines_from_root_to_leaf() {
    let path = on_samples(["path", PI_3]).ok();
    let lines = path.json_lines();
    assert!(lines[0]["parentId"].is_null());
    for pair in lines.windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"]);
    }
    assert_eq!(lines.last().unwrap()["id"], "cc2ef6d4");
    let expected: Vec<u8> =
        lines.iter().flat_map(|line| line_of(PI_3, line["id"].as_str().unwrap())).collect();
    assert_eq!(path.stdout, expected);

    let wrapped = on_samples(["path", PI_3, "--json"]).ok().json_lines();
    assert_eq!(wrapped.len(), lines.len());
    let unwrapped: String = wrapped.iter().map(|line| line["line"].as_str().unwrap()).collect();
    assert_eq!(unwrapped.into_bytes(), expected);

    let branch = on_samples(["path", PI_3, "--from", "5937c1f0"]).ok().json_lines();
    assert_eq!(branch.last().unwrap()["id"], "5937c1f0");
    let complaint = on_samples(["path", PI_3, "--from", "nothing"]).fails(1);
    assert!(complaint.contains("nothing") && complaint.contains(PI_3), "{complaint}");
}

#[test]
fn a_last_line_without_an_end_is_kept_apart_from_its_child() {
    let mut bytes =
        file([header("s1"), message("b", Some("a"), "child"), message("a", None, "parent")]);
    bytes.pop();
    let scene = Scene::of_session(&bytes);
    let lines = scene.run(["path", "s1", "--from", "b"]).ok().json_lines();
    assert_eq!(
        lines.iter().map(|line| line["id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["a", "b"]
    );
}

#[test]
fn children_come_in_the_order_of_the_file() {
    let text = on_samples(["children", PI_3, "39f90f81"]).ok().text();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][..3], ["588262d5", "user", "2026-02-16T10:22:21.810Z"]);
    assert_eq!(rows[0][3], "\"try the fake timers first, it is the smaller change\"");
    assert_eq!(rows[1][..2], ["70dee693", "branch_summary"]);
    let json = on_samples(["--json", "children", PI_3, "39f90f81"]).ok().json_lines();
    assert_eq!(json.iter().map(|child| &child["id"]).collect::<Vec<_>>(), ["588262d5", "70dee693"]);
    assert_eq!(on_samples(["children", PI_3, "cc2ef6d4"]).ok().text(), "");
    on_samples(["children", PI_3, "nothing"]).fails(1);
}

#[test]
fn stats_tell_where_the_bytes_go() {
    let text = on_samples(["stats"]).ok().text();
    for expected in ["sessions  18", "blobs", "saved", "lines", "message/assistant", "of JSONL"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let json = on_samples(["stats", "--json"]).ok().json();
    assert_eq!(json["sessions"], SAMPLES);
    assert!(
        json["ratio"].is_f64() && json["tables"].is_array() && json["blobs"]["references"].is_u64()
    );

    let text = on_samples(["stats", PI_3]).ok().text();
    assert!(text.contains(PI_3) && text.contains("chunk") && text.contains("share"), "{text}");
    let json = on_samples(["stats", PI_3, "--json"]).ok().json();
    assert_eq!((&json["id"], &json["bytes"]), (&PI_3.into(), &sample(PI_3).len().into()));
    assert!(json["stored_bytes"].is_u64() && json["ratio"].is_f64());
}

#[test]
fn verify_finds_the_samples_whole() {
    let text = on_samples(["verify"]).ok().text();
    let summary = text.lines().last().unwrap();
    assert!(summary.starts_with("18 sessions, ") && summary.contains("no problems"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("remark") && line.contains(PI_3)), "{text}");
    let json = on_samples(["verify", PI_3, "--json"]).ok().json();
    assert_eq!((&json["sessions"], &json["problems"]), (&1.into(), &Value::Array(Vec::new())));
    assert_eq!(json["remarks"][0]["kind"], "malformed");
}

#[test]
fn controls_in_a_session_never_reach_the_terminal() {
    let hostile = r"\u001b[2Jgone\u0007\u009b31m\u202edrow\nnext";
    let scene = Scene::new();
    let session = scene.write(
        "session.jsonl",
        &file([
            header("s1").replace("/work", &format!("/work/{hostile}")),
            message("a", None, hostile),
            message(hostile, Some("a"), hostile),
            format!(
                r#"{{"type":"label","id":"l","parentId":"a","targetId":"a","label":"{hostile}"}}"#
            ),
            format!(r#"{{"type":"session_info","id":"i","parentId":"l","name":"{hostile}"}}"#),
            format!(r#"{{"type":"{hostile}","id":"u","parentId":"i"}}"#),
        ]),
    );
    scene.run(["import", path(&session)]).ok();
    for arguments in [
        &["ls"][..],
        &["show", "s1"],
        &["tree", "s1"],
        &["tree", "s1", "--full"],
        &["children", "s1", "a"],
        &["stats"],
        &["stats", "s1"],
        &["verify"],
        &["context", "s1"],
        &["path", "s1", "--text"],
        &["path", "s1", "--text", "--full"],
        &["name", "s1"],
    ] {
        let text = scene.run(arguments.iter().copied()).ok().text();
        let raw = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(raw), "{arguments:?}: {text:?}");
    }
    assert!(scene.run(["ls"]).ok().text().contains(r"\u{1b}[2Jgone"));
}

#[test]
fn sample_blob_is_known() {
    let json = on_samples(["stats", OMP_3, "--json"]).ok().json();
    assert_eq!(json["blobs"]["missing"], 0);
    assert!(json["blobs"]["bytes"].as_u64().unwrap() > 0);
    assert!(sample_blobs().is_dir());
}
