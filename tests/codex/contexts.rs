//! Contexts built from a store equal those built from all lines of a rollout.

use leafline::Error;
use leafline::context::ContextLeaf;
use leafline::error::SessionError;
use leafline::import::ImportOptions;
use leafline_import::codex::{ContextBuilder, Scanner, Truncation, detect, write_input};
use leafline_import::lines;
use leafline_import::text::decode;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::place::Place;
use crate::rollouts::case;
use crate::{ID, cases, imported, samples_folder};

/// What the model is sent at the leaf.
pub(crate) fn sent(place: &Place, id: &str) -> Vec<Value> {
    let context = place.store.reader(id).unwrap().build_context(ContextLeaf::Current, None);
    context.unwrap().messages.iter().map(|message| message.value().unwrap()).collect()
}

/// The same, built from all lines of a rollout and of its bases, the oldest first.
fn of_all_lines(parts: &[&[u8]]) -> Vec<Value> {
    let all: Vec<&[u8]> = parts.iter().flat_map(|part| lines::split(part)).collect();
    let (mut scanner, mut builder) = (Scanner::new(), ContextBuilder::new());
    for (line, bytes) in (0..).zip(&all) {
        builder.observe(line, &scanner.scan(&decode(bytes)));
    }
    let mut input = Vec::new();
    let text_of =
        |line| Ok::<_, std::convert::Infallible>(decode(all[usize::try_from(line).unwrap()]));
    write_input(&builder.finish(), text_of, Truncation::KNOWN_MODEL, &mut input).unwrap();
    serde_json::from_slice(&input).unwrap()
}

fn assert_is_of_all_lines(name: &str, file: &str) {
    let place = Place::new();
    imported(&place, ID, file);
    assert_eq!(sent(&place, ID), of_all_lines(&[file.as_bytes()]), "{name}");
}

#[test]
fn rollouts_of_every_kind() {
    for case in cases::all() {
        assert_is_of_all_lines(&case.name, &case.file(ID));
    }
}

#[test]
fn of_the_samples() {
    let place = Place::new();
    place.store.import(&[samples_folder()], &ImportOptions::default(), &mut ()).unwrap();
    let bytes = |id: &str| place.exact(id);
    let sessions = place.store.sessions().unwrap();
    assert_eq!(sessions.len(), 5);
    for session in sessions {
        let file = bytes(&session.id);
        let base = detect(&file, true).unwrap().header.history_base;
        let base = base.map(|base| {
            let mut file = bytes(&base.rollout_id);
            file.truncate(usize::try_from(base.end_byte).unwrap());
            file
        });
        let parts: Vec<&[u8]> = base.iter().map(Vec::as_slice).chain([&*file]).collect();
        let expected = of_all_lines(&parts);
        assert!(!expected.is_empty());
        assert_eq!(sent(&place, &session.id), expected, "{}", session.id);
    }
}

/// What was cut out of the lines is in the context.
#[test]
fn images_are_whole() {
    let url = format!("data:image/png;base64,iVBORw0KGgo{}", "A".repeat(4085));
    let blocks = json!([{"type": "input_text", "text": "A picture"}, {"type": "input_image", "image_url": url}]);
    let told = cases::item(json!({"type": "message", "role": "user", "content": blocks}));
    let file = cases::Case::new("", vec![told]).file(ID);
    let place = Place::new();
    imported(&place, ID, &file);
    assert_eq!(place.store.statistics().unwrap().blobs.count, 1);
    assert_eq!(sent(&place, ID)[0]["content"], blocks);
}

#[test]
fn a_fork_needs_its_base() {
    let base = "0199f2b4-0000-7000-8000-00000000000b";
    let header = json!({"id": ID, "history_mode": "paginated", "history_base":
        {"thread_id": base, "end_ordinal_exclusive": 5, "end_byte_offset": 100}});
    let file = cases::line("session_meta", header) + "\n" + &cases::user("Go on") + "\n";
    let place = Place::new();
    imported(&place, ID, &file);
    let reader = place.store.reader(ID).unwrap();
    let error = reader.build_context(ContextLeaf::Current, None).unwrap_err();
    assert!(
        matches!(&error, Error::Session(SessionError::BaseNotFound { base: named, .. }) if named == base),
        "{error}"
    );
    assert!(error.to_string().contains(base), "{error}");

    // It has the part of the base that it names, and nothing that came later.
    let whole = cases::Case::new("", cases::talk(1)).paginated().file(base);
    let all = whole.clone() + &cases::user("later") + "\n";
    imported(&place, base, &all);
    let file = file.replace(":100}", &format!(":{}}}", whole.len()));
    imported(&place, "0199f2b4-0000-7000-8000-00000000000c", &file);
    let sent = sent(&place, "0199f2b4-0000-7000-8000-00000000000c");
    assert_eq!(sent, of_all_lines(&[whole.as_bytes(), file.as_bytes()]));
    assert_eq!(sent.len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_rollout(seed in any::<u64>()) {
        assert_is_of_all_lines("random", &case(seed).file(ID));
    }
}
