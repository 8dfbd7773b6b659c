//! Splices, tears and damage.

use proptest::prelude::*;

use super::*;
use crate::scan::Raw;

const CLAUDE: &str = r#"{"parentUuid":"p","isSidechain":true,"sessionId":"s","type":"user","message":{"role":"user","content":[{"type":"text","text":"a {\"uuid\":\"no\"} [b"}]},"uuid":"u","timestamp":"2026-01-01T00:00:00Z"}"#;
const PI: &str = r#"{"type":"message","id":"i","parentId":null,"timestamp":"t","message":{"role":"user","content":"x { y"}}"#;

fn ids(line: &[u8]) -> Vec<String> {
    let name = |record: &Recovered<'_>| {
        let id = record.uuid.as_deref().or(record.id.as_deref()).unwrap_or(b"-");
        let mark = match record.wholeness {
            Wholeness::Whole => "",
            Wholeness::Torn => "~",
            Wholeness::Fragment => "^",
        };
        format!("{}{mark}", String::from_utf8_lossy(id))
    };
    recover(line).iter().map(name).collect()
}

#[test]
fn a_whole_record_has_its_facts() {
    let records = recover(CLAUDE.as_bytes());
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!(record.bytes, 0..CLAUDE.len());
    assert_eq!(record.record_type.as_deref(), Some(&b"user"[..]));
    assert_eq!(record.uuid.as_deref(), Some(&b"u"[..]));
    assert_eq!(record.parent_uuid, Some(RecoveredParent::Id(Cow::Borrowed(b"p"))));
    assert_eq!(record.timestamp.as_deref(), Some(&b"2026-01-01T00:00:00Z"[..]));
    assert_eq!(record.session_id.as_deref(), Some(&b"s"[..]));
    assert!(record.is_sidechain && record.id.is_none() && record.parent_id.is_none());
    let records = recover(PI.as_bytes());
    assert_eq!(
        (records[0].id.as_deref(), &records[0].parent_id),
        (Some(&b"i"[..]), &Some(RecoveredParent::Null))
    );
}

#[test]
fn splices_and_padding() {
    assert_eq!(ids(format!("{CLAUDE}{PI}\n").as_bytes()), ["u", "i"]);
    assert_eq!(ids(format!("\0\0{CLAUDE}\0\0\0{PI}\0\r\n").as_bytes()), ["u", "i"]);
    let line = format!("\u{feff}{CLAUDE}");
    assert_eq!(recover(line.as_bytes())[0].bytes, 3..line.len());
    assert!(ids(b"").is_empty() && ids(b"\0\0\n").is_empty() && ids(b"{}{}[]").is_empty());
    assert!(ids(b"{this is not valid json at all}").is_empty());
}

#[test]
fn a_record_torn_anywhere_does_not_hide_the_next() {
    for (first, name) in [(CLAUDE, "u"), (PI, "i")] {
        for cut in 1..first.len() {
            for gap in ["", "\0\0\0"] {
                for (second, other) in [(CLAUDE, "u"), (PI, "i")] {
                    let line = format!("{}{gap}{second}\n", &first[..cut]);
                    let found = ids(line.as_bytes());
                    assert_eq!(found.last().map(String::as_str), Some(other), "{line}");
                    let records = recover(line.as_bytes());
                    let last = records.last().unwrap();
                    assert_eq!(&line[last.bytes.clone()], second, "{line}");
                    assert!(found.len() <= 2, "{line}: {found:?}");
                    let named = first[..cut].contains(&format!(r#"d":"{name}""#));
                    assert_eq!(found[0] == format!("{name}~"), named, "{line}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn a_record_torn_by_the_end_of_the_line_is_read_as_far_as_it_goes() {
    let cut = &CLAUDE[..CLAUDE.len() - 1];
    assert_eq!(ids(cut.as_bytes()), ["u~"]);
    assert_eq!(ids(format!("{cut}\0\0").as_bytes()), ["u~"]);
    let cut = &CLAUDE[..CLAUDE.len() - 60];
    assert_eq!(ids(cut.as_bytes()), ["-~"]);
}

#[test]
fn a_record_whose_beginning_is_lost() {
    let at = CLAUDE.find("]},\"uuid\"").unwrap();
    assert_eq!(ids(format!("{}\n", &CLAUDE[at..]).as_bytes()), ["u^"]);
    let line = format!("{}{PI}", &CLAUDE[at - 5..]);
    assert_eq!(ids(line.as_bytes()), ["u^", "i"]);
    assert_eq!(
        recover(line.as_bytes())[0].timestamp.as_deref(),
        Some(&b"2026-01-01T00:00:00Z"[..])
    );
}

#[test]
fn damage_within_a_record() {
    assert_eq!(ids(br#"{"type":"user","text":"bad \x escape","uuid":"a"}"#), ["a"]);
    assert_eq!(ids(b"{\"type\":\"user\",\"text\":\"raw \x01 \xff tab\t\",\"uuid\":\"a\"}"), ["a"]);
    assert_eq!(ids(br#"{"message":{"role":"user",content:"no quote"},"uuid":"a",}"#), ["a"]);
    assert_eq!(ids(br#"{"text":"he said "hi" to","uuid":"a"}"#), ["a"]);
    assert_eq!(ids(br#"{"list":[1,2},"uuid":"a"}"#), ["a^"]);
    assert_eq!(ids(br#"{"x":{"list":[1,2},"uuid":"a"}"#), ["a"]);
    assert_eq!(ids(br#"{"uuid":"a","uuid":"b"}"#), ["b"]);
    assert_eq!(ids(br#"{"uuid":"\u0061\ud800"}"#), ["a\u{fffd}\u{fffd}\u{fffd}"]);
}

#[test]
fn what_a_whole_record_holds_is_no_record() {
    let line = format!(r#"{{"uuid":"o","data":{CLAUDE}}}x"#);
    assert_eq!(ids(line.as_bytes()), ["o"]);
    let line = format!(r#"{{"uuid":"o","data":{CLAUDE},"more":"#);
    assert_eq!(ids(line.as_bytes()), ["o~", "u"]);
}

#[test]
fn nesting_costs_little() {
    for opening in ["[", "{", "{\"a\":", "[{\"uuid\":\"x\",\"type\":\"y\",\"parentUuid\":"] {
        let line = format!("{CLAUDE}{{\"a\":{}", opening.repeat(500_000));
        assert_eq!(ids(line.as_bytes())[0], "u");
    }
    let line = format!("{}{}", "[]{}".repeat(100_000), CLAUDE);
    assert_eq!(ids(line.as_bytes()), ["u"]);
    let line = "{".repeat(300) + &"]".repeat(1_000_000);
    assert!(ids(line.as_bytes()).is_empty());
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes)?;
    }

    #[test]
    fn any_marks(text in r#"([{}\[\],:"\\0]|"uuid":|"parentUuid":|"type":"x"|"id":"y"|null| ){0,60}"#) {
        check(text.as_bytes())?;
    }

    #[test]
    fn spliced_records_come_back(
        records in proptest::collection::vec((any::<String>(), any::<String>(), 0_usize..3), 1..5),
    ) {
        let mut line = Vec::new();
        let mut expected = Vec::new();
        for (uuid, text, padding) in &records {
            let record = serde_json::json!({
                "parentUuid": null, "type": "user",
                "message": {"content": [{"type": "text", "text": text}]}, "uuid": uuid,
            })
            .to_string();
            let start = line.len();
            line.extend_from_slice(record.as_bytes());
            expected.push((start..line.len(), uuid.clone().into_bytes()));
            line.extend(std::iter::repeat_n(0, *padding));
        }
        let found: Vec<_> = recover(&line)
            .into_iter()
            .map(|record| (record.bytes.clone(), record.uuid.unwrap().into_owned()))
            .collect();
        prop_assert_eq!(found, expected);
    }

    /// One record that is JSON is one record here, whatever it contains.
    #[test]
    fn what_is_json_is_one_record(text in any::<String>(), name in any::<String>()) {
        let record = serde_json::json!({"type": "x", name: [text.clone(), {"a": text}], "uuid": "u"});
        let line = record.to_string();
        prop_assert!(Raw::parse(&line).is_ok());
        let found = recover(line.as_bytes());
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(&found[0].bytes, &(0..line.len()));
    }
}

fn check(line: &[u8]) -> Result<(), TestCaseError> {
    let mut past = 0;
    for record in recover(line) {
        prop_assert!(record.bytes.start >= past && record.bytes.end <= line.len());
        prop_assert!(record.bytes.start < record.bytes.end);
        past = record.bytes.end;
    }
    Ok(())
}
