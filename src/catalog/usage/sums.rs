//! Adds answers up by what a report's rows stand for.

use std::collections::{BTreeMap, HashMap};

use leafline_import::Family;
use serde::Serialize;

use super::super::folder::Folders;
use super::answers::Found;
use super::prices::ModelPrice;
use super::{Described, UsageBy, UsageOptions, calendar};

/// Seconds of a quarter of an hour: within one that begins at a full hour or later in UTC no time zone begins a day.
const QUARTER: i64 = 15 * 60;

/// What some answers have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UsageSums {
    /// The answers.
    pub answers: u64,
    /// Tokens of input that were not in a cache.
    pub input: u64,
    /// Tokens of output, those of reasoning included.
    pub output: u64,
    /// The part of the output that was reasoning, as far as programs say so.
    pub reasoning: u64,
    /// Tokens of input read from a cache.
    pub cache_read: u64,
    /// Tokens of input written to a cache.
    pub cache_write: u64,
    /// What they cost, in US dollars, without those that have no price: at most [`f64::MAX`].
    pub cost: f64,
    /// Answers with tokens whose cost no program states and no table has.
    pub unpriced: u64,
    /// Their tokens.
    pub unpriced_tokens: u64,
}

impl UsageSums {
    /// All tokens: of input, output and the cache.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let Self { input, output, cache_read, cache_write, .. } = *self;
        [input, output, cache_read, cache_write].into_iter().fold(0, u64::saturating_add)
    }

    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.answers, other.answers),
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.reasoning, other.reasoning),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.unpriced, other.unpriced),
            (&mut self.unpriced_tokens, other.unpriced_tokens),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.cost = add_costs(self.cost, other.cost);
    }
}

/// A row of a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UsageRow {
    /// What it stands for: a day as `2026-02-16`, a week's Monday, a month as `2026-02`, a directory, a model, a family, or a
    /// session's id. `none` if that is not known.
    pub name: String,
    /// The day that it stands for, in days since 1970.
    #[serde(skip)]
    pub(crate) day: Option<i64>,
    /// The title of a session, or its first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The family of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// The working directory of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What was used.
    #[serde(flatten)]
    pub sums: UsageSums,
    /// The part of it that agents used; `None` if they used nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<UsageSums>,
    /// The same by model.
    pub models: BTreeMap<String, UsageSums>,
}

/// What was used, by what the rows stand for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UsageReport {
    /// The rows: in the order of time, or else those that cost the most first.
    pub rows: Vec<UsageRow>,
    /// All of it.
    pub total: UsageSums,
    /// Answers and tokens without a price, by model.
    pub unpriced: BTreeMap<String, UsageSums>,
    /// Ids of sessions that could not be read, or not as a whole.
    pub unreadable: Vec<String>,
    /// Ids of sessions that the report is without, since they are not counted yet.
    pub not_counted: Vec<String>,
}

/// What is known of a model's price.
#[derive(Debug, Clone, Copy)]
enum Known<'o> {
    NotYet,
    No,
    Price(ModelPrice<'o>),
}

/// A row's number, a model's, and whether agents used it.
type Slot = (i64, Option<usize>, bool);

/// Sums that are being made.
pub(super) struct Sums<'o> {
    options: &'o UsageOptions<'o>,
    sessions: &'o [Described],
    /// The number of the row of each session, if the rows do not stand for times or models.
    rows: Vec<i64>,
    names: Vec<Option<String>>,
    prices: Vec<Known<'o>>,
    slots: HashMap<Slot, usize>,
    sums: Vec<(Slot, UsageSums)>,
    last: Option<(Slot, usize)>,
    /// The day of a quarter of an hour.
    day: Option<(i64, i64)>,
}

/// The row of answers whose time, model or directory is not known, ahead of all others.
const NO_TIME: i64 = i64::MIN;

impl<'o> Sums<'o> {
    pub(super) fn new(options: &'o UsageOptions<'o>, sessions: &'o [Described]) -> Self {
        let mut names: Vec<Option<String>> = Vec::new();
        let mut known: HashMap<Option<String>, i64> = HashMap::new();
        let mut named = |name: Option<&str>| {
            let name = name.map(str::to_owned);
            *known.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                number(names.len() - 1)
            })
        };
        let rows = match options.by {
            UsageBy::Project => {
                let (mut folders, mut paths) = (Folders::default(), Vec::new());
                let mut row = |project: &'o str| {
                    let folder = folders.number(project, paths.len());
                    if folder == paths.len() {
                        paths.push(project);
                    }
                    named(paths.get(folder).copied())
                };
                let projects = sessions.iter().map(|session| session.project.as_deref());
                projects.map(|project| project.map_or(NO_TIME, &mut row)).collect()
            }
            UsageBy::Family => {
                sessions.iter().map(|session| named(Some(session.family.name()))).collect()
            }
            UsageBy::Session => {
                (0..sessions.len()).map(|place| number(starter(sessions, place))).collect()
            }
            _ => Vec::new(),
        };
        Self {
            options,
            sessions,
            rows,
            names,
            prices: Vec::new(),
            slots: HashMap::new(),
            sums: Vec::new(),
            last: None,
            day: None,
        }
    }

    /// Adds an answer. `models` are the names of models so far.
    pub(super) fn add(&mut self, found: &Found, models: &[String]) {
        let at = found.time.map(|time| time.saturating_mul(1000));
        if self.options.since.is_some_and(|since| at.is_none_or(|at| at < since))
            || self.options.until.is_some_and(|until| at.is_none_or(|at| at >= until))
        {
            return;
        }
        let row = match self.options.by {
            UsageBy::Day | UsageBy::Week | UsageBy::Month => match found.time {
                Some(time) => self.period(time),
                None => NO_TIME,
            },
            UsageBy::Model => found.model.map_or(NO_TIME, number),
            UsageBy::Project | UsageBy::Family | UsageBy::Session => {
                self.rows.get(found.session).copied().unwrap_or(NO_TIME)
            }
        };
        let usage = &found.usage;
        let cost =
            usage.cost.or_else(|| self.price(found.model, models).map(|price| price.cost(usage)));
        let is_unpriced = cost.is_none() && usage.tokens() > 0;
        let more = UsageSums {
            answers: 1,
            input: usage.input,
            output: usage.output,
            reasoning: usage.reasoning,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cost: cost.unwrap_or_default(),
            unpriced: u64::from(is_unpriced),
            unpriced_tokens: if is_unpriced { usage.tokens() } else { 0 },
        };
        let place = self.place_of((row, found.model, found.is_of_agent));
        if let Some((_, sums)) = self.sums.get_mut(place) {
            sums.add(&more);
        }
    }

    fn place_of(&mut self, slot: Slot) -> usize {
        if let Some((last, place)) = self.last
            && last == slot
        {
            return place;
        }
        let place = *self.slots.entry(slot).or_insert_with(|| {
            self.sums.push((slot, UsageSums::default()));
            self.sums.len() - 1
        });
        self.last = Some((slot, place));
        place
    }

    /// The first day of the period that a time in seconds is in, or any day of its month.
    fn period(&mut self, time: i64) -> i64 {
        let quarter = time.div_euclid(QUARTER);
        let day = match self.day {
            Some((known, day)) if known == quarter => day,
            _ => match self.options.day_of {
                Some(day_of) => day_of(time),
                None => time.div_euclid(24 * 60 * 60),
            },
        };
        self.day = Some((quarter, day));
        match self.options.by {
            UsageBy::Week => calendar::monday(day),
            UsageBy::Month => {
                let (_, _, of_month) = calendar::civil(day);
                day - (of_month - 1)
            }
            _ => day,
        }
    }

    fn price(&mut self, model: Option<usize>, models: &[String]) -> Option<ModelPrice<'o>> {
        let model = model?;
        if self.prices.len() <= model {
            self.prices.resize(model + 1, Known::NotYet);
        }
        let known = self.prices.get_mut(model)?;
        if let Known::NotYet = known {
            let found = models.get(model).and_then(|name| self.options.prices.find(name));
            *known = found.map_or(Known::No, Known::Price);
        }
        match known {
            Known::Price(price) => Some(*price),
            Known::NotYet | Known::No => None,
        }
    }

    /// The report on all answers.
    pub(super) fn report(mut self, models: &[String]) -> UsageReport {
        let mut report = UsageReport::default();
        let mut rows: BTreeMap<i64, UsageRow> = BTreeMap::new();
        // In an order of their own, so that the sums of costs do not depend on that of a map.
        self.sums.sort_by_key(|(slot, _)| *slot);
        for ((number, model, is_of_agents), sums) in &self.sums {
            let model = model.and_then(|model| models.get(model)).cloned().unwrap_or_else(unknown);
            let row = rows.entry(*number).or_insert_with(|| self.row(*number, models));
            row.sums.add(sums);
            row.models.entry(model.clone()).or_default().add(sums);
            if *is_of_agents {
                row.agents.get_or_insert_default().add(sums);
            }
            report.total.add(sums);
            if sums.unpriced > 0 {
                report.unpriced.entry(model).or_default().add(sums);
            }
        }
        report.rows = rows.into_values().collect();
        if !matches!(self.options.by, UsageBy::Day | UsageBy::Week | UsageBy::Month) {
            report.rows.sort_by(|one, other| {
                let by_cost = other.sums.cost.total_cmp(&one.sums.cost);
                let by_tokens = || other.sums.tokens().cmp(&one.sums.tokens());
                by_cost.then_with(by_tokens).then_with(|| one.name.cmp(&other.name))
            });
        }
        report
    }

    /// A row without sums.
    fn row(&self, number: i64, models: &[String]) -> UsageRow {
        let place = usize::try_from(number).ok();
        let mut session = None;
        let name = match self.options.by {
            _ if number == NO_TIME => None,
            UsageBy::Day | UsageBy::Week => Some(calendar::date(number)),
            UsageBy::Month => Some(calendar::month(number)),
            UsageBy::Model => place.and_then(|place| models.get(place)).cloned(),
            UsageBy::Project | UsageBy::Family => {
                place.and_then(|place| self.names.get(place)).cloned().flatten()
            }
            UsageBy::Session => {
                session = place.and_then(|place| self.sessions.get(place));
                session.map(|session| session.id.clone())
            }
        };
        let is_day = self.options.by == UsageBy::Day && number != NO_TIME;
        UsageRow {
            name: name.unwrap_or_else(unknown),
            day: is_day.then_some(number),
            title: session.and_then(|session| session.title.clone()),
            family: session.map(|session| session.family),
            project: session.and_then(|session| session.project.clone()),
            ..UsageRow::default()
        }
    }
}

/// The sum of two costs. A program or a table may state any: a sum that no double holds is the largest one, so that it can
/// be shown, sorted and written as JSON.
pub(crate) fn add_costs(one: f64, other: f64) -> f64 {
    (one + other).min(f64::MAX)
}

fn unknown() -> String {
    "none".to_owned()
}

fn number(place: usize) -> i64 {
    i64::try_from(place).expect("memory has fewer places")
}

/// The session that an agent's conversation belongs to, over several agents; another session is its own.
fn starter(sessions: &[Described], place: usize) -> usize {
    let (mut place, mut left) = (place, sessions.len());
    while let Some(parent) = sessions.get(place).and_then(|session| session.parent)
        && left > 0
    {
        place = parent;
        left -= 1;
    }
    place
}
