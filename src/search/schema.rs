//! The fields of the index.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TokenizerManager;

use super::words::WordTokenizer;

/// Version of everything that decides the contents of an index: the fields, the words, the parts of an entry that are
/// searched. An index of another version is in another folder.
pub(super) const INDEX_VERSION: u32 = 3;

/// The name of the tokenizer in the index.
const WORDS: &str = "leafline_words";

/// The names of fields that are read as columns.
pub(super) const SESSION: &str = "session";
pub(super) const ORDINAL: &str = "ordinal";
pub(super) const ROLE: &str = "role";
pub(super) const TIME: &str = "time";
pub(super) const STATE: &str = "state";
pub(super) const LINES: &str = "lines";
pub(super) const REVISION: &str = "revision";
pub(super) const STAMP: &str = "stamp";

/// A document is an entry, or the state of a session: how much of it is in the index. Only what is searched and what
/// finds the entry again is stored: the text is read from the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// Of an entry: its text, one value for each passage.
    pub(super) text: Field,
    /// Of an entry: its session's key.
    pub(super) session: Field,
    /// Of an entry: its ordinal.
    pub(super) ordinal: Field,
    /// Of an entry: its role, as its index among all roles.
    pub(super) role: Field,
    /// Of an entry: its time in milliseconds since 1970, if it has one.
    pub(super) time: Field,
    /// Of a state: the session's key.
    pub(super) state: Field,
    /// Of a state: how many of the session's lines were read.
    pub(super) lines: Field,
    /// Of a state: the session's revision then.
    pub(super) revision: Field,
    /// Of a state: identifies the session that the key stood for.
    pub(super) stamp: Field,
}

/// The fields and their schema.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer(WORDS)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let fields = Fields {
        text: builder.add_text_field("text", TextOptions::default().set_indexing_options(words)),
        session: builder.add_u64_field(SESSION, INDEXED | FAST),
        ordinal: builder.add_u64_field(ORDINAL, FAST),
        role: builder.add_u64_field(ROLE, FAST),
        time: builder.add_i64_field(TIME, FAST),
        state: builder.add_u64_field(STATE, INDEXED | FAST),
        lines: builder.add_u64_field(LINES, FAST),
        revision: builder.add_u64_field(REVISION, FAST),
        stamp: builder.add_u64_field(STAMP, FAST),
    };
    (builder.build(), fields)
}

/// The tokenizers by name.
pub(super) fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(WORDS, WordTokenizer::default());
    tokenizers
}
