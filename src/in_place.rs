//! A file that is a mount of its own, as a container has it: nothing can be named over it, so its bytes are written.

use std::fs::File;
use std::io::{Error, ErrorKind, Result, Seek, SeekFrom, copy};

/// Whether the system refused to name a file since the one that has the name is such a mount.
pub(crate) fn is_mount(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices)
}

/// Gives a file the bytes of another one, on the disk. If the process is killed meanwhile, it has some of both.
pub(crate) fn write_over(mut file: &File, mut from: &File) -> Result<()> {
    from.seek(SeekFrom::Start(0))?;
    file.seek(SeekFrom::Start(0))?;
    let bytes = copy(&mut from, &mut file)?;
    file.set_len(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_over_stays_the_same_file() {
        let [old, new] = ["a longer text", "short"].map(|text| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            file
        });
        let held = File::open(old.path()).unwrap();
        let place = File::options().write(true).open(old.path()).unwrap();
        write_over(&place, new.as_file()).unwrap();
        assert_eq!(std::io::read_to_string(held).unwrap(), "short");
    }
}
