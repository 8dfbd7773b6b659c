//! The session that all benchmarks measure: generated once, kept between runs.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use leafline_generate::{Shape, generate};
use serde::Deserialize;

use super::size;

/// Bytes of the small session whose hash identifies the generator's version.
const FINGERPRINT_BYTES: u64 = 1_000_000;

/// A generated session of realistic shape, with branches and compactions, in a file.
#[derive(Debug)]
pub(crate) struct SessionFile {
    path: PathBuf,
    bytes: u64,
}

/// The members of a line that identify it.
#[derive(Deserialize)]
struct Identity<'l> {
    id: Option<&'l str>,
}

impl SessionFile {
    /// The file of the size from the environment; generated if missing.
    pub(crate) fn make() -> Self {
        Self::of_shape(&Shape { bytes: size::session_bytes(), ..Shape::default() })
    }

    /// The file of a shape; generated if missing.
    pub(crate) fn of_shape(shape: &Shape) -> Self {
        let name = format!("session-{}-{:016x}.jsonl", shape.bytes, fingerprint(shape));
        let path = folder().join(name);
        if !path.exists() {
            write(&path, |out| generate(shape, out).map(|_| ()));
        }
        Self::in_place(path)
    }

    /// An existing file.
    pub(crate) fn in_place(path: PathBuf) -> Self {
        let bytes = std::fs::metadata(&path).expect("the session file was just made").len();
        let file = Self { path, bytes };
        file.warm();
        file
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The id in the header.
    pub(crate) fn session_id(&self) -> String {
        let mut header = String::new();
        self.open().read_line(&mut header).expect("the session file can be read");
        identity(header.as_bytes()).expect("a generated header has an id")
    }

    /// The ids of all entries, in file order.
    pub(crate) fn entry_ids(&self) -> Vec<String> {
        let mut ids = Vec::new();
        let mut line = Vec::new();
        let mut file = self.open();
        while file.read_until(b'\n', &mut line).expect("the session file can be read") > 0 {
            ids.extend(identity(&line));
            line.clear();
        }
        // The header's id is the session's, not an entry's.
        ids.remove(0);
        ids
    }

    /// A buffered reader at the beginning.
    pub(crate) fn open(&self) -> BufReader<File> {
        BufReader::with_capacity(
            1 << 20,
            File::open(&self.path).expect("the session file is there"),
        )
    }

    /// Reads the file once, so that each measurement finds it in the system's memory.
    fn warm(&self) {
        std::io::copy(&mut self.open(), &mut std::io::sink())
            .expect("the session file can be read");
    }
}

/// The folder that benchmarks may write to, inside the build's target folder.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("benches");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

fn identity(line: &[u8]) -> Option<String> {
    let identity: Identity<'_> = serde_json::from_slice(line).ok()?;
    identity.id.map(str::to_owned)
}

fn fingerprint(shape: &Shape) -> u64 {
    let small = Shape { bytes: FINGERPRINT_BYTES, ..shape.clone() };
    let mut session = Vec::new();
    generate(&small, &mut session).expect("a session can be generated in memory");
    let mut hasher = DefaultHasher::new();
    hasher.write(&session);
    hasher.finish()
}

/// Writes to a temporary file and renames it, so that an interrupted run leaves no partial file to measure.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>) {
    let temporary = tempfile::NamedTempFile::new_in(folder()).expect("a file can be made");
    let mut out = BufWriter::with_capacity(1 << 20, temporary.as_file());
    fill(&mut out).and_then(|()| out.flush()).expect("the session can be written");
    drop(out);
    temporary.as_file().sync_all().expect("the session can be written");
    temporary.persist(path).expect("the session file can be named");
}
