//! Odd lines: their ends, their bytes, their sizes.

use super::{HEADER, assistant, conversation, file, user, with_line};

pub(super) fn files() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = ends();
    files.extend(bytes());
    files.extend(sizes());
    files.extend(records());
    files
}

/// Line ends, blank lines and the ends of files.
fn ends() -> Vec<(&'static str, Vec<u8>)> {
    let [header, question, answer] = conversation();
    let whole = file(conversation());
    let mut torn = whole.clone();
    torn.truncate(whole.len() - 40);
    vec![
        ("empty file", Vec::new()),
        ("only a line end", b"\n".to_vec()),
        ("only blank lines", b"\n\n\n\n".to_vec()),
        ("only whitespace", b"   \t  \n \n\t".to_vec()),
        ("header only", file([HEADER])),
        ("header only, no final line end", HEADER.into()),
        ("header with trailing spaces", file([format!("{HEADER}    "), question.clone()])),
        ("header with leading spaces", file([format!("  \t{HEADER}"), question.clone()])),
        ("header behind blank lines", file(["", "", HEADER, &question])),
        ("header behind a malformed line", file(["not json", HEADER, &question])),
        ("no header", file([&question, &answer])),
        ("header without an id", file([r#"{"type":"session","version":3}"#, &question])),
        ("header with a numeric id", file([r#"{"type":"session","version":3,"id":7}"#, &question])),
        ("header twice", file([HEADER, HEADER, &question, &answer])),
        (
            "header again, later, another id",
            file([&header, &question, &header.replace("zoo-session", "other"), &answer]),
        ),
        ("no final line end", format!("{header}\n{question}\n{answer}").into_bytes()),
        ("torn last line", torn),
        (
            "torn inside a character",
            whole_then(&whole, b"{\"type\":\"message\",\"id\":\"00000003\",\"note\":\"\xe2\x82"),
        ),
        ("CRLF", format!("{header}\r\n{question}\r\n{answer}\r\n").into_bytes()),
        ("CRLF and LF mixed", format!("{header}\r\n{question}\n\r\n{answer}\r").into_bytes()),
        ("lone CR between records", format!("{header}\r{question}\r{answer}\r").into_bytes()),
        ("blank lines between", format!("{header}\n\n{question}\n\n\n{answer}\n\n").into_bytes()),
        (
            "whitespace-only lines",
            format!("{header}\n   \n{question}\n\t\t\n{answer}\n  ").into_bytes(),
        ),
        ("spaces around records", format!("{header}\n  {question}  \n\t{answer}\t\n").into_bytes()),
    ]
}

fn whole_then(whole: &[u8], end: &[u8]) -> Vec<u8> {
    [whole, end].concat()
}

/// Bytes that are not plain text.
fn bytes() -> Vec<(&'static str, Vec<u8>)> {
    let whole = file(conversation());
    let mut nul_run = whole.clone();
    nul_run.extend_from_slice(&[0; 4096]);
    let mut nul_line = whole.clone();
    nul_line.extend_from_slice(&[0; 512]);
    nul_line.push(b'\n');
    nul_line.extend_from_slice(user("00000003", "\"00000002\"", "after").as_bytes());
    let mut invalid = user("00000003", "null", "cut \u{1}\u{2} here").into_bytes();
    for byte in &mut invalid {
        match *byte {
            1 => *byte = 0xff,
            2 => *byte = 0xc0,
            _ => {}
        }
    }
    let overlong = b"{\"type\":\"message\",\"id\":\"\xc0\xafoverlong\",\"parentId\":null,\"timestamp\":\"2026-03-01T08:00:01.000Z\"}";
    vec![
        ("BOM", [b"\xef\xbb\xbf", &whole[..]].concat()),
        ("NUL bytes in a string", with_line(user("00000003", "null", "a\u{0}b"))),
        ("NUL run at the end", nul_run),
        ("NUL run as a line", nul_line),
        ("invalid UTF-8 in a string", with_line(&invalid)),
        ("invalid UTF-8 in an id", with_line(overlong)),
        ("CESU-8 surrogates", with_line(b"{\"type\":\"custom\",\"customType\":\"\xed\xa0\xbd\xed\xb8\x80\",\"id\":\"00000003\",\"parentId\":null,\"timestamp\":\"2026-03-01T08:00:01.000Z\"}")),
        ("U+2028 and U+2029", with_line(user("00000003", "null", "one\u{2028}two\u{2029}three\u{85}four"))),
        ("raw control characters", with_line(user("00000003", "null", "bell \u{7} tab \t esc \u{1b}[0m"))),
        ("lone surrogate escapes", with_line(user("00000003", "null", r"high \ud83d low \ude00 swapped \ude00\ud83d"))),
        ("surrogate pair escapes", with_line(user("00000003", "null", r"\ud83d\ude00 and \u0041\/\b\f"))),
        ("invalid escape", with_line(user("00000003", "null", r"C:\work\quux"))),
        ("characters outside the first plane", with_line(user("00000003", "null", "\u{1f342}\u{10ffff}\u{0301}"))),
        ("binary noise", (0..=255u8).cycle().take(5000).map(|byte| byte.wrapping_mul(167)).collect()),
    ]
}

/// Lines that are very long, very many or very deep.
fn sizes() -> Vec<(&'static str, Vec<u8>)> {
    let deep = format!(
        r#"{{"type":"custom","customType":"deep","data":{}{},"id":"00000003","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z"}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let deep_objects = format!(
        r#"{{"type":"custom","customType":"deep","data":{}1{},"id":"00000003","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z"}}"#,
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    let many_members: String = (0..20_000).map(|place| format!("\"k{place}\":{place},")).collect();
    let tiny = |place: u32| user(&format!("{place:08x}"), &parent_of(place), "k");
    vec![
        ("string of 1 MB", with_line(user("00000003", "null", &"word ".repeat(200_000)))),
        ("line of 5 MB", with_line(assistant("00000003", "null", &"\\u00e9\\n".repeat(640_000)))),
        (
            "two lines of 3 MB",
            file([
                HEADER.to_owned(),
                user("00000003", "null", &"x".repeat(3_000_000)),
                user("00000004", "\"00000003\"", &"y".repeat(3_000_000)),
            ]),
        ),
        ("malformed line of 2 MB", with_line("{\"type\":\"message\",".repeat(120_000))),
        ("arrays nested 100,000 deep", with_line(deep)),
        ("objects nested 100,000 deep", with_line(deep_objects)),
        ("unclosed arrays, 100,000 deep", with_line("[".repeat(100_000))),
        (
            "20,000 members",
            with_line(format!(
                r#"{{{many_members}"type":"custom","customType":"wide","id":"00000003","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z"}}"#
            )),
        ),
        (
            "30,000 small lines",
            file(std::iter::once(HEADER.to_owned()).chain((1..=30_000).map(tiny))),
        ),
        ("100,000 blank lines", [HEADER.as_bytes(), &[b'\n'; 100_000]].concat()),
        ("50,000 lines of one byte", [HEADER.as_bytes(), &b"\n1".repeat(50_000)].concat()),
        ("id of 100 KB", with_line(user(&"a".repeat(100_000), "null", "long id"))),
    ]
}

fn parent_of(place: u32) -> String {
    if place == 1 { "null".to_owned() } else { format!("\"{:08x}\"", place - 1) }
}

/// Lines that are not exactly one record.
fn records() -> Vec<(&'static str, Vec<u8>)> {
    let [header, question, answer] = conversation();
    let after = user("00000004", "\"00000002\"", "after");
    vec![
        ("spliced records", format!("{header}\n{question}{answer}\n{after}\n").into_bytes()),
        ("record and rubbish", format!("{header}\n{question}}}\n{after}\n").into_bytes()),
        ("rubbish and record", format!("{header}\nlog: {question}\n{after}\n").into_bytes()),
        (
            "values that are no objects",
            file([&header, "null", "true", "17", "\"text\"", "[]", "{}", &question]),
        ),
        (
            "pretty-printed record",
            format!("{header}\n{{\n  \"type\": \"custom\",\n  \"id\": \"00000003\"\n}}\n")
                .into_bytes(),
        ),
        (
            "spaces inside a record",
            with_line(
                r#"{ "type" : "label" , "id" : "00000003" , "parentId" : null , "timestamp" : "2026-03-01T08:00:01.000Z" , "targetId" : "00000003" , "label" : "spaced" }"#,
            ),
        ),
        (
            "duplicate keys",
            with_line(
                r#"{"type":"message","type":"label","id":"00000003","id":"00000009","parentId":"00000001","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z","targetId":"00000009","label":"first","label":"last"}"#,
            ),
        ),
        (
            "keys with escapes",
            with_line(
                r#"{"\u0074ype":"label","\u0069d":"00000003","parent\u0049d":null,"timestamp":"2026-03-01T08:00:01.000Z","targetId":"00000003","label":"escaped"}"#,
            ),
        ),
        (
            "array index keys",
            with_line(
                r#"{"type":"custom","customType":"keys","data":{"b":1,"10":2,"9":3,"-1":4,"01":5,"4294967295":6},"id":"00000003","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z"}"#,
            ),
        ),
        (
            "empty keys and __proto__",
            with_line(
                r#"{"type":"custom","customType":"keys","data":{"":0,"__proto__":{"polluted":true},"constructor":1},"id":"00000003","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z"}"#,
            ),
        ),
        (
            "NaN and comments",
            with_line("{\"type\":\"custom\",\"id\":\"00000003\",\"data\":NaN} // no JSON"),
        ),
        ("trailing comma", with_line(r#"{"type":"custom","id":"00000003","parentId":null,}"#)),
        ("single quotes", with_line("{'type':'custom','id':'00000003'}")),
    ]
}
