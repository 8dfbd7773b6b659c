//! Claude Code's agent kits: their `SessionStore`.

mod key;
mod listing;
mod session_store;
mod summary;

pub use self::key::SessionKey;
pub use self::listing::StoredSession;
pub use self::session_store::{SessionEntries, SessionStore};
pub use self::summary::SessionSummary;
