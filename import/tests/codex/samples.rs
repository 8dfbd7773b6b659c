//! The samples.
