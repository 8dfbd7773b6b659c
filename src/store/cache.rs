//! A small cache of decompressed frames.

use std::sync::{Arc, OnceLock};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::ordinal::Ordinal;
use super::session_key::SessionKey;

/// Identifies a frame's text. The check changes with the text, so that a chunk rewritten by another process is never
/// found here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FrameKey {
    pub(crate) session: SessionKey,
    pub(crate) chunk: Ordinal,
    pub(crate) frame: u32,
    pub(crate) check: u32,
    pub(crate) text_len: u64,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<FrameKey, Arc<Vec<u8>>> for ByBytes {
    fn weight(&self, _: &FrameKey, text: &Arc<Vec<u8>>) -> u64 {
        text.len() as u64 + 128
    }
}

/// Decompressed frames, the least used ones dropped first.
#[derive(Debug)]
pub(crate) struct FrameCache {
    /// Made for the first frame: who opens a store may read none, and the machine is asked for the number of its cores.
    frames: OnceLock<Cache<FrameKey, Arc<Vec<u8>>, ByBytes>>,
    bytes: u64,
}

impl FrameCache {
    /// A cache of about `bytes` bytes; 0 keeps nothing.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { frames: OnceLock::new(), bytes }
    }

    pub(crate) fn get(&self, key: &FrameKey) -> Option<Arc<Vec<u8>>> {
        self.frames.get()?.get(key)
    }

    pub(crate) fn insert(&self, key: FrameKey, text: &Arc<Vec<u8>>) {
        // One frame should not displace everything else.
        if text.len() as u64 > self.bytes / 8 {
            return;
        }
        let frames = self.frames.get_or_init(|| {
            let expected = self.bytes / super::chunk::FRAME_TARGET as u64;
            let expected = usize::try_from(expected).unwrap_or(usize::MAX);
            Cache::with_weighter(expected.max(1), self.bytes, ByBytes)
        });
        frames.insert(key, Arc::clone(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_made_for_what_it_keeps() {
        let key = |frame| FrameKey {
            session: SessionKey::new(1),
            chunk: Ordinal::FIRST,
            frame,
            check: 0,
            text_len: 0,
        };
        let cache = FrameCache::new(64 << 10);
        let (kept, long) = (Arc::new(vec![1; 8 << 10]), Arc::new(vec![2; (8 << 10) + 1]));
        cache.insert(key(1), &long);
        assert!(cache.get(&key(1)).is_none() && cache.frames.get().is_none());
        cache.insert(key(2), &kept);
        assert_eq!(cache.get(&key(2)), Some(kept));
        assert!(cache.get(&key(1)).is_none());
    }
}
