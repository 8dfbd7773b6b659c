//! Migration gives the same bytes as pi, except for the ids, which pi draws at random.
//!
//! Guards against migrated sessions that pi would have written differently.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod oracle;

use std::collections::HashMap;
use std::path::Path;

use leafline_import::migration::Migrated;
use leafline_import::pi_omp::{Migrator, MigratorState, detect, forward_references};
use leafline_import::scan::Raw;
use leafline_import::{lines, text};
use oracle::random::{Random, object, string, value};

/// Migrates a file as a store would; `None` if it is not a session or needs no migration. With `break_at`, the
/// migration is saved at that line and resumed.
fn migrate(file: &[u8], break_at: Option<usize>) -> Option<Vec<u8>> {
    migrate_as(None, file, break_at)
}

/// The same of a file that is said to be a family's.
fn migrate_as(
    family: Option<leafline_import::Family>,
    file: &[u8],
    break_at: Option<usize>,
) -> Option<Vec<u8>> {
    let detection = detect(file, family, true).ok()?;
    if !detection.needs_migration {
        return None;
    }
    let forward = forward_references(file).unwrap();
    let start = |state: MigratorState| {
        Migrator::resume(&detection.header, state).with_forward_references(forward.clone())
    };
    let mut migrator = start(MigratorState::default());
    let mut out = Vec::new();
    for (place, line) in lines::split(file).enumerate() {
        if break_at == Some(place) {
            migrator = start(migrator.state());
        }
        let before = out.len();
        let migrated = migrator.migrate_line(&text::decode(line), &mut out);
        assert_eq!(migrated == Migrated::Written, out.len() > before);
    }
    migrator.finish(&mut out);
    Some(out)
}

/// Renames pi's ids to ours, by their places; both files have the same records. Only ids that pi sets are renamed: the
/// first member of that name in a line's text, if ours differs.
fn with_our_ids(pi: &[u8], ours: &[u8]) -> Vec<u8> {
    let mut names: HashMap<String, String> = HashMap::new();
    for (pi_line, our_line) in lines::split(pi).zip(lines::split(ours)) {
        let id = |line: &[u8]| {
            let line = String::from_utf8_lossy(line).into_owned();
            let record = Raw::parse(&line).ok()?;
            record.member("id").map(|id| id.as_str().to_owned())
        };
        if let (Some(pi_id), Some(our_id)) = (id(pi_line), id(our_line))
            && pi_id != our_id
        {
            names.insert(pi_id, our_id);
        }
    }
    let mut out = Vec::new();
    for line in lines::split(pi) {
        let mut line = String::from_utf8(line.to_vec()).unwrap();
        for member in ["id", "parentId", "firstKeptEntryId"] {
            let name = format!("\"{member}\":");
            let record = line.clone();
            let Some(value) = Raw::parse(&record).ok().and_then(|record| record.member(member))
            else {
                continue;
            };
            if let Some(ours) = names.get(value.as_str()) {
                line = line.replace(&format!("{name}{}", value.as_str()), &format!("{name}{ours}"));
            }
        }
        out.extend_from_slice(line.as_bytes());
    }
    out
}

fn member(name: &str, value: &str, members: &mut Vec<String>) {
    members.push(format!("\"{name}\":{value}"));
}

fn message(random: &mut Random) -> String {
    let mut members = Vec::new();
    let role = random.pick(&[
        "\"user\"",
        "\"hookMessage\"",
        "\"hook\\u004dessage\"",
        "\"assistant\"",
        "5",
    ]);
    member("role", role, &mut members);
    let mut content = String::new();
    value(random, 2, &mut content);
    member("content", &content, &mut members);
    if random.one_in(5) {
        member("role", "\"hookMessage\"", &mut members);
    }
    if random.one_in(3) {
        members.reverse();
    }
    format!("{{{}}}", members.join(","))
}

fn entry(random: &mut Random) -> String {
    let mut members = Vec::new();
    let kind = random.pick(&[
        "message",
        "message",
        "compaction",
        "compaction",
        "custom",
        "label",
        "x",
        "comp\\u0061ction",
        "title",
    ]);
    member("type", &format!("\"{kind}\""), &mut members);
    if random.one_in(2) {
        let id = random.pick(&[
            "\"e1\"",
            "\"\\u0065\"",
            "5",
            "null",
            "{\"b\":1.0,\"1\":[]}",
            "\"\\ud800\"",
        ]);
        member("id", id, &mut members);
    }
    if random.one_in(3) {
        member("parentId", random.pick(&["\"e1\"", "null"]), &mut members);
    }
    match random.below(5) {
        0..=2 if kind.starts_with("comp") => {
            let index = match random.below(4) {
                0 => random
                    .pick(&[
                        "-1",
                        "1.5",
                        "\"2\"",
                        "null",
                        "1e2",
                        "0",
                        "-0",
                        "1e999",
                        "2.0",
                        "1e0",
                        "99999999999999999999",
                    ])
                    .to_owned(),
                _ => random.below(14).to_string(),
            };
            member("firstKeptEntryIndex", &index, &mut members);
            if random.one_in(4) {
                member("firstKeptEntryId", "\"old\"", &mut members);
            }
        }
        3 => {
            let mut text = String::new();
            string(random, &mut text);
            member("text", &text, &mut members);
        }
        _ => member("message", &message(random), &mut members),
    }
    if random.one_in(4) {
        member(
            "message",
            random.pick(&["null", "5", "\"s\"", "[]", "{\"role\":\"hookMessage\"}"]),
            &mut members,
        );
    }
    if random.one_in(3) {
        members.reverse();
    }
    format!("{{{}}}", members.join(random.pick(&[",", " , "])))
}

fn session(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut file = random.pick(&["", "", "", "\u{feff}", "\n \r\n", "\u{a0}\u{feff}\n"]).to_owned();
    if random.one_in(6) {
        file.push_str("{broken\n");
    }
    let version = random.pick(&[
        "",
        "",
        "",
        "\"version\":1,",
        "\"version\":2,",
        "\"version\":2,",
        "\"version\":null,",
        "\"version\":\"1\",",
        "\"version\":2.5,",
        "\"version\":\"abc\",",
        "\"version\":{},",
        "\"version\":true,",
        "\"version\":[2],",
        "\"version\":[],",
        "\"version\":\" 0x2\",",
        "\"version\":-1e999,",
    ]);
    file.push_str(&format!(
        "{{\"type\":\"session\",{version}\"id\":\"session {seed}\",\"cwd\":\"/\"}}"
    ));
    let ending = random.pick(&["\n", "\n", "\r\n"]);
    for _ in 0..random.below(14) {
        file.push_str(ending);
        match random.below(16) {
            0 => file.push_str(random.pick(&[
                "",
                " ",
                "\u{3000}",
                "{}{}",
                "{\"type\":",
                "\u{a0}{}",
                "\0",
                "{\"a\":\"\\x\"}",
            ])),
            1 => file.push_str(random.pick(&[
                "{\"type\":\"session\"}",
                "{\"type\":\"session\",\"version\":\"x\",\"id\":\"later\"}",
            ])),
            2 => object(&mut random, 3, &mut file),
            _ => file.push_str(&entry(&mut random)),
        }
    }
    file.push_str(random.pick(&["", "\n", "\n\n", "\u{a0}", "\u{a0}\n\u{feff}", "\n{\"torn\":"]));
    let mut bytes = file.into_bytes();
    if random.one_in(4) {
        let at = bytes.len() - random.below(bytes.len() / 2);
        bytes.splice(at..at, [0xff, 0xe2, 0x82]);
    }
    bytes
}

fn compare(package: &Path, files: &[Vec<u8>]) -> usize {
    let mut compared = 0;
    for (file, pi) in files.iter().zip(oracle::migrate_all(package, files)) {
        let (Some(pi), Some(ours)) =
            (pi, migrate_as(Some(leafline_import::Family::Pi), file, Some(3)))
        else {
            continue;
        };
        let pi = with_our_ids(&pi, &ours);
        assert_eq!(
            String::from_utf8(ours).unwrap(),
            String::from_utf8(pi).unwrap(),
            "{}",
            String::from_utf8_lossy(file)
        );
        compared += 1;
    }
    compared
}

#[test]
fn pi_gives_the_same_bytes() {
    let Some(package) = leafline_judges::pi("0.73") else { return };
    let files: Vec<_> = (0..4000).map(session).collect();
    let compared = compare(&package, &files);
    assert!(compared > 3500, "{compared}");
}

#[test]
fn pi_gives_the_same_bytes_for_real_files() {
    let test = "pi_gives_the_same_bytes_for_real_files";
    let (Some(package), Some(corpus)) =
        (leafline_judges::pi("0.73"), oracle::folder_of("LEAFLINE_CORPUS", test))
    else {
        return;
    };
    let files: Vec<_> = std::fs::read_dir(corpus.join("pi"))
        .unwrap()
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    assert!(compare(&package, &files) >= 5);
}

#[test]
fn a_migration_can_be_taken_up_at_any_line() {
    for seed in 0..300 {
        let file = session(seed);
        let whole = migrate(&file, None);
        for place in 0..lines::split(&file).count() {
            assert_eq!(migrate(&file, Some(place)), whole, "seed {seed}, line {place}");
        }
    }
}

#[test]
fn files_that_pi_cannot_open_are_migrated() {
    let file = b"{\"type\":\"session\",\"id\":\"s\"}\nnull\n5\n\"x\"\n{\"type\":\"compaction\",\"firstKeptEntryIndex\":1}\n{\"type\":\"compaction\",\"firstKeptEntryIndex\":4}\n";
    let out = String::from_utf8(migrate(file, None).unwrap()).unwrap();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[1..4], ["null", "5", "\"x\""]);
    // The first points to a record that is not an entry, the second to the entry before it.
    assert!(!lines[4].contains("firstKept") && lines[4].contains("\"parentId\":null"));
    assert!(lines[5].contains("firstKeptEntryId"));
}

#[test]
fn title_lines_ahead_of_the_header_do_not_count() {
    let file = b"{\"type\":\"title\", \"title\":\"T\"}\n{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"x\"}\n";
    let out = String::from_utf8(migrate(file, None).unwrap()).unwrap();
    let id = leafline_import::pi_omp::derived_id(b"s", 1);
    assert_eq!(
        out,
        format!(
            "{{\"type\":\"title\",\"title\":\"T\"}}\n{{\"type\":\"session\",\"id\":\"s\",\"version\":3}}\n{{\"type\":\"x\",\"id\":\"{id}\",\"parentId\":null}}\n"
        )
    );
}

#[test]
fn omp_writes_migrated_entries_under_its_rules() {
    use leafline_import::writing::Rules;
    let image = "QUJD".repeat(200_000);
    let long = "l".repeat(500_001);
    let file = format!(
        concat!(
            r#"{{"type":"session","version":2,"id":"s"}}"#,
            "\n",
            r#"{{"type":"message","id":"a","parentId":null,"message":{{"partialJson":"{{","content":["#,
            r#"{{"type":"image","data":"{image}"}},{{"type":"text","text":"{long}"}}],"jsonlEvents":[]}}}}"#,
            "\n",
        ),
        image = image,
        long = long,
    );
    let detection = detect(file.as_bytes(), None, true).unwrap();
    let migrated = |rules: Option<Rules>| {
        let mut migrator = Migrator::new(&detection.header);
        if let Some(rules) = rules {
            migrator = migrator.with_rules(rules);
        }
        let mut out = Vec::new();
        for line in file.lines() {
            migrator.migrate_line(line, &mut out);
        }
        String::from_utf8(out).unwrap()
    };
    // pi keeps everything.
    let kept = migrated(None);
    assert!(kept.contains("partialJson") && kept.contains(&long));
    assert_eq!(migrated(Some(leafline_import::Family::Pi.rules())), kept);
    let written = migrated(Some(leafline_import::Family::Omp.rules()));
    assert!(!written.contains("partialJson") && !written.contains("jsonlEvents"));
    assert!(!written.contains(&long));
    assert!(written.contains(r#"l\n\n[Session persistence truncated large content]""#));
    // An image of which a reference may take the place is not cut.
    assert!(written.contains(&image));
}
