//! What a session's answers have used and cost: as the program states it, or by the table of prices.

use std::collections::HashMap;

use leafline_import::Usage;

use super::html::escaped;
use super::number::grouped;
use crate::catalog::usage::add_costs;
use crate::error::Result;
use crate::session::SessionReader;
use crate::usage::Prices;

/// The cost of answers, in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cost {
    dollars: f64,
    /// Whether a part of it is by the table.
    is_estimate: bool,
    /// Whether there are answers whose cost is not known.
    is_part: bool,
}

/// What was used, as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    /// Tokens and cost in a few words.
    pub(super) words: String,
    /// All of it.
    pub(super) title: String,
}

impl Told {
    pub(super) fn html(&self) -> String {
        let title = escaped(&self.title);
        format!("<span class=\"usage\" title=\"{title}\">{}</span>", escaped(&self.words))
    }
}

/// The usage of a session's answers.
#[derive(Debug)]
pub(super) struct Costs {
    prices: Prices,
    /// The answers that several records may report, until they are shown, each with the report that counts.
    answers: HashMap<u64, Option<Usage>>,
    sum: Usage,
    cost: Cost,
}

impl Costs {
    /// Adds up a session.
    pub(super) fn of(reader: &SessionReader) -> Result<Self> {
        let (prices, answers) = (Prices::built_in(), HashMap::new());
        let mut costs = Self { prices, answers, sum: Usage::default(), cost: Cost::default() };
        reader.each_answer(|answer| {
            let usage = &answer.usage;
            let cost = costs.cost(answer.model, usage);
            costs.cost.dollars = add_costs(costs.cost.dollars, cost.dollars);
            costs.cost.is_estimate |= cost.is_estimate;
            costs.cost.is_part |= cost.is_part;
            let sum = &mut costs.sum;
            for (sum, more) in [
                (&mut sum.input, usage.input),
                (&mut sum.output, usage.output),
                (&mut sum.cache_read, usage.cache_read),
                (&mut sum.cache_write, usage.cache_write),
            ] {
                *sum = sum.saturating_add(more);
            }
            if let Some(identity) = answer.identity {
                costs.answers.insert(identity, Some(*usage));
            }
        })?;
        Ok(costs)
    }

    fn cost(&self, model: Option<&str>, usage: &Usage) -> Cost {
        if let Some(dollars) = usage.cost {
            return Cost { dollars, ..Cost::default() };
        }
        if usage.tokens() == 0 {
            return Cost::default();
        }
        match model.and_then(|model| self.prices.cost(model, usage)) {
            Some(dollars) => Cost { dollars, is_estimate: true, is_part: false },
            None => Cost { is_part: true, ..Cost::default() },
        }
    }

    /// All answers in a few words; `None` if nothing was used.
    pub(super) fn of_session(&self) -> Option<Told> {
        (self.sum.tokens() > 0 || self.cost.dollars > 0.0).then(|| self.words(&self.sum, self.cost))
    }

    /// The answer that a record reports, in a few words; `None` if another record has already told it.
    pub(super) fn of_answer(
        &mut self,
        identity: Option<u64>,
        model: Option<&str>,
        usage: Usage,
    ) -> Option<Told> {
        let counted = identity.and_then(|identity| self.answers.get_mut(&identity));
        let usage = counted.map_or(Some(usage), Option::take)?;
        Some(self.words(&usage, self.cost(model, &usage)))
    }

    /// Tokens and cost; a title has all of them.
    fn words(&self, usage: &Usage, cost: Cost) -> Told {
        let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let mut words = format!("{} in, {} out", grouped(input), grouped(usage.output));
        let mut title = format!(
            "input {}, cache read {}, cache write {}, output {}",
            grouped(usage.input),
            grouped(usage.cache_read),
            grouped(usage.cache_write),
            grouped(usage.output)
        );
        if cost.dollars > 0.0 {
            words.push_str(&format!(", {}", dollars(cost)));
            if cost.is_estimate {
                title.push_str(&format!(
                    "; the cost is an estimate, by the prices of {}",
                    self.prices.date()
                ));
            }
            if cost.is_part {
                title.push_str("; without models that have no price");
            }
        }
        Told { words, title }
    }
}

/// A cost as it is read: one that is estimated has a sign before it, one of which a part is not known has one behind it.
fn dollars(Cost { dollars, is_estimate, is_part }: Cost) -> String {
    let digits = if dollars < 0.1 { 4 } else { 2 };
    let about = if is_estimate { "≈ " } else { "" };
    let more = if is_part { "+" } else { "" };
    // A program may state any cost, also one of three hundred digits.
    if dollars >= 1e12 {
        return format!("{about}${dollars:.2e}{more}");
    }
    format!("{about}${dollars:.digits$}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs() -> Costs {
        let (prices, answers) = (Prices::built_in(), HashMap::new());
        Costs { prices, answers, sum: Usage::default(), cost: Cost::default() }
    }

    #[test]
    fn what_no_program_states_is_estimated() {
        let usage = Usage { input: 1_000_000, output: 1_000_000, ..Usage::default() };
        let costs = costs();
        let of = |model, usage: &Usage| dollars(costs.cost(model, usage));
        assert_eq!(of(Some("claude-opus-4-6"), &usage), "≈ $30.00");
        assert_eq!(of(Some("claude-opus-4-6"), &Usage { cost: Some(0.05), ..usage }), "$0.0500");
        assert!(costs.cost(None, &usage).is_part && costs.cost(Some("opus"), &usage).is_part);
        assert_eq!(costs.cost(None, &Usage::default()), Cost::default());
        assert_eq!(dollars(Cost { dollars: 1.0, is_estimate: false, is_part: true }), "$1.00+");
        assert_eq!(dollars(Cost { dollars: f64::MAX, ..Cost::default() }), "$1.80e308");
    }

    #[test]
    fn an_answer_is_told_once_as_it_counts() {
        let mut costs = costs();
        let used = |output| Usage { output, ..Usage::default() };
        costs.answers.insert(7, Some(used(40)));
        let told = costs.of_answer(Some(7), None, used(5)).unwrap();
        assert!(told.words.contains("0 in, 40 out"), "{told:?}");
        assert_eq!(costs.of_answer(Some(7), None, used(40)), None);
        assert!(costs.of_answer(Some(8), None, used(5)).is_some());
        assert!(costs.of_answer(None, None, used(5)).is_some());
    }
}
