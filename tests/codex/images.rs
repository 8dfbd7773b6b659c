//! Images are stored once, however often they are repeated, and are put back in their places.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline::export::ExportMode;
use serde_json::json;

use crate::place::Place;
use crate::{ID, assert_told, cases, imported};

#[test]
fn an_image_is_kept_once() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..3000_u32).map(|at| (at * 31 % 251) as u8).collect();
    let url = format!("data:image/png;base64,{}", STANDARD.encode(&bytes));
    let told = cases::item(json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "A picture"},
        {"type": "input_image", "image_url": url},
    ]}));
    let lines = vec![
        told.clone(),
        cases::event(json!({"type": "user_message", "message": "A picture", "images": [url]})),
        cases::item(
            json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": STANDARD.encode(&bytes)}),
        ),
        // Text of the user is never cut out.
        cases::user(&url),
        told,
    ];
    let file = cases::Case::new("", lines).file(ID);
    imported(&place, ID, &file);
    assert_told(&place, ID, file.as_bytes());
    for mode in [ExportMode::Current, ExportMode::Original, ExportMode::Portable] {
        assert!(place.export(ID, &mode) == file.as_bytes(), "{mode:?}");
    }
    let blobs = place.store.statistics().unwrap().blobs;
    assert_eq!((blobs.count, blobs.missing), (1, 0), "{blobs:?}");
    assert_eq!(
        place.store.reader(ID).unwrap().get_first_message().unwrap().as_deref(),
        Some("A picture")
    );
    // Another session with the image adds none.
    let other = "0199f2b4-0000-7000-8000-000000000009";
    imported(&place, other, file.replace(ID, other));
    assert_eq!(place.store.statistics().unwrap().blobs.count, 1);
    place.store.remove(ID).unwrap();
    assert_told(&place, other, file.replace(ID, other).as_bytes());
}
