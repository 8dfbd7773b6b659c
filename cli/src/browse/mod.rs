//! `leafline browse`.

mod actions;
mod browser;
mod changes;
mod conversation;
mod cursor;
mod draw;
mod filter;
mod found;
mod guard;
mod keys;
mod prompt;
mod row;
mod sessions;
mod style;
mod tree;
mod typed;
mod way;
mod window;
mod words;
mod work;

#[cfg(test)]
mod tests;

use std::io::IsTerminal;
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{self, Event, KeyEventKind};
use crossterm::execute;
use leafline::list::SessionFilter;

use self::browser::{Browser, Ending};
use self::guard::Guard;
use self::words::Words;
use super::failure::{Failure, usage};
use super::interrupt::Interrupt;
use super::output::Output;
use super::place::Place;
use super::session_choice::SessionChoice;
use super::{Status, resume};

/// Look at the sessions in the terminal
///
/// Lists the sessions, newest first, with a filter that works as you type, as in fzf. A session opens as its conversation,
/// at its end; t shows its tree, s searches all sessions. What agents append meanwhile appears by itself, and at the end of a
/// conversation it is followed. ? lists the keys, which are those of less where they can be.
///
/// Nothing is read whole: a session of a million entries opens like any other. The store is only read, unless you set a
/// label; a store that may not be written can be browsed too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Keys:
  j k, g G, ctrl-d ctrl-u, space b   move        enter   open            q, esc   back
  /  filter, or find in a session    n N  next   s       search all      t        tree
  o  open as a page                  r  resume   e       export          y Y      copy an id
  l  label   L  labels               f  whole    a       with agents     ?        all keys

Examples:
  leafline browse
  leafline browse --cwd .
  leafline browse 019c6605")]
pub(super) struct Arguments {
    /// Begin with the conversation of this session: its id, or a unique prefix of it
    #[arg(add = crate::completion::sessions())]
    session: Option<String>,

    /// List the sessions of agents too
    #[arg(long)]
    agents: bool,

    #[command(flatten)]
    choice: SessionChoice,
}

/// Browses until the user has seen enough.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    if out.is_json() {
        return Err(usage("the argument '--json' cannot be used with 'browse', which draws"));
    }
    if !std::io::stdout().is_terminal() {
        return Err(Failure::NoTerminal);
    }
    let store = place.open_to_read()?;
    let wanted = SessionFilter { without_agents: !arguments.agents, ..arguments.choice.filter()? };
    let mut browser = Browser::new(store, place.clone(), wanted, out.is_coloured())?;
    if let Some(session) = &arguments.session {
        browser.open(session, None, Words::default())?;
    }
    let interrupt = Interrupt::listen()?;
    interrupt.listen_to_hangup()?;
    let mut guard = Guard::take()?;
    let ended = drive(&mut browser, &mut guard, &interrupt);
    drop(guard);
    // The program may write for days.
    drop(browser);
    match ended? {
        None => Ok(Status::Stopped),
        Some(Ending::Quit) => Ok(Status::Done),
        Some(Ending::Resume(resumption)) => {
            for report in &resumption.files {
                resume::remark(report, out);
            }
            resume::go_on(&resumption)
        }
    }
}

/// Draws, and passes the keys on. `None` if the command was told to stop.
fn drive(
    browser: &mut Browser,
    guard: &mut Guard,
    interrupt: &Interrupt,
) -> Result<Option<Ending>, Failure> {
    loop {
        let size = guard.terminal.size()?;
        browser.set_size(size.width, size.height);
        browser.go_on();
        if let Some(ending) = browser.ending.take() {
            return Ok(Some(ending));
        }
        if interrupt.is_set() {
            return Ok(None);
        }
        if Guard::is_held() && std::mem::take(&mut browser.is_stale) {
            if std::mem::take(&mut browser.is_cleared) {
                guard.terminal.clear()?;
            }
            guard.terminal.draw(|frame| draw::draw(frame, browser))?;
            if let Some(copied) = browser.clipboard.take() {
                execute!(std::io::stdout(), CopyToClipboard::to_clipboard_from(copied))?;
            }
        }
        let mut patience = browser.patience();
        while event::poll(patience)? {
            if let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
            {
                browser.press(key);
                browser.go_on();
            }
            if browser.ending.is_some() {
                break;
            }
            // A key that is held down is drawn once for all that has come.
            patience = Duration::ZERO;
        }
    }
}
