//! A record's facts against the same record as serde_json sees it.

use leafline_import::claude::Scanner;
use serde_json::Value;

pub(crate) fn check_facts(text: &str, value: &Value) {
    let mut scanner = Scanner::new();
    let record = scanner.scan(text);
    let string = |ours: Option<std::borrow::Cow<'_, str>>, theirs: &Value| {
        assert_eq!(ours.as_deref(), theirs.as_str(), "{text}");
    };
    let bytes = |ours: Option<std::borrow::Cow<'_, [u8]>>, theirs: &Value| {
        assert_eq!(ours.as_deref(), theirs.as_str().map(str::as_bytes), "{text}");
    };
    string(record.type_name(), &value["type"]);
    string(record.subtype(), &value["subtype"]);
    bytes(record.uuid(), &value["uuid"]);
    bytes(record.session_id(), &value["sessionId"]);
    string(record.agent_id(), &value["agentId"]);
    string(record.cwd(), &value["cwd"]);
    string(record.git_branch(), &value["gitBranch"]);
    string(record.version(), &value["version"]);
    bytes(record.leaf_uuid(), &value["leafUuid"]);
    string(record.summary(), &value["summary"]);
    string(record.custom_title(), &value["customTitle"]);
    string(record.ai_title(), &value["aiTitle"]);
    string(record.agent_name(), &value["agentName"]);
    bytes(record.snapshot_message_id(), &value["messageId"]);
    bytes(record.tool_use_id(), &value["toolUseID"]);
    bytes(record.parent_tool_use_id(), &value["parentToolUseID"]);
    bytes(record.message_id(), &value["message"]["id"]);
    string(record.role(), &value["message"]["role"]);
    string(record.model(), &value["message"]["model"]);
    assert_eq!(record.has_parent_member(), value.get("parentUuid").is_some(), "{text}");
    assert_eq!(record.is_sidechain(), value["isSidechain"] == true, "{text}");
    assert_eq!(record.is_meta(), value["isMeta"] == true, "{text}");
    assert_eq!(record.is_compact_summary(), value["isCompactSummary"] == true, "{text}");
    let content = &value["message"]["content"];
    let has_own = content.as_str().is_some_and(|text| !text.is_empty())
        || content.as_array().is_some_and(|blocks| {
            blocks.iter().any(|block| {
                block.is_string() || block.is_object() && block["type"] != "tool_result"
            })
        });
    assert_eq!(record.content().has_own(), has_own, "{text}");
}
