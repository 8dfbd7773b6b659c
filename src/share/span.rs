//! Which part of a session's tree is written.

use super::ShareOptions;
use crate::error::{Error, ExportError, Result};
use crate::session::{Outline, SessionReader};

/// Where a conversation begins and ends, as ordinals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    /// The entry to begin at; `None` for the root.
    pub(super) from: Option<u64>,
    /// The last entry of the way on; `None` if there is no leaf.
    pub(super) end: Option<u64>,
    /// Whether nothing behind that is written.
    pub(super) is_cut: bool,
}

impl Span {
    pub(super) fn of(
        reader: &SessionReader,
        options: &ShareOptions,
        outline: &Outline,
    ) -> Result<Self> {
        let place = |id: &Option<String>| {
            let found = id.as_deref().map(|id| reader.view().named(id)).transpose();
            Ok::<_, Error>(found?.map(crate::store::ordinal::Ordinal::raw))
        };
        let (from, to) = (place(&options.from)?, place(&options.to)?);
        match (from, to) {
            (Some(from), Some(end)) if !outline.leads_to(from, end) => {
                let id = |id: &Option<String>| id.clone().unwrap_or_default();
                let (entry, to) = (id(&options.from), id(&options.to));
                Err(Error::Export(ExportError::NotOnPath { session: reader.id(), entry, to }))
            }
            (from, Some(end)) => Ok(Self { from, end: Some(end), is_cut: true }),
            (Some(entry), None) => {
                Ok(Self { from, end: outline.end_through(entry), is_cut: false })
            }
            (None, None) => Ok(Self { from, end: outline.leaf(), is_cut: false }),
        }
    }
}
