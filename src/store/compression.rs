//! zstd with shared dictionaries: one compressor per worker, a pool of decompressors for readers.

use std::io::Cursor;
use std::sync::{Mutex, PoisonError};

use zstd::zstd_safe::{self, CCtx, CDict, DCtx, DDict};

/// zstd's level for lines. On a real session, in frames of 8 KiB without a dictionary, level 3 gave 3% less at
/// four fifths of the speed. On a generated session of 1 GB, level -1 made the store 16% larger and the import
/// no faster.
pub(crate) const LEVEL: i32 = 1;

/// Means "no dictionary" where a dictionary's id is stored.
pub(crate) const NO_DICTIONARY: u32 = 0;

/// A dictionary, prepared for both directions.
pub(crate) struct Dictionary {
    /// The key in the `dictionaries` table, from 1; [`NO_DICTIONARY`] for none.
    pub(crate) id: u32,
    compress: Option<CDict<'static>>,
    decompress: Option<DDict<'static>>,
}

impl Dictionary {
    /// Prepares the dictionary's bytes; `None` compresses without one.
    pub(crate) fn new(id: u32, bytes: Option<&[u8]>) -> Self {
        Self {
            id,
            compress: bytes.map(|bytes| CDict::create(bytes, LEVEL)),
            decompress: bytes.map(DDict::create),
        }
    }
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Dictionary {{ id: {} }}", self.id)
    }
}

/// One worker's compressor.
pub(crate) struct Compressor {
    context: CCtx<'static>,
    out: Vec<u8>,
}

impl Compressor {
    pub(crate) fn new() -> Self {
        Self { context: CCtx::create(), out: Vec::new() }
    }

    /// The compressed form of `text`, or `None` if that would not be shorter.
    pub(crate) fn compress(&mut self, text: &[u8], dictionary: &Dictionary) -> Option<&[u8]> {
        self.out.clear();
        self.out.reserve(zstd_safe::compress_bound(text.len()));
        let written = match &dictionary.compress {
            Some(prepared) => self.context.compress_using_cdict(&mut self.out, text, prepared),
            None => self.context.compress(&mut self.out, text, LEVEL),
        }
        .expect("the buffer holds the most that zstd may write");
        (written < text.len()).then_some(&self.out[..])
    }

    /// Gives memory back that one very long text has taken, all but so many bytes.
    pub(crate) fn shrink(&mut self, kept: usize) {
        self.out.clear();
        self.out.shrink_to(kept);
    }
}

/// Decompressors shared by readers of all threads: a context takes 160 KiB, and is not made for each read.
#[derive(Default)]
pub(crate) struct Decompressors {
    idle: Mutex<Vec<DCtx<'static>>>,
}

impl Decompressors {
    /// Decompresses exactly `length` bytes and appends them to a text.
    pub(crate) fn decompress(
        &self,
        compressed: &[u8],
        length: usize,
        dictionary: &Dictionary,
        text: &mut Vec<u8>,
    ) -> Result<(), String> {
        // A damaged length must fail here, not abort the process.
        text.try_reserve_exact(length)
            .map_err(|_| format!("no memory for a text of {length} bytes"))?;
        let start = text.len();
        let mut out = Cursor::new(text);
        out.set_position(start as u64);
        let taken = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut context = taken.unwrap_or_else(DCtx::create);
        let result = match &dictionary.decompress {
            Some(prepared) => context.decompress_using_ddict(&mut out, compressed, prepared),
            None => context.decompress(&mut out, compressed),
        };
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < 16 {
            idle.push(context);
        }
        drop(idle);
        match result {
            Ok(written) if written == length => Ok(()),
            Ok(written) => Err(format!("decompressed to {written} bytes instead of {length}")),
            Err(code) => Err(zstd_safe::get_error_name(code).to_owned()),
        }
    }
}

impl std::fmt::Debug for Decompressors {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Decompressors")
    }
}
