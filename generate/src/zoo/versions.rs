//! Files of versions 1 and 2, to be migrated.

use super::file;

const OLD_HEADER: &str = r#"{"type":"session","id":"zoo-old","timestamp":"2025-11-01T08:00:00.000Z","cwd":"/home/robin/work/zoo","provider":"anthropic","modelId":"claude-opus-4-5","thinkingLevel":"off"}"#;

pub(super) fn files() -> Vec<(&'static str, Vec<u8>)> {
    let compactions = [
        ("version 1, kept index good", "1"),
        ("version 1, kept index of the header", "0"),
        ("version 1, kept index of itself", "3"),
        ("version 1, kept index forward", "4"),
        ("version 1, kept index out of range", "99"),
        ("version 1, kept index negative", "-1"),
        ("version 1, kept index negative zero", "-0"),
        ("version 1, kept index fractional", "1.5"),
        ("version 1, kept index whole fraction", "2.0"),
        ("version 1, kept index past 2^64", "1e30"),
        ("version 1, kept index a string", "\"1\""),
        ("version 1, kept index null", "null"),
    ];
    let mut files: Vec<(&'static str, Vec<u8>)> = compactions
        .into_iter()
        .map(|(name, index)| {
            let compaction = compaction(&format!("\"firstKeptEntryIndex\":{index}"));
            (
                name,
                file([
                    OLD_HEADER,
                    &message("one"),
                    &message("two"),
                    &compaction,
                    &message("three"),
                ]),
            )
        })
        .collect();
    files.extend(first_versions());
    files.extend(second_versions());
    files
}

fn message(text: &str) -> String {
    format!(
        r#"{{"type":"message","timestamp":"2025-11-01T08:00:01.000Z","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"timestamp":1761984001000}}}}"#
    )
}

fn compaction(members: &str) -> String {
    format!(
        r#"{{"type":"compaction","timestamp":"2025-11-01T08:00:02.000Z","summary":"one and two",{members},"tokensBefore":5000}}"#
    )
}

fn first_versions() -> Vec<(&'static str, Vec<u8>)> {
    let kept = compaction("\"firstKeptEntryIndex\":2");
    let both = compaction("\"firstKeptEntryIndex\":1,\"firstKeptEntryId\":\"stale\"");
    let with_ids = r#"{"type":"message","id":"own-id","parentId":"own-parent","timestamp":"2025-11-01T08:00:01.000Z","message":{"role":"user","content":"has ids already"}}"#;
    let again = OLD_HEADER.replace("zoo-old", "zoo-again");
    vec![
        ("version 1, linear", file([OLD_HEADER, &message("one"), &message("two")])),
        (
            "version 1, malformed lines do not count",
            file([OLD_HEADER, "{broken", "", &message("one"), &message("two"), &kept]),
        ),
        ("version 1, other values count", file([OLD_HEADER, "17", &message("one"), &kept])),
        ("version 1, a null line", file([OLD_HEADER, "null", &message("one")])),
        ("version 1, index and id", file([OLD_HEADER, &message("one"), &both])),
        ("version 1, entries with ids", file([OLD_HEADER, with_ids, &message("two")])),
        (
            "version 1, header again",
            file([OLD_HEADER, &message("one"), &again, &message("two"), &kept]),
        ),
        (
            "version 1, numbers to rewrite",
            file([
                OLD_HEADER,
                r#"{"type":"custom","timestamp":"2025-11-01T08:00:01.000Z","data":[1.0,1e21,-0,9007199254740993,1e-7,0.1],"7":1,"a":2,"3":3}"#,
            ]),
        ),
        (
            "version 1, strings to rewrite",
            file([
                OLD_HEADER,
                r#"{"type":"custom","timestamp":"2025-11-01T08:00:01.000Z","data":"\u0041\/\u001f\u2028\ud800 \ud83d\ude00 \u007f","data":"the last one wins"}"#,
            ]),
        ),
        ("version 1, CRLF", format!("{OLD_HEADER}\r\n{}\r\n", message("one")).into_bytes()),
        ("version 1, no final line end", format!("{OLD_HEADER}\n{}", message("one")).into_bytes()),
        (
            "version 1, written as 1",
            file([&OLD_HEADER.replacen("\"id\"", "\"version\":1,\"id\"", 1), &message("one")]),
        ),
        (
            "version 0",
            file([&OLD_HEADER.replacen("\"id\"", "\"version\":0,\"id\"", 1), &message("one")]),
        ),
        (
            "version null",
            file([&OLD_HEADER.replacen("\"id\"", "\"version\":null,\"id\"", 1), &message("one")]),
        ),
        (
            "version 1, hook message",
            file([OLD_HEADER, &message("one").replace("\"user\"", "\"hookMessage\"")]),
        ),
    ]
}

fn second_versions() -> Vec<(&'static str, Vec<u8>)> {
    let header = r#"{"type":"session","version":2,"id":"zoo-second","timestamp":"2025-12-20T08:00:00.000Z","cwd":"/home/robin/work/zoo"}"#;
    let entry = |id: &str, parent: &str, role: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2025-12-20T08:00:01.000Z","message":{{"role":"{role}","customType":"lint","content":"{id}","display":true,"timestamp":1766217601000}}}}"#
        )
    };
    let odd = r#"{"type":"message","id":"c","parentId":"b","timestamp":"2025-12-20T08:00:01.000Z","message":null}"#;
    let escaped = entry("b", "\"a\"", "hook\\u004dessage");
    let twice = r#"{"type":"message","id":"b","parentId":"a","timestamp":"2025-12-20T08:00:01.000Z","message":{"role":"hookMessage","role":"user","content":"x"}}"#;
    let elsewhere = r#"{"type":"custom","customType":"hookMessage","data":{"message":{"role":"hookMessage"}},"id":"b","parentId":"a","timestamp":"2025-12-20T08:00:01.000Z"}"#;
    vec![
        (
            "version 2, hook message",
            file([
                header,
                &entry("a", "null", "user"),
                &entry("b", "\"a\"", "hookMessage"),
                &entry("c", "\"b\"", "user"),
            ]),
        ),
        (
            "version 2, hook message with escapes",
            file([header, &entry("a", "null", "user"), &escaped]),
        ),
        ("version 2, role twice", file([header, &entry("a", "null", "user"), twice])),
        (
            "version 2, hook message elsewhere",
            file([header, &entry("a", "null", "user"), elsewhere]),
        ),
        (
            "version 2, message null",
            file([header, &entry("a", "null", "user"), &entry("b", "\"a\"", "hookMessage"), odd]),
        ),
        ("version 2, nothing to rename", file([header, &entry("a", "null", "user")])),
        (
            "version 2, malformed line",
            file([
                header,
                &entry("a", "null", "hookMessage"),
                "{\"type\":\"message\"",
                &entry("b", "\"a\"", "user"),
            ]),
        ),
        (
            "version 3, hook message stays",
            file([
                &header.replace("\"version\":2", "\"version\":3"),
                &entry("a", "null", "hookMessage"),
            ]),
        ),
        (
            "version 4",
            file([&header.replace("\"version\":2", "\"version\":4"), &entry("a", "null", "user")]),
        ),
        (
            "version as a string",
            file([
                &header.replace("\"version\":2", "\"version\":\"2\""),
                &entry("a", "null", "hookMessage"),
            ]),
        ),
        (
            "version 2.5",
            file([
                &header.replace("\"version\":2", "\"version\":2.5"),
                &entry("a", "null", "hookMessage"),
            ]),
        ),
    ]
}
