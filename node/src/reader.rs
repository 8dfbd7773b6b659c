//! A reader of a session.

use leafline::PausedReader;
use leafline::SessionReader as Reader;
use leafline::context::ContextLeaf;
use napi::Env;
use napi::bindgen_prelude::{AsyncTask, Buffer, Unknown};
use napi_derive::napi;

use crate::objects::{
    Asked, ContextOptions, Entry, Page, PageSize, SessionFacts, Tree, line_text, natural, number,
    page_limit,
};
use crate::work::{JsonWork, Result, Shared, Work, parse_json, spawn, spawn_json};

/// Reads a session. Each call shows it as it is then. Lines that were read keep their contents and ordinals as long as entries
/// are only added. If lines were changed since the reader was made, calls fail with `SESSION_REWRITTEN`. A reader made before the
/// session was stored keeps showing it as it was then. Between calls it keeps the store open, but holds back none of its space.
#[napi]
pub struct SessionReader {
    paused: Shared<PausedReader>,
}

impl SessionReader {
    pub(crate) fn new(paused: Shared<PausedReader>) -> Self {
        Self { paused }
    }

    fn with<R>(&self, read: impl FnOnce(&Reader) -> leafline::Result<R>) -> Result<R> {
        self.paused.with(|paused| read(&paused.resume()?))
    }

    fn spawn<T, R>(
        &self,
        read: impl FnOnce(&Reader) -> leafline::Result<R> + Send + 'static,
    ) -> AsyncTask<Work<T>>
    where
        T: napi::bindgen_prelude::ToNapiValue + napi::bindgen_prelude::TypeName + Send + 'static,
        R: Into<T>,
    {
        let paused = self.paused.clone();
        spawn(move || paused.with(|paused| read(&paused.resume()?)).map(Into::into))
    }

    fn spawn_context(
        &self,
        options: Option<ContextOptions>,
        is_request: bool,
    ) -> Result<AsyncTask<JsonWork>> {
        let (paused, asked) = (self.paused.clone(), Asked::new(options)?);
        let read = move |paused: &mut PausedReader| context(&paused.resume()?, &asked, is_request);
        Ok(spawn_json(move || paused.with(read)))
    }
}

fn entries(all: &[leafline::Entry]) -> Vec<Entry> {
    all.iter().map(Entry::from).collect()
}

fn path(reader: &Reader, from: Option<&str>) -> leafline::Result<Vec<Entry>> {
    let mut path = Vec::new();
    reader.get_path(from, |entry| {
        path.push(Entry::from(entry));
        Ok(())
    })?;
    Ok(path)
}

fn leaf_of(asked: &Asked) -> ContextLeaf<'_> {
    match &asked.leaf {
        _ if asked.before_all => ContextLeaf::None,
        Some(id) => ContextLeaf::Entry(id),
        None => ContextLeaf::Current,
    }
}

fn context(reader: &Reader, asked: &Asked, is_request: bool) -> leafline::Result<String> {
    let leaf = leaf_of(asked);
    let mut text = Vec::new();
    match (is_request, asked.scope) {
        (true, scope) => reader.write_request(leaf, asked.program, scope, &mut text)?,
        (false, leafline::context::HistoryScope::Full) => {
            reader.write_full_history(leaf, asked.program, &mut text)?
        }
        (false, _) => reader.write_context(leaf, asked.program, &mut text)?,
    };
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A context with the entries of each message.
fn context_entries(reader: &Reader, asked: &Asked) -> leafline::Result<String> {
    use std::fmt::Write;
    let leaf = leaf_of(asked);
    let built = match asked.scope {
        leafline::context::HistoryScope::Full => reader.build_full_history(leaf, asked.program)?,
        leafline::context::HistoryScope::Context => reader.build_context(leaf, asked.program)?,
    };
    let mut text = built.to_json();
    text.pop();
    text.push_str(",\"ordinals\":[");
    for (place, message) in built.messages.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        // A String takes any text.
        let _ = write!(text, "{comma}{}", message.ordinal);
    }
    text.push_str("]}");
    Ok(text)
}

#[napi]
impl SessionReader {
    /// The facts that a list shows, without reading any line.
    #[napi]
    pub fn facts(&self) -> Result<SessionFacts> {
        self.with(|reader| Ok(SessionFacts::from(&reader.facts())))
    }

    /// The header line; Claude Code's sessions have none.
    #[napi]
    pub fn header_sync(&self) -> Result<Option<Entry>> {
        self.with(|reader| Ok(reader.get_header()?.as_ref().map(Entry::from)))
    }

    /// The header line; Claude Code's sessions have none.
    #[napi(ts_return_type = "Promise<Entry | null>")]
    pub fn header(&self) -> AsyncTask<Work<Option<Entry>>> {
        self.spawn(|reader| Ok(reader.get_header()?.as_ref().map(Entry::from)))
    }

    /// The entry with this id; of an id that occurs twice, the later entry. Fails with `ENTRY_NOT_FOUND`.
    #[napi]
    pub fn entry_sync(&self, id: String) -> Result<Entry> {
        self.with(|reader| Ok(Entry::from(&reader.get_entry(&id)?)))
    }

    /// The entry with this id; of an id that occurs twice, the later entry. Fails with `ENTRY_NOT_FOUND`.
    #[napi(ts_return_type = "Promise<Entry>")]
    pub fn entry(&self, id: String) -> AsyncTask<Work<Entry>> {
        self.spawn(move |reader| Ok(Entry::from(&reader.get_entry(&id)?)))
    }

    /// The id of the entry that has this id, or whose id alone begins with it.
    #[napi]
    pub fn find_entry_id_sync(&self, prefix: String) -> Result<String> {
        self.with(|reader| reader.find_entry_id(&prefix))
    }

    /// The line with this ordinal, entry or not; `null` after the session's end.
    #[napi]
    pub fn line_sync(&self, ordinal: i64) -> Result<Option<Entry>> {
        let ordinal = natural(ordinal, "the ordinal")?;
        self.with(|reader| Ok(reader.line(ordinal)?.as_ref().map(Entry::from)))
    }

    /// The exact bytes of the line with this ordinal, with its line feed; `null` after the session's end.
    #[napi]
    pub fn line_bytes_sync(&self, ordinal: i64) -> Result<Option<Buffer>> {
        let ordinal = natural(ordinal, "the ordinal")?;
        let line = self.with(|reader| reader.line(ordinal))?;
        Ok(line.map(|line| Buffer::from(line.line())))
    }

    /// The current leaf; `null` if the session has none.
    #[napi]
    pub fn leaf_sync(&self) -> Result<Option<Entry>> {
        self.with(|reader| Ok(reader.get_leaf()?.as_ref().map(Entry::from)))
    }

    /// The current leaf; `null` if the session has none.
    #[napi(ts_return_type = "Promise<Entry | null>")]
    pub fn leaf(&self) -> AsyncTask<Work<Option<Entry>>> {
        self.spawn(|reader| Ok(reader.get_leaf()?.as_ref().map(Entry::from)))
    }

    /// The label set on an entry; `null` if there is none.
    #[napi]
    pub fn label_sync(&self, id: String) -> Result<Option<String>> {
        self.with(|reader| reader.get_label(&id))
    }

    /// The path from the root down to an entry, or to the leaf, in memory. `pathBackwards` has it in pages.
    #[napi]
    pub fn path_sync(&self, from: Option<String>) -> Result<Vec<Entry>> {
        self.with(|reader| path(reader, from.as_deref()))
    }

    /// The path from the root down to an entry, or to the leaf, in memory. `pathBackwards` has it in pages.
    #[napi(ts_return_type = "Promise<Entry[]>")]
    pub fn path(&self, from: Option<String>) -> AsyncTask<Work<Vec<Entry>>> {
        self.spawn(move |reader| path(reader, from.as_deref()))
    }

    /// The direct children of an entry in the order of the file; without an id, the roots.
    #[napi]
    pub fn children_sync(&self, id: Option<String>) -> Result<Vec<Entry>> {
        self.with(|reader| Ok(entries(&reader.get_children(id.as_deref())?)))
    }

    /// The direct children of an entry in the order of the file; without an id, the roots.
    #[napi(ts_return_type = "Promise<Entry[]>")]
    pub fn children(&self, id: Option<String>) -> AsyncTask<Work<Vec<Entry>>> {
        self.spawn(move |reader| Ok(entries(&reader.get_children(id.as_deref())?)))
    }

    /// A page of entries from an ordinal on, in the order of the file. Continue with the page's `next`.
    #[napi]
    pub fn entries_sync(&self, from: i64, size: Option<PageSize>) -> Result<Page> {
        let (from, limit) = (natural(from, "the ordinal")?, page_limit(size)?);
        self.with(|reader| Ok(reader.entries(from.., &limit)?.into()))
    }

    /// A page of entries from an ordinal on, in the order of the file. Continue with the page's `next`.
    #[napi(ts_return_type = "Promise<Page>")]
    pub fn entries(&self, from: i64, size: Option<PageSize>) -> Result<AsyncTask<Work<Page>>> {
        let (from, limit) = (natural(from, "the ordinal")?, page_limit(size)?);
        Ok(self.spawn(move |reader| reader.entries(from.., &limit)))
    }

    /// A page of the path from an entry, or from the leaf, up towards the root. Continue with `pathBackwardsFrom`.
    #[napi]
    pub fn path_backwards_sync(
        &self,
        from: Option<String>,
        size: Option<PageSize>,
    ) -> Result<Page> {
        let limit = page_limit(size)?;
        self.with(|reader| Ok(reader.path_backwards(from.as_deref(), &limit)?.into()))
    }

    /// A page of the path from an entry, or from the leaf, up towards the root. Continue with `pathBackwardsFrom`.
    #[napi(ts_return_type = "Promise<Page>")]
    pub fn path_backwards(
        &self,
        from: Option<String>,
        size: Option<PageSize>,
    ) -> Result<AsyncTask<Work<Page>>> {
        let limit = page_limit(size)?;
        Ok(self.spawn(move |reader| reader.path_backwards(from.as_deref(), &limit)))
    }

    /// The page that follows one of `pathBackwards`: from its `next`.
    #[napi]
    pub fn path_backwards_from_sync(&self, ordinal: i64, size: Option<PageSize>) -> Result<Page> {
        let (ordinal, limit) = (natural(ordinal, "the ordinal")?, page_limit(size)?);
        self.with(|reader| Ok(reader.path_backwards_from(ordinal, &limit)?.into()))
    }

    /// The page that follows one of `pathBackwards`: from its `next`.
    #[napi(ts_return_type = "Promise<Page>")]
    pub fn path_backwards_from(
        &self,
        ordinal: i64,
        size: Option<PageSize>,
    ) -> Result<AsyncTask<Work<Page>>> {
        let (ordinal, limit) = (natural(ordinal, "the ordinal")?, page_limit(size)?);
        Ok(self.spawn(move |reader| reader.path_backwards_from(ordinal, &limit)))
    }

    /// An entry with those before and after it in the file.
    #[napi(ts_return_type = "Promise<Page>")]
    pub fn entries_around(
        &self,
        id: String,
        before: i64,
        after: i64,
        size: Option<PageSize>,
    ) -> Result<AsyncTask<Work<Page>>> {
        let limit = page_limit(size)?;
        let (before, after) = (natural(before, "before")?, natural(after, "after")?);
        Ok(self.spawn(move |reader| reader.entries_around(&id, before, after, &limit)))
    }

    /// The session's tree, without the text of its lines.
    #[napi]
    pub fn tree_sync(&self) -> Result<Tree> {
        self.with(|reader| Ok(Tree::from(&reader.get_tree()?)))
    }

    /// The session's tree, without the text of its lines.
    #[napi(ts_return_type = "Promise<Tree>")]
    pub fn tree(&self) -> AsyncTask<Work<Tree>> {
        self.spawn(|reader| Ok(Tree::from(&reader.get_tree()?)))
    }

    /// The messages and settings at an entry, as the session's program builds them.
    #[napi(ts_return_type = "Context")]
    pub fn context_sync<'env>(
        &self,
        env: &'env Env,
        options: Option<ContextOptions>,
    ) -> Result<Unknown<'env>> {
        let asked = Asked::new(options)?;
        let text = self.with(|reader| context(reader, &asked, false))?;
        parse_json(env, text).map_err(crate::work::unexpected)
    }

    /// The messages and settings at an entry, as the session's program builds them.
    #[napi(ts_return_type = "Promise<Context>")]
    pub fn context(&self, options: Option<ContextOptions>) -> Result<AsyncTask<JsonWork>> {
        self.spawn_context(options, false)
    }

    /// The messages that the program would send to its model at an entry, and the settings in force.
    #[napi(ts_return_type = "Context")]
    pub fn request_sync<'env>(
        &self,
        env: &'env Env,
        options: Option<ContextOptions>,
    ) -> Result<Unknown<'env>> {
        let asked = Asked::new(options)?;
        let text = self.with(|reader| context(reader, &asked, true))?;
        parse_json(env, text).map_err(crate::work::unexpected)
    }

    /// The messages that the program would send to its model at an entry, and the settings in force.
    #[napi(ts_return_type = "Promise<Context>")]
    pub fn request(&self, options: Option<ContextOptions>) -> Result<AsyncTask<JsonWork>> {
        self.spawn_context(options, true)
    }

    /// `contextSync` with `ordinals`: for each message the ordinal of the entry that it was made from.
    #[napi(ts_return_type = "Context & { ordinals: number[] }")]
    pub fn context_entries_sync<'env>(
        &self,
        env: &'env Env,
        options: Option<ContextOptions>,
    ) -> Result<Unknown<'env>> {
        let asked = Asked::new(options)?;
        let text = self.with(|reader| context_entries(reader, &asked))?;
        parse_json(env, text).map_err(crate::work::unexpected)
    }

    /// The ordinals of the entries that the context at an entry is made of, or of its whole path with `full`.
    #[napi]
    pub fn history_sync(&self, options: Option<ContextOptions>) -> Result<Vec<i64>> {
        let asked = Asked::new(options)?;
        self.with(|reader| {
            let history = reader.get_history(leaf_of(&asked), asked.scope)?;
            Ok(history.ordinals().map(number).collect())
        })
    }

    /// The lines with these ordinals, without their line feeds; `null` for one after the session's end.
    #[napi(ts_return_type = "Array<string | null>")]
    pub fn lines_at_sync(&self, ordinals: Vec<i64>) -> Result<Vec<Option<String>>> {
        let natural = |ordinal| natural(ordinal, "the ordinal");
        let ordinals = ordinals.into_iter().map(natural).collect::<Result<Vec<u64>>>()?;
        self.with(|reader| {
            let line = |ordinal| -> leafline::Result<Option<String>> {
                Ok(reader.line(ordinal)?.map(|line| line_text(line.line())))
            };
            ordinals.into_iter().map(line).collect()
        })
    }

    /// The lines from an ordinal on, entries or not, without their line feeds: as many as fit into some bytes, and at least
    /// one, if there is one.
    #[napi]
    pub fn lines_from_sync(&self, from: i64, bytes: i64) -> Result<Vec<String>> {
        let (from, bytes) = (natural(from, "the ordinal")?, natural(bytes, "bytes")?);
        self.with(|reader| {
            let (mut lines, mut read) = (Vec::new(), 0);
            reader.lines(from, |line| {
                read += line.line().len() as u64;
                lines.push(line_text(line.line()));
                Ok(read < bytes)
            })?;
            Ok(lines)
        })
    }

    /// What the user and the model said, as one text.
    #[napi]
    pub fn all_messages_text_sync(&self) -> Result<String> {
        self.with(|reader| reader.get_all_messages_text())
    }

    /// The session as a file has it: as its program would have it today, or `exact`, as close to the imported bytes as
    /// possible. The whole of it is in memory; `Store.exportFile` writes a file.
    #[napi(ts_return_type = "Promise<Buffer>")]
    pub fn export(
        &self,
        #[napi(ts_arg_type = "ExportMode")] mode: Option<String>,
    ) -> Result<AsyncTask<Work<Buffer>>> {
        let mode = crate::transfer::export_mode(mode.as_deref(), None)?;
        Ok(self.spawn(move |reader| {
            let mut bytes = Vec::new();
            reader.export(&mode, &mut bytes)?;
            Ok(bytes)
        }))
    }

    /// Ends the reader: later calls fail with `CLOSED`.
    #[napi]
    pub fn close(&self) {
        self.paused.close();
    }
}
