//! The public names by subject. The crate's root has only those that every program needs.

/// Files into the store: [`Store::import`](crate::Store::import), [`Store::sync`](crate::Store::sync) and, with the feature
/// `watch`, `Store::watch`.
///
/// ```
/// use leafline::Store;
/// use leafline::import::{FileReport, ImportObserver, ImportOptions, ImportStatus};
///
/// struct Failures(u64);
///
/// impl ImportObserver for Failures {
///     fn file(&mut self, report: &FileReport) {
///         self.0 += u64::from(report.status == ImportStatus::Failed);
///     }
/// }
///
/// # fn main() -> leafline::Result<()> {
/// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
/// let store = Store::in_memory()?;
/// let mut failures = Failures(0);
/// let totals = store.import(&[samples], &ImportOptions::default(), &mut failures)?;
/// assert_eq!(failures.0, totals.failed);
/// # Ok(())
/// # }
/// ```
pub mod import {
    pub use crate::catalog::import::{
        BesideReport, BesideStatus, BesideTotals, FileBehind, FileReport, FolderStanding,
        ImportObserver, ImportOptions, ImportStatus, ImportTotals, LastSeen, LeftOut, Recovery,
        Refusal,
    };
    pub use crate::catalog::programs::{ProgramFolder, program_folders};
    #[cfg(feature = "watch")]
    pub use crate::catalog::watch::Watch;
    pub use leafline_import::LeftOutReason;
}

/// Exports: one session by [`SessionReader::export`](crate::SessionReader::export) or
/// [`Store::export_file`](crate::Store::export_file), all of them by [`Store::export_all`](crate::Store::export_all),
/// which keeps a folder in step.
///
/// ```
/// use leafline::Store;
/// use leafline::export::ExportMode;
/// # use leafline::import::ImportOptions;
///
/// # fn main() -> leafline::Result<()> {
/// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
/// let store = Store::in_memory()?;
/// # store.import(&[samples], &ImportOptions::default(), &mut ())?;
/// let reader = store.reader("019c6605")?;
/// let mut file = Vec::new();
/// reader.export(&ExportMode::Exact, &mut file)?;
/// assert_eq!(file.len() as u64, reader.facts().bytes);
/// # Ok(())
/// # }
/// ```
pub mod export {
    pub use crate::catalog::export::{
        BesideExportTotals, ExportOptions, ExportOutcome, ExportReport, ExportTotals, KeptReason,
        Resumption, check_output,
    };
    pub use crate::session::ExportMode;
}

/// Lists of a store's sessions: which ones, and in what order. [`Store::list`](crate::Store::list) returns
/// [`SessionFacts`](crate::SessionFacts) without reading any line.
///
/// ```
/// use leafline::{Family, NewSession, Store};
/// use leafline::list::SessionFilter;
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// store.create_session(&NewSession::new(Family::Opal, "/work"))?;
/// assert_eq!(store.list(&SessionFilter::of_cwd("/work"))?.len(), 1);
/// assert_eq!(store.list(&SessionFilter::of_cwd("/home"))?.len(), 0);
/// # Ok(())
/// # }
/// ```
pub mod list {
    pub use crate::catalog::filter::{SessionFilter, SessionOrder};
    pub use crate::catalog::folder::{Folder, whole_directory};
    pub use crate::catalog::list::ReadableList;
    pub use crate::session::{SharedText, TypeFacts};
}

/// The same lists for session files that are not in a store. And the files that programs keep beside those that were imported:
/// [`SessionReader::files_beside`](crate::SessionReader::files_beside), which has an example.
///
/// ```
/// use leafline::files::SessionFiles;
/// use leafline::list::SessionFilter;
///
/// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
/// let files = SessionFiles::new([samples]).list(&SessionFilter::default());
/// for facts in &files.sessions {
///     println!("{}: {} messages", facts.path.display(), facts.messages);
/// }
/// # assert!(!files.sessions.is_empty());
/// ```
pub mod files {
    pub use crate::catalog::beside::FileBeside;
    pub use crate::catalog::files::{
        FileFacts, FileList, RecentSession, SessionFiles, UnreadableFile,
    };
}

/// What a session's program would send to the model at an entry:
/// [`SessionReader::build_context`](crate::SessionReader::build_context), which has an example, and
/// [`SessionReader::get_history`](crate::SessionReader::get_history), the entries of that context.
/// [`SessionReader::request`](crate::SessionReader::request) has the messages of the request that the program makes of it,
/// without what it adds when it runs: the system prompt, tools, reminders, the environment.
pub mod context {
    pub use leafline_import::conversation::{History, HistoryScope, PathEnd};
    pub use leafline_import::{
        ContextModel, ContextSettings, JsonText, NotAVersion, ProgramVersion,
    };

    pub use crate::session::{Context, ContextLeaf, ContextMessage, ContextProgram};
}

/// The tree of a session's entries, without the text of its lines:
/// [`SessionReader::get_tree`](crate::SessionReader::get_tree) and
/// [`SessionReader::get_folded_tree`](crate::SessionReader::get_folded_tree).
///
/// ```
/// use leafline::{Family, NewSession, Store};
/// use leafline::opal::Draft;
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
/// let first = session.append(Draft::user("Why is the build slow?"))?;
/// session.append(Draft::user("Profile the linker"))?;
/// session.branch(&first)?;
/// session.append(Draft::user("Use fewer crates"))?;
/// let tree = session.reader()?.get_tree()?;
/// assert_eq!((tree.nodes().len(), tree.branches()), (3, 2));
/// # Ok(())
/// # }
/// ```
pub mod tree {
    pub use crate::session::{
        Outline, OutlineEntry, OutlineReader, Segment, Tree, TreeNode, TreeRecord,
    };
}

/// What an entry of any family says: [`Entry::view`](crate::Entry::view).
///
/// ```
/// use leafline::view::Role;
/// use leafline::{Family, NewSession, Store};
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
/// let id = session.append(leafline::opal::Draft::user("Hello"))?;
/// let entry = session.get_entry(&id)?;
/// let view = entry.view();
/// assert_eq!((view.role, view.text().as_ref()), (Role::User, "Hello"));
/// # Ok(())
/// # }
/// ```
pub mod view {
    pub use leafline_import::view::{Part, Role, View};
}

/// Long sessions a page at a time: [`SessionReader::entries`](crate::SessionReader::entries),
/// [`SessionReader::path_backwards`](crate::SessionReader::path_backwards) and
/// [`SessionReader::entries_around`](crate::SessionReader::entries_around), which has an example.
pub mod page {
    pub use crate::session::{Page, PageLimit};
}

/// Writing to a session of any family: [`Session::append`](crate::Session::append) takes an [`EntryDraft`], into which
/// every family's draft converts. [`Persistence`](live::Persistence) says what is stored of it.
///
/// ```
/// use leafline::live::Persistence;
/// use leafline::omp::Draft;
/// use leafline::{Family, NewSession, Store};
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut new = NewSession::new(Family::Omp, "/work");
/// new.persistence = Some(Persistence::keep_everything());
/// let mut session = store.create_session(&new)?;
/// session.append(Draft::thinking_level_change("high"))?;
/// assert_eq!(store.sessions()?[0].entries, 1);
/// # Ok(())
/// # }
/// ```
///
/// [`EntryDraft`]: live::EntryDraft
pub mod live {
    pub use leafline_import::writing::{Drafted, EntryDraft, NotWritten, Rules};

    pub use crate::session::{AppendedLines, Persistence, RepeatedIds};
}

/// Space that is returned to the system: [`Store::compact_with`](crate::Store::compact_with).
pub mod compact {
    pub use crate::store::compacting::{CompactOptions, Compaction};
}

/// Copies of a whole store, made while others use it: [`Store::backup`](crate::Store::backup), which has an example.
pub mod backup {
    pub use crate::catalog::backup::{Backup, BackupOptions};
}

/// What is whole in a damaged store, in a new one: [`Store::salvage`](crate::Store::salvage), which has an example, and
/// [`Store::repair`](crate::Store::repair), which puts the new one in the place of the damaged one.
pub mod salvage {
    pub use crate::catalog::repair::{Repair, RepairOptions};
    pub use crate::catalog::salvage::{Salvage, SalvagedSession};
}

/// Checks of tables against lines, and of blobs against their hashes: [`Store::verify`](crate::Store::verify).
///
/// ```
/// # fn main() -> leafline::Result<()> {
/// let verification = leafline::Store::in_memory()?.verify()?;
/// assert!(verification.problems.is_empty());
/// # Ok(())
/// # }
/// ```
pub mod verify {
    pub use crate::session::{Finding, Verification};
}

/// Where the bytes are: [`Store::statistics`](crate::Store::statistics) and
/// [`Session::statistics`](crate::Session::statistics); what a deletion frees: [`Store::remove`](crate::Store::remove);
/// and what a session has used: [`SessionReader::usage_statistics`](crate::SessionReader::usage_statistics), which has
/// an example.
pub mod statistics {
    pub use crate::catalog::remove::Removed;
    pub use crate::catalog::statistics::{
        BesideStatistics, BlobStatistics, SessionStatistics, Statistics,
    };
    pub use crate::session::UsageStatistics;
    pub use crate::store::TableStatistics;
}

/// What the answers in all sessions have used and cost: [`Store::usage`](crate::Store::usage), which has an example.
pub mod usage {
    pub use crate::catalog::usage::{
        DayOf, NoPrices, Prices, UsageBy, UsageOptions, UsageReport, UsageRow, UsageSums,
    };
}

/// The prompts given to agents in all sessions: [`Store::history`](crate::Store::history).
/// [`PromptHistory`](prompts::PromptHistory) has an example.
pub mod prompts {
    pub use crate::catalog::programs::prompt_files;
    pub use crate::history::{HistoryEntry, HistoryTransfer, PromptHistory};
}

/// pi: its entries as drafts, and its `SessionManager`'s methods as traits. [`PiSession`](pi::PiSession) has an example.
pub mod pi {
    pub use leafline_import::pi_omp::{Compaction, Draft, DraftError};

    pub use crate::programs::pi::{PiReader, PiSession, PiStore};
}

/// omp: what it has beyond [`pi`], and each terminal's last session. [`OmpSession`](omp::OmpSession) and
/// [`Breadcrumbs`](omp::Breadcrumbs) have examples.
pub mod omp {
    pub use leafline_import::pi_omp::{Compaction, Draft, DraftError};

    pub use crate::catalog::breadcrumbs::{Breadcrumb, Breadcrumbs, terminal_id};
    pub use crate::programs::omp::{OmpReader, OmpSession};
}

/// Claude Code: its records as drafts, and the sessions of its agent kits: [`SessionStore`](claude::SessionStore).
///
/// ```
/// use leafline::{Family, NewSession, Store, claude};
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut session = store.create_session(&NewSession::new(Family::Claude, "/work"))?;
/// session.append(claude::Draft::user("Why is the build slow?"))?;
/// session.append_all(claude::Draft::assistant(
///     r#"{"role":"assistant","content":[
///         {"type":"text","text":"I look."},
///         {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"make -n"}}]}"#,
/// )?)?;
/// session.append(claude::Draft::tool_result("toolu_1", "cc -O3 main.c", false))?;
/// assert_eq!(store.sessions()?[0].entries, 4);
/// # Ok(())
/// # }
/// ```
pub mod claude {
    pub use leafline_import::claude::{Draft, DraftError};

    pub use crate::kits::claude::{
        SessionEntries, SessionKey, SessionStore, SessionSummary, StoredSession,
    };
}

/// Opal: its messages as drafts, its sessions' metadata, and its functions as traits. [`OpalSession`](opal::OpalSession) has
/// an example.
pub mod opal {
    pub use leafline_import::opal::{Draft, Metadata, ReplaceOptions, WriteError};

    pub use crate::programs::opal::{OpalReader, OpalSession};
}
