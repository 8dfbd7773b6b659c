//! A file that is a mount of its own, as a container has it: nothing can be named over it, so its bytes are written.

use std::fs::File;
use std::io::{Error, ErrorKind, Result, Seek, SeekFrom, copy};
use std::path::Path;

/// Returns true if the system refused a rename to `path` because the file there is such a mount. The same errors have other causes.
pub fn is_refused_for_mount(error: &Error, path: &Path) -> bool {
    matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices) && is_mount(path)
}

/// Returns true if a file is the root of a mount.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn is_mount(path: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

    let Ok(path) = path.canonicalize() else { return false };
    let asked = statx(CWD, &path, AtFlags::empty(), StatxFlags::TYPE).ok();
    let told =
        asked.filter(|facts| facts.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT));
    match told {
        Some(facts) => facts.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
        // Linux before 5.8.
        None => is_listed(&path, &std::fs::read("/proc/self/mountinfo").unwrap_or_default()),
    }
}

/// Returns true if a path is the fifth field of a line of `mountinfo`, which has spaces and the like in octal.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_listed(path: &Path, mounts: &[u8]) -> bool {
    let escaped = |byte: &u8| match byte {
        b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
        _ => vec![*byte],
    };
    let path: Vec<u8> = path.as_os_str().as_encoded_bytes().iter().flat_map(escaped).collect();
    let mut places = mounts
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    places.any(|place| place == path)
}

/// Other systems mount folders alone.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn is_mount(_: &Path) -> bool {
    false
}

/// Gives a file the bytes of another one, on the disk. If the process is killed meanwhile, it has some of both.
pub fn write_over(mut file: &File, mut from: &File) -> Result<()> {
    from.seek(SeekFrom::Start(0))?;
    file.seek(SeekFrom::Start(0))?;
    let bytes = copy(&mut from, &mut file)?;
    file.set_len(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_alone_does_not_make_a_mount() {
        let folder = tempfile::tempdir().unwrap();
        let [file, none] = ["file", "none"].map(|name| folder.path().join(name));
        File::create(&file).unwrap();
        for kind in [ErrorKind::ResourceBusy, ErrorKind::CrossesDevices] {
            let is_mount = |path| is_refused_for_mount(&kind.into(), path);
            assert!(!is_mount(&file) && !is_mount(&none));
            // A container without it has no mounts to look at.
            assert!(is_mount(Path::new("/proc")) || !Path::new("/proc/self").exists());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_system_that_does_not_tell_has_a_list_of_mounts() {
        let mounts = b"36 35 98:0 /mnt1 /a\\040file rw - ext3 /dev/root rw\n37 36 0:5 / /proc rw";
        for (path, is_mount) in
            [("/a file", true), ("/proc", true), ("/mnt1", false), ("/a", false)]
        {
            assert_eq!(is_listed(Path::new(path), mounts), is_mount, "{path}");
        }
    }

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
