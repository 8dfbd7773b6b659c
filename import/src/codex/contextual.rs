//! Which messages the program wrote in the user's name or as the developer, by their texts (observed). They begin no turn,
//! and a rollback takes those that stand right above the turn away with it.

use crate::text::trim;

/// What the program writes as the user: an opening tag and a closing one, in any case of letters.
const USER_TAGS: [(&str, &str); 11] = [
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    ("<environment_context>", "</environment_context>"),
    ("<skill>", "</skill>"),
    (USER_SHELL_COMMAND, "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<agent_message_board_notification>", "</agent_message_board_notification>"),
    ("<goal_context>", "</goal_context>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
    ("<codex_internal_context source=\"", "</codex_internal_context>"),
    ("<hook_prompt hook_run_id=\"", "</hook_prompt>"),
];

/// How a command begins that the user ran.
const USER_SHELL_COMMAND: &str = "<user_shell_command>";

/// Warnings that earlier versions wrote as the user.
const USER_WARNINGS: [&str; 2] = [
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
];

/// How begins what the program writes as the developer, in any case of letters.
const DEVELOPER_TAGS: [&str; 19] = [
    "<permissions instructions>",
    "<model_switch>",
    "<collaboration_mode>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<environments_instructions>",
    "<managed_developer_instructions>",
    "<personality_spec>",
    "<persistent_mode>",
    "<realtime_conversation>",
    "<multi_agent_role>",
    "<multi_agent_mode>",
    "<git_attribution>",
    "<context_window>",
    "<context_window_guidance>",
    "<token_budget>",
    "<rollout_budget>",
    "<tools>",
];

fn starts_with(text: &str, beginning: &str) -> bool {
    let found = text.get(..beginning.len());
    found.is_some_and(|found| found.eq_ignore_ascii_case(beginning))
}

fn ends_with(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    let found = start.and_then(|start| text.get(start..));
    found.is_some_and(|found| found.eq_ignore_ascii_case(end))
}

/// Whether the program wrote a text as the user.
pub(super) fn is_of_user(text: &str) -> bool {
    let text = trim(text);
    let is_tagged = USER_TAGS.iter().any(|(open, close)| {
        starts_with(text, open) && ends_with(text, close) && has_whole_attribute(text, open)
    });
    is_tagged || is_external(text) || USER_WARNINGS.iter().any(|warning| text.starts_with(warning))
}

/// Whether a tag that is open in an attribute's value goes on with a word and is closed.
fn has_whole_attribute(text: &str, open: &str) -> bool {
    if !open.ends_with('"') {
        return true;
    }
    let value = text[open.len()..].split_once("\">").map(|(value, _)| value);
    let is_of_word =
        |character: char| character.is_ascii_alphanumeric() || "_-:.".contains(character);
    value.is_some_and(|value| !value.is_empty() && value.chars().all(is_of_word))
}

/// Whether it is what a client added: `<external_NAME>…</external_NAME>`.
fn is_external(text: &str) -> bool {
    let Some((name, rest)) = text.strip_prefix("<external_").and_then(|text| text.split_once('>'))
    else {
        return false;
    };
    let rest = rest.strip_suffix('>').and_then(|rest| rest.strip_suffix(name));
    rest.is_some_and(|rest| rest.ends_with("</external_"))
}

/// Whether the program wrote a text as the developer.
pub(super) fn is_of_developer(text: &str) -> bool {
    let text = text.trim_start();
    DEVELOPER_TAGS.iter().any(|tag| starts_with(text, tag))
}

/// Whether a text tells of a command that the user ran.
pub(super) fn is_user_shell_command(text: &str) -> bool {
    starts_with(trim(text), USER_SHELL_COMMAND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_user() {
        for text in [
            "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
            "# agents.md INSTRUCTIONS</instructions>",
            "  \n<ENVIRONMENT_context>x</environment_CONTEXT>\u{3000} ",
            "<hook_prompt hook_run_id=\"r\">x</hook_prompt>",
            "<codex_internal_context source=\"goal\">x</codex_internal_context>",
            "<external_a-b.c 1>x</external_a-b.c 1>",
            "<external_>x</external_>",
            "Warning: The maximum number of unified exec processes you can keep open is 60",
        ] {
            assert!(is_of_user(text), "{text}");
        }
        for text in [
            "",
            "# AGENTS.md instructions for /x",
            "# AGENTS.md x</INSTRUCTIONS>",
            "<user_instructions>x</user_instructions>",
            "x<environment_context>x</environment_context>",
            "<environment_context>x</environment_context>x",
            "<environment_context a='1'></environment_context>",
            "<hook_prompt>x</hook_prompt>",
            "<codex_internal_context source=\"a b\">x</codex_internal_context>",
            "<external_x>x</external_y>",
            "<EXTERNAL_x>x</EXTERNAL_x>",
            "<external_x>",
            "é",
        ] {
            assert!(!is_of_user(text), "{text}");
        }
    }

    #[test]
    fn of_the_developer() {
        assert!(is_of_developer(" \n<MODEL_switch>x"));
        assert!(!is_of_developer("x<model_switch>"));
        assert!(!is_of_developer("<model_switch x"));
        assert!(!is_of_developer("<ä"));
    }
}
