//! Images are stored once, by hash, and exported in the requested form.
//!
//! Guards against an image that is lost, kept twice, freed while a session needs it, or put back in another place.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline::Error;
use leafline::error::ExportError;
use leafline::export::ExportMode;
use leafline::import::{ImportOptions, ImportStatus};
use place::Place;
use sha2::{Digest, Sha256};

fn picture(seed: u8, length: usize) -> Vec<u8> {
    (0..=u8::MAX)
        .cycle()
        .map(|byte| byte.wrapping_mul(31).wrapping_add(seed))
        .take(length)
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn session(id: &str, blocks: &[String]) -> String {
    let mut text =
        format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"/w\"}}\n");
    for (number, block) in blocks.iter().enumerate() {
        text.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"m{number}\",\"parentId\":null,\"message\":{{\"role\":\"toolResult\",\"content\":[{{\"type\":\"text\",\"text\":\"see\"}},{block}]}}}}\n"
        ));
    }
    text
}

fn image(data: &str) -> String {
    format!("{{\"type\":\"image\",\"data\":\"{data}\",\"mimeType\":\"image/png\"}}")
}

fn reference(bytes: &[u8]) -> String {
    image(&format!("blob:sha256:{}", hex(bytes)))
}

#[test]
fn an_image_is_kept_once_and_freed_with_its_last_session() {
    let place = Place::new();
    let bytes = picture(1, 300_000);
    let block = image(&STANDARD.encode(&bytes));
    let first = session("one", &[block.clone(), block.clone()]);
    let second = session("two", &[block]);
    place.import(&place.write("1.jsonl", &first));
    place.import(&place.write("2.jsonl", &second));
    let blobs = place.store.statistics().unwrap().blobs;
    assert_eq!((blobs.count, blobs.bytes, blobs.references), (1, 300_000, 3));
    assert_eq!(blobs.saved_bytes, 600_000);
    assert_eq!(place.exact("one"), first.as_bytes());
    assert_eq!(place.store.remove("one").unwrap().blob_bytes, 0);
    assert_eq!(place.exact("two"), second.as_bytes());
    place.assert_sound();
    assert_eq!(place.store.remove("two").unwrap().blob_bytes, 300_000);
    assert_eq!(place.store.statistics().unwrap().blobs.count, 0);
    place.assert_sound();
}

#[test]
fn references_and_inline_images_turn_into_each_other() {
    let place = Place::new();
    let (large, small, named) = (picture(2, 5_000), picture(3, 100), picture(4, 700));
    let inline = session(
        "s",
        &[
            image(&STANDARD.encode(&large)),
            image(&STANDARD.encode(&small)),
            image(&STANDARD.encode(&named)),
        ],
    );
    place.import(&place.write("s.jsonl", &inline));
    let folder = place.path("blobs");
    // 700 bytes are 936 characters of base64: below the limit, they stay.
    let expected = session(
        "s",
        &[reference(&large), image(&STANDARD.encode(&small)), image(&STANDARD.encode(&named))],
    );
    let mode = ExportMode::References { blobs: folder.clone() };
    assert_eq!(String::from_utf8(place.export("s", &mode)).unwrap(), expected);
    assert_eq!(std::fs::read(folder.join(hex(&large))).unwrap(), large);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    // And back, in another store.
    let other = Place::new();
    let options = ImportOptions { blobs: Some(folder), ..ImportOptions::default() };
    let report = other.import_with(&other.write("s.jsonl", &expected), &options);
    assert_eq!(report.status, ImportStatus::Imported);
    assert_eq!(other.exact("s"), expected.as_bytes());
    assert_eq!(other.export("s", &ExportMode::Current), expected.as_bytes());
    assert_eq!(other.export("s", &ExportMode::Portable), inline.as_bytes());
    other.assert_sound();
}

#[test]
fn a_blob_that_nobody_has_is_told_and_can_come_later() {
    let place = Place::new();
    let bytes = picture(5, 2_000);
    let text = session("s", &[reference(&bytes)]);
    let path = place.write("s.jsonl", &text);
    place.import(&path);
    assert_eq!(place.exact("s"), text.as_bytes());
    let mut out = Vec::new();
    let reader = place.store.reader("s").unwrap();
    let error = reader.export(&ExportMode::Portable, &mut out).unwrap_err();
    assert!(matches!(error, Error::Export(ExportError::BlobsMissing { count: 1, .. })), "{error}");
    assert!(out.is_empty(), "nothing is written that is not whole");
    drop(reader);
    assert_eq!(place.store.verify().unwrap().remarks[0].kind, "missing blob");
    // A file of that name with other bytes is not the blob.
    place.write(&format!("blobs/{}", hex(&bytes)), "something else");
    let options = ImportOptions { blobs: Some(place.path("blobs")), ..ImportOptions::default() };
    place.import_with(&path, &options);
    assert_eq!(place.store.statistics().unwrap().blobs.missing, 1);
    place.write(&format!("blobs/{}", hex(&bytes)), &bytes);
    assert_eq!(place.import_with(&path, &options).status, ImportStatus::Unchanged);
    let inline = session("s", &[image(&STANDARD.encode(&bytes))]);
    assert_eq!(place.export("s", &ExportMode::Portable), inline.as_bytes());
    assert_eq!(place.exact("s"), text.as_bytes());
    place.assert_sound();
}

#[test]
fn a_reference_to_a_text_becomes_the_text() {
    let place = Place::new();
    let text = "a \"long\" text\nwith \u{2028} lines and \u{1} controls";
    let block = format!("{{\"type\":\"text\",\"text\":\"blob:sha256:{}\"}}", hex(text.as_bytes()));
    place.write(&format!("blobs/{}", hex(text.as_bytes())), text);
    let options = ImportOptions { blobs: Some(place.path("blobs")), ..ImportOptions::default() };
    place.import_with(&place.write("s.jsonl", session("s", &[block])), &options);
    let portable = place.export("s", &ExportMode::Portable);
    let line = portable.split(|&byte| byte == b'\n').nth(1).unwrap();
    let json: serde_json::Value = serde_json::from_slice(line).unwrap();
    assert_eq!(json["message"]["content"][1]["text"], text);
    place.assert_sound();
}

#[test]
fn text_that_only_looks_like_an_image_stays_in_its_line() {
    let place = Place::new();
    let canonical = STANDARD.encode(picture(6, 1_500));
    let mut blocks = vec![
        // Trailing bits that encoding would not reproduce; a line break; the other alphabet; wrong padding.
        image(&format!("{}B==", "A".repeat(1_401))),
        image(&format!("{}\\n{}", &canonical[..1_000], &canonical[1_000..])),
        image(&canonical.replace('A', "-")),
        image(canonical.trim_end_matches('=').get(..1_025).unwrap()),
        image(""),
        image("blob:sha256:123"),
        image(&format!("blob:sha256:{}", "G".repeat(64))),
        // A payload that is not an image block: it may be kept apart, but is never turned into a reference.
        format!("{{\"type\":\"file\",\"data\":\"{canonical}\"}}"),
    ];
    blocks.push(format!("{{\"data\":\"{canonical}\",\"type\":\"image\"}}"));
    let text = session("s", &blocks);
    place.import(&place.write("s.jsonl", &text));
    assert_eq!(place.exact("s"), text.as_bytes());
    let mode = ExportMode::References { blobs: place.path("blobs") };
    let referenced = String::from_utf8(place.export("s", &mode)).unwrap();
    assert_eq!(
        referenced.matches("blob:sha256:").count(),
        3,
        "two that were there, and the last block"
    );
    place.assert_sound();
}
