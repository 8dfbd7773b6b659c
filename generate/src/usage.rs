//! Tokens and their cost, in the numbers of a session's `usage`.

use crate::number::{integer, number};
use crate::random::Random;

/// A model: its provider, name, and prices in dollars per million tokens.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) api: &'static str,
    pub(crate) provider: &'static str,
    pub(crate) id: &'static str,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// The models that a session switches between.
pub(crate) const MODELS: [Model; 3] = [
    Model {
        api: "anthropic-messages",
        provider: "anthropic",
        id: "claude-opus-4-5",
        input: 5.0,
        output: 25.0,
        cache_read: 0.5,
        cache_write: 6.25,
    },
    Model {
        api: "anthropic-messages",
        provider: "anthropic",
        id: "claude-sonnet-4-5",
        input: 3.0,
        output: 15.0,
        cache_read: 0.3,
        cache_write: 3.75,
    },
    Model {
        api: "openai-responses",
        provider: "openai",
        id: "gpt-5.1-codex",
        input: 1.25,
        output: 10.0,
        cache_read: 0.125,
        cache_write: 0.0,
    },
];

/// The tokens in the context, as a session grows and is compacted.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) context: usize,
}

impl Tokens {
    /// Appends a `usage` object for an answer of `answer` bytes, after `fresh` bytes that the model had not seen yet.
    pub(crate) fn write(
        &mut self,
        out: &mut Vec<u8>,
        model: &Model,
        answer: usize,
        fresh: usize,
        random: &mut Random,
    ) {
        let input = if random.chance(700) { random.between(1, 9) } else { random.between(10, 900) };
        let output = answer / 4 + random.between(10, 60);
        let cache_read = self.context;
        let cache_write = fresh / 4 + random.between(1, 40);
        self.context += cache_write + output;
        let counts = [
            ("input", input, model.input),
            ("output", output, model.output),
            ("cacheRead", cache_read, model.cache_read),
            ("cacheWrite", cache_write, model.cache_write),
        ];
        out.extend_from_slice(b"\"usage\":{");
        for (name, count, _) in counts {
            member(out, name);
            integer(out, count as u64);
            out.push(b',');
        }
        member(out, "totalTokens");
        integer(out, (input + output + cache_read + cache_write) as u64);
        out.extend_from_slice(b",\"cost\":{");
        let mut total = 0.0;
        for (name, count, price) in counts {
            let cost = price / 1_000_000.0 * count as f64;
            total += cost;
            member(out, name);
            number(out, cost);
            out.push(b',');
        }
        member(out, "total");
        number(out, total);
        out.extend_from_slice(b"}}");
    }
}

fn member(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}
