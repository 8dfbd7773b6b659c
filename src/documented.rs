//! The numbers of docs/storage.md, for the tests that hold them against the code.

const PAGE: &str = include_str!("../docs/storage.md");

/// The bound of something in the table of bounds, as it is written there.
#[track_caller]
pub(crate) fn bound(what: &str) -> &'static str {
    let row = PAGE
        .lines()
        .find_map(|line| line.strip_prefix("| ")?.strip_prefix(what)?.strip_prefix(" | "));
    let row = row.unwrap_or_else(|| panic!("docs/storage.md has no bound of {what}"));
    row.split(" |").next().expect("a row has cells")
}

/// A number as the documentation writes it: `1,048,512`.
pub(crate) fn number(value: impl TryInto<u64>) -> String {
    let value: u64 = value.try_into().ok().expect("a bound is a number of 64 bits");
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn numbers_are_written_with_commas() {
    for (value, text) in [(0_u64, "0"), (999, "999"), (1_000, "1,000"), (1_048_512, "1,048,512")] {
        assert_eq!(number(value), text);
    }
}
