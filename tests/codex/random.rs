//! Rollouts of every kind, any rollouts, and rollouts that are damaged.

use leafline::import::{ImportOptions, ImportStatus, Refusal};
use proptest::prelude::*;

use crate::place::{Place, Reports};
use crate::rollouts::case;
use crate::{ID, assert_told, cases, file_name, imported};

#[test]
fn rollouts_of_every_kind_come_back() {
    let place = Place::new();
    for (number, case) in cases::all().iter().enumerate() {
        let id = format!("0199f2b4-0000-7000-8000-{number:012}");
        let file = case.file(&id);
        let report = imported(&place, &id, &file);
        assert_eq!(report.status, ImportStatus::Imported, "{}: {report:?}", case.name);
        assert!(place.exact(&id) == file.as_bytes(), "{}", case.name);
    }
    place.assert_sound();
    for (number, case) in cases::all().iter().enumerate() {
        let place = Place::new();
        let id = format!("0199f2b4-0000-7000-8000-{number:012}");
        imported(&place, &id, case.file(&id));
        assert_told(&place, &id, case.file(&id).as_bytes());
    }
}

/// The session in a store, as a whole.
fn whole(place: &Place) -> (String, Vec<String>, Option<String>) {
    let reader = place.store.reader(ID).unwrap();
    let facts = reader.facts();
    let mut lines = Vec::new();
    let told = |line: leafline::Entry| format!("{line:?} {:?} {:?}", line.id(), line.role());
    reader
        .lines(0, |line| {
            lines.push(told(line));
            Ok(true)
        })
        .unwrap();
    (format!("{facts:?}"), lines, reader.get_leaf_id().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_rollout_comes_back(seed in any::<u64>()) {
        let place = Place::new();
        let file = case(seed).file(ID);
        imported(&place, ID, &file);
        assert_told(&place, ID, file.as_bytes());
    }

    /// A file that grows, line by line or within a line, gives the same session as a new import.
    #[test]
    fn what_has_grown_is_as_if_it_were_imported(seed in any::<u64>(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let file = case(seed).file(ID);
        let header = file.find('\n').unwrap() + 1;
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| header + cut.index(file.len() - header)).collect();
        cuts.sort_unstable();
        cuts.push(file.len());
        let grown = Place::new();
        for cut in cuts {
            let path = grown.write(&file_name(ID), &file.as_bytes()[..cut]);
            let mut reports = Reports::default();
            // A file that was written a moment ago is synced without a last line that has no end.
            let time = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
            std::fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
            grown.store.sync(&[&path], &ImportOptions::default(), &mut reports).unwrap();
            prop_assert!(reports.0.iter().all(|report| report.status != ImportStatus::Failed), "{:?}", reports.0);
        }
        let fresh = Place::new();
        imported(&fresh, ID, &file);
        prop_assert_eq!(whole(&grown), whole(&fresh));
        assert_told(&grown, ID, file.as_bytes());
    }

    /// Torn or changed anywhere: it is refused with a reason, or exported unchanged.
    #[test]
    fn damaged_rollouts_come_back(seed in 0..2000_u64, cut in any::<prop::sample::Index>(), flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let mut file = case(seed).file(ID).into_bytes();
        for (at, byte) in flips {
            let at = at.index(file.len());
            file[at] = byte;
        }
        file.truncate(cut.index(file.len()) + 1);
        let place = Place::new();
        let report = place.import(&place.write(&file_name(ID), &file));
        match report.status {
            ImportStatus::Failed => {
                prop_assert_eq!(report.refusal, Some(Refusal::NotASession));
                prop_assert!(report.reason.is_some());
            }
            ImportStatus::Imported if report.family == Some(leafline::Family::Codex) => {
                assert_told(&place, &report.session.unwrap(), &file);
            }
            other => prop_assert!(false, "{other:?}: {report:?}"),
        }
    }
}
