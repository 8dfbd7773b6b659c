//! The items that go through the pipeline to the writer.

use crossbeam_channel::Sender;

use super::report::FileReport;
use crate::session::index::prepare::Prepared;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{ImportedBytes, SessionRecord};
use crate::store::source_record::SourceRecord;
use leafline_import::leaf::LeafHint;

/// What the writer takes, in order.
pub(super) enum Item {
    /// A file begins.
    Begin(Box<FileStart>),
    /// Lines of the file.
    Lines(Box<Prepared>),
    /// Compressed bytes of the file as it was imported; only for a file that is migrated.
    Original(Vec<u8>),
    /// The file is complete.
    End(Box<FileEnd>),
    /// The file could not be read to its end.
    Abandon(std::io::Error),
    /// Everything so far must be durable before the sender is answered.
    Flush(Sender<()>),
}

/// A file's beginning.
pub(super) struct FileStart {
    pub(super) session: SessionKey,
    pub(super) record: SessionRecord,
    pub(super) report: FileReport,
    /// The session that this one replaces.
    pub(super) replaces: Option<Replaced>,
    /// The removed sessions that this one restores.
    pub(super) restores: Vec<SessionKey>,
    /// If it seems to be an agent's file: whether it certainly is.
    pub(super) is_agent: bool,
    /// What the file's header says about the leaf.
    pub(super) hint: LeafHint,
    /// The dictionary that its lines are compressed with.
    pub(super) dictionary: u32,
}

/// A session to be replaced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replaced {
    pub(super) session: SessionKey,
    /// Its revision when the file was compared with it.
    pub(super) revision: u64,
    pub(super) on_loss: OnLoss,
}

/// What to do if the session has something that the file lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnLoss {
    /// The two are merged if both continue the same beginning. Otherwise the file becomes a session of its own. If the
    /// session has several files, one of them may lack the last imported lines, which another one has added.
    Merge { is_of_path: bool },
    /// The file replaces the session all the same, and its report says what is lost.
    Accept,
    /// The session is damaged: there is nothing to compare the file with.
    Restore,
}

/// A file's end.
pub(super) struct FileEnd {
    pub(super) imported: ImportedBytes,
    /// Malformed lines that the migration dropped.
    pub(super) dropped: u64,
    /// The file as a source of the session, with its path.
    pub(super) source: Option<(Vec<u8>, SourceRecord)>,
}
