//! Contexts of stored sessions equal those built from all their lines, and cost no more than they contain.

use leafline_import::codex::{ContextBuilder, Scanner, Truncation, write_input};
use leafline_import::conversation::{Base, BaseEnd, Before, HistoryScope, PathEnd};
use leafline_import::text::decode;
use leafline_import::{Family, lines};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::{
    Alone, Case, assistant, compacted, event, item, line, message, rolled_back, turn, user,
};
use crate::in_memory::InMemory;
use crate::rollouts::case;

const ID: &str = "0199f2b4-0000-7000-8000-000000000000";

fn stored(file: &[u8]) -> InMemory<'_> {
    InMemory::new(file, |_| None)
}

/// The lines of each message, the messages, and the model.
type Told = (Vec<Vec<u64>>, Vec<Value>, Option<String>);

fn told<'f>(
    conversation: &mut InMemory<'f>,
    before: &mut [Before<InMemory<'f>>],
    leaf: u64,
    scope: HistoryScope,
) -> Told {
    let (mut places, mut messages) = (Vec::new(), Vec::new());
    let take = &mut |at: &[u64], json: &[u8]| {
        places.push(at.to_vec());
        messages.push(serde_json::from_slice(json).unwrap());
        Ok(())
    };
    let settings = Family::Codex.context(conversation, before, Some(leaf), scope, take).unwrap();
    let model = settings.model.and_then(|model| model.model_id);
    (places, messages, model.and_then(|model| model.text()))
}

/// The result of a builder that was given all lines up to a leaf.
fn of_all_lines(parts: &[&[u8]], leaf: u64) -> (Vec<Vec<u64>>, Vec<Value>) {
    let (own, before) = parts.split_last().unwrap();
    let mut all: Vec<&[u8]> = before.iter().flat_map(|part| lines::split(part)).collect();
    let ahead = all.len() as u64;
    all.extend(lines::split(own).take(usize::try_from(leaf).unwrap() + 1));
    let (mut scanner, mut builder) = (Scanner::new(), ContextBuilder::new());
    for (line, bytes) in (0..).zip(&all) {
        builder.observe(line, &scanner.scan(&decode(bytes)));
    }
    let items = builder.finish();
    let places = items.iter().map(|item| item.place.line.checked_sub(ahead).into_iter().collect());
    let text_of = |line| {
        let line = usize::try_from(line).unwrap();
        Ok::<_, std::convert::Infallible>(decode(all[line]))
    };
    let mut input = Vec::new();
    write_input(&items, text_of, Truncation::KNOWN_MODEL, &mut input).unwrap();
    (places.collect(), serde_json::from_slice(&input).unwrap())
}

fn check_at(file: &[u8], leaf: u64) {
    let (places, messages, _) = told(&mut stored(file), &mut [], leaf, HistoryScope::Context);
    assert_eq!((places.clone(), messages), of_all_lines(&[file], leaf), "at line {leaf}");
    let history =
        Family::Codex.history(&mut stored(file), &mut [], leaf, HistoryScope::Context).unwrap();
    let mut lines = places.concat();
    lines.dedup();
    assert_eq!(history.ordinals().collect::<Vec<_>>(), lines, "at line {leaf}");
}

/// Turns with their boundaries, compactions in and between them, rollbacks, and settings of other turns.
fn case_of_turns(parts: &[(u8, u8, u8)]) -> Case {
    let mut lines = Vec::new();
    for (number, &(what, size, more)) in (0u32..).zip(parts) {
        let said = (0..=size % 3).flat_map(|index| {
            [user(&format!("u{number}.{index}")), assistant(&format!("a{number}.{index}"))]
        });
        let alone = [Alone::No, Alone::No, Alone::Window, Alone::Whole][usize::from(more % 4)];
        let kept = || (0..size % 4).map(|kept| message("user", &format!("k{number}.{kept}")));
        let compaction = match what % 3 {
            0 => compacted(&format!("S{number}"), None, alone),
            _ => compacted(&format!("S{number}"), Some(kept().collect()), alone),
        };
        match what {
            0..=4 => lines.extend(turn(number, said.collect())),
            5..=7 => lines.extend(turn(number, said.chain([compaction]).collect())),
            8 => lines.push(compaction),
            9 => lines.extend(said),
            10 | 11 => lines.push(rolled_back(u64::from(size % 4))),
            12 => lines.push(event(json!({"type": "user_message", "message": "x"}))),
            _ => lines.push(line(
                "turn_context",
                json!({"turn_id": format!("t{}", more % 8), "model": "m", "cwd": "/"}),
            )),
        }
    }
    lines.push(assistant("the end"));
    let case = Case::new("turns", lines);
    if parts.len().is_multiple_of(3) { case.paginated() } else { case }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_sessions_as_if_all_lines_were_read(seed in any::<u64>(), leaf in any::<prop::sample::Index>()) {
        let file = case(seed).file(ID).into_bytes();
        let count = lines::split(&file).count();
        check_at(&file, leaf.index(count) as u64);
        check_at(&file, count as u64 - 1);
    }

    #[test]
    fn sessions_of_turns_as_if_all_lines_were_read(parts in prop::collection::vec((0..14u8, any::<u8>(), any::<u8>()), 0..16), leaf in any::<prop::sample::Index>()) {
        let file = case_of_turns(&parts).file(ID).into_bytes();
        let count = lines::split(&file).count();
        check_at(&file, leaf.index(count) as u64);
        check_at(&file, count as u64 - 1);
    }

    #[test]
    fn forks_as_if_all_lines_were_read(seeds in prop::collection::vec(any::<u64>(), 2..4), cuts in prop::collection::vec(any::<prop::sample::Index>(), 3)) {
        let files: Vec<Vec<u8>> = seeds.iter().map(|&seed| case(seed).paginated().file(ID).into_bytes()).collect();
        let (own, bases) = files.split_last().unwrap();
        let mut before = Vec::new();
        let mut parts: Vec<&[u8]> = Vec::new();
        for (base, cut) in bases.iter().zip(&cuts) {
            let count = cut.index(lines::split(base).count()) + 1;
            let bytes = lines::split(base).take(count).map(<[u8]>::len).sum::<usize>();
            before.push(Before { conversation: stored(base), lines: count as u64 });
            parts.push(&base[..bytes]);
        }
        parts.push(own);
        let leaf = lines::split(own).count() as u64 - 1;
        let (places, messages, _) = told(&mut stored(own), &mut before, leaf, HistoryScope::Context);
        prop_assert_eq!((places, messages), of_all_lines(&parts, leaf));
    }
}

fn text(message: &Value) -> &str {
    message["content"][0]["text"].as_str().unwrap()
}

#[test]
fn what_is_above_the_last_compaction_is_not_read() {
    let long = (0..1_000).flat_map(|number| turn(number, vec![user("u"), assistant("a")]));
    let kept = vec![message("user", "kept")];
    for (alone, most) in [(Alone::Whole, 30), (Alone::No, 40)] {
        let mut lines: Vec<String> = long.clone().collect();
        lines.extend(turn(1_000, vec![compacted("S", Some(kept.clone()), alone)]));
        let settings =
            line("turn_context", json!({"turn_id": "t1001", "model": "large", "cwd": "/"}));
        lines.extend(turn(1_001, vec![settings, user("new"), assistant("answer")]));
        let file = Case::new("long", lines).file(ID).into_bytes();
        let leaf = lines::split(&file).count() as u64 - 1;
        let mut conversation = stored(&file);
        let (_, messages, model) = told(&mut conversation, &mut [], leaf, HistoryScope::Context);
        let texts: Vec<&str> = messages.iter().map(text).collect();
        assert_eq!(texts, ["kept", "new", "answer"]);
        assert_eq!(model.as_deref(), Some("large"));
        assert!(conversation.read.get() <= most, "{}", conversation.read.get());
        let history = Family::Codex
            .history(&mut stored(&file), &mut [], leaf, HistoryScope::Context)
            .unwrap();
        assert_eq!(history.end(), Some(PathEnd::Boundary));
    }
}

#[test]
fn a_full_history_has_what_was_compacted_and_not_what_was_taken_back() {
    let call = json!({"type": "function_call", "name": "f", "arguments": "", "call_id": "c"});
    let lines = vec![
        user("one"),
        assistant("1"),
        compacted("Sum", Some(vec![message("user", "kept")]), Alone::Whole),
        user("two"),
        rolled_back(1),
        user("three"),
        item(call),
        compacted("", Some(vec![]), Alone::Whole),
        user("four"),
    ];
    let file = Case::new("full", lines).file(ID).into_bytes();
    let leaf = lines::split(&file).count() as u64 - 1;
    let (places, messages, _) = told(&mut stored(&file), &mut [], leaf, HistoryScope::Full);
    assert_eq!(places.concat(), [1, 2, 3, 6, 7, 9]);
    let texts: Vec<&str> =
        messages.iter().filter(|message| message["type"] == "message").map(text).collect();
    assert_eq!(texts, ["one", "1", "Sum", "three", "four"]);
    let history =
        Family::Codex.history(&mut stored(&file), &mut [], leaf, HistoryScope::Full).unwrap();
    assert_eq!(history.ordinals().collect::<Vec<_>>(), places.concat());
    assert_eq!(history.end(), Some(PathEnd::Root));
}

#[test]
fn a_fork_names_its_base() {
    let base = json!({"thread_id": "b", "end_ordinal_exclusive": 3, "end_byte_offset": 700});
    let meta = json!({"id": ID, "history_mode": "paginated", "history_base": base});
    let file = line("session_meta", meta) + "\n";
    let found = Family::Codex.base(&mut stored(file.as_bytes())).unwrap();
    assert_eq!(found, Some(Base { session: "b".to_owned(), end: BaseEnd::Bytes(700) }));
    let alone = Case::new("alone", Vec::new()).file(ID);
    assert_eq!(Family::Codex.base(&mut stored(alone.as_bytes())).unwrap(), None);
}
