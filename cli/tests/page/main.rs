//! `leafline export --as html` in a real Chromium. Guards against pages that ask for something, run what is in a text, do not
//! show what was said, or are slow with a long conversation.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod browser;
mod gallery;
mod looks;

use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline_generate::Shape;
use serde_json::{Value, json};

use crate::browser::{Browser, program};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("import").join("samples")
}

/// A folder with a store and the pages of its sessions.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn of(import: &Path) -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap() };
        scene.run(&[
            "import",
            "-q",
            import.to_str().unwrap(),
            "--blobs",
            samples().join("blobs").to_str().unwrap(),
        ]);
        scene
    }

    /// A store with one session of pi's, whose messages of the user and of the model say these texts.
    fn saying(texts: &[&str]) -> Self {
        let mut lines = vec![
            json!({ "type": "session", "version": 3, "id": "hostile", "timestamp": "2026-03-01T08:00:00.000Z", "cwd": texts[0] }),
        ];
        let mut parent = Value::Null;
        for (place, text) in texts.iter().enumerate() {
            let id = format!("{place:08x}");
            let content = match place % 2 {
                0 => json!([{ "type": "text", "text": text }]),
                _ => json!([
                    { "type": "thinking", "thinking": text },
                    { "type": "text", "text": text },
                    { "type": "toolCall", "id": text, "name": text, "arguments": { *text: text, "path": text, "edits": [{ "oldText": text, "newText": "b" }] } },
                ]),
            };
            let role = if place % 2 == 0 { "user" } else { "assistant" };
            lines.push(json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T08:00:01.000Z", "message": { "role": role, "content": content, "model": text, "provider": text } }));
            parent = json!(id);
            let (id, result) = (
                format!("r{place:07x}"),
                json!([{ "type": "text", "text": text }, { "type": "image", "mimeType": "image/svg+xml", "data": STANDARD.encode(format!("<svg onload=\"bad()\">{}</svg>", "x".repeat(2000))) }]),
            );
            lines.push(json!({ "type": "message", "id": id, "parentId": parent, "timestamp": text, "message": { "role": "toolResult", "toolCallId": text, "toolName": text, "content": result } }));
            parent = json!(id);
        }
        lines.push(json!({ "type": "label", "id": "1abe1", "parentId": parent, "timestamp": "2026-03-01T08:00:02.000Z", "targetId": "00000000", "label": texts[0] }));
        lines.push(json!({ "type": "session_info", "id": "1abe2", "parentId": "1abe1", "timestamp": "2026-03-01T08:00:02.000Z", "name": texts[0] }));
        Self::of_lines(lines)
    }

    /// A store with one session.
    fn of_lines(lines: Vec<Value>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.jsonl");
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, text).unwrap();
        Self::of(&file)
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_leafline"))
            .env("LEAFLINE_STORE", self.folder.path().join("store.leafline"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn page(&self, session: &str) -> PathBuf {
        let file = self.folder.path().join("page.html");
        self.run(&["export", session, "--as", "html", "-o", file.to_str().unwrap()]);
        file
    }
}

#[test]
fn a_page_is_quiet_and_shows_the_conversation_at_every_width() {
    let Some(program) = program() else { return };
    let scene = Scene::of(&samples());
    let page = scene.page("019c6605");
    let mut browser = Browser::start(&program);
    for (width, scheme) in [(360, "light"), (820, "dark"), (1280, "light")] {
        browser.resize(width, 900, scheme);
        browser.open(&page);
        // Nothing is wider than the window, and what is read is in one column of a width that can be read.
        let wide = browser.evaluate("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{width}: {wide}");
        let boxes = browser.evaluate(
            "['h1', '.facts', '#search', '.user .text', '.call summary'].map(what => { \
               const box = document.querySelector(what).getBoundingClientRect(); \
               return [box.left, box.top, box.width, box.height]; })",
        );
        let boxes: Vec<Vec<f64>> = serde_json::from_value(boxes).unwrap();
        for (place, side) in boxes.iter().enumerate() {
            let [left, top, wide, high] = side[..] else { panic!("{side:?}") };
            // The first two have their margins inside.
            let margin = if place < 2 { 0.0 } else { 8.0 };
            let right = f64::from(width) - margin;
            assert!(left >= margin && left + wide <= right, "{width}: {place} {side:?}");
            assert!(wide <= 54.0 * 16.0 && high > 8.0, "{width}: {place} {side:?}");
            // From top to bottom.
            assert!(place == 0 || top > boxes[place - 1][1], "{width}: {boxes:?}");
        }
        let back = browser.evaluate("getComputedStyle(document.body).backgroundColor");
        assert_eq!(back, if scheme == "dark" { "rgb(22, 24, 27)" } else { "rgb(251, 250, 248)" });
        browser.has_been_quiet(&page);
    }
}

/// Types words into the search field of the page.
fn search_for(browser: &mut Browser, words: &str) {
    browser.evaluate(&format!(
        "{{ const search = document.querySelector('#search'); search.value = '{words}'; \
            search.dispatchEvent(new Event('input')); }}"
    ));
}

#[test]
fn branches_are_switched_and_words_are_found() {
    let Some(program) = program() else { return };
    let scene = Scene::of(&samples());
    let page = scene.page("019c6605");
    let mut browser = Browser::start(&program);
    browser.resize(1000, 900, "light");
    browser.open(&page);
    let shown = "[...document.querySelectorAll('main > article')].filter(one => one.checkVisibility()).length";
    let all = browser.evaluate(shown).as_u64().unwrap();
    let entries = browser.evaluate("document.querySelectorAll('article').length").as_u64().unwrap();
    assert_eq!(entries, 39);
    // The branch that was given up takes the place of the way on.
    browser.evaluate("document.querySelector('.branch > summary').click()");
    let before = browser.evaluate(shown).as_u64().unwrap();
    assert!(before < all, "{before} {all}");
    let dead = "document.querySelector('.branch article .text').checkVisibility()";
    assert_eq!(browser.evaluate(dead), true);
    // A link to the leaf leads back.
    browser.evaluate("document.querySelector('a[href=\"#leaf\"]').click()");
    browser.wait_until(&format!("{shown} === {all}"));
    assert_eq!(browser.evaluate("document.querySelector('.branch').open"), false);

    search_for(&mut browser, "FAKE timers");
    browser.wait_until("document.querySelector('#hits').value !== ''");
    let found = browser.evaluate(
        "[...document.querySelectorAll('article:not(.miss)')].map(one => one.textContent.toLowerCase())",
    );
    let found: Vec<String> = serde_json::from_value(found).unwrap();
    assert!(found.len() > 2 && found.len() < 39, "{}", found.len());
    assert!(found.iter().all(|text| text.contains("fake") && text.contains("timers")));
    assert_eq!(
        browser.evaluate("document.querySelector('#hits').value"),
        format!("{} of 39", found.len())
    );
    assert_eq!(browser.evaluate("CSS.highlights.get('hits').size > 2"), true);
    assert_eq!(browser.evaluate(dead), true, "a hit on another branch is opened");
    search_for(&mut browser, "");
    browser.wait_until("document.querySelector('#hits').value === ''");
    assert_eq!(browser.evaluate(shown), all);
    // A change has its added lines marked.
    assert_eq!(browser.evaluate("document.querySelectorAll('.diff ins').length > 0"), true);
    browser.has_been_quiet(&page);
}

#[test]
fn hostile_texts_stay_texts() {
    let Some(program) = program() else { return };
    let hostile = [
        "</title></style></script><script>bad()</script>",
        "<img src=x onerror=bad()>",
        "\"><svg onload=bad()>",
        "'><iframe src=\"javascript:bad()\"></iframe>",
        "[click](javascript:bad()) <a href=\"javascript:bad()\">x</a> ![p](https://tracker.example/p.png)",
        "<link rel=stylesheet href=https://tracker.example/x.css><meta http-equiv=refresh content=0;url=https://tracker.example>",
        "```\"><script>bad()</script>\n</code></pre><script>bad()</script>\n```",
        "<!--<script>bad()//-->\u{0}\u{202e}\u{2028}<style>*{display:none}</style><base href=https://tracker.example>",
        "<details open ontoggle=bad()><template shadowrootmode=open><script>bad()</script></template>",
        "@@ -1 +1 @@\n+<script>bad()</script>\n-<img src=https://tracker.example/y.png>",
    ];
    let scene = Scene::saying(&hostile);
    let page = scene.page("hostile");
    let mut browser = Browser::start(&program);
    browser.open(&page);
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.removeAttribute('name'); one.open = true; })");
    browser.evaluate("scrollTo(0, 1e9)");
    browser.draw();
    let said = browser.evaluate("document.body.textContent");
    let said = said.as_str().unwrap();
    for text in [hostile[0], hostile[1], hostile[2], hostile[3]] {
        assert!(said.contains(text), "{text}");
    }
    let counts = browser.evaluate(
        "['script', 'style', 'img', 'svg', 'iframe', 'link', 'base', 'template', '[onload]', '[onerror]', '[ontoggle]', '[style]', \
          'a[href]:not([href^=\"#\"]):not([href^=\"http\"])', 'meta[http-equiv=refresh]'].map(what => document.querySelectorAll(what).length)",
    );
    // The drawings are the pictures at the end.
    assert_eq!(counts, json!([1, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(browser.evaluate("typeof bad"), "undefined");
    // Without the escapes nothing would run or be asked for either.
    let blocked = browser.evaluate(
        "new Promise(done => { document.addEventListener('securitypolicyviolation', event => done(event.effectiveDirective)); \
           const script = document.createElement('script'); script.textContent = 'window.ran = 1'; document.body.append(script); })",
    );
    assert_eq!(blocked, "script-src-elem");
    assert_eq!(browser.evaluate("typeof ran"), "undefined");
    browser.draw();
    browser.errors.clear();
    browser.has_been_quiet(&page);
}

#[test]
fn ten_thousand_entries_open_at_once() {
    let Some(program) = program() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.jsonl");
    let shape = Shape { bytes: 20_000_000, ..Shape::default() };
    leafline_generate::generate(&shape, &mut std::fs::File::create(&file).unwrap()).unwrap();
    let scene = Scene::of(&file);
    let listed = scene.run(&["ls", "--json"]);
    let facts: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let page = scene.page(facts["id"].as_str().unwrap());
    // The best of some tries: tests share the machine. What the page's own thread has worked is what it takes where nothing
    // else runs.
    let times = "(() => { const all = performance.getEntriesByType('navigation')[0]; \
                   const paint = performance.getEntriesByName('first-contentful-paint')[0]; \
                   return [paint ? paint.startTime : -1, all.loadEventEnd]; })()";
    let plain = plain_page(folder.path(), std::fs::metadata(&page).unwrap().len());
    let mut opened: Vec<[f64; 3]> = Vec::new();
    let mut slowness: Vec<[f64; 2]> = Vec::new();
    let mut browser = Browser::start(&program);
    let is_open = (0..TRIES).any(|_| {
        // What a browser keeps of a page that it has left is no memory of the next one.
        browser = Browser::start(&program);
        browser.resize(1000, 900, "light");
        browser.open(&page);
        let worked = browser.worked();
        let [painted, loaded]: [f64; 2] = serde_json::from_value(browser.evaluate(times)).unwrap();
        let times = [painted, loaded, worked];
        opened.push(times);
        let at_usual_speed = [1.0; 2];
        is_open_in_time(times, at_usual_speed)
            || is_open_in_time(times, note(&mut slowness, &program, &plain))
    });
    let entries = browser.evaluate("document.querySelectorAll('article').length").as_u64().unwrap();
    assert!(entries >= 10_000, "{entries}");
    // Steps through a part of the page, each until it is drawn, and then one to its end.
    let mut scrolled: Vec<[f64; 2]> = Vec::new();
    let is_scrolled = (0..TRIES).any(|_| {
        let frames = browser.evaluate(
            "new Promise(done => { const frames = []; let last; \
               const step = now => { if (last) frames.push(now - last); last = now; \
                 if (frames.length === 60) return done(frames); \
                 scrollBy(0, frames.length === 59 ? 1e9 : 1500); requestAnimationFrame(step); }; \
               scrollTo(0, 0); requestAnimationFrame(step); })",
        );
        let mut frames: Vec<f64> = serde_json::from_value(frames).unwrap();
        frames.sort_by(f64::total_cmp);
        let frames = [frames[frames.len() / 2], frames[frames.len() - 1]];
        scrolled.push(frames);
        is_smooth(frames, 1.0) || is_smooth(frames, note(&mut slowness, &program, &plain)[0])
    });
    let memory = browser.memory();
    println!(
        "{entries} entries, {:.1} MB: painted, loaded and worked for after {opened:.0?} ms, median and longest frame {scrolled:.0?} ms, {} MB of memory; a machine slower than usual by {slowness:.2?}",
        std::fs::metadata(&page).unwrap().len() as f64 / 1e6,
        memory / 1_000_000
    );
    assert!(is_open, "{opened:?} {slowness:?}");
    assert!(is_scrolled, "{scrolled:?} {slowness:?}");
    assert!(memory > 0 && memory < 500_000_000, "{memory}");
    browser.has_been_quiet(&page);
}

/// When a page is whole, in milliseconds from its beginning.
const LOADED: &str = "performance.getEntriesByType('navigation')[0].loadEventEnd";

/// How often a time is taken.
const TRIES: usize = 5;

/// Milliseconds until a page of 10,000 entries is whole, and those of them in which a processor works for it.
const MOST_TO_OPEN: f64 = 2_000.0;
const MOST_TO_WORK: f64 = 1_600.0;

/// When a plain page of as many bytes is whole, and for how long a processor works for it, in milliseconds, where those times
/// hold.
const PLAIN: [f64; 2] = [1_900.0, 2_000.0];

fn is_open_in_time([_, loaded, worked]: [f64; 3], slowness: [f64; 2]) -> bool {
    loaded < MOST_TO_OPEN * slowness[0] || worked < MOST_TO_WORK * slowness[1]
}

/// Whether the median and the longest frame, in milliseconds, let a reader scroll by more than a window at a time without a
/// stop. Tests share the machine: with little else to do they are 50 and 100.
fn is_smooth([median, longest]: [f64; 2], slowness: f64) -> bool {
    median < 120.0 * slowness && longest < 400.0 * slowness
}

/// Adds how much slower than usual a plain page is whole, and is worked for, 1 or more: the machine may be a slow one, and may
/// have others to work for.
fn note(slowness: &mut Vec<[f64; 2]>, program: &Path, plain: &Path) -> [f64; 2] {
    let mut browser = Browser::start(program);
    browser.resize(1000, 900, "light");
    browser.open(plain);
    let worked = browser.worked();
    let loaded = browser.evaluate(LOADED).as_f64().unwrap();
    let times = [loaded / PLAIN[0], worked / PLAIN[1]].map(|times| times.max(1.0));
    slowness.push(times);
    times
}

/// A page of paragraphs, which has nothing of ours.
fn plain_page(folder: &Path, bytes: u64) -> PathBuf {
    let file = folder.join("plain.html");
    let paragraph = format!("<p>{}\n", "some words of no meaning ".repeat(60));
    let count = usize::try_from(bytes).unwrap() / paragraph.len();
    std::fs::write(&file, format!("<!doctype html>\n{}", paragraph.repeat(count))).unwrap();
    file
}
