//! Signals: ctrl-c and the request to terminate, for commands that end well before they are done, and the one that comes with a
//! limit on the size of files.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::failure::Failure;

/// The exit status of a command that ctrl-c has stopped: 128 and the signal's number, as shells have it.
pub(super) const STOPPED: u8 = 130;

/// What ends the process at a second ctrl-c.
static ENDS: Mutex<Vec<SigId>> = Mutex::new(Vec::new());

/// From now on ctrl-c does not end this process, but another one that has the terminal, such as a pager.
pub(super) fn leave_to_others() -> Result<(), Failure> {
    // With any action of its own, a process stays.
    signal_hook::flag::register(SIGINT, Arc::default()).map_err(Failure::Interrupt)?;
    for ends in ENDS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        signal_hook::low_level::unregister(ends);
    }
    Ok(())
}

/// From now on a write beyond the limit on the size of files (`ulimit -f`) is an error, which says what was written, and does
/// not end the process without a word. A program that this one becomes has the system's action again.
#[cfg(unix)]
pub(super) fn survive_limits() -> Result<(), Failure> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())
        .map(drop)
        .map_err(Failure::Interrupt)
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(super) fn survive_limits() -> Result<(), Failure> {
    Ok(())
}

/// Whether the command is to end.
#[derive(Debug, Clone, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. The first signal is noted; a second one ends the process at once.
    pub(super) fn listen() -> Result<Self, Failure> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag that the first one has set.
            let flag = || Arc::clone(&interrupt.0);
            let ends =
                signal_hook::flag::register_conditional_shutdown(signal, STOPPED.into(), flag())
                    .map_err(Failure::Interrupt)?;
            if signal == SIGINT {
                ENDS.lock().unwrap_or_else(PoisonError::into_inner).push(ends);
            }
            signal_hook::flag::register(signal, flag()).map_err(Failure::Interrupt)?;
        }
        Ok(interrupt)
    }

    /// Notes also that the terminal is gone, for a command that has changed it. Others may have been started to outlive it.
    #[cfg(unix)]
    pub(super) fn listen_to_hangup(&self) -> Result<(), Failure> {
        signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(&self.0))
            .map(drop)
            .map_err(Failure::Interrupt)
    }

    /// Other systems have no such signal.
    #[cfg(not(unix))]
    pub(super) fn listen_to_hangup(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether a signal has come.
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag that a signal sets.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
