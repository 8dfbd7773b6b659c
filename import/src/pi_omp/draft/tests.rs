use super::*;

const PLACE: Place<'_> =
    Place { id: "b1c2d3e4", parent: ParentId::Id(b"a1b2c3d4"), timestamp: 1_733_234_401_500 };
const PLACED: &str =
    r#""id":"b1c2d3e4","parentId":"a1b2c3d4","timestamp":"2024-12-03T14:00:01.500Z""#;

fn line(draft: &Draft) -> String {
    let mut out = Vec::new();
    draft.write(&PLACE, &mut out);
    String::from_utf8(out).unwrap()
}

/// The line between its type and its end, with `@` for id, parent and time.
fn own(draft: &Draft) -> String {
    let line = line(draft);
    let start = format!("{{\"type\":\"{}\",", draft.entry_type());
    let own = line.strip_prefix(&*start).and_then(|rest| rest.strip_suffix("}\n")).unwrap();
    own.replace(PLACED, "@")
}

fn given(json: &str, family: Family) -> String {
    own(&Draft::from_json(json, family).unwrap())
}

fn error(json: &str, family: Family) -> String {
    Draft::from_json(json, family).unwrap_err().to_string()
}

#[test]
fn constructors_write_the_observed_order() {
    let user = r#"{ "role":"user", "content":"\u0041", "n":1.0 }"#;
    assert_eq!(
        own(&Draft::message(user).unwrap()),
        r#"@,"message":{"role":"user","content":"A","n":1}"#
    );
    assert_eq!(own(&Draft::thinking_level_change("high")), r#"@,"thinkingLevel":"high""#);
    assert_eq!(own(&Draft::model_change("p", "m")), r#"@,"provider":"p","modelId":"m""#);
    assert_eq!(own(&Draft::model_change_omp("p/m", None)), r#"@,"model":"p/m""#);
    assert_eq!(
        own(&Draft::model_change_omp("p/m", Some("smol"))),
        r#"@,"model":"p/m","role":"smol""#
    );
    assert_eq!(
        own(&Draft::custom("my", Some(" [1, 2.50] ")).unwrap()),
        r#""customType":"my","data":[1,2.5],@"#
    );
    assert_eq!(own(&Draft::custom("my", None).unwrap()), r#""customType":"my",@"#);
    assert_eq!(
        own(&Draft::custom_message("my", "\"a\"", true, Some("null")).unwrap()),
        r#""customType":"my","content":"a","display":true,"details":null,@"#
    );
    assert_eq!(own(&Draft::label("a", Some("l\n"))), r#"@,"targetId":"a","label":"l\n""#);
    assert_eq!(own(&Draft::label("a", None)), r#"@,"targetId":"a""#);
    assert_eq!(own(&Draft::session_info("\u{feff} a b\n")), r#"@,"name":"a b""#);
    assert_eq!(
        own(&Draft::mode_change("plan", Some("{}")).unwrap()),
        r#"@,"mode":"plan","data":{}"#
    );
    assert_eq!(own(&Draft::ttsr_injection(&["a", "\""])), r#"@,"injectedRules":["a","\""]"#);
    assert_eq!(own(&Draft::ttsr_injection(&[""; 0])), r#"@,"injectedRules":[]"#);
    assert_eq!(
        own(&Draft::session_init("s", "t", &["read".to_owned()], Some("{}")).unwrap()),
        r#"@,"systemPrompt":"s","task":"t","tools":["read"],"outputSchema":{}"#
    );
}

#[test]
fn summaries_of_both_families() {
    let compaction = Compaction {
        summary: "s",
        short_summary: Some("t"),
        first_kept_entry_id: Some("a"),
        tokens_before: 9_007_199_254_740_993,
        details: Some("{}"),
        from_extension: Some(false),
        preserve_data: Some("1"),
        ..Compaction::default()
    };
    let write = |family, compaction| own(&Draft::compaction(family, &compaction).unwrap());
    assert_eq!(
        write(Family::Omp, compaction),
        r#"@,"summary":"s","shortSummary":"t","firstKeptEntryId":"a","tokensBefore":9007199254740992,"details":{},"fromExtension":false,"preserveData":1"#
    );
    assert_eq!(
        write(Family::Pi, compaction),
        r#"@,"summary":"s","firstKeptEntryId":"a","tokensBefore":9007199254740992,"details":{},"fromHook":false,"shortSummary":"t","preserveData":1"#
    );
    let later = Compaction { usage: Some("2"), system_message: Some("3"), ..compaction };
    assert_eq!(
        write(Family::Pi, later),
        r#"@,"summary":"s","firstKeptEntryId":"a","tokensBefore":9007199254740992,"details":{},"usage":2,"fromHook":false,"systemMessage":3,"shortSummary":"t","preserveData":1"#
    );
    assert_eq!(write(Family::Pi, Compaction::default()), r#"@,"summary":"","tokensBefore":0"#);
    let branch = |family, details, from_extension| {
        own(&Draft::branch_summary(family, "root", "s", details, from_extension).unwrap())
    };
    assert_eq!(
        branch(Family::Pi, Some("[]"), Some(true)),
        r#"@,"fromId":"root","summary":"s","details":[],"fromHook":true"#
    );
    assert_eq!(
        branch(Family::Omp, None, Some(true)),
        r#"@,"fromId":"root","summary":"s","fromExtension":true"#
    );
}

#[test]
fn members_given_in_any_order() {
    assert_eq!(
        given(
            r#"{"z":1,"timestamp":"x","label":"l","id":[{}],"targetId":"a","type":"label","a":1e3,"parentId":5}"#,
            Family::Pi
        ),
        r#"@,"targetId":"a","label":"l","z":1,"a":1000"#
    );
}

#[test]
fn array_indices_come_before_the_type() {
    let json = r#"{"b":0,"10":1,"type":"x","9":2,"01":3}"#;
    let draft = Draft::from_json(json, Family::Pi).unwrap();
    let expected = format!("{{\"9\":2,\"10\":1,\"type\":\"x\",{PLACED},\"b\":0,\"01\":3}}\n");
    assert_eq!(line(&draft), expected);
    // It is what JavaScript makes of the same line.
    let mut again = Vec::new();
    crate::ecma::restringify(&expected, &mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap() + "\n", expected);
}

#[test]
fn unknown_members_and_types_stay() {
    assert_eq!(
        given(r#"{"type":"custom","x":1,"data":2,"customType":"c","y":3}"#, Family::Pi),
        r#""customType":"c","data":2,"x":1,"y":3,@"#
    );
    assert_eq!(given(r#"{"type":"leaf","b":1,"a":2,"b":3}"#, Family::Omp), r#"@,"b":3,"a":2"#);
    assert_eq!(
        given(
            r#"{"type":"compaction","fromExtension":true,"fromHook":true,"tokensBefore":1,"summary":"s"}"#,
            Family::Pi
        ),
        r#"@,"summary":"s","tokensBefore":1,"fromHook":true,"fromExtension":true"#
    );
    assert_eq!(
        given(r#"{"type":"m\u006fde_change","mode":"plan"}"#, Family::Pi),
        r#"@,"mode":"plan""#
    );
}

#[test]
fn lone_surrogates_and_escapes() {
    assert_eq!(
        given(
            r#"{"type":"label","targetId":"\uD800\u00e9","\udc00":"\ud83c\udf43\u2028\u0001"}"#,
            Family::Pi
        ),
        "@,\"targetId\":\"\\ud800é\",\"\\udc00\":\"🍃\u{2028}\\u0001\""
    );
    assert_eq!(
        given(r#"{"type":"session_info","name":" \ud800 \t"}"#, Family::Pi),
        r#"@,"name":"\ud800""#
    );
    let draft = Draft::from_json(r#"{"type":"\ud800"}"#, Family::Pi).unwrap();
    assert_eq!(draft.entry_type(), "\u{fffd}");
    let mut out = Vec::new();
    let parent = ParentId::Id(b"\xed\xa0\x80\"");
    draft.write(&Place { id: "\n", parent, timestamp: i64::MAX }, &mut out);
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with(r#"{"type":"\ud800","id":"\n","parentId":"\ud800\"","timestamp":"+"#));
}

#[test]
fn what_is_no_entry() {
    for family in [Family::Pi, Family::Omp] {
        assert_eq!(Draft::from_json("[]", family), Err(DraftError::NotAnObject));
        assert!(matches!(Draft::from_json("{", family), Err(DraftError::Malformed(_))));
        for json in ["{}", r#"{"type":5}"#, r#"{"type":""}"#, r#"{"type":"x","type":null}"#] {
            assert_eq!(Draft::from_json(json, family), Err(DraftError::NoType), "{json}");
        }
        for entry_type in ["session", "title"] {
            let json = format!(r#"{{"type":"{entry_type}","id":"x"}}"#);
            assert_eq!(Draft::from_json(&json, family), Err(DraftError::NotAnEntry { entry_type }));
        }
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    assert_eq!(
        error(r#"{"type":"message"}"#, Family::Pi),
        "the message entry has no message: an object whose role is a string is needed"
    );
    assert_eq!(
        error(r#"{"type":"compaction","summary":"s","tokensBefore":1e999}"#, Family::Pi),
        "tokensBefore of the compaction entry is null: a number is needed"
    );
    assert_eq!(
        error(r#"{"type":"model_change","provider":"p","modelId":"m"}"#, Family::Omp),
        "the model_change entry has no model: a string is needed"
    );
}

#[test]
fn every_wrong_value_is_refused() {
    for (family, json) in [
        (Family::Pi, r#"{"type":"message","message":{"role":5}}"#),
        (Family::Pi, r#"{"type":"message","message":[]}"#),
        (Family::Pi, r#"{"type":"thinking_level_change","thinkingLevel":null}"#),
        (Family::Pi, r#"{"type":"model_change","model":"p/m"}"#),
        (Family::Omp, r#"{"type":"model_change","model":"p/m","role":null}"#),
        (Family::Pi, r#"{"type":"compaction","summary":1,"tokensBefore":1}"#),
        (
            Family::Pi,
            r#"{"type":"compaction","summary":"s","tokensBefore":1,"firstKeptEntryId":1}"#,
        ),
        (Family::Omp, r#"{"type":"compaction","summary":"s","tokensBefore":"1"}"#),
        (Family::Pi, r#"{"type":"branch_summary","summary":"s"}"#),
        (Family::Pi, r#"{"type":"branch_summary","summary":"s","fromId":null}"#),
        (Family::Pi, r#"{"type":"custom","data":1}"#),
        (Family::Pi, r#"{"type":"custom_message","customType":"c","content":{},"display":true}"#),
        (Family::Pi, r#"{"type":"custom_message","customType":"c","content":[],"display":"yes"}"#),
        (Family::Pi, r#"{"type":"label"}"#),
        (Family::Pi, r#"{"type":"label","targetId":"a","label":5}"#),
        (Family::Omp, r#"{"type":"session_info","name":null}"#),
        (Family::Omp, r#"{"type":"ttsr_injection","injectedRules":["a",5]}"#),
        (Family::Omp, r#"{"type":"ttsr_injection","injectedRules":"a"}"#),
        (Family::Omp, r#"{"type":"session_init","systemPrompt":"s","task":"t","tools":[[]]}"#),
        (Family::Omp, r#"{"type":"mode_change"}"#),
    ] {
        let refused = Draft::from_json(json, family);
        let named = matches!(
            refused,
            Err(DraftError::MissingMember { .. } | DraftError::WrongMember { .. })
        );
        assert!(named, "{json}: {refused:?}");
    }
    for json in [
        r#"{"type":"compaction","summary":"s","tokensBefore":1,"firstKeptEntryId":null}"#,
        r#"{"type":"label","targetId":"a","label":null}"#,
        r#"{"type":"ttsr_injection","injectedRules":[]}"#,
    ] {
        assert!(Draft::from_json(json, Family::Pi).is_ok(), "{json}");
    }
}

#[test]
fn json_given_to_constructors_is_checked() {
    assert!(matches!(Draft::message("{"), Err(DraftError::MalformedMember { .. })));
    assert!(matches!(Draft::message("[]"), Err(DraftError::WrongMember { .. })));
    assert!(Draft::custom("c", Some("NaN")).is_err());
    assert!(Draft::custom_message("c", "5", true, None).is_err());
    assert!(Draft::mode_change("m", Some("")).is_err());
}

#[test]
fn what_a_draft_is() {
    let message = Draft::message(r#"{"content":[],"role":"toolResult"}"#).unwrap();
    assert_eq!((message.kind(), message.role()), (EntryKind::Message, MessageRole::ToolResult));
    assert_eq!(message.member("message"), Some(r#"{"content":[],"role":"toolResult"}"#));
    assert_eq!((message.member("type"), message.member("id")), (None, None));
    let label = Draft::label("a", None);
    assert_eq!((label.entry_type(), label.role()), ("label".into(), MessageRole::None));
    let unknown = Draft::from_json(r#"{"type":"leaf"}"#, Family::Pi).unwrap();
    assert_eq!((unknown.kind(), &*unknown.entry_type()), (EntryKind::Unknown, "leaf"));
}

#[test]
fn members_can_be_set() {
    let mut draft = Draft::custom_message("c", "[]", true, None).unwrap();
    draft.set_member("z", "1").unwrap();
    draft.set_member("details", " 2.0").unwrap();
    draft.set_member("content", "\"x\"").unwrap();
    draft.set_member("0", "{ }").unwrap();
    assert_eq!(
        line(&draft),
        format!(
            "{{\"0\":{{}},\"type\":\"custom_message\",\"customType\":\"c\",\"content\":\"x\",\"display\":true,\"details\":2,\"z\":1,{PLACED}}}\n"
        )
    );
    let before = draft.clone();
    assert!(draft.set_member("content", "5").is_err());
    assert!(draft.set_member("z", "{").is_err());
    for name in ["type", "id", "parentId", "timestamp"] {
        let refused = draft.set_member(name, "\"x\"");
        assert_eq!(refused, Err(DraftError::NotAMember { name: name.to_owned() }));
    }
    assert_eq!(draft, before);
    let mut info = Draft::session_info("a");
    info.set_member("name", "\" b \"").unwrap();
    assert_eq!(own(&info), r#"@,"name":"b""#);
}

#[test]
fn a_hundred_thousand_levels() {
    let deep = format!("{}1{}", r#"{"b":[ "#.repeat(100_000), "]}".repeat(100_000));
    let json = format!(r#"{{"type":"custom","customType":"c","data":{deep}}}"#);
    let draft = Draft::from_json(&json, Family::Pi).unwrap();
    assert_eq!(draft.member("data").map(str::len), Some(deep.len() - 100_000));
    assert_eq!(Draft::from_json(&line(&draft), Family::Pi), Ok(draft));
}
