//! Files that their program rewrites on opening them.

use std::convert::Infallible;
use std::fmt::Debug;
use std::io::{self, BufRead};

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migrated {
    /// It was written, ended by `\n`.
    Written,
    /// It is not JSON, and of it the record with which it begins was written, ended by `\n`.
    FirstRecord,
    /// It is blank or not JSON; a program drops such a line when it rewrites the file.
    Dropped,
}

/// How a family's program rewrites a file.
pub trait Migrate: Debug + Clone {
    /// Rewrites the lines.
    type Lines: MigrateLines;

    /// Begins with a file's first line. `open` opens the file from its start, for rules that look ahead.
    ///
    /// # Errors
    ///
    /// Errors of opening or reading the file.
    fn begin<R: BufRead>(&self, open: impl FnOnce() -> io::Result<R>) -> io::Result<Self::Lines>;
}

/// Rewrites lines, one after the other.
pub trait MigrateLines: Debug {
    /// Takes the next line's decoded text, with or without terminator, and appends the result to `out`.
    fn migrate_line(&mut self, text: &str, out: &mut Vec<u8>) -> Migrated;

    /// Appends what remains after the last line.
    fn finish(&mut self, out: &mut Vec<u8>) -> Migrated;
}

/// For programs that rewrite no file on opening it.
pub type NoMigration = Infallible;

impl Migrate for Infallible {
    type Lines = Self;

    fn begin<R: BufRead>(&self, _: impl FnOnce() -> io::Result<R>) -> io::Result<Self> {
        match *self {}
    }
}

impl MigrateLines for Infallible {
    fn migrate_line(&mut self, _: &str, _: &mut Vec<u8>) -> Migrated {
        match *self {}
    }

    fn finish(&mut self, _: &mut Vec<u8>) -> Migrated {
        match *self {}
    }
}
