//! Odd ids and parents.

use super::{HEADER, assistant, file, user};

pub(super) fn files() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = ids();
    files.extend(parents());
    files
}

fn entries(lines: &[String]) -> Vec<u8> {
    file(std::iter::once(HEADER).chain(lines.iter().map(String::as_str)))
}

fn ids() -> Vec<(&'static str, Vec<u8>)> {
    let raw = |members: &str| {
        format!(
            r#"{{"type":"message"{members},"timestamp":"2026-03-01T08:00:01.000Z","message":{{"role":"user","content":"x","timestamp":1772352001000}}}}"#
        )
    };
    vec![
        ("ids with escapes", entries(&[user(r"caf\u00e9\n\t\\", "null", "a"), user("b", r#""caf\u00e9\n\t\\""#, "b"), user("c", "\"caf\u{e9}\\n\\t\\\\\"", "the same id, spelled another way")])),
        ("ids with lone surrogates", entries(&[user(r"\ud800x", "null", "a"), user(r"\ud801x", r#""\ud800x""#, "b"), user("c", r#""\ud801x""#, "c")])),
        ("empty id", entries(&[user("", "null", "a"), user("b", r#""""#, "b")])),
        ("numeric ids", entries(&[raw(r#","id":1,"parentId":null"#), raw(r#","id":2,"parentId":1"#), raw(r#","id":"3","parentId":"2""#)])),
        ("missing ids", entries(&[raw(r#","parentId":null"#), raw(""), user("c", "null", "c"), raw(r#","parentId":"c""#)])),
        ("null and boolean ids", entries(&[raw(r#","id":null,"parentId":null"#), raw(r#","id":true,"parentId":false"#), raw(r#","id":{},"parentId":[]"#)])),
        ("missing parent", entries(&[raw(r#","id":"a""#), raw(r#","id":"b""#)])),
        ("duplicate ids", entries(&[user("a", "null", "first"), assistant("b", "\"a\"", "between"), user("a", "\"b\"", "again, below itself"), user("c", "\"a\"", "child of which?")])),
        ("duplicate ids, apart", entries(&[user("a", "null", "1"), user("b", "\"a\"", "2"), user("b", "\"a\"", "3"), user("c", "\"b\"", "4"), user("a", "null", "5")])),
        ("ids that differ in case", entries(&[user("abcdef01", "null", "lower"), user("ABCDEF01", "\"abcdef01\"", "upper")])),
        ("types that are missing or odd", entries(&[r#"{"id":"a","parentId":null}"#.to_owned(), r#"{"type":7,"id":"b","parentId":"a"}"#.to_owned(), r#"{"type":null,"id":"c","parentId":"b"}"#.to_owned(), r#"{"type":"","id":"d","parentId":"c"}"#.to_owned(), user("e", "\"d\"", "below them all")])),
        ("messages that are missing or odd", entries(&[r#"{"type":"message","id":"a","parentId":null,"message":{}}"#.to_owned(), r#"{"type":"message","id":"b","parentId":"a","message":{"role":"user"}}"#.to_owned(), r#"{"type":"message","id":"c","parentId":"b","message":{"role":7,"content":{}}}"#.to_owned()])),
        ("timestamps that are missing or odd", entries(&[r#"{"type":"custom","customType":"t","id":"a","parentId":null}"#.to_owned(), r#"{"type":"custom","customType":"t","id":"b","parentId":"a","timestamp":"yesterday"}"#.to_owned(), r#"{"type":"custom","customType":"t","id":"c","parentId":"a","timestamp":1772352001000}"#.to_owned(), r#"{"type":"custom","customType":"t","id":"d","parentId":"a","timestamp":"1969-12-31T23:59:59.999Z"}"#.to_owned(), r#"{"type":"custom","customType":"t","id":"e","parentId":"a","timestamp":"2026-03-01T08:00:01+02:00"}"#.to_owned()])),
    ]
}

fn parents() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("orphans", entries(&[user("a", "null", "root"), user("b", "\"gone\"", "orphan"), user("c", "\"b\"", "child of an orphan"), user("d", "\"zoo-session\"", "child of the header")])),
        ("several roots", entries(&[user("a", "null", "1"), user("b", "null", "2"), user("c", "\"a\"", "3"), user("d", "null", "4")])),
        ("self parent", entries(&[user("a", "null", "root"), user("b", "\"b\"", "its own parent"), user("c", "\"b\"", "below it")])),
        ("two-cycle", entries(&[user("r", "null", "root"), user("a", "\"b\"", "1"), user("b", "\"a\"", "2")])),
        ("three-cycle with a tail", entries(&[user("a", "\"c\"", "1"), user("b", "\"a\"", "2"), user("c", "\"b\"", "3"), user("d", "\"c\"", "tail")])),
        ("forward parents", entries(&[user("d", "\"c\"", "4"), user("c", "\"b\"", "3"), user("b", "\"a\"", "2"), user("a", "null", "1")])),
        ("children out of order", entries(&[user("a", "null", "root"), user("b", "\"a\"", "x").replace("08:00:01", "09:00:00"), user("c", "\"a\"", "y").replace("08:00:01", "07:00:00"), user("d", "\"a\"", "z").replace("08:00:01", "07:00:00")])),
        ("labels set, cleared, dangling", entries(&[user("a", "null", "root"), label("b", "a", "a", r#","label":"one""#), label("c", "b", "a", r#","label":"two""#), label("d", "c", "b", r#","label":"on a label""#), label("e", "d", "a", ""), label("f", "e", "gone", r#","label":"dangling""#), label("g", "f", "b", r#","label":"""#), label("h", "g", "h", r#","label":"itself""#)])),
        ("compactions that keep nothing", entries(&[user("a", "null", "1"), compaction("b", "a", r#","firstKeptEntryId":"gone""#), user("c", "\"b\"", "2"), compaction("d", "c", ""), user("e", "\"d\"", "3"), compaction("f", "e", r#","firstKeptEntryId":"f""#)])),
        ("compactions within the kept part", entries(&[user("a", "null", "1"), compaction("b", "a", r#","firstKeptEntryId":"a""#), user("c", "\"b\"", "2"), compaction("d", "c", r#","firstKeptEntryId":"a""#), user("e", "\"d\"", "3")])),
        ("empty summaries", entries(&[user("a", "null", "1"), r#"{"type":"branch_summary","id":"b","parentId":"a","timestamp":"2026-03-01T08:00:01.000Z","fromId":"root","summary":""}"#.to_owned(), user("c", "\"b\"", "2")])),
        ("unknown types as parents and leaf", entries(&[user("a", "null", "1"), r#"{"type":"active_tools_change","id":"b","parentId":"a","timestamp":"2026-03-01T08:00:01.000Z","tools":["read"]}"#.to_owned(), user("c", "\"b\"", "2"), r#"{"type":"leaf","id":"d","parentId":"c","timestamp":"2026-03-01T08:00:01.000Z","targetId":"a"}"#.to_owned()])),
        ("title line ahead of the header", title_then(&[HEADER.to_owned(), user("a", "null", "1")])),
        ("title line alone", title_then(&[])),
        ("title line behind the header", file([HEADER.as_bytes(), &title(), user("a", "null", "1").as_bytes()])),
    ]
}

fn label(id: &str, parent: &str, target: &str, label: &str) -> String {
    format!(
        r#"{{"type":"label","id":"{id}","parentId":"{parent}","timestamp":"2026-03-01T08:00:03.000Z","targetId":"{target}"{label}}}"#
    )
}

fn compaction(id: &str, parent: &str, kept: &str) -> String {
    format!(
        r#"{{"type":"compaction","id":"{id}","parentId":"{parent}","timestamp":"2026-03-01T08:00:03.000Z","summary":"So far: {id}"{kept},"tokensBefore":1000}}"#
    )
}

/// An omp title line, padded to 256 bytes with its line end, so that it can be rewritten in place.
fn title() -> Vec<u8> {
    let start = r#"{"type":"title","v":1,"title":"A walk in the zoo","updatedAt":"2026-03-01T08:00:00.000Z","pad":""#;
    let mut line = start.as_bytes().to_vec();
    line.resize(255 - 2, b' ');
    line.extend_from_slice(b"\"}");
    line
}

fn title_then(lines: &[String]) -> Vec<u8> {
    let first = title();
    file(std::iter::once(&first[..]).chain(lines.iter().map(String::as_bytes)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_title_line_is_256_bytes() {
        assert_eq!(super::title_then(&[]).len(), 256);
    }
}
