//! A family, as an option names it.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use leafline::Family;

/// The families whose sessions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FamilyName {
    /// pi
    Pi,
    /// omp
    Omp,
    /// Opal
    Opal,
}

impl From<FamilyName> for Family {
    fn from(name: FamilyName) -> Self {
        match name {
            FamilyName::Pi => Self::Pi,
            FamilyName::Omp => Self::Omp,
            FamilyName::Opal => Self::Opal,
        }
    }
}

/// The name of any family.
pub(super) fn any_family() -> impl TypedValueParser<Value = Family> {
    let names = Family::ALL.iter().map(|family| family.name());
    PossibleValuesParser::new(names)
        .map(|name| name.parse().expect("the possible values are the families' names"))
}
