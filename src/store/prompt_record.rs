//! The value of the `history` table: a prompt.

use bincode::{Decode, Encode};

use super::record::{Record, append, read, versioned};
use crate::error::Error;

/// A prompt that was given to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct PromptRecord {
    /// When it was given, in milliseconds since 1970.
    pub(crate) created_at: i64,
    /// The working directory in which it was given.
    pub(crate) cwd: Option<String>,
    /// Its text, without white space around it.
    pub(crate) prompt: String,
    /// How many times it was given, by another program's count; 1 of our own.
    pub(crate) use_count: u64,
}

/// The members that every record has.
type Always = (i64, Option<String>, String);

impl Record for PromptRecord {
    const TABLE: &'static str = "history";

    /// The count is left out where it is 1, as in records that were written before there was one.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![Self::VERSION];
        append(&self.created_at, &mut bytes);
        append(&self.cwd, &mut bytes);
        append(&self.prompt, &mut bytes);
        if self.use_count != 1 {
            append(&self.use_count, &mut bytes);
        }
        bytes
    }

    fn from_bytes(bytes: &[u8], place: impl FnOnce() -> String) -> Result<Self, Error> {
        versioned::<Self, _>(bytes, place, |rest| {
            let ((created_at, cwd, prompt), length) = read::<Always>(rest)?;
            let use_count = match rest.get(length..) {
                None | Some([]) => 1,
                Some(count) => read(count)?.0,
            };
            Ok(Self { created_at, cwd, prompt, use_count })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_one_takes_no_byte() {
        let record = |use_count| PromptRecord {
            created_at: 1,
            cwd: Some("/w".to_owned()),
            prompt: "Go on".to_owned(),
            use_count,
        };
        for use_count in [1, 0, 7, u64::MAX] {
            let bytes = record(use_count).to_bytes();
            assert_eq!(PromptRecord::from_bytes(&bytes, String::new).unwrap(), record(use_count));
        }
        assert_eq!(record(1).to_bytes().len() + 1, record(7).to_bytes().len());
    }
}
