//! Full text over all sessions.

use leafline::Store as Handle;
use leafline::search::{SearchIndex, SearchQuery};
use leafline::view::Role;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::objects::{SessionFilter, count, number};
use crate::store::Store;
use crate::work::{Result, Work, invalid};

/// Where a search looks, and how.
#[napi(object)]
#[derive(Default)]
pub struct SearchOptions {
    /// Only in this session: its id, or a unique beginning of it.
    pub session: Option<String>,
    /// In the sessions that this accepts; its order and its limit have no effect here.
    pub sessions: Option<SessionFilter>,
    /// Of these roles, as `user` or `assistant`; of all if there are none.
    pub roles: Option<Vec<String>>,
    /// Entries at this time or later, in milliseconds since 1970.
    #[napi(ts_type = "Time")]
    pub since: Option<i64>,
    /// Entries before this time.
    #[napi(ts_type = "Time")]
    pub until: Option<i64>,
    /// No more hits than these. Default: 20.
    pub limit: Option<i64>,
    /// Whether the index is searched as it is. Otherwise it is first brought in step with the store.
    pub no_update: Option<bool>,
}

/// An entry that was found.
#[napi(object)]
pub struct SearchHit {
    /// Its session's id.
    pub session: String,
    /// Its session's family.
    #[napi(ts_type = "Family")]
    pub family: String,
    /// Its session's title, or the beginning of the session's first prompt.
    pub title: Option<String>,
    /// Its session's working directory.
    pub cwd: Option<String>,
    /// Its id; absent if it has none.
    pub entry: Option<String>,
    /// Its ordinal in the session.
    pub ordinal: i64,
    /// Whom it is from.
    pub role: String,
    /// Its time in milliseconds since 1970.
    pub time: Option<i64>,
    /// How well it matches, by BM25: higher is better.
    pub score: f64,
    /// The part of its text that shows why it was found.
    pub snippet: String,
}

/// What an update of the index has done.
#[napi(object)]
pub struct IndexUpdate {
    /// Sessions that were new or had changed.
    pub sessions: i64,
    /// Entries that were added.
    pub entries: i64,
    /// Sessions that are gone from the store.
    pub removed: i64,
}

fn role(name: &str) -> Result<Role> {
    let found = Role::ALL.iter().copied().find(|role| role.name() == name);
    found.ok_or_else(|| invalid(format!("there is no role {name:?}")))
}

fn query(text: String, options: SearchOptions) -> Result<SearchQuery> {
    let mut query = SearchQuery::new(text);
    query.session = options.session;
    query.sessions = options.sessions.unwrap_or_default().filter()?;
    query.roles = options.roles.iter().flatten().map(|name| role(name)).collect::<Result<_>>()?;
    (query.since, query.until) = (options.since, options.until);
    if let Some(limit) = options.limit {
        query.limit = count(limit, "limit")?;
    }
    Ok(query)
}

fn search(store: &Handle, query: &SearchQuery, updates: bool) -> leafline::Result<Vec<SearchHit>> {
    let index = SearchIndex::open_or_create(store)?;
    if updates {
        index.update(|_| true)?;
    }
    let hits = index.search(query)?;
    Ok(hits.into_iter().map(SearchHit::from).collect())
}

impl From<leafline::search::SearchHit> for SearchHit {
    fn from(hit: leafline::search::SearchHit) -> Self {
        Self {
            session: hit.session,
            family: hit.family.name().to_owned(),
            title: hit.title,
            cwd: hit.cwd,
            entry: hit.entry,
            ordinal: number(hit.ordinal),
            role: hit.role.name().to_owned(),
            time: hit.time,
            score: f64::from(hit.score),
            snippet: hit.snippet.text,
        }
    }
}

#[napi]
impl Store {
    /// The entries that match best, the best one first. The text has words that an entry must all contain, `"phrases"`,
    /// `beginnings*`, and `-words` that it must not contain. Fails with `NO_WORDS` for a text without a word.
    #[napi(ts_return_type = "Promise<SearchHit[]>")]
    pub fn search(
        &self,
        text: String,
        options: Option<SearchOptions>,
    ) -> Result<AsyncTask<Work<Vec<SearchHit>>>> {
        let options = options.unwrap_or_default();
        let updates = options.no_update != Some(true);
        let query = query(text, options)?;
        Ok(self.spawn(move |store| search(store, &query, updates)))
    }

    /// Brings the index of `search` in step with the store.
    #[napi(ts_return_type = "Promise<IndexUpdate>")]
    pub fn update_search_index(&self) -> AsyncTask<Work<IndexUpdate>> {
        self.spawn(|store| {
            let update = SearchIndex::open_or_create(store)?.update(|_| true)?;
            Ok(IndexUpdate {
                sessions: number(update.sessions),
                entries: number(update.entries),
                removed: number(update.removed),
            })
        })
    }
}
