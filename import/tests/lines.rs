//! The lines and the blocks of a file, put together, are the file.
//!
//! Guards against lines that are lost or cut where a block ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::Read;

use leafline_import::lines::{BlockReader, split};
use proptest::prelude::*;

/// Gives a few bytes at a time, as pipes do.
struct Drip<'a> {
    rest: &'a [u8],
    step: usize,
}

impl Read for Drip<'_> {
    fn read(&mut self, target: &mut [u8]) -> std::io::Result<usize> {
        let taken = self.step.min(target.len()).min(self.rest.len());
        let (now, rest) = self.rest.split_at(taken);
        target[..taken].copy_from_slice(now);
        self.rest = rest;
        Ok(taken)
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => Just(b'\n'), 10 => any::<u8>(), 10 => Just(b'a')];
    proptest::collection::vec(byte, 0..400)
}

proptest! {
    #[test]
    fn lines_are_the_bytes(bytes in bytes()) {
        prop_assert_eq!(split(&bytes).collect::<Vec<_>>().concat(), bytes.clone());
        let mut lines: Vec<_> = split(&bytes).collect();
        let last = lines.pop();
        prop_assert!(lines.iter().all(|line| line.ends_with(b"\n")));
        for line in lines.into_iter().chain(last) {
            prop_assert!(!line.is_empty() && !line[..line.len() - 1].contains(&b'\n'));
        }
    }

    #[test]
    fn blocks_are_the_bytes(bytes in bytes(), target in 0_usize..100, step in 1_usize..50) {
        let mut reader = BlockReader::new(Drip { rest: &bytes, step }, target);
        let longest = split(&bytes).map(<[u8]>::len).max().unwrap_or(0);
        let mut all = Vec::new();
        let mut buffer = vec![b'x'; 10];
        let mut ends_at_line = true;
        while let Some(block) = reader.next_block(buffer).unwrap() {
            prop_assert!(ends_at_line && !block.is_empty());
            prop_assert!(block.len() <= longest + 2 * target.max(1));
            ends_at_line = block.ends_with(b"\n");
            all.extend_from_slice(&block);
            buffer = block;
        }
        prop_assert_eq!(all, bytes);
    }
}
