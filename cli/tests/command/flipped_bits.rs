//! Bits that flip in the store's file: an export gives the right bytes, or it fails.

use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use redb::{ConcurrencyMode, Database, Key, ReadableDatabase, ReadableTable, TableDefinition};

use crate::scene::{Run, Scene, path};

const ORIGINALS: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("originals");
const LINES: TableDefinition<(u64, u64, u32), &[u8]> = TableDefinition::new("lines");

/// A session of version 1: its lines have no ids, and an import migrates it.
fn version_1(messages: u64) -> Vec<u8> {
    let mut file = String::from(
        "{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2025-03-01T08:00:00.000Z\",\"cwd\":\"/work\"}\n",
    );
    let mut random = Random(7);
    for _ in 0..messages {
        let words: Vec<String> = (0..12).map(|_| format!("{:x}", random.below(1 << 40))).collect();
        let text = words.join(" ");
        file.push_str(&format!(
            "{{\"type\":\"message\",\"timestamp\":\"2025-03-01T08:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        ));
    }
    file.into_bytes()
}

/// The same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 20) % end
    }
}

/// A session of version 1 with a picture in every message, which an import cuts out of the lines.
fn version_1_with_pictures() -> Vec<u8> {
    let mut file = String::from(
        "{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2025-03-01T08:00:00.000Z\",\"cwd\":\"/work\"}\n",
    );
    for number in 0..60 {
        let picture: String =
            (0..2000).map(|at| if (at + number) % 7 == 0 { 'B' } else { 'A' }).collect();
        file.push_str(&format!(
            "{{\"type\":\"message\",\"timestamp\":\"2025-03-01T08:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"{picture}\"}},{{\"type\":\"text\",\"text\":\"{number}\"}}]}}}}\n"
        ));
    }
    file.into_bytes()
}

/// Where the values of a table stand in the store's file.
fn places_of<K: Key + 'static>(
    store: &Path,
    table: TableDefinition<'_, K, &'static [u8]>,
) -> Vec<Range<u64>> {
    let mut values = Vec::new();
    {
        let database = Database::builder()
            .set_concurrency_mode(ConcurrencyMode::MultiWriter)
            .open(store)
            .unwrap();
        let table = database.begin_read().unwrap().open_table(table).unwrap();
        for row in table.iter().unwrap() {
            values.push(row.unwrap().1.value().to_vec());
        }
    }
    assert!(!values.is_empty());
    let file = std::fs::read(store).unwrap();
    let start_of = |value: &[u8]| file.windows(value.len()).position(|window| window == value);
    values
        .iter()
        .map(|value| {
            let start = start_of(value).expect("a value stands in one piece") as u64;
            start..start + value.len() as u64
        })
        .collect()
}

/// Flips a bit for as long as `act` takes.
fn with_flipped<T>(store: &Path, (byte, bit): (u64, u32), act: impl FnOnce() -> T) -> T {
    let file = std::fs::File::options().read(true).write(true).open(store).unwrap();
    let flip = || {
        let mut found = [0];
        file.read_exact_at(&mut found, byte).unwrap();
        file.write_all_at(&[found[0] ^ 1 << bit], byte).unwrap();
    };
    flip();
    let answer = act();
    flip();
    answer
}

/// Panics unless the run gave these bytes, or failed.
#[track_caller]
fn right_or_failed(run: &Run, expected: &[u8], what: &str) -> bool {
    let is_right = run.stdout == expected;
    assert!(run.status == 1 || (run.status == 0 && is_right), "{what}: wrong bytes with status 0");
    run.status == 1
}

#[test]
fn what_was_imported_comes_out_right_or_not_at_all() {
    let imported = version_1(300);
    let scene = Scene::of_session(&imported);
    let places = places_of(&scene.store(), ORIGINALS);
    let mut random = Random(1);
    let mut failed = 0;
    for _ in 0..300 {
        let place = &places[usize::try_from(random.below(places.len() as u64)).unwrap()];
        let byte = place.start + random.below(place.end - place.start);
        let bit = u32::try_from(random.below(8)).unwrap();
        let run = with_flipped(&scene.store(), (byte, bit), || {
            scene.run(["export", "old", "--as", "exact"])
        });
        failed += u32::from(right_or_failed(&run, &imported, &format!("byte {byte}, bit {bit}")));
    }
    assert!(failed > 250, "{failed} of 300 were seen");
    assert_eq!(scene.run(["export", "old", "--as", "exact"]).ok().stdout, imported);
}

#[test]
fn pictures_come_back_where_they_were_or_not_at_all() {
    let scene = Scene::of_session(&version_1_with_pictures());
    let expected = scene.run(["export", "old"]).ok().stdout;
    let places = places_of(&scene.store(), LINES);
    let mut random = Random(2);
    for _ in 0..200 {
        let place = &places[usize::try_from(random.below(places.len() as u64)).unwrap()];
        // What tells the lines and their pictures apart stands ahead of their text.
        let byte = place.start + random.below((place.end - place.start).min(2500));
        let bit = u32::try_from(random.below(8)).unwrap();
        let run = with_flipped(&scene.store(), (byte, bit), || scene.run(["export", "old"]));
        right_or_failed(&run, &expected, &format!("byte {byte}, bit {bit}"));
    }
}

#[test]
fn a_file_stays_as_it_was_where_the_export_is_damaged() {
    let imported = version_1(300);
    let scene = Scene::of_session(&imported);
    let place = &places_of(&scene.store(), ORIGINALS)[0];
    let target = scene.write("out.jsonl", b"as it was\n");
    let middle = (place.start + place.end) / 2;
    let (to_file, all) = with_flipped(&scene.store(), (middle, 3), || {
        let to_file = scene.run(["export", "old", "--as", "exact", "-o", path(&target)]);
        let folder = scene.folder().join("all");
        (to_file, scene.run(["export", "--all", "--as", "exact", "-o", path(&folder)]))
    });
    let complaint = to_file.fails(1);
    assert!(complaint.contains("originals"), "{complaint}");
    assert_eq!(std::fs::read(&target).unwrap(), b"as it was\n");
    assert!(all.text().contains("failed"), "{}", all.text());
    all.fails(1);
}
