//! A session's conversation for people: as Markdown, to be pasted, and as one page of HTML, to be opened or sent.
//!
//! Both are written entry by entry, for every family by what [`Entry::view`](crate::Entry::view) says: memory is that of one
//! entry and, for the page, of the tree's [outline](crate::tree::Outline). Pictures of a session are in the page, and a file of
//! their own.

mod call;
mod command;
mod cost;
mod diff;
mod html;
mod images;
mod language;
mod markdown;
mod markup;
mod number;
mod page;
mod patch;
mod picture;
mod prose;
mod span;
mod speaker;
mod tree;

use std::io::Write;

use crate::error::{Error, ExportError, Result};
#[cfg(feature = "redact")]
use crate::redact::Redactor;
use crate::session::{Entry, SessionReader};

/// In what form a conversation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShareForm {
    /// [`SessionReader::write_markdown`].
    Markdown,
    /// [`SessionReader::write_page`].
    Page,
}

/// How a conversation is written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ShareOptions {
    /// The id of the entry to begin at, in place of the root. If it is not on the way to the leaf, the conversation is the one
    /// that goes through it, to the end of its branch.
    pub from: Option<String>,
    /// The id of the entry to end at, in place of the leaf.
    pub to: Option<String>,
    /// What replaces secrets, if they are to be replaced.
    #[cfg(feature = "redact")]
    pub redactor: Option<Redactor>,
}

impl ShareOptions {
    /// An entry as it is shown.
    fn shown(&self, entry: Entry) -> Entry {
        #[cfg(feature = "redact")]
        if let Some(redactor) = &self.redactor {
            let line = redactor.line(entry.line()).into_owned();
            return entry.with_line(line);
        }
        entry
    }

    /// The same for an entry that is shown as a whole elsewhere, where its secrets are counted.
    fn shown_in_part(&self, entry: Entry) -> Entry {
        #[cfg(feature = "redact")]
        if let Some(redactor) = &self.redactor {
            let line = redactor.aside().line(entry.line()).into_owned();
            return entry.with_line(line);
        }
        entry
    }

    /// A text that is not an entry's, as it is shown.
    fn shown_text(&self, text: &str) -> String {
        #[cfg(feature = "redact")]
        if let Some(redactor) = &self.redactor {
            return redactor.repeated_text(text);
        }
        text.to_owned()
    }
}

impl SessionReader {
    /// Writes the conversation in a form.
    ///
    /// # Errors
    ///
    /// Those of the form's own method.
    pub fn share(
        &self,
        form: ShareForm,
        options: &ShareOptions,
        out: &mut dyn Write,
    ) -> Result<()> {
        match form {
            ShareForm::Markdown => self.write_markdown(options, out),
            ShareForm::Page => self.write_page(options, out),
        }
    }

    /// Writes a conversation as Markdown: the one that leads to the leaf, or the one that the options choose.
    ///
    /// ```
    /// use leafline::Store;
    /// use leafline::share::ShareOptions;
    /// # use leafline::import::ImportOptions;
    ///
    /// # fn main() -> leafline::Result<()> {
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// let store = Store::in_memory()?;
    /// # store.import(&[samples], &ImportOptions::default(), &mut ())?;
    /// let mut text = Vec::new();
    /// store.reader("019c6605")?.write_markdown(&ShareOptions::default(), &mut text)?;
    /// assert!(text.starts_with(b"# Flaky scheduler test\n"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound); [`ExportError::NotOnPath`] if the entry to
    /// begin at is not on the way to the one to end at; [`ExportError::Output`] of the writer; [`Error::Corrupted`] if the
    /// store is damaged.
    pub fn write_markdown(&self, options: &ShareOptions, out: &mut dyn Write) -> Result<()> {
        markdown::write(self, options, out)
    }

    /// Writes the conversation as a page of HTML that needs nothing else: the way to the leaf or to the entry to end at, and
    /// all other branches below the root, or below the entry to begin at, but nothing behind the one to end at. It asks nothing of any server, and nothing in it is run but its own script.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write_markdown`].
    pub fn write_page(&self, options: &ShareOptions, out: &mut dyn Write) -> Result<()> {
        page::write(self, options, out)
    }
}

/// Passes on text to the caller's writer.
struct Sheet<'o> {
    out: &'o mut dyn Write,
}

impl Sheet<'_> {
    fn put(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.out
            .write_all(text.as_ref().as_bytes())
            .map_err(|error| Error::Export(ExportError::Output(error)))
    }
}

/// What a session is called: its title, or the beginning of its first prompt, or its id.
fn title(reader: &SessionReader, options: &ShareOptions) -> String {
    let facts = reader.facts();
    let named = facts.title.as_deref().or(facts.first_prompt.as_deref()).unwrap_or(&facts.id);
    let line = options.shown_text(named);
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
