//! Searching.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use leafline_import::Family;
use leafline_import::view::Role;
use tantivy::collector::TopDocs;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, Occur, PhrasePrefixQuery, PhraseQuery, Query,
    TermQuery,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Order, Searcher, Term};

use super::SearchIndex;
use super::filter::{Filter, Filtered};
use super::passages::passages;
use super::query::{Clause, clauses};
use super::schema::{ORDINAL, SESSION, TIME};
use super::snippet::{Snippet, snippet};
use super::update::{DamagedSession, role_number};
use crate::catalog::filter::SessionFilter;
use crate::error::{Corruption, Error, Result, SearchError};
use crate::session::Entry;
use crate::session::view::View;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// The default limit of a search.
const USUAL_LIMIT: usize = 20;

/// How many words with one beginning are ranked as words; if there are more, entries with one of them are found,
/// unranked.
const MOST_RANKED: usize = 256;

/// How many words may end a phrase whose last word is only a beginning.
const MOST_ENDINGS: u32 = 4096;

/// What is searched for.
///
/// `text` has words that an entry must all contain, in any order: `migration error`. `"no such file"` are words in this
/// order, `migrat*` is the beginning of a word, also in a phrase (`"cannot open mig*"`), and `-test` excludes the
/// entries that contain a word. Upper and lower case are equal, and so are letters with and without accents. Several
/// words written together, such as `build_context`, are words in this order.
/// and has several words, such as `build_context`, is words in this order.
///
/// ```
/// use leafline::list::SessionFilter;
/// use leafline::search::SearchQuery;
/// use leafline::view::Role;
///
/// let query = SearchQuery {
///     roles: vec![Role::User, Role::Assistant],
///     sessions: SessionFilter { below: Some("/work/shop".to_owned()), ..SessionFilter::default() },
///     ..SearchQuery::new("migrat* -test")
/// };
/// # let _ = query;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words.
    pub text: String,
    /// Only in this session: its id, or a unique beginning of it.
    pub session: Option<String>,
    /// In the sessions that this accepts; its order and its limit have no effect here.
    pub sessions: SessionFilter,
    /// Of these roles; of all if there are none.
    pub roles: Vec<Role>,
    /// Entries at this time or later, in milliseconds since 1970; entries without a time are excluded.
    pub since: Option<i64>,
    /// Entries before this time.
    pub until: Option<i64>,
    /// Which hits come first.
    pub order: SearchOrder,
    /// No more hits than these.
    pub limit: usize,
}

/// Which hits of a search come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchOrder {
    /// The best, by BM25.
    #[default]
    Best,
    /// The newest. Entries without a time are left out. The text may have no words: then all entries that the other members
    /// accept are found.
    Newest,
}

impl SearchQuery {
    /// A search in all sessions, for the best 20 hits.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            session: None,
            sessions: SessionFilter::default(),
            roles: Vec::new(),
            since: None,
            until: None,
            order: SearchOrder::Best,
            limit: USUAL_LIMIT,
        }
    }
}

/// An entry that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SearchHit {
    /// Its session's id.
    pub session: String,
    /// Its session's family.
    pub family: Family,
    /// Its session's title, or the beginning of the session's first prompt.
    pub title: Option<String>,
    /// Its session's working directory.
    pub cwd: Option<String>,
    /// Its id; `None` if it has none.
    pub entry: Option<String>,
    /// Its number in the session, from 0; see [`Entry::ordinal`].
    pub ordinal: u64,
    /// Whom it is from.
    pub role: Role,
    /// Its time in milliseconds since 1970.
    pub time: Option<i64>,
    /// How well it matches, by BM25: higher is better; 0 if the newest were asked for.
    pub score: f32,
    /// The part of its text that shows why it was found.
    pub snippet: Snippet,
}

/// The entries that were found, and what could not be read of the store.
#[derive(Debug)]
#[non_exhaustive]
pub struct SearchHits {
    /// The entries, the best one first.
    pub hits: Vec<SearchHit>,
    /// Sessions of which an entry was found that is damaged, and left out.
    pub damaged: Vec<DamagedSession>,
}

impl SearchIndex {
    /// The entries that match a query best, the best one first; or the newest ones, if the query's order says so.
    ///
    /// Entries added since the last [`Self::update`] are not found; those that are gone from the store are left out.
    ///
    /// # Errors
    ///
    /// [`SearchError::NoWords`] for a text without a word to search for, unless the newest entries are asked for;
    /// [`SessionError::NotFound`](crate::error::SessionError::NotFound) and
    /// [`SessionError::Ambiguous`](crate::error::SessionError::Ambiguous) for a session; [`SearchError::Index`] if the
    /// index cannot be read; [`Error::Corrupted`] if an entry that is found is damaged in the store.
    pub fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>> {
        let found = self.search_readable(query)?;
        match found.damaged.into_iter().next() {
            Some(DamagedSession { damage, .. }) => Err(damage.into()),
            None => Ok(found.hits),
        }
    }

    /// Does what [`Self::search`] does, and leaves entries out that are damaged in the store: their sessions are named.
    ///
    /// # Errors
    ///
    /// Those of [`Self::search`].
    pub fn search_readable(&self, query: &SearchQuery) -> Result<SearchHits> {
        let clauses = clauses(&query.text);
        let is_for_all = query.order == SearchOrder::Newest && clauses.is_empty();
        if !is_for_all && clauses.iter().all(|clause| clause.is_excluded) {
            return Err(Error::Search(SearchError::NoWords { query: query.text.clone() }));
        }
        let session = match &query.session {
            Some(id) => Some(self.store.session(id)?.key()),
            None => None,
        };
        let filter = self.filter(query)?;
        let searcher = self.searcher()?;
        let asked = self.asked(&searcher, &clauses, session)?;
        let snapshot = self.store.snapshot_to_read()?;
        let mut hits = Vec::new();
        let mut damaged: BTreeMap<SessionKey, Corruption> = BTreeMap::new();
        let mut skip = 0;
        while hits.len() < query.limit {
            // Entries that are gone from the store make room for others.
            let wanted = query.limit - hits.len();
            let found = self.top(&searcher, &*asked, &filter, query.order, (skip, wanted))?;
            for &(score, address) in &found {
                let Some(place) = self.place_of(&searcher, address)? else { continue };
                match hit_at(&snapshot, place, score, &clauses) {
                    Err(Error::Corrupted(damage)) => drop(damaged.insert(place.0, damage)),
                    hit => hits.extend(hit?),
                }
            }
            if found.len() < wanted {
                break;
            }
            skip += wanted;
        }
        let damaged = damaged.into_iter().map(|(session, damage)| {
            Ok(DamagedSession { session: snapshot.id_of(session)?, damage })
        });
        Ok(SearchHits { hits, damaged: damaged.collect::<Result<_>>()? })
    }

    fn filter(&self, query: &SearchQuery) -> Result<Filter> {
        let anywhere = SessionFilter {
            order: query.sessions.order,
            limit: query.sessions.limit,
            ..SessionFilter::default()
        };
        let sessions = if query.sessions == anywhere {
            None
        } else {
            Some(Arc::new(self.store.keys_of(&query.sessions)?))
        };
        let roles = query.roles.iter().map(|role| role_number(*role)).collect();
        let any_time = (query.order == SearchOrder::Newest).then_some(i64::MIN);
        Ok(Filter {
            sessions,
            roles: Some(roles).filter(|roles: &Vec<u64>| !roles.is_empty()),
            since: query.since.or(any_time),
            until: query.until,
        })
    }

    fn top(
        &self,
        searcher: &Searcher,
        asked: &dyn Query,
        filter: &Filter,
        order: SearchOrder,
        (skip, wanted): (usize, usize),
    ) -> Result<Vec<(f32, DocAddress)>> {
        // The collector makes room for as many as it is asked for. It takes no limit of 0.
        let all = usize::try_from(searcher.num_docs()).unwrap_or(usize::MAX);
        let top = TopDocs::with_limit(wanted.min(all).max(1)).and_offset(skip);
        if order == SearchOrder::Newest {
            let top = top.order_by_fast_field::<i64>(TIME, Order::Desc);
            let found =
                searcher.search(asked, &Filtered { filter: filter.clone(), collector: top });
            let found = found.map_err(|error| self.failed(&error))?;
            return Ok(found.into_iter().map(|(_, address)| (0.0, address)).collect());
        }
        let top = top.order_by_score();
        let found = if filter.takes_all() {
            searcher.search(asked, &top)
        } else {
            searcher.search(asked, &Filtered { filter: filter.clone(), collector: top })
        };
        found.map_err(|error| self.failed(&error))
    }

    /// The session and the line of a document.
    fn place_of(
        &self,
        searcher: &Searcher,
        address: DocAddress,
    ) -> Result<Option<(SessionKey, Ordinal)>> {
        let columns = searcher.segment_reader(address.segment_ord).fast_fields();
        let value = |name| -> Result<Option<u64>> {
            let column = columns.u64(name).map_err(|error| self.failed(&error))?;
            Ok(column.first(address.doc_id))
        };
        let place = value(SESSION)?.zip(value(ORDINAL)?);
        Ok(place.map(|(session, ordinal)| (SessionKey::new(session), Ordinal::new(ordinal))))
    }

    /// The query for the index.
    fn asked(
        &self,
        searcher: &Searcher,
        clauses: &[Clause],
        session: Option<SessionKey>,
    ) -> Result<Box<dyn Query>> {
        let mut parts: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for clause in clauses {
            let query = self.asked_by(searcher, clause)?;
            parts.push(match clause.is_excluded {
                false => (Occur::Must, query),
                true => (Occur::MustNot, excluded(query)),
            });
        }
        if let Some(session) = session {
            let term = Term::from_field_u64(self.fields.session, session.raw());
            let in_session = Box::new(TermQuery::new(term, IndexRecordOption::Basic));
            parts.push((Occur::Must, Box::new(ConstScoreQuery::new(in_session, 0.0))));
        }
        if parts.is_empty() {
            return Ok(Box::new(AllQuery));
        }
        if parts.len() == 1
            && let Some((_, only)) = parts.pop()
        {
            return Ok(only);
        }
        Ok(Box::new(BooleanQuery::new(parts)))
    }

    fn asked_by(&self, searcher: &Searcher, clause: &Clause) -> Result<Box<dyn Query>> {
        let mut terms: Vec<Term> =
            clause.words.iter().map(|word| Term::from_field_text(self.fields.text, word)).collect();
        Ok(match (terms.len(), clause.is_prefix) {
            (1, true) => self.begun(searcher, clause, terms)?,
            (_, true) => {
                let mut phrase = PhrasePrefixQuery::new(terms);
                phrase.set_max_expansions(MOST_ENDINGS);
                Box::new(phrase)
            }
            (1, false) => Box::new(ranked(terms.remove(0))),
            (_, false) => Box::new(PhraseQuery::new(terms)),
        })
    }

    /// The words that begin with the only word of a clause.
    fn begun(
        &self,
        searcher: &Searcher,
        clause: &Clause,
        terms: Vec<Term>,
    ) -> Result<Box<dyn Query>> {
        let beginning = clause.words.first().map(String::as_str).unwrap_or_default();
        let found = words_with(searcher, self.fields.text, beginning)
            .map_err(|error| self.failed(&error))?;
        let Some(found) = found else {
            let mut any = PhrasePrefixQuery::new(terms);
            any.set_max_expansions(u32::MAX);
            return Ok(Box::new(any));
        };
        let words = found.into_iter().map(|word| {
            let query: Box<dyn Query> =
                Box::new(ranked(Term::from_field_text(self.fields.text, &word)));
            query
        });
        Ok(Box::new(BooleanQuery::union(words.collect())))
    }
}

/// A query in a form that can be excluded. tantivy 0.27 asks an excluded phrase for documents that it has passed, which
/// fails a debug assertion in a phrase but not in a union; this is a union of the query with itself.
fn excluded(query: Box<dyn Query>) -> Box<dyn Query> {
    Box::new(BooleanQuery::union(vec![query.box_clone(), query]))
}

fn ranked(term: Term) -> TermQuery {
    TermQuery::new(term, IndexRecordOption::WithFreqs)
}

/// The words of the index with this beginning, unless there are too many of them to rank.
fn words_with(
    searcher: &Searcher,
    field: tantivy::schema::Field,
    beginning: &str,
) -> tantivy::Result<Option<Vec<String>>> {
    let mut found = BTreeSet::new();
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(field)?;
        let mut words = inverted.terms().range().ge(beginning).into_stream()?;
        while words.advance() {
            if !words.key().starts_with(beginning.as_bytes()) {
                break;
            }
            found.insert(String::from_utf8_lossy(words.key()).into_owned());
            if found.len() > MOST_RANKED {
                return Ok(None);
            }
        }
    }
    Ok(Some(found.into_iter().collect()))
}
/// The entry on a line, if it still exists.
fn hit_at(
    snapshot: &Snapshot,
    (session, ordinal): (SessionKey, Ordinal),
    score: f32,
    clauses: &[Clause],
) -> Result<Option<SearchHit>> {
    let Some(record) = snapshot.session(session)? else { return Ok(None) };
    // The session may have been rewritten since it was read, and be shorter.
    if !ordinal.is_within(record.lines) {
        return Ok(None);
    }
    let line = View::new(snapshot.rows(session), &record).line(ordinal)?;
    let reading = record.reading();
    let entry = Entry::new(reading, ordinal, line.text().to_vec());
    let view = entry.view();
    Ok(Some(SearchHit {
        session: record.id(),
        family: reading.family,
        cwd: record.directory().map(str::to_owned),
        title: record.title.or(record.first_prompt),
        entry: entry.id(),
        ordinal: ordinal.raw(),
        role: view.role,
        time: view.time,
        score,
        snippet: snippet(&passages(view), clauses),
    }))
}
