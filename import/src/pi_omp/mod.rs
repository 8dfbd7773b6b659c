//! What pi and omp share: the header and its versions, telling the two apart, migration, the facts of entries that an
//! index needs, and entries to be appended.
//!
//! A file is read as both programs read it (observed behaviour): split at `\n`; blank lines and lines that are not JSON
//! are skipped; the first parsed record must be the header.

mod context;
mod derived_id;
mod detect;
mod draft;
mod facts;
mod format;
mod forward;
mod header;
mod migrate;
mod persist;
mod positions;
mod reading;
mod usage;
mod version;
mod writing;

pub use derived_id::derived_id;
pub use detect::{Detection, NotASession, detect};
pub use draft::{Compaction, Draft, DraftError, Expected, Header, ParentId, Place};
use facts::milliseconds;
pub use facts::{
    LabelEffect, SettingsEffect, first_kept_entry_id, label_effect, message_text,
    message_timestamp, session_name, settings_effect, user_text,
};
pub use format::VersionMigration;
pub(crate) use format::{file_path, folder_name, is_file_path, start, view_message};
pub use forward::{ForwardReferences, forward_references};
pub use header::HeaderFacts;
pub(crate) use migrate::MADE_UP;
pub use migrate::{Migrator, MigratorState};
pub use persist::TRUNCATION_NOTICE;
pub(crate) use reading::recovered;
pub(crate) use usage::{may_state_usage, usage};
pub use version::HeaderVersion;
pub use writing::write_with_member;
