//! What stands in the place of a secret: its kind, and a number that is the same for the same secret.
//!
//! A plain hash would give a short password away: whoever has the export could hash every guess and compare. So the hash is
//! keyed. The key is random, is kept beside the store and is never in an export: without it a placeholder says nothing
//! about its secret but where else the same one stands.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{Corruption, Error, FileContext, Result};
use crate::private::new_file;
use crate::regular_file::open_regular;
use crate::rights::Rights;

/// What every placeholder begins with. With the rest it has letters, digits and hyphens only: it is whole in any JSON
/// string, file name or URL.
pub(super) const BEGINNING: &str = "REDACTED-";

const KEY_BYTES: usize = 32;

/// How often, and in what steps, another process is awaited that has made the file and not yet written it.
const TRIES: u32 = 100;
const STEP: Duration = Duration::from_millis(10);

/// The key of a store's placeholders.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key([u8; KEY_BYTES]);

/// The number of a secret, of 48 bits: among a million secrets two have the same with a chance of one in 500.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Tag(pub(super) u64);

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key")
    }
}

impl Key {
    /// A new one.
    pub(super) fn random() -> Self {
        // Each has 122 random bits of the system.
        let halves = [Uuid::new_v4(), Uuid::new_v4()];
        let mut digest = Sha256::new();
        halves.iter().for_each(|half| digest.update(half.as_bytes()));
        Self(digest.finalize().into())
    }

    /// The one in a file, which is made if it does not exist.
    pub(super) fn kept_in(path: &Path, rights: Option<&Rights>) -> Result<Self> {
        match new_file().write(true).create_new(true).open(path) {
            Ok(mut file) => {
                let key = Self::random();
                let _ = rights.map(|rights| rights.lend(&file));
                let written = file.write_all(&key.0).and_then(|()| file.sync_all());
                if let Err(source) = written {
                    // Nobody can use a part of it.
                    drop(std::fs::remove_file(path));
                    return Err(Error::File { action: "writing", path: path.to_owned(), source });
                }
                Ok(key)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Self::read(path),
            Err(source) => Err(Error::File { action: "making", path: path.to_owned(), source }),
        }
    }

    /// The one in a file that exists.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        for _ in 0..TRIES {
            bytes.clear();
            let file = open_regular(path).at("opening", path)?;
            file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes).at("reading", path)?;
            if !bytes.is_empty() {
                break;
            }
            std::thread::sleep(STEP);
        }
        let length = bytes.len();
        let key = bytes.try_into().map_err(|_| Corruption {
            table: "redaction-key",
            place: path.display().to_string(),
            problem: format!("it has {length} bytes, and a key has {KEY_BYTES}"),
        })?;
        Ok(Self(key))
    }

    /// The number of a secret.
    pub(super) fn tag(&self, secret: &[u8]) -> Tag {
        // The inner hash is not known to anybody, so that nothing can be appended to it (as in HMAC).
        let inner = Sha256::new().chain_update(self.0).chain_update(b"inner").chain_update(secret);
        let outer = Sha256::new().chain_update(self.0).chain_update(b"outer");
        let hash: [u8; 32] = outer.chain_update(inner.finalize()).finalize().into();
        Tag(hash.iter().take(6).fold(0, |tag, &byte| tag << 8 | u64::from(byte)))
    }
}

/// Appends the placeholder of a secret of a kind.
pub(super) fn write(kind: &str, tag: Tag, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{BEGINNING}{kind}-{:012x}", tag.0).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let keys: Vec<Key> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Key::kept_in(&path, None).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_ne!(Key::random(), keys[0]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::write(&path, b"short").unwrap();
        assert!(matches!(Key::kept_in(&path, None), Err(Error::Corrupted(_))));
    }

    #[test]
    fn the_same_secret_has_the_same_number_under_one_key() {
        let (one, other) = (Key::random(), Key::random());
        assert_eq!(one.tag(b"a"), one.tag(b"a"));
        assert_ne!(one.tag(b"a"), one.tag(b"b"));
        assert_ne!(one.tag(b"a"), other.tag(b"a"));
    }
}
