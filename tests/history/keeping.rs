//! Adding, recalling and finding prompts.

use leafline::error::StoreError;
use leafline::{Error, Store, StoreOptions};

use super::place::Place;
use super::texts;

#[test]
fn prompts_are_trimmed_and_neither_empty_nor_repeated() {
    let store = Store::in_memory().unwrap();
    let history = store.history();
    assert_eq!(history.add("\u{feff} one\n", Some("/a")).unwrap(), Some(0));
    assert_eq!(history.add("one", Some("/b")).unwrap(), None);
    assert_eq!(history.add(" \t\n ", None).unwrap(), None);
    assert_eq!(history.add("", None).unwrap(), None);
    assert_eq!(history.add("two", None).unwrap(), Some(1));
    assert_eq!(history.add("one", None).unwrap(), Some(2));
    let recent = history.recent(10).unwrap();
    assert_eq!(texts(&recent), ["one", "two", "one"]);
    assert_eq!(recent[2].cwd.as_deref(), Some("/a"));
    assert_eq!((recent[2].id, recent[1].cwd.as_deref()), (0, None));
    assert!(recent[0].created_at > 1_700_000_000_000);
}

#[test]
fn limits_are_clamped() {
    let place = Place::new();
    let history = place.store.history();
    for number in 0..1100 {
        history.add_async(&format!("prompt {number}"), None);
    }
    history.flush().unwrap();
    assert!(history.recent(0).unwrap().is_empty());
    assert!(history.search("prompt", 0).unwrap().is_empty());
    assert_eq!(texts(&history.recent(1).unwrap()), ["prompt 1099"]);
    assert_eq!(history.recent(usize::MAX).unwrap().len(), 1000);
    assert_eq!(history.search("prom", 5000).unwrap().len(), 1000);
    assert_eq!(history.search("prom", 1).unwrap()[0].prompt, "prompt 1099");
    place.assert_sound();
}

#[test]
fn words_are_found_by_their_beginnings() {
    let store = Store::in_memory().unwrap();
    let history = store.history();
    for prompt in
        ["Fix the Git-commit hook", "café über alles", "日本語 のテスト", "fix the committee"]
    {
        history.add(prompt, Some("/work")).unwrap();
    }
    let found = |query: &str| -> Vec<String> {
        history.search(query, 10).unwrap().into_iter().map(|prompt| prompt.prompt).collect()
    };
    assert_eq!(found("fix"), ["fix the committee", "Fix the Git-commit hook"]);
    assert_eq!(found("COMM fi"), ["fix the committee", "Fix the Git-commit hook"]);
    assert_eq!(found("git-commit"), ["Fix the Git-commit hook"]);
    assert_eq!(found("mit"), Vec::<String>::new());
    assert_eq!(found("CAFE uber"), ["café über alles"]);
    assert_eq!(found("cafe\u{301}"), ["café über alles"]);
    assert_eq!(found("日本"), ["日本語 のテスト"]);
    for nothing in ["", "  ", "-- \"' *", "fix nothing"] {
        assert_eq!(found(nothing), Vec::<String>::new(), "{nothing:?}");
    }
}

#[test]
fn long_words_are_found_by_all_of_their_text() {
    let store = Store::in_memory().unwrap();
    let history = store.history();
    let long = "x".repeat(200);
    history.add(&format!("{long}a"), None).unwrap();
    history.add(&format!("{long}b second"), None).unwrap();
    let count = |query: &str| history.search(query, 10).unwrap().len();
    assert_eq!(count(&long), 2);
    assert_eq!(count(&"x".repeat(64)), 2);
    assert_eq!(count(&format!("{long}b")), 1);
    assert_eq!(count(&format!("{long}b sec")), 1);
    assert_eq!(count(&format!("{long}bc")), 0);
    assert_eq!(count(&"x".repeat(201)), 0);
    // Cut in the middle of a character, on the way in and on the way out.
    history.add(&"ж".repeat(100).replace('ж', "жy"), None).unwrap();
    assert_eq!(count(&"жy".repeat(40)), 1);
}

#[test]
fn a_history_that_ends_writes_what_it_was_given() {
    let place = Place::new();
    {
        let history = place.store.history();
        (0..50).for_each(|number| history.add_async(&number.to_string(), Some("/work")));
    }
    let recent = place.store.history().recent(100).unwrap();
    let expected: Vec<String> = (0..50).rev().map(|number| number.to_string()).collect();
    assert_eq!(texts(&recent), expected);
}

#[test]
fn errors_of_asynchronous_prompts_come_with_the_flush() {
    let place = Place::new();
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    let store = Store::open_with(place.store.path(), &options).unwrap();
    let history = store.history();
    assert!(matches!(history.add("one", None), Err(Error::Store(StoreError::ReadOnly { .. }))));
    history.add_async("two", None);
    history.add_async("three", None);
    assert!(matches!(history.flush(), Err(Error::Store(StoreError::ReadOnly { .. }))));
    history.flush().unwrap();
    assert!(history.recent(10).unwrap().is_empty());
}

#[test]
#[cfg(unix)]
fn a_store_that_has_gone_is_told_by_the_flush() {
    let place = Place::new();
    let history = place.store.history();
    std::fs::remove_file(place.store.path()).unwrap();
    history.add_async("one", None);
    assert!(matches!(history.flush(), Err(Error::Store(StoreError::NotFound { .. }))));
    history.flush().unwrap();
}

#[test]
fn several_handles_add_at_once() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = place.store.path().to_owned();
            scope.spawn(move || {
                let store = Store::open(path).unwrap();
                let history = store.history();
                for number in 0..100 {
                    let prompt = format!("writer{writer} prompt{number}");
                    if writer % 2 == 0 {
                        history.add_async(&prompt, None);
                    } else {
                        history.add(&prompt, None).unwrap();
                    }
                }
                history.flush().unwrap();
            });
        }
    });
    let history = place.store.history();
    assert_eq!(history.recent(1000).unwrap().len(), 400);
    for writer in 0..4 {
        let found = history.search(&format!("writer{writer}"), 1000).unwrap();
        let expected: Vec<String> =
            (0..100).rev().map(|number| format!("writer{writer} prompt{number}")).collect();
        assert_eq!(texts(&found), expected);
    }
    place.assert_sound();
}

#[test]
fn repeats_are_dropped_over_all_handles() {
    let place = Place::new();
    let other = Store::open(place.store.path()).unwrap();
    assert_eq!(place.store.history().add("same", None).unwrap(), Some(0));
    assert_eq!(other.history().add("same", None).unwrap(), None);
    assert_eq!(other.history().add("another", None).unwrap(), Some(1));
    assert_eq!(place.store.history().add("same", None).unwrap(), Some(2));
}
