//! What is done with a session: it is opened as a page, resumed, exported, and its entries are labelled.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use leafline::Family;
use leafline::export::ExportMode;
use leafline::pi::PiSession;
use leafline::share::{ShareForm, ShareOptions};

use super::browser::{Browser, Ending};
use super::prompt::{Prompt, Purpose};
use crate::failure::Failure;
use crate::number::bytes;
use crate::place::shown;

/// What the system opens a file with.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

impl Browser {
    /// Copies an id, if there is one.
    pub(super) fn copy(&mut self, id: Option<String>) {
        match id {
            Some(id) => {
                self.say(format!("copied {id}"));
                self.clipboard = Some(id);
            }
            None => self.say("there is no id to copy"),
        }
    }

    /// Writes the session as a page into a folder that only the user can read, and opens it.
    pub(super) fn open_page(&mut self) {
        let Some(session) = self.session() else { return };
        let store = self.store.clone();
        self.begin("writing the page", move |_| {
            let folder = private_folder().map_err(|source| leafline::Error::File {
                action: "making a folder in",
                path: std::env::temp_dir(),
                source,
            })?;
            let path = folder.path().join("session.html");
            store.share_file(&session, ShareForm::Page, &ShareOptions::default(), &path)?;
            let is_opened = open(&path);
            // The browser reads it when it likes.
            let _ = folder.keep();
            Ok(Box::new(move |browser: &mut Self| {
                let path = shown(&path);
                browser.say(match is_opened {
                    Ok(()) => format!("opened {path}"),
                    Err(error) => {
                        format!("the page is {path}; {OPENER} could not be run: {error}")
                    }
                });
                Ok(())
            }))
        });
    }

    /// Puts the session back where its program looks for it. The screen is left to the program then; if its directory is not
    /// there, that is said, and nothing is done.
    pub(super) fn resume(&mut self) {
        let Some(session) = self.session() else { return };
        let place = self.place.clone();
        self.begin("exporting", move |_| {
            let store = place.open_to_change()?;
            crate::resume::check_directory(&store, &session)?;
            let resumption = store.resume(&session)?;
            Ok(Box::new(move |browser: &mut Self| {
                browser.ending = Some(Ending::Resume(resumption));
                Ok(())
            }))
        });
    }

    pub(super) fn ask_where_to_export(&mut self) {
        let Some(session) = self.session() else { return };
        let named = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let file: String = session.chars().map(named).collect();
        self.prompt = Some(Prompt::new(Purpose::Export { session }, &format!("{file}.jsonl")));
    }

    /// Exports a session, unless there is a file: then it asks.
    pub(super) fn export(&mut self, session: String, path: &str) {
        let path = path.trim();
        if path.is_empty() {
            return;
        }
        let path = match (path.strip_prefix("~/"), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        };
        if path.is_dir() {
            self.say(format!("{} is a folder: name a file", shown(&path)));
        } else if path.symlink_metadata().is_ok() {
            self.prompt = Some(Prompt::new(Purpose::Replace { session, path }, ""));
        } else {
            self.write(session, path);
        }
    }

    /// Exports a session into a file.
    pub(super) fn write(&mut self, session: String, path: PathBuf) {
        let store = self.store.clone();
        self.begin("exporting", move |_| {
            let shared = match path.extension().and_then(|ending| ending.to_str()) {
                Some("html" | "htm") => Some(ShareForm::Page),
                Some("md") => Some(ShareForm::Markdown),
                _ => None,
            };
            let written = match shared {
                Some(form) => store.share_file(&session, form, &ShareOptions::default(), &path)?,
                None => store.export_file(&session, &ExportMode::Current, &path)?,
            };
            Ok(Box::new(move |browser: &mut Self| {
                browser.say(format!("{} written to {}", bytes(written), shown(&path)));
                Ok(())
            }))
        });
    }

    pub(super) fn ask_label(&mut self) -> Result<(), Failure> {
        let (Some(session), Some(entry)) = (self.session(), self.entry()?) else {
            self.say("a label is set on an entry: open the conversation or the tree");
            return Ok(());
        };
        let reader = self.store.reader(&session)?;
        if !matches!(reader.family(), Family::Pi | Family::Omp) {
            self.say(format!("sessions of {} have no labels", reader.family()));
            return Ok(());
        }
        let label = reader.get_label(&entry)?.unwrap_or_default();
        self.prompt = Some(Prompt::new(Purpose::Label { session, entry }, &label));
        Ok(())
    }

    /// Sets the label of an entry, or clears it, as `leafline label` does.
    pub(super) fn label(&mut self, session: String, entry: String, label: &str) {
        let (place, label) = (self.place.clone(), label.trim().to_owned());
        self.begin("labelling", move |_| {
            let store = place.open_to_change()?;
            let mut writer = store.session(&session)?;
            let label = Some(label.as_str()).filter(|label| !label.is_empty());
            writer.append_label_change(&entry, label)?;
            drop(writer);
            let said = if label.is_some() { "labelled" } else { "the label is cleared" };
            Ok(Box::new(move |browser: &mut Self| {
                browser.say(said);
                browser.refresh()
            }))
        });
    }
}

/// A new folder that only the user can read.
fn private_folder() -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("leafline-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

/// Opens a file with the system's program, which has nothing to do with the terminal.
fn open(path: &Path) -> std::io::Result<()> {
    let mut command = Command::new(OPENER);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // It may be the browser itself, and stay.
    let _ = std::thread::Builder::new().spawn(move || child.wait());
    Ok(())
}
