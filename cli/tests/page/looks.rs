//! How a page looks: at three widths, light, dark and printed, and in the colours of its code.
//!
//! `LEAFLINE_DRAW=1 cargo test -p leafline-cli --test page` draws the pictures again; look at what has changed.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::browser::{Browser, program};
use crate::gallery::{Gallery, MOST, stored};
use crate::{Scene, samples};

/// Pictures of the sample are stored at this part of their size.
const PART: u32 = 4;

const HIGH: u32 = 900;

/// A line of a session of pi's.
fn line(id: &str, parent: Option<&str>, message: Value) -> Value {
    json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T08:00:00.000Z", "message": message })
}

/// A session with lines so short that they are as many in every font.
fn sample(image: &str) -> Scene {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let answer = |content: Value| {
        json!({ "role": "assistant", "provider": "anthropic", "model": "claude-opus-4-5", "content": content,
                "usage": { "input": 1200, "output": 340, "cacheRead": 5000, "cacheWrite": 800, "totalTokens": 7340, "cost": { "total": 0.25 } } })
    };
    let lines = [
        line(
            "a",
            None,
            json!({ "role": "user", "content": [text("Count the words.\nHere is a picture:"), { "type": "image", "mimeType": "image/png", "data": image }] }),
        ),
        line(
            "b",
            Some("a"),
            answer(json!([
                { "type": "thinking", "thinking": "Words are parted by spaces." },
                text("### Words\n\n- one\n- **two**\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```rust\nfn count(text: &str) {\n    7\n}\n```"),
                { "type": "toolCall", "id": "t", "name": "edit", "arguments": { "path": "a.rs", "oldText": "let a = 1;\nlet b = 2;", "newText": "let a = 3;\nlet b = 2;\nlet c = 4;" } },
            ])),
        ),
        line(
            "c",
            Some("b"),
            json!({ "role": "toolResult", "toolCallId": "t", "toolName": "edit", "content": [text("Done.")] }),
        ),
        line("x", Some("a"), json!({ "role": "user", "content": [text("No: lines.")] })),
        line("d", Some("c"), json!({ "role": "user", "content": [text("Thank you.")] })),
    ];
    let header = json!({ "type": "session", "version": 3, "id": "sample", "timestamp": "2026-03-01T08:00:00.000Z", "cwd": "/work" });
    Scene::of_lines([&[header], &lines[..]].concat())
}

fn show(browser: &mut Browser, page: &Path, width: u32, scheme: &str) {
    browser.resize(width, HIGH, scheme);
    browser.open(page);
    settle(browser);
}

/// A window of a telephone's size with a page of the samples.
fn on_a_telephone(program: &Path) -> Browser {
    let scene = Scene::of(&samples());
    let mut browser = Browser::start(program);
    browser.resize(360, HIGH, "light");
    browser.open(&scene.page("019c6605"));
    browser
}

/// Unfolds what is to be seen, and waits until that is drawn.
fn settle(browser: &mut Browser) {
    browser.evaluate("for (const call of document.querySelectorAll('.call')) call.open = true");
    browser.draw();
}

#[test]
fn pages_look_as_they_did_at_three_widths() {
    let Some(program) = program() else { return };
    let mut gallery = Gallery::open(&program);
    let image = gallery.colourful();
    assert!(image.len() > 1024, "{}", image.len());
    let scene = sample(&image);
    let page = scene.page("sample");
    let mut browser = Browser::start(&program);
    for (width, scheme) in [(360, "light"), (820, "light"), (820, "dark"), (1280, "light")] {
        show(&mut browser, &page, width, scheme);
        let picture = browser.picture();
        gallery.compare(&stored(&format!("{width}-{scheme}")), &picture, PART);
        browser.has_been_quiet(&page);
    }

    // What is wrong is noticed, and another font is not wrong.
    let mut wrong = Vec::new();
    for (rule, is_wrong) in [
        ("main{display:none}", true),
        ("main{margin-left:14rem}", true),
        ("main{columns:2}", true),
        ("main{max-width:20rem}", true),
        (".top>.facts,.top>.tools{display:none}", true),
        (".text{display:none}", true),
        (".call dl,pre{display:none}", true),
        ("img{width:2000px;max-width:none}", true),
        ("body{font-size:24px}", true),
        (":root{--back:#16181b;--text:#dcdfe3;--code:#24282d;--user:#1f2a25}", true),
        ("*{color-scheme:light}", false),
        ("body{font-family:serif}", false),
        ("body{font-family:'Liberation Sans','Noto Sans',sans-serif}", false),
        ("code,pre{font-family:'Liberation Mono',monospace}", false),
    ] {
        for width in [360, 820] {
            show(&mut browser, &page, width, "light");
            let sheet = "document.styleSheets[0]";
            browser
                .evaluate(&format!("{sheet}.insertRule({}, {sheet}.cssRules.length)", json!(rule)));
            settle(&mut browser);
            let shown = gallery.shrunk(&browser.picture(), PART);
            let kept = stored(&format!("{width}-light"));
            let difference = gallery.difference_from(&kept, &shown, PART);
            println!("{width} {rule}: {:.1} %", difference * 100.0);
            if (difference > MOST) != is_wrong {
                wrong.push((width, rule, difference));
            }
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn the_picture_in_the_documents_is_of_a_page() {
    let Some(program) = program() else { return };
    let mut browser = on_a_telephone(&program);
    browser.draw();
    let picture = browser.picture();
    let file: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("share.png");
    Gallery::open(&program).compare(&file, &picture, 1);
}

#[test]
fn a_dark_page_is_printed_dark_on_white() {
    let Some(program) = program() else { return };
    let scene = Scene::of(&samples());
    let page = scene.page("019c6605");
    let mut browser = Browser::start(&program);
    let colours = "(() => { const style = getComputedStyle(document.body); \
                     const added = getComputedStyle(document.querySelector('.diff ins')); \
                     return [style.color, style.backgroundColor, added.color]; })()";
    for scheme in ["light", "dark"] {
        browser.resize(820, HIGH, scheme);
        browser.open(&page);
        if scheme == "light" {
            browser.evaluate("document.querySelector('#theme').click()");
        }
        let dark = json!(["rgb(220, 223, 227)", "rgb(22, 24, 27)", "rgb(159, 224, 178)"]);
        assert_eq!(browser.evaluate(colours), dark, "{scheme}");
        browser.call(
            "Emulation.setEmulatedMedia",
            json!({ "media": "print", "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        );
        let printed = json!(["rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgb(21, 93, 44)"]);
        assert_eq!(browser.evaluate(colours), printed, "{scheme}");
        assert_eq!(browser.evaluate("document.querySelector('.tools').checkVisibility()"), false);
        browser.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
    }
}

#[test]
fn a_telephone_shows_models_tokens_and_costs() {
    let Some(program) = program() else { return };
    let mut browser = on_a_telephone(&program);
    let shown = browser.evaluate(
        "(() => { const header = document.querySelector('.assistant:not(.on) > header'); \
           return [...header.querySelectorAll('.model, .usage')].map(one => { \
             const box = one.getBoundingClientRect(); \
             return [one.textContent, one.checkVisibility() && box.width > 20 && box.right < 360]; }); })()",
    );
    let shown: Vec<(String, bool)> = serde_json::from_value(shown).unwrap();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown.iter().all(|(_, is_shown)| *is_shown), "{shown:?}");
    assert!(shown[0].0.contains("claude") && shown[1].0.contains('$'), "{shown:?}");
}

#[test]
fn code_has_the_colours_of_its_language() {
    let Some(program) = program() else { return };
    let codes = [
        (
            "a.rs",
            "// one\nfn a<'l>(x: &'l str) -> char { let n = 0x1f; r#\"a \" b\"#; 'c' }",
            json!([
                ["c", "// one"],
                ["w", "fn"],
                ["w", "str"],
                ["w", "char"],
                ["w", "let"],
                ["n", "0x1f"],
                ["s", "r#\"a \" b\"#"],
                ["s", "'c'"]
            ]),
        ),
        (
            "a.ts",
            "/* one\ntwo */ const a: number = 1.5; `x ${a}`; \"y\"",
            json!([
                ["c", "/* one\ntwo */"],
                ["w", "const"],
                ["w", "number"],
                ["n", "1.5"],
                ["s", "`x ${a}`"],
                ["s", "\"y\""]
            ]),
        ),
        (
            "a.py",
            "# one\ndef f():\n    \"\"\"two\n    three\"\"\"\n    return None if 7 else 'x'",
            json!([
                ["c", "# one"],
                ["w", "def"],
                ["s", "\"\"\"two\n    three\"\"\""],
                ["w", "return"],
                ["w", "None"],
                ["w", "if"],
                ["n", "7"],
                ["w", "else"],
                ["s", "'x'"]
            ]),
        ),
        (
            "a.sh",
            "for x in a/in-b; do echo \"$#\" 'y # z' ${#x} 3; done # end",
            json!([
                ["w", "for"],
                ["w", "in"],
                ["w", "do"],
                ["w", "echo"],
                ["s", "\"$#\""],
                ["s", "'y # z'"],
                ["n", "3"],
                ["w", "done"],
                ["c", "# end"]
            ]),
        ),
        (
            "a.json",
            "{\"a\": [1, true, null], \"b\": \"c\"}",
            json!([
                ["s", "\"a\""],
                ["n", "1"],
                ["w", "true"],
                ["w", "null"],
                ["s", "\"b\""],
                ["s", "\"c\""]
            ]),
        ),
        ("a.txt", "for 1\nin \"a\"", json!([])),
    ];
    let mut lines = vec![
        json!({ "type": "session", "version": 3, "id": "codes", "timestamp": "2026-03-01T08:00:00.000Z", "cwd": "/work" }),
    ];
    let mut parent: Option<String> = None;
    for (path, code, _) in &codes {
        let call = |id: &str, name: &str, arguments: Value| json!({ "type": "toolCall", "id": id, "name": name, "arguments": arguments });
        let calls = json!([
            call("r", "read", json!({ "path": path })),
            call("w", "write", json!({ "path": path, "content": code })),
            call("e", "edit", json!({ "path": path, "oldText": code, "newText": code })),
        ]);
        let (asked, given) = (format!("{path}1"), format!("{path}2"));
        lines.push(line(
            &asked,
            parent.as_deref(),
            json!({ "role": "assistant", "content": calls }),
        ));
        lines.push(line(&given, Some(&asked), json!({ "role": "toolResult", "toolCallId": "r", "toolName": "read", "content": [{ "type": "text", "text": code }] })));
        parent = Some(given);
    }
    lines.push(line("bash", parent.as_deref(), json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "b", "name": "bash", "arguments": { "command": "if true; then ls; fi" } }] })));
    let scene = Scene::of_lines(lines);
    let page = scene.page("codes");
    let mut browser = Browser::start(&program);
    browser.open(&page);
    // What is folded has no colours yet.
    assert_eq!(browser.evaluate("document.querySelectorAll('.w, .s, .n, .c').length"), 0);
    browser.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    browser.draw();
    let spans = "(element => [...element.querySelectorAll('.w, .s, .n, .c')].map(one => [one.className, one.textContent]))";
    for (place, (path, code, expected)) in codes.iter().enumerate() {
        let of = |at: usize, what: &str| {
            let entry = format!("document.querySelectorAll('main > article')[{}]", place * 2 + at);
            format!("{spans}({entry}.querySelector('{what}'))")
        };
        assert_eq!(&browser.evaluate(&of(0, "pre.code")), expected, "{path} written");
        assert_eq!(&browser.evaluate(&of(1, "pre.code")), expected, "{path} read");
        // Each line of a change is behind its sign.
        let behind_signs = expected.to_string().replace("\\n", "\\n ");
        assert_eq!(browser.evaluate(&of(0, ".diff")).to_string(), behind_signs, "{path} edited");
        let text = browser.evaluate(&format!(
            "document.querySelectorAll('main > article')[{}].querySelector('pre').textContent",
            place * 2 + 1
        ));
        assert_eq!(text, **code);
    }
    let command =
        browser.evaluate(&format!("{spans}([...document.querySelectorAll('pre')].at(-1))"));
    assert_eq!(command, json!([["w", "if"], ["w", "then"], ["w", "fi"]]));
    browser.has_been_quiet(&page);
}
