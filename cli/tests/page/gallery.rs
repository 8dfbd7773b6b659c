//! Pictures of pages, compared with stored ones.
//!
//! They are compared as a reader sees them from afar: shrunk, in blocks of some lines, by the blocks' colours. So another font
//! or another version of the browser, with other edges and other ends of lines, makes the same picture, and a part that is
//! missing, in another place or in other colours does not.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::browser::Browser;

/// A block's side, in pixels of a window.
const BLOCK: u32 = 40;

/// Blocks differ if a colour differs by more, of 255. A line of text more or less makes some 12 of it.
const TOLERANCE: f64 = 9.0;

/// The share of blocks that may differ. Of the sample, fonts with and without serifs differ in at most 6.3 %, and a page
/// without its code in at least 8.7 %.
pub(crate) const MOST: f64 = 0.075;

/// An empty page of its own, which decodes pictures.
pub(crate) struct Gallery {
    browser: Browser,
}

impl Gallery {
    pub(crate) fn open(program: &Path) -> Self {
        Self { browser: Browser::start(program) }
    }

    /// A picture at a part of its size, as a PNG in base64.
    pub(crate) fn shrunk(&mut self, picture: &str, part: u32) -> String {
        let shrunk = self.browser.evaluate(&format!(
            "(async () => {{ const image = new Image(); image.src = 'data:image/png;base64,{picture}'; await image.decode(); \
               const canvas = document.createElement('canvas'); \
               canvas.width = Math.round(image.width / {part}); canvas.height = Math.round(image.height / {part}); \
               const context = canvas.getContext('2d'); context.imageSmoothingQuality = 'high'; \
               context.drawImage(image, 0, 0, canvas.width, canvas.height); \
               return canvas.toDataURL('image/png').split(',')[1]; }})()"
        ));
        shrunk.as_str().unwrap().to_owned()
    }

    /// The mean colours of a picture's blocks, row by row.
    fn blocks(&mut self, picture: &str, side: u32) -> Vec<Vec<[f64; 3]>> {
        let blocks = self.browser.evaluate(&format!(
            "(async () => {{ const image = new Image(); image.src = 'data:image/png;base64,{picture}'; await image.decode(); \
               const canvas = document.createElement('canvas'); canvas.width = image.width; canvas.height = image.height; \
               const context = canvas.getContext('2d'); context.drawImage(image, 0, 0); \
               const {{ data, width, height }} = context.getImageData(0, 0, image.width, image.height); \
               const rows = []; \
               for (let top = 0; top < height; top += {side}) {{ const row = []; \
                 for (let left = 0; left < width; left += {side}) {{ const sum = [0, 0, 0]; let count = 0; \
                   for (let y = top; y < Math.min(top + {side}, height); y++) \
                     for (let x = left; x < Math.min(left + {side}, width); x++, count++) \
                       for (let part = 0; part < 3; part++) sum[part] += data[(y * width + x) * 4 + part]; \
                   row.push(sum.map(one => one / count)); }} \
                 rows.push(row); }} \
               return rows; }})()"
        ));
        serde_json::from_value(blocks).unwrap()
    }

    /// The share of blocks in which two pictures differ that are a part of a window's size; all of them if their sizes do.
    fn difference(&mut self, one: &str, other: &str, part: u32) -> f64 {
        let [one, other] = [one, other].map(|picture| self.blocks(picture, BLOCK / part));
        if (one.len(), one[0].len()) != (other.len(), other[0].len()) {
            return 1.0;
        }
        let pairs = || one.iter().flatten().zip(other.iter().flatten());
        let differ = |one: &[f64; 3], other: &[f64; 3]| {
            one.iter().zip(other).any(|(one, other)| (one - other).abs() > TOLERANCE)
        };
        pairs().filter(|(one, other)| differ(one, other)).count() as f64 / pairs().count() as f64
    }

    /// The share of blocks in which a picture that was shrunk to a part of a window's size differs from a stored one.
    pub(crate) fn difference_from(&mut self, stored: &Path, shown: &str, part: u32) -> f64 {
        let bytes = std::fs::read(stored).unwrap();
        assert!(bytes.len() < 100_000, "{}: {}", stored.display(), bytes.len());
        self.difference(&STANDARD.encode(&bytes), shown, part)
    }

    /// Compares a picture of a window with a stored one, which is a part of its size, or stores it.
    #[track_caller]
    pub(crate) fn compare(&mut self, stored: &Path, picture: &str, part: u32) {
        let shown = if part == 1 { picture.to_owned() } else { self.shrunk(picture, part) };
        if std::env::var_os("LEAFLINE_DRAW").is_some() {
            std::fs::create_dir_all(stored.parent().unwrap()).unwrap();
            std::fs::write(stored, STANDARD.decode(&shown).unwrap()).unwrap();
        }
        let difference = self.difference_from(stored, &shown, part);
        println!("{}: {:.1} % differs", stored.display(), difference * 100.0);
        if difference > MOST {
            let found = std::env::temp_dir().join(stored.file_name().unwrap());
            std::fs::write(&found, STANDARD.decode(&shown).unwrap()).unwrap();
            panic!(
                "{}: {:.0} % differs, see {}; LEAFLINE_DRAW=1 draws it again",
                stored.display(),
                difference * 100.0,
                found.display()
            );
        }
    }

    /// A picture with many colours, as a PNG in base64.
    pub(crate) fn colourful(&mut self) -> String {
        let made = self.browser.evaluate(
            "(() => { const canvas = document.createElement('canvas'); canvas.width = 160; canvas.height = 80; \
               const context = canvas.getContext('2d'); \
               for (let x = 0; x < 160; x += 4) for (let y = 0; y < 80; y += 4) { \
                 context.fillStyle = `rgb(${x}, ${(x * 7 + y * 13) % 256}, ${255 - y})`; context.fillRect(x, y, 4, 4); } \
               return canvas.toDataURL('image/png').split(',')[1]; })()",
        );
        made.as_str().unwrap().to_owned()
    }
}

/// Where a picture of the sample is kept.
pub(crate) fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/pictures").join(format!("{name}.png"))
}
