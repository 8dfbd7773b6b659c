//! Opening what others have put in a place. A pipe would wait for a writer, and a device may never end: only regular
//! files are opened.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Seek};
use std::path::Path;
use std::time::{Duration, Instant};

/// The error of Windows for a part of a file that another process has locked (ERROR_LOCK_VIOLATION).
const LOCK_VIOLATION: i32 = 33;

/// How long to wait for that process, and how often to look. It has the lock for the time of a commit.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(1);

/// Opens a regular file to read it, without waiting. A link is followed.
///
/// # Errors
///
/// Those of the system; for anything but a regular file an error that says what it is.
pub(crate) fn open_regular(path: &Path) -> Result<File> {
    // Opening a device may have an effect.
    check_regular(&std::fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(WITHOUT_WAITING.bits().cast_signed());
    }
    let file = options.open(path)?;
    // Something else may have come there meanwhile.
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads, and again while another process locks what is to be read. Only on Windows does a lock keep others from reading.
pub(crate) fn read_unlocked<T>(mut read: impl FnMut() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    loop {
        match read() {
            Err(error) if is_locked(&error) && begun.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            read => return read,
        }
    }
}

fn is_locked(error: &Error) -> bool {
    cfg!(windows) && error.raw_os_error() == Some(LOCK_VIOLATION)
}

/// Whether two files have the same bytes.
pub(crate) fn has_same_bytes(one: &File, other: &File) -> Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let [mut one, mut other] = [one, other].map(BufReader::new);
    one.rewind()?;
    other.rewind()?;
    loop {
        let (first, second) = (one.fill_buf()?, other.fill_buf()?);
        let bytes = first.len().min(second.len());
        if first[..bytes] != second[..bytes] {
            return Ok(false);
        }
        if bytes == 0 {
            return Ok(first.is_empty() && second.is_empty());
        }
        one.consume(bytes);
        other.consume(bytes);
    }
}

/// The first bytes of a regular file, at most so many.
pub(crate) fn beginning(path: &Path, most: usize) -> Result<Vec<u8>> {
    let file = open_regular(path)?;
    read_unlocked(|| {
        let (mut file, mut bytes) = (&file, Vec::with_capacity(most));
        file.rewind()?;
        file.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

/// Whether there is a regular file. One that cannot be looked at is assumed to be there.
pub(crate) fn may_be_at(path: &Path) -> bool {
    use ErrorKind::{NotADirectory, NotFound};
    match std::fs::metadata(path) {
        Ok(metadata) => metadata.is_file(),
        Err(error) => !matches!(error.kind(), NotFound | NotADirectory),
    }
}

/// A pipe is opened at once, and a terminal does not become the process's own.
#[cfg(unix)]
pub(crate) const WITHOUT_WAITING: rustix::fs::OFlags =
    rustix::fs::OFlags::NONBLOCK.union(rustix::fs::OFlags::NOCTTY);

/// Fails for anything but a regular file.
pub(crate) fn check_regular(metadata: &Metadata) -> Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(not_regular(metadata.file_type())),
    }
}

fn not_regular(kind: FileType) -> Error {
    let (error, problem) = match kind {
        kind if kind.is_dir() => (ErrorKind::IsADirectory, "it is a folder, not a file"),
        kind => (ErrorKind::InvalidInput, special(kind)),
    };
    Error::new(error, problem)
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_fifo() => "it is a pipe, not a file",
        kind if kind.is_socket() => "it is a socket, not a file",
        kind if kind.is_char_device() || kind.is_block_device() => "it is a device, not a file",
        _ => "it is not a regular file",
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "it is not a regular file"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_file_is_what_there_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "text").unwrap();
        assert_eq!(beginning(file.path(), 3).unwrap(), b"tex");
        assert_eq!(beginning(file.path(), 9).unwrap(), b"text");
        assert!(beginning(file.path().parent().unwrap(), 3).is_err());
    }

    #[test]
    fn files_are_compared_from_their_beginning_each_time() {
        let files = ["one text", "one text", "its text"].map(|text| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            File::open(file.path()).unwrap()
        });
        for _ in 0..2 {
            assert!(has_same_bytes(&files[0], &files[1]).unwrap());
            assert!(!has_same_bytes(&files[0], &files[2]).unwrap());
        }
    }

    #[test]
    fn only_what_is_known_to_be_no_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(!may_be_at(&path));
        std::fs::write(&path, "text").unwrap();
        assert!(may_be_at(&path));
        assert!(!may_be_at(&path.join("below")) && !may_be_at(folder.path()));
        // An error of the system says nothing of the file.
        assert!(may_be_at(&folder.path().join("x".repeat(300))));
    }

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "text").unwrap();
        let mut text = String::new();
        open_regular(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        let refused = |path: &Path| open_regular(path).unwrap_err().to_string();
        assert_eq!(refused(folder.path()), "it is a folder, not a file");
        assert!(open_regular(&folder.path().join("none")).is_err());
        #[cfg(unix)]
        {
            let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
            let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
            assert!(made.success());
            assert_eq!(refused(&pipe), "it is a pipe, not a file");
            assert_eq!(refused(Path::new("/dev/zero")), "it is a device, not a file");
            std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
            assert_eq!(refused(&link), "it is a device, not a file");
        }
    }
}
