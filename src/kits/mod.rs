//! What kits for building agents ask of a store: their own interfaces to sessions.

pub(crate) mod claude;
