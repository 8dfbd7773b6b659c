//! Whom an item is from.

use crate::codex::contextual;
use crate::view::Role;

/// The author of an item that is not a `message`, by its type; [`Role::Other`] if it is not part of the conversation.
pub(super) fn of_item(item_type: &str) -> Role {
    match item_type {
        "agent_message" => Role::Custom,
        "reasoning"
        | "function_call"
        | "custom_tool_call"
        | "tool_search_call"
        | "local_shell_call"
        | "web_search_call"
        | "image_generation_call" => Role::Assistant,
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => Role::Tool,
        "compaction" | "compaction_summary" | "context_compaction" => Role::Summary,
        _ => Role::Other,
    }
}

/// The author of a `message`, by its role and its texts: the program also writes in the user's name.
pub(super) fn of_message<T: AsRef<str>>(
    role: Option<&str>,
    texts: impl Iterator<Item = T>,
) -> Role {
    match role {
        Some("user") => of_user(texts),
        Some("assistant") => Role::Assistant,
        Some("developer" | "system") => Role::System,
        _ => Role::Other,
    }
}

fn of_user<T: AsRef<str>>(texts: impl Iterator<Item = T>) -> Role {
    let mut role = Role::User;
    for text in texts {
        if contextual::is_user_shell_command(text.as_ref()) {
            return Role::Shell;
        }
        if contextual::is_of_user(text.as_ref()) {
            role = Role::System;
        }
    }
    role
}
