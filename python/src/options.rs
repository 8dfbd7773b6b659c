//! What callers name by words.

use leafline::Family;
use leafline::export::ExportMode;
use leafline::list::{SessionFilter, SessionOrder};
use leafline::view::Role;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The family of this name.
pub(crate) fn family(name: Option<&str>) -> PyResult<Option<Family>> {
    let parse = |name: &str| name.parse::<Family>();
    name.map(parse).transpose().map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The form of an export by its name.
pub(crate) fn mode(name: &str) -> PyResult<ExportMode> {
    ExportMode::named(name).ok_or_else(|| {
        let problem = format!("{name:?} is no mode; there are current, exact, original, portable");
        PyValueError::new_err(problem)
    })
}

/// The roles of these names.
pub(crate) fn roles(names: Vec<String>) -> PyResult<Vec<Role>> {
    let role = |name: String| {
        let found = Role::ALL.iter().copied().find(|role| role.name() == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
            PyValueError::new_err(format!("{name:?} is no role; there are {}", known.join(", ")))
        })
    };
    names.into_iter().map(role).collect()
}

/// Which sessions a list has.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Filter {
    family: Option<String>,
    cwd: Option<String>,
    below: Option<String>,
    since: Option<i64>,
    until: Option<i64>,
    text: Option<String>,
    without_agents: bool,
    order: String,
    limit: Option<usize>,
}

impl TryFrom<Filter> for SessionFilter {
    type Error = PyErr;

    fn try_from(filter: Filter) -> PyResult<Self> {
        let order = match &*filter.order {
            "modified" => SessionOrder::Modified,
            "created" => SessionOrder::Created,
            "title" => SessionOrder::Title,
            "size" => SessionOrder::Size,
            other => {
                let problem =
                    format!("{other:?} is no order; there are modified, created, title, size");
                return Err(PyValueError::new_err(problem));
            }
        };
        Ok(Self {
            family: family(filter.family.as_deref())?,
            cwd: filter.cwd,
            below: filter.below,
            since: filter.since,
            until: filter.until,
            text: filter.text,
            without_agents: filter.without_agents,
            order,
            limit: filter.limit,
        })
    }
}
