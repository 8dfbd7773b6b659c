//! The names that services and programs give the same model.

/// The families of Anthropic's models, which have their version behind their name or, up to version 3, ahead of it.
const CLAUDE_FAMILIES: [&str; 3] = ["opus", "sonnet", "haiku"];

/// The forms in which a table may have a model that it has not as it is called: without what services and programs add to a
/// name, and without a day at its end.
pub(super) fn plain_forms(name: &str) -> Vec<String> {
    let own = without_bedrock(name);
    let mut forms = vec![own.to_owned()];
    let mut more = |form: Option<String>| forms.extend(form);
    more(own.strip_suffix("-latest").map(str::to_owned));
    // Such as `kimi-k2-0905`, of which only a preview is known.
    more(Some(format!("{own}-preview")).filter(|_| own.rsplit_once('-').is_some_and(ends_in_date)));
    if let Some(rest) = own.strip_prefix("claude-") {
        let plain = claude(rest);
        more(family_first(&plain));
        more(Some(format!("claude-{plain}")));
    }
    let undated: Vec<_> = forms.iter().filter_map(|form| without_day(form)).collect();
    forms.extend(undated);
    forms
}

fn ends_in_date((_, ending): (&str, &str)) -> bool {
    ending.len() >= 4 && ending.bytes().all(|byte| byte.is_ascii_digit())
}

/// Bedrock has `us.anthropic.claude-sonnet-4-6`.
fn without_bedrock(name: &str) -> &str {
    let parts = name.split_once("anthropic.");
    let parts = parts.filter(|(region, _)| region.is_empty() || region.ends_with('.'));
    parts.map_or(name, |(_, name)| name)
}

/// What is behind `claude-`, as Anthropic has it. Bedrock has `sonnet-4-5-20250929-v1:0`, Vertex `3-5-sonnet-v2@20241022`,
/// OpenRouter `sonnet-4.5:thinking`, Copilot `3.7-sonnet-thought`, and Anthropic itself has `sonnet-4-0`.
fn claude(rest: &str) -> String {
    let (model, date) = rest.split_once('@').unwrap_or((rest, ""));
    let model = without_version(model);
    let endings = ["-latest", "-thinking", ":thinking", "-thought", "-0"];
    let ending = endings.iter().find_map(|ending| model.strip_suffix(ending));
    let model = ending.unwrap_or(model).replace('.', "-");
    if is_digits(date) { format!("{model}-{date}") } else { model }
}

/// `claude-sonnet-4-5` for `4-5-sonnet`.
fn family_first(rest: &str) -> Option<String> {
    let (family, place) =
        CLAUDE_FAMILIES.iter().find_map(|family| Some((family, rest.find(family)?)))?;
    let version = rest[..place].strip_suffix('-')?;
    Some(format!("claude-{family}-{version}{}", &rest[place + family.len()..]))
}

/// A name without a version at its end: `-v1:0`, `-v1`.
fn without_version(name: &str) -> &str {
    let parts = name.rsplit_once("-v").filter(|(_, version)| match version.split_once(':') {
        Some((major, minor)) => is_digits(major) && is_digits(minor),
        None => is_digits(version),
    });
    parts.map_or(name, |(name, _)| name)
}

/// A name without a day at its end: `-20250514`, `-2025-05-14`, `@20250514`.
fn without_day(name: &str) -> Option<String> {
    let lengths = ["-20250514".len(), "-2025-05-14".len()];
    let endings = lengths.into_iter().filter_map(|length| {
        let (name, ending) = name.split_at_checked(name.len().checked_sub(length)?)?;
        let digits = ending.bytes().filter(u8::is_ascii_digit).count();
        (digits == 8 && is_date(&ending.replacen('@', "-", 1))).then_some(name)
    });
    endings.map(str::to_owned).next()
}

/// Whether an ending of a name is a day or a month: `-20250514`, `-2025-05-14`, `-0905-preview`, `-2512`.
pub(super) fn is_date(ending: &str) -> bool {
    let date = ending.strip_suffix("-preview").unwrap_or(ending);
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    let mut parts = date.split('-');
    digits >= 4 && parts.next() == Some("") && parts.all(|part| part.len() > 1 && is_digits(part))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_versions_are_told_apart() {
        for date in ["-20250514", "-2025-05-14", "-0905-preview", "-2512", "-06-05"] {
            assert!(is_date(date), "{date}");
        }
        for other in
            ["", "-", "-5", "-4-5", "-001", "-1-2-2509", "20250514", "-32k-0314", "-20250514x"]
        {
            assert!(!is_date(other), "{other}");
        }
        assert_eq!(without_day("a-20250514").as_deref(), Some("a"));
        assert_eq!(without_day("a-2025-05-14").as_deref(), Some("a"));
        assert_eq!(without_day("mistral-large-2512"), None);
        assert_eq!(without_day("é-0250514"), None);
        assert_eq!(without_version("a-v1:0"), "a");
        assert_eq!(without_version("deepseek-v3.2"), "deepseek-v3.2");
    }

    #[test]
    fn every_name_has_forms() {
        for name in [
            "",
            "-",
            "@",
            "anthropic.",
            "claude-",
            "claude-@",
            "claude-sonnet",
            "é".repeat(9).as_str(),
        ] {
            assert!(!plain_forms(name).is_empty(), "{name}");
        }
    }
}
