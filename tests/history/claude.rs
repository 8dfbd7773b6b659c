//! Claude Code's `history.jsonl` in.

use leafline::prompts::HistoryEntry;
use leafline::{Error, Store};

use super::place::Place;
use super::texts;

/// Lines as the program writes them, with pasted texts in the line and in files of their own.
const LINES: &str = concat!(
    r#"{"display":"fix the build","pastedContents":{},"timestamp":1795770000001,"project":"/work/tide","sessionId":"5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90"}"#,
    "\n",
    r#"{"display":"why [Pasted text #1 +2 lines] and [Image #2] and [Pasted text #3]?","pastedContents":{"1":{"id":1,"type":"text","content":"a\nb\nc"},"2":{"id":2,"type":"image","content":"iVBO"},"3":{"id":3,"type":"text","contentHash":"00112233aabbccdd"}},"timestamp":1795770000002,"project":"/work/tide"}"#,
    "\n\n",
    r#"{"display":"fix the build","timestamp":1795770000003,"project":"/work/tide"}"#,
    "\n",
    r#"{"display":"[Pasted text #9] [Pasted text #x] [","pastedContents":{"9":{"id":9,"type":"text","contentHash":"../../secret"}},"timestamp":1795770000004}"#,
    "\n",
);

fn recent(store: &Store) -> Vec<HistoryEntry> {
    store.history().recent(1000).unwrap()
}

#[test]
fn prompts_are_taken_once_with_what_was_pasted() {
    let place = Place::new();
    let file = place.write("claude/history.jsonl", LINES);
    place.write("claude/paste-cache/00112233aabbccdd.txt", "a long text");
    place.write("secret.txt", "of somebody else");
    let history = place.store.history();
    let transfer = history.import_claude(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present, transfer.left_out), (4, 0, 0));
    let found = recent(&place.store);
    assert_eq!(
        texts(&found),
        [
            "[Pasted text #9] [Pasted text #x] [",
            "fix the build",
            "why a\nb\nc and [Image #2] and a long text?",
            "fix the build",
        ]
    );
    assert_eq!(
        (found[2].created_at, found[2].cwd.as_deref()),
        (1_795_770_000_002, Some("/work/tide"))
    );
    assert_eq!(found[0].cwd, None);
    assert_eq!(history.search("long tex", 10).unwrap().len(), 1);

    // Once more, also when the program has deleted what was pasted, and the oldest lines.
    std::fs::remove_dir_all(place.path("claude/paste-cache")).unwrap();
    let rest = LINES.split_once('\n').unwrap().1;
    let new = r#"{"display":"and now","timestamp":1795770000005,"project":"/work/tide"}"#;
    let file = place.write("claude/history.jsonl", format!("{rest}{new}\n"));
    let transfer = history.import_claude(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present), (1, 3));
    assert_eq!(recent(&place.store).len(), 5);
    place.assert_sound();
}

#[test]
fn other_lines_are_counted_and_cost_nothing_else() {
    let place = Place::new();
    let torn = &LINES[..LINES.len() - 10];
    let long = format!("{{\"display\":\"{}\",\"timestamp\":1}}\n", "x".repeat(17 << 20));
    let other = "no JSON\n{}\n[1]\n{\"display\":\" \",\"timestamp\":5}\n{\"display\":1,\"timestamp\":5}\n{\"display\":\"a\",\"timestamp\":\"b\"}\n\u{0}\n";
    let file = place.write("history.jsonl", format!("{other}{long}{torn}"));
    let transfer = place.store.history().import_claude(&file).unwrap();
    assert_eq!((transfer.copied, transfer.left_out), (3, 9));
    // The torn one comes when it is whole.
    place.write("history.jsonl", format!("{other}{long}{LINES}"));
    let transfer = place.store.history().import_claude(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present, transfer.left_out), (1, 3, 8));
    // The last line may lack its end.
    let file = place.write("last.jsonl", r#"{"display":"the last","timestamp":9}"#);
    assert_eq!(place.store.history().import_claude(&file).unwrap().copied, 1);
    let odd = r#"{"display":"[Pasted text #1]","timestamp":10,"pastedContents":[7]}"#;
    let file = place.write("odd.jsonl", odd);
    assert_eq!(place.store.history().import_claude(&file).unwrap().copied, 1);
    assert_eq!(recent(&place.store).last().unwrap().prompt, "the last");
    place.assert_sound();
}

#[test]
fn what_is_no_file_is_an_error() {
    let place = Place::new();
    for path in [place.path("absent.jsonl"), place.folder.path().to_owned()] {
        let error = place.store.history().import_claude(&path).unwrap_err();
        assert!(matches!(error, Error::File { .. }), "{error}");
    }
}
