//! Images: base64 of random bytes with a PNG file's beginning. Some are repeated.

use crate::random::{BASE64, Random};

/// How many images are remembered, as seeds, to be shown again.
const REMEMBERED: usize = 16;
/// Of 1,000 images, how many were shown before.
const REPEATED: usize = 250;

/// The images of a session.
#[derive(Debug, Default)]
pub(crate) struct Images {
    seen: Vec<(u64, usize)>,
}

impl Images {
    /// Appends the base64 text of an image of at most `limit` characters.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, limit: usize, random: &mut Random) {
        let known: Vec<(u64, usize)> =
            self.seen.iter().copied().filter(|(_, size)| *size <= limit).collect();
        if !known.is_empty() && random.chance(REPEATED) {
            let (seed, size) = *random.pick(&known);
            picture(out, seed, size);
            return;
        }
        let size = random.size(90_000.0, 2.2).clamp(1_200, limit.max(1_200));
        let (seed, size) = (random.next(), size / 4 * 4);
        if self.seen.len() == REMEMBERED {
            self.seen.remove(0);
        }
        self.seen.push((seed, size));
        picture(out, seed, size);
    }
}

/// Appends `size` characters, a multiple of 4, that decoding and encoding leaves unchanged.
fn picture(out: &mut Vec<u8>, seed: u64, size: usize) {
    const SIGNATURE: &[u8] = b"iVBORw0KGgoAAAANSUhEUgAA";
    let mut random = Random::new(seed);
    out.extend_from_slice(SIGNATURE);
    random.characters(out, BASE64, size - SIGNATURE.len() - 4);
    match random.below(3) {
        0 => random.characters(out, BASE64, 4),
        // With padding, the bits that belong to no byte must be zero.
        1 => {
            random.characters(out, BASE64, 2);
            out.push(BASE64[random.below(16) * 4]);
            out.push(b'=');
        }
        _ => {
            random.characters(out, BASE64, 1);
            out.push(BASE64[random.below(4) * 16]);
            out.extend_from_slice(b"==");
        }
    }
}
