//! Files of session storages, and those beside sessions, in a store that was filled from a damaged one.

use std::collections::{BTreeMap, BTreeSet};

use super::super::file_record::FileContent;
use super::super::session_key::SessionKey;
use super::super::{Store, tables};
use crate::error::Result;

impl Store {
    /// The numbers of the files of bytes that no path leads to.
    pub(crate) fn nameless_files(&self) -> Result<Vec<u64>> {
        let snapshot = self.committed()?;
        let mut numbers = BTreeSet::new();
        snapshot.each_file_part(|number, _| {
            numbers.insert(number);
        })?;
        snapshot.each_file(|_, record| {
            if let Ok(FileContent::Bytes { number, .. }) = record.map(|record| record.content) {
                numbers.remove(&number);
            }
            Ok(())
        })?;
        Ok(numbers.into_iter().collect())
    }

    /// Makes the tables of files agree: a file that is a session leads to one that is there and is in no other file, any other
    /// has all of its bytes. Returns the paths of those that are not there any more although their bytes were.
    pub(crate) fn settle_files(&self) -> Result<Vec<Vec<u8>>> {
        let snapshot = self.committed()?;
        let mut parts: BTreeMap<u64, u64> = BTreeMap::new();
        snapshot.each_file_part(|number, bytes| *parts.entry(number).or_default() += bytes)?;
        let mut sessions: BTreeMap<SessionKey, Vec<u8>> = BTreeMap::new();
        let (mut gone, mut lost, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        snapshot.each_file(|path, record| {
            let is_whole = match record.map(|record| record.content) {
                Ok(FileContent::Session(session)) => {
                    let is_there = matches!(snapshot.session(session), Ok(Some(_)));
                    let is_only = is_there && !sessions.contains_key(&session);
                    if is_only {
                        sessions.insert(session, path.to_vec());
                    }
                    is_only
                }
                Ok(FileContent::Bytes { number, size }) => {
                    let is_whole = parts.get(&number) == Some(&size);
                    if is_whole {
                        kept.push(number);
                    } else {
                        lost.push(path.to_vec());
                    }
                    is_whole
                }
                Err(_) => {
                    lost.push(path.to_vec());
                    false
                }
            };
            if !is_whole {
                gone.push(path.to_vec());
            }
            Ok(())
        })?;
        kept.sort_unstable();
        let transaction = self.begin_write()?;
        {
            let mut files = transaction.open_table(tables::FILES)?;
            for path in gone {
                files.remove(path.as_slice())?;
            }
            let mut table = transaction.open_table(tables::FILE_PARTS)?;
            table.retain(|(number, _), _| kept.binary_search(&number).is_ok())?;
            let mut table = transaction.open_table(tables::SESSION_FILES)?;
            table.retain(|_, _| false)?;
            for (session, path) in sessions {
                table.insert(session.raw(), path.as_slice())?;
            }
        }
        transaction.commit()?;
        Ok(lost)
    }
}
