//! Detects by their texts which messages the program wrote in the user's name or as the developer (observed). They
//! begin no turn, and a rollback removes those directly above a turn together with it.

use crate::text::trim;

/// What the program writes as the user: an opening and a closing tag, in upper or lower case.
const USER_TAGS: [(&str, &str); 9] = [
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    ("<environment_context>", "</environment_context>"),
    ("<skill>", "</skill>"),
    (USER_SHELL_COMMAND, "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<agent_message_board_notification>", "</agent_message_board_notification>"),
    ("<goal_context>", "</goal_context>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
];

/// The beginning of a message about a command that the user ran.
const USER_SHELL_COMMAND: &str = "<user_shell_command>";

/// Warnings that earlier versions wrote as the user.
const USER_WARNINGS: [&str; 2] = [
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
];

/// The beginnings of what the program writes as the developer, in upper or lower case.
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
    USER_TAGS.iter().any(|(open, close)| starts_with(text, open) && ends_with(text, close))
        || USER_WARNINGS.iter().any(|warning| text.starts_with(warning))
        || is_external(text)
        || is_internal(text)
        || is_of_hook(text)
}

/// Whether it is `<codex_internal_context source="NAME">…</codex_internal_context>`.
fn is_internal(text: &str) -> bool {
    let rest = text.strip_prefix("<codex_internal_context source=\"");
    let Some((name, rest)) = rest.and_then(|rest| rest.split_once("\">")) else { return false };
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_of_name) && rest.ends_with("</codex_internal_context>")
}

/// Whether it is `<hook_prompt hook_run_id="ID">…</hook_prompt>`. The program parses it as XML; this accepts the form
/// that it writes.
fn is_of_hook(text: &str) -> bool {
    let rest = text.strip_prefix("<hook_prompt hook_run_id=\"");
    let Some((id, rest)) = rest.and_then(|rest| rest.split_once("\">")) else { return false };
    let said = rest.strip_suffix("</hook_prompt>");
    !id.trim().is_empty() && said.is_some_and(|said| !said.contains('<'))
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

/// Whether a text is about a command that the user ran.
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
            "<hook_prompt hook_run_id=\" \">x</hook_prompt>",
            "<hook_prompt hook_run_id=\"r\">x<b></hook_prompt>",
            "<codex_internal_context source=\"a-b\">x</codex_internal_context>",
            "<codex_internal_context source=\"\">x</codex_internal_context>",
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
