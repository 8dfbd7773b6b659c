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
