//! Secrets replaced by placeholders, in lines that are exported and in texts that are shown. The store is never changed.
//!
//! ```
//! use leafline::Store;
//! use leafline::redact::RedactionOptions;
//!
//! # fn main() -> leafline::Result<()> {
//! let redactor = Store::in_memory()?.redactor(&RedactionOptions::default())?;
//! let token = ["ghp_", "q7Rt2Lm9sa", "4Wdp8Zbn3H", "yV0cXe6TfK", "1uJo5G"].concat();
//! let line = format!(r#"{{"text":"git clone https://\u0067{}@host/x"}}"#, &token[1..]);
//! let redacted = redactor.line(line.as_bytes());
//! let placeholder = redactor.text(&token);
//! assert!(placeholder.starts_with("REDACTED-github-token-"));
//! let expected = format!(r#"{{"text":"git clone https://{placeholder}@host/x"}}"#);
//! assert_eq!(String::from_utf8_lossy(&redacted), expected);
//! assert_eq!(redactor.redactions().kinds["github-token"].places, 2);
//! # Ok(())
//! # }
//! ```
//!
//! docs/share.md says what is found, and what is not.

mod escapes;
mod finder;
mod judge;
mod line;
mod manifest;
mod names;
mod personal;
mod placeholder;
mod private_key;
mod shapes;
#[cfg(test)]
mod tests;
mod text;
mod users;
mod value;
mod writer;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use self::finder::Finder;
use self::line::Secret;
use self::placeholder::{Key, Tag};
pub use self::writer::RedactingWriter;
use crate::error::{Error, Result};
use crate::rights::Rights;
use crate::session::SessionReader;
use crate::store::Store;

/// The version of the rules: an export that was redacted by other ones is written again.
const RULES: u32 = 3;

/// So many different secrets are counted; what comes then is counted by its places alone.
const MOST_DIFFERENT: usize = 1 << 20;

/// What is replaced besides the published shapes of tokens and keys, private keys, and the values of names such as
/// `password` and `api_key`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactionOptions {
    /// Regular expressions, in the syntax of the crate `regex`: all of each match is replaced. A match is at most 64 KiB
    /// long, and within one string of a line.
    pub patterns: Vec<String>,
    /// E-mail addresses.
    pub emails: bool,
    /// The user's name in paths of home folders, such as `/home/robin`, also in the names that programs make of them.
    pub homes: bool,
}

/// Replaces secrets. Its clones share the account of what was replaced.
#[derive(Debug, Clone)]
pub struct Redactor {
    rules: Arc<Rules>,
    account: Arc<Mutex<Redactions>>,
}

#[derive(Debug)]
struct Rules {
    finder: Finder,
    key: Key,
    /// Of the rules, the options and the key.
    digest: u128,
    is_lasting: bool,
}

/// What was replaced, by kind.
#[derive(Debug, Clone, Default)]
pub struct Redactions {
    /// The kinds, such as `github-token`, `private-key`, `password`, `pattern`, `email`.
    pub kinds: BTreeMap<&'static str, KindCount>,
    different: HashSet<(&'static str, Tag)>,
    /// Those of texts that repeat a line's.
    repeated: HashSet<(&'static str, Tag)>,
}

/// How many secrets of a kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct KindCount {
    /// Places at which one was.
    pub places: u64,
    /// Different ones. At least as many, if there are more than a million.
    pub different: u64,
}

/// The secrets of a line, by kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretsOfLine {
    /// The line's number in its session, from 0, as [`Entry::ordinal`](crate::Entry::ordinal).
    pub ordinal: u64,
    /// The entry's id, if it has one.
    pub entry: Option<String>,
    /// Each kind with the number of places.
    pub kinds: Vec<(&'static str, u64)>,
}

/// Two are equal if they replace the same by the same.
impl PartialEq for Redactor {
    fn eq(&self, other: &Self) -> bool {
        self.rules.digest == other.rules.digest
    }
}

impl Eq for Redactor {}

impl Store {
    /// What replaces secrets in exports of this store. The same secret has the same placeholder each time: its number is a
    /// hash under a random key, which is in a file beside the store, made the first time and only its user's:
    /// `<store>.redaction-key`. Nobody who has an export can find out a short password by trying, as with a hash alone.
    ///
    /// If the file cannot be made, because the store's folder is read-only, and for a store in memory, the key is a new one:
    /// [`Redactor::is_lasting`] is false.
    ///
    /// # Errors
    ///
    /// [`ExportError::Pattern`](crate::error::ExportError::Pattern) for a pattern that is no regular expression;
    /// [`Error::File`] and [`Error::Corrupted`] of the key's file.
    pub fn redactor(&self, options: &RedactionOptions) -> Result<Redactor> {
        let finder = Finder::new(options)?;
        let kept = match self.is_in_memory() {
            true => None,
            false => match Key::kept_in(
                &self.redaction_key_path(),
                Rights::at(self.path()).ok().as_ref(),
            ) {
                Err(Error::File { source, .. })
                    if matches!(
                        source.kind(),
                        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
                    ) =>
                {
                    None
                }
                key => Some(key?),
            },
        };
        let is_lasting = kept.is_some();
        let key = kept.unwrap_or_else(Key::random);
        Ok(Redactor::of(options, finder, key, is_lasting))
    }
}

impl Redactor {
    /// One for those who only look for secrets: its key is a new one, which is kept nowhere. So it makes no file, and its
    /// placeholders are those of no export.
    ///
    /// # Errors
    ///
    /// [`ExportError::Pattern`](crate::error::ExportError::Pattern) for a pattern that is no regular expression.
    pub fn with_new_key(options: &RedactionOptions) -> Result<Self> {
        Ok(Self::of(options, Finder::new(options)?, Key::random(), false))
    }

    fn of(options: &RedactionOptions, finder: Finder, key: Key, is_lasting: bool) -> Self {
        let said = format!("{RULES} {options:?} {}", key.tag(b"the rules' digest").0);
        let hash: [u8; 32] = Sha256::digest(said.as_bytes()).into();
        let digest = hash.iter().take(16).fold(0, |digest, &byte| digest << 8 | u128::from(byte));
        let rules = Arc::new(Rules { finder, key, digest, is_lasting });
        Self { rules, account: Arc::default() }
    }

    /// Whether the same secrets have the same placeholders the next time.
    pub fn is_lasting(&self) -> bool {
        self.rules.is_lasting
    }

    /// A line of a session with its secrets replaced. What was JSON is JSON; all bytes but those of the secrets are as they
    /// were.
    pub fn line<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        let mut redactions = Redactions::default();
        let replaced = replaced(line, &mut redactions, |take| self.secrets(line, take));
        self.account(&redactions);
        replaced.map_or(Cow::Borrowed(line), Cow::Owned)
    }

    /// A text with its secrets replaced.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut redactions = Redactions::default();
        let bytes = text.as_bytes();
        let replaced = replaced(bytes, &mut redactions, |take| self.secrets_of_text(bytes, take));
        self.account(&redactions);
        let replaced = replaced
            .map(|bytes| String::from_utf8(bytes).expect("whole characters are replaced by ASCII"));
        replaced.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// The same of a text that repeats a line's, such as a title: the account has a secret of it only if no line has it.
    pub(crate) fn repeated_text(&self, text: &str) -> String {
        let mut redactions = Redactions::default();
        let bytes = text.as_bytes();
        let replaced = replaced(bytes, &mut redactions, |take| self.secrets_of_text(bytes, take));
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        account.repeated.extend(redactions.different);
        drop(account);
        match replaced {
            Some(bytes) => {
                String::from_utf8(bytes).expect("whole characters are replaced by ASCII")
            }
            None => text.to_owned(),
        }
    }

    /// One that replaces the same, with an account of its own: for what is only compared.
    pub(crate) fn aside(&self) -> Self {
        Self { account: Arc::default(), ..self.clone() }
    }

    /// Whether a text has a secret.
    pub(crate) fn finds_in(&self, text: &[u8]) -> bool {
        let mut finds = false;
        self.secrets_of_text(text, &mut |_| finds = true);
        finds
    }

    /// A writer that passes on lines with their secrets replaced.
    pub fn writer<W: std::io::Write>(&self, out: W) -> RedactingWriter<W> {
        RedactingWriter::new(self.clone(), out)
    }

    /// What was replaced so far.
    pub fn redactions(&self) -> Redactions {
        let mut redactions = self.account.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (kind, tag) in std::mem::take(&mut redactions.repeated) {
            if !redactions.different.contains(&(kind, tag)) {
                redactions.add(kind, tag);
            }
        }
        redactions
    }

    /// Of the rules, the options and the key.
    pub(crate) fn digest(&self) -> u128 {
        self.rules.digest
    }

    /// Adds to what was replaced.
    pub(crate) fn account(&self, redactions: &Redactions) {
        if !redactions.kinds.is_empty() {
            self.account.lock().unwrap_or_else(PoisonError::into_inner).add_all(redactions);
        }
    }
}

/// The bytes with their secrets replaced; `None` if there are none.
fn replaced(
    bytes: &[u8],
    redactions: &mut Redactions,
    find: impl FnOnce(&mut dyn FnMut(&Secret)),
) -> Option<Vec<u8>> {
    let (mut replaced, mut at) = (Vec::new(), 0);
    find(&mut |secret| {
        redactions.add(secret.kind, secret.tag);
        replaced.extend_from_slice(bytes.get(at..secret.place.start).unwrap_or_default());
        placeholder::write(secret.kind, secret.tag, &mut replaced);
        at = secret.place.end;
    });
    if redactions.kinds.is_empty() {
        return None;
    }
    replaced.extend_from_slice(bytes.get(at..).unwrap_or_default());
    Some(replaced)
}

impl Redactions {
    /// Counts a place that was replaced by something else than a placeholder.
    pub(crate) fn withheld(kind: &'static str) -> Self {
        let mut redactions = Self::default();
        redactions.kinds.insert(kind, KindCount { places: 1, different: 1 });
        redactions
    }

    fn add(&mut self, kind: &'static str, tag: Tag) {
        let count = self.kinds.entry(kind).or_default();
        count.places += 1;
        if self.different.len() < MOST_DIFFERENT && self.different.insert((kind, tag)) {
            count.different += 1;
        }
    }

    fn add_all(&mut self, other: &Self) {
        for (kind, count) in &other.kinds {
            let sum = self.kinds.entry(kind).or_default();
            sum.places += count.places;
            if other.different.is_empty() {
                sum.different += count.different;
            }
        }
        for &(kind, tag) in &other.different {
            if self.different.len() < MOST_DIFFERENT && self.different.insert((kind, tag)) {
                self.kinds.entry(kind).or_default().different += 1;
            }
        }
    }
}

impl SessionReader {
    /// Passes on the lines that have secrets, in the order of the file, without the secrets. Images that were cut out of
    /// lines are not looked at. The redactor's account has all of them at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged, and the error of `take`.
    pub fn secrets(
        &self,
        redactor: &Redactor,
        mut take: impl FnMut(SecretsOfLine) -> Result<()>,
    ) -> Result<()> {
        self.stored_lines(crate::store::ordinal::Ordinal::FIRST, |entry| {
            let mut redactions = Redactions::default();
            redactor.secrets(entry.line(), &mut |secret| redactions.add(secret.kind, secret.tag));
            if !redactions.kinds.is_empty() {
                let kinds = redactions.kinds.iter().map(|(kind, count)| (*kind, count.places));
                let kinds = kinds.collect();
                redactor.account(&redactions);
                take(SecretsOfLine { ordinal: entry.ordinal(), entry: entry.id(), kinds })?;
            }
            Ok(true)
        })
    }
}
