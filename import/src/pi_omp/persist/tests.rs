use super::*;

/// Rules that cut strings at 59 units, of which the notice takes 47.
const SHORT: Rules =
    Rules { truncate_from: Some(59), drop_transient: true, externalise_images_from: Some(8) };

fn applied(rules: Rules, data: &str) -> (String, Vec<ExternalisedImage>) {
    let mut draft = Draft::custom("c", Some(data)).unwrap();
    let images = rules.apply(&mut draft, |bytes| [u8::try_from(bytes.len()).unwrap(); 32]);
    (draft.member("data").unwrap_or_default().to_owned(), images)
}

fn after(rules: Rules, data: &str) -> String {
    applied(rules, data).0
}

fn cut(kept: &str) -> String {
    format!("{kept}\\n\\n[Session persistence truncated large content]")
}

#[test]
fn transient_members_go_wherever_they_stand() {
    for (given, expected) in [
        (r#"{"partialJson":1}"#, "{}"),
        (r#"{"partialJson":{"a":[1,{"jsonlEvents":2}]},"jsonlEvents":"x"}"#, "{}"),
        (r#"{"partialJson":1,"jsonlEvents":[],"a":1}"#, r#"{"a":1}"#),
        (r#"{"a":1,"partialJson":1,"jsonlEvents":[],"b":2}"#, r#"{"a":1,"b":2}"#),
        (r#"{"a":1,"partialJson":"}\","}"#, r#"{"a":1}"#),
        (r#"[[{"a":{"partialJson":1,"a":2}},{"jsonlEvents":{}}],3]"#, r#"[[{"a":{"a":2}},{}],3]"#),
        (r#"["partialJson",{"x":"jsonlEvents"}]"#, r#"["partialJson",{"x":"jsonlEvents"}]"#),
    ] {
        assert_eq!(after(Rules::documented(), given), expected);
        assert_eq!(after(Rules::keep_everything(), given), given);
    }
    let mut draft = Draft::custom("c", None).unwrap();
    draft.set_member("jsonlEvents", "[]").unwrap();
    Rules::documented().apply(&mut draft, |_| [0; 32]);
    assert_eq!(draft, Draft::custom("c", None).unwrap());
}

#[test]
fn long_strings_are_cut_and_names_are_not() {
    let long = "x".repeat(60);
    let given = format!(r#"{{"{long}":["{long}",{{"type":"{long}","data":"{long}"}},"short"]}}"#);
    let x = cut(&"x".repeat(12));
    assert_eq!(
        after(SHORT, &given),
        format!(r#"{{"{long}":["{x}",{{"type":"{x}","data":"{x}"}},"short"]}}"#)
    );
    assert_eq!(after(Rules::documented(), &given), given);
    // 59 units in 354 bytes.
    let escaped = format!("\"{}\"", "\\u0001".repeat(59));
    assert_eq!(after(SHORT, &escaped), escaped);
    let escaped = format!("\"{}\"", "\\u0001".repeat(60));
    assert_eq!(after(SHORT, &escaped), format!("\"{}\"", cut(&"\\u0001".repeat(12))));
    // The twelfth and thirteenth units are one character.
    let leaves = format!("\"12345678901{}\"", "🍃".repeat(40));
    assert_eq!(after(SHORT, &leaves), format!("\"{}\"", cut("12345678901")));
}

#[test]
fn the_documented_limit() {
    let fits = format!("\"{}\"", "é".repeat(500_000));
    assert_eq!(after(Rules::documented(), &fits), fits);
    let long = format!("\"{}\"", "é".repeat(500_001));
    assert_eq!(
        after(Rules::documented(), &long),
        format!("\"{}\"", cut(&"é".repeat(500_000 - TRUNCATION_NOTICE.len())))
    );
}

#[test]
fn images_in_content_become_references() {
    let reference = format!("blob:sha256:{}", "04".repeat(32));
    let (text, images) = applied(
        Rules { truncate_from: Some(8), ..SHORT },
        r#"{"content":[{"data":"QUJDRA==","x":[],"type":"image"},{"type":"image","data":"QUJDRA=="}]}"#,
    );
    assert_eq!(
        text,
        format!(
            r#"{{"content":[{{"data":"{reference}","x":[],"type":"image"}},{{"type":"image","data":"{reference}"}}]}}"#
        )
    );
    let image = ExternalisedImage { hash: [4; 32], bytes: b"ABCD".to_vec() };
    assert_eq!(images, [image.clone(), image]);
    // References are not cut, though they are longer.
    assert_eq!(after(Rules { truncate_from: Some(8), ..SHORT }, &text), text);
}

#[test]
fn images_of_1024_characters_are_the_smallest_that_go() {
    let block = |length: usize| {
        format!(r#"{{"content":[{{"type":"image","data":"{}"}}]}}"#, "QUJD".repeat(length / 4))
    };
    let (text, images) = applied(Rules { truncate_from: None, ..SHORT }, &block(8));
    assert_eq!((text.contains("blob:"), images.len()), (true, 1));
    let taken = |length| {
        let mut draft = Draft::custom("c", Some(&block(length))).unwrap();
        Rules::documented().apply(&mut draft, |_| [0; 32]).len()
    };
    assert_eq!((taken(1_020), taken(1_024)), (0, 1));
}

#[test]
fn what_is_no_such_image_stays() {
    for given in [
        r#"{"type":"image","data":"QUJDRA=="}"#,
        r#"{"content":{"type":"image","data":"QUJDRA=="}}"#,
        r#"{"content":[[{"type":"image","data":"QUJDRA=="}]]}"#,
        r#"{"content":[{"type":"image","source":{"type":"base64","data":"QUJDRA=="}}]}"#,
        r#"{"content":[{"type":"text","data":"QUJDRA=="}]}"#,
        r#"{"content":[{"type":"image","data":"QUJDRB=="}]}"#,
        r#"{"content":[{"type":"image","data":"QUJD"}]}"#,
        r#"{"content":[{"type":"image","data":5}]}"#,
        r#"{"content":["QUJDRA=="]}"#,
    ] {
        assert_eq!(applied(SHORT, given), (given.to_owned(), Vec::new()));
    }
    let given = r#"{"partialJson":{"content":[{"type":"image","data":"QUJDRA=="}]}}"#;
    assert_eq!(applied(SHORT, given), ("{}".to_owned(), Vec::new()));
}

#[test]
fn an_image_that_stays_inline_is_cut_as_any_string() {
    let data = "QUJD".repeat(20);
    let given = format!(r#"{{"content":[{{"type":"image","data":"{data}"}}]}}"#);
    let rules = Rules { externalise_images_from: None, ..SHORT };
    assert_eq!(
        applied(rules, &given),
        (
            format!(r#"{{"content":[{{"type":"image","data":"{}"}}]}}"#, cut("QUJDQUJDQUJD")),
            Vec::new()
        )
    );
}

#[test]
fn images_of_a_custom_message() {
    let content = r#"[{"type":"image","data":"QUJDRA=="}]"#;
    let mut draft = Draft::custom_message("c", content, true, None).unwrap();
    let images = SHORT.apply(&mut draft, |_| [0xab; 32]);
    assert_eq!(images.len(), 1);
    let reference = format!("blob:sha256:{}", "ab".repeat(32));
    assert_eq!(
        draft.member("content"),
        Some(&*format!(r#"[{{"type":"image","data":"{reference}"}}]"#))
    );
}

#[test]
fn lines_are_counted_after_the_cut() {
    let long = "a\\n".repeat(40);
    for (given, expected) in [
        (
            format!(r#"{{"lineCount":41,"content":"{long}"}}"#),
            format!(r#"{{"lineCount":9,"content":"{}"}}"#, cut(&"a\\n".repeat(6))),
        ),
        (
            format!(r#"{{"content":"a\nb","lineCount":9,"other":"{long}"}}"#),
            format!(r#"{{"content":"a\nb","lineCount":2,"other":"{}"}}"#, cut(&"a\\n".repeat(6))),
        ),
    ] {
        assert_eq!(after(SHORT, &given), expected);
        assert_eq!(after(Rules::keep_everything(), &given), given);
    }
    let mut draft = Draft::custom_message("c", r#""a\nb""#, true, None).unwrap();
    draft.set_member("lineCount", "7").unwrap();
    draft.set_member("jsonlEvents", "[]").unwrap();
    SHORT.apply(&mut draft, |_| [0; 32]);
    assert_eq!(draft.member("lineCount"), Some("2"));
}

#[test]
fn lines_are_counted_where_something_was_removed() {
    for (given, expected) in [
        (
            r#"{"content":"a\nb","lineCount":9,"partialJson":1}"#,
            r#"{"content":"a\nb","lineCount":2}"#,
        ),
        (
            r#"{"lineCount":9,"deep":[{"jsonlEvents":1}],"content":"a\nb"}"#,
            r#"{"lineCount":2,"deep":[{}],"content":"a\nb"}"#,
        ),
        (
            r#"[{"content":"a\nb","lineCount":9},{"jsonlEvents":1}]"#,
            r#"[{"content":"a\nb","lineCount":9},{}]"#,
        ),
        (
            r#"{"content":"a","lineCount":9,"x":{"content":[{"type":"image","data":"QUJDRA=="}]}}"#,
            concat!(
                r#"{"content":"a","lineCount":1,"x":{"content":[{"type":"image","data":"blob:sha256:"#,
                "0404040404040404040404040404040404040404040404040404040404040404",
                r#""}]}}"#
            ),
        ),
    ] {
        assert_eq!(after(SHORT, given), expected);
    }
}

#[test]
fn lines_are_not_counted_where_nothing_was_changed() {
    for given in [
        r#"{"content":"a\nb","lineCount":9}"#,
        r#"{"content":["a"],"lineCount":9}"#,
        r#"{"content":"a","lineCount":null}"#,
        r#"{"content":"a","x":{"lineCount":5}}"#,
    ] {
        assert_eq!(after(SHORT, given), given);
    }
    for (given, expected) in [
        (
            r#"{"content":["a"],"lineCount":9,"partialJson":1}"#,
            r#"{"content":["a"],"lineCount":9}"#,
        ),
        (
            r#"{"content":"a","lineCount":null,"partialJson":1}"#,
            r#"{"content":"a","lineCount":null}"#,
        ),
    ] {
        assert_eq!(after(SHORT, given), expected);
    }
    let mut draft = Draft::custom_message("c", r#""a\nb""#, true, None).unwrap();
    draft.set_member("lineCount", "7").unwrap();
    SHORT.apply(&mut draft, |_| [0; 32]);
    assert_eq!(draft.member("lineCount"), Some("7"));
}

#[test]
fn the_type_of_an_entry_is_never_cut() {
    let long = "t".repeat(100);
    let json = format!(r#"{{"type":"{long}"}}"#);
    let mut draft = Draft::from_json(&json, crate::Family::Omp).unwrap();
    SHORT.apply(&mut draft, |_| [0; 32]);
    assert_eq!(draft.entry_type(), long);
}

#[test]
fn a_hundred_thousand_levels() {
    let level = r#"{"partialJson":[],"content":[{"type":"image","data":"QUJDRA==","x":"#;
    let deep = format!("{}1{}", level.repeat(100_000), "}]}".repeat(100_000));
    let (text, images) = applied(SHORT, &deep);
    assert_eq!(images.len(), 100_000);
    assert!(text.starts_with(r#"{"content":[{"type":"image","data":"blob:sha256:0404"#));
}
