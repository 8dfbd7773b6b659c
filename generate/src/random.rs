//! Random numbers that are the same on every machine and in every release, so that a seed identifies a session for
//! good.

/// A small fast generator of random numbers (wyrand), fully determined by its seed.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self { state: seed ^ 0x5851_f42d_4c95_7f2d };
        // Nearby seeds start alike; a few steps separate them.
        for _ in 0..4 {
            random.next();
        }
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.state) * u128::from(self.state ^ 0xe703_7ed1_a0b4_28db);
        ((product >> 64) as u64) ^ (product as u64)
    }

    /// A number from 0 up to, but not including, `bound`; 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `per_mille` of 1,000 cases.
    pub(crate) fn chance(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    /// A number from 0.0 up to 1.0.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A rank below `count`, low ranks more often: each doubling of the rank is as likely as the previous one, about as
    /// with the words of a text. Integers only, because logarithms differ between machines.
    pub(crate) fn rank(&mut self, count: usize) -> usize {
        if count < 2 {
            return 0;
        }
        let octaves = (usize::BITS - count.leading_zeros()) as usize;
        loop {
            let octave = 1 << self.below(octaves);
            let rank = octave - 1 + self.below(octave);
            if rank < count {
                return rank;
            }
        }
    }

    /// A size around `median` with a long tail, as real sizes have: `spread` is the factor of one standard deviation.
    pub(crate) fn size(&mut self, median: f64, spread: f64) -> usize {
        let mut normal = -6.0;
        for _ in 0..12 {
            normal += self.fraction();
        }
        let size = if normal < 0.0 {
            median / power(spread, -normal)
        } else {
            median * power(spread, normal)
        };
        size.max(1.0) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// The index of one of the `weights`, each chosen as often as its weight says.
    pub(crate) fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (place, weight) in weights.iter().enumerate() {
            if left < *weight {
                return place;
            }
            left -= weight;
        }
        weights.len() - 1
    }

    /// Appends `count` characters, each one of the 64 of `alphabet`.
    pub(crate) fn characters(&mut self, out: &mut Vec<u8>, alphabet: &[u8; 64], count: usize) {
        out.reserve(count);
        let mut left = count;
        while left > 0 {
            let mut bits = self.next();
            for _ in 0..left.min(10) {
                out.push(alphabet[(bits & 63) as usize]);
                bits >>= 6;
            }
            left = left.saturating_sub(10);
        }
    }

    /// Appends `count` lower-case hexadecimal digits.
    pub(crate) fn hexadecimal(&mut self, out: &mut Vec<u8>, count: usize) {
        for _ in 0..count {
            out.push(b"0123456789abcdef"[self.below(16)]);
        }
    }
}

/// About `base` to the power of `exponent`, using only multiplications, which are the same on every machine.
fn power(base: f64, exponent: f64) -> f64 {
    let mut product = 1.0;
    for _ in 0..exponent as usize {
        product *= base;
    }
    product * (1.0 + (base - 1.0) * exponent.fract())
}

/// The alphabet of standard base64.
pub(crate) const BASE64: &[u8; 64] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Letters and digits, two of them twice, for the ids of tool calls.
pub(crate) const ALPHANUMERIC: &[u8; 64] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789aE";

/// Unique ids without memory: a permutation of all 32-bit numbers, keyed by the seed, maps an entry's ordinal to its
/// id. So the id of every earlier entry follows from its ordinal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    key: [u32; 4],
}

impl Ids {
    pub(crate) fn new(random: &mut Random) -> Self {
        Self { key: std::array::from_fn(|_| random.next() as u32) }
    }

    /// The id of an entry, as a number of 8 hexadecimal digits.
    pub(crate) fn of(&self, ordinal: u64) -> u32 {
        let (mut left, mut right) = ((ordinal >> 16) as u16, ordinal as u16);
        for round in 0..8 {
            let key = self.key[round % 4].rotate_left(round as u32);
            let mixed = (u32::from(right) ^ key).wrapping_mul(0x9e37_79b1);
            let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca77);
            (left, right) = (right, left ^ (mixed >> 16) as u16);
        }
        (u32::from(left) << 16) | u32::from(right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_never_repeat() {
        let ids = Ids::new(&mut Random::new(7));
        let seen: HashSet<u32> = (0..300_000).map(|ordinal| ids.of(ordinal)).collect();
        assert_eq!(seen.len(), 300_000);
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(3);
        for _ in 0..10_000 {
            assert!(random.below(7) < 7);
            assert!((3..=5).contains(&random.between(3, 5)));
            assert!(random.rank(40) < 40);
        }
    }
}
