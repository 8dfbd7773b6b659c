//! Beginnings of files.

use super::*;

const USER: &str = r#"{"type":"user","uuid":"a","parentUuid":null,"isSidechain":false,"sessionId":"s","version":"2.0.1","cwd":"/w","gitBranch":"main","timestamp":"1970-01-01T00:00:00Z"}"#;

fn found(text: &str) -> Detection {
    detect(text.as_bytes(), true).unwrap()
}

fn reason(text: &str) -> NotASession {
    detect(text.as_bytes(), true).unwrap_err()
}

#[test]
fn facts_come_from_the_first_records_that_have_them() {
    let detection = found(USER);
    assert_eq!(detection.session_id.as_deref(), Some("s"));
    assert_eq!(detection.version.as_deref(), Some("2.0.1"));
    assert_eq!(detection.cwd.as_deref(), Some("/w"));
    assert_eq!(detection.git_branch.as_deref(), Some("main"));
    assert_eq!((detection.timestamp_ms, detection.agent), (Some(0), None));
    let summary = r#"{"type":"summary","summary":"x","leafUuid":"y","version":"1"}"#;
    let detection = found(&format!("{summary}\n{USER}"));
    assert_eq!((detection.line, detection.version.as_deref()), (0, Some("2.0.1")));
    assert_eq!(found(summary).version, None);
}

#[test]
fn beginnings() {
    for (line, before) in [
        (0, "\u{feff}"),
        (2, "\r\n\n"),
        (1, "{torn\n"),
        (2, "\0\0\0\n\"text\"\n"),
        (1, "{\"type\":\"from-a-later-version\",\"value\":1}\n"),
        (0, "{\"type\":\"file-history-snapshot\",\"messageId\":\"m\",\"snapshot\":{}}\n"),
        (0, "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"sessionId\":\"s\"}\n"),
        (0, "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s\"}\n"),
        (
            0,
            "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"b\",\"message\":\"to{\"type\":1}\n",
        ),
    ] {
        let detection = found(&format!("{before}{USER}\n"));
        assert_eq!(detection.line, line, "{before}");
        assert_eq!(detection.cwd.as_deref(), Some("/w"), "{before}");
    }
}

#[test]
fn other_files() {
    assert_eq!(reason(""), NotASession::Empty);
    assert_eq!(reason("\n[1]\nx"), NotASession::NoRecord);
    let header = r#"{"type":"session","version":3,"id":"s"}"#;
    assert_eq!(reason(&format!("{header}\n{USER}")), NotASession::PiOrOmp { line: 0 });
    let title = r#"{"type":"title","v":1,"title":"x"}"#;
    assert_eq!(reason(&format!("{title}\n{header}")), NotASession::PiOrOmp { line: 1 });
    assert_eq!(reason("\n{\"metadata\":{}}"), NotASession::Opal { line: 1 });
    for text in [
        r#"{"type":"user","name":"Robin","uuid":"a"}"#,
        r#"{"type":"user","message":"logged in","session_id":"s"}"#,
        r#"{"type":"assistant","message":{},"session_id":"s","uuid":"a","timestamp":"t"}"#,
        r#"{"type":"page_view","sessionId":"s","uuid":"a","timestamp":"t"}"#,
        r#"{"type":"summary","summary":"of a report"}"#,
        r#"{"display":"x","sessionId":"s","timestamp":1}"#,
        r#"{"type":"message","id":"a","parentId":null,"message":{}}"#,
        r#"{"level":"info","msg":"started"}"#,
        "{}",
    ] {
        assert_eq!(reason(text), NotASession::Unmarked { records: 1 }, "{text}");
    }
}

#[test]
fn the_search_is_bounded() {
    let text = format!("{}{USER}", "{}\n".repeat(MOST_UNMARKED));
    assert_eq!(reason(&text), NotASession::Unmarked { records: MOST_UNMARKED });
    let text = format!("{}{USER}", "{}\n".repeat(MOST_UNMARKED - 1));
    assert_eq!(found(&text).line, 255);
    let cut = detect(&USER.as_bytes()[..30], false);
    assert_eq!(cut, Err(NotASession::PrefixTooShort { bytes: 30 }));
}
