//! The corpus: every file is exported unchanged, continued, and read again in its new state.

use leafline::import::ImportStatus;
use leafline::{Family, opal};

use crate::place::{Place, corpus};
use crate::{exported, path, values};

#[test]
fn every_file_of_the_corpus_comes_back_and_goes_on() {
    let Some(corpus) = corpus() else { return };
    let mut files = 0;
    for file in std::fs::read_dir(corpus.join("opal")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        files += 1;
        let place = Place::new();
        let file = place.write("stem.jsonl", &bytes);
        let report = place.import(&file);
        assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
        assert_eq!(report.family, Some(Family::Opal));
        let id = report.session.unwrap();
        assert_eq!(place.exact(&id), bytes);
        assert_eq!(place.import(&file).status, ImportStatus::Unchanged);

        let mut session = place.store.session(&id).unwrap();
        let before = path(&session);
        let new = session.append(opal::Draft::user("and on")).unwrap();
        assert_eq!(path(&session), [&before[..], std::slice::from_ref(&new)].concat());
        place.assert_sound();
        // The export has the file's messages, in their order, followed by the new one.
        let saved = values(&session);
        let mut expected: Vec<serde_json::Value> = bytes
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        assert_eq!(saved.len(), expected.len() + 1);
        let header = expected.remove(0);
        assert_eq!(saved[0]["metadata"], header["metadata"]);
        assert_eq!(saved[0]["session_id"], id.as_str());
        assert_eq!(saved[0]["current_id"], new.as_str());
        assert_eq!(saved[1..=expected.len()], expected);

        // The original file is an earlier state; the export is the current one.
        let report = place.import(&file);
        assert_eq!(report.status, ImportStatus::Unchanged);
        assert!(report.reason.unwrap().contains("later state"));
        let other = Place::new();
        let copy = other.write("copy.jsonl", exported(&session));
        assert_eq!(place.import(&copy).status, ImportStatus::Unchanged);
        assert_eq!(place.store.sessions().unwrap().len(), 1);
        let report = other.import(&copy);
        assert_eq!(report.session.as_deref(), Some(&*id));
        assert_eq!(path(&other.store.session(&id).unwrap()), path(&session));
        other.assert_sound();
    }
    assert!(files >= 5, "{files}");
}
