//! Faults of the command `leafline`: the program, a script of all it does, and what must hold when a run of it went wrong.

pub mod aftermath;
pub mod calling;
pub mod case;
pub mod driving;
pub mod folder;
pub mod judge;
pub mod program;
pub mod reading;
pub mod state;
pub mod stock;
pub mod writing;
