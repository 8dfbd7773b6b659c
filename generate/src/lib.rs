//! Made-up coding-agent sessions with the shape of real ones.
//!
//! [`generate`] streams a session of any size, the same for the same [`Shape`]; [`random_tree_session`] and [`zoo()`]
//! make small ones that are legal but odd, or plainly broken. All words, names and code are made up here.
//!
//! # How real it is
//!
//! The shape was tuned against two published sessions of pi, A of 2.37 MB and 1,003 lines and B of 0.97 MB and 1,019
//! lines. The generated figures are means over seeds 1 to 8 at 2.4 MB, version 3 (which has ids that A and B, of
//! version 1, lack); the last column is one session of 64 MB.
//!
//! Compressed size as a share of the plain one. Frames are whole lines up to the first that reaches the size, each
//! compressed separately with zstd level 1. A trained dictionary's gain is the size with it as a share of the size
//! without: 110 KiB, trained on frames of the first half, measured on frames of the second.
//!
//! | measured | A | B | generated | 64 MB |
//! | --- | --- | --- | --- | --- |
//! | bytes a line | 2,363 | 956 | 1,976 | 1,909 |
//! | frames of 4 KiB and more | 0.303 | 0.317 | 0.309 | 0.316 |
//! | frames of 8 KiB and more | 0.277 | 0.269 | 0.281 | 0.289 |
//! | frames of 16 KiB and more | 0.257 | 0.242 | 0.260 | 0.268 |
//! | frames of 64 KiB and more | 0.224 | 0.204 | 0.228 | 0.235 |
//! | whole, `zstd -3 --long=27` | 0.129 | 0.148 | 0.136 | 0.136 |
//! | dictionary, frames of 4 KiB | 0.769 | 0.706 | 0.735 | 0.796 |
//! | dictionary, frames of 8 KiB | 0.815 | 0.780 | 0.784 | 0.838 |
//! | dictionary, frames of 16 KiB | 0.852 | 0.837 | 0.826 | 0.880 |
//!
//! Single sessions of 2.4 MB vary by up to a tenth around the mean. Contents by lines, as a share of lines and of
//! bytes:
//!
//! | line | A | B | generated |
//! | --- | --- | --- | --- |
//! | user | 5.5 %, 0.8 % | 8.6 %, 2.7 % | 5.1 %, 0.9 % |
//! | assistant | 48 %, 39 % | 44 %, 47 % | 47 %, 36 % |
//! | tool result | 45 %, 57 % | 37 %, 49 % | 45 %, 62 % |
//! | settings | 1.0 %, 0.0 % | 10 %, 1.0 % | 1.4 %, 0.1 % |
//! | length of a line: median, 90 %, 99 % | 859, 4,126, 29,510 | 623, 1,848, 5,622 | 869, 3,640, 18,680 |

#![expect(clippy::cast_possible_truncation, reason = "random numbers are cut to size on purpose")]

mod claude;
mod code;
mod events;
mod image;
mod language;
mod number;
mod project;
mod prose;
mod random;
mod random_tree;
mod recorder;
mod session;
mod shape;
mod shell;
mod template;
mod tools;
mod usage;
mod vocabulary;
mod zoo;

pub use random_tree::random_tree_session;
pub use shape::{Family, Shape, Summary};
pub use zoo::zoo;

use std::io::{self, Write};

/// Writes a session to `out`; memory use does not grow with its size.
///
/// # Errors
///
/// Errors of writing to `out`; an error if the shape's version or share of images is out of bounds.
pub fn generate(shape: &Shape, out: &mut impl Write) -> io::Result<Summary> {
    if !(1..=3).contains(&shape.version) || !(0.0..=0.95).contains(&shape.images) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "no session has version {} and a share of {} in images: versions are 1 to 3, shares 0.0 to 0.95",
                shape.version, shape.images
            ),
        ));
    }
    if shape.family == Family::Claude {
        return claude::Session::new(shape, out).run();
    }
    session::Session::new(shape, out).run()
}
