//! Which version of omp is followed.

use crate::ProgramVersion;

/// The first version that leaves turns out, as far as it is known. In omp 14.9.9 the rules were still those of its
/// documents; omp 17.2.15 has resets and leaves turns out. Those between were not seen.
const RESETS: ProgramVersion = ProgramVersion::new(15, 0, 0);

/// The first version with today's rules, as far as it is known: omp 18.2.9 has those before, omp 18.3.4 today's, and those
/// between cannot be had.
const TODAY: ProgramVersion = ProgramVersion::new(18, 3, 0);

/// The rules by which omp builds a context. Nothing in a session tells which version wrote it; therefore the newest rules
/// are followed unless a version is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Those of omp 14.9.9: every message of the path counts.
    Plain,
    /// Those of omp 18.2.3: resets, and turns and calls that are left out.
    Resets,
    /// Those of omp 18.3.4: the same, but for summaries that Anthropic's API made.
    Today,
}

impl Rules {
    /// The rules of a version; those of today's omp if none is named.
    pub(super) fn of(version: Option<ProgramVersion>) -> Self {
        match version {
            Some(version) if version < RESETS => Self::Plain,
            Some(version) if version < TODAY => Self::Resets,
            _ => Self::Today,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_follow_the_version() {
        for (version, rules) in [
            ("13.19", Rules::Plain),
            ("14.9.9", Rules::Plain),
            ("15", Rules::Resets),
            ("18.2.9", Rules::Resets),
            ("18.3.4", Rules::Today),
        ] {
            assert_eq!(Rules::of(Some(version.parse().unwrap())), rules, "{version}");
        }
        assert_eq!(Rules::of(None), Rules::Today);
    }
}
