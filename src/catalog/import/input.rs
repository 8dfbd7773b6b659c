//! A session that comes as a stream of bytes and not as a file: standard input, a download.
//!
//! An import reads what it imports more than once, so the bytes are kept in a file without a name until it is done.

use std::fs::File;
use std::io::{Error, Read, Result, Write};
use std::path::Path;

use leafline_import::{Family, NotASession, detect};

use super::candidate::{LONGEST_PREFIX, PREFIX_BYTES};

/// Bytes of a read.
const BUFFER_BYTES: usize = 1 << 20;

/// What has come of a stream.
pub(super) enum Input {
    /// All of it, in a file that is gone when it is closed.
    Whole(File),
    /// Its beginning is no session, and the rest was not read.
    NoSession {
        /// The bytes that were read.
        bytes: u64,
        reason: NotASession,
    },
    /// The import was stopped before the end.
    Stopped,
}

/// Reads a stream to its end, into a file in this folder, which only its user can open. A stream that is no session is
/// not read on: it may never end.
///
/// # Errors
///
/// Those of the stream and of the file.
pub(super) fn keep(
    input: &mut dyn Read,
    family: Option<Family>,
    folder: &Path,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Input> {
    let mut file = tempfile::tempfile_in(folder).map_err(not_kept)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut undecided = Some((Vec::new(), PREFIX_BYTES));
    let mut bytes = 0;
    loop {
        if is_stopped() {
            return Ok(Input::Stopped);
        }
        let read = match input.read(&mut buffer) {
            Ok(0) => return Ok(Input::Whole(file)),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::new(error.kind(), format!("reading it: {error}"))),
        };
        let block = buffer.get(..read).unwrap_or_default();
        file.write_all(block).map_err(not_kept)?;
        bytes += read as u64;
        let Some((prefix, limit)) = &mut undecided else { continue };
        prefix.extend_from_slice(block);
        if (prefix.len() as u64) < *limit {
            continue;
        }
        match detect(prefix, family, false) {
            Ok(_) => undecided = None,
            Err(NotASession::PrefixTooShort { .. }) if *limit < LONGEST_PREFIX => *limit *= 4,
            Err(reason) => return Ok(Input::NoSession { bytes, reason }),
        }
    }
}

fn not_kept(error: Error) -> Error {
    let problem = "keeping it until its end, beside the store";
    Error::new(error.kind(), format!("{problem}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_is_no_session_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let endless: [&mut dyn Read; 2] = [&mut std::io::repeat(b'x'), &mut std::io::repeat(b'\n')];
        for input in endless {
            let kept = keep(input, None, folder.path(), &|| false).unwrap();
            let Input::NoSession { bytes, .. } = kept else { panic!("it never ends") };
            assert!(bytes <= LONGEST_PREFIX + BUFFER_BYTES as u64, "{bytes}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_stop_ends_the_reading() {
        let folder = tempfile::tempdir().unwrap();
        let reads = std::cell::Cell::new(0);
        let is_stopped = || reads.replace(reads.get() + 1) > 3;
        let kept = keep(&mut std::io::repeat(b'x'), None, folder.path(), &is_stopped).unwrap();
        assert!(matches!(kept, Input::Stopped));
    }
}
