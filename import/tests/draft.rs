//! Drafts: the documents' examples are written in the programs' order, and reading what was written gives the same
//! draft.
//!
//! Guards against new lines that differ from those the programs write.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod oracle;

use leafline_import::Family;
use leafline_import::ecma::restringify;
use leafline_import::pi_omp::{Draft, Header, HeaderFacts, ParentId, Place};
use leafline_import::scan::{Raw, Scanner};
use leafline_import::text::unescape;
use leafline_import::time::parse_timestamp;
use leafline_import::writing::Rules;
use oracle::random::{Random, object, value};
use proptest::prelude::*;

fn stringified(text: &str) -> String {
    let mut out = Vec::new();
    restringify(text, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn line(draft: &Draft, place: &Place<'_>) -> String {
    let mut out = Vec::new();
    draft.write(place, &mut out);
    String::from_utf8(out).unwrap()
}

/// An example after it was read and written, with its own id, parent and time.
fn rewritten(example: &str, family: Family) -> String {
    let draft = Draft::from_json(example, family).unwrap();
    let members = Scanner::new().scan(example).members;
    let id = members.id.and_then(Raw::to_string_lossy).unwrap();
    let parent = members.parent_id.and_then(Raw::as_string);
    let timestamp = members.timestamp.and_then(Raw::to_string_lossy).unwrap();
    let place = Place {
        id: &id,
        parent: parent.as_deref().map_or(ParentId::Null, ParentId::Id),
        timestamp: parse_timestamp(&timestamp).unwrap(),
    };
    line(&draft, &place)
}

/// The examples of pi's document and of the older omp document, which are written alike, in the order in which they are
/// written. `usage` is not spelled out there.
const OF_PI: &[&str] = &[
    r#"{"type":"message","id":"a1b2c3d4","parentId":"prev1234","timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"user","content":"Hello"}}"#,
    r#"{"type":"message","id":"b2c3d4e5","parentId":"a1b2c3d4","timestamp":"2024-12-03T14:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Hi!"}],"provider":"anthropic","model":"claude-sonnet-4-5","usage":{},"stopReason":"stop"}}"#,
    r#"{"type":"message","id":"c3d4e5f6","parentId":"b2c3d4e5","timestamp":"2024-12-03T14:00:03.000Z","message":{"role":"toolResult","toolCallId":"call_123","toolName":"bash","content":[{"type":"text","text":"output"}],"isError":false}}"#,
    r#"{"type":"model_change","id":"d4e5f6g7","parentId":"c3d4e5f6","timestamp":"2024-12-03T14:05:00.000Z","provider":"openai","modelId":"gpt-4o"}"#,
    r#"{"type":"thinking_level_change","id":"e5f6g7h8","parentId":"d4e5f6g7","timestamp":"2024-12-03T14:06:00.000Z","thinkingLevel":"high"}"#,
    r#"{"type":"compaction","id":"f6g7h8i9","parentId":"e5f6g7h8","timestamp":"2024-12-03T14:10:00.000Z","summary":"User discussed X, Y, Z...","firstKeptEntryId":"c3d4e5f6","tokensBefore":50000}"#,
    r#"{"type":"branch_summary","id":"g7h8i9j0","parentId":"a1b2c3d4","timestamp":"2024-12-03T14:15:00.000Z","fromId":"f6g7h8i9","summary":"Branch explored approach A..."}"#,
    r#"{"type":"label","id":"j0k1l2m3","parentId":"i9j0k1l2","timestamp":"2024-12-03T14:30:00.000Z","targetId":"a1b2c3d4","label":"checkpoint-1"}"#,
    r#"{"type":"session_info","id":"k1l2m3n4","parentId":"j0k1l2m3","timestamp":"2024-12-03T14:35:00.000Z","name":"Refactor auth module"}"#,
];

/// The examples of omp's document in the order in which they are written.
const OF_OMP: &[&str] = &[
    r#"{"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Done."}],"usage":{"input":100,"output":20,"cacheRead":0,"cacheWrite":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"timestamp":1760000000000}}"#,
    r#"{"type":"model_change","id":"b1c2d3e4","parentId":"a1b2c3d4","timestamp":"2026-02-16T10:21:30.000Z","model":"openai/gpt-4o","role":"default"}"#,
    r#"{"type":"thinking_level_change","id":"c1d2e3f4","parentId":"b1c2d3e4","timestamp":"2026-02-16T10:22:00.000Z","thinkingLevel":"high"}"#,
    r#"{"type":"branch_summary","id":"e1f2a3b4","parentId":"a1b2c3d4","timestamp":"2026-02-16T10:24:00.000Z","fromId":"a1b2c3d4","summary":"Summary of abandoned path","details":{"note":"optional"},"fromExtension":true}"#,
    r#"{"type":"label","id":"b2c3d4e5","parentId":"a2b3c4d5","timestamp":"2026-02-16T10:27:00.000Z","targetId":"a1b2c3d4","label":"checkpoint"}"#,
    r#"{"type":"ttsr_injection","id":"c2d3e4f5","parentId":"b2c3d4e5","timestamp":"2026-02-16T10:28:00.000Z","injectedRules":["ruleA","ruleB"]}"#,
    r#"{"type":"session_init","id":"d2e3f4a5","parentId":"c2d3e4f5","timestamp":"2026-02-16T10:29:00.000Z","systemPrompt":"...","task":"...","tools":["read","edit"],"outputSchema":{"type":"object"}}"#,
    r#"{"type":"mode_change","id":"e2f3a4b5","parentId":"d2e3f4a5","timestamp":"2026-02-16T10:30:00.000Z","mode":"plan","data":{"planFile":"/tmp/plan.md"}}"#,
];

/// Examples that the documents show in another order than the programs write, and what is written.
const IN_ANOTHER_ORDER: &[(Family, &str, &str)] = &[
    (
        Family::Pi,
        r#"{"type":"custom","id":"h8i9j0k1","parentId":"g7h8i9j0","timestamp":"2024-12-03T14:20:00.000Z","customType":"my-extension","data":{"count":42}}"#,
        r#"{"type":"custom","customType":"my-extension","data":{"count":42},"id":"h8i9j0k1","parentId":"g7h8i9j0","timestamp":"2024-12-03T14:20:00.000Z"}"#,
    ),
    (
        Family::Pi,
        r#"{"type":"custom_message","id":"i9j0k1l2","parentId":"h8i9j0k1","timestamp":"2024-12-03T14:25:00.000Z","customType":"my-extension","content":"Injected context...","display":true}"#,
        r#"{"type":"custom_message","customType":"my-extension","content":"Injected context...","display":true,"id":"i9j0k1l2","parentId":"h8i9j0k1","timestamp":"2024-12-03T14:25:00.000Z"}"#,
    ),
    (
        Family::Omp,
        r#"{"type":"custom","id":"f1a2b3c4","parentId":"e1f2a3b4","timestamp":"2026-02-16T10:25:00.000Z","customType":"my-extension","data":{"state":1}}"#,
        r#"{"type":"custom","customType":"my-extension","data":{"state":1},"id":"f1a2b3c4","parentId":"e1f2a3b4","timestamp":"2026-02-16T10:25:00.000Z"}"#,
    ),
    (
        Family::Omp,
        r#"{"type":"custom_message","id":"a2b3c4d5","parentId":"f1a2b3c4","timestamp":"2026-02-16T10:26:00.000Z","customType":"my-extension","content":"Injected context","display":true,"details":{"debug":false}}"#,
        r#"{"type":"custom_message","customType":"my-extension","content":"Injected context","display":true,"details":{"debug":false},"id":"a2b3c4d5","parentId":"f1a2b3c4","timestamp":"2026-02-16T10:26:00.000Z"}"#,
    ),
    (
        Family::Omp,
        r#"{"type":"compaction","id":"d1e2f3a4","parentId":"c1d2e3f4","timestamp":"2026-02-16T10:23:00.000Z","summary":"Conversation summary","shortSummary":"Short recap","firstKeptEntryId":"a1b2c3d4","tokensBefore":42000,"details":{"readFiles":["src/a.ts"]},"preserveData":{"hookState":true},"fromExtension":false}"#,
        r#"{"type":"compaction","id":"d1e2f3a4","parentId":"c1d2e3f4","timestamp":"2026-02-16T10:23:00.000Z","summary":"Conversation summary","shortSummary":"Short recap","firstKeptEntryId":"a1b2c3d4","tokensBefore":42000,"details":{"readFiles":["src/a.ts"]},"fromExtension":false,"preserveData":{"hookState":true}}"#,
    ),
];

#[test]
fn examples_of_the_documents() {
    let same = |examples: &[&'static str], family| {
        examples.iter().map(|&example| (family, example, example)).collect::<Vec<_>>()
    };
    let mut examples = same(OF_PI, Family::Pi);
    examples.extend(same(OF_OMP, Family::Omp));
    examples.extend(IN_ANOTHER_ORDER);
    for (family, example, expected) in examples {
        assert_eq!(rewritten(example, family), format!("{expected}\n"));
        // Members in the opposite order, with spaces between them, give the same line.
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(example).unwrap();
        let backwards: Vec<String> = members
            .iter()
            .rev()
            .map(|(name, value)| {
                let text = Raw::parse(example).unwrap().member(name).unwrap().as_str();
                assert_eq!(&serde_json::from_str::<serde_json::Value>(text).unwrap(), value);
                format!(" \"{name}\" : {text}\t")
            })
            .collect();
        let backwards = format!("{{{}}}\n", backwards.join(","));
        assert_eq!(rewritten(&backwards, family), format!("{expected}\n"));
    }
}

#[test]
fn headers_of_the_documents() {
    for (example, expected) in [
        (
            r#"{"type":"session","version":2,"id":"uuid","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/path/to/project"}"#,
            r#"{"type":"session","version":3,"id":"uuid","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/path/to/project"}"#,
        ),
        (
            r#"{"type":"session","version":3,"id":"uuid","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/path/to/project","parentSession":"/path/to/original/session.jsonl"}"#,
            r#"{"type":"session","version":3,"id":"uuid","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/path/to/project","parentSession":"/path/to/original/session.jsonl"}"#,
        ),
        (
            r#"{"type":"session","version":3,"id":"1f9d2a6b9c0d1234","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work/pi","title":"optional session title","parentSession":"optional lineage marker"}"#,
            r#"{"type":"session","version":3,"id":"1f9d2a6b9c0d1234","title":"optional session title","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work/pi","parentSession":"optional lineage marker"}"#,
        ),
    ] {
        let facts = HeaderFacts::of(&Scanner::new().scan(example), 0).unwrap();
        let header = Header {
            id: std::str::from_utf8(&facts.id).unwrap(),
            title: facts.title.as_deref(),
            timestamp: facts.timestamp_ms.unwrap(),
            cwd: facts.cwd.as_deref().unwrap(),
            parent_session: facts.parent_session.as_deref().map(str::as_bytes),
        };
        let mut out = Vec::new();
        header.write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
    }
}

/// An entry of a documented or undocumented type, with any further members.
fn entry(seed: u64) -> (String, Family) {
    let mut random = Random::new(seed);
    let family = if random.one_in(2) { Family::Pi } else { Family::Omp };
    let example = match random.below(3) {
        0 => random.pick(OF_PI),
        1 => random.pick(OF_OMP),
        _ => IN_ANOTHER_ORDER[random.below(IN_ANOTHER_ORDER.len())].1,
    };
    let mut more = String::new();
    object(&mut random, 4, &mut more);
    let inner = more.trim_start_matches('{').trim_end_matches('}').trim();
    let text = if inner.is_empty() || random.one_in(8) {
        example.to_owned()
    } else if random.one_in(2) {
        format!("{},{}", more.trim_end().trim_end_matches('}'), &example[1..])
    } else {
        format!("{},{}", example.trim_end_matches('}'), &more[1..])
    };
    (text, family)
}

/// The longest string of a value, in UTF-16 units.
fn longest(text: &str) -> usize {
    fn of(value: Raw<'_>, longest: &mut usize) {
        if let Some(string) = value.as_string() {
            let units = string.iter().map(|byte| match byte {
                0xf0.. => 2,
                0x80..0xc0 => 0,
                _ => 1,
            });
            *longest = units.sum::<usize>().max(*longest);
        }
        value.elements().for_each(|element| of(element, longest));
        if value.is_object() {
            let names: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(value.as_str()).unwrap();
            names
                .keys()
                .filter_map(|name| value.member(name))
                .for_each(|member| of(member, longest));
        }
    }
    let mut longest = 0;
    of(Raw::parse(text).unwrap(), &mut longest);
    longest
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same_draft(seed in any::<u64>(), id in any::<String>(), parent in any::<Option<String>>(), timestamp in any::<i64>()) {
        let (text, family) = entry(seed);
        if let Ok(draft) = Draft::from_json(&text, family) {
            let parent = parent.as_deref().map_or(ParentId::Null, |id| ParentId::Id(id.as_bytes()));
            let line = line(&draft, &Place { id: &id, parent, timestamp });
            prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
            prop_assert_eq!(stringified(&line) + "\n", line.as_str());
            prop_assert_eq!(&Draft::from_json(&line, family).unwrap(), &draft);
            let mut kept = draft.clone();
            prop_assert!(Rules::keep_everything().apply(&mut kept, |_| [0; 32]).is_empty());
            prop_assert_eq!(kept, draft);
        }
    }

    #[test]
    fn any_text_is_a_draft_or_an_error(text in any::<String>(), seed in any::<u64>()) {
        for family in [Family::Pi, Family::Omp] {
            let _ = Draft::from_json(&text, family);
            let (entry, _) = entry(seed);
            let damaged = oracle::random::damage(&mut Random::new(seed), &entry);
            if let Ok(mut draft) = Draft::from_json(&damaged, family) {
                let _ = draft.set_member(&text, &text);
                Rules::documented().apply(&mut draft, |_| [0; 32]);
            }
            let _ = Draft::message(&text);
            let _ = Draft::session_info(&text);
        }
    }

    #[test]
    fn rules_leave_json_within_the_limit(seed in any::<u64>(), limit in 0_usize..100) {
        let mut text = String::new();
        value(&mut Random::new(seed), 5, &mut text);
        let mut draft = Draft::custom("c", Some(&text)).unwrap();
        let rules = Rules { truncate_from: Some(limit), ..Rules::documented() };
        rules.apply(&mut draft, |_| [0; 32]);
        let data = draft.member("data").unwrap().to_owned();
        prop_assert_eq!(&stringified(&data), &data);
        // serde_json cannot hold the lone surrogates in the text.
        if !data.contains("\\ud") {
            prop_assert!(longest(&data) <= limit);
        }
        rules.apply(&mut draft, |_| [0; 32]);
        prop_assert_eq!(draft.member("data"), Some(&*data));
    }

    #[test]
    fn a_cut_never_leaves_half_a_pair(text in any::<String>(), limit in 0_usize..300) {
        let json = serde_json::to_string(&text.repeat(20)).unwrap();
        let mut draft = Draft::custom("c", Some(&json)).unwrap();
        let rules = Rules { truncate_from: Some(limit), ..Rules::documented() };
        rules.apply(&mut draft, |_| [0; 32]);
        let data = draft.member("data").unwrap();
        let cut = unescape(&data[1..data.len() - 1]);
        let cut = std::str::from_utf8(&cut).unwrap();
        prop_assert!(cut.encode_utf16().count() <= limit);
        let before_notice = cut.strip_suffix(leafline_import::pi_omp::TRUNCATION_NOTICE).unwrap_or(cut);
        prop_assert!(text.repeat(20).starts_with(before_notice));
    }
}
