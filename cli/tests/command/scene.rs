//! Where tests run the command: a folder with a store, and files to import.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The sample sessions' ids.
pub(crate) const PI_3: &str = "019c6605-4c90-7d2a-9b41-5f0e3c77a1d2";
pub(crate) const PI_1: &str = "6d1f0f0e-6a53-4c0a-9b1f-0a4d5b7c2e11";
pub(crate) const PI_2: &str = "b6a3a0c8-44fd-4c0f-9d52-7e0c5f3d9a20";
pub(crate) const OMP_3: &str = "019c7bd3-90ea-7b35-8c11-d4f2a86b0e59";

/// A session of Claude Code's, and the agents that it started.
pub(crate) const CLAUDE: &str = "5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90";
pub(crate) const AGENTS: [&str; 3] =
    ["agent-7d31c0be", "agent-c5e90a17", "019c6f5a-0035-7c4e-9d21-5a7be0c30035"];
pub(crate) const OPAL: &str = "sess-5f1c";

/// How many files of sessions the samples have.
pub(crate) const SAMPLES: usize = 18;

/// The blob that the omp sample refers to.
pub(crate) const BLOB: &str = "3b8602731095c511a1212461024126e06a8eaf8f29fd4c21913d8f6c9ea8e37f";

/// A folder with a store, gone when it is dropped.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
}

/// What a run of the command gave.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Scene {
    /// A folder without a store yet.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The same in memory, where the system has such a place: for many small commits, each of which waits for a disk.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self { folder: folder.unwrap() }
    }

    /// A folder whose store holds the samples.
    pub(crate) fn of_samples() -> Self {
        let scene = Self::new();
        scene.run(["import", path(&samples()), "--blobs", path(&sample_blobs())]).ok();
        scene
    }

    /// A folder whose store holds one session of these bytes.
    pub(crate) fn of_session(bytes: &[u8]) -> Self {
        let scene = Self::new();
        let file = scene.write("session.jsonl", bytes);
        scene.run(["import", path(&file)]).ok();
        scene
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("store.leafline")
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs the command on the store.
    pub(crate) fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Run {
        run_on(&self.store(), arguments)
    }

    /// Runs the command on the store, with this on its standard input.
    pub(crate) fn run_with_input<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
        input: &[u8],
    ) -> Run {
        let mut child = command(&self.store())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A command that fails early leaves the rest unread.
            scope.spawn(move || drop(stdin.write_all(input)));
            finished(child.wait_with_output().unwrap())
        })
    }
}

impl Run {
    /// Panics unless the run went well and said nothing on standard error, but for the blobs that a file of omp's refers to.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        let is_other = |line: &&str| !line.starts_with("leafline: the file refers to ");
        let said: Vec<&str> = self.stderr.lines().filter(is_other).collect();
        assert_eq!((self.status, said), (0, Vec::new()), "{}", self.text());
        self
    }

    /// Panics unless the run failed with this exit status; answers what it said.
    #[track_caller]
    pub(crate) fn fails(self, status: i32) -> String {
        assert_eq!(self.status, status, "{}{}", self.text(), self.stderr);
        self.stderr
    }

    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard output as JSON, a value a line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        let mut lines = self.json_lines();
        assert_eq!(lines.len(), 1);
        lines.remove(0)
    }
}

/// The command on a store, nothing of the surroundings' settings left.
pub(crate) fn command(store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leafline"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("TZ", "UTC");
    command.env("LEAFLINE_STORE", store).stdin(Stdio::null());
    for family in leafline::Family::ALL {
        for name in family.folder_variables() {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the command on the scene's store, with its folder as the home folder.
pub(crate) fn at_home<'a>(scene: &Scene, arguments: impl IntoIterator<Item = &'a str>) -> Run {
    let mut command = command(&scene.store());
    command.env("HOME", scene.folder()).env("USERPROFILE", scene.folder());
    finished(command.args(arguments).output().unwrap())
}

pub(crate) fn run_on<'a>(store: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Run {
    finished(command(store).args(arguments).output().unwrap())
}

pub(crate) fn finished(output: Output) -> Run {
    Run {
        status: output.status.code().expect("the command ends by itself"),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the command on a store of the samples that all tests share and none changes.
pub(crate) fn on_samples<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Run {
    static SHARED: OnceLock<PathBuf> = OnceLock::new();
    let store = SHARED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command-samples");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let store = folder.join("store.leafline");
        run_on(&store, ["import", path(&samples()), "--blobs", path(&sample_blobs())]).ok();
        store
    });
    run_on(store, arguments)
}

pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("import").join("samples")
}

pub(crate) fn sample_blobs() -> PathBuf {
    samples().join("blobs")
}

/// The sample file of a session.
pub(crate) fn sample(id: &str) -> Vec<u8> {
    let mut folders = vec![samples()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(id) {
                return std::fs::read(path).unwrap();
            }
        }
    }
    panic!("there is no sample {id}");
}

pub(crate) fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A header of version 3.
pub(crate) fn header(id: &str) -> String {
    format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/work"}}"#
    )
}

/// A user's message; the text as it stands in JSON.
pub(crate) fn message(id: &str, parent: Option<&str>, text: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T08:00:01.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// Lines, each ended.
pub(crate) fn file(lines: impl IntoIterator<Item = String>) -> Vec<u8> {
    lines.into_iter().map(|line| line + "\n").collect::<String>().into_bytes()
}
