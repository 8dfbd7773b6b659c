//! Turns that were taken back, and what stands ahead of turns.

use serde_json::json;

use super::{
    Case, SUMMARY, assistant, developer, event, item, line, of_user, rolled_back, talk,
    talk_behind, user,
};

pub(super) fn rollbacks() -> Vec<Case> {
    let three = || [talk(1), talk(2), talk(3)].concat();
    let mut cases: Vec<Case> = [0, 1, 2, 3, 99]
        .into_iter()
        .map(|turns| {
            let mut lines =
                vec![developer("D"), user("<environment_context>x</environment_context>")];
            lines.extend(three());
            lines.push(rolled_back(turns));
            lines.extend(talk(4));
            Case::new(format!("{turns} turns taken back"), lines)
        })
        .collect();
    let mut twice = three();
    twice.push(rolled_back(2));
    twice.extend(talk(4));
    twice.push(rolled_back(1));
    cases.push(Case::new("taken back twice", twice));
    for (place, text) in
        [SUMMARY.to_owned() + "x", "x".to_owned() + SUMMARY].into_iter().enumerate()
    {
        cases.push(Case::new(
            format!("a summary as the user, {place}"),
            [talk(1), vec![user(&text)], talk(2), vec![rolled_back(1)]].concat(),
        ));
        cases.push(Case::new(
            format!("a summary as the user taken back, {place}"),
            [talk(1), vec![user(&text), rolled_back(1)]].concat(),
        ));
    }
    cases.push(Case::new("taken back without a turn", vec![assistant("a1"), rolled_back(1)]));
    let mut odd = three();
    odd.extend(
        [
            json!({}),
            json!({"num_turns": -1}),
            json!({"num_turns": "1"}),
            json!({"num_turns": 1.0}),
            json!({"num_turns": 5_000_000_000_u64}),
        ]
        .map(|mut payload| {
            payload["type"] = json!("thread_rolled_back");
            event(payload)
        }),
    );
    cases.push(Case::new("rollbacks that are none", odd));
    let communication = json!({"author": "/root", "recipient": "/root/w", "other_recipients": [], "content": "x", "trigger_turn": true});
    for (name, start) in [
        (
            "a message from an agent",
            item(
                json!({"type": "agent_message", "author": "/root", "recipient": "/root/a", "content": [{"type": "input_text", "text": "x"}]}),
            ),
        ),
        ("a message between agents", line("inter_agent_communication", communication.clone())),
        ("a message between agents as text", assistant(&communication.to_string())),
        ("text that is none", assistant("{\"author\":\"/root\"}")),
    ] {
        cases.push(Case::new(
            format!("taken back: {name}"),
            vec![user("u1"), assistant("a1"), start, assistant("a2"), rolled_back(1)],
        ));
    }
    cases
}

/// What comes before a turn, as the user and as the developer.
pub(super) fn ahead_of_turns() -> Vec<Case> {
    let texts = [
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
        "# AGENTS.md instructions for /x",
        "<user_instructions>x</user_instructions>",
        "  <ENVIRONMENT_context>x</environment_CONTEXT>\n ",
        "<environment_context>x</environment_context>x",
        "\u{a0}<environment_context>x</environment_context>\u{3000}",
        "<hook_prompt hook_run_id=\"r\">x</hook_prompt>",
        "<hook_prompt hook_run_id=\"a b\">x</hook_prompt>",
        "<hook_prompt hook_run_id=\"\">x</hook_prompt>",
        "<codex_internal_context source=\"goal\">x</codex_internal_context>",
        "<codex_internal_context source=\"a b\">x</codex_internal_context>",
        "<codex_internal_context source=\"a-b\">x</codex_internal_context>",
        "<external_a b>x</external_a b>",
        "<external_x>x</external_y>",
        "<external_>x</external_>",
        "<skill>x</skill>",
        "<turn_aborted>x</turn_aborted>",
        "<subagent_notification>x</subagent_notification>",
        "<agent_message_board_notification>x</agent_message_board_notification>",
        "<recommended_plugins>x</recommended_plugins>",
        "<goal_context>x</goal_context>",
        "<user_shell_command>x</user_shell_command>",
        "Warning: The maximum number of unified exec processes you can keep open is 60",
        "Warning: Your account was flagged for potentially high-risk cyber activity and",
        "Warning: apply_patch was requested via shell.",
        "",
    ];
    let mut cases: Vec<Case> = texts
        .iter()
        .map(|text| {
            Case::new(
                format!("as the user: {text}"),
                [talk(1), talk_behind(2, user(text)), vec![rolled_back(1)]].concat(),
            )
        })
        .collect();
    let texts = [
        "<model_switch>",
        "  <MODEL_switch>x",
        "x<model_switch>",
        "<permissions instructions>",
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
        "<zork>",
        "plain",
    ];
    cases.extend(texts.iter().map(|text| {
        Case::new(
            format!("as the developer: {text}"),
            [talk(1), talk_behind(2, developer(text)), vec![rolled_back(1)]].concat(),
        )
    }));
    let mixed = of_user(
        json!({"content": [{"type": "input_text", "text": "x"}, {"type": "input_text", "text": "<skill>x</skill>"}]}),
    );
    let as_output =
        of_user(json!({"content": [{"type": "output_text", "text": "<skill>x</skill>"}]}));
    let several = vec![
        user("u1"),
        assistant("a1"),
        developer("<tools>"),
        developer("plain"),
        developer("<model_switch>"),
        user("<skill>x</skill>"),
        user("u2"),
        assistant("a2"),
        rolled_back(1),
    ];
    cases.push(Case::new(
        "as the user: two blocks",
        [talk(1), talk_behind(2, mixed), vec![rolled_back(1)]].concat(),
    ));
    cases.push(Case::new(
        "as the user: another block",
        [talk(1), talk_behind(2, as_output), vec![rolled_back(1)]].concat(),
    ));
    cases.push(Case::new("several ahead of a turn", several));
    cases
}
