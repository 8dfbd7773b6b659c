//! What the engine must stand: peers that are killed while they grow the store, and a damaged header.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use leafline_generate::Shape;

use super::scene::{Scene, command, file, header, message, path};

/// A process that has the store open for as long as the test wants, and appends what it is told.
struct Appender {
    child: Child,
    input: Option<ChildStdin>,
    told: BufReader<ChildStdout>,
}

impl Appender {
    fn start(scene: &Scene) -> Self {
        let mut child = command(&scene.store())
            .args(["append", "s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, told) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, told: BufReader::new(told) }
    }

    /// Appends a message; whether it was acknowledged.
    fn append(&mut self, text: &str) -> bool {
        let entry = format!(
            "{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        );
        let sent = self.input.as_mut().unwrap().write_all(entry.as_bytes()).is_ok();
        let mut id = String::new();
        sent && self.told.read_line(&mut id).is_ok() && !id.is_empty()
    }

    fn end(mut self) -> (bool, String) {
        drop(self.input.take());
        let output = self.child.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn scene() -> Scene {
    Scene::of_session(&file([header("s"), message("a", None, "Hi")]))
}

#[test]
fn a_living_process_goes_on_after_peers_that_were_killed_while_they_grew_the_store() {
    let scene = scene();
    let mut growing = Vec::new();
    let shape = Shape { seed: 3, bytes: 30_000_000, images: 0.9, ..Shape::default() };
    leafline_generate::generate(&shape, &mut growing).unwrap();
    let growing = scene.write("growing.jsonl", &growing);
    let mut appender = Appender::start(&scene);
    assert!(appender.append("first"));
    // Large enough to make the file grow, and not to be compressed away.
    let large: String =
        (0..400_000_u64).map(|index| format!("{:x}", index.wrapping_mul(0x9e37_79b9))).collect();
    let rounds = 16;
    let mut appended = 2;
    for round in 0..rounds {
        let mut peer = command(&scene.store())
            .args(["import", "--no-index", "--no-compact", path(&growing)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(10 + 23 * round));
        peer.kill().unwrap();
        peer.wait().unwrap();
        let is_there = appender.append(if round % 4 == 3 { &large } else { "more" });
        assert!(is_there, "round {round}: {}", appender.end().1);
        appended += 1;
    }
    let (succeeded, told) = appender.end();
    assert!(succeeded, "{told}");
    let shown = scene.run(["--json", "show", "s"]).ok().json();
    assert_eq!(shown["entries"], appended);
    let verified = scene.run(["verify"]).ok().text();
    assert!(verified.contains("no problems"), "{verified}");
}

/// The header of a store that nobody has closed: the engine recovers it when it is opened next.
#[test]
fn a_damaged_header_is_an_error_and_never_an_empty_store() {
    let scene = scene();
    let mut appender = Appender::start(&scene);
    assert!(appender.append("unclosed"));
    let unclosed = std::fs::read(scene.store()).unwrap();
    appender.end();
    let damaged = Scene::new();
    let mut errors = 0;
    // The two slots of commits, of 128 bytes each.
    for at in (64..320).step_by(3) {
        let mut bytes = unclosed.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(damaged.store(), &bytes).unwrap();
        let run = damaged.run(["--json", "ls"]);
        if run.status == 0 {
            let listed = run.json_lines();
            assert_eq!(listed.len(), 1, "byte {at}: the session is not listed");
            assert_eq!(listed[0]["entries"], 2, "byte {at}: {}", listed[0]);
        } else {
            assert_eq!(run.status, 1, "byte {at}: {}", run.stderr);
            errors += 1;
        }
    }
    assert!(errors > 0, "one of the slots is that of the last commit");
}
