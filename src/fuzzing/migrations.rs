//! The target of files that their program would rewrite.

use std::io::Cursor;

use leafline_import::lines::split;
use leafline_import::migration::Migrated;
use leafline_import::scan::Raw;
use leafline_import::text::decode;
use leafline_import::{Family, detect};

/// A migrated file is JSON, line by line, and needs no migration.
pub(super) fn migrations(data: &[u8]) {
    let Some((&choice, file)) = data.split_first() else { return };
    // A number of no family leaves the choice to the file.
    let choice = Family::from_code(choice);
    let Ok(start) = detect(file, choice, true) else { return };
    let Some(migration) = &start.migration else { return };
    let mut migrator = migration.begin(|| Ok(Cursor::new(file))).expect("memory can be read");
    let mut migrated = Vec::new();
    let check = |before: usize, migrated: &[u8], outcome: Migrated| {
        let new = migrated.get(before..).expect("it only grows");
        if outcome == Migrated::Dropped {
            assert!(new.is_empty());
            return;
        }
        let line = new.strip_suffix(b"\n").expect("a line ends with a line feed");
        let line = std::str::from_utf8(line).expect("it is text");
        assert!(!line.contains('\n') && Raw::parse(line).is_ok(), "{line:?}");
    };
    for line in split(file) {
        let before = migrated.len();
        let outcome = migrator.migrate_line(&decode(line), &mut migrated);
        check(before, &migrated, outcome);
    }
    let before = migrated.len();
    let outcome = migrator.finish(&mut migrated);
    check(before, &migrated, outcome);
    let again = detect(&migrated, Some(start.family), true).expect("it is a session still");
    assert!(again.migration.is_none(), "it would be migrated again");
    assert_eq!((again.id, again.cwd), (start.id, start.cwd));
}
