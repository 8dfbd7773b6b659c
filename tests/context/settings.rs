//! The settings that come with the messages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline::Family;
use leafline::context::ContextLeaf;
use leafline::omp::OmpReader;
use serde_json::json;

use super::scene::{MILLISECONDS, Scene, assistant, entry, user};

#[test]
fn pi_s_settings_are_those_of_the_path() {
    let scene = Scene::pi(&[
        entry("thinking_level_change", "a", "", json!({"thinkingLevel": "high"})),
        entry("model_change", "b", "a", json!({"provider": "p", "modelId": "m"})),
        assistant("c", "b", "q", "n"),
        entry("thinking_level_change", "d", "c", json!({})),
        entry("model_change", "e", "d", json!({"provider": 7})),
        entry("thinking_level_change", "f", "a", json!({"thinkingLevel": null})),
        user("z", ""),
    ]);
    let settings = |id: &str| {
        let json = scene.context(ContextLeaf::Entry(id)).to_json();
        json.rsplit_once("],").unwrap().1.to_owned()
    };
    assert_eq!(settings("b"), r#""thinkingLevel":"high","model":{"provider":"p","modelId":"m"}}"#);
    assert_eq!(settings("c"), r#""thinkingLevel":"high","model":{"provider":"q","modelId":"n"}}"#);
    // A change to nothing makes it undefined, which is not the default.
    assert_eq!(settings("d"), r#""model":{"provider":"q","modelId":"n"}}"#);
    assert_eq!(settings("e"), r#""model":{"provider":7}}"#);
    assert_eq!(settings("f"), r#""thinkingLevel":null,"model":null}"#);
    assert_eq!(settings("z"), r#""thinkingLevel":"off","model":null}"#);
    let context = scene.context(ContextLeaf::Entry("b"));
    assert_eq!(context.settings.thinking_level.unwrap().text().as_deref(), Some("high"));
    assert_eq!(context.settings.model.unwrap().provider.unwrap().text().as_deref(), Some("p"));
    assert_eq!(scene.context(ContextLeaf::Entry("d")).settings.thinking_level, None);
}

#[test]
fn omp_keeps_a_default_model_that_was_chosen() {
    let scene = Scene::omp(&[
        assistant("a", "", "p", "1"),
        entry("model_change", "b", "a", json!({"model": "q/small", "role": "smol"})),
        assistant("c", "b", "p", "2"),
        entry("model_change", "d", "c", json!({"model": "q/3"})),
        assistant("e", "d", "p", "4"),
        entry("model_change", "f", "e", json!({"model": "q/index", "role": "10"})),
        entry("model_change", "g", "f", json!({"model": "q/index", "role": "9"})),
    ]);
    let models = |id: &str| {
        let json = scene.context(ContextLeaf::Entry(id)).to_json();
        let models = json.split_once(r#""models":"#).unwrap().1;
        models.split_once(r#","injectedTtsrRules""#).unwrap().0.to_owned()
    };
    assert_eq!(models("a"), r#"{"default":"p/1"}"#);
    assert_eq!(models("c"), r#"{"default":"p/2","smol":"q/small"}"#);
    assert_eq!(models("e"), r#"{"default":"q/3","smol":"q/small"}"#);
    // Names that are array indices come first in a JavaScript object.
    assert_eq!(models("g"), r#"{"9":"q/index","10":"q/index","default":"q/3","smol":"q/small"}"#);
    // The same session as pi would see it.
    let reader = scene.place.store.reader("s").unwrap();
    let as_pi = reader.build_context(ContextLeaf::Entry("e"), Some(Family::Pi)).unwrap();
    assert!(as_pi.to_json().ends_with(r#""model":{"provider":"p","modelId":"4"}}"#));
}

#[test]
fn omp_s_modes_rules_and_short_summaries() {
    let scene = Scene::omp(&[
        entry("mode_change", "a", "", json!({"mode": "plan", "data": {"n": 1.0}})),
        entry("ttsr_injection", "b", "a", json!({"injectedRules": ["x", "y"]})),
        entry("ttsr_injection", "c", "b", json!({"injectedRules": ["y", "z"]})),
        entry("mode_change", "d", "c", json!({"mode": "none"})),
        entry("mode_change", "e", "d", json!({"data": null})),
        entry(
            "compaction",
            "f",
            "e",
            json!({"summary": "long", "shortSummary": "short", "tokensBefore": 1}),
        ),
    ]);
    let tail = |id: &str| {
        let json = scene.context(ContextLeaf::Entry(id)).to_json();
        json.split_once(r#""injectedTtsrRules":"#).unwrap().1.to_owned()
    };
    assert_eq!(tail("a"), r#"[],"mode":"plan","modeData":{"n":1}}"#);
    assert_eq!(tail("c"), r#"["x","y","z"],"mode":"plan","modeData":{"n":1}}"#);
    assert_eq!(tail("d"), r#"["x","y","z"],"mode":"none"}"#);
    assert_eq!(tail("e"), r#"["x","y","z"],"modeData":null}"#);
    let context = scene.context(ContextLeaf::Current);
    assert_eq!(
        context.messages[0].json.as_str(),
        format!(
            r#"{{"role":"compactionSummary","summary":"long","shortSummary":"short","tokensBefore":1,"timestamp":{MILLISECONDS}}}"#
        )
    );
    assert_eq!(context.settings.injected_rules, ["x", "y", "z"]);
}

#[test]
fn a_mode_s_data_may_be_what_is_kept_apart() {
    let base64 = STANDARD.encode([7; 3_000]);
    for extra in ["", r#"{"type":"custom","parentId":"d"}"#] {
        let scene = Scene::omp(&[
            entry("mode_change", "a", "", json!({"mode": "plan", "data": base64})),
            entry("mode_change", "b", "a", json!({"mode": "plan", "data": {"data": base64}})),
            extra.to_owned(),
        ]);
        let data = |id| {
            let context = scene.context(ContextLeaf::Entry(id));
            context.settings.mode_data.unwrap().value().unwrap()
        };
        assert_eq!(data("a"), json!(base64));
        assert_eq!(data("b"), json!({"data": base64}));
    }
}

#[test]
fn what_stands_at_the_leaf_is_told_alone() {
    let lines = [
        entry("session_info", "a", "", json!({"name": " The name "})),
        entry("model_change", "b", "a", json!({"model": "q/m", "role": "smol"})),
        entry("ttsr_injection", "c", "b", json!({"injectedRules": ["x"]})),
        user("d", "c"),
    ];
    for extra in ["", r#"{"type":"custom","parentId":"d"}"#] {
        let mut lines = lines.to_vec();
        lines.push(extra.to_owned());
        let scene = Scene::omp(&lines);
        let reader = scene.place.store.reader("s").unwrap();
        assert_eq!(reader.get_session_name().as_deref(), Some("The name"));
        assert_eq!(reader.get_injected_rules().unwrap(), ["x"]);
        assert_eq!(reader.get_last_model_change_role().unwrap().as_deref(), Some("smol"));
    }
    let unnamed =
        Scene::omp(&[entry("model_change", "a", "", json!({"model": "q/m"})), user("b", "a")]);
    let reader = unnamed.place.store.reader("s").unwrap();
    assert_eq!(reader.get_last_model_change_role().unwrap().as_deref(), Some("default"));
    assert_eq!(reader.get_session_name(), None);
    let none = Scene::omp(&[user("a", "")]);
    let reader = none.place.store.reader("s").unwrap();
    assert_eq!(reader.get_last_model_change_role().unwrap(), None);
    assert!(reader.get_injected_rules().unwrap().is_empty());
}
