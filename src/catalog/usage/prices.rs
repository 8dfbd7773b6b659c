//! What tokens cost.

use std::collections::BTreeMap;
use std::ops::Bound;

use leafline_import::{ServiceTier, Usage};
use serde::{Deserialize, Deserializer};

use super::model_name;

/// The table that the library has: `generate/prices.py` makes it.
const BUILT_IN: &str = include_str!("prices.json");

/// The ending of a model's name that says that it answered in its fast mode.
const FAST: &str = "-fast";

/// What a search of the web costs, in dollars for a million: the same with all of Anthropic's models.
const WEB_SEARCHES: f64 = 10_000.0;

/// The factor for a model that runs in the United States by request (`inference_geo`).
const IN_US: f64 = 1.1;

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
    /// By their names in small letters.
    models: BTreeMap<String, Price>,
}

/// Why a text is not a table of prices.
#[derive(Debug, thiserror::Error)]
#[error("this is not a table of prices: {0}")]
pub struct NoPrices(String);

/// The prices of a model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
    /// Other prices of requests with a longer input: one, or several from the shortest input to the longest.
    #[serde(default, deserialize_with = "one_or_several")]
    above: Vec<Above>,
    /// The factor for the fast mode, if the model has one.
    fast: Option<f64>,
    /// The factors for service tiers; 1 for one that the model does not have.
    priority: Option<f64>,
    flex: Option<f64>,
    batch: Option<f64>,
    ultrafast: Option<f64>,
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

fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Above>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stated {
        One(Above),
        Several(Vec<Above>),
    }
    Ok(match Stated::deserialize(from)? {
        Stated::One(above) => vec![above],
        Stated::Several(above) => above,
    })
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
        let mut prices: Self =
            serde_json::from_str(json).map_err(|error| NoPrices(error.to_string()))?;
        for price in prices.models.values_mut() {
            price.above.sort_by_key(|above| above.tokens);
        }
        let named =
            prices.models.into_iter().map(|(name, price)| (name.to_ascii_lowercase(), price));
        prices.models = named.collect();
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

    /// What an answer of a model costs in US dollars, at most [`f64::MAX`]; `None` if the model has no prices.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        Some(self.find(model)?.cost(usage))
    }

    /// A model's prices, by the names that programs and services give it.
    pub(super) fn find(&self, model: &str) -> Option<ModelPrice<'_>> {
        let model = model.to_ascii_lowercase();
        // A model may be called so.
        if let Some(price) = self.named(&model) {
            return Some(ModelPrice { price, factor: 1.0 });
        }
        let price = self.named(model.strip_suffix(FAST)?)?;
        Some(ModelPrice { price, factor: price.fast? })
    }

    fn named(&self, model: &str) -> Option<&Price> {
        let short = model.rsplit('/').next().unwrap_or(model);
        let plain = short.strip_suffix("[1m]").unwrap_or(short);
        let as_it_is = [model, short, plain].into_iter().find_map(|name| self.models.get(name));
        as_it_is.or_else(|| model_name::plain_forms(plain).iter().find_map(|name| self.dated(name)))
    }

    /// The prices of a name as it is, or of the same model with a date. If several dates are known, all have to cost the same.
    fn dated(&self, name: &str) -> Option<&Price> {
        let exact = self.models.get(name);
        exact.or_else(|| {
            let after = (Bound::Excluded(name), Bound::Unbounded);
            let longer = self.models.range::<str, _>(after).map_while(|(longer, price)| {
                longer.strip_prefix(name).map(|ending| (ending, price))
            });
            let mut prices = longer.filter(|(ending, _)| model_name::is_date(ending));
            let (_, first) = prices.next()?;
            prices.all(|(_, other)| other == first).then_some(first)
        })
    }
}

impl Price {
    fn all(&self) -> impl Iterator<Item = f64> {
        let Self { input, output, cache_read, cache_write, cache_write_1h, above: _, .. } = *self;
        let Self { fast, priority, flex, batch, ultrafast, .. } = *self;
        let above = self.above.iter().flat_map(|above| {
            let Above { input, output, cache_read, cache_write, cache_write_1h, tokens: _ } =
                *above;
            [input, output, cache_read, cache_write, cache_write_1h].into_iter().flatten()
        });
        let factors = [fast, priority, flex, batch, ultrafast];
        let optional = [cache_read, cache_write, cache_write_1h].into_iter().chain(factors);
        [input, output].into_iter().chain(optional.flatten()).chain(above)
    }

    /// The factor for a service tier.
    fn factor(&self, tier: ServiceTier) -> f64 {
        let factor = match tier {
            ServiceTier::Standard => None,
            ServiceTier::Priority => self.priority,
            ServiceTier::Flex => self.flex,
            ServiceTier::Batch => self.batch,
            ServiceTier::Ultrafast => self.ultrafast,
        };
        factor.unwrap_or(1.0)
    }
}

/// The prices that count for a model's answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelPrice<'p> {
    price: &'p Price,
    factor: f64,
}

impl ModelPrice<'_> {
    /// What an answer costs, in dollars.
    #[expect(clippy::cast_precision_loss, reason = "a cost has far fewer digits")]
    pub(super) fn cost(&self, usage: &Usage) -> f64 {
        let price = self.price;
        let longest = match usage.longest_input {
            0 => usage.all_input(),
            longest => longest,
        };
        let above = price.above.iter().rev().find(|above| longest > above.tokens);
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
        // A table may have any prices, and of no tokens none is a number without these bounds.
        let [read, write, long] = [read, write, long].map(|price| price.min(f64::MAX));
        let short = usage.cache_write - usage.cache_write_1h.min(usage.cache_write);
        let parts = [
            (usage.input, input),
            (usage.output, output),
            (usage.cache_read, read),
            (short, write),
            (usage.cache_write - short, long),
        ];
        let sum: f64 = parts.into_iter().map(|(tokens, price)| tokens as f64 * price).sum();
        let in_us = if usage.in_us { IN_US } else { 1.0 };
        let factors = [self.factor, price.factor(usage.tier), in_us];
        let cost = factors
            .into_iter()
            .fold(sum.min(f64::MAX), |cost, factor| (cost * factor).min(f64::MAX));
        (cost + usage.web_searches as f64 * WEB_SEARCHES).min(f64::MAX) / 1e6
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
            ..Usage::default()
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
        for sonnet in ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4.5[1m]"] {
            let answer = |input| Usage { output: 100, ..super::tests::input(input) };
            assert!(is(cost(sonnet, answer(200_000)), 0.6015), "{sonnet}");
            assert!(is(cost(sonnet, answer(300_000)), 1.80225), "{sonnet}");
        }
        // This one has had a price for all lengths from its first day.
        assert!(is(cost("claude-sonnet-4-6", input(300_000)), 0.9));
        assert!(is(cost("claude-haiku-5-5", input(100_000)), 0.01));
        assert!(is(cost("claude-haiku-5-5", input(200_000)), 0.1));
    }

    #[test]
    fn an_answer_of_several_requests_is_as_long_as_the_longest() {
        let usage = |longest_input| Usage { longest_input, ..input(300_000) };
        assert!(is(cost("claude-sonnet-4-5", usage(200_000)), 0.9));
        assert!(is(cost("claude-sonnet-4-5", usage(200_001)), 1.8));
    }

    #[test]
    fn searches_and_the_place_of_the_model_cost_more() {
        let usage = Usage { output: 100, ..input(1_000) };
        let searches = Usage { web_searches: 12, ..usage };
        assert!(is(cost("claude-sonnet-4-5", searches), 0.1245));
        // Searches cost the same everywhere.
        assert!(is(cost("claude-sonnet-4-5", Usage { in_us: true, ..usage }), 0.00495));
        let all = Usage { in_us: true, ..searches };
        assert!(is(cost("claude-opus-4-6-fast", all), 6.0 * 1.1 * 0.0075 + 0.12));
    }

    #[test]
    fn tiers_have_their_prices() {
        let of = |model: &str, tier| cost(model, Usage { tier, output: 1_000_000, ..input(0) });
        for (model, tier, expected) in [
            ("gpt-5.4", ServiceTier::Standard, 15.0),
            ("gpt-5.4", ServiceTier::Priority, 30.0),
            ("gpt-5.4", ServiceTier::Flex, 7.5),
            ("gpt-5.5", ServiceTier::Priority, 75.0),
            ("gpt-5-mini", ServiceTier::Priority, 3.6),
            ("gpt-6.1-sol", ServiceTier::Ultrafast, 60.0),
            ("claude-opus-4-6", ServiceTier::Batch, 12.5),
            // It has none: the request is an ordinary one.
            ("claude-opus-4-6", ServiceTier::Priority, 25.0),
            ("gpt-5.3-codex", ServiceTier::Flex, 14.0),
        ] {
            assert!(is(of(model, tier), expected), "{model} {tier:?}: {:?}", of(model, tier));
        }
        let long = Usage { tier: ServiceTier::Priority, output: 100_000, ..input(1_000_000) };
        assert!(is(cost("gpt-5.4", long), 14.5));
    }

    #[test]
    fn a_cost_is_always_a_number() {
        let most = r#"{"date":"2099-01-01","models":{"m":{"input":1e-300,"output":1e308,"cache_write":1e308,"fast":1e308,
            "above":{"tokens":10,"input":1e308}},"z":{"input":1e308,"output":1e308,"fast":0}}}"#;
        let prices = Prices::read(most).unwrap();
        for model in ["m", "m-fast", "z", "z-fast"] {
            for tokens in [0, 1, 11, u64::MAX] {
                let usage = Usage {
                    output: tokens,
                    cache_write: tokens,
                    web_searches: tokens,
                    in_us: true,
                    ..input(tokens)
                };
                for usage in [usage, input(tokens), Usage { input: 0, ..usage }] {
                    let cost = prices.cost(model, &usage).unwrap();
                    assert!(cost.is_finite() && cost >= 0.0, "{model} {usage:?}: {cost}");
                }
            }
        }
    }

    #[test]
    fn models_are_known_by_several_names() {
        let prices = Prices::built_in();
        let usage = Usage { output: 1_000_000, ..input(1_000_000) };
        let cost = |name| prices.cost(name, &usage);
        for (names, expected) in [
            ("claude-opus-4-5 anthropic/claude-opus-4-5 claude-opus-4-5-20251101", 30.0),
            ("claude-opus-4-6-20990101 claude-opus-4-5@20251101 claude-opus-4-6[1m]", 30.0),
            ("claude-opus-4-6@default global.anthropic.claude-opus-4-6-v1 CLAUDE-OPUS-4.6", 30.0),
            (
                "claude-sonnet-4 claude-sonnet-4-0 claude-sonnet-4-latest claude-sonnet-4@20250514",
                18.0,
            ),
            ("claude-4-sonnet claude-4.5-sonnet claude-sonnet-4.5 claude-sonnet-4-thinking", 18.0),
            (
                "claude-3-7-sonnet claude-3.7-sonnet-thought anthropic/claude-3.7-sonnet:thinking",
                18.0,
            ),
            ("claude-3-5-sonnet claude-3-5-sonnet-latest claude-3-5-sonnet-v2@20241022", 18.0),
            ("claude-3-sonnet anthropic.claude-3-sonnet-20240229-v1:0", 18.0),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m] us.anthropic.claude-sonnet-4-6",
                19.8,
            ),
            ("us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", 21.6),
            ("arn:aws:bedrock:a:1:inference-profile/eu.anthropic.claude-sonnet-4-6", 19.8),
            ("claude-3-5-haiku claude-3-5-haiku-latest claude-3-5-haiku@20241022", 4.8),
            ("claude-3-opus claude-opus-4 claude-opus-4-0 claude-opus-4-1-20250805", 90.0),
            ("gpt-5.1-codex openai/gpt-5.1-codex gpt-5.1-codex-2025-11-13", 11.25),
            ("kimi-k2 moonshotai/kimi-k2-0905 kimi-k2-0711-preview", 3.1),
            ("minimax-m2 MiniMax-M2 minimax/minimax-m2", 1.5),
        ] {
            // More than 200,000 tokens have other prices for some, and the price of a plain request is what is asked here.
            let small = Usage { input: 100_000, output: 100_000, ..Usage::default() };
            for name in names.split(' ') {
                let cost = prices.cost(name, &small).map(|cost| cost * 10.0);
                assert!(is(cost, expected), "{name}: {cost:?}");
            }
        }
        assert!(is(cost("claude-haiku-4-5"), 6.0));
    }

    #[test]
    fn a_name_that_may_be_several_models_has_no_price() {
        let prices = Prices::built_in();
        for name in [
            "",
            "<synthetic>",
            "-fast",
            "claude-sonnet-4-5-fast",
            "opus",
            "sonnet",
            "default",
            "claude",
            "claude-sonnet",
            "claude-opus-4-5-2025110",
            "claude-sonnet-9",
            "claude-3",
            "anthropic.",
            "kimi",
            "gpt",
            "qwen",
            // Three prices under three dates.
            "mistral-large",
            "deepseek/deepseek-chat:free",
            "kimi-k3-thinking",
            "gemini-2.5",
            "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc123",
        ] {
            assert!(!prices.has(name), "{name}");
        }
    }

    #[test]
    fn a_longer_input_may_have_several_prices() {
        let cost = |tokens| cost("qwen3-coder-plus", input(tokens));
        assert!(is(cost(32_000), 0.032) && is(cost(100_000), 0.18));
        assert!(is(cost(200_000), 0.6) && is(cost(300_000), 1.8));
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
