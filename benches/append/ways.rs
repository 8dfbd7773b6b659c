//! The ways to make a message durable.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use leafline::live::Persistence;
use leafline::pi::Draft;
use leafline::{Family, NewSession, Session, Store};

use super::support::messages::Messages;
use super::support::sqlite_baseline::Appender;

/// Entries appended in one transaction.
pub(crate) const BATCH: usize = 100;

/// The session that begins empty.
pub(crate) const SMALL: &str = "small";

/// Bytes of the bare write: about a message.
pub(crate) const BARE: usize = 1_200;

/// Appends once.
pub(crate) type Way<'w> = Box<dyn FnMut() + 'w>;

/// The store with a session that begins empty, which is created if it is missing.
pub(crate) fn open_small(path: &Path) -> Store {
    let store = Store::open(path).expect("a store can be made");
    if store.session(SMALL).is_err() {
        let mut new = NewSession::new(Family::Pi, "/work");
        new.id = Some(SMALL.to_owned());
        new.persistence = Some(Persistence::keep_everything());
        store.create_session(&new).expect("a session can be begun");
    }
    store
}

pub(crate) fn session(store: &Store, id: &str) -> Session {
    store.session(id).expect("the session is there")
}

fn draft(message: &str) -> Draft {
    Draft::message(message).expect("it is a message")
}

pub(crate) fn leafline(mut session: Session) -> Way<'static> {
    let mut messages = Messages::new();
    Box::new(move || {
        session.append(draft(messages.next())).expect("a message can be appended");
    })
}

pub(crate) fn leafline_batch(mut session: Session) -> Way<'static> {
    let mut messages = Messages::new();
    Box::new(move || {
        let drafts: Vec<Draft> = (0..BATCH).map(|_| draft(messages.next())).collect();
        session.append_all(drafts).expect("messages can be appended");
    })
}

pub(crate) fn sqlite(mut appender: Appender<'_>) -> Way<'_> {
    let mut messages = Messages::new();
    Box::new(move || appender.append(messages.next()))
}

/// Appends to a session that others append to at the same time: each looks first where it ends.
pub(crate) fn shared_sqlite(mut appender: Appender<'_>) -> Way<'_> {
    let mut messages = Messages::new();
    Box::new(move || {
        appender.begin();
        appender.find_end();
        appender.append(messages.next());
        appender.commit();
    })
}

pub(crate) fn sqlite_batch(mut appender: Appender<'_>) -> Way<'_> {
    let mut messages = Messages::new();
    Box::new(move || {
        appender.begin();
        (0..BATCH).for_each(|_| appender.append(messages.next()));
        appender.commit();
    })
}

/// Writes a message's bytes in one place and waits until they are on disk.
pub(crate) fn bare(path: &Path) -> Way<'static> {
    let mut file = File::create(path).expect("a file can be made");
    Box::new(move || {
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&[b'x'; BARE]))
            .and_then(|()| file.sync_data())
            .expect("a message can be written");
    })
}
