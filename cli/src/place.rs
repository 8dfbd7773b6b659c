//! Where the store is.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use etcetera::BaseStrategy;
use leafline::error::StoreError;
use leafline::{Error, Store, StoreOptions};

use super::failure::{Failure, complain_and_advise};
use super::interrupt::Interrupt;
use super::output::{is_standard_output, refuse_standard_output};

/// The page cache of a command that imports, in bytes: pages are written once, and the system caches them as well.
const IMPORT_CACHE: usize = 32 << 20;

/// What a command in a message begins with.
const COMMAND: &str = "`leafline ";

/// The environment variable that names the store's file.
const VARIABLE: &str = "LEAFLINE_STORE";

/// The store's file, for errors that do not name it.
static IN_USE: OnceLock<PathBuf> = OnceLock::new();

/// What commands in messages begin with, if the store is named by an option.
static NAMED: OnceLock<String> = OnceLock::new();

/// A message whose commands are for the store that the user has named.
pub(super) fn on_the_store_named(message: &str) -> Cow<'_, str> {
    match NAMED.get() {
        Some(named) if message.contains(COMMAND) => message.replace(COMMAND, named).into(),
        _ => message.into(),
    }
}

/// The store that the command works on, once it is known.
pub(super) fn store_in_use() -> Option<&'static Path> {
    IN_USE.get().map(PathBuf::as_path)
}

/// Notes which store the command works on.
pub(super) fn note_store(path: &Path) {
    // A command works on one.
    let _ = IN_USE.set(path.to_owned());
}

/// The store that the command works on.
#[derive(Debug, Clone)]
pub(super) struct Place {
    named: Option<PathBuf>,
}

impl Place {
    /// The store in the named file, or in the default one.
    pub(super) fn new(named: Option<PathBuf>) -> Self {
        if let Some(path) = &named {
            let _ = NAMED.set(format!("{COMMAND}--store {} ", quoted(&shown(path))));
        }
        Self { named }
    }

    /// Opens the store read-only; it must exist.
    pub(super) fn open_to_read(&self) -> Result<Store, Failure> {
        let options = StoreOptions { read_only: true, ..StoreOptions::default() };
        self.open(&options)
    }

    /// Opens the store for a change; it must exist.
    pub(super) fn open_to_change(&self) -> Result<Store, Failure> {
        let options = StoreOptions { create: false, ..StoreOptions::default() };
        self.open(&options)
    }

    /// The same, although its journal is lost.
    pub(super) fn open_without_journal(&self) -> Result<Store, Failure> {
        self.open(&StoreOptions { create: false, without_journal: true, ..StoreOptions::default() })
    }

    /// Opens the store for an import, or creates it, and listens for signals from then on: one that comes earlier ends the command,
    /// unless the store is being created, which is completed.
    pub(super) fn open_to_import(&self) -> Result<(Store, Interrupt), Failure> {
        let options = StoreOptions { create: false, ..Self::options_of_import() };
        match self.open(&options) {
            Err(Failure::NotOpened(Error::Store(StoreError::NotFound { .. }))) => {
                let interrupt = Interrupt::listen()?;
                Ok((self.open_or_create()?, interrupt))
            }
            opened => Ok((opened?, Interrupt::listen()?)),
        }
    }

    /// Opens the store, or creates it.
    pub(super) fn open_or_create(&self) -> Result<Store, Failure> {
        self.open(&Self::options_of_import())
    }

    /// How a store is opened or created for an import.
    pub(super) fn options_of_import() -> StoreOptions {
        StoreOptions { page_cache_bytes: IMPORT_CACHE, ..StoreOptions::default() }
    }

    fn open(&self, options: &StoreOptions) -> Result<Store, Failure> {
        let store = Store::open_with(self.checked_path()?, options).map_err(Failure::NotOpened)?;
        tell_if_open_to_others(&store);
        Ok(store)
    }

    /// The store's file, unless standard output goes into a store or what belongs to one.
    pub(super) fn checked_path(&self) -> Result<PathBuf, Failure> {
        let path = self.path()?;
        note_store(&path);
        if is_standard_output(&path) {
            return Err(Failure::OutputIsStore { path });
        }
        refuse_standard_output(&path)?;
        Ok(path)
    }

    /// The store's file, existing or not.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(named) = &self.named {
            return Ok(named.clone());
        }
        if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
            return Ok(named.into());
        }
        let strategy =
            etcetera::base_strategy::choose_native_strategy().map_err(Failure::NoDataFolder)?;
        Ok(strategy.data_dir().join("leafline").join("sessions.leafline"))
    }
}

/// Tells the user once that others may open the store, and how to close it to them.
fn tell_if_open_to_others(store: &Store) {
    // The command does without it: whatever is wrong with the store, the command will find.
    let Ok(open) = store.newly_open_to_others() else { return };
    if open.is_empty() {
        return;
    }
    let named: Vec<_> = open.iter().map(|path| quoted(&shown(path))).collect();
    complain_and_advise(
        "other users of this machine may open what is stored here; this closes it to them, and is not said again:",
        &format!("chmod -R go-rwx {}", named.join(" ")),
    );
}

/// An argument as a shell takes it: on Windows both of its shells.
pub(super) fn quoted(argument: &str) -> String {
    if cfg!(windows) { quoted_on_windows(argument) } else { quoted_on_unix(argument) }
}

/// The same for a shell of Unix.
pub(super) fn quoted_on_unix(argument: &str) -> String {
    if is_plain(argument, "/._-+@%:=,") {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// The same for those of Windows. Cmd ends a word in quotation marks at `"` alone, and PowerShell replaces what follows `$` and `` ` `` in it. There is no form for
/// those that both read alike: this one is PowerShell's, and in cmd such a word stays one word.
pub(super) fn quoted_on_windows(argument: &str) -> String {
    if is_plain(argument, "/._-+:=\\") {
        return argument.to_owned();
    }
    let mut quoted = String::from("\"");
    for character in argument.chars() {
        match character {
            '"' => quoted.push_str("\"\""),
            // PowerShell takes the typographic ones for others.
            '$' | '`' | '\u{201c}' | '\u{201d}' | '\u{201e}' => quoted.extend(['`', character]),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns true if an argument has only letters, digits and these characters, and so needs no quotation marks.
fn is_plain(argument: &str, others: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    !argument.is_empty() && argument.chars().all(is_plain)
}

/// A path for a person or for JSON: bytes that are not text become U+FFFD.
pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        for (argument, expected) in [
            ("/home/robin/sessions.leafline", "/home/robin/sessions.leafline"),
            ("/a b/it's", r"'/a b/it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("", "''"),
            ("/work/a-b", "/work/a-b"),
            ("a b", "'a b'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("~", "'~'"),
        ] {
            assert_eq!(quoted_on_unix(argument), expected);
        }
    }

    #[test]
    fn arguments_are_quoted_for_both_shells_of_windows() {
        for (argument, expected) in [
            (r"C:\Users\me\sessions.leafline", r"C:\Users\me\sessions.leafline"),
            (r"C:\Users\it's me", "\"C:\\Users\\it's me\""),
            (r"C:\a&b", "\"C:\\a&b\""),
            (r"C:\100%", "\"C:\\100%\""),
            ("@x", "\"@x\""),
            ("", "\"\""),
            (r"C:\$a", "\"C:\\`$a\""),
            ("\" & calc & \"$(calc)`", "\"\"\" & calc & \"\"`$(calc)``\""),
            ("\u{201d}; calc", "\"`\u{201d}; calc\""),
        ] {
            assert_eq!(quoted_on_windows(argument), expected);
        }
    }
}
