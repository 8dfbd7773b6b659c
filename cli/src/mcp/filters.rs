//! What several tools are asked in the same words.

use std::path::Path;

use leafline::Family;
use leafline::list::SessionFilter;
use leafline::search::SearchIndex;
use leafline::view::Role;
use schemars::{Schema, SchemaGenerator, json_schema};

use super::refusal::Refusal;
use crate::{directory, time};

/// The names of the families, for a schema.
pub(super) fn families(_: &mut SchemaGenerator) -> Schema {
    names(Family::ALL.iter().map(|family| family.name()))
}

/// The names of the roles that can be searched, for a schema.
pub(super) fn roles(_: &mut SchemaGenerator) -> Schema {
    names(SearchIndex::ROLES.iter().map(|role| role.name()))
}

fn names<'n>(names: impl Iterator<Item = &'n str>) -> Schema {
    json_schema!({ "type": "string", "enum": names.collect::<Vec<_>>() })
}

/// The sessions of a program and below a directory.
///
/// # Errors
///
/// If the program or the directory is none.
pub(super) fn sessions(family: Option<&str>, cwd: Option<&str>) -> Result<SessionFilter, Refusal> {
    Ok(SessionFilter {
        family: family.map(family_named).transpose()?,
        below: cwd.map(|cwd| directory::whole(Path::new(cwd))).transpose()?,
        ..SessionFilter::default()
    })
}

fn family_named(name: &str) -> Result<Family, Refusal> {
    let known = Family::ALL.iter().find(|family| family.name() == name);
    let all = || Family::ALL.iter().map(|family| family.name()).collect::<Vec<_>>().join(", ");
    known
        .copied()
        .ok_or_else(|| Refusal::wrong(format!("family is {name:?}; it is one of {}", all())))
}

/// The role of this name.
///
/// # Errors
///
/// If it is none that can be searched.
pub(super) fn role(name: &str) -> Result<Role, Refusal> {
    let roles = SearchIndex::ROLES;
    let known = roles.iter().find(|role| role.name() == name);
    let all = || roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
    known
        .copied()
        .ok_or_else(|| Refusal::wrong(format!("role is {name:?}; it is one of {}", all())))
}

/// A time, in milliseconds since 1970.
///
/// # Errors
///
/// If it is none.
pub(super) fn moment(name: &str, time: Option<&str>) -> Result<Option<i64>, Refusal> {
    let moment = |time| time::moment(time).map_err(|why| Refusal::wrong(format!("{name}: {why}")));
    time.map(moment).transpose()
}

/// A number of things to list.
///
/// # Errors
///
/// If it is none at all, or more than `most`.
pub(super) fn limit(asked: Option<usize>, usual: usize, most: usize) -> Result<usize, Refusal> {
    let limit = asked.unwrap_or(usual);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    Err(Refusal::wrong(format!("limit is {limit}; give a number from 1 to {most}")))
}
