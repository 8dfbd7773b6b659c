//! A blob's file in the folder of an export, named by the hash of its bytes.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Result as IoResult, Write};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::destination::refuse_store;
use crate::error::{FileContext, Result};
use crate::open_folder::{Kind, OpenFolder};
use crate::redact::Redactor;
use crate::store::blobs::{self, Hash};
use crate::store::snapshot::Snapshot;
use crate::whole_file::WholeFile;

/// Bytes of a read.
const BUFFER_BYTES: usize = 256 << 10;

/// Writes a blob's file, unless it is there with the bytes that its name says. One with other bytes is damaged, and is
/// replaced. A blob whose bytes the store does not have is left out: a reference that was imported without its blob is
/// exported without it.
///
/// A text in which the redactor finds a secret is left out too: with another text it would not be what its name says.
pub(super) fn write_blob(
    snapshot: &Snapshot,
    hash: &Hash,
    folder: &Arc<OpenFolder>,
    redactor: Option<&Redactor>,
) -> Result<()> {
    let name = blobs::hex(hash);
    let name = OsStr::new(&name);
    let path = folder.path().join(name);
    let store = snapshot.store().path();
    refuse_store(&path, store)?;
    if is_there(folder, name, hash).at("writing", &path)? {
        return Ok(());
    }
    let Some(bytes) = snapshot.blob(hash)? else {
        return Ok(());
    };
    if redactor.is_some_and(|redactor| withholds(redactor, &bytes)) {
        return Ok(());
    }
    let file = WholeFile::inside(folder, name, store)?;
    file.file().write_all(&bytes).at("writing", &path)?;
    file.name().map(drop)
}

/// Whether a blob is a text with a secret; one that is goes to the redactor's account.
#[cfg(feature = "redact")]
fn withholds(redactor: &Redactor, bytes: &[u8]) -> bool {
    let withholds = std::str::from_utf8(bytes).is_ok() && redactor.finds_in(bytes);
    if withholds {
        redactor.account(&crate::redact::Redactions::withheld("blob-withheld"));
    }
    withholds
}

#[cfg(not(feature = "redact"))]
fn withholds(redactor: &Redactor, _: &[u8]) -> bool {
    match *redactor {}
}

/// Whether the folder has the blob's file. Anything but a file, such as a link, is not that blob, and is not ours to
/// replace.
fn is_there(folder: &OpenFolder, name: &OsStr, hash: &Hash) -> IoResult<bool> {
    match folder.look(name)?.map(|found| found.kind) {
        None => return Ok(false),
        Some(Kind::File) => {}
        Some(Kind::Link) => return refused("it is a link, and none is followed there"),
        Some(Kind::Folder | Kind::Other) => return refused("it is not a file"),
    }
    let mut file = folder.read(name)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(<[u8; 32]>::from(digest.finalize()) == *hash),
            Ok(read) => digest.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn refused(problem: &'static str) -> IoResult<bool> {
    Err(std::io::Error::new(ErrorKind::InvalidInput, problem))
}
