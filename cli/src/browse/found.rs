//! Entries of one or of several sessions: what a search has found, or what is labelled.

use std::collections::HashSet;

use leafline::Store;
use leafline::search::{SearchHit, SearchIndex, SearchQuery};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::cursor::Cursor;
use super::style;
use super::words::Words;
use crate::failure::Failure;
use crate::index::{Readiness, behind, complete};
use crate::number::{bytes, counted};
use crate::output::{FAINT, KIND, LABEL, STRONG};
use crate::{preview, text, time};

/// The most entries that a search shows.
const MOST: usize = 500;

/// Columns of a snippet before its first word, if it is too long.
const BEFORE: usize = 24;

/// An entry in a list.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) session: String,
    /// Its ordinal.
    pub(super) entry: u64,
    /// Its id.
    pub(super) id: Option<String>,
    pub(super) lines: [Line<'static>; 2],
}

/// A list of entries.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) title: String,
    pub(super) items: Vec<Item>,
    pub(super) cursor: Cursor,
    /// What is marked in the entries that are opened.
    pub(super) words: Words,
    /// What is to be known about the list.
    pub(super) remark: Option<String>,
}

impl Found {
    pub(super) fn chosen(&self) -> Option<&Item> {
        self.items.get(self.cursor.at)
    }

    /// The rows of a screen, as items.
    pub(super) fn fit(&mut self, height: usize) {
        self.cursor.fit(self.items.len(), height / 2);
    }

    /// Searches in all sessions. The index is brought up to date first.
    pub(super) fn search(
        store: &Store,
        query: &str,
        colour: bool,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Self, Failure> {
        let index = SearchIndex::open_or_create(store)?;
        let readiness = complete(&index, goes_on, false)?;
        if let Readiness::Missing(lacking) = readiness {
            return Err(Failure::NoIndex { bytes: bytes(lacking) });
        }
        let found =
            index.search_readable(&SearchQuery { limit: MOST, ..SearchQuery::new(query) })?;
        let (mut remark, unread) = match readiness {
            Readiness::Behind(sessions, failed) => {
                (Some(behind(sessions, failed.as_ref())), Vec::new())
            }
            Readiness::Damaged(unread) => (None, unread),
            Readiness::Complete | Readiness::Missing(_) => (None, Vec::new()),
        };
        let damaged = found.damaged.iter().chain(&unread).map(|damaged| &damaged.session);
        let damaged = damaged.collect::<HashSet<_>>().len() as u64;
        if damaged > 0 {
            let damaged = counted(damaged, "session is damaged", "sessions are damaged");
            remark = Some(format!("{damaged}, and not all of it was found"));
        }
        let count = found.hits.len();
        let most = if count == MOST { "the best " } else { "" };
        let count = counted(count as u64, "entry", "entries");
        Ok(Self {
            title: format!("{most}{count} with {}", text::one_line(query, preview::LONGEST)),
            items: found.hits.iter().map(|hit| item(hit, colour)).collect(),
            cursor: Cursor::default(),
            words: Words::of_search(query),
            remark,
        })
    }

    /// The labelled entries of a session.
    pub(super) fn labels(store: &Store, session: &str, colour: bool) -> Result<Self, Failure> {
        let reader = store.reader(session)?;
        let outline = reader.get_outline()?;
        let mut items = Vec::new();
        for (ordinal, label) in outline.labels() {
            let Some(entry) = reader.line(ordinal)? else { continue };
            let view = entry.view();
            let id = entry.id();
            let time = entry.timestamp().and_then(time::local).unwrap_or_default();
            let kind = preview::name(&entry, &view);
            items.push(Item {
                session: session.to_owned(),
                entry: ordinal,
                lines: [
                    Line::from(vec![
                        Span::styled(
                            format!("[{}]", text::one_line(label, preview::LONGEST)),
                            style::of(LABEL, colour),
                        ),
                        Span::raw(format!("  {time}  ")),
                        Span::styled(kind, style::of(KIND, colour)),
                    ]),
                    Line::from(format!("    {}", preview::words(&entry, &view))),
                ],
                id,
            });
        }
        let count = counted(items.len() as u64, "label", "labels");
        let title = reader.facts().title.map(|title| text::one_line(&title, preview::LONGEST));
        let title = title.unwrap_or_else(|| text::printable(session).into_owned());
        Ok(Self {
            title: format!("{count} in {title}"),
            items,
            cursor: Cursor::default(),
            words: Words::default(),
            remark: None,
        })
    }
}

/// A hit, as `leafline search` prints it.
fn item(hit: &SearchHit, colour: bool) -> Item {
    let faint = style::of(FAINT, colour);
    let title = text::one_line(hit.title.as_deref().unwrap_or_default(), preview::LONGEST);
    let time = hit.time.and_then(time::local).unwrap_or_default();
    let heading = Line::from(vec![
        Span::raw(time),
        Span::raw("  "),
        Span::styled(hit.role.name(), style::of(KIND, colour)),
        Span::raw("  "),
        Span::styled(title, style::of(STRONG, colour)),
        Span::styled(format!("  {}", hit.family), faint),
    ]);
    let mut spans = Vec::new();
    let mut end = 0;
    let snippet = &hit.snippet;
    let printable = |range: std::ops::Range<usize>| {
        text::printable(snippet.text.get(range).unwrap_or_default()).into_owned()
    };
    for place in &snippet.matches {
        let mut between = printable(end..place.start);
        if end == 0 && text::width(&between) > 2 * BEFORE {
            between = text::fit_end(&between, BEFORE).into_owned();
        }
        spans.push(Span::raw(between));
        spans.push(Span::styled(printable(place.clone()), style::found(colour)));
        end = place.end;
    }
    spans.push(Span::raw(printable(end..snippet.text.len())));
    spans.insert(0, Span::styled("    ", Style::new()));
    Item {
        session: hit.session.clone(),
        entry: hit.ordinal,
        id: hit.entry.clone(),
        lines: [heading, Line::from(spans)],
    }
}
