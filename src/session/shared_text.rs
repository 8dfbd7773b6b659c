//! Texts of many sessions in one piece of memory: a list of ten thousand allocates memory a few dozen times.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};

/// Bytes of a list's texts that are stored together.
const BATCH_BYTES: usize = 64 << 10;

/// A text of a list, which is used as a `str`. The texts of one list share memory, so a clone needs none, and a kept
/// text keeps up to 64 KiB of others alive; [`str::to_owned`] makes an independent one.
#[derive(Clone)]
pub struct SharedText {
    /// All texts of the batch, one after the other; set before a text is returned to the caller.
    batch: Arc<OnceLock<String>>,
    start: usize,
    end: usize,
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        let batch = self.batch.get().expect("a batch is sealed before its texts are handed out");
        batch.get(self.start..self.end).expect("a text is a part of its batch")
    }
}

impl AsRef<str> for SharedText {
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<std::path::Path> for SharedText {
    fn as_ref(&self) -> &std::path::Path {
        (**self).as_ref()
    }
}

impl Borrow<str> for SharedText {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<SharedText> for String {
    fn from(text: SharedText) -> Self {
        (*text).to_owned()
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, formatter)
    }
}

impl<T: AsRef<str> + ?Sized> PartialEq<T> for SharedText {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl PartialEq<SharedText> for str {
    fn eq(&self, other: &SharedText) -> bool {
        *self == **other
    }
}

impl PartialEq<SharedText> for &str {
    fn eq(&self, other: &SharedText) -> bool {
        **self == **other
    }
}

impl PartialEq<SharedText> for String {
    fn eq(&self, other: &SharedText) -> bool {
        **self == **other
    }
}

impl Eq for SharedText {}

impl PartialOrd for SharedText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SharedText {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for SharedText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl Serialize for SharedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

/// Makes shared texts. They can be read once their batch is sealed.
pub(crate) struct SharedTexts {
    batch: Arc<OnceLock<String>>,
    texts: String,
    batch_bytes: usize,
}

impl SharedTexts {
    /// Batches for a list: a text can be read once [`Self::seal`] was called after it.
    pub(crate) fn batches() -> Self {
        Self { batch: Arc::default(), texts: String::new(), batch_bytes: BATCH_BYTES }
    }

    /// A batch for each session: its texts can be read after [`Self::session_ends`].
    pub(crate) fn by_session() -> Self {
        Self { batch_bytes: 0, ..Self::batches() }
    }

    pub(crate) fn share(&mut self, text: &str) -> SharedText {
        let start = self.texts.len();
        self.texts.push_str(text);
        SharedText { batch: Arc::clone(&self.batch), start, end: self.texts.len() }
    }

    /// Ends a session: none of its texts is missing.
    pub(crate) fn session_ends(&mut self) {
        if self.texts.len() >= self.batch_bytes {
            self.seal();
        }
    }

    /// Makes all texts readable.
    pub(crate) fn seal(&mut self) {
        let texts = self.texts.as_str().to_owned();
        self.texts.clear();
        let sealed = std::mem::take(&mut self.batch).set(texts);
        debug_assert!(sealed.is_ok(), "a batch is sealed once");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_from_their_batches() {
        let mut shared = SharedTexts::batches();
        let long = "ä".repeat(BATCH_BYTES / 2);
        let mut texts = Vec::new();
        for text in ["", "one", &long, "two", "", "drei ü", &long, &long, "end"] {
            texts.push((shared.share(text), text));
            shared.session_ends();
        }
        shared.seal();
        assert!(texts.iter().all(|(shared, text)| shared == text));
        let batches: std::collections::HashSet<_> =
            texts.iter().map(|(shared, _)| Arc::as_ptr(&shared.batch)).collect();
        assert_eq!(batches.len(), 4);
    }

    #[test]
    fn texts_of_a_session_are_read_at_its_end() {
        let mut shared = SharedTexts::by_session();
        let [id, title] = ["id", "title"].map(|text| shared.share(text));
        shared.session_ends();
        assert_eq!((&*id, &*title), ("id", "title"));
        let next = shared.share("next");
        shared.session_ends();
        assert_eq!(format!("{id} {next:?}"), r#"id "next""#);
    }
}
