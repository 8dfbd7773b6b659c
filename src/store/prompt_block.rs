//! Blocks of prompts: 4,096 consecutive numbers. The index of words is divided into blocks, so that the newest blocks
//! answer a search without reading the others.

use bincode::{Decode, Encode};

use super::record::Record;

/// Prompts per block. With 4,096 a million prompts are 245 blocks, all of which a search reads if nothing is found; the
/// longest row, of a word in every other prompt, is 512 bytes.
pub(crate) const BLOCK: u64 = 4096;

/// Bytes of a row that has a bit for each of the block's numbers.
const BITMAP_BYTES: usize = 512;

/// Words of such a row, 64 bits each.
const BITMAP_WORDS: u16 = 64;

/// Bytes of a word that the index keeps: longer ones are cut, and the prompts found by them are compared.
pub(crate) const LONGEST_WORD: usize = 64;

/// The value of the `history_blocks` table: when the prompts of a block were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct PromptBlockRecord {
    /// The newest one's time, in milliseconds since 1970.
    pub(crate) newest: i64,
    /// Whether none is older than the one before it.
    pub(crate) ordered: bool,
}

impl Record for PromptBlockRecord {
    const TABLE: &'static str = "history_blocks";
}

impl PromptBlockRecord {
    /// The block with a first prompt, or with one more, given at this time. In an ordered block the prompt before is
    /// the newest.
    pub(crate) fn with(block: Option<Self>, created_at: i64) -> Self {
        match block {
            None => Self { newest: created_at, ordered: true },
            Some(block) => Self {
                newest: block.newest.max(created_at),
                ordered: block.ordered && block.newest <= created_at,
            },
        }
    }
}

/// The block of a prompt, and its place in the block.
pub(crate) fn place_of(number: u64) -> (u64, u16) {
    let place = u16::try_from(number % BLOCK).expect("a block has fewer prompts than a u16 counts");
    (number / BLOCK, place)
}

/// A set of prompts of one block: a bit for each place.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Places {
    words: [u64; BITMAP_WORDS as usize],
}

impl std::fmt::Debug for Places {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.descending()).finish()
    }
}

impl Places {
    /// No prompt.
    pub(crate) fn none() -> Self {
        Self { words: [0; BITMAP_WORDS as usize] }
    }

    /// Every prompt that the block may have.
    pub(crate) fn all() -> Self {
        Self { words: [u64::MAX; BITMAP_WORDS as usize] }
    }

    /// Adds the prompt at a place.
    pub(crate) fn insert(&mut self, place: u16) {
        if let Some(word) = self.words.get_mut(usize::from(place / 64)) {
            *word |= 1 << (place % 64);
        }
    }

    /// Keeps only the prompts that the other set also has.
    pub(crate) fn intersect(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Whether there is no prompt.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The places, the last one first.
    pub(crate) fn descending(&self) -> impl Iterator<Item = u16> {
        let words = (0..BITMAP_WORDS).zip(self.words).rev();
        words.flat_map(|(index, word)| {
            (0..64).rev().filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        })
    }

    /// Adds the prompts of a row; the error says in words why it is not one.
    pub(crate) fn insert_row(&mut self, row: &[u8]) -> Result<(), String> {
        if row.len() == BITMAP_BYTES {
            for (word, bytes) in self.words.iter_mut().zip(row.as_chunks().0) {
                *word |= u64::from_le_bytes(*bytes);
            }
            return Ok(());
        }
        let (places, rest) = row.as_chunks();
        if row.is_empty() || row.len() > BITMAP_BYTES || !rest.is_empty() {
            return Err(format!("a row of {} bytes is not a set of prompts", row.len()));
        }
        for place in places {
            let place = u16::from_le_bytes(*place);
            if u64::from(place) >= BLOCK {
                return Err(format!("place {place} is not in a block"));
            }
            self.insert(place);
        }
        Ok(())
    }

    /// The row of these prompts: their places in ascending order, two bytes each, if that is shorter than a bit for
    /// every place.
    pub(crate) fn to_row(&self) -> Vec<u8> {
        let count: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        if count as usize * 2 >= BITMAP_BYTES {
            return self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        }
        let mut places: Vec<u16> = self.descending().collect();
        places.reverse();
        places.into_iter().flat_map(u16::to_le_bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(of: impl IntoIterator<Item = u16>) -> Places {
        let mut places = Places::none();
        of.into_iter().for_each(|place| places.insert(place));
        places
    }

    #[test]
    fn rows_come_back() {
        for (step, bytes) in [(4096, 2), (64, 128), (17, 482), (16, 512), (1, 512)] {
            let set = places((0..4096).step_by(step));
            let row = set.to_row();
            assert_eq!(row.len(), bytes, "{step}");
            let mut read = Places::none();
            read.insert_row(&row).unwrap();
            assert_eq!(read, set);
        }
        assert_eq!(places([3, 4095, 64]).descending().collect::<Vec<_>>(), [4095, 64, 3]);
    }

    #[test]
    fn damaged_rows_are_errors() {
        for row in [&[][..], &[1], &[0, 16], &[0; 511], &[0; 514]] {
            Places::none().insert_row(row).unwrap_err();
        }
    }

    #[test]
    fn a_block_knows_whether_its_prompts_came_in_order() {
        let block = PromptBlockRecord::with(None, 5);
        let block = PromptBlockRecord::with(Some(block), 5);
        assert_eq!(block, PromptBlockRecord { newest: 5, ordered: true });
        let block = PromptBlockRecord::with(Some(block), 4);
        assert_eq!(block, PromptBlockRecord { newest: 5, ordered: false });
        assert!(!PromptBlockRecord::with(Some(block), 9).ordered);
    }
}
