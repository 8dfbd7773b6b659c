//! The value of the `usage` table: the answers that some lines of a session report, in the order of the lines.

use bincode::{Decode, Encode};
use leafline_import::{Answer, ServiceTier, Usage, UsageCounter};

use super::record::{Record, read_borrowed, unzigzag, versioned, zigzag};
use crate::error::{Corruption, Result};

/// The answers of a row. The next ones are in the next row.
pub(crate) const ANSWERS: usize = 128;

/// Consecutive answers of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct UsageRecord {
    /// 8 bytes of each answer, little endian: its identity, or 0. They come first, since a report reads them of all
    /// sessions to find which answers are repeated.
    identities: Vec<u8>,
    rows: Vec<Row>,
    /// The models that the rows name, by their places.
    models: Vec<String>,
    /// What a later line may refer to; only in a session's last row.
    state: Option<State>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
struct Row {
    /// 0: none; else 1 + zigzag(time - the time before), in seconds since 1970.
    time: u64,
    /// 0: none; else 1 + the model's place.
    model: u32,
    is_sidechain: bool,
    input: u64,
    output: u64,
    reasoning: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_1h: u64,
    web_searches: u64,
    longest_input: u64,
    /// A tier's code.
    tier: u8,
    in_us: bool,
    /// The bits of a double.
    cost: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
struct State {
    model: Option<String>,
    /// A tier's code.
    tier: u8,
    /// Counts in the order of those of a row.
    total: Option<[u64; 6]>,
    header: u64,
    made: u64,
    bases: Vec<u64>,
    repeated: u64,
    is_own: bool,
}

impl Record for UsageRecord {
    const TABLE: &'static str = "usage";
}

/// An answer as a report reads it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CountedAnswer<'r> {
    /// 0 if nothing distinguishes it.
    pub(crate) identity: u64,
    /// In seconds since 1970.
    pub(crate) time: Option<i64>,
    pub(crate) model: Option<&'r str>,
    pub(crate) is_sidechain: bool,
    pub(crate) usage: Usage,
}

impl UsageRecord {
    /// Adds an answer, unless it repeats the last one; of two reports of one answer the one with the most tokens counts.
    /// `time` is in milliseconds since 1970. Returns whether there is no room: then nothing is added.
    pub(crate) fn push(&mut self, answer: &Answer, time: Option<i64>, is_sidechain: bool) -> bool {
        let last = self.rows.len().wrapping_sub(1);
        if answer.identity.is_some() && self.identity(last) == answer.identity {
            let known = self.rows.get(last).and_then(Row::usage).unwrap_or_default();
            if !answer.usage.says_more_than(&known) {
                return false;
            }
            self.rows.pop();
            self.identities.truncate(8 * last);
        } else if self.rows.len() >= ANSWERS {
            return true;
        }
        let before = self.last_time();
        let time = time
            .map_or(0, |time| zigzag(time.div_euclid(1000).wrapping_sub(before)).saturating_add(1));
        let model = answer.model.as_ref().map_or(0, |model| self.place_of(model));
        let usage = answer.usage;
        let [input, output, reasoning, cache_read, cache_write, cache_write_1h] = usage.counts();
        self.identities.extend_from_slice(&answer.identity.unwrap_or(0).to_le_bytes());
        self.rows.push(Row {
            time,
            model,
            is_sidechain,
            input,
            output,
            reasoning,
            cache_read,
            cache_write,
            cache_write_1h,
            web_searches: usage.web_searches,
            longest_input: usage.longest_input,
            tier: usage.tier.code(),
            in_us: usage.in_us,
            cost: usage.cost.map(f64::to_bits),
        });
        false
    }

    fn identity(&self, place: usize) -> Option<u64> {
        let bytes = self.identities.chunks_exact(8).nth(place)?;
        Some(u64::from_le_bytes(bytes.try_into().expect("a chunk has eight bytes")))
    }

    /// One more than the place of a model's name.
    fn place_of(&mut self, model: &str) -> u32 {
        let place = self.models.iter().position(|known| known == model).unwrap_or_else(|| {
            self.models.push(model.to_owned());
            self.models.len() - 1
        });
        u32::try_from(place + 1).expect("a row has few answers, and each names one model")
    }

    /// The time of the last answer that has one, in seconds; 0 without one.
    fn last_time(&self) -> i64 {
        let times = self.rows.iter().filter_map(|row| row.time.checked_sub(1));
        times.fold(0, |before: i64, code| before.wrapping_add(unzigzag(code)))
    }

    /// Notes what later lines may refer to.
    pub(crate) fn set_state(&mut self, counter: &UsageCounter) {
        let UsageCounter { model, tier, total, header, made, bases, repeated, is_own } =
            counter.clone();
        let (tier, total) = (tier.code(), total.map(|total| total.counts()));
        self.state = Some(State { model, tier, total, header, made, bases, repeated, is_own });
    }

    /// Takes away what later lines may refer to.
    pub(crate) fn take_state(&mut self) -> UsageCounter {
        let State { model, tier, total, header, made, bases, repeated, is_own } =
            self.state.take().unwrap_or_default();
        let tier = ServiceTier::from_code(tier).unwrap_or_default();
        let total = total.map(Usage::of_counts);
        UsageCounter { model, tier, total, header, made, bases, repeated, is_own }
    }

    /// Whether it is the last row of a session.
    pub(crate) fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// The answers; `None` in place of one that contradicts itself.
    pub(crate) fn answers(&self) -> impl Iterator<Item = Option<CountedAnswer<'_>>> {
        let is_whole = self.identities.len() == 8 * self.rows.len();
        let rows = self.rows.iter().zip(self.identities.chunks_exact(8));
        let mut before = 0_i64;
        let answers = rows.map(move |(row, identity)| {
            let time = row.time.checked_sub(1).map(|code| before.wrapping_add(unzigzag(code)));
            before = time.unwrap_or(before);
            let model = match row.model.checked_sub(1) {
                None => None,
                Some(place) => Some(self.models.get(usize::try_from(place).ok()?)?.as_str()),
            };
            Some(CountedAnswer {
                identity: u64::from_le_bytes(identity.try_into().ok()?),
                time,
                model,
                is_sidechain: row.is_sidechain,
                usage: row.usage()?,
            })
        });
        answers.chain((!is_whole).then_some(None))
    }

    /// The answers, as far as the record, which is at this place of the table, does not contradict itself.
    pub(crate) fn answers_at(
        &self,
        place: impl Fn() -> String,
    ) -> impl Iterator<Item = Result<CountedAnswer<'_>>> {
        self.answers().map(move |answer| {
            let problem = "it contradicts itself".into();
            answer.ok_or_else(|| Corruption { table: Self::TABLE, place: place(), problem }.into())
        })
    }
}

impl Row {
    /// `None` if its tier is not known.
    fn usage(&self) -> Option<Usage> {
        let Self { input, output, reasoning, cache_read, cache_write, cache_write_1h, .. } = *self;
        let counts = [input, output, reasoning, cache_read, cache_write, cache_write_1h];
        Some(Usage {
            web_searches: self.web_searches,
            longest_input: self.longest_input,
            tier: ServiceTier::from_code(self.tier)?,
            in_us: self.in_us,
            cost: self.cost.map(f64::from_bits),
            ..Usage::of_counts(counts)
        })
    }
}

/// The identities in a record's bytes, without the rest of it.
pub(crate) fn identities(
    bytes: &[u8],
    place: impl FnOnce() -> String,
) -> Result<impl Iterator<Item = u64>> {
    let identities: &[u8] = versioned::<UsageRecord, _>(bytes, place, read_borrowed)?;
    let numbers = identities.chunks_exact(8);
    Ok(numbers.map(|bytes| u64::from_le_bytes(bytes.try_into().expect("a chunk has eight bytes"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(identity: u64, output: u64, model: &str) -> Answer {
        let usage = Usage {
            output,
            web_searches: 3,
            longest_input: 7,
            tier: ServiceTier::Flex,
            in_us: true,
            cost: Some(0.25),
            ..Usage::default()
        };
        Answer { identity: Some(identity), model: Some(model.to_owned()), usage }
    }

    #[test]
    fn answers_come_back() {
        let mut record = UsageRecord::default();
        let times = [Some(5_999), None, Some(-1), Some(1_700_000_000_000)];
        for ((number, time), model) in (1..).zip(times).zip(["b", "a", "b", "a"]) {
            assert!(!record.push(&answer(number, number, model), time, number == 2));
        }
        let state = UsageCounter {
            model: Some("m".to_owned()),
            tier: ServiceTier::Priority,
            total: Some(Usage { output: 9, ..Usage::default() }),
            header: 7,
            made: 8,
            bases: vec![5, 6],
            repeated: 2,
            is_own: true,
        };
        record.set_state(&state);
        let bytes = record.to_bytes();
        let mut read = UsageRecord::from_bytes(&bytes, String::new).unwrap();
        assert_eq!(read, record);
        let found: Vec<_> = read.answers().map(Option::unwrap).collect();
        let of =
            |number: usize| (found[number].time, found[number].model, found[number].is_sidechain);
        assert_eq!(of(0), (Some(5), Some("b"), false));
        assert_eq!(of(1), (None, Some("a"), true));
        assert_eq!(of(2), (Some(-1), Some("b"), false));
        assert_eq!(of(3), (Some(1_700_000_000), Some("a"), false));
        assert_eq!(found[3].usage, answer(4, 4, "a").usage);
        assert_eq!(identities(&bytes, String::new).unwrap().collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(read.take_state(), state);
        assert!(!read.has_state());
    }

    #[test]
    fn of_reports_of_one_answer_the_largest_counts() {
        let mut record = UsageRecord::default();
        for (output, model) in [(1, "a"), (50, "b"), (7, "c"), (50, "d")] {
            record.push(&answer(1, output, model), Some(1000 * output.cast_signed()), false);
        }
        let found: Vec<_> = record.answers().map(Option::unwrap).collect();
        assert_eq!(
            (found.len(), found[0].usage.output, found[0].model, found[0].time),
            (1, 50, Some("b"), Some(50))
        );
    }

    #[test]
    fn a_full_record_takes_only_what_it_has() {
        let mut record = UsageRecord::default();
        for number in 1..=128 {
            assert!(!record.push(&answer(number, 1, "a"), None, false));
        }
        assert!(record.push(&answer(200, 1, "a"), None, false));
        assert!(!record.push(&answer(128, 9, "a"), None, false));
        assert_eq!(record.rows.len(), ANSWERS);
    }

    #[test]
    fn damage_is_noticed() {
        let mut record = UsageRecord::default();
        record.push(&answer(1, 1, "a"), None, false);
        let mut lacking = record.clone();
        lacking.identities.truncate(3);
        assert!(lacking.answers().any(|answer| answer.is_none()));
        let mut odd = record.clone();
        odd.rows[0].tier = 99;
        record.models.clear();
        for record in [record, odd] {
            assert!(record.answers().any(|answer| answer.is_none()));
        }
    }
}
