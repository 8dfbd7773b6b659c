//! The kinds of damage, and how each is done to a copy.

use fastrand::Rng;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Bytes of the header of the store's file.
const HEADER: usize = 320;

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// One bit of the store's file.
    Bit,
    /// Eight bits of one page.
    Bits,
    /// One bit of the file's header.
    Header,
    /// A page of zeros.
    Zeroed,
    /// A page as an earlier commit had it: a write that was lost.
    Stale,
    /// Two pages in each other's place.
    Swapped,
    /// A file that ends early.
    CutOff,
    /// One bit of the journal.
    JournalBit,
    /// Eight bits within 4 KiB of the journal.
    JournalBits,
    /// 4 KiB of the journal that are zeros.
    JournalZeroed,
    /// A journal that ends early.
    JournalCutOff,
    /// The journal as it was earlier, beside the store as it is.
    JournalStale,
    /// The journal of another store.
    JournalForeign,
    /// The journal of a copy of the store.
    JournalOfCopy,
}

/// All kinds.
pub const KINDS: [Damage; 14] = [
    Damage::Bit,
    Damage::Bits,
    Damage::Header,
    Damage::Zeroed,
    Damage::Stale,
    Damage::Swapped,
    Damage::CutOff,
    Damage::JournalBit,
    Damage::JournalBits,
    Damage::JournalZeroed,
    Damage::JournalCutOff,
    Damage::JournalStale,
    Damage::JournalForeign,
    Damage::JournalOfCopy,
];

impl Damage {
    /// Whether it is done to the journal and not to the store's file.
    #[must_use]
    pub fn is_of_journal(self) -> bool {
        self >= Self::JournalBit
    }
}

/// A file that ends with zeros, which are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its beginning, whole pages.
    pub bytes: Vec<u8>,
    /// Its length.
    pub length: usize,
}

impl Image {
    /// The image of a file's bytes.
    #[must_use]
    pub fn of(mut bytes: Vec<u8>) -> Self {
        let length = bytes.len();
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.resize(used.next_multiple_of(PAGE), 0);
        bytes.shrink_to_fit();
        Self { bytes, length }
    }

    /// Bytes from a place on, zeros where nothing is kept; `None` if they are not in the file.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Option<Vec<u8>> {
        let byte = |at: usize| self.bytes.get(at).copied().unwrap_or(0);
        (to <= self.length).then(|| (from..to).map(byte).collect())
    }

    fn byte(&mut self, at: usize) -> &mut u8 {
        if at >= self.bytes.len() {
            self.bytes.resize((at + 1).next_multiple_of(PAGE), 0);
        }
        &mut self.bytes[at]
    }
}

fn flip(byte: Option<&mut u8>, random: &mut Rng) {
    if let Some(byte) = byte {
        *byte ^= 1 << random.u8(0..8);
    }
}

/// Damages the bytes of a store's file; `earlier` is what it was before.
pub fn store(bytes: &mut Vec<u8>, earlier: &[u8], damage: Damage, random: &mut Rng) {
    let pages = bytes.len() / PAGE;
    // Behind the first page, which has the header.
    let page = |random: &mut Rng| random.usize(1..pages) * PAGE;
    match damage {
        Damage::Bit => {
            let at = random.usize(PAGE..bytes.len());
            flip(bytes.get_mut(at), random);
        }
        Damage::Bits => {
            let page = page(random);
            for _ in 0..8 {
                let at = page + random.usize(0..PAGE);
                flip(bytes.get_mut(at), random);
            }
        }
        Damage::Header => {
            let at = random.usize(0..HEADER);
            flip(bytes.get_mut(at), random);
        }
        Damage::Zeroed => {
            let page = page(random);
            bytes[page..page + PAGE].fill(0);
        }
        Damage::Stale => {
            let stale = earlier.len().min(bytes.len()) / PAGE;
            let page = random.usize(1..stale) * PAGE;
            bytes[page..page + PAGE].copy_from_slice(&earlier[page..page + PAGE]);
        }
        Damage::Swapped => {
            let (one, other) = (page(random), page(random));
            for byte in 0..PAGE {
                bytes.swap(one + byte, other + byte);
            }
        }
        Damage::CutOff => bytes.truncate(page(random)),
        _ => {}
    }
}

/// Damages a journal; `others` are what it was earlier, `foreign` is that of another store, and `copy` that of a copy.
///
/// Mostly where something is written, or may be next: of 8 MiB a few pages are.
pub fn journal(
    image: &mut Image,
    (others, foreign, copy): (&[Image], &Image, &Image),
    damage: Damage,
    random: &mut Rng,
) {
    let used = (image.bytes.len() + PAGE).min(image.length);
    let within = if random.u8(0..8) == 0 { image.length } else { used };
    match damage {
        Damage::JournalBit => {
            let at = random.usize(0..within);
            flip(Some(image.byte(at)), random);
        }
        Damage::JournalBits => {
            let page = random.usize(0..within / PAGE) * PAGE;
            for _ in 0..8 {
                let at = page + random.usize(0..PAGE);
                flip(Some(image.byte(at)), random);
            }
        }
        Damage::JournalZeroed => {
            // A disk's blocks need not be where pages begin.
            let at = random.usize(0..=within - PAGE) / 512 * 512;
            let end = (at + PAGE).min(image.bytes.len());
            if at < end {
                image.bytes[at..end].fill(0);
            }
        }
        Damage::JournalCutOff => {
            image.length = random.usize(0..within);
            image.bytes.truncate(image.length);
        }
        Damage::JournalStale => {
            if let Some(other) = random.choice(others) {
                image.clone_from(other);
            }
        }
        Damage::JournalForeign => image.clone_from(foreign),
        Damage::JournalOfCopy => image.clone_from(copy),
        _ => {}
    }
}
