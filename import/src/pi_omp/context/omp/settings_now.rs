//! Settings of today's omp that no document names. The index does not have them: they are read from the last entry on the
//! path that sets them.

use super::facts::record_of;
use crate::conversation::{Above, Conversation, Images, PathEnd, PathLimit};
use crate::scan::Raw;
use crate::{EntryKind, JsonText, text};

/// The `type` of the entries that set the service tier.
pub(super) const SERVICE_TIER_CHANGE: &str = "service_tier_change";

/// The providers that a service tier can be set for, in omp's order.
const PROVIDERS: [&str; 3] = ["openai", "anthropic", "google"];

/// The tiers.
const TIERS: [&str; 5] = ["auto", "default", "flex", "scale", "priority"];

/// The thinking level that was chosen, as the last change on the path states it; its level where it states none.
pub(super) fn configured_thinking_level<C: Conversation>(
    conversation: &mut C,
    entry: u64,
) -> Result<Option<JsonText>, C::Error> {
    let mut found = None;
    conversation.climb(entry, |entry| {
        let node = conversation.node(entry)?;
        if node.kind == EntryKind::ThinkingLevelChange {
            found = Some(entry);
        }
        Ok(match node.parent {
            Some(parent) if found.is_none() => Above::Entry(parent),
            _ => Above::End(PathEnd::Root),
        })
    })?;
    let Some(change) = found else { return Ok(None) };
    let decoded = text::decode(conversation.line(change, Images::Omitted)?);
    let Some(record) = record_of(&decoded) else { return Ok(None) };
    let chosen = record.members(["configured", "thinkingLevel"]);
    let chosen = chosen.into_iter().flatten().find(|value| !value.is_null());
    Ok(chosen.and_then(|value| JsonText::of_raw(value.as_str()).ok()))
}

/// The service tiers that the last change on the path sets.
pub(super) fn service_tier<C: Conversation>(
    conversation: &mut C,
    entry: u64,
) -> Result<Option<JsonText>, C::Error> {
    for entry in conversation.path(entry, PathLimit::Root)?.upwards() {
        // The index has no kind of its own for these changes, so the lines of unknown kinds are asked.
        if conversation.node(entry)?.kind != EntryKind::Unknown {
            continue;
        }
        let decoded = text::decode(conversation.line(entry, Images::Omitted)?);
        if let Some(record) = record_of(&decoded) {
            let [name, tier] = record.members(["type", "serviceTier"]);
            if name.is_some_and(|name| name.is_text(SERVICE_TIER_CHANGE)) {
                return Ok(tier.and_then(tiers));
            }
        }
    }
    Ok(None)
}

/// What omp makes of a service tier: an object of tiers by provider. Text is how earlier versions state it.
fn tiers(value: Raw<'_>) -> Option<JsonText> {
    let priority = |providers: &[&'static str]| {
        providers.iter().map(|&provider| (provider, "priority")).collect()
    };
    let of_openai = |tier| vec![("openai", tier)];
    let tiers: Vec<(&str, &str)> = if value.is_object() {
        let tiers = PROVIDERS.into_iter().zip(value.members(PROVIDERS));
        tiers.filter_map(|(provider, tier)| Some((provider, tier_of(tier?)?))).collect()
    } else {
        match value.as_string()?.as_ref() {
            b"priority" => priority(&PROVIDERS),
            b"openai-only" => priority(&["openai"]),
            b"claude-only" => priority(&["anthropic"]),
            _ => of_openai(tier_of(value)?),
        }
    };
    let members: Vec<String> =
        tiers.iter().map(|(provider, tier)| format!("\"{provider}\":\"{tier}\"")).collect();
    let text = format!("{{{}}}", members.join(","));
    if members.is_empty() { None } else { JsonText::of_raw(&text).ok() }
}

fn tier_of(value: Raw<'_>) -> Option<&'static str> {
    TIERS.into_iter().find(|tier| value.is_text(tier))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_those_that_omp_knows() {
        for (value, expected) in [
            (
                r#""priority""#,
                r#"{"openai":"priority","anthropic":"priority","google":"priority"}"#,
            ),
            (r#""claude-only""#, r#"{"anthropic":"priority"}"#),
            (r#""openai-only""#, r#"{"openai":"priority"}"#),
            (r#""fl\u0065x""#, r#"{"openai":"flex"}"#),
            (
                r#"{"google":"scale","openai":"auto","anthropic":"x"}"#,
                r#"{"openai":"auto","google":"scale"}"#,
            ),
            (r#"{"other":"auto"}"#, ""),
            (r#"["auto"]"#, ""),
            ("null", ""),
            (r#""x""#, ""),
        ] {
            let told = tiers(Raw::parse(value).unwrap());
            assert_eq!(told.as_ref().map_or("", JsonText::as_str), expected, "{value}");
        }
    }
}
