//! `leafline export --as md` and `--as html`, as far as it needs no browser; `cli/tests/page` has one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::redact::files_below;
use crate::scene::{CLAUDE, OMP_3, PI_3, SAMPLES, Scene, header, on_samples, path, samples};

fn session(lines: &[serde_json::Value]) -> Scene {
    let mut bytes = format!("{}\n", header("shared"));
    lines.iter().for_each(|line| bytes.push_str(&format!("{line}\n")));
    Scene::of_session(bytes.as_bytes())
}

fn said(
    id: &str,
    parent: Option<&str>,
    role: &str,
    content: serde_json::Value,
) -> serde_json::Value {
    json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-02-16T10:20:01.000Z", "message": { "role": role, "content": content } })
}

#[test]
fn markdown_has_the_conversation_of_the_leaf() {
    let text = on_samples(["export", PI_3, "--as", "md"]).ok().text();
    assert!(text.starts_with(
        "# Flaky scheduler test\n\npi · 2026-02-16 10:20 UTC · `/home/robin/work/tide-clock`\n"
    ));
    assert!(text.contains(
        "\n## User · 2026-02-16 10:20 UTC\n\ntest/scheduler.test.ts fails about one run in ten."
    ));
    assert!(text.contains("<details><summary>→ bash "));
    assert!(text.contains("Committed as `4be91d7`."));
    // Another branch is not on the way to the leaf.
    assert!(!text.contains("try the fake timers first, it is the smaller change"));
    let from = on_samples(["export", PI_3, "--as", "md", "--from", "39f90f81"]).ok().text();
    assert!(!from.contains("fails about one run in ten. find out why"));
    assert!(from.contains("Two of twenty.") && text.ends_with(from.rsplit("## ").next().unwrap()));
}

#[test]
fn nothing_in_a_session_is_markup_of_the_markdown() {
    let hostile = "a</details>\u{202e}b\u{0}\u{1b}[31m";
    let model = |id: &str, parent: &str, model: &str, content: serde_json::Value| {
        let mut line = said(id, Some(parent), "assistant", content);
        line["message"]["model"] = json!(model);
        line
    };
    let scene = session(&[
        said("a", None, "user", json!([{ "type": "text", "text": format!("```\n{hostile}") }])),
        model(
            "b",
            "a",
            "m1",
            json!([{ "type": "thinking", "thinking": format!("so `</b>`\n\n{hostile}") }]),
        ),
        model(
            "c",
            "b",
            "m1",
            json!([
                { "type": "toolCall", "id": "t", "name": hostile, "arguments": { "path": "a.rs", "content": format!("```\n{hostile}") } },
                { "type": "toolCall", "id": "u", "name": "edit", "arguments": { "path": "a.rs", "oldText": "one\ntwo", "newText": "one\nthree" } },
            ]),
        ),
        json!({ "type": "message", "id": "d", "parentId": "c", "timestamp": "2026-02-16T10:20:01.000Z",
            "message": { "role": "toolResult", "toolCallId": "t", "toolName": "write", "content": [{ "type": "text", "text": format!("````\n{hostile}") }] } }),
        model("e", "d", "m2", json!([{ "type": "text", "text": "done" }])),
        json!({ "type": "session_info", "id": "f", "parentId": "e", "timestamp": "2026-02-16T10:20:02.000Z", "name": "<b>*title*</b>\u{202e}" }),
    ]);
    let text = scene.run(["export", "shared", "--as", "md"]).ok().text();
    assert!(text.starts_with("# \\<b\\>\\*title\\*\\</b\\>\\[U+202E\\]\n"), "{text}");
    assert!(!text.contains(['\u{202e}', '\0', '\u{1b}']), "{text}");
    // What is outside of fences ends what the file itself has opened, and nothing else.
    let mut fence: Option<&str> = None;
    let (mut opened, mut ended) = (0, 0);
    for line in text.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(open) if ticks.len() >= open.len() && ticks == line => fence = None,
            None => {
                opened += line.matches("<details>").count();
                ended += line.replace("\\</details>", "").matches("</details>").count();
            }
            Some(_) => {}
        }
    }
    assert_eq!((opened, ended, fence), (4, 4, None), "{text}");
    assert!(text.contains("so `</b>`\n\na\\</details>[U+202E]b\u{2400}\u{241b}[31m\n"), "{text}");
    // What is written, and what is changed.
    let written = "- `path`: `a.rs`\n\n`content`:\n\n````rust\n```\na</details>[U+202E]b";
    assert!(text.contains(written), "{text}");
    let changed = "- `path`: `a.rs`\n\n`change`:\n\n```diff\n one\n-two\n+three\n```";
    assert!(text.contains(changed), "{text}");
    // The model is said where it is another one.
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(headings.len(), 3, "{headings:?}");
    assert!(headings[1].ends_with(" · m1") && headings[2].ends_with(" · m2"), "{headings:?}");
}

#[test]
fn a_conversation_begins_and_ends_at_entries_of_any_branch() {
    // The first entry of the branch that was given up, its last message, and an entry of the way to the leaf.
    let (first, last, on_way) = ("588262d5", "5937c1f0", "46773aad");
    let begun = "try the fake timers first, it is the smaller change";
    let given_up = "The timers were made before the clock was faked";
    for (form, articles) in [("md", None), ("html", Some([7, 6, 20]))] {
        let of = |arguments: &[&str]| {
            on_samples([&["export", PI_3, "--as", form], arguments].concat()).ok().text()
        };
        let branch = of(&["--from", first]);
        assert!(branch.contains(begun) && branch.contains(given_up), "{branch}");
        assert!(!branch.contains("Committed as") && !branch.contains("ok, do the queue"));
        let part = of(&["--from", first, "--to", last]);
        assert!(part.contains(begun) && part.contains(given_up), "{part}");
        // What the branch leaves is the beginning of all others.
        let to = of(&["--to", on_way]);
        assert!(to.contains("fails about one run in ten") && to.contains("ok, do the queue"));
        assert!(!to.contains("200 runs, no failure"), "{to}");
        let counts = [&branch, &part, &to].map(|page| page.matches("<article ").count());
        assert!(articles.is_none_or(|articles| counts == articles), "{counts:?}");
        for page in [&branch, &part, &to] {
            for element in ["details", "div"] {
                let ends = page.matches(&format!("</{element}>")).count();
                assert_eq!(page.matches(&format!("<{element}")).count(), ends);
            }
        }
        let off = on_samples(["export", PI_3, "--as", form, "--from", first, "--to", on_way]);
        // Before anything is written.
        assert_eq!(off.text(), "");
        let off = off.fails(1);
        assert!(off.contains("588262d5") && off.contains("is not on the way to 46773aad"), "{off}");
    }
}

#[test]
fn every_sample_has_a_page_and_a_text() {
    let scene = Scene::of_samples();
    let listed = scene.run(["ls", "--agents", "--json"]).ok().json_lines();
    assert_eq!(listed.len(), SAMPLES);
    for facts in listed {
        let (id, entries) = (facts["id"].as_str().unwrap(), facts["entries"].as_u64().unwrap());
        let page = scene.run(["export", id, "--as", "html"]).ok().text();
        assert_eq!(page.matches("<article ").count() as u64, entries, "{id}");
        assert_eq!(page.matches("<details").count(), page.matches("</details>").count(), "{id}");
        assert_eq!(page.matches("<div").count(), page.matches("</div>").count(), "{id}");
        assert_eq!(page.matches("<script>").count(), 1, "{id}");
        assert!(page.ends_with("</html>\n"), "{id}");
        assert!(!scene.run(["export", id, "--as", "md"]).ok().stdout.is_empty(), "{id}");
    }
}

#[test]
fn a_page_has_its_branches_labels_images_and_costs() {
    let page = on_samples(["export", PI_3, "--as", "html"]).ok().text();
    let branch = page.find("<details class=\"branch\"").unwrap();
    assert!(page[branch..].starts_with(
        "<details class=\"branch\" name=\"fork1\"><summary><b>Branch</b> try the fake timers first"
    ));
    assert!(page.contains("<mark>cause</mark>") && page.contains("<a id=\"leaf\"></a>"));
    assert!(page.contains("class=\"usage\"") && page.contains("<pre class=\"diff\">"));
    let omp = on_samples(["export", OMP_3, "--as", "html"]).ok().text();
    assert!(omp.contains("src=\"data:image/png;base64,iVBOR"), "an image of the blobs");
    assert!(on_samples(["export", CLAUDE, "--as", "html"]).ok().text().contains("<b>Task</b>"));
}

#[test]
fn a_branch_is_called_by_its_first_message() {
    // A change of a setting comes before it.
    let page = on_samples(["export", OMP_3, "--as", "html"]).ok().text();
    let names: Vec<&str> = page
        .split("<summary><b>Branch</b> ")
        .skip(1)
        .map(|branch| branch.split(" <small>").next().unwrap())
        .collect();
    assert!(!names.is_empty() && names.iter().all(|name| name.len() > 10), "{names:?}");
}

#[test]
fn patches_are_shown_as_diffs() {
    let page = on_samples(["export", "0199f2b4", "--as", "html"]).ok().text();
    assert!(page.contains("<b>apply_patch</b> <code>bread.md</code>"), "{page}");
    assert!(
        page.contains("<i>*** Update File: bread.md</i>\n<i>@@</i>\n<del>-500 g flour</del>\n<ins>+1000 g flour</ins>\n"),
        "{page}"
    );
    assert!(page.contains("data-language=\"bash\"><code>cat bread.md</code>"), "{page}");
    let text = on_samples(["export", "0199f2b4", "--as", "md"]).ok().text();
    assert!(text.contains("```diff\n*** Begin Patch\n*** Update File: bread.md\n"), "{text}");
}

#[test]
fn what_is_read_written_and_run_has_its_language() {
    let page = on_samples(["export", PI_3, "--as", "html"]).ok().text();
    for begin in [
        "<pre class=\"code\" data-language=\"typescript\"><code>export class Scheduler {",
        "<pre class=\"code\" data-language=\"typescript\"><code>interface Job {",
        "<pre class=\"code\" data-language=\"bash\"><code>cd /home/robin/work/tide-clock",
        "<pre class=\"diff\"><span data-language=\"typescript\"><del>-\tawait scheduler.drain();</del>",
    ] {
        assert!(page.contains(begin), "{begin}");
    }
    let page = on_samples(["export", "019c6f5a-0000", "--as", "html"]).ok().text();
    assert!(page.contains("data-language=\"rust\"><code>pub const OFFSET_MINUTES"), "{page}");
}

#[test]
fn costs_that_no_program_states_are_estimated() {
    for (session, is_estimate) in [(CLAUDE, true), (PI_3, false)] {
        // By itself: what other sessions repeat counts to one of them, and what agents use to the session that starts them.
        let files = files_below(&samples());
        let file =
            files.iter().find(|file| path(file).ends_with(&format!("{session}.jsonl"))).unwrap();
        let scene = Scene::of_session(&std::fs::read(file).unwrap());
        let page = scene.run(["export", session, "--as", "html"]).ok().text();
        let facts = page.split("<p class=\"facts\">").nth(1).unwrap().split("</p>").next().unwrap();
        let usage = scene.run(["--json", "usage", "--by", "session"]).ok().json();
        let [row] = &usage["rows"].as_array().unwrap()[..] else { panic!("{usage}") };
        let own = row["cost"].as_f64().unwrap();
        let digits = if own < 0.1 { 4 } else { 2 };
        let about = if is_estimate { "≈ " } else { "" };
        assert!(facts.contains(&format!(", {about}${own:.digits$}</span>")), "{own}: {facts}");
        assert_eq!(facts.contains("an estimate, by the prices of 20"), is_estimate, "{facts}");
        // Those of the answers, each told once, are the sum.
        // They stand in headings, and in the titles of those that go on.
        let told = page.split("<article ").skip(1).filter_map(|entry| {
            let (start, rest) = entry.split_once('>')?;
            let heading = rest.split("</header>").next()?;
            let told =
                start.split("title=\"").nth(1).or(heading.split("class=\"usage\"").nth(1))?;
            let cost = told.split(['<', '"']).find(|part| part.contains(" out, "))?;
            cost.rsplit_once('$')?.1.parse::<f64>().ok()
        });
        let sum: f64 = told.sum();
        assert!((sum - own).abs() < 0.001, "{sum} {own}");
    }
}

#[test]
fn a_page_allows_its_own_style_and_script_alone() {
    let page = on_samples(["export", PI_3, "--as", "html"]).ok().text();
    let part = |open: &str, close: &str| {
        page.split(open).nth(1).unwrap().split(close).next().unwrap().to_owned()
    };
    let policy = part("http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; img-src data:; style-src 'sha256-{}' 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            hash(&part("<style>", "</style>")),
            hash(&part("<noscript><style>", "</style>")),
            hash(&part("<script>", "</script>"))
        )
    );
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// How many elements that hold others are in each other, at most.
fn deepest(page: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for tag in page.split('<') {
        match tag {
            tag if tag.starts_with("details") || tag.starts_with("div") => depth += 1,
            tag if tag.starts_with("/details") || tag.starts_with("/div") => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    assert_eq!(depth, 0);
    deepest
}

#[test]
fn a_conversation_without_its_leafs_end_or_with_many_branches_is_whole() {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let mut lines = vec![said("root", None, "user", text("begin"))];
    // Branches of branches, deeper than a browser nests elements.
    for depth in 0..400 {
        let parent = if depth == 0 { "root".to_owned() } else { format!("a{}", depth - 1) };
        lines.push(said(
            &format!("a{depth}"),
            Some(&parent),
            "user",
            text(&format!("deeper {depth}")),
        ));
        lines.push(said(
            &format!("b{depth}"),
            Some(&parent),
            "user",
            text(&format!("beside {depth}")),
        ));
    }
    let scene = session(&lines);
    let page = scene.run(["export", "shared", "--as", "html"]).ok().text();
    assert_eq!(page.matches("<article ").count(), 801);
    assert!(deepest(&page) < 450, "{}", deepest(&page));

    // The leaf goes back to the first entry: all else is behind it.
    scene.run(["branch", "shared", "root"]).ok();
    let page = scene.run(["export", "shared", "--as", "html"]).ok().text();
    assert!(deepest(&page) < 450, "{}", deepest(&page));
    let leaf = page.find("<a id=\"leaf\">").unwrap();
    assert!(page[leaf..].find(">begin<").unwrap() < 2000);
    assert_eq!(page.matches("<article ").count(), 801);
    let from = scene.run(["export", "shared", "--as", "html", "--from", "a398"]).ok().text();
    assert_eq!(from.matches("<article ").count(), 3);
}

#[test]
fn pages_and_texts_are_redacted() {
    let token = ["ghp_", "q7Rt2Lm9sa", "4Wdp8Zbn3H", "yV0cXe6TfK", "1uJo5G"].concat();
    let content = json!([{ "type": "text", "text": format!("use {token} and </script><script>bad()</script>") }]);
    let scene = session(&[
        said("a", None, "user", content.clone()),
        said(
            "b",
            Some("a"),
            "assistant",
            json!([{ "type": "toolCall", "id": "t", "name": "bash", "arguments": { "command": format!("echo {token}") } }]),
        ),
        json!({ "type": "session_info", "id": "c", "parentId": "b", "timestamp": "2026-02-16T10:20:02.000Z", "name": format!("about {token}") }),
    ]);
    for form in ["md", "html"] {
        let whole = scene.run(["export", "shared", "--as", form]).ok().text();
        assert!(whole.contains(&token));
        let run = scene.run(["export", "shared", "--as", form, "--redact"]);
        assert!(!run.text().contains(&token) && run.text().contains("REDACTED-github-token-"));
        assert!(run.stderr.contains("github-token"), "{}", run.stderr);
        let file = scene.folder().join("shared");
        let told =
            scene.run(["export", "shared", "--as", form, "-o", path(&file), "--redact-emails"]);
        assert_eq!(told.status, 0, "{}", told.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), run.text());
    }
}

#[test]
fn what_does_not_go_together_is_said() {
    for (arguments, word) in [
        (vec!["export", PI_3, OMP_3, "--as", "html"], "one session"),
        (vec!["export", PI_3, "--as", "html", "-o", "/tmp/"], "one file"),
        (vec!["export", PI_3, "--from", "39f90f81"], "--from"),
        (vec!["export", PI_3, "--to", "39f90f81"], "--to"),
    ] {
        let said = on_samples(arguments).fails(2);
        assert!(said.contains(word), "{said}");
    }
    let said = on_samples(["export", PI_3, "--as", "md", "--from", "nothing"]).fails(1);
    assert!(said.contains("nothing"), "{said}");
}
