//! Which version of pi is followed.

use crate::ProgramVersion;

/// The first version that edits contexts.
const EDITS: ProgramVersion = ProgramVersion::new(0, 87, 0);

/// The first version that sends no thinking of another model. Of the versions that were asked, 1.0.3 sends it as text and
/// 1.3.0 does not send it.
const DROPS_THINKING: ProgramVersion = ProgramVersion::new(1, 3, 0);

/// The rules by which pi builds a context. Nothing in a session tells which version wrote it, except entries that older
/// versions do not know; therefore the newest rules are followed unless a version is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Rules {
    /// Those of pi 0.73.1, for all versions before 0.87.
    Plain,
    /// Those of pi 0.87.1, for all versions before 1.3: entries may edit the context, and content that is missing is
    /// empty.
    Edited,
    /// Those of pi 1.6.0: the same contexts, and requests without another model's thinking.
    Today,
}

impl Rules {
    /// The rules of a version; those of today's pi if none is named.
    pub(super) fn of(version: Option<ProgramVersion>) -> Self {
        match version {
            Some(version) if version < EDITS => Self::Plain,
            Some(version) if version < DROPS_THINKING => Self::Edited,
            _ => Self::Today,
        }
    }

    /// Whether entries may edit the context, and conversations have system messages.
    pub(in super::super) fn edits(self) -> bool {
        self >= Self::Edited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_follow_the_version() {
        for (version, rules) in [
            ("0.73", Rules::Plain),
            ("0.86.9", Rules::Plain),
            ("0.87", Rules::Edited),
            ("1.0.3", Rules::Edited),
            ("1.3", Rules::Today),
            ("1.6.0", Rules::Today),
            ("2", Rules::Today),
        ] {
            assert_eq!(Rules::of(Some(version.parse().unwrap())), rules, "{version}");
        }
        assert_eq!(Rules::of(None), Rules::Today);
    }
}
