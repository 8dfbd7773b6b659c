//! Python's values as JSON text, and the other way round, by Python's own module `json`.

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::raise;

/// The JSON text of a value, on one line.
///
/// Characters are written as they are; only a text with a lone surrogate, of which there is no UTF-8, gets escapes.
pub(crate) fn dumps(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    let dumps = py.import("json")?.getattr("dumps")?;
    let options = PyDict::new(py);
    options.set_item("separators", (",", ":"))?;
    options.set_item("ensure_ascii", false)?;
    options.set_item("allow_nan", false)?;
    let text = dumps.call((value,), Some(&options))?.cast_into::<PyString>()?;
    match text.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(py) => {
            options.set_item("ensure_ascii", true)?;
            dumps.call((value,), Some(&options))?.extract()
        }
        Err(error) => Err(error),
    }
}

/// The value that a JSON text describes.
pub(crate) fn loads<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    // A file may have other bytes than UTF-8 in a text; its program reads them so, too.
    let text = String::from_utf8_lossy(text);
    py.import("json")?.call_method1("loads", (text,))
}

/// The facts of the library's own types.
pub(crate) fn facts<'py>(
    py: Python<'py>,
    value: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| {
        let problem = error.to_string();
        raise(leafline::error::LiveError::InvalidEntry { problem }.into())
    })?;
    loads(py, text.as_bytes())
}
