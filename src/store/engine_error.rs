//! The engine's errors, wrapped so that the engine's types are not part of the library's.

use std::io;

use super::pages::{Damage, Problem};
use crate::error::Error;

/// A failure of the engine that keeps the store's file. Its source is the engine's own error.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EngineError(Box<dyn std::error::Error + Send + Sync>);

impl EngineError {
    /// The system's error, if the system failed to read or write the store's file.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self.0.downcast_ref()? {
            redb::Error::Io(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the system refused something, such as a lock. Any other failure is damage of the store.
    pub fn is_refusal(&self) -> bool {
        matches!(self.0.downcast_ref(), Some(redb::Error::Io(_) | redb::Error::Unsupported))
    }
}

fn of_engine(error: redb::Error) -> Error {
    if let redb::Error::Io(source) = &error
        && let Some(damage) = source.get_ref().and_then(|source| source.downcast_ref::<Damage>())
    {
        let place = format!("byte {}", damage.at);
        return Problem::from(*damage).at("engine", place).into();
    }
    Error::Engine(EngineError(Box::new(error)))
}

macro_rules! engine_errors {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Error {
            fn from(error: $kind) -> Self {
                of_engine(redb::Error::from(error))
            }
        }
    )*};
}

engine_errors!(
    redb::CommitError,
    redb::CompactionError,
    redb::CursorError,
    redb::DatabaseError,
    redb::Error,
    redb::StorageError,
    redb::TableError,
    redb::TransactionError
);

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn the_system_s_error_is_found() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let error = Error::from(redb::StorageError::Io(full()));
        assert!(error.is_for_want_of_room());
        assert_eq!(error.to_string(), format!("store engine: {}", redb::Error::Io(full())));
        let Error::Engine(engine) = error else { panic!("an error of the engine") };
        assert_eq!(engine.io_error().unwrap().kind(), io::ErrorKind::StorageFull);
        let damage = Error::from(redb::StorageError::Corrupted("page".to_owned()));
        assert!(!damage.is_for_want_of_room() && damage.source().is_some());
    }
}
