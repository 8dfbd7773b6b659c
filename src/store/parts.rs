//! Long values as several rows, each cut to fill the pages that redb allocates.
//!
//! redb keeps a value that does not share its 4,096-byte page in a run of pages whose count is a power of two: a value
//! of 260 KiB would take 512 KiB. Cut into full runs, it takes 264.

use crate::store::pages::PAGE;

/// What a row needs besides its value: redb's header and offsets, and the longest key of a table with parts (a SHA-256
/// and a part's number).
const ROW_OVERHEAD: usize = 64;

/// Pages in the longest run: 1 MiB, so that no single row needs much memory.
const LONGEST_RUN: usize = 256;

/// Bytes of value that fill a run of `pages` pages.
pub(crate) const fn run_capacity(pages: usize) -> usize {
    pages * PAGE - ROW_OVERHEAD
}

/// Lengths of the rows that a value of `length` bytes is cut into; one row for a short or empty value.
pub(crate) fn plan(length: usize) -> Vec<usize> {
    let mut left = length;
    let mut cuts = Vec::new();
    while left > run_capacity(1) {
        let mut pages = LONGEST_RUN;
        while pages > 1 && run_capacity(pages) > left {
            // A rest that would leave less than a page, or a sixteenth of the run, gets one run: cutting it would save
            // little or nothing, and each row is one more look-up for its reader.
            let unused = run_capacity(pages) - left;
            if unused < PAGE.max(run_capacity(pages) / 16) {
                break;
            }
            pages /= 2;
        }
        let cut = run_capacity(pages).min(left);
        cuts.push(cut);
        left -= cut;
    }
    if left > 0 || cuts.is_empty() {
        cuts.push(left);
    }
    cuts
}

/// The value's rows in order, numbered from 0.
pub(crate) fn cut(value: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = value;
    plan(value.len()).into_iter().zip(0u32..).map(move |(length, part)| {
        let (row, behind) = rest.split_at(length);
        rest = behind;
        (part, row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_documentation_has_the_bounds() {
        use crate::documented::{bound, number};
        let row = format!("{} bytes", number(run_capacity(LONGEST_RUN)));
        assert_eq!(bound("a row of a long value"), row);
    }

    fn pages_taken(row: usize) -> usize {
        (row + ROW_OVERHEAD).div_ceil(PAGE).next_power_of_two()
    }

    proptest! {
        #[test]
        fn rows_join_to_the_value_and_waste_little(length in 0usize..6_000_000) {
            let cuts = plan(length);
            prop_assert_eq!(cuts.iter().sum::<usize>(), length);
            let pages: usize = cuts.iter().map(|&row| pages_taken(row)).sum();
            prop_assert!(pages * PAGE <= length + length / 8 + 2 * PAGE);
            prop_assert!(cuts.len() <= length / (run_capacity(LONGEST_RUN)) + 10);
        }
    }

    #[test]
    fn a_chunk_of_several_frames_is_one_row() {
        for length in 0..=crate::store::chunk::CHUNK_CAPACITY {
            assert_eq!(plan(length), [length]);
        }
    }

    #[test]
    fn an_empty_value_is_one_row() {
        assert_eq!(cut(b"").collect::<Vec<_>>(), [(0, &b""[..])]);
    }
}
