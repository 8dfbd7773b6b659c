//! Which version of omp is followed.

use crate::ProgramVersion;

/// The first version that is taken for today's. In omp 14.9.9 the rules were still those of its documents; omp 17.2.15 has
/// resets and leaves turns out. Those between were not seen.
const TODAY: ProgramVersion = ProgramVersion::new(15, 0, 0);

/// The rules by which omp builds a context. Nothing in a session tells which version wrote it; therefore the newest rules
/// are followed unless a version is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Those of omp 14.9.9: every message of the path counts.
    Plain,
    /// Those of omp 18.2.3: resets, and turns and calls that are left out.
    Today,
}

impl Rules {
    /// The rules of a version; those of today's omp if none is named.
    pub(super) fn of(version: Option<ProgramVersion>) -> Self {
        match version {
            Some(version) if version < TODAY => Self::Plain,
            _ => Self::Today,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_left_out_from_version_15() {
        for (version, rules) in [
            ("13.19", Rules::Plain),
            ("14.9.9", Rules::Plain),
            ("15", Rules::Today),
            ("18.2.3", Rules::Today),
        ] {
            assert_eq!(Rules::of(Some(version.parse().unwrap())), rules, "{version}");
        }
        assert_eq!(Rules::of(None), Rules::Today);
    }
}
