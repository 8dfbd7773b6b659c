//! A session as an agent lives through it: begun, continued, compacted, branched, and handed out as a file.
//!
//! `cargo run --example agent`

use leafline::context::ContextLeaf;
use leafline::error::ExportError;
use leafline::export::ExportMode;
use leafline::pi::{Compaction, PiSession};
use leafline::{Family, NewSession, Store};
use serde_json::{Value, json};

fn main() -> leafline::Result<()> {
    let folder = std::env::temp_dir().join(format!("leafline-agent-{}", std::process::id()));
    let path = folder.join("sessions.leafline");

    let store = Store::open(&path)?;
    let mut session = store.create_session(&NewSession::new(Family::Pi, "/work/project"))?;
    let question = session.append_message(&user("Why is the build slow?"))?;
    session.append_message(&assistant("It compiles everything twice."))?;
    session.append_label_change(&question, Some("start"))?;
    let id = session.id().to_owned();

    // Another process, or another day.
    let store = Store::open(&path)?;
    let mut session = store.continue_recent(&NewSession::new(Family::Pi, "/work/project"))?;
    assert_eq!(session.id(), id);
    let kept = session.append_message(&user("Then make it once."))?;
    session.append_compaction(&Compaction {
        summary: "The build compiles everything twice.",
        first_kept_entry_id: Some(&kept),
        tokens_before: 1_200,
        ..Compaction::default()
    })?;
    session.append_message(&assistant("Done."))?;

    let context = session.reader()?.build_context(ContextLeaf::Current, None)?;
    println!("{} messages go to the model:", context.messages.len());
    for message in &context.messages {
        println!("  {}", message.json.as_str());
    }

    // Back to the question, and on from there.
    session.branch_with_summary(
        Some(&question),
        "Compiling once was tried.",
        None::<&Value>,
        None,
    )?;
    session.append_message(&user("What else could it be?"))?;

    let mut file = Vec::new();
    session.reader()?.export(&ExportMode::Current, &mut file)?;
    println!(
        "{} lines, as pi would have written them",
        file.iter().filter(|&&byte| byte == b'\n').count()
    );

    drop(session);
    drop(store);
    std::fs::remove_dir_all(&folder).map_err(ExportError::Output)?;
    Ok(())
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}], "provider": "anthropic", "model": "claude-sonnet-4-5"})
}
