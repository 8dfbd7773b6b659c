use std::collections::BTreeMap;

use proptest::prelude::*;
use rusqlite::Connection;

use super::*;

/// An FTS5 table as in omp, with a view of each token's position.
fn fts5() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE words USING fts5(text);
             CREATE VIRTUAL TABLE places USING fts5vocab(words, 'instance');",
        )
        .unwrap();
    connection
}

/// The tokens that FTS5 finds in each text.
fn theirs(connection: &Connection) -> BTreeMap<i64, Vec<String>> {
    let mut of_text: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    let mut places =
        connection.prepare("SELECT doc, term FROM places ORDER BY doc, offset").unwrap();
    let mut rows = places.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        of_text.entry(row.get(0).unwrap()).or_default().push(row.get(1).unwrap());
    }
    of_text
}

/// FTS5's class of every character.
fn classes() -> BTreeMap<char, Class> {
    let mut connection = fts5();
    let transaction = connection.transaction().unwrap();
    {
        let mut insert =
            transaction.prepare("INSERT INTO words(rowid, text) VALUES (?, ?)").unwrap();
        for character in '\0'..=char::MAX {
            insert.execute((u32::from(character), format!("a{character}b"))).unwrap();
        }
    }
    transaction.commit().unwrap();
    let mut classes = BTreeMap::new();
    for (code, tokens) in theirs(&connection) {
        let character = char::from_u32(u32::try_from(code).unwrap()).unwrap();
        let class = match tokens.as_slice() {
            [first, second] if first == "a" && second == "b" => Class::Separator,
            [whole] if whole == "ab" => Class::Dropped,
            [whole] => {
                let mut characters = whole.strip_prefix('a').unwrap().chars();
                let folded = characters.next().unwrap();
                assert_eq!(characters.as_str(), "b");
                Class::Token(folded)
            }
            other => panic!("{character:?}: {other:?}"),
        };
        classes.insert(character, class);
    }
    classes
}

#[test]
fn every_character_is_what_fts5_says() {
    let classes = classes();
    assert_eq!(classes.len(), ('\0'..=char::MAX).count());
    for (character, theirs) in classes {
        assert_eq!(classify(character), theirs, "{character:?}");
    }
}

#[test]
fn tables_are_sorted() {
    for ranges in [&SEPARATORS[..], &DROPPED[..]] {
        assert!(ranges.iter().all(|(first, last)| first <= last));
        assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }
    assert!(FOLDS.iter().all(|(first, last, step, _)| (last - first) % step == 0));
    assert!(FOLDS.windows(2).all(|pair| pair[0].1 < pair[1].0));
}

/// Prints the tables: `cargo test -p leafline --features omp-history --lib print_tables -- --ignored --nocapture`.
#[test]
#[ignore = "prints the tables for another release of FTS5"]
fn print_tables() {
    let mut separators: Vec<(u32, u32)> = Vec::new();
    let mut dropped: Vec<(u32, u32)> = Vec::new();
    let mut folds: Vec<(u32, u32, u32, i64)> = Vec::new();
    let mut before = None;
    for (character, class) in classes() {
        let code = u32::from(character);
        let extend = |ranges: &mut Vec<(u32, u32)>| match ranges.last_mut() {
            Some((_, last)) if char::from_u32(*last) == before => *last = code,
            _ => ranges.push((code, code)),
        };
        match class {
            Class::Separator => extend(&mut separators),
            Class::Dropped => extend(&mut dropped),
            Class::Token(folded) if folded != character => {
                let delta = i64::from(u32::from(folded)) - i64::from(code);
                match folds.last_mut() {
                    Some((first, last, step, same))
                        if *same == delta
                            && (code == *last + *step || (first == last && code == *last + 2)) =>
                    {
                        *step = code - *last;
                        *last = code;
                    }
                    _ => folds.push((code, code, 1, delta)),
                }
            }
            Class::Token(_) => {}
        }
        before = Some(character);
    }
    println!("{}: {separators:#x?}", separators.len());
    println!("{}: {dropped:#x?}", dropped.len());
    println!("{}: {folds:?}", folds.len());
}

/// Text of many scripts, with marks, controls and unassigned characters.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::char::range(' ', '~'),
        1 => prop::char::range('\0', '\u{1f}'),
        3 => prop::char::range('\u{a0}', '\u{24f}'),
        2 => prop::char::range('\u{300}', '\u{36f}'),
        2 => prop::char::range('\u{370}', '\u{58f}'),
        1 => prop::char::range('\u{1e00}', '\u{1fff}'),
        1 => prop::char::range('\u{2000}', '\u{2fff}'),
        1 => prop::char::range('\u{3040}', '\u{9fff}'),
        1 => prop::char::range('\u{1f300}', '\u{1faff}'),
        1 => any::<char>(),
    ];
    prop::collection::vec(character, 0..40).prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn texts_fall_into_the_same_tokens(texts in prop::collection::vec(text(), 1..8)) {
        let connection = fts5();
        for (number, text) in texts.iter().enumerate() {
            let row = (i64::try_from(number).unwrap(), text);
            connection.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", row).unwrap();
        }
        let mut theirs = theirs(&connection);
        for (number, text) in (0..).zip(&texts) {
            let ours: Vec<String> = tokens(text).collect();
            prop_assert_eq!(ours, theirs.remove(&number).unwrap_or_default(), "{:?}", text);
        }
    }
}

#[test]
fn words_are_folded() {
    let of = |text| tokens(text).collect::<Vec<_>>();
    assert_eq!(
        of("  Fix the git-commit, Zoë's CAFÉ!"),
        ["fix", "the", "git", "commit", "zoe", "s", "cafe"]
    );
    assert_eq!(of("cafe\u{301} \u{301} 日本語 ΣΊΣΥΦΟΣ 2²"), ["cafe", "日本語", "σίσυφοσ", "2²"]);
    assert!(of("").is_empty() && of("-- \u{301}!").is_empty());
}
