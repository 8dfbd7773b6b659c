//! Questions at a terminal.

use std::io::{BufRead, IsTerminal, Write};

use super::failure::Failure;

/// Whether somebody is there to answer.
pub(super) fn can_be_asked() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on standard error, behind what is told; anything but yes is no.
pub(super) fn is_given(told: &str, question: &str) -> Result<bool, Failure> {
    let mut terminal = std::io::stderr().lock();
    write!(terminal, "{told}{question} [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(Failure::Input)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
