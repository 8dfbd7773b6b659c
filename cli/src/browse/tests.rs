//! The browser without a terminal: keys in, screens out.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use leafline::import::ImportOptions;
use leafline::list::SessionFilter;
use leafline::live::Persistence;
use leafline::pi::{Draft, PiSession};
use leafline::{Family, NewSession, Session, Store, StoreOptions};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::browser::{Browser, Ending};
use super::draw::draw;
use crate::place::Place;

/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(600);

/// A store, and a browser of it on a screen.
struct Desk {
    _folder: tempfile::TempDir,
    store: PathBuf,
    browser: Browser,
    terminal: Terminal<TestBackend>,
}

impl Desk {
    /// On a store that this fills, opened to be read as the command does.
    fn of(columns: u16, rows: u16, fill: impl FnOnce(&Store)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.leafline");
        let store = Store::open(&path).unwrap();
        fill(&store);
        drop(store);
        let options = StoreOptions { read_only: true, ..StoreOptions::default() };
        let store = Store::open_with(&path, &options).unwrap();
        let wanted = SessionFilter { without_agents: true, ..SessionFilter::default() };
        let place = Place::new(Some(path.clone()));
        let browser = Browser::new(store, place, wanted, false).unwrap();
        let terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        Self { _folder: folder, store: path, browser, terminal }
    }

    fn of_samples(columns: u16, rows: u16) -> Self {
        let samples =
            Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("import").join("samples");
        Self::of(columns, rows, |store| {
            store.import(&[samples], &ImportOptions::default(), &mut ()).unwrap();
        })
    }

    /// On one session of pi's with so many messages.
    fn of_messages(count: usize, columns: u16, rows: u16) -> Self {
        let texts: Vec<String> = (0..count).map(|number| format!("message {number}")).collect();
        Self::saying("/work", &texts, columns, rows)
    }

    /// On one session of pi's whose messages say this.
    fn saying(cwd: &str, texts: &[String], columns: u16, rows: u16) -> Self {
        let time = "2026-03-01T08:00:00.000Z";
        let mut lines = vec![
            json!({ "type": "session", "version": 3, "id": "s1", "timestamp": time, "cwd": cwd }),
        ];
        for (number, text) in texts.iter().enumerate() {
            let parent = number.checked_sub(1).map(|parent| format!("{parent:08x}"));
            let message = json!({ "role": "user", "content": text });
            lines.push(json!({ "type": "message", "id": format!("{number:08x}"), "parentId": parent, "timestamp": time, "message": message }));
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Self::of(columns, rows, |store| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("s1.jsonl");
            std::fs::write(&file, text).unwrap();
            store.import(&[file], &ImportOptions::default(), &mut ()).unwrap();
        })
    }

    /// Types keys: characters as they are, others by their names in angle brackets.
    fn types(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let (code, modifiers, length) = match rest.find('>') {
                Some(end) if first == '<' => {
                    let name = &rest[1..end];
                    let code = match name.strip_prefix("ctrl-").unwrap_or(name) {
                        "enter" => KeyCode::Enter,
                        "esc" => KeyCode::Esc,
                        "down" => KeyCode::Down,
                        "back" => KeyCode::Backspace,
                        other => KeyCode::Char(other.chars().next().unwrap()),
                    };
                    let is_control = name.starts_with("ctrl-");
                    let control =
                        if is_control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
                    (code, control, end + 1)
                }
                _ => (KeyCode::Char(first), KeyModifiers::NONE, first.len_utf8()),
            };
            self.browser.press(KeyEvent::new(code, modifiers));
            self.settles();
            rest = &rest[length..];
        }
        self
    }

    /// Goes on until nothing is under way.
    fn settles(&mut self) {
        let begun = Instant::now();
        loop {
            self.draw();
            if self.browser.patience() >= Duration::from_millis(100) {
                return self.draw();
            }
            assert!(begun.elapsed() < PATIENCE, "{}", self.screen());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn draw(&mut self) {
        let size = self.terminal.size().unwrap();
        self.browser.set_size(size.width, size.height);
        self.browser.go_on();
        self.terminal.draw(|frame| draw(frame, &mut self.browser)).unwrap();
    }

    fn resizes(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.terminal.backend_mut().resize(columns, rows);
        self.settles();
        self
    }

    /// Goes on until the screen has this.
    #[track_caller]
    fn waits_for(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            self.settles();
            if self.screen().contains(text) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{text:?} is not in\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn screen(&self) -> String {
        let buffer = self.terminal.backend().buffer();
        let rows = buffer.content.chunks(usize::from(buffer.area.width.max(1)));
        let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
        rows.map(|row| row.trim_end().to_owned() + "\n").collect()
    }

    #[track_caller]
    fn has(&self, text: &str) -> &Self {
        assert!(self.screen().contains(text), "{text:?} is not in\n{}", self.screen());
        self
    }

    #[track_caller]
    fn lacks(&self, text: &str) -> &Self {
        assert!(!self.screen().contains(text), "{text:?} is in\n{}", self.screen());
        self
    }
}

fn say(session: &mut Session, text: &str) {
    let message = json!({ "role": "user", "content": text });
    session.append(Draft::message(&message.to_string()).unwrap()).unwrap();
}

fn new_session(store: &Store) -> Session {
    let mut new = NewSession::new(Family::Pi, "/elsewhere");
    new.persistence = Some(Persistence::keep_everything());
    store.create_session(&new).unwrap()
}

#[test]
fn a_list_is_filtered_and_opened() {
    let mut desk = Desk::of_samples(100, 24);
    desk.settles();
    desk.has("15 sessions").has("Dark mode for the map");
    desk.types("/flkysch");
    desk.has("1 of 15 sessions with flkysch").has("filter: flkysch").lacks("Dark mode");
    desk.types("<back><esc>");
    desk.has("15 sessions").has("Dark mode").lacks("filter: ");
    desk.types("/flkysch<enter>");
    desk.has("Flaky scheduler test  pi  /home/robin/work/tide-clock  39 entries").has("4be91d7");
    desk.types("q").has("1 of 15 sessions");
    desk.types("<esc>").has("15 sessions").lacks("of 15");
    desk.types("a").has("18 sessions");
    desk.types("/zzqqzz").has("no session has this");
}

#[test]
fn a_conversation_is_read_in_both_directions_whatever_its_length() {
    let mut desk = Desk::of_messages(5_000, 60, 20);
    desk.settles();
    desk.types("<enter>").has("message 4999").has("end");
    // The first entry takes a look at the tree, and then all is there downwards.
    desk.types("g").has("message 0\n").lacks("message 4999");
    for _ in 0..250 {
        desk.types("<ctrl-f>");
    }
    let screen = desk.screen();
    let numbers: Vec<u32> = screen
        .lines()
        .filter_map(|line| line.rsplit_once("message ")?.1.trim().parse().ok())
        .collect();
    assert!(numbers.len() > 3 && numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{screen}");
    for _ in 0..30 {
        desk.types("<ctrl-b>");
    }
    desk.lacks("message 0\n");
    // Up again past what was forgotten, to the same first row.
    for _ in 0..240 {
        desk.types("<ctrl-b>");
    }
    desk.has("message 0\n");
    desk.types("G").has("message 4999").has("end");
    // Words far away are found, and again back from there.
    desk.types("/message 17<enter>").has("found from the beginning on");
    desk.has("message 17\n").lacks("message 4999");
    desk.types("n").has("message 170").lacks("found from");
    desk.types("NN").has("found from the end on").has("message 1799").lacks("message 4999");
    desk.types("g/MESSAGE 4242<enter>").has("not found");
    desk.types("/message 4242<enter>").has("message 4242").lacks("message 4300");
    desk.lacks("found from");
    // It is the only place.
    desk.types("n").has("found from the beginning on").has("message 4242");
    desk.types("N").has("found from the end on").has("message 4242");
}

#[test]
fn a_short_conversation_and_a_tree_are_searched_all_around() {
    let mut desk = Desk::of_messages(3, 60, 20);
    desk.settles();
    desk.types("<enter>/message 0<enter>").has("found from the beginning on");
    desk.types("y/nothing of this<enter>").has("not found");
    desk.types("G/message<enter>").has("found from the beginning on");
    desk.types("n").lacks("found");
    desk.types("n").lacks("found");
    desk.types("n").has("found from the beginning on");
    desk.types("N").has("found from the end on");
    desk.types("t/message 2<enter>").lacks("found");
    desk.types("/message 0<enter>").has("found from the beginning on");
    desk.types("N").has("found from the end on");
    desk.types("/nothing of this<enter>").has("not found");
}

#[test]
fn the_help_and_the_way_out_are_named_at_any_width() {
    for (columns, least) in [(80, "t tree"), (40, "/ fi"), (20, "? keys")] {
        let mut desk = Desk::of_messages(3, columns, 20);
        desk.settles();
        desk.has("? keys   q quit").has(least);
        desk.types("<enter>").has("? keys   q back").has(least);
        desk.types("t").has("? keys   q back");
    }
}

#[test]
fn a_session_without_a_start_says_none() {
    let mut desk = Desk::of(80, 20, |store| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s1.jsonl");
        let lines = "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"cwd\":\"/work\"}\n";
        std::fs::write(&file, lines).unwrap();
        store.import(&[file], &ImportOptions::default(), &mut ()).unwrap();
    });
    desk.settles();
    desk.has("  s1  5").lacks("from");
    let mut dated = Desk::of_messages(3, 80, 20);
    dated.settles();
    dated.has("  s1  from 2026-03-01 ");
}

#[test]
fn what_is_appended_is_followed_at_the_end_alone() {
    let mut desk = Desk::of_messages(200, 60, 20);
    let store = Store::open(&desk.store).unwrap();
    let id = store.sessions().unwrap()[0].id.to_string();
    let mut session = store.session(&id).unwrap().with_persistence(Persistence::keep_everything());
    desk.settles();
    desk.types("<enter>").has("message 199");
    say(&mut session, "one more");
    desk.waits_for("one more");
    desk.has("201 entries").has("end");
    // Further up nothing moves.
    desk.types("<ctrl-b><ctrl-b>").lacks("one more");
    let before = desk.screen();
    say(&mut session, "and another");
    desk.waits_for("202 entries");
    assert_eq!(before.replace("201", "202"), desk.screen());
    desk.types("<ctrl-f><ctrl-f><ctrl-f>").has("one more").has("and another").has("end");
    // The list has a new session at its top; the chosen one stays the chosen one.
    desk.types("q").has("202");
    let mut new = new_session(&store);
    say(&mut new, "in another session");
    desk.waits_for("2 sessions");
    desk.has("in another session");
    desk.types("<enter>").has("and another");
}

#[test]
fn views_that_wait_for_keys_hold_no_space_back() {
    let mut desk = Desk::of_messages(3_000, 60, 20);
    let store = Store::open(&desk.store).unwrap();
    let mut other = new_session(&store);
    say(&mut other, "first");
    desk.settles();
    // Opens a partly drawn tree over a conversation.
    desk.types("<enter><ctrl-b>tf").has("message 0");
    let size = || std::fs::metadata(store.path()).unwrap().len();
    let before = size();
    for number in 0..50 {
        say(&mut other, &format!("number {number}"));
        // Reading folds the journal into the tables.
        store.reader(other.id()).unwrap();
        if number % 20 == 0 {
            desk.settles();
        }
    }
    let grown = size().saturating_sub(before);
    assert!(grown < 1 << 20, "{grown} bytes");
    // Scrolling draws the rest.
    desk.types("<ctrl-f><ctrl-f>").lacks("message 0\n");
    desk.types("G").has("message 2999");
    desk.types("g/message 2345<enter>").has("message 2345");
}

#[test]
fn a_branch_is_opened_from_the_tree() {
    let mut desk = Desk::of_samples(120, 30);
    desk.settles();
    desk.types("/flkysch<enter>t").has("tree of Flaky").has("├─● user").has("┊ … 5 entries …");
    desk.types("f").lacks("┊");
    desk.types("f").has("┊");
    // To the branch that was given up, whose end the conversation shows.
    desk.types("/try the fake<enter><enter>").has("try the fake timers first");
    desk.types("G").has("dead end").lacks("4be91d7");
    desk.types("g").has("anthropic/claude-opus-4-5");
    desk.types("qt").has("4be91d7");
    desk.types("L").has("2 labels in Flaky").has("[cause]");
    desk.types("<enter>").has("Each job has its own timer").has("[cause]");
}

#[test]
fn a_search_opens_its_hits() {
    let mut desk = Desk::of_samples(100, 30);
    desk.settles();
    desk.types("s\"fake timers\"<enter>").has("entries with").has("fake timers first");
    desk.types("<enter>").has("Flaky scheduler test").has("ake timers");
    desk.types("qsno-such-word-here<enter>").has("nothing found");
}

#[test]
fn labels_are_set_and_cleared() {
    let mut desk = Desk::of_messages(3, 60, 20);
    desk.settles();
    desk.types("l").has("a label is set on an entry");
    desk.types("<enter>lmine<enter>");
    desk.waits_for("[mine]");
    desk.has("labelled");
    desk.types("/message 2<enter>l").has("label (empty for none): mine");
    desk.types("<esc>y").has("copied");
    assert_eq!(desk.browser.clipboard.as_deref(), desk.browser.session().as_deref());
    let mut of_claude = Desk::of_samples(100, 20);
    of_claude.settles();
    of_claude.types("/Tide clock: time<enter>l").has("sessions of claude have no labels");
}

#[test]
fn labels_that_others_set_appear_where_they_are_shown() {
    let mut texts: Vec<String> = (0..200).map(|number| format!("message {number}")).collect();
    texts.insert(150, (0..30).map(|row| format!("row {row}\n")).collect());
    let long = format!("{:08x}", 150);
    let mut desk = Desk::saying("/work", &texts, 60, 20);
    let store = Store::open(&desk.store).unwrap();
    let mut session = store.session("s1").unwrap().with_persistence(Persistence::keep_everything());
    desk.settles();
    // In the middle of an entry: it stays where it is.
    desk.types("<enter>/row 10<enter>").types("N");
    desk.has("row 10").lacks("row 1\n").lacks("message 199");
    let before = desk.screen();
    session.append_label_change(&long, Some("theirs")).unwrap();
    desk.waits_for("202 entries");
    assert_eq!(before.replace("201", "202"), desk.screen());
    desk.types("kkkkkkkkkkkk").has("[theirs]").has("row 1\n");
    session.append_label_change(&long, Some("changed")).unwrap();
    desk.waits_for("[changed]");
    desk.lacks("[theirs]").lacks("message 199");
    session.append_label_change(&long, None).unwrap();
    desk.waits_for("204 entries");
    desk.lacks("[changed]").has("row 1\n");
    // Also what was written while the tree lay over it.
    desk.types("t").has("tree of");
    session.append_label_change(&long, Some("again")).unwrap();
    desk.waits_for("205 entries");
    desk.types("q").has("[again]").has("row 1\n");
}

#[test]
fn an_export_asks_before_it_replaces() {
    let mut desk = Desk::of_messages(3, 100, 20);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    desk.settles();
    desk.types(&format!("e<ctrl-u>{}<enter>", path.display())).has("written to");
    let first = std::fs::read(&path).unwrap();
    assert!(first.starts_with(b"{\"type\":\"session\""));
    std::fs::write(&path, "mine").unwrap();
    desk.types(&format!("e<ctrl-u>{}<enter>", path.display())).has("replace it?");
    desk.types("n").has("not exported");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    desk.types(&format!("e<ctrl-u>{}<enter>y", path.display())).has("written to");
    assert_eq!(std::fs::read(&path).unwrap(), first);
    desk.types(&format!("e<ctrl-u>{}<enter>", folder.path().display())).has("is a folder");
    let page = folder.path().join("out.html");
    desk.types(&format!("e<ctrl-u>{}<enter>", page.display())).has("written to");
    assert!(std::fs::read(&page).unwrap().starts_with(b"<!doctype html>"));
    // The store itself is never written over.
    let store = desk.store.clone();
    desk.types(&format!("e<ctrl-u>{}<enter>y", store.display())).lacks("written to");
}

#[test]
fn any_size_will_do() {
    let mut desk = Desk::of_samples(100, 30);
    desk.settles();
    let sizes = [(1, 1), (2, 2), (3, 1), (1, 3), (20, 2), (7, 3), (400, 100), (100, 30)];
    for keys in
        ["", "?", "/flaky<enter>", "t", "G", "q/timers<enter>", "qqstimers<enter>", "e", "<esc>qqq"]
    {
        desk.types(keys);
        for (columns, rows) in sizes {
            desk.resizes(columns, rows);
            desk.types("jk");
        }
        if keys == "?" {
            desk.types("q");
        }
    }
}

#[test]
fn hostile_text_stays_text_and_keeps_its_width() {
    let texts = [
        "\u{1b}[2J\u{1b}]52;c;AAAA\u{7}\u{9b}31m\r\n\u{202e}evil",
        "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語",
        "e\u{301}\u{301}\u{301}\u{301} 👩‍👩‍👧‍👦 \u{200b}\u{ad} ﷽",
        &"x".repeat(500),
    ];
    let texts = texts.map(str::to_owned);
    let mut desk = Desk::saying("/work/\u{1b}[31m", &texts, 40, 40);
    desk.settles();
    for keys in ["", "<enter>", "/evil<enter>", "t", "q", "<esc>", "/日本<esc>"] {
        desk.types(keys);
        let buffer = desk.terminal.backend().buffer();
        let controls = |symbol: &str| symbol.chars().any(|c| c.is_control() || c == '\u{202e}');
        assert!(!buffer.content.iter().any(|cell| controls(cell.symbol())), "{keys}");
    }
    desk.types("<enter>").has(r"\u{1b}[2J").has(&"x".repeat(36));
    // A wide character takes two cells, of which the second one is empty.
    let wide = desk.screen().lines().find(|line| line.contains("日")).unwrap().to_owned();
    assert!(wide.chars().filter(|c| *c == '日').count() <= 7, "{wide}");
}

#[test]
fn a_store_that_is_only_read_is_browsed() {
    let mut desk = Desk::of_messages(3, 100, 20);
    let mut permissions = std::fs::metadata(&desk.store).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&desk.store, permissions).unwrap();
    desk.settles();
    desk.types("<enter>").has("message 2");
    // Who may write anyway, such as root, may label.
    let is_refused = std::fs::OpenOptions::new().write(true).open(&desk.store).is_err();
    desk.types("lmine<enter>");
    if is_refused {
        desk.lacks("[mine]").lacks("labelled");
    }
}

#[test]
fn ways_out() {
    let mut desk = Desk::of_messages(3, 100, 20);
    desk.settles();
    desk.types("<enter><ctrl-c>");
    assert!(matches!(desk.browser.ending, Some(Ending::Quit)));
    let mut desk = Desk::of(60, 10, |_| {});
    desk.settles();
    desk.has("no sessions; `leafline import` brings some");
    desk.types("<enter>tLylYoern").types("q");
    assert!(matches!(desk.browser.ending, Some(Ending::Quit)));
}
