//! From a file's first bytes: whose session is it.

use crate::claude::{self, MOST_UNMARKED};
use crate::{Family, opal, pi_omp};

/// What the start of a file shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Detection {
    /// A session of pi or omp.
    PiOmp(pi_omp::Detection),
    /// A session of Claude Code.
    Claude(claude::Detection),
    /// A session of Opal.
    Opal(opal::HeaderFacts),
}

impl Detection {
    /// The family.
    #[must_use]
    pub fn family(&self) -> Family {
        match self {
            Self::PiOmp(detection) => detection.family,
            Self::Claude(_) => Family::Claude,
            Self::Opal(_) => Family::Opal,
        }
    }
}

/// Why a file holds no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotASession {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// The bytes given end before they show whose it is.
    #[error("the first {bytes} bytes of the file do not show whose session it is")]
    PrefixTooShort {
        /// How many bytes were looked at.
        bytes: usize,
    },
    /// It is none of the families'.
    #[error("no session of pi, omp, Claude Code or Opal: {0}")]
    Unknown(pi_omp::NotASession),
    /// It is none of pi or omp, which was asked for.
    #[error("no session of pi or omp: {0}")]
    PiOmp(pi_omp::NotASession),
    /// It is none of Claude Code's, which was asked for.
    #[error("no session of Claude Code: {0}")]
    Claude(claude::NotASession),
    /// It is none of Opal's, which was asked for.
    #[error("no session of Opal: {0}")]
    Opal(opal::NotASession),
}

/// Tells what a file is by its first bytes; a few hundred kilobytes show enough, mostly far less.
///
/// `complete` says that `prefix` is the whole file. `choice` is the family the caller knows it to be; without one each
/// family is asked by its own rules ([`pi_omp::detect`], [`opal::detect`], [`claude::detect`]), which exclude each other.
///
/// ```
/// use leafline_import::{Family, detect};
///
/// let file = br#"{"type":"summary","summary":"Fix login","leafUuid":"c7f1"}"#;
/// assert_eq!(detect(file, None, true)?.family(), Family::Claude);
///
/// let file = br#"{"metadata":{"title":"Fix auth bug"},"session_id":"sess-1","current_id":null}"#;
/// assert_eq!(detect(file, None, true)?.family(), Family::Opal);
/// assert!(detect(file, Some(Family::Pi), true).is_err());
/// # Ok::<(), leafline_import::NotASession>(())
/// ```
///
/// # Errors
///
/// [`NotASession`], with the reason.
pub fn detect(
    prefix: &[u8],
    choice: Option<Family>,
    complete: bool,
) -> Result<Detection, NotASession> {
    if prefix.is_empty() && complete {
        return Err(NotASession::Empty);
    }
    let too_short = NotASession::PrefixTooShort { bytes: prefix.len() };
    let wants = |family: Family| match choice {
        None => true,
        Some(choice) => choice == family || (choice.is_pi_omp() && family.is_pi_omp()),
    };
    let mut reason = None;
    let mut is_undecided = false;
    if wants(Family::Pi) {
        match pi_omp::detect(prefix, choice, complete) {
            Ok(detection) => return Ok(Detection::PiOmp(detection)),
            Err(error) => {
                is_undecided |= matches!(error, pi_omp::NotASession::PrefixTooShort { .. });
                let all = choice.is_none();
                reason =
                    Some(if all { NotASession::Unknown(error) } else { NotASession::PiOmp(error) });
            }
        }
    }
    if wants(Family::Opal) {
        match opal::detect(prefix, complete) {
            Ok(header) => return Ok(Detection::Opal(header)),
            Err(error) => {
                is_undecided |= matches!(error, opal::NotASession::PrefixTooShort { .. });
                reason = reason.or(Some(NotASession::Opal(error)));
            }
        }
    }
    if wants(Family::Claude) {
        match claude::detect(prefix, complete) {
            Ok(detection) => return Ok(Detection::Claude(detection)),
            Err(error) => {
                is_undecided |= match error {
                    claude::NotASession::PrefixTooShort { .. } => true,
                    claude::NotASession::Unmarked { records } => {
                        !complete && records < MOST_UNMARKED
                    }
                    _ => false,
                };
                reason = reason.or(Some(NotASession::Claude(error)));
            }
        }
    }
    Err(reason.filter(|_| !is_undecided).unwrap_or(too_short))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(text: &str) -> Result<Family, NotASession> {
        detect(text.as_bytes(), None, true).map(|detection| detection.family())
    }

    #[test]
    fn each_familys_first_line() {
        let claude = r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user"}}"#;
        let opal = r#"{"metadata":{}}"#;
        let message = r#"{"id":"m","parent_id":null,"role":"user"}"#;
        assert_eq!(family(r#"{"type":"session","version":3,"id":"s"}"#), Ok(Family::Pi));
        assert_eq!(family(claude), Ok(Family::Claude));
        assert_eq!(family(&format!("{opal}\n{message}\n")), Ok(Family::Opal));
        assert_eq!(family(&format!("{{torn\n{claude}\n")), Ok(Family::Claude));
        assert_eq!(family(""), Err(NotASession::Empty));
        assert!(matches!(family("{\"a\":1}\n"), Err(NotASession::Unknown(_))));
        assert!(matches!(family(" \n"), Err(NotASession::Unknown(_))));
    }

    #[test]
    fn a_choice_asks_one_family() {
        let file = br#"{"type":"session","version":3,"id":"s"}"#;
        let asked = |choice| detect(file, Some(choice), true).map(|found| found.family());
        assert_eq!(asked(Family::Omp), Ok(Family::Omp));
        assert!(matches!(asked(Family::Claude), Err(NotASession::Claude(_))));
        assert!(matches!(asked(Family::Opal), Err(NotASession::Opal(_))));
    }

    #[test]
    fn a_short_prefix_decides_nothing() {
        for prefix in ["{\"type\":\"sess", "{\"a\":1}\n{\"type\":\"us", "{oh}\n{"] {
            let found = detect(prefix.as_bytes(), None, false);
            assert!(
                matches!(found, Err(NotASession::PrefixTooShort { .. })),
                "{prefix}: {found:?}"
            );
        }
        assert!(detect(b"{\"type\":\"session\",\"id\":\"s\"}\n{\"typ", None, false).is_ok());
    }
}
