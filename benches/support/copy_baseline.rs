//! The file itself: copied until it is on disk, and read through.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Copies `from` to `to` and waits until it is on disk.
pub(crate) fn copy_and_sync(from: &Path, to: &Path) {
    std::fs::copy(from, to).expect("the file can be copied");
    File::open(to).and_then(|copy| copy.sync_all()).expect("the copy can be made durable");
}

/// Reads the file and passes its bytes to `out`.
pub(crate) fn read_through(path: &Path, out: &mut dyn std::io::Write) -> u64 {
    let mut file = File::open(path).expect("the file is there");
    let mut buffer = vec![0; 1 << 20];
    let mut total = 0;
    loop {
        let count = file.read(&mut buffer).expect("the file can be read");
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
            return total;
        };
        out.write_all(bytes).expect("the output takes all bytes");
        total += bytes.len() as u64;
    }
}
