//! Excludes entries from a search by the columns of the index.

use std::collections::HashSet;
use std::sync::Arc;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::schema::{ROLE, SESSION, TIME};
use crate::store::session_key::SessionKey;

/// The entries that a search accepts.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    /// Of these sessions, by key.
    pub(super) sessions: Option<Arc<HashSet<SessionKey>>>,
    /// Of these roles, by number.
    pub(super) roles: Option<Vec<u64>>,
    /// At this time or later, in milliseconds since 1970.
    pub(super) since: Option<i64>,
    /// Before this time.
    pub(super) until: Option<i64>,
}

impl Filter {
    pub(super) fn takes_all(&self) -> bool {
        self.sessions.is_none()
            && self.roles.is_none()
            && self.since.is_none()
            && self.until.is_none()
    }
}

/// Passes on to another collector what the filter accepts.
pub(super) struct Filtered<C> {
    pub(super) filter: Filter,
    pub(super) collector: C,
}

impl<C: Collector> Collector for Filtered<C> {
    type Fruit = C::Fruit;
    type Child = FilteredSegment<C::Child>;

    fn for_segment(
        &self,
        ordinal: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<Self::Child> {
        let columns = segment.fast_fields();
        Ok(FilteredSegment {
            filter: self.filter.clone(),
            sessions: columns.column_opt(SESSION)?,
            roles: columns.column_opt(ROLE)?,
            times: columns.column_opt(TIME)?,
            collector: self.collector.for_segment(ordinal, segment)?,
        })
    }

    fn requires_scoring(&self) -> bool {
        self.collector.requires_scoring()
    }

    fn merge_fruits(
        &self,
        fruits: Vec<<Self::Child as SegmentCollector>::Fruit>,
    ) -> tantivy::Result<Self::Fruit> {
        self.collector.merge_fruits(fruits)
    }
}

/// The same for one segment.
pub(super) struct FilteredSegment<C> {
    filter: Filter,
    sessions: Option<Column<u64>>,
    roles: Option<Column<u64>>,
    times: Option<Column<i64>>,
    collector: C,
}

impl<C> FilteredSegment<C> {
    fn takes(&self, document: DocId) -> bool {
        fn first<T: PartialOrd + Copy + std::fmt::Debug + Send + Sync + 'static>(
            column: Option<&Column<T>>,
            document: DocId,
        ) -> Option<T> {
            column?.first(document)
        }
        let Filter { sessions, roles, since, until } = &self.filter;
        let time = || first(self.times.as_ref(), document);
        roles.as_ref().is_none_or(|roles| {
            first(self.roles.as_ref(), document).is_some_and(|role| roles.contains(&role))
        }) && since.is_none_or(|since| time().is_some_and(|time| time >= since))
            && until.is_none_or(|until| time().is_some_and(|time| time < until))
            && sessions.as_ref().is_none_or(|sessions| {
                let session = first(self.sessions.as_ref(), document);
                session.is_some_and(|session| sessions.contains(&SessionKey::new(session)))
            })
    }
}

impl<C: SegmentCollector> SegmentCollector for FilteredSegment<C> {
    type Fruit = C::Fruit;

    fn collect(&mut self, document: DocId, score: Score) {
        if self.takes(document) {
            self.collector.collect(document, score);
        }
    }

    fn harvest(self) -> Self::Fruit {
        self.collector.harvest()
    }
}
