//! What the line does that is typed at the bottom of the screen.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::browser::{Browser, View};
use super::found::Found;
use super::prompt::{Prompt, Purpose};
use super::words::Words;
use crate::failure::Failure;

impl Browser {
    /// A key for the line that is typed.
    pub(super) fn type_key(&mut self, key: KeyEvent) {
        let Some(prompt) = &mut self.prompt else { return };
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_filter = prompt.purpose == Purpose::Filter;
        match key.code {
            KeyCode::Char('c') if is_control => return self.cancel_prompt(),
            KeyCode::Char('u') if is_control => prompt.delete_all(),
            KeyCode::Char('w') if is_control => prompt.delete_word(),
            KeyCode::Char('a') if is_control => prompt.start(),
            KeyCode::Char('e') if is_control => prompt.end(),
            KeyCode::Char('h') if is_control => prompt.delete_back(),
            KeyCode::Char('n' | 'j') if is_control && is_filter => return self.go(1),
            KeyCode::Char('p' | 'k') if is_control && is_filter => return self.go(-1),
            KeyCode::Char('j') if is_control => return self.accept_prompt(),
            KeyCode::Char(_) if is_control => return,
            KeyCode::Down if is_filter => return self.go(1),
            KeyCode::Up if is_filter => return self.go(-1),
            KeyCode::Esc => return self.cancel_prompt(),
            KeyCode::Enter => return self.accept_prompt(),
            KeyCode::Backspace if prompt.text().is_empty() => return self.cancel_prompt(),
            KeyCode::Backspace => prompt.delete_back(),
            KeyCode::Delete => prompt.delete(),
            KeyCode::Left => prompt.left(),
            KeyCode::Right => prompt.right(),
            KeyCode::Home => prompt.start(),
            KeyCode::End => prompt.end(),
            KeyCode::Char(character) => prompt.insert(character),
            _ => return,
        }
        let text = prompt.text();
        match prompt.purpose {
            Purpose::Filter if text != self.sessions.filter.text() => {
                self.sessions.set_filter(&text);
            }
            // One key answers it.
            Purpose::Replace { .. } => self.accept_prompt(),
            _ => {}
        }
    }

    fn cancel_prompt(&mut self) {
        if let Some(Prompt { purpose: Purpose::Filter, .. }) = self.prompt.take() {
            self.sessions.set_filter("");
        }
    }

    fn accept_prompt(&mut self) {
        let Some(prompt) = self.prompt.take() else { return };
        let text = prompt.text();
        let accepted = match prompt.purpose {
            Purpose::Filter => self.open_chosen(),
            Purpose::Find => self.find(&text),
            Purpose::Search => {
                self.search(&text);
                Ok(())
            }
            Purpose::Export { session } => {
                self.export(session, &text);
                Ok(())
            }
            Purpose::Replace { session, path } => {
                self.replace(session, path, &text);
                Ok(())
            }
            Purpose::Label { session, entry } => {
                self.label(session, entry, &text);
                Ok(())
            }
        };
        self.say_failure(accepted);
    }

    fn replace(&mut self, session: String, path: PathBuf, answer: &str) {
        if answer.eq_ignore_ascii_case("y") {
            self.write(session, path);
        } else {
            self.say("not exported");
        }
    }

    fn find(&mut self, text: &str) -> Result<(), Failure> {
        // An empty one is for the text before, as in less.
        let new = (!text.is_empty()).then(|| Words::text(text));
        match self.views.last_mut() {
            Some(View::Conversation(conversation)) => {
                conversation.words = new.unwrap_or_else(|| conversation.words.clone());
            }
            Some(View::Tree(tree)) => tree.words = new.unwrap_or_else(|| tree.words.clone()),
            Some(View::Found(_)) | None => {}
        }
        self.seek(true)
    }

    fn search(&mut self, query: &str) {
        if query.trim().is_empty() {
            return;
        }
        let (store, colour, query) = (self.store.clone(), self.colour, query.to_owned());
        self.begin("searching", move |stop| {
            let goes_on = || !stop.load(std::sync::atomic::Ordering::Relaxed);
            let found = Found::search(&store, &query, colour, &goes_on)?;
            Ok(Box::new(move |browser: &mut Browser| {
                browser.status.clone_from(&found.remark);
                if found.items.is_empty() {
                    browser.say("nothing found");
                } else {
                    browser.show(View::Found(found));
                }
                Ok(())
            }))
        });
    }
}
