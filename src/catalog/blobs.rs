//! Blobs that callers put into a store and get from it.

use crate::error::Result;
use crate::store::commit::Batch;
use crate::store::{Store, blobs};

impl Store {
    /// Stores a blob, and returns its SHA-256 in lower-case hex: lines may refer to it as `blob:sha256:<hash>`. A blob that is
    /// there is not stored twice. It stays until the last line that refers to it is gone; as long as none ever did, for good.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// let store = leafline::Store::in_memory()?;
    /// let hash = store.put_blob(b"a picture")?;
    /// assert_eq!(store.get_blob(&hash)?.as_deref(), Some(&b"a picture"[..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<String> {
        let hash = blobs::hash(bytes);
        let known = self.committed()?.blob_record(&hash)?;
        if known.is_none_or(|known| known.size.is_none()) {
            let mut batch = Batch::default();
            batch.put_blob(hash, bytes.to_vec());
            self.commit(batch)?;
        }
        Ok(blobs::hex(&hash))
    }

    /// The bytes of the blob with this SHA-256 in lower-case hex, with or without `blob:sha256:` before it; `None` if the store
    /// does not have them, or if this is no such hash.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if they do not have this hash.
    pub fn get_blob(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        let hash = hash.strip_prefix("blob:sha256:").unwrap_or(hash);
        match blobs::from_hex(hash.as_bytes()) {
            Some(hash) => self.committed()?.blob(&hash),
            None => Ok(None),
        }
    }
}
