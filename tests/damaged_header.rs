//! A store whose header is damaged.
//!
//! Guards against damage that is taken for another kind of file, against a state before the last commit that is shown as the
//! present one, and against panics.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use leafline::{Error, Family, NewSession, Store, StoreOptions};

#[test]
fn each_bit_of_it_is_harmless_or_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::open(&path).unwrap();
    for _ in 0..3 {
        store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
    }
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = 0;
    for bit in 0..320 * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, &bytes).unwrap();
        let options = StoreOptions { read_only: bit % 2 == 0, ..StoreOptions::default() };
        match Store::open_with(&path, &options).and_then(|store| store.sessions()) {
            Ok(sessions) => assert_eq!(sessions.len(), 3, "bit {bit}"),
            Err(Error::Corrupted(_)) => damaged += 1,
            Err(error) => panic!("bit {bit}: {error}"),
        }
    }
    assert!(damaged > 1000, "{damaged}");
}
