//! The format families: the list of them, and what is generated from it.
//!
//! A family is one line of the list below and a folder with its [`Format`]. Everything that takes a [`Family`] finds
//! the format by a `match` generated from the list, so that nothing else names a family.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::format::Format;
use crate::line::LineScanner;

macro_rules! families {
    ($d:tt $($(#[doc = $doc:literal])+ $variant:ident = $code:literal $name:literal $program:literal $format:ty;)+) => {
        /// A family of session files: the program that writes them.
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Family {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Family {
            /// All of them, by code.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The number that stands for it in stored data; it never changes.
            #[must_use]
            pub fn code(self) -> u8 {
                match self {
                    $(Self::$variant => $code,)+
                }
            }

            /// The family that a number stands for; `None` for a number that a later version wrote.
            #[must_use]
            pub fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Its name, as command arguments use it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Its program's name in prose.
            #[must_use]
            pub fn program(self) -> &'static str {
                match self {
                    $(Self::$variant => $program,)+
                }
            }
        }

        /// Evaluates an expression with the family's format bound to the given name.
        macro_rules! with_format {
            ($d family:expr, $d format:ident => $d body:expr) => {
                match $d family {
                    $($crate::Family::$variant => {
                        type $d format = $format;
                        $d body
                    })+
                }
            };
        }
        pub(crate) use with_format;

        /// The source of a line's facts.
        #[derive(Debug, Clone)]
        #[expect(clippy::large_enum_variant, reason = "a box would cost every line an allocation")]
        pub(crate) enum LineScan<'a> {
            $($(#[doc = $doc])+ $variant(<<$format as Format>::Scanner as LineScanner>::Scan<'a>),)+
            /// The part of a record that could be recovered from a line that is not JSON.
            Recovered($crate::line::RecoveredLine<'a>),
        }

        /// Evaluates an expression with the line's scan bound to the given name.
        macro_rules! with_scan {
            ($d scan:expr, $d line:ident => $d body:expr) => {
                match $d scan {
                    $($crate::family::LineScan::$variant($d line) => $d body,)+
                    $crate::family::LineScan::Recovered($d line) => $d body,
                }
            };
        }
        pub(crate) use with_scan;

        /// The scanner of a family's lines.
        #[derive(Debug)]
        pub(crate) enum FamilyScanner {
            $($variant(<$format as Format>::Scanner),)+
        }

        impl FamilyScanner {
            pub(crate) fn new(family: Family) -> Self {
                match family {
                    $(Family::$variant => Self::$variant(Default::default()),)+
                }
            }

            pub(crate) fn scan<'a>(&mut self, text: &'a str) -> LineScan<'a> {
                match self {
                    $(Self::$variant(scanner) => LineScan::$variant(LineScanner::scan(scanner, text)),)+
                }
            }

            pub(crate) fn payloads(&self, text: &str) -> &[$crate::scan::Payload] {
                match self {
                    $(Self::$variant(scanner) => LineScanner::payloads(scanner, text),)+
                }
            }
        }

        /// How a program rewrites a file on opening it.
        #[derive(Debug, Clone)]
        pub enum Migration {
            $($(#[doc = $doc])+ $variant(<$format as Format>::Migration),)+
        }

        /// Rewrites the lines of a file, made by [`Migration::begin`].
        #[derive(Debug)]
        pub enum LineMigrator {
            $($(#[doc = $doc])+ $variant(<<$format as Format>::Migration as $crate::migration::Migrate>::Lines),)+
        }

        impl Migration {
            /// Begins with a file's first line. `open` opens the file from its start, for rules that look ahead.
            ///
            /// # Errors
            ///
            /// Errors of opening or reading the file.
            pub fn begin<R: std::io::BufRead>(
                &self,
                open: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<LineMigrator> {
                use $crate::migration::Migrate as _;
                Ok(match self {
                    $(Self::$variant(migration) => LineMigrator::$variant(migration.begin(open)?),)+
                })
            }
        }

        impl LineMigrator {
            /// Takes the next line's decoded text, with or without terminator, and appends the result to `out`.
            pub fn migrate_line(&mut self, text: &str, out: &mut Vec<u8>) -> $crate::migration::Migrated {
                use $crate::migration::MigrateLines as _;
                match self {
                    $(Self::$variant(lines) => lines.migrate_line(text, out),)+
                }
            }

            /// Appends what remains after the last line.
            pub fn finish(&mut self, out: &mut Vec<u8>) -> $crate::migration::Migrated {
                use $crate::migration::MigrateLines as _;
                match self {
                    $(Self::$variant(lines) => lines.finish(out),)+
                }
            }
        }
    };
}

// One line per family: its code, its name, its program's name in prose, its format.
families! { $
    /// pi (pi session file document).
    Pi = 0 "pi" "pi" crate::pi::Pi;
    /// omp (omp session storage document).
    Omp = 1 "omp" "omp" crate::omp::Omp;
    /// Claude Code (session JSONL format document).
    Claude = 2 "claude" "Claude Code" crate::claude::ClaudeCode;
    /// Opal (Opal session document).
    Opal = 3 "opal" "Opal" crate::opal::Opal;
    /// Codex CLI (observed).
    Codex = 4 "codex" "Codex" crate::codex::Codex;
}

impl Family {
    /// Whether its sessions have pi's records: pi and omp.
    #[must_use]
    pub fn is_pi_omp(self) -> bool {
        matches!(self, Self::Pi | Self::Omp)
    }

    /// Whether the file of a fork repeats the running totals of its base: Codex's does.
    #[must_use]
    pub fn forks_repeat_totals(self) -> bool {
        self == Self::Codex
    }

    /// The names of some families' programs, joined by commas and a last word.
    #[must_use]
    pub fn programs(families: &[Self], last_word: &str) -> String {
        let mut names = String::new();
        for (place, family) in families.iter().enumerate() {
            if place > 0 {
                let is_last = place + 1 == families.len();
                names.push_str(&if is_last { format!(" {last_word} ") } else { ", ".to_owned() });
            }
            names.push_str(family.program());
        }
        names
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// No family has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no session format is called {name:?}; there are: {}", names())]
pub struct UnknownFamily {
    /// The name that was asked for.
    pub name: String,
}

fn names() -> String {
    let names: Vec<_> = Family::ALL.iter().map(|family| family.name()).collect();
    names.join(", ")
}

impl FromStr for Family {
    type Err = UnknownFamily;

    /// Parses the name that [`Family::name`] returns.
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

    #[test]
    fn programs_are_named_in_prose() {
        assert_eq!(Family::programs(&[Family::Claude], "or"), "Claude Code");
        assert_eq!(Family::programs(&[Family::Pi, Family::Omp], "or"), "pi or omp");
        let three = [Family::Pi, Family::Claude, Family::Opal];
        assert_eq!(Family::programs(&three, "and"), "pi, Claude Code and Opal");
    }

    #[test]
    fn the_families_stand_by_code() {
        let codes: Vec<_> = Family::ALL.iter().map(|family| family.code()).collect();
        assert!(codes.is_sorted());
    }
}
