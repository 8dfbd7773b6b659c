//! Which version of pi is followed.

use crate::ProgramVersion;

/// The first version that edits contexts.
const EDITS: ProgramVersion = ProgramVersion::new(0, 87, 0);

/// The rules by which pi builds a context. Nothing in a session tells which version wrote it, except entries that older
/// versions do not know; therefore the newest rules are followed unless a version is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Those of pi 0.73.1, for all versions before 0.87.
    Plain,
    /// Those of pi 0.87.1: entries may edit the context, and content that is missing is empty.
    Edited,
}

impl Rules {
    /// The rules of a version; those of today's pi if none is named.
    pub(super) fn of(version: Option<ProgramVersion>) -> Self {
        match version {
            Some(version) if version < EDITS => Self::Plain,
            _ => Self::Edited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_count_from_version_0_87() {
        for (version, rules) in [
            ("0.73", Rules::Plain),
            ("0.86.9", Rules::Plain),
            ("0.87", Rules::Edited),
            ("1", Rules::Edited),
        ] {
            assert_eq!(Rules::of(Some(version.parse().unwrap())), rules, "{version}");
        }
        assert_eq!(Rules::of(None), Rules::Edited);
    }
}
