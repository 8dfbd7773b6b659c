//! Images that are stored separately are in the context again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline::Family;
use leafline::context::{ContextLeaf, ContextProgram};
use leafline::import::ImportOptions;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::place::Place;
use super::scene::{Scene, entry};

fn picture(seed: u8) -> Vec<u8> {
    (0..=u8::MAX).cycle().map(|byte| byte.wrapping_mul(29).wrapping_add(seed)).take(3_000).collect()
}

fn reference(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("blob:sha256:{hex}")
}

fn image(data: &str) -> Value {
    json!({"type": "image", "data": data, "mimeType": "image/png"})
}

#[test]
fn omp_s_references_become_images_and_pi_s_stay() {
    let (here, gone, inline) = (picture(1), picture(2), picture(3));
    let (here_base64, inline_base64) = (STANDARD.encode(&here), STANDARD.encode(&inline));
    let data = |resolved: bool| if resolved { here_base64.clone() } else { reference(&here) };
    let blocks = |resolved: bool| {
        json!([
            image(&inline_base64),
            image(&data(resolved)),
            image(&reference(&gone)),
            {"type": "text", "text": reference(&here)},
            {"type": "toolResult", "content": [image(&data(resolved)), image(&inline_base64)]},
        ])
    };
    // omp resolves what is in any array of that name (observed), and in no other.
    let message = |resolved| {
        let other = image(&reference(&here));
        let details =
            json!({"content": [image(&data(resolved)), image(&inline_base64)], "other": [other]});
        json!({"content": blocks(resolved), "details": details, "role": "toolResult"})
    };
    let lines = [
        entry("message", "a", "", json!({"message": message(false)})),
        entry("custom_message", "b", "a", json!({"customType": "c", "content": blocks(false)})),
        entry("compaction", "c", "b", json!({"summary": {"content": blocks(false)}})),
    ];
    for family in [Family::Omp, Family::Pi] {
        let place = Place::new();
        let blobs = place.path("blobs");
        std::fs::create_dir(&blobs).unwrap();
        std::fs::write(blobs.join(&reference(&here)[12..]), &here).unwrap();
        let text =
            format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{}\n", lines.join("\n"));
        let options =
            ImportOptions { family: Some(family), blobs: Some(blobs), ..ImportOptions::default() };
        place.import_with(&place.write("s.jsonl", text), &options);
        let scene = Scene { place };
        let resolved = family == Family::Omp;
        let context = scene.context(ContextLeaf::Entry("b"));
        assert_eq!(context.messages[0].value().unwrap(), message(resolved));
        assert_eq!(context.messages[1].value().unwrap()["content"], blocks(resolved));
        let context = scene.context(ContextLeaf::Entry("c"));
        assert_eq!(context.messages[0].value().unwrap()["summary"]["content"], blocks(resolved));
        if family == Family::Omp {
            // omp 14 resolves the blocks of a message's own content alone.
            let reader = scene.place.store.reader("s").unwrap();
            let program = ContextProgram { family: None, as_of: Some("14".parse().unwrap()) };
            let context = reader.build_context(ContextLeaf::Entry("b"), program).unwrap();
            for message in &context.messages {
                let message = message.value().unwrap();
                assert_eq!(message["content"][1], image(&data(true)));
                assert_eq!(message["content"][4]["content"][0], image(&data(false)));
            }
            let message = context.messages[0].value().unwrap();
            assert_eq!(message["details"]["content"][0], image(&data(false)));
        }
    }
}
