//! The samples, as a store has them.

use leafline::SessionFacts;
use leafline::export::{ExportMode, ExportOptions};
use leafline::import::{ImportOptions, ImportTotals};
use leafline::view::Role;

use crate::place::Place;
use crate::{assert_told, samples_folder};

const TODAY: &str = "019c6f5a-0000-7c4e-9d21-5a7be0c30000";
const FORK: &str = "019c6f5a-0023-7c4e-9d21-5a7be0c30023";
const STARTER: &str = "019c6f5a-002b-7c4e-9d21-5a7be0c3002b";
const AGENT: &str = "019c6f5a-0035-7c4e-9d21-5a7be0c30035";
const EARLIER: &str = "0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61";

fn imported() -> (Place, ImportTotals) {
    let place = Place::new();
    let totals =
        place.store.import(&[samples_folder()], &ImportOptions::default(), &mut ()).unwrap();
    (place, totals)
}

fn facts(place: &Place, id: &str) -> SessionFacts {
    place.store.reader(id).unwrap().facts()
}

fn file(id: &str) -> Vec<u8> {
    let mut folders = vec![samples_folder()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(&format!("-{id}.jsonl")) {
                return std::fs::read(path).unwrap();
            }
        }
    }
    panic!("no sample is of {id}");
}

#[test]
fn they_come_back_with_their_facts() {
    let (place, totals) = imported();
    // The index of names is not a session.
    assert_eq!((totals.imported, totals.skipped), (5, 0), "{totals:?}");
    for id in [TODAY, FORK, STARTER, AGENT, EARLIER] {
        assert_told(&place, id, &file(id));
        assert!(place.export(id, &ExportMode::Current) == file(id), "{id}");
    }
    let today = facts(&place, TODAY);
    assert_eq!(today.title.as_deref(), Some("Tide clock: time zone"));
    assert_eq!(
        today.first_prompt.as_deref(),
        Some("The clock shows high water an hour late since the weekend.")
    );
    assert_eq!(today.cwd.as_deref(), Some("/home/robin/work/tide-clock"));
    assert_eq!(&*today.imported_version, "0.169.0");
    assert_eq!((today.lines, today.entries, today.malformed), (36, 35, 0));
    let earlier = facts(&place, EARLIER);
    assert_eq!((earlier.title, earlier.malformed), (None, 2));
    assert_eq!(earlier.first_prompt.as_deref(), Some("Scale the bread recipe to two loaves."));
    assert!(earlier.created < earlier.modified && earlier.modified < today.created);
}

#[test]
fn forks_and_agents_name_their_sessions() {
    let (place, _) = imported();
    let fork = facts(&place, FORK);
    assert_eq!((fork.parent_session.as_deref(), fork.agent), (Some(TODAY), None));
    let agents = place.store.agents_of(STARTER).unwrap();
    assert_eq!(agents.len(), 1);
    assert_eq!((&*agents[0].id, agents[0].agent.as_deref()), (AGENT, Some("Boyle")));
    assert_eq!(place.store.agents_of(TODAY).unwrap(), []);
}

#[test]
fn a_transcript_says_what_was_said() {
    let (place, _) = imported();
    let mut said = Vec::new();
    let reader = place.store.reader(TODAY).unwrap();
    reader
        .get_path(None, |entry| {
            let view = entry.view();
            if !view.is_hidden && !view.parts.is_empty() {
                said.push((view.role, view.preview(40)));
            }
            Ok(())
        })
        .unwrap();
    let of = |role| said.iter().filter(move |(of, _)| *of == role).map(|(_, text)| &**text);
    assert_eq!(
        of(Role::User).collect::<Vec<_>>(),
        [
            "The clock shows high water an hour late…",
            "Take it from the time zone, please.",
            "Now test the change of the hour."
        ]
    );
    assert_eq!((of(Role::Tool).count(), of(Role::Summary).count()), (2, 1));
    let text = reader.get_all_messages_text().unwrap();
    assert!(text.contains("I will look at the table and at the face."), "{text}");
    assert!(!text.contains("AGENTS.md"), "{text}");
}

#[cfg(feature = "search")]
#[test]
fn what_was_said_is_found() {
    let (place, _) = imported();
    let index = leafline::search::SearchIndex::open_or_create(&place.store).unwrap();
    index.update(|_| true).unwrap();
    let found = |text: &str| {
        let hits = index.search(&leafline::search::SearchQuery::new(text)).unwrap();
        let mut found: Vec<(String, String)> =
            hits.into_iter().map(|hit| (hit.session, hit.entry.unwrap())).collect();
        found.sort();
        found
    };
    // Once, although an event repeats it.
    assert_eq!(found("\"Take it from the time zone\""), [(TODAY.to_owned(), "18".to_owned())]);
    assert_eq!(found("Sunflower"), []);
    assert_eq!(found("\"how long should it bake\""), [(EARLIER.to_owned(), "32".to_owned())]);
}

/// A folder in Codex's layout: its names are those of the samples.
#[test]
fn a_folder_of_them_is_named_as_codex_names_it() {
    let (place, _) = imported();
    let folder = place.path("out");
    place
        .store
        .export_all(
            &folder,
            &ExportOptions::default(),
            &mut |_: &leafline::export::ExportReport| {},
        )
        .unwrap();
    let sessions = "codex/sessions";
    let path =
        folder.join(format!("{sessions}/2026/02/18/rollout-2026-02-18T08-59-59-{TODAY}.jsonl"));
    assert!(std::fs::read(&path).unwrap() == file(TODAY));
    let path =
        folder.join(format!("{sessions}/2025/11/20/rollout-2025-11-20T20-04-07-{EARLIER}.jsonl"));
    assert!(std::fs::read(&path).unwrap() == file(EARLIER));
    // What is imported from there is the same session.
    let again = place.import(&path);
    assert_eq!(again.status, leafline::import::ImportStatus::Unchanged, "{again:?}");
}
