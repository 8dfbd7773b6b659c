//! Signals to another process: it stops in the middle of its work, goes on, or ends.

use std::process::Child;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// Stops a process, and returns when each of its threads stands still: one that is woken by a lock takes it before it
/// stops. A process that has ended already is left as it is.
pub(crate) fn stop(child: &Child) {
    signal(child, Signal::STOP);
    let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::Pid(pid(child)), options).unwrap();
}

pub(crate) fn go_on(child: &Child) {
    signal(child, Signal::CONT);
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    rustix::process::kill_process(pid(child), signal).unwrap();
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}
