//! The command at a terminal: a pseudo terminal, at which the test types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::scene::Scene;

/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(60);

/// What ctrl-c types.
pub(crate) const CTRL_C: &str = "\u{3}";

/// A terminal, and a command that has it as its own.
pub(crate) struct Terminal {
    master: File,
    child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// A terminal's size.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rows: u16,
    pub(crate) columns: u16,
}

pub(crate) const USUAL: Size = Size { rows: 24, columns: 80 };

/// The command on the scene's store at a terminal, with these variables.
pub(crate) fn at_terminal(
    scene: &Scene,
    arguments: &[&str],
    variables: &[(&str, &str)],
    size: Size,
) -> Terminal {
    let mut command = Command::new("setsid");
    command.args(["--ctty", env!("CARGO_BIN_EXE_leafline")]).args(arguments);
    for name in ["LEAFLINE_PAGER", "PAGER", "LESS", "NO_COLOR", "CLICOLOR_FORCE", "LC_ALL"] {
        command.env_remove(name);
    }
    command.env("LEAFLINE_STORE", scene.store()).env("TERM", "xterm").env("LANG", "C.UTF-8");
    command.env("TZ", "UTC").envs(variables.iter().copied());
    Terminal::begin(command, size)
}

impl Terminal {
    fn begin(mut command: Command, size: Size) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&slave, size).unwrap();
        let end = || Stdio::from(slave.as_fd().try_clone_to_owned().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        // The command's ends are the last ones: when it closes them, the terminal ends.
        drop(command);
        drop(slave);
        let master = File::from(master);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (mut output, all) = (master.try_clone().unwrap(), Arc::clone(&seen));
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The end of a terminal is an error.
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..read]);
            }
        });
        Self { master, child, seen, reader }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// All that it has shown.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until it has shown this.
    #[track_caller]
    pub(crate) fn waits_for(&self, text: &str) {
        let begun = Instant::now();
        while !self.text().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "{text:?} is not in {:?}", self.text());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the command's end. Its exit status, none if a signal has ended it, and all that was shown.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                panic!("it does not end: {:?}", self.text());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        self.reader.join().unwrap();
        let seen = self.seen.lock().unwrap();
        (status.code(), String::from_utf8_lossy(&seen).into_owned())
    }
}
