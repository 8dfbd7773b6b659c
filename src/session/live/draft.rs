//! Entries to append, of any family that can be written.

use leafline_import::{EntryKind, Family, MessageRole, opal, pi_omp};

use super::super::Session;
use crate::error::{Error, LiveError, Result, SessionError};

/// An entry to be appended, in the form of its session's family.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EntryDraft {
    /// An entry of pi's or omp's.
    PiOmp(pi_omp::Draft),
    /// A message of Opal's.
    Opal(opal::Draft),
}

impl From<pi_omp::Draft> for EntryDraft {
    fn from(draft: pi_omp::Draft) -> Self {
        Self::PiOmp(draft)
    }
}

impl From<opal::Draft> for EntryDraft {
    fn from(draft: opal::Draft) -> Self {
        Self::Opal(draft)
    }
}

impl From<pi_omp::DraftError> for Error {
    fn from(error: pi_omp::DraftError) -> Self {
        LiveError::InvalidEntry { problem: error.to_string() }.into()
    }
}

impl From<opal::WriteError> for Error {
    fn from(error: opal::WriteError) -> Self {
        LiveError::InvalidEntry { problem: error.to_string() }.into()
    }
}

impl EntryDraft {
    /// Whose message it is.
    pub(super) fn role(&self) -> MessageRole {
        match self {
            Self::PiOmp(draft) => draft.role(),
            Self::Opal(draft) => draft.role(),
        }
    }

    /// What sessions of the family do not have, if the entry is such a thing; `None` if it can be appended.
    fn unknown_to(&self, family: Family) -> Option<&'static str> {
        match (self, family) {
            (Self::PiOmp(_), Family::Pi | Family::Omp) | (Self::Opal(_), Family::Opal) => None,
            (Self::PiOmp(draft), family) => Some(match draft.kind() {
                EntryKind::Message if family.is_written() => "message in the form of pi's",
                EntryKind::Message => "appending",
                EntryKind::Unknown => "entry in the form of pi's",
                kind => kind.name(),
            }),
            (Self::Opal(_), family) if !family.is_written() => Some("appending"),
            (Self::Opal(_), _) => Some("message in the form of Opal's"),
        }
    }
}

impl Session {
    /// Fails if sessions of this family do not accept one of the entries.
    pub(super) fn refuse_foreign(&self, drafts: &[EntryDraft]) -> Result<()> {
        match drafts.iter().find_map(|draft| draft.unknown_to(self.reading.family)) {
            Some(operation) => Err(self.wrong_family(operation)),
            None => Ok(()),
        }
    }

    /// Fails if the session is not one of pi or omp.
    pub(super) fn only_pi_omp(&self, operation: &'static str) -> Result<()> {
        if self.reading.family.is_pi_omp() { Ok(()) } else { Err(self.wrong_family(operation)) }
    }

    /// Fails if the session is not one of Opal.
    pub(super) fn only_opal(&self, operation: &'static str) -> Result<()> {
        if self.reading.family == Family::Opal { Ok(()) } else { Err(self.wrong_family(operation)) }
    }

    pub(super) fn wrong_family(&self, operation: &'static str) -> Error {
        Error::Session(SessionError::WrongFamily {
            id: self.id.clone(),
            family: self.reading.family,
            operation,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_fits_the_sessions_of_its_family_alone() {
        let pi: EntryDraft = pi_omp::Draft::label("a", None).into();
        let message: EntryDraft = pi_omp::Draft::message(r#"{"role":"user"}"#).unwrap().into();
        let opal: EntryDraft = opal::Draft::user("Hi").into();
        let unknown = |family| [&pi, &message, &opal].map(|draft| draft.unknown_to(family));
        assert_eq!(unknown(Family::Pi), [None, None, Some("message in the form of Opal's")]);
        assert_eq!(unknown(Family::Omp), unknown(Family::Pi));
        assert_eq!(
            unknown(Family::Opal),
            [Some("label"), Some("message in the form of pi's"), None]
        );
        assert_eq!(unknown(Family::Claude), [Some("label"), Some("appending"), Some("appending")]);
    }
}
