//! The command at a terminal: a pseudo terminal, at which the test types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::scene::Scene;

/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(600);

/// What ctrl-c types.
pub(crate) const CTRL_C: &str = "\u{3}";

/// A terminal, and a command that has it as its own.
pub(crate) struct Terminal {
    master: File,
    child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    is_paused: Arc<AtomicBool>,
    pause_at: Arc<Mutex<Option<String>>>,
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
    at_store(&scene.store(), arguments, variables, size)
}

/// The same on any store.
pub(crate) fn at_store(
    store: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    size: Size,
) -> Terminal {
    let (program, folder) = (env!("CARGO_BIN_EXE_leafline"), store.parent().unwrap());
    let mut all = vec![("LEAFLINE_STORE", store.to_str().unwrap())];
    all.extend_from_slice(variables);
    in_folder(folder, (program, arguments), &all, size)
}

/// Any program, with this folder as its home and its directory.
pub(crate) fn in_folder(
    folder: &Path,
    (program, arguments): (&str, &[&str]),
    variables: &[(&str, &str)],
    size: Size,
) -> Terminal {
    let mut command = Command::new("setsid");
    // A shell that starts the tests in the background has told them, and what they start, to ignore ctrl-c.
    command.args(["--ctty", "env", "--default-signal", program]);
    command.args(arguments);
    for name in ["LEAFLINE_PAGER", "PAGER", "LESS", "NO_COLOR", "CLICOLOR_FORCE", "LC_ALL"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm").env("LANG", "C.UTF-8");
    // What a pager keeps or saves goes into the scene's folder, not into the sources or the home of who runs the tests.
    command.current_dir(folder).env("HOME", folder).env("LESSHISTFILE", "-");
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
        // Otherwise ctrl-c throws away what was written and is not read yet, half a sequence too.
        let mut modes = tcgetattr(&slave).unwrap();
        modes.local_modes |= LocalModes::NOFLSH;
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        let end = || Stdio::from(slave.as_fd().try_clone_to_owned().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        // The command's ends are the last ones: when it closes them, the terminal ends.
        drop(command);
        drop(slave);
        let master = File::from(master);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let is_paused = Arc::new(AtomicBool::new(false));
        let waits = Arc::clone(&is_paused);
        let pause_at = Arc::new(Mutex::new(None::<String>));
        let stop = Arc::clone(&pause_at);
        let (mut output, all) = (master.try_clone().unwrap(), Arc::clone(&seen));
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                while waits.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(2));
                }
                // The end of a terminal is an error.
                let Ok(read @ 1..) = output.read(&mut buffer) else { return };
                let mut all = all.lock().unwrap();
                all.extend_from_slice(&buffer[..read]);
                let mut stop = stop.lock().unwrap();
                if stop.as_ref().is_some_and(|text| String::from_utf8_lossy(&all).contains(text)) {
                    *stop = None;
                    waits.store(true, Ordering::Relaxed);
                }
            }
        });
        Self { master, child, seen, reader, is_paused, pause_at }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Lets the command wait for the terminal from when this is shown, once it has written some kilobytes more.
    pub(crate) fn pauses_at(&self, text: &str) {
        *self.pause_at.lock().unwrap() = Some(text.to_owned());
    }

    pub(crate) fn goes_on(&self) {
        *self.pause_at.lock().unwrap() = None;
        self.is_paused.store(false, Ordering::Relaxed);
    }

    /// Sends the command a signal.
    pub(crate) fn signals(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether the command has ended.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
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

/// The rows that a terminal of so many columns shows after all of this, the ones that have scrolled away included.
pub(crate) fn screen(text: &str, columns: usize) -> Vec<String> {
    let mut rows: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0_usize, 0_usize);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{8}' => column = column.saturating_sub(1),
            '\u{1b}' => {
                // A control sequence: its numbers, and the letter that says what it does.
                let mut sequence = String::new();
                for next in characters.by_ref() {
                    sequence.push(next);
                    if next.is_ascii_alphabetic() {
                        break;
                    }
                }
                let number = || sequence.trim_matches(|c: char| !c.is_ascii_digit()).parse();
                match sequence.chars().last() {
                    Some('A') => row -= row.min(number().unwrap_or(1)),
                    Some('K') if sequence == "[2K" => rows[row].clear(),
                    Some('K') => rows[row].truncate(column),
                    _ => {}
                }
            }
            _ => {
                // The last column is left only by what comes after it.
                if column == columns {
                    (row, column) = (row + 1, 0);
                }
                rows.resize(rows.len().max(row + 1), Vec::new());
                let length = rows[row].len().max(column + 1);
                rows[row].resize(length, ' ');
                rows[row][column] = character;
                column += 1;
            }
        }
        rows.resize(rows.len().max(row + 1), Vec::new());
    }
    rows.into_iter().map(|row| row.into_iter().collect()).collect()
}
