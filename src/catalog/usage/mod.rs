//! What the answers in a store's sessions have used, and what they cost.

mod answers;
pub(crate) mod calendar;
mod model_name;
mod prices;
mod replays;
mod sums;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use leafline_import::Family;
use serde::Serialize;

use self::answers::{Asked, Counted, Identities, Models, read_answers};
pub use self::prices::{NoPrices, Prices};
use self::replays::Replays;
use self::sums::Sums;
pub(crate) use self::sums::add_costs;
pub use self::sums::{UsageReport, UsageRow, UsageSums};
use super::filter::{SessionFilter, Sieve};
use crate::error::{Error, Result};
use crate::session::count_usage;
use crate::session::view::View;
use crate::store::Store;
use crate::store::commit::{Batch, Edit};
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;
use crate::store::usage_record::UsageRecord;
use crate::store::usage_rows::UsageRows;

/// How often the usage of a session is counted again while others change it.
const ATTEMPTS: u32 = 4;

/// What a report's rows stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum UsageBy {
    /// A day each.
    #[default]
    Day,
    /// A week each, named by its Monday.
    Week,
    /// A month each.
    Month,
    /// A working directory each.
    Project,
    /// A model each.
    Model,
    /// A family of sessions each.
    Family,
    /// A session each, with the agents that it started.
    Session,
}

/// The day of a time in seconds since 1970, as the number of days since 1970-01-01.
pub type DayOf<'f> = &'f dyn Fn(i64) -> i64;

/// Which answers are counted, and how.
pub struct UsageOptions<'f> {
    /// Of the sessions of this family, or of these working directories: `family`, `cwd` and `below` of a filter.
    pub sessions: SessionFilter,
    /// Answers at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Answers before this time.
    pub until: Option<i64>,
    /// What the rows stand for.
    pub by: UsageBy,
    /// Which day a time is on; in UTC by default.
    pub day_of: Option<DayOf<'f>>,
    /// What tokens cost where the program does not say it.
    pub prices: Prices,
    /// Whether the lines of sessions that are not counted yet are read, so that they are; they are by default. Otherwise the
    /// report is without them, and names them.
    pub reads_lines: bool,
}

impl Default for UsageOptions<'_> {
    fn default() -> Self {
        Self {
            sessions: SessionFilter::default(),
            since: None,
            until: None,
            by: UsageBy::default(),
            day_of: None,
            prices: Prices::built_in(),
            reads_lines: true,
        }
    }
}

impl std::fmt::Debug for UsageOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("UsageOptions").field("by", &self.by).finish_non_exhaustive()
    }
}

/// What a report says of a session.
#[derive(Debug, Clone)]
struct Described {
    id: String,
    family: Family,
    project: Option<String>,
    title: Option<String>,
    /// The place of the session that started it, if it is an agent's and that one is asked about too.
    parent: Option<usize>,
}

/// The sessions that are asked about, in the order in which they came into the store.
#[derive(Debug, Default)]
struct Sessions {
    places: BTreeMap<SessionKey, (usize, Asked)>,
    described: Vec<Described>,
    /// Ids of those whose records cannot be read.
    unreadable: Vec<String>,
}

impl Store {
    /// What the answers of the model have used, in all sessions that the options choose: tokens, and what they cost.
    ///
    /// An answer counts once, however many records and sessions repeat it. What an agent used counts to the session that
    /// started it if the rows stand for sessions. What the program wrote as cost is taken; other answers are priced.
    ///
    /// It reads the table of usage, and no line, unless sessions are not counted yet: those that a salvage took over, and
    /// those whose rewrite has changed it. They are counted first, and if the store can be written, that is kept.
    ///
    /// ```
    /// use leafline::Store;
    /// use leafline::usage::UsageOptions;
    /// # use leafline::import::ImportOptions;
    ///
    /// # fn main() -> leafline::Result<()> {
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// let store = Store::in_memory()?;
    /// # store.import(&[samples], &ImportOptions::default(), &mut ())?;
    /// let report = store.usage(&UsageOptions::default())?;
    /// for day in &report.rows {
    ///     println!("{}: {} answers, ${:.2}", day.name, day.sums.answers, day.sums.cost);
    /// }
    /// assert!(report.total.cost > 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged beyond single sessions, which the report names.
    pub fn usage(&self, options: &UsageOptions<'_>) -> Result<UsageReport> {
        let mut snapshot = self.snapshot_to_read()?;
        let mut rows = snapshot.usage_rows()?;
        let (mut sessions, mut identities) = read_both(&snapshot, &rows, &options.sessions)?;
        let mut counted = Counted::new();
        let is_asked = |key: &SessionKey| sessions.places.contains_key(key);
        let lacking: BTreeSet<SessionKey> =
            identities.not_counted.iter().copied().filter(is_asked).collect();
        if options.reads_lines && !lacking.is_empty() {
            let damaged = self.count_lacking(lacking, &mut counted)?;
            snapshot = self.snapshot_to_read()?;
            rows = snapshot.usage_rows()?;
            (sessions, identities) = read_both(&snapshot, &rows, &options.sessions)?;
            sessions.leave_out(damaged);
            identities.add(&counted);
        }
        let not_counted = sessions.ids_of(&identities.not_counted);
        let codex = sessions.places.iter().filter(|(_, (place, _))| {
            sessions.described.get(*place).is_some_and(|one| one.family.forks_repeat_totals())
        });
        let codex = codex.map(|(key, (_, asked))| (*key, asked));
        let replays = Replays::find(&snapshot, &counted, codex)?;
        let mut models = Models::default();
        let mut sums = Sums::new(options, &sessions.described);
        let damaged = read_answers(
            &rows,
            &sessions.places,
            (&counted, &identities),
            replays,
            &mut models,
            |found, names| {
                sums.add(found, names);
            },
        )?;
        for key in damaged.keys() {
            let place = sessions.places.get(key).map(|(place, _)| *place);
            let described = place.and_then(|place| sessions.described.get(place));
            sessions.unreadable.extend(described.map(|described| described.id.clone()));
        }
        let unreadable = sessions.unreadable;
        Ok(UsageReport { unreadable, not_counted, ..sums.report(&models.names) })
    }

    /// Counts the usage of sessions; what cannot be kept goes to `counted`. Returns those that are damaged.
    fn count_lacking(
        &self,
        lacking: BTreeSet<SessionKey>,
        counted: &mut Counted,
    ) -> Result<Vec<SessionKey>> {
        let mut damaged = Vec::new();
        for key in lacking {
            match self.count_usage_of(key) {
                Ok(Some(rows)) => drop(counted.insert(key, rows)),
                Ok(None) => {}
                Err(Error::Corrupted(_)) => damaged.push(key),
                Err(error) => return Err(error),
            }
        }
        Ok(damaged)
    }

    /// Counts the usage of a session from its lines, and keeps that if the store can be written. Returns the rows if they
    /// could not be kept.
    fn count_usage_of(&self, key: SessionKey) -> Result<Option<Vec<(u64, UsageRecord)>>> {
        let mut attempts = 0;
        loop {
            let snapshot = self.snapshot()?;
            let Some(record) = snapshot.session(key)? else { return Ok(None) };
            let rows = count_usage(View::new(snapshot.rows(key), &record))?;
            attempts += 1;
            if self.is_read_only() || attempts > ATTEMPTS {
                return Ok(Some(rows));
            }
            let mut batch = Batch::default();
            let mut edit = Edit::new(&mut batch, key, &record);
            let mut into = edit.rows(&mut batch);
            into.reset_usage();
            for (number, row) in &rows {
                into.put_usage(*number, row);
            }
            // A revision of its own lets a backup see that the session's rows are others.
            edit.note_facts(&mut batch, record);
            if self.commit(batch)?.conflicts.is_empty() {
                return Ok(None);
            }
        }
    }
}

/// Reads the sessions and their answers' identities, side by side if there can be another thread: most of the time of a report
/// goes into these two.
fn read_both(
    snapshot: &Snapshot,
    rows: &UsageRows,
    filter: &SessionFilter,
) -> Result<(Sessions, Identities)> {
    std::thread::scope(|scope| {
        let beside = std::thread::Builder::new().spawn_scoped(scope, || Identities::of(rows));
        let sessions = Sessions::find(snapshot, filter);
        let identities = match beside {
            Ok(beside) => beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Identities::of(rows),
        };
        Ok((sessions?, identities?))
    })
}

impl Sessions {
    /// The ids of sessions.
    fn ids_of(&self, keys: &BTreeSet<SessionKey>) -> Vec<String> {
        let places = keys.iter().filter_map(|key| self.places.get(key));
        let described = places.filter_map(|(place, _)| self.described.get(*place));
        described.map(|described| described.id.clone()).collect()
    }

    /// Reports sessions as unreadable, and asks no more about them.
    fn leave_out(&mut self, damaged: Vec<SessionKey>) {
        for key in damaged {
            if let Some((place, _)) = self.places.remove(&key) {
                self.unreadable.extend(self.described.get(place).map(|one| one.id.clone()));
            }
        }
    }

    fn find(snapshot: &Snapshot, filter: &SessionFilter) -> Result<Self> {
        let sieve = Sieve::new(filter);
        let mut found = Self::default();
        let mut ids: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut parents: Vec<(usize, String)> = Vec::new();
        snapshot.each_session(|row| {
            let row = match row {
                Ok(row) => row,
                Err(row) => {
                    found.unreadable.push(String::from_utf8_lossy(&row.address).into_owned());
                    return Ok(());
                }
            };
            let Ok(record) = row.listed() else {
                found.unreadable.push(snapshot.id_of(row.key())?);
                return Ok(());
            };
            if !sieve.takes_place(&record) {
                return Ok(());
            }
            let place = found.described.len();
            ids.entry(record.external_id.to_vec()).or_insert(place);
            let is_agent = record.agent.is_some();
            if let Some(parent) = record.parent_session.filter(|_| is_agent) {
                parents.push((place, parent.to_owned()));
            }
            let asked = Asked { is_agent, created: record.created, ended: record.modified };
            found.places.insert(row.key(), (place, asked));
            found.described.push(Described::of(&record));
            Ok(())
        })?;
        for (place, parent) in parents {
            let parent = ids.get(parent.as_bytes()).copied().filter(|parent| *parent != place);
            if let Some(described) = found.described.get_mut(place) {
                described.parent = parent;
            }
        }
        Ok(found)
    }
}

impl Described {
    fn of<Rest>(record: &SessionRecord<&str, &[u8], Rest>) -> Self {
        Self {
            id: record.borrowed_id().into_owned(),
            family: record.known_family(),
            project: record.directory().map(str::to_owned),
            title: record.title.or(record.first_prompt).map(str::to_owned),
            parent: None,
        }
    }
}
