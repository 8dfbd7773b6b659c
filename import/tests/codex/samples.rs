//! The samples, line by line.

use std::path::{Path, PathBuf};

use leafline_import::codex::{
    Facts, HistoryMode, NotASession, Place, RecordKind, RolloutName, Scanner, SessionName,
    Truncation, Usage, Use, detect, takes_part, view,
};
use leafline_import::text::decode;
use leafline_import::view::{Part, Role};
use leafline_import::{Family, lines};

use crate::{context, has_rollout_id, parts};

/// A session of today, compacted.
const TODAY: &str = "rollout-2026-02-18T08-59-59-019c6f5a-0000-7c4e-9d21-5a7be0c30000.jsonl";
/// A fork of it.
const FORK: &str = "rollout-2026-02-18T09-00-00-019c6f5a-0023-7c4e-9d21-5a7be0c30023.jsonl";
/// An agent of another session.
const AGENT: &str = "rollout-2026-02-18T09-00-00-019c6f5a-0035-7c4e-9d21-5a7be0c30035.jsonl";
/// A session of an earlier version: rolled back, compacted, torn twice.
const EARLIER: &str = "rollout-2025-11-20T20-04-07-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61.jsonl";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/codex")
}

pub(crate) fn sample(name: &str) -> Vec<u8> {
    let day = name["rollout-".len()..][..10].replace('-', "/");
    std::fs::read(folder().join("sessions").join(day).join(name)).unwrap()
}

/// The samples that stand alone.
pub(crate) const ALONE: [&str; 2] = [TODAY, EARLIER];

fn facts(file: &[u8]) -> Facts {
    let mut scanner = Scanner::new();
    let mut facts = Facts::default();
    for line in lines::split(file) {
        facts.observe(&scanner.scan(&decode(line)));
    }
    facts
}

/// Each item of the context as its place and its text.
fn said(files: &[&[u8]]) -> Vec<(u64, Option<u32>, String)> {
    let (items, input) = context(files, Truncation::UNKNOWN_MODEL);
    let input = input.as_array().unwrap();
    let said = |item: &serde_json::Value| {
        let text = item["content"][0]["text"].as_str().or(item["output"].as_str());
        text.or(item["type"].as_str()).unwrap().chars().take(40).collect::<String>()
    };
    let place = |place: Place| (place.line, place.index);
    let places = items.iter().map(|item| place(item.place));
    places.zip(input).map(|((line, index), item)| (line, index, said(item))).collect()
}

#[test]
fn a_session_of_today() {
    let file = sample(TODAY);
    let header = detect(&file, true).unwrap().header;
    assert_eq!(header.id, RolloutName::parse(TODAY).unwrap().session_id);
    assert_eq!(header.cwd.as_deref(), Some("/home/robin/work/tide-clock"));
    assert_eq!(header.version.as_deref(), Some("0.169.0"));
    assert_eq!((header.history_mode, header.history_base), (HistoryMode::Paginated, None));
    assert_eq!(header.git.unwrap().branch.as_deref(), Some("main"));
    let facts = facts(&file);
    assert_eq!(
        facts.first_prompt(),
        Some("The clock shows high water an hour late since the weekend.")
    );
    assert_eq!(facts.model.as_deref(), Some("gpt-5"));
    assert_eq!(facts.usage.unwrap().total, 250_425);
    let said = said(&[&file]);
    let summary = "Another language model started to solve ";
    assert_eq!(said.len(), 7, "{said:?}");
    assert!(said[..5].iter().all(|(line, index, _)| *line == said[0].0 && index.is_some()));
    assert_eq!(said[4].2, summary);
    assert_eq!(said[5].2, "Now test the change of the hour.");
    assert_eq!(said[6].2, "I will write tests for both changes of t");
}

#[test]
fn a_fork_goes_on_from_its_base() {
    let (base, fork) = (sample(TODAY), sample(FORK));
    let header = detect(&fork, true).unwrap().header;
    assert_eq!(header.forked_from.as_deref(), Some("019c6f5a-0000-7c4e-9d21-5a7be0c30000"));
    let history_base = header.history_base.unwrap();
    assert_eq!(history_base.end_byte, base.len() as u64);
    // The ordinals of the fork are those that follow.
    let mut scanner = Scanner::new();
    let text = decode(lines::split(&fork).next().unwrap());
    assert_eq!(scanner.scan(&text).ordinal(), Some(history_base.end_ordinal));
    let find = |id: &str| {
        assert!(has_rollout_id(TODAY, id));
        &base[..]
    };
    let files = parts(&fork, &find);
    assert_eq!(files.len(), 2);
    let said = said(&files);
    assert_eq!(said.len(), 9, "{said:?}");
    assert_eq!(said[7].2, "Write the changelog entry instead.");
    assert_eq!(facts(&fork).first_prompt(), Some("Write the changelog entry instead."));
}

#[test]
fn an_agent_names_its_session() {
    let header = detect(&sample(AGENT), true).unwrap().header;
    assert_eq!(header.parent.as_deref(), Some("019c6f5a-002b-7c4e-9d21-5a7be0c3002b"));
    assert_eq!(header.session_id, header.parent);
    assert_eq!(header.source.as_deref(), Some("subagent"));
    assert_eq!(header.agent_role.as_deref(), Some("explorer"));
}

#[test]
fn a_session_of_an_earlier_version() {
    let file = sample(EARLIER);
    let header = detect(&file, true).unwrap().header;
    assert_eq!((header.history_mode, header.git.is_some()), (HistoryMode::Legacy, true));
    assert_eq!(header.instructions.as_deref(), Some("Metric units only."));
    let facts = facts(&file);
    assert_eq!(facts.first_prompt(), Some("Scale the bread recipe to two loaves."));
    assert_eq!(facts.model.as_deref(), Some("gpt-5-codex"));
    let usage =
        Usage { input: 4600, cached_input: 2300, output: 210, reasoning_output: 52, total: 4810 };
    assert_eq!(facts.usage, Some(usage));
    let expected = [
        (3, "Scale the bread recipe to two loaves."),
        (24, "Then water and salt, please."),
        (30, "The bread recipe in bread.md was scaled "),
        (32, "How long should it bake?"),
        (36, "Two loaves of this size take 45 minutes "),
    ];
    let expected = expected.map(|(line, text)| (line, None, text.to_owned()));
    assert_eq!(said(&[&file]), expected);
    let (items, _) = context(&[&file], Truncation::None);
    assert_eq!(items[0].use_as, Use::Prompt(Vec::new()));
    assert_eq!(items[2].use_as, Use::Summary);
}

#[test]
fn the_leaf_is_the_last_line_that_takes_part() {
    let file = sample(EARLIER);
    let mut scanner = Scanner::new();
    let mut leaf = None;
    let mut malformed = 0;
    for (number, line) in (0..).zip(lines::split(&file)) {
        let text = decode(line);
        let record = scanner.scan(&text);
        malformed += u32::from(record.kind() == RecordKind::Malformed);
        if takes_part(&record) {
            leaf = Some(number);
        }
    }
    assert_eq!((leaf, malformed), (Some(36), 2));
}

#[test]
fn what_a_reader_sees() {
    let file = sample(TODAY);
    let views: Vec<_> = lines::split(&file).map(|line| view(&decode(line))).collect();
    let of = |role: Role| views.iter().filter(move |view| view.role == role);
    let prompts: Vec<String> = of(Role::User).map(|view| view.text()).collect();
    assert_eq!(
        prompts,
        [
            "The clock shows high water an hour late since the weekend.",
            "Take it from the time zone, please.",
            "Now test the change of the hour."
        ]
    );
    let picture = &of(Role::User).next().unwrap().parts[1];
    assert!(
        matches!(picture, Part::Image { mime_type: Some(name), base64_length: 92 | 96 } if name == "image/png"),
        "{picture:?}"
    );
    assert!(of(Role::System).all(|view| view.is_hidden));
    assert_eq!(of(Role::Summary).count(), 1);
    let results: Vec<&Part> = of(Role::Tool).flat_map(|view| &view.parts).collect();
    assert!(
        matches!(results[0], Part::ToolResult { call_id: Some(id), text, .. } if id == "call_table" && text.contains("OFFSET_MINUTES"))
    );
    let thoughts = of(Role::Assistant).flat_map(|view| &view.parts);
    let thoughts = thoughts.filter(|part| matches!(part, Part::Thinking(_)));
    assert_eq!(thoughts.count(), 1);
    // The events repeat the items.
    assert!(of(Role::Other).all(|view| view.parts.is_empty()));
}

#[test]
fn the_name_stands_in_another_file() {
    let index = std::fs::read(folder().join("session_index.jsonl")).unwrap();
    let name = SessionName::of(lines::split(&index).next().unwrap()).unwrap();
    assert_eq!(name.name, "Tide clock: time zone");
    assert!(TODAY.contains(&name.id));
    assert_eq!(SessionName::of(b"{\"id\":5}"), None);
}

/// The files in a folder and the folders in it.
fn files_below(folder: PathBuf) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                files.push(path);
            }
        }
    }
    files
}

fn is_of_codex(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "codex")
}

#[test]
fn other_families_files_are_none() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut others = files_below(samples);
    others.retain(|path| !is_of_codex(path));
    assert!(others.len() > 10);
    for path in others {
        let found = detect(&std::fs::read(&path).unwrap(), true);
        let is_none =
            matches!(found, Err(NotASession::WrongType { .. } | NotASession::NoType { .. }));
        assert!(is_none, "{path:?}: {found:?}");
    }
    // And no other family accepts a rollout, whatever follows its header.
    let marked = br#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"x"}}"#;
    let header = lines::split(&sample(TODAY)).next().unwrap().to_vec();
    let mixed = [&header, &marked[..], b"\n"].concat();
    let rollouts = [TODAY, FORK, AGENT, EARLIER].map(|name| (name, sample(name)));
    for (name, rollout) in rollouts.into_iter().chain([("with a mark of Claude Code's", mixed)]) {
        for &family in Family::ALL {
            let found = leafline_import::detect(&rollout, Some(family), true);
            assert_eq!(found.is_ok(), family == Family::Codex, "{name}: {found:?}");
        }
        assert_eq!(leafline_import::detect(&rollout, None, true).unwrap().family, Family::Codex);
    }
}

/// Of samples and real files alike, and of the first bytes of each.
#[test]
fn each_file_is_one_familys() {
    let mut files = files_below(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples"));
    files.extend(
        std::env::var_os("LEAFLINE_CORPUS").into_iter().flat_map(|it| files_below(it.into())),
    );
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let cut = bytes.len().min(64 << 10);
        for (prefix, is_complete) in [(&bytes[..], true), (&bytes[..cut], cut == bytes.len())] {
            let takes = |family: &Family| {
                leafline_import::detect(prefix, Some(*family), is_complete).is_ok()
            };
            let taken: Vec<Family> = Family::ALL.iter().copied().filter(takes).collect();
            let are_kin = taken.iter().all(|family| family.is_kin_of(taken[0]));
            assert!(are_kin, "{path:?}: {taken:?}");
            let found = leafline_import::detect(prefix, None, is_complete);
            let found = found.ok().map(|start| start.family);
            assert_eq!(found.is_some(), !taken.is_empty(), "{path:?}: {found:?}");
            assert!(found.is_none_or(|family| taken.contains(&family)), "{path:?}: {found:?}");
            assert_eq!(taken.contains(&Family::Codex), is_of_codex(&path) && !taken.is_empty());
        }
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let reason = |bytes: &[u8]| leafline_import::detect(bytes, None, true).unwrap_err().to_string();
    assert_eq!(
        reason(b"\x28\xb5\x2f\xfd\0\n"),
        "no session that can be read: the file is compressed with Zstandard"
    );
    let early = br#"{"id":"a","timestamp":"2025-05-07T17:24:21Z","instructions":null,"git":{}}"#;
    assert!(reason(early).contains("a header of an early version of Codex"), "{}", reason(early));
    let later = [&b"{\"type\":\"session_meta\",\"payload\":{}}\n"[..], &sample(TODAY)].concat();
    assert!(reason(&later).contains("has no id"), "{}", reason(&later));
}
