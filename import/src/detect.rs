//! Detects from a file's first bytes which family's session it is.

use crate::family::{Family, with_format};
use crate::format::Format;
use crate::start::Start;

/// Why a file holds no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotASession {
    /// It is empty.
    #[error("the file is empty")]
    Empty,
    /// The prefix ends before it shows the family.
    #[error("the first {bytes} bytes of the file do not show whose session it is")]
    PrefixTooShort {
        /// The number of bytes examined.
        bytes: usize,
    },
    /// It belongs to no family.
    #[error("not a session of {}: {reason}", Family::programs(Family::ALL, "or"))]
    Unknown {
        /// Why it does not belong to the first family, in words.
        reason: String,
    },
    /// It surely belongs to one family, or surely to none, and cannot be read.
    #[error("no session that can be read: {reason}")]
    Unreadable {
        /// Why, in words.
        reason: String,
    },
    /// It does not belong to the chosen family.
    #[error("not a session of {}: {reason}", Family::programs(&family.kin(), "or"))]
    OtherFamily {
        /// The chosen family.
        family: Family,
        /// Why it is none, in words.
        reason: String,
    },
}

/// Detects a file's family from its first bytes; a few hundred kilobytes are enough, usually far less.
///
/// `complete` says that `prefix` is the whole file. `choice` is the family that the caller chose; without one the rules
/// of each family apply ([`Format::detect`]), which are mutually exclusive.
///
/// ```
/// use leafline_import::{Family, detect};
///
/// let file = br#"{"type":"summary","summary":"Fix login","leafUuid":"c7f1"}"#;
/// assert_eq!(detect(file, None, true)?.family, Family::Claude);
///
/// let file = br#"{"metadata":{"title":"Fix auth bug"},"session_id":"sess-1","current_id":null}"#;
/// assert_eq!(detect(file, None, true)?.family, Family::Opal);
/// assert!(detect(file, Some(Family::Pi), true).is_err());
/// # Ok::<(), leafline_import::NotASession>(())
/// ```
///
/// # Errors
///
/// [`NotASession`], with the reason.
pub fn detect(prefix: &[u8], choice: Option<Family>, complete: bool) -> Result<Start, NotASession> {
    if prefix.is_empty() && complete {
        return Err(NotASession::Empty);
    }
    let asked = match &choice {
        Some(family) => std::slice::from_ref(family),
        None => Family::ALL,
    };
    let mut first_reason = None;
    let mut certain_reason = None;
    let mut is_undecided = false;
    for &family in asked {
        let detected = with_format!(family, F => F::detect(prefix, choice.is_some(), complete));
        match detected {
            Ok(start) => return Ok(start),
            Err(refusal) => {
                is_undecided |= refusal.is_undecided;
                if refusal.is_certain && choice.is_none() {
                    certain_reason = Some(refusal.reason);
                    continue;
                }
                first_reason.get_or_insert(refusal.reason);
            }
        }
    }
    if let Some(reason) = certain_reason {
        return Err(NotASession::Unreadable { reason });
    }
    Err(match (first_reason, choice) {
        (Some(reason), None) if !is_undecided => NotASession::Unknown { reason },
        (Some(reason), Some(family)) if !is_undecided => {
            NotASession::OtherFamily { family, reason }
        }
        _ => NotASession::PrefixTooShort { bytes: prefix.len() },
    })
}

impl Family {
    /// The family and its kin, by code.
    fn kin(self) -> Vec<Self> {
        Self::ALL.iter().copied().filter(|&other| self.is_kin_of(other)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(text: &str) -> Result<Family, NotASession> {
        detect(text.as_bytes(), None, true).map(|start| start.family)
    }

    #[test]
    fn each_familys_first_line() {
        let claude = r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user"}}"#;
        let opal = r#"{"metadata":{}}"#;
        let message = r#"{"id":"m","parent_id":null,"role":"user"}"#;
        assert_eq!(family(r#"{"type":"session","version":3,"id":"s"}"#), Ok(Family::Pi));
        assert_eq!(
            family(r#"{"type":"session","version":3,"id":"s","title":"x"}"#),
            Ok(Family::Omp)
        );
        assert_eq!(family(claude), Ok(Family::Claude));
        assert_eq!(family(&format!("{opal}\n{message}\n")), Ok(Family::Opal));
        assert_eq!(family(&format!("{{torn\n{claude}\n")), Ok(Family::Claude));
        assert_eq!(family(""), Err(NotASession::Empty));
        assert!(matches!(family("{\"a\":1}\n"), Err(NotASession::Unknown { .. })));
        assert!(matches!(family(" \n"), Err(NotASession::Unknown { .. })));
    }

    #[test]
    fn a_choice_asks_one_family() {
        let file = br#"{"type":"session","version":3,"id":"s"}"#;
        let asked = |choice| detect(file, Some(choice), true).map(|found| found.family);
        assert_eq!(asked(Family::Omp), Ok(Family::Omp));
        for family in [Family::Claude, Family::Opal] {
            assert!(
                matches!(asked(family), Err(NotASession::OtherFamily { family: of, .. }) if of == family)
            );
        }
    }

    #[test]
    fn the_reason_names_the_programs() {
        let reason = |choice| detect(b"{\"a\":1}\n", choice, true).unwrap_err().to_string();
        let begins =
            |choice, words: &str| assert!(reason(choice).starts_with(words), "{}", reason(choice));
        begins(
            None,
            "not a session of pi, omp, Claude Code, Opal or Codex: the first record, on line 1, has no type",
        );
        begins(Some(Family::Omp), "not a session of pi or omp: the first record");
        begins(Some(Family::Claude), "not a session of Claude Code: none of the first 1 records");
        begins(Some(Family::Opal), "not a session of Opal: line 1");
    }

    #[test]
    fn a_short_prefix_decides_nothing() {
        for prefix in ["{\"type\":\"sess", "{\"a\":1}\n{\"type\":\"us", "{oh}\n{"] {
            let found = detect(prefix.as_bytes(), None, false).map(|start| start.family);
            assert!(
                matches!(found, Err(NotASession::PrefixTooShort { .. })),
                "{prefix}: {found:?}"
            );
        }
        assert!(detect(b"{\"type\":\"session\",\"id\":\"s\"}\n{\"typ", None, false).is_ok());
    }
}
