//! The usage of the model's answers: what lines report of it, and what it adds up to.

use xxhash_rust::xxh3::Xxh3Default;

use crate::scan::Raw;

/// How fast a provider processes a request, and for what price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ServiceTier {
    /// The usual one.
    #[default]
    Standard,
    /// Faster, for a higher price.
    Priority,
    /// Slower, for a lower price.
    Flex,
    /// Within a day, for a lower price.
    Batch,
    /// The fastest one.
    Ultrafast,
}

impl ServiceTier {
    /// All of them; a tier's code is its place.
    const ALL: [Self; 5] =
        [Self::Standard, Self::Priority, Self::Flex, Self::Batch, Self::Ultrafast];

    /// The tier that a program names. Any name that is not one of the others, such as `default`, is the standard one.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "priority" | "fast" => Self::Priority,
            "flex" => Self::Flex,
            "batch" => Self::Batch,
            "ultrafast" => Self::Ultrafast,
            _ => Self::Standard,
        }
    }

    /// A number for it, below 256.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The tier with this number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// Tokens and cost of one answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Tokens of input that were not in a cache.
    pub input: u64,
    /// Tokens of output, those of reasoning included.
    pub output: u64,
    /// The part of the output that was reasoning, where the program says so.
    pub reasoning: u64,
    /// Tokens of input read from a cache.
    pub cache_read: u64,
    /// Tokens of input written to a cache.
    pub cache_write: u64,
    /// The part of those that the cache keeps for an hour.
    pub cache_write_1h: u64,
    /// Searches of the web by the provider, which it bills by their number.
    pub web_searches: u64,
    /// All input of the longest request, if the answer took several requests; else 0. Prices may depend on it.
    pub longest_input: u64,
    /// The service tier of the request.
    pub tier: ServiceTier,
    /// Whether the model ran in the United States by request, which costs more with Anthropic.
    pub in_us: bool,
    /// Cost as the program states it, in US dollars: never negative; `None` if it states none.
    pub cost: Option<f64>,
}

impl Usage {
    /// All tokens: those of input, of output and of the cache.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// All tokens of input, those of the cache included.
    #[must_use]
    pub fn all_input(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Whether this report of an answer counts, and not another one: that with more tokens, or with more searches.
    #[must_use]
    pub fn says_more_than(&self, other: &Self) -> bool {
        (self.tokens(), self.web_searches) > (other.tokens(), other.web_searches)
    }

    /// The counts of tokens, in their order.
    #[must_use]
    pub fn counts(&self) -> [u64; 6] {
        let Self { input, output, reasoning, cache_read, cache_write, cache_write_1h, .. } = *self;
        [input, output, reasoning, cache_read, cache_write, cache_write_1h]
    }

    /// A usage of these counts of tokens.
    #[must_use]
    pub fn of_counts(counts: [u64; 6]) -> Self {
        let [input, output, reasoning, cache_read, cache_write, cache_write_1h] = counts;
        Self {
            input,
            output,
            reasoning,
            cache_read,
            cache_write,
            cache_write_1h,
            ..Self::default()
        }
    }

    /// What a running total has gained since an earlier one; `None` if it has gone back.
    fn since(&self, before: &Self) -> Option<Self> {
        let mut gained = self.counts();
        for (now, then) in gained.iter_mut().zip(before.counts()) {
            *now = now.checked_sub(then)?;
        }
        Some(Self::of_counts(gained))
    }
}

/// What a line reports of usage.
#[derive(Debug, Clone, PartialEq)]
pub enum UsageReport {
    /// The usage of one answer.
    Answer {
        /// What distinguishes the answer from all others, in whatever file it is repeated; `None` if nothing does.
        identity: Option<u64>,
        /// The model; `None` if the line does not name it: then it is the one that was named last.
        model: Option<String>,
        /// Tokens and cost.
        usage: Usage,
    },
    /// The model of the answers that follow.
    Model(String),
    /// The service tier of the answers that follow.
    Tier(ServiceTier),
    /// The session's header, or that of another session whose lines follow.
    Header {
        /// A number that stands for the session's id.
        id: u64,
        /// When the id was made, as far as the id says it: see [`UsageReport::Turn`].
        made: u64,
        /// The number of the session whose lines this one repeats.
        base: Option<u64>,
    },
    /// A turn, by when its id was made: comparable with that of a header, in no unit; 0 if the id does not say it.
    Turn(u64),
    /// What was used since the session's beginning.
    Total {
        /// All of it.
        total: Usage,
        /// That of the last answer.
        last: Option<Usage>,
    },
}

/// The usage of one answer, as a session's lines report it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What distinguishes the answer from all others, in whatever session it is repeated. A session may repeat it too:
    /// then the report with the most tokens counts.
    pub identity: Option<u64>,
    /// The model, if one was named.
    pub model: Option<String>,
    /// Tokens and cost.
    pub usage: Usage,
}

/// Turns what the lines of a session report, in their order, into answers.
///
/// ```
/// use leafline_import::{Usage, UsageCounter, UsageReport};
///
/// let total = |output| UsageReport::Total { total: Usage { output, ..Usage::default() }, last: None };
/// let mut counter = UsageCounter::default();
/// let answers = [total(10), total(10), total(25)].into_iter().filter_map(|report| counter.take(report));
/// let outputs: Vec<u64> = answers.map(|answer| answer.usage.output).collect();
/// assert_eq!(outputs, [10, 15]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageCounter {
    /// The model that was named last.
    pub model: Option<String>,
    /// The service tier that was named last.
    pub tier: ServiceTier,
    /// The running total that was reported last.
    pub total: Option<Usage>,
    /// The number of the session's header; 0 without one.
    pub header: u64,
    /// When the header's id was made; 0 if it does not say it.
    pub made: u64,
    /// The numbers of the sessions whose answers this one may repeat at its beginning: the one that it was forked from,
    /// then those of the headers that it repeats.
    pub bases: Vec<u64>,
    /// How many answers may be repetitions: all up to the first turn that is this session's own for certain.
    pub repeated: u64,
    /// Whether that turn was reported.
    pub is_own: bool,
}

/// The most bases of a session that are noted.
const BASES: usize = 64;

impl UsageCounter {
    /// Takes what the next line reports. Returns the answer that it is, if it is one.
    pub fn take(&mut self, report: UsageReport) -> Option<Answer> {
        match report {
            UsageReport::Model(model) => self.model = Some(model),
            UsageReport::Tier(tier) => self.tier = tier,
            UsageReport::Header { id, made, base } => self.take_header(id, made, base),
            UsageReport::Turn(made) => {
                self.is_own |= !self.bases.is_empty() && self.made > 0 && made > self.made;
            }
            UsageReport::Answer { identity, model, usage } => {
                if model.is_some() {
                    self.model.clone_from(&model);
                }
                return Some(Answer {
                    identity,
                    model: model.or_else(|| self.model.clone()),
                    usage,
                });
            }
            UsageReport::Total { total, last } => return self.take_total(total, last),
        }
        None
    }

    /// The first header is the session's own. Others are repeated, with the lines of their sessions.
    fn take_header(&mut self, id: u64, made: u64, base: Option<u64>) {
        if self.header == 0 {
            self.header = id;
            self.made = made;
        }
        for base in [Some(id), base].into_iter().flatten() {
            if base != self.header && !self.bases.contains(&base) && self.bases.len() < BASES {
                self.bases.push(base);
            }
        }
    }

    /// A total that is repeated is no answer. The first one may be that of another session, which this one goes on from; one
    /// that has gone back began anew.
    fn take_total(&mut self, total: Usage, last: Option<Usage>) -> Option<Answer> {
        let gained = self.total.as_ref().map(|before| total.since(before));
        self.total = Some(total);
        let usage = match gained {
            Some(Some(gained)) if gained == Usage::default() => return None,
            Some(Some(gained)) => gained,
            None | Some(None) => last.unwrap_or(total),
        };
        let usage = Usage { tier: self.tier, ..usage };
        self.repeated += u64::from(!self.is_own && !self.bases.is_empty());
        let mut identity = Identity::new();
        total.counts().into_iter().for_each(|count| identity.number(count));
        // Without the header's number it is the total's, which can be compared with that of another session.
        let identity = identity.finish().wrapping_add(self.header);
        Some(Answer { identity: Some(identity), model: self.model.clone(), usage })
    }
}

/// Makes a number of what distinguishes an answer.
pub(crate) struct Identity(Xxh3Default);

impl Identity {
    pub(crate) fn new() -> Self {
        Self(Xxh3Default::new())
    }

    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    /// The number, which is not 0.
    pub(crate) fn finish(&self) -> u64 {
        self.0.digest().max(1)
    }

    /// The number of two texts.
    pub(crate) fn of(texts: [&[u8]; 2]) -> u64 {
        let mut identity = Self::new();
        texts.into_iter().for_each(|text| identity.text(text));
        identity.finish()
    }
}

/// A count of tokens; a fraction is cut off.
pub(crate) fn tokens(value: Raw<'_>) -> Option<u64> {
    // Only what is not a plain integer goes through a double, which holds at most 53 bits.
    value.as_str().parse().ok().or_else(|| {
        let count = value.as_f64()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        (0.0..18_446_744_073_709_551_616.0).contains(&count).then_some(count as u64)
    })
}

/// A cost in dollars.
pub(crate) fn dollars(value: Raw<'_>) -> Option<f64> {
    value.as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(output: u64) -> Usage {
        Usage { output, ..Usage::default() }
    }

    fn total(output: u64, last: Option<u64>) -> UsageReport {
        UsageReport::Total { total: used(output), last: last.map(used) }
    }

    fn outputs(reports: impl IntoIterator<Item = UsageReport>) -> Vec<u64> {
        let mut counter = UsageCounter::default();
        let answers = reports.into_iter().filter_map(|report| counter.take(report));
        answers.map(|answer| answer.usage.output).collect()
    }

    #[test]
    fn totals_are_counted_by_what_they_gain() {
        assert_eq!(
            outputs([total(10, Some(10)), total(10, Some(10)), total(30, Some(20))]),
            [10, 20]
        );
        // What another session had used before is not this one's.
        assert_eq!(outputs([total(1000, Some(10)), total(1030, Some(30))]), [10, 30]);
        assert_eq!(outputs([total(100, None), total(7, Some(3)), total(9, None)]), [100, 3, 2]);
    }

    #[test]
    fn a_repeated_total_is_known_by_its_session() {
        let of = |header| {
            let mut counter = UsageCounter::default();
            counter.take(UsageReport::Header { id: header, made: 0, base: None });
            counter.take(total(10, None)).unwrap().identity
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn a_fork_may_repeat_answers_until_a_turn_that_is_younger_than_it() {
        let mut counter = UsageCounter::default();
        counter.take(UsageReport::Header { id: 2, made: 20, base: Some(1) });
        counter.take(UsageReport::Header { id: 1, made: 10, base: Some(9) });
        for (turn, output) in [(11, 10), (12, 30), (21, 40), (13, 50)] {
            counter.take(UsageReport::Turn(turn));
            counter.take(total(output, None)).unwrap();
        }
        assert_eq!((counter.header, counter.repeated), (2, 2));
        assert_eq!(counter.bases, [1, 9]);
        let mut counter = UsageCounter::default();
        counter.take(UsageReport::Header { id: 2, made: 20, base: None });
        counter.take(total(10, None)).unwrap();
        assert_eq!((counter.bases.len(), counter.repeated), (0, 0));
    }

    #[test]
    fn tiers_come_back() {
        for tier in ServiceTier::ALL {
            assert_eq!(ServiceTier::from_code(tier.code()), Some(tier));
        }
        assert_eq!(ServiceTier::from_code(5), None);
        assert_eq!(ServiceTier::named("default"), ServiceTier::Standard);
    }

    #[test]
    fn the_model_is_the_last_one_that_was_named() {
        let mut counter = UsageCounter::default();
        let mut answer = |model: Option<&str>| {
            let model = model.map(str::to_owned);
            counter
                .take(UsageReport::Answer { identity: None, model, usage: used(1) })
                .unwrap()
                .model
        };
        assert_eq!(answer(None), None);
        assert_eq!(answer(Some("a")).as_deref(), Some("a"));
        assert_eq!(answer(None).as_deref(), Some("a"));
        counter.take(UsageReport::Model("b".to_owned()));
        let next = counter.take(total(3, None)).unwrap();
        assert_eq!(next.model.as_deref(), Some("b"));
    }
}
