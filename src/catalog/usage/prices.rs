//! What tokens cost.

use std::collections::BTreeMap;

use leafline_import::Usage;
use serde::Deserialize;

/// The table that the library has: `generate/prices.py` makes it.
const BUILT_IN: &str = include_str!("prices.json");

/// The ending of a model's name that says that it answered in its fast mode.
const FAST: &str = "-fast";

/// How many digits a date at the end of a model's name has.
const DATE_DIGITS: usize = 8;

/// Prices of models by their names, in US dollars for a million tokens.
///
/// ```
/// use leafline::usage::Prices;
///
/// let own = Prices::read(r#"{"date": "2026-11-24", "models": {"my-model": {"input": 1.0, "output": 4.0}}}"#)?;
/// let prices = Prices::built_in().with(own);
/// assert!(prices.has("my-model") && prices.has("claude-opus-4-6"));
/// # Ok::<(), leafline::usage::NoPrices>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The day that they are of, as text.
    date: String,
    /// Where they are from.
    #[serde(default)]
    sources: Vec<String>,
    models: BTreeMap<String, Price>,
}

/// Why a text is not a table of prices.
#[derive(Debug, thiserror::Error)]
#[error("this is not a table of prices: {0}")]
pub struct NoPrices(String);

/// The prices of a model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    output: f64,
    /// As input, if it is missing.
    cache_read: Option<f64>,
    /// As input, if it is missing.
    cache_write: Option<f64>,
    /// What is kept for an hour: twice the price of input, if it is missing.
    cache_write_1h: Option<f64>,
    /// Other prices of requests with a longer input.
    above: Option<Above>,
    /// The factor for the fast mode, if the model has one.
    fast: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Above {
    /// For more tokens of input than these, cached ones included.
    tokens: u64,
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
}

impl Prices {
    /// The table that the library has.
    #[must_use]
    pub fn built_in() -> Self {
        Self::read(BUILT_IN).expect("the built-in table is one: a test reads it")
    }

    /// Reads a table: JSON with the members of the built-in one.
    ///
    /// # Errors
    ///
    /// [`NoPrices`] if it is not one, or has a price that is negative.
    pub fn read(json: &str) -> Result<Self, NoPrices> {
        let prices: Self =
            serde_json::from_str(json).map_err(|error| NoPrices(error.to_string()))?;
        match prices.models.iter().find(|(_, price)| price.all().any(|price| price < 0.0)) {
            Some((model, _)) => Err(NoPrices(format!("a price of {model} is negative"))),
            None => Ok(prices),
        }
    }

    /// This table with the prices of another, which count where both have a model.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.models.extend(other.models);
        self.sources.extend(other.sources);
        self.date = self.date.max(other.date);
        self
    }

    /// The day that the prices are of, as the table says it: `2026-11-24`.
    #[must_use]
    pub fn date(&self) -> &str {
        &self.date
    }

    /// Where they are from.
    #[must_use]
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// Whether a model has prices.
    #[must_use]
    pub fn has(&self, model: &str) -> bool {
        self.find(model).is_some()
    }

    /// What an answer of a model costs in US dollars; `None` if the model has no prices.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        Some(self.find(model)?.cost(usage))
    }

    /// A model's prices, by its name, by the part of it behind a provider's, and without a date at its end.
    pub(super) fn find(&self, model: &str) -> Option<ModelPrice> {
        let (name, is_fast) = match model.strip_suffix(FAST) {
            Some(name) => (name, true),
            None => (model, false),
        };
        // A model may be called so.
        if let Some(price) = self.named(model) {
            return Some(ModelPrice { price, factor: 1.0 });
        }
        let price = self.named(name)?;
        let factor = if is_fast { price.fast? } else { 1.0 };
        Some(ModelPrice { price, factor })
    }

    fn named(&self, model: &str) -> Option<Price> {
        let short = model.rsplit('/').next().unwrap_or(model);
        let plain = short.strip_suffix("[1m]").unwrap_or(short);
        let undated = plain.rsplit_once(['-', '@']).and_then(|(name, date)| {
            let is_date =
                date.len() == DATE_DIGITS && date.bytes().all(|byte| byte.is_ascii_digit());
            is_date.then_some(name)
        });
        let names = [Some(model), Some(short), Some(plain), undated];
        names.into_iter().flatten().find_map(|name| self.models.get(name).copied())
    }
}

impl Price {
    fn all(&self) -> impl Iterator<Item = f64> {
        let Self { input, output, cache_read, cache_write, cache_write_1h, above, fast } = *self;
        let above = above.into_iter().flat_map(|above| {
            let Above { input, output, cache_read, cache_write, cache_write_1h, tokens: _ } = above;
            [input, output, cache_read, cache_write, cache_write_1h].into_iter().flatten()
        });
        let optional = [cache_read, cache_write, cache_write_1h, fast].into_iter().flatten();
        [input, output].into_iter().chain(optional).chain(above)
    }
}

/// The prices that count for a model's answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelPrice {
    price: Price,
    factor: f64,
}

impl ModelPrice {
    /// What an answer costs, in dollars.
    #[expect(clippy::cast_precision_loss, reason = "a cost has far fewer digits")]
    pub(super) fn cost(&self, usage: &Usage) -> f64 {
        let price = &self.price;
        let all_input =
            usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let above = price.above.filter(|above| all_input > above.tokens);
        let of = |above: Option<f64>, usual: f64| above.unwrap_or(usual);
        let input = of(above.and_then(|above| above.input), price.input);
        let output = of(above.and_then(|above| above.output), price.output);
        let factor = input / price.input;
        let factor = if factor.is_finite() { factor } else { 1.0 };
        let read = price.cache_read.unwrap_or(price.input);
        let write = price.cache_write.unwrap_or(price.input);
        let long = price.cache_write_1h.unwrap_or(2.0 * price.input);
        let read = of(above.and_then(|above| above.cache_read), factor * read);
        let write = of(above.and_then(|above| above.cache_write), factor * write);
        let long = of(above.and_then(|above| above.cache_write_1h), factor * long);
        let short = usage.cache_write - usage.cache_write_1h.min(usage.cache_write);
        let parts = [
            (usage.input, input),
            (usage.output, output),
            (usage.cache_read, read),
            (short, write),
            (usage.cache_write - short, long),
        ];
        let sum: f64 = parts.into_iter().map(|(tokens, price)| tokens as f64 * price).sum();
        sum * self.factor / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(model: &str, usage: Usage) -> Option<f64> {
        Prices::built_in().cost(model, &usage)
    }

    fn input(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    fn is(cost: Option<f64>, expected: f64) -> bool {
        cost.is_some_and(|cost| (cost - expected).abs() < 1e-9)
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = Usage {
            input: 1_000,
            output: 2_000,
            reasoning: 1_500,
            cache_read: 10_000,
            cache_write: 3_000,
            cache_write_1h: 1_000,
            cost: None,
        };
        let expected = 0.005 + 0.05 + 0.005 + 0.0125 + 0.01;
        assert!(is(cost("claude-opus-4-6", usage), expected));
        assert!(is(cost("claude-opus-4-6-fast", usage), 6.0 * expected));
    }

    #[test]
    fn a_long_input_has_other_prices() {
        assert!(is(cost("claude-sonnet-4-20250514", input(200_000)), 0.6));
        assert!(is(cost("claude-sonnet-4-20250514", input(200_001)), 1.200_006));
        let usage = Usage { cache_write: 300_000, cache_write_1h: 300_000, ..input(0) };
        assert!(is(cost("claude-sonnet-4-20250514", usage), 3.6));
    }

    #[test]
    fn models_are_known_by_several_names() {
        let prices = Prices::built_in();
        for name in [
            "claude-opus-4-5",
            "anthropic/claude-opus-4-5",
            "claude-opus-4-5-20251101",
            "claude-opus-4-6-20990101",
            "claude-opus-4-5@20251101",
            "claude-opus-4-6[1m]",
            "gpt-5.1-codex",
        ] {
            assert!(prices.has(name), "{name}");
        }
        for name in [
            "",
            "<synthetic>",
            "-fast",
            "claude-sonnet-4-5-fast",
            "opus",
            "claude-opus-4-5-2025110",
        ] {
            assert!(!prices.has(name), "{name}");
        }
    }

    #[test]
    fn other_tables() {
        let own =
            |models: &str| Prices::read(&format!(r#"{{"date":"2099-01-01","models":{models}}}"#));
        let prices =
            Prices::built_in().with(own(r#"{"claude-opus-4-6":{"input":1,"output":2}}"#).unwrap());
        assert!(is(prices.cost("claude-opus-4-6", &input(1_000_000)), 1.0));
        assert_eq!(prices.date(), "2099-01-01");
        for wrong in [
            "[]",
            "{\"a\":{}}",
            r#"{"a":{"input":-1,"output":1}}"#,
            r#"{"a":{"input":1,"output":1,"x":1}}"#,
        ] {
            assert!(own(wrong).is_err(), "{wrong}");
        }
    }
}
