//! The program `leafline`, and how it is run: with or without a tracer that kills it or lets its calls fail.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::driving::{Driver, Input, signal_group};

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often to look whether a process has ended.
const PAUSE: Duration = Duration::from_micros(200);

/// Where programs are that the command runs, in a case's folder.
pub const PROGRAMS: &str = "programs";

/// The program, and a folder for what it prints.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    /// Outside of the folder that is examined.
    prints: PathBuf,
}

/// A way in which a run goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// None.
    No,
    /// The process is killed when it is about to make the nth call of this name.
    KilledAt(String, u64),
    /// It is killed after this time.
    KilledAfter(Duration),
    /// Its nth call of this name fails.
    Fails {
        /// The call's name.
        call: String,
        /// Which one, from 1, of those of one thread.
        nth: u64,
        /// All later ones fail, too.
        is_for_good: bool,
        /// The error's name.
        error: &'static str,
    },
    /// All calls of these names fail.
    Refused {
        /// The calls' names, with commas between them.
        calls: &'static str,
        /// Only those that are about one of these paths; if there are none, all.
        paths: Vec<PathBuf>,
        /// The error's name.
        error: &'static str,
    },
    /// Nothing fails, and these calls are written down.
    Watched(&'static str),
}

/// What came of a run.
#[derive(Debug)]
pub struct Ended {
    /// The exit status, unless a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it had to be ended because it took too long.
    pub hung: bool,
    /// Whether it was given more, or interrupted, before it had printed all that was waited for.
    pub is_rushed: bool,
    /// What it printed.
    pub stdout: String,
    /// Its complaints.
    pub stderr: String,
    /// The calls that the tracer wrote down.
    pub calls: String,
    /// How long it took.
    pub took: Duration,
}

impl Ended {
    /// Whether it did all that it was to do.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.status == Some(0)
    }

    /// Whether it was killed.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.signal == Some(9) && !self.hung
    }

    /// How it ended, in words.
    #[must_use]
    pub fn described(&self) -> String {
        let end = match (self.hung, self.status, self.signal) {
            (true, ..) => "it hung".to_owned(),
            (_, Some(status), _) => format!("status {status}"),
            (_, _, signal) => format!("signal {}", signal.unwrap_or_default()),
        };
        format!("{end}, printed {:?}, complained {:?}", self.stdout, self.stderr)
    }
}

impl Program {
    /// The program of this path; else the one beside the running program.
    ///
    /// # Errors
    ///
    /// If there is none, with what to do about it.
    pub fn find(named: Option<&Path>, prints: &Path) -> Result<Self, String> {
        let beside = || {
            let own = std::env::current_exe().ok()?;
            // Test programs are a folder deeper.
            let found = own.ancestors().skip(1).take(2).map(|folder| folder.join("leafline"));
            found.into_iter().find(|path| path.is_file())
        };
        let path = named.map(Path::to_owned).or_else(beside).filter(|path| path.is_file());
        let path = path.ok_or(
            "there is no program `leafline` beside this one: `cargo build --release --workspace --bin leafline` makes it, or name it with --program FILE",
        )?;
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        std::fs::create_dir_all(prints).map_err(|error| error.to_string())?;
        Ok(Self { path, prints: prints.to_owned() })
    }

    /// Whether a tracer is there and may trace.
    #[must_use]
    pub fn can_trace() -> bool {
        let traced = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).status();
        traced.is_ok_and(|status| status.success())
    }

    /// Runs the program in a folder.
    ///
    /// # Panics
    ///
    /// If no process can be started, or what it prints cannot be kept.
    #[must_use]
    pub fn run(&self, folder: &Path, arguments: &[String], input: Input, fault: &Fault) -> Ended {
        self.try_run(folder, arguments, input, fault).expect("a process can be run")
    }

    /// The program in a folder, to be run without a fault.
    #[must_use]
    pub fn plain(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.path);
        self.surround(&mut command, folder);
        command
    }

    fn try_run(
        &self,
        folder: &Path,
        arguments: &[String],
        input: Input,
        fault: &Fault,
    ) -> io::Result<Ended> {
        let [stdin, stdout, stderr, calls] =
            ["stdin", "stdout", "stderr", "calls"].map(|name| self.prints.join(name));
        let mut command = self.command(fault, &calls);
        command.args(arguments);
        self.surround(&mut command, folder);
        match input {
            Input::Whole(bytes) => {
                std::fs::write(&stdin, bytes)?;
                command.stdin(File::open(&stdin)?);
            }
            Input::Requests(_) => {
                command.stdin(Stdio::piped());
            }
            Input::Interrupted(_) => {}
        }
        command.stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        let begun = Instant::now();
        let mut child = command.spawn()?;
        let limit = match fault {
            Fault::KilledAfter(time) => *time,
            _ => PATIENCE,
        };
        let is_over = AtomicBool::new(false);
        let pipe = child.stdin.take();
        let driver = Driver { input, group: child.id(), pipe, stdout: &stdout, is_over: &is_over };
        let ((status, is_late), is_rushed) = std::thread::scope(|scope| {
            let driving = scope.spawn(|| driver.drive());
            let waited = wait(&mut child, limit);
            is_over.store(true, Ordering::Relaxed);
            let is_rushed = driving.join().expect("it does not panic")?;
            io::Result::Ok((waited?, is_rushed))
        })?;
        let text = |path: &Path| {
            std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let is_traced = !matches!(fault, Fault::No | Fault::KilledAfter(_));
        Ok(Ended {
            status: status.code(),
            signal: status.signal(),
            hung: is_late && !matches!(fault, Fault::KilledAfter(_)),
            is_rushed,
            stdout: text(&stdout)?,
            stderr: text(&stderr)?,
            calls: if is_traced { text(&calls)? } else { String::new() },
            took: begun.elapsed(),
        })
    }

    /// The program, or its tracer.
    fn command(&self, fault: &Fault, calls: &Path) -> Command {
        let mut paths: &[PathBuf] = &[];
        let (traced, injected, names) = match fault {
            Fault::No | Fault::KilledAfter(_) => return Command::new(&self.path),
            Fault::Watched(calls) => ((*calls).to_owned(), None, true),
            Fault::KilledAt(call, nth) => {
                (call.clone(), Some(format!("{call}:signal=SIGKILL:when={nth}")), false)
            }
            Fault::Fails { call, nth, is_for_good, error } => {
                let on = if *is_for_good { "+" } else { "" };
                (call.clone(), Some(format!("{call}:error={error}:when={nth}{on}")), true)
            }
            Fault::Refused { calls, paths: of, error } => {
                paths = of;
                ((*calls).to_owned(), Some(format!("{calls}:error={error}")), true)
            }
        };
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-s", "0", "-o"]).arg(calls);
        for path in paths {
            command.arg("-P").arg(path);
        }
        if names {
            // Descriptors with the names of their files. Of other calls the tracer is not told, which a signal would need.
            command.args(["-y", "--seccomp-bpf"]);
        }
        command.args(["-e", &format!("trace={traced}"), "-e", "signal=none"]);
        if let Some(injected) = injected {
            command.args(["-e", &format!("inject={injected}")]);
        }
        command.arg(&self.path);
        command
    }

    /// Surroundings of its own: nothing of the user's is read or written.
    fn surround(&self, command: &mut Command, folder: &Path) {
        command.env_clear().current_dir(folder).process_group(0);
        // First the programs that stand for those of the system which would change it.
        let mut programs = folder.join(PROGRAMS).into_os_string();
        programs.push(":");
        programs.push(std::env::var_os("PATH").unwrap_or_default());
        command.env("PATH", programs);
        command.env("HOME", folder.join("home")).env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        command.env("LEAFLINE_STORE", folder.join("store.leafline"));
        command.stdin(Stdio::null());
    }
}

/// Waits for the end of a process, and kills it and what it has started when it is time. Says whether that was so.
fn wait(child: &mut Child, limit: Duration) -> io::Result<(ExitStatus, bool)> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if begun.elapsed() >= limit {
            child.kill()?;
            // Those that a killed tracer leaves.
            let _ = signal_group("-9", child.id());
            return Ok((child.wait()?, true));
        }
        std::thread::sleep(PAUSE);
    }
}
