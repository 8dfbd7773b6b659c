//! What models cost by their names, with both: the second table of docs/usage.md.

use std::collections::BTreeMap;
use std::path::Path;

use leafline::usage::Prices;
use serde_json::{Value, json};

use super::{Projects, answer, ccusage, is, session_id, usage};

/// Tokens of all kinds, few enough for the lowest of a model's prices: they cost what a thousand tokens of each kind cost, and
/// of output a hundred.
fn some_of_each() -> Value {
    json!({"input_tokens": 1_000, "output_tokens": 100, "cache_read_input_tokens": 1_000, "cache_creation_input_tokens": 1_000})
}

/// What an answer of each model costs: here, if it has a price, and with ccusage.
fn costs<'m>(
    program: &Path,
    models: &[&'m str],
    usage: &Value,
) -> BTreeMap<&'m str, (Option<f64>, f64)> {
    let projects = Projects::new();
    let session = session_id(1);
    let records: Vec<Value> = (0..)
        .zip(models)
        .map(|(number, model)| {
            // A day each.
            let ids = (format!("m{number}"), format!("r{number}"));
            let mut record =
                answer(&session, (Some(&ids.0), Some(&ids.1)), 0, model, usage.clone());
            record["timestamp"] = json!(day_of(number) + "T12:00:00.000Z");
            record
        })
        .collect();
    projects.write(&format!("-work-tide/{session}.jsonl"), &records);
    let (ours, theirs) = projects.both_by_day(program);
    let prices = Prices::built_in();
    let costs = (0..).zip(models).map(|(number, &model)| {
        let day = day_of(number);
        let ours = prices.has(model).then(|| ours[&day].1);
        (model, (ours, theirs[&day].1))
    });
    costs.collect()
}

fn day_of(number: u32) -> String {
    format!("{}-{:02}-{:02}", 2100 + number / 336, 1 + number / 28 % 12, 1 + number % 28)
}

/// Names that programs and services give Anthropic's models, and those of others that cost the same in both.
const SAME: [&str; 43] = [
    "claude-sonnet-4",
    "claude-sonnet-4-latest",
    "claude-sonnet-4@20250514",
    "claude-sonnet-4-thinking",
    "claude-sonnet-4-5-thinking",
    "claude-sonnet-4-5@20250929",
    "claude-sonnet-4-5-20250929[1m]",
    "claude-sonnet-4.5",
    "anthropic/claude-sonnet-4.5",
    "openrouter/anthropic/claude-sonnet-4.5",
    "anthropic/claude-sonnet-4.5:thinking",
    "claude-4.5-sonnet",
    "claude-haiku-4.5",
    "claude-opus-4",
    "claude-opus-4-1@20250805",
    "claude-opus-4-6@default",
    "claude-3-opus",
    "claude-3-haiku",
    "claude-3-5-haiku",
    "claude-3-5-haiku-20241022",
    "claude-3-5-sonnet",
    "claude-3.5-sonnet",
    "claude-3-5-sonnet-v2@20241022",
    "claude-3-7-sonnet",
    "claude-3-7-sonnet-latest",
    "claude-3.7-sonnet",
    "claude-3.7-sonnet-thought",
    "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "global.anthropic.claude-opus-4-6-v1",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]",
    "us.anthropic.claude-opus-4-6-v1",
    "eu.anthropic.claude-sonnet-4-20250514-v1:0",
    "eu.anthropic.claude-sonnet-4-6",
    "jp.anthropic.claude-haiku-4-5-20251001-v1:0",
    "claude-opus-5",
    "claude-sonnet-5",
    "gpt-5.1-codex",
    "gpt-5.2-codex",
    "minimax-m2",
    "MiniMax-M2.1",
    "glm-4.6",
    "<synthetic>",
];

/// Names whose answers do not cost the same: here, and with ccusage.
const OTHER: [(&str, Option<f64>, f64); 33] = [
    // Names of no model.
    ("sonnet", None, 0.00855),
    ("opus", None, 0.01425),
    ("haiku", None, 0.00285),
    ("claude", None, 0.00855),
    ("claude-sonnet", None, 0.00855),
    ("my-claude-sonnet-4-proxy", None, 0.00855),
    ("mistral-large", None, 0.0212),
    ("kimi-k3-thinking", None, 0.00855),
    ("qwen3-coder", None, 0.000612),
    ("llama-3.3-70b", None, 0.001925),
    ("no-model-of-this-name", None, 0.0),
    // Names that ccusage does not know.
    ("claude-sonnet-4-0", Some(0.00855), 0.0),
    ("claude-opus-4-0", Some(0.04275), 0.0),
    ("claude-sonnet-5-5", Some(0.0056), 0.0),
    ("claude-opus-5-5", Some(0.0112), 0.0),
    ("claude-haiku-5-5", Some(0.000285), 0.0),
    ("claude-2.1", Some(0.0264), 0.0),
    // Regions of Bedrock that ccusage does not know.
    ("us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", Some(0.01026), 0.00855),
    ("eu.anthropic.claude-opus-4-5-20251101-v1:0", Some(0.015675), 0.01425),
    ("apac.anthropic.claude-haiku-4-5-20251001-v1:0", Some(0.003135), 0.00285),
    // No price for what is written to a cache, or for what is read from it too.
    ("gpt-5", Some(0.003625), 0.0039375),
    ("gemini-2.5-pro", Some(0.003625), 0.0039375),
    ("qwen3-coder-plus", Some(0.0026), 0.00285),
    ("claude-3-sonnet", Some(0.0105), 0.00855),
    ("gpt-5-pro", Some(0.057), 0.04725),
    // The fast mode, which ccusage knows by `"speed":"fast"` alone, and one of a model that has none.
    ("claude-opus-4-6-fast", Some(0.0855), 0.01425),
    ("claude-sonnet-4-5-fast", None, 0.00855),
    ("claude-opus-4-5-fast", None, 0.01425),
    // Other lists of prices.
    ("grok-4", Some(0.0105), 0.009),
    ("grok-code-fast-1", Some(0.0024), 0.00062),
    ("deepseek-chat", Some(0.00035), 0.0003175),
    ("kimi-k2", Some(0.0016), 0.0020125),
    ("o3", Some(0.0053), 0.0017325),
];

#[test]
fn models_have_the_same_prices_by_their_many_names() {
    let Some(program) = ccusage() else { return };
    for (name, (ours, theirs)) in costs(&program, &SAME, &some_of_each()) {
        let is_unpriced = name == "<synthetic>";
        assert!(ours.is_some() != is_unpriced, "{name} has no price");
        assert!(is(ours.unwrap_or_default(), theirs), "{name}: {ours:?} {theirs}");
    }
    let names = OTHER.map(|(name, ..)| name);
    let costs_of = costs(&program, &names, &some_of_each());
    for (name, ours, theirs) in OTHER {
        let found = costs_of[name];
        let is_ours = match (ours, found.0) {
            (Some(expected), Some(found)) => is(expected, found),
            (expected, found) => expected == found,
        };
        assert!(is_ours && is(theirs, found.1), "{name}: {found:?}, not {ours:?} {theirs}");
    }
}

/// What Claude Code marks as fast.
#[test]
fn the_fast_mode_of_a_model_that_has_none_has_no_price() {
    let Some(program) = ccusage() else { return };
    let mut fast = usage(1_000, 100);
    fast["speed"] = json!("fast");
    for (model, ours, theirs) in
        [("claude-opus-4-6", 0.045, 0.045), ("claude-sonnet-4-5", 0.0, 0.0045)]
    {
        let found = costs(&program, &[model], &fast)[model];
        assert!(is(found.0.unwrap(), ours) && is(found.1, theirs), "{model}: {found:?}");
    }
}

/// The names in the table that Anthropic's models have, or the others.
fn names_in_the_table(is_taken: impl Fn(&str) -> bool) -> Vec<String> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/catalog/usage/prices.json");
    let table: Value = serde_json::from_slice(&std::fs::read(table).unwrap()).unwrap();
    let models = table["models"].as_object().unwrap().keys();
    models.filter(|name| is_taken(name)).cloned().collect()
}

/// How many names of other makers' models cost the same, something else, and nothing with ccusage; docs/usage.md has the
/// numbers.
#[test]
fn names_of_other_makers_are_counted() {
    let Some(program) = ccusage() else { return };
    let names = names_in_the_table(|name| !name.contains("claude"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (usage, expected) in
        [(usage(1_000, 100), [237, 104, 108]), (some_of_each(), [25, 316, 108])]
    {
        let mut counts = [0, 0, 0];
        for (ours, theirs) in costs(&program, &names, &usage).into_values() {
            let same = is(ours.unwrap(), theirs);
            counts[if same {
                0
            } else if theirs > 0.0 {
                1
            } else {
                2
            }] += 1;
        }
        println!(
            "{usage}: of {} the same {}, another {}, none {}",
            names.len(),
            counts[0],
            counts[1],
            counts[2]
        );
        assert_eq!(counts, expected, "{usage}");
    }
}

/// Of each name of Anthropic's models in the table.
#[test]
fn all_names_of_claude_in_the_table_have_the_same_prices() {
    let Some(program) = ccusage() else { return };
    let models = names_in_the_table(|name| name.contains("claude"));
    let models: Vec<&str> = models.iter().map(String::as_str).collect();
    let regions = ["apac.", "au.", "eu.", "us-gov.", "us."];
    let newer = ["-5-5", "-mythos-preview"];
    let older = ["claude-2", "claude-instant-"];
    let mut counts = [0, 0, 0];
    for (name, (ours, theirs)) in costs(&program, &models, &some_of_each()) {
        let is_other = if is(ours.unwrap(), theirs) {
            counts[0] += 1;
            true
        } else if theirs == 0.0 {
            counts[2] += 1;
            older.iter().any(|older| name.starts_with(older))
                || newer.iter().any(|newer| name.ends_with(newer))
        } else {
            counts[1] += 1;
            name == "claude-3-sonnet-20240229"
                || regions.iter().any(|region| name.starts_with(region))
        };
        assert!(is_other, "{name}: {ours:?} {theirs}");
    }
    // The same, another price, none: docs/usage.md has the numbers.
    assert_eq!(counts, [75, 17, 29]);
}
