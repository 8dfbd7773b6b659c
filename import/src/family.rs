//! The format families.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A family of session files: the program that writes them.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// pi (pi session file document).
    Pi,
    /// omp (omp session storage document).
    Omp,
    /// Claude Code (session JSONL format document).
    Claude,
    /// Opal (Opal session document).
    Opal,
}

impl Family {
    /// All of them, by code.
    pub const ALL: &[Self] = &[Self::Pi, Self::Omp, Self::Claude, Self::Opal];

    /// A number that stands for it in stored data; it never changes.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Pi => 0,
            Self::Omp => 1,
            Self::Claude => 2,
            Self::Opal => 3,
        }
    }

    /// What a number stands for; `None` for a number of a later version.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| family.code() == code)
    }

    /// Its name, as a command's argument takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Omp => "omp",
            Self::Claude => "claude",
            Self::Opal => "opal",
        }
    }

    /// Whether its sessions have pi's records: pi and omp.
    #[must_use]
    pub fn is_pi_omp(self) -> bool {
        matches!(self, Self::Pi | Self::Omp)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// No family has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no session format is called {name:?}; there are: pi, omp, claude, opal")]
pub struct UnknownFamily {
    /// The name that was asked for.
    pub name: String,
}

impl FromStr for Family {
    type Err = UnknownFamily;

    /// Takes the name as [`Family::name`] gives it.
    fn from_str(name: &str) -> Result<Self, UnknownFamily> {
        let named = Self::ALL.iter().copied().find(|family| family.name() == name);
        named.ok_or_else(|| UnknownFamily { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_come_back() {
        for &family in Family::ALL {
            assert_eq!(Family::from_code(family.code()), Some(family));
            assert_eq!(family.name().parse(), Ok(family));
            assert_eq!(serde_json::to_value(family).unwrap(), family.name());
        }
        assert!("Claude".parse::<Family>().is_err());
        assert_eq!(Family::from_code(255), None);
    }
}
