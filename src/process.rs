//! The process that something belongs to. A fork copies memory, but no threads; and it shares open files with their locks.

/// A process, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// The one that runs.
    pub(crate) fn current() -> Self {
        Self(std::process::id())
    }

    /// Whether it is the one that runs. The system is asked each time, which takes 0.1 µs.
    pub(crate) fn is_current(self) -> bool {
        self == Self::current()
    }

    pub(crate) fn id(self) -> u32 {
        self.0
    }
}
