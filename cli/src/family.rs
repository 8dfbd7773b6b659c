//! The family, as an option.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use leafline::Family;

/// The value for "detect each file's family".
pub(super) const AUTO: &str = "auto";

/// A family, or detection per file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FamilyChoice(pub(super) Option<Family>);

/// The name of any family.
pub(super) fn any_family() -> impl TypedValueParser<Value = Family> {
    let names = Family::ALL.iter().map(|family| family.name());
    PossibleValuesParser::new(names).map(|name| named(&name))
}

/// The name of a family whose sessions can be written.
pub(super) fn written_family() -> impl TypedValueParser<Value = Family> {
    let written = Family::ALL.iter().filter(|family| family.is_written());
    PossibleValuesParser::new(written.map(value)).map(|name| named(&name))
}

/// The name of any family, or [`AUTO`].
pub(super) fn family_or_auto() -> impl TypedValueParser<Value = FamilyChoice> {
    let auto = PossibleValue::new(AUTO).help("Told by what each file holds");
    let values = std::iter::once(auto).chain(Family::ALL.iter().map(value));
    PossibleValuesParser::new(values).map(|name| FamilyChoice((name != AUTO).then(|| named(&name))))
}

fn value(family: &Family) -> PossibleValue {
    PossibleValue::new(family.name()).help(family.program())
}

fn named(name: &str) -> Family {
    name.parse().expect("the possible values are the families' names")
}
