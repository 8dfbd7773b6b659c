//! The terminal while it is drawn on. It is given back as it was, whatever happens.

use std::io::{BufWriter, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{execute, queue, terminal};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// Whether the terminal is drawn on.
static IS_HELD: AtomicBool = AtomicBool::new(false);

/// The terminal, until the value is dropped.
pub(super) struct Guard {
    pub(super) terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Guard {
    /// Takes the terminal. A panic gives it back before it is reported.
    ///
    /// # Errors
    ///
    /// If the system does not let it.
    pub(super) fn take() -> std::io::Result<Self> {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            report(panic);
        }));
        terminal::enable_raw_mode()?;
        IS_HELD.store(true, Ordering::Release);
        let mut stdout = std::io::stdout();
        let taken = execute!(stdout, EnterAlternateScreen, Hide).and_then(|()| {
            Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(64 << 10, stdout)))
        });
        match taken {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Whether it is still there to be drawn on: a panic of another thread has given it back.
    pub(super) fn is_held() -> bool {
        IS_HELD.load(Ordering::Acquire)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back, once.
fn give_back() {
    if IS_HELD.swap(false, Ordering::AcqRel) {
        // Where that fails, there is nobody to tell.
        let _ = leave(&mut std::io::stdout());
        let _ = terminal::disable_raw_mode();
    }
}

fn leave(out: &mut impl Write) -> std::io::Result<()> {
    queue!(out, LeaveAlternateScreen, Show)?;
    out.flush()
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a test may fail anywhere")]
mod tests {
    use std::io::IsTerminal;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::Guard;

    const REASON: &str = "a panic on purpose";

    /// Longer than anything here takes.
    const PATIENCE: Duration = Duration::from_secs(600);

    /// What the test below has the terminal run.
    #[test]
    #[ignore = "a_panic_gives_the_terminal_back runs it, in a terminal"]
    #[should_panic(expected = "a panic on purpose")]
    fn panics_while_it_has_the_terminal() {
        let _guard = std::io::stdout().is_terminal().then(|| Guard::take().unwrap());
        panic!("{REASON}");
    }

    /// Calls tmux, and returns what it prints.
    fn tmux(folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(folder.join("tmux")).args(["-f", "/dev/null"]).args(arguments);
        command.env_remove("TMUX").env("PS1", "$ ").env("ENV", "").stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let is_there = Command::new("tmux").arg("-V").stdout(Stdio::null()).status();
        if !is_there.is_ok_and(|status| status.success()) {
            assert!(std::env::var_os("LEAFLINE_REQUIRE_TMUX").is_none(), "there is no tmux");
            eprintln!("skipped: there is no tmux");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        tmux(folder, &["new-session", "-d", "-x", "100", "-y", "50", "env", "-u", "TMUX", "sh"]);
        let (_, module) = module_path!().split_once("::").unwrap();
        let exe = std::env::current_exe().unwrap();
        let run = format!(
            "'{}' --ignored --exact {module}::panics_while_it_has_the_terminal --nocapture; stty -a; echo en''ded",
            exe.display()
        );
        tmux(folder, &["send-keys", "-l", &run]);
        tmux(folder, &["send-keys", "Enter"]);
        let begun = Instant::now();
        let screen = loop {
            let screen = tmux(folder, &["capture-pane", "-p"]);
            if screen.contains("ended") {
                break screen;
            }
            assert!(begun.elapsed() < PATIENCE, "{screen}");
            std::thread::sleep(Duration::from_millis(20));
        };
        let state = tmux(folder, &["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
        tmux(folder, &["kill-server"]);
        assert_eq!(state.trim(), "0 1", "the other screen, and the cursor");
        assert!(screen.contains(REASON) && screen.contains("1 passed"), "{screen}");
        let words: Vec<&str> = screen.split_whitespace().collect();
        assert!(words.contains(&"icanon") && words.contains(&"echo"), "{screen}");
    }
}
