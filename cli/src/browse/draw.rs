//! Draws the screen.

use leafline::SessionFacts;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::browser::{Browser, GUTTER, View};
use super::keys::HELP;
use super::style::{self, BAR, CHOSEN};
use super::words::marked_at;
use crate::number::{bytes, count, counted};
use crate::output::{BAD, FAINT, KIND, STRONG, is_ascii_locale};
use crate::{preview, text, time};

/// The columns of a session's time and of its program's name, with a space behind each.
const TIME: usize = 17;
const FAMILY: usize = 7;

/// The columns of the count of entries.
const ENTRIES: usize = 9;

/// The columns of the folder, at most, and those of a terminal that is too narrow for it.
const FOLDER: usize = 32;
const NARROW: usize = 72;

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, browser: &mut Browser) {
    let area = frame.area();
    let [columns, rows] = [area.width, area.height];
    if columns == 0 || rows == 0 {
        return;
    }
    let buffer = frame.buffer_mut();
    bar(buffer, area.y, &heading(browser, columns.into()));
    let body = Rect { y: area.y + 1, height: rows.saturating_sub(2), ..area };
    match (browser.help, browser.views.last()) {
        (Some(from), _) => help(buffer, body, from, browser.colour),
        (None, Some(View::Conversation(conversation))) => {
            let chosen = conversation.chosen();
            for (y, place) in rows_of(body, conversation.cursor.top) {
                let Some(row) = conversation.window().row(place) else { break };
                let line = conversation.words.marked(&row.line, style::found(browser.colour));
                let is_chosen = Some(row.entry) == chosen;
                let at = place == conversation.cursor.at;
                entry_row(buffer, body, y, &line, (is_chosen, at), browser.colour);
            }
        }
        (None, Some(View::Tree(tree))) => {
            for (y, place) in rows_of(body, tree.cursor.top) {
                let Some(row) = tree.row(place) else { break };
                let line = tree.words.marked(&row.line, style::found(browser.colour));
                let at = place == tree.cursor.at;
                entry_row(buffer, body, y, &line, (at, at), browser.colour);
            }
        }
        (None, Some(View::Found(found))) => {
            for (y, place) in rows_of(body, found.cursor.top * 2) {
                let Some(item) = found.items.get(place / 2) else { break };
                let [first, second] = &item.lines;
                let line = if place % 2 == 0 { first } else { second };
                let at = place / 2 == found.cursor.at;
                entry_row(buffer, body, y, line, (at, at), browser.colour);
            }
        }
        (None, None) => sessions(buffer, body, browser),
    }
    if rows > 1 {
        bottom(frame, area.bottom() - 1, browser);
    }
    if is_ascii_locale() {
        for cell in &mut frame.buffer_mut().content {
            let plain = text::ascii(cell.symbol());
            cell.set_symbol(plain.get(..1).unwrap_or(" "));
        }
    }
}

/// The rows of an area with the places of what they show.
fn rows_of(area: Rect, top: usize) -> impl Iterator<Item = (u16, usize)> {
    (area.top()..area.bottom()).zip(top..)
}

/// A row in reverse from one side of the screen to the other.
fn bar(buffer: &mut Buffer, y: u16, line: &Line<'_>) {
    let area = buffer.area;
    buffer.set_line(area.x, y, line, area.width);
    buffer.set_style(Rect { y, height: 1, ..area }, BAR);
}

/// A row of an entry: with a mark if the entry is chosen, in reverse if the row is.
fn entry_row(
    buffer: &mut Buffer,
    body: Rect,
    y: u16,
    line: &Line<'_>,
    (is_chosen, at): (bool, bool),
    colour: bool,
) {
    let gutter = u16::try_from(GUTTER).unwrap_or(0).min(body.width);
    if is_chosen {
        buffer.set_stringn(body.x, y, "▌", gutter.into(), style::of(KIND, colour));
    }
    buffer.set_line(body.x + gutter, y, line, body.width - gutter);
    if at {
        let rest = Rect { x: body.x + gutter, y, width: body.width - gutter, height: 1 };
        buffer.set_style(rest, CHOSEN);
    }
}

/// What is shown: at the left what it is, at the right where in it.
fn heading(browser: &Browser, columns: usize) -> Line<'static> {
    let (what, place) = match browser.views.last() {
        _ if browser.help.is_some() => ("keys of leafline browse".to_owned(), String::new()),
        Some(View::Conversation(conversation)) => {
            let at_end = if conversation.is_at_end() { "end" } else { "" };
            (of_session(&conversation.facts), at_end.to_owned())
        }
        Some(View::Tree(tree)) => (format!("tree of {}", of_session(&tree.facts)), String::new()),
        Some(View::Found(found)) => {
            let place = (found.cursor.at + 1).min(found.items.len()) as u64;
            (
                found.title.clone(),
                format!("{} of {}", count(place), count(found.items.len() as u64)),
            )
        }
        None => of_list(browser),
    };
    let room = columns.saturating_sub(text::width(&place) + 3);
    let what = text::fit(&what, room).into_owned();
    let between = columns.saturating_sub(text::width(&what) + text::width(&place) + 2);
    Line::from(format!(" {what}{}{place} ", " ".repeat(between)))
}

fn of_list(browser: &Browser) -> (String, String) {
    let sessions = &browser.sessions;
    let (shown, all) = sessions.counts();
    let more = if sessions.is_whole { "" } else { "+" };
    let all = format!("{}{more}", counted(all as u64, "session", "sessions"));
    let filter = text::printable(sessions.filter.text()).into_owned();
    let what = match filter.as_str() {
        "" => all,
        filter => format!("{} of {all} with {filter}", count(shown as u64)),
    };
    let damaged = match sessions.damaged {
        0 => String::new(),
        damaged => format!("; {} cannot be read", counted(damaged as u64, "other", "others")),
    };
    let place = (sessions.cursor.at + 1).min(shown) as u64;
    (format!("leafline  {what}{damaged}"), count(place))
}

/// A session in a heading: its title, program, folder and size.
fn of_session(facts: &SessionFacts) -> String {
    let title = title(facts);
    let cwd = facts.cwd.as_deref().map(|cwd| format!("  {}", text::printable(cwd)));
    let entries = counted(facts.entries, "entry", "entries");
    format!("{title}  {}{}  {entries}", facts.family, cwd.unwrap_or_default())
}

/// The title of a session, or else its first prompt, or else its id.
fn title(facts: &SessionFacts) -> String {
    let said = facts.title.as_deref().or(facts.first_prompt.as_deref());
    match said.map(|said| text::one_line(said, preview::LONGEST)).unwrap_or_default() {
        none if none.is_empty() => text::printable(&facts.id).into_owned(),
        title => title,
    }
}

fn sessions(buffer: &mut Buffer, body: Rect, browser: &mut Browser) {
    let sessions = &mut browser.sessions;
    let (list, detail) = (body.height.saturating_sub(1), body.bottom().saturating_sub(1));
    for (y, place) in rows_of(Rect { height: list, ..body }, sessions.cursor.top) {
        let Some(facts) = sessions.get(place) else { break };
        let is_gone = sessions.is_gone(&facts.id);
        let facts = facts.clone();
        let line = session_line(&facts, is_gone, browser.colour, body.width.into(), |title| {
            sessions.filter.places(title)
        });
        entry_row(
            buffer,
            body,
            y,
            &line,
            (place == sessions.cursor.at, place == sessions.cursor.at),
            browser.colour,
        );
    }
    if let Some(facts) = sessions.chosen().filter(|_| body.height > 0) {
        let line = Line::from(Span::styled(detail_of(facts), style::of(FAINT, browser.colour)));
        buffer.set_line(body.x, detail, &line, body.width);
    }
    if sessions.counts().0 == 0 && list > 0 {
        let said = match (sessions.counts().1, sessions.is_whole) {
            (0, true) => "  no sessions; `leafline import` brings some",
            _ => "  no session has this",
        };
        buffer.set_stringn(
            body.x,
            body.y,
            said,
            body.width.into(),
            style::of(FAINT, browser.colour),
        );
    }
}

/// A session in the list: time, program, title, folder, entries.
fn session_line(
    facts: &SessionFacts,
    is_gone: bool,
    colour: bool,
    columns: usize,
    mut places: impl FnMut(&str) -> Vec<usize>,
) -> Line<'static> {
    let found = style::found(colour);
    let faint = style::of(FAINT, colour);
    let time = facts.modified.and_then(time::local).unwrap_or_default();
    let time = format!("{:<TIME$}", text::fit(&time, TIME - 1));
    let family = format!("{:<FAMILY$}", facts.family.name());
    let is_narrow = columns < NARROW;
    let mut room = columns.saturating_sub(GUTTER + TIME + FAMILY);
    let (mut folder_room, mut entries_room) = (0, 0);
    if !is_narrow {
        folder_room = (room / 3).min(FOLDER);
        entries_room = ENTRIES;
        room -= folder_room + entries_room + 2;
    }
    let gone = if is_gone { "gone " } else { "" };
    let title = text::fit(&title(facts), room.saturating_sub(gone.len())).into_owned();
    let padding = room.saturating_sub(text::width(&title) + gone.len());
    let mut spans = vec![Span::styled(time, faint), Span::styled(family, style::of(KIND, colour))];
    let mut push = |text: String, style: Style| {
        let places = places(&text);
        spans.extend(marked_at(&Line::from(Span::styled(text, style)), &places, found).spans);
    };
    push(title, Style::new());
    if !is_narrow {
        let cwd = text::printable(facts.cwd.as_deref().unwrap_or_default()).into_owned();
        let cwd = text::fit_end(&cwd, folder_room).into_owned();
        let after = folder_room.saturating_sub(text::width(&cwd));
        push(" ".repeat(padding) + "  ", Style::new());
        push(cwd, faint);
        let entries = format!("{}{:>entries_room$}", " ".repeat(after), count(facts.entries));
        spans.push(Span::styled(entries, faint));
    }
    if is_gone {
        spans.insert(2, Span::styled(gone, style::of(BAD, colour)));
    }
    Line::from(spans)
}

/// More about the chosen session, in a row.
fn detail_of(facts: &SessionFacts) -> String {
    let created = facts.created.and_then(time::local);
    let created = created.map(|created| format!("from {created}  ")).unwrap_or_default();
    let prompt = facts.first_prompt.as_deref().map(preview::quoted).unwrap_or_default();
    let agent = facts.agent.as_deref().map(|agent| format!("agent {}  ", text::printable(agent)));
    format!(
        "  {}  {}{created}{}  {prompt}",
        text::printable(&facts.id),
        agent.unwrap_or_default(),
        bytes(facts.bytes),
    )
}

fn help(buffer: &mut Buffer, body: Rect, from: usize, colour: bool) {
    let widest = HELP.iter().map(|(keys, _)| text::width(keys)).max().unwrap_or(0);
    for (y, place) in rows_of(body, from) {
        let Some((keys, meaning)) = HELP.get(place) else { break };
        let line = if keys.is_empty() {
            Line::from(Span::styled(format!(" {meaning}"), style::of(STRONG, colour)))
        } else {
            Line::from(vec![
                Span::styled(format!("   {keys:<widest$}  "), style::of(KIND, colour)),
                Span::raw(*meaning),
            ])
        };
        buffer.set_line(body.x, y, &line, body.width);
    }
}

/// The last row: a line that is typed, or what was done, or what the keys do.
fn bottom(frame: &mut Frame<'_>, y: u16, browser: &Browser) {
    let area = frame.area();
    let width = usize::from(area.width);
    if let Some(prompt) = &browser.prompt {
        let question = text::printable(&prompt.question()).into_owned();
        let before = text::printable(prompt.before()).into_owned();
        let room = width.saturating_sub(text::width(&question) + 1);
        // The end of a line that is too long is what is being typed.
        let before = text::fit_end(&before, room).into_owned();
        let after: String = prompt.text().chars().skip(prompt.before().chars().count()).collect();
        let cursor = text::width(&question) + text::width(&before);
        let line = Line::from(vec![
            Span::styled(question, Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(before),
            Span::raw(text::printable(&after).into_owned()),
        ]);
        frame.buffer_mut().set_line(area.x, y, &line, area.width);
        let x = u16::try_from(cursor).unwrap_or(u16::MAX).min(area.width.saturating_sub(1));
        frame.set_cursor_position(Position { x: area.x + x, y });
        return;
    }
    let colour = browser.colour;
    let line = match (&browser.status, &browser.work) {
        (_, Some(work)) => Line::from(format!(" {} …  esc stops it", work.name)),
        (Some(status), None) => {
            let status = text::one_line(status, 1_000);
            Line::from(Span::styled(format!(" {status}"), style::of(STRONG, colour)))
        }
        (None, None) => {
            let [most, last] = hints(browser);
            Line::from(Span::styled(fitting(most, last, width), style::of(FAINT, colour)))
        }
    };
    frame.buffer_mut().set_line(area.x, y, &line, area.width);
}

/// What the keys do, the most used first; and those that are shown at any width.
fn hints(browser: &Browser) -> [&'static [&'static str]; 2] {
    match browser.views.last() {
        _ if browser.help.is_some() => [&["j k move"], &["any other key goes back"]],
        None => [
            &["/ filter", "enter open", "t tree", "s search", "o page", "r resume", "e export"],
            &["? keys", "q quit"],
        ],
        Some(View::Conversation(_)) => [
            &[
                "/ find", "n N next", "t tree", "f whole", "l label", "o page", "r resume",
                "e export",
            ],
            &["? keys", "q back"],
        ],
        Some(View::Tree(_)) => [
            &["enter open", "/ find", "n N next", "f unfold", "l label", "L labels"],
            &["? keys", "q back"],
        ],
        Some(View::Found(_)) => [&["enter open", "s search", "y copy id"], &["? keys", "q back"]],
    }
}

/// As many of the first as there is room for, and the last ones.
fn fitting(most: &[&str], last: &[&str], width: usize) -> String {
    let line = |shown: &[&str]| format!(" {}", [shown, last].concat().join("   "));
    let mut shown = most;
    while text::width(&line(shown)) > width
        && let Some((_, fewer)) = shown.split_last()
    {
        shown = fewer;
    }
    line(shown)
}
