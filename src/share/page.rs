//! A conversation as one page of HTML. Its style and its script are in it, and its policy allows no others, nor any request.
//!
//! Branches are `details` elements, of which one of a fork can be open; while one is, the way on that it stands for is hidden:
//! by the script, or where none is run by the style. So the page can be read, and its branches switched, without the script.
//! That searches, colours code when it comes into view, and shows times in the reader's zone.

use std::collections::HashMap;
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline_import::view::{Part, Role, View};
use leafline_import::{LineReader, UsageReport, text};
use sha2::{Digest, Sha256};

use super::call::Called;
use super::cost::{Costs, Told};
use super::html::{escape, escaped};
use super::images::Images;
use super::number::counted;
use super::prose::{plain, write_code};
use super::span::Span;
use super::speaker::{self, Showing};
use super::tree::{Step, Ways};
use super::{ShareOptions, Sheet, call, picture, prose, title};
use crate::error::Result;
use crate::session::{Entry, Outline, OutlineReader, SessionReader};

const STYLE: &str = concat!(
    include_str!("colours.css"),
    include_str!("page.css"),
    include_str!("picture/picture.css")
);
/// The style where no script is run: what the script does by classes, which costs a browser less.
const STYLE_WITHOUT_SCRIPT: &str =
    ".fork:has(>details[open])~*{display:none}body:has(#all:checked) .aside{display:block}";
const SCRIPT: &str = include_str!("page.js");

/// So many calls wait for their results at once; others lose their names.
const MOST_CALLS: usize = 10_000;

/// So many entries of a branch are looked at for its first message: settings may come before it.
const MOST_SETTINGS: usize = 32;

/// Deeper branches of branches are written below each other: a browser nests 512 elements and no more.
const DEEPEST: usize = 100;

pub(super) fn write(
    reader: &SessionReader,
    options: &ShareOptions,
    out: &mut dyn Write,
) -> Result<()> {
    let outline = reader.get_outline()?;
    let span = Span::of(reader, options, &outline)?;
    let ways = Ways::of(&outline, span.end);
    let mut page = Page {
        reader,
        options,
        outline: &outline,
        walk: reader.read_outline(&outline),
        usages: LineReader::new(reader.reading()),
        sheet: Sheet { out },
        calls: HashMap::new(),
        speaker: None,
        costs: Costs::of(reader)?,
        end: span.end.filter(|_| span.is_cut),
        forks: 0,
    };
    page.head()?;
    let mut steps = ways.begin();
    let mut begin = None;
    if let Some(from) = span.from
        && let Some(place) = outline.segment_of(from)
    {
        (steps, begin) = (vec![Step::Segment(place)], Some(from));
    }
    page.tree(&ways, steps, begin)?;
    page.foot(&ways)
}

/// What is left of a segment that has been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// The branch and the fork that have been opened for what is behind the leaf.
    BehindLeaf,
    /// What is not to be written.
    End,
}

struct Page<'p> {
    reader: &'p SessionReader,
    options: &'p ShareOptions,
    outline: &'p Outline,
    walk: OutlineReader<'p>,
    usages: LineReader,
    sheet: Sheet<'p>,
    /// The tools that were called, by call.
    calls: HashMap<String, Called>,
    /// The model, while it goes on speaking.
    speaker: Option<String>,
    costs: Costs,
    /// The entry behind which nothing is written.
    end: Option<u64>,
    forks: u64,
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

impl Page<'_> {
    fn head(&mut self) -> Result<()> {
        let name = escaped(&title(self.reader, self.options));
        let policy = format!(
            "default-src 'none'; img-src data:; style-src {} {}; script-src {}; base-uri 'none'; form-action 'none'",
            hash(STYLE),
            hash(STYLE_WITHOUT_SCRIPT),
            hash(SCRIPT)
        );
        let facts = self.reader.facts();
        self.sheet.put(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"robots\" content=\"noindex\">\n\
             <title>{name}</title>\n<style>{STYLE}</style>\n\
             <noscript><style>{STYLE_WITHOUT_SCRIPT}</style></noscript>\n</head>\n<body>\n"
        ))?;
        let mut said =
            vec![format!("<span class=\"family\">{}</span>", escaped(facts.family.name()))];
        said.extend(facts.created.or(facts.modified).map(time));
        if let Some(cwd) = facts.cwd.as_deref() {
            said.push(format!("<code>{}</code>", escaped(&self.options.shown_text(cwd))));
        }
        said.push(counted(facts.messages, "message", "messages"));
        if self.outline.branches() > 1 {
            said.push(counted(self.outline.branches(), "branch", "branches"));
        }
        said.extend(self.costs.of_session().map(|told| told.html()));
        self.sheet.put(format!(
            "<header class=\"top\"><h1>{name}</h1>\n<p class=\"facts\">{}</p>\n\
             <div class=\"tools\"><input type=\"search\" id=\"search\" placeholder=\"Search\" aria-label=\"Search\" hidden>\
             <output id=\"hits\"></output>\
             <label><input type=\"checkbox\" id=\"all\"> all entries</label>\
             <a href=\"#leaf\">to the leaf</a>\
             <button type=\"button\" id=\"theme\" hidden aria-label=\"Light or dark\">◐</button></div></header>\n<main>\n",
            said.join(" · ")
        ))
    }

    fn foot(&mut self, ways: &Ways<'_>) -> Result<()> {
        let lost = self.outline.unreachable();
        if lost > 0 {
            let lost = counted(lost, "entry is", "entries are");
            self.sheet.put(format!("<p class=\"note\">{lost} not shown: below no root.</p>\n"))?;
        }
        self.sheet.put("</main>\n<details class=\"pictures\"><summary>Pictures</summary>\n")?;
        for drawing in picture::of_session((self.reader, self.options), self.outline, ways, None)? {
            self.sheet.put(drawing.in_page())?;
        }
        self.sheet.put(format!("</details>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"))
    }

    /// Writes what the steps lead to, which are in reverse.
    fn tree(
        &mut self,
        ways: &Ways<'_>,
        mut steps: Vec<Step>,
        mut begin: Option<u64>,
    ) -> Result<()> {
        // Of each open branch, whether it has an element of its own.
        let mut open: Vec<bool> = Vec::new();
        let mut forks: Vec<u64> = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::OpenFork => {
                    self.forks += 1;
                    forks.push(self.forks);
                    if open.len() < DEEPEST {
                        self.sheet.put("<div class=\"fork\">\n")?;
                    }
                }
                Step::CloseFork => {
                    forks.pop();
                    if open.len() < DEEPEST {
                        self.sheet.put("</div>\n")?;
                    }
                }
                Step::OpenBranch(place) => {
                    let is_element = open.len() < DEEPEST;
                    open.push(is_element);
                    let fork = forks.last().copied().unwrap_or_default();
                    self.branch(ways, place, fork, is_element)?;
                }
                Step::CloseBranch => {
                    if open.pop() == Some(true) {
                        self.sheet.put("</details>\n")?;
                    }
                    self.speaker = None;
                }
                Step::Segment(place) => {
                    let left = self.segment(place, begin.take())?;
                    let mut behind = match left {
                        Left::End => Vec::new(),
                        Left::Nothing | Left::BehindLeaf => ways.behind(place),
                    };
                    if left == Left::BehindLeaf {
                        // The leaf is on no branch, so that it is an element of its own.
                        behind.splice(0..0, [Step::CloseFork, Step::CloseBranch]);
                        self.forks += 1;
                        forks.push(self.forks);
                        open.push(true);
                    }
                    steps.extend(behind);
                }
            }
        }
        Ok(())
    }

    /// Opens a branch, which is named by its beginning.
    fn branch(&mut self, ways: &Ways<'_>, place: usize, fork: u64, is_element: bool) -> Result<()> {
        self.speaker = None;
        if !is_element {
            return self.sheet.put("<p class=\"note\">Another branch:</p>\n");
        }
        let words = escaped(&self.beginning(place)?);
        let entries = counted(ways.entries(place), "entry", "entries");
        self.sheet.put(format!(
            "<details class=\"branch\" name=\"fork{fork}\"><summary><b>Branch</b> {words} <small>{entries}</small></summary>\n"
        ))
    }

    /// The beginning of a segment's first message, or else of its first entry that has a text.
    fn beginning(&mut self, place: usize) -> Result<String> {
        let mut first = String::new();
        self.walk.begin(place);
        for _ in 0..MOST_SETTINGS {
            let Some(found) = self.walk.next_entry()? else { break };
            let entry = self.options.shown_in_part(self.walk.line(found.ordinal)?);
            let view = entry.view();
            let words = view.preview(90);
            let is_message = Showing::of(&entry, &view) == Showing::Spoken;
            if is_message && !words.is_empty() {
                return Ok(words);
            }
            if first.is_empty() {
                first = words;
            }
        }
        Ok(first)
    }

    /// Writes the entries of a segment, from one on.
    fn segment(&mut self, place: usize, from: Option<u64>) -> Result<Left> {
        let leaf = self.end.or(self.outline.leaf());
        let mut behind_leaf = false;
        let mut left = Left::Nothing;
        self.walk.begin(place);
        while let Some(found) = self.walk.next_entry()? {
            if from.is_some_and(|from| found.ordinal < from) {
                continue;
            }
            if behind_leaf && left == Left::Nothing {
                left = Left::BehindLeaf;
                self.open_behind_leaf(place, found.ordinal)?;
            }
            let entry = self.options.shown(self.walk.line(found.ordinal)?);
            let is_leaf = leaf == Some(found.ordinal);
            self.entry(&entry, is_leaf)?;
            if self.end == Some(found.ordinal) {
                return Ok(Left::End);
            }
            behind_leaf |= is_leaf;
        }
        Ok(left)
    }

    /// Opens a fork with a branch for what of a segment is behind the leaf.
    fn open_behind_leaf(&mut self, place: usize, first: u64) -> Result<()> {
        let left = self.outline.segment(place).map_or(0, |segment| segment.last() - first + 1);
        let left = counted(left, "line", "lines");
        self.sheet.put(format!(
            "<div class=\"fork\"><details class=\"branch\"><summary><b>Behind the leaf</b> <small>{left}</small></summary>\n"
        ))
    }

    fn entry(&mut self, entry: &Entry, is_leaf: bool) -> Result<()> {
        let view = entry.view();
        let showing = Showing::of(entry, &view);
        let name = speaker::name(&view);
        let is_answer = view.role == Role::Assistant;
        let who = view.model.clone().unwrap_or_default();
        let goes_on = is_answer && self.speaker.as_ref() == Some(&who) || view.role == Role::Tool;
        let mut classes = vec!["entry", view.role.name()];
        match showing {
            Showing::Spoken if goes_on => classes.push("on"),
            Showing::Spoken => {}
            Showing::Noted => classes.push("noted"),
            Showing::Hidden => classes.push("aside"),
        }
        if showing == Showing::Spoken && view.role != Role::Tool {
            self.speaker = is_answer.then_some(who);
        }
        let classes = classes.join(" ");
        let mut out = format!("<article class=\"{classes}\" id=\"e{}\"", entry.ordinal());
        let told = self.told(&view, entry);
        if showing == Showing::Spoken && goes_on {
            // Nothing new is said of it; an element for each would be a quarter of a long page's.
            let time = view.time.map(speaker::time);
            let words: Vec<String> =
                [time, told.map(|told| told.words)].into_iter().flatten().collect();
            if !words.is_empty() {
                out.push_str(&format!(" title=\"{}\"", escaped(&words.join(" · "))));
            }
            out.push('>');
        } else {
            out.push('>');
            heading(&name, &view, told, entry, &mut out);
        }
        if is_leaf {
            out.push_str("<a id=\"leaf\"></a>");
        }
        match showing {
            Showing::Spoken => self.parts(&view, entry, &mut out)?,
            Showing::Noted | Showing::Hidden => {
                out.push_str("<span class=\"words\">");
                escape(&speaker::beginning(&view.preview(300), 300), &mut out);
                out.push_str("</span>");
            }
        }
        if let Some(label) = self.outline.label(entry.ordinal()) {
            out.push_str(&format!("<mark>{}</mark>", escaped(&self.options.shown_text(label))));
        }
        if let Some(error) = &view.error {
            out.push_str(&format!("<p class=\"error\">{}</p>", escaped(error)));
        }
        out.push_str("</article>\n");
        self.sheet.put(out)
    }

    /// What the answer has used that an entry is, unless that has been told.
    fn told(&mut self, view: &View, entry: &Entry) -> Option<Told> {
        let decoded = text::decode(entry.line());
        let line = self.usages.read(text::trim_start_of_file(&decoded));
        let Some(UsageReport::Answer { identity, model, usage }) = line.usage().pop() else {
            return None;
        };
        self.costs.of_answer(identity, model.as_deref().or(view.model.as_deref()), usage)
    }

    fn parts(&mut self, view: &View, entry: &Entry, out: &mut String) -> Result<()> {
        let mut images = None;
        for part in &view.parts {
            match part {
                Part::Text(command) if view.role == Role::Shell => write_code(command, "sh", out),
                Part::Text(text) if view.role == Role::User => user_text(text, out),
                Part::Text(text) => {
                    out.push_str("<div class=\"text\">");
                    prose::write(text, out);
                    out.push_str("</div>");
                }
                Part::Thinking(thought) => {
                    let words = escaped(&speaker::beginning(thought, 80));
                    out.push_str(&format!(
                        "<details class=\"thought\"><summary><i>Thought</i> {words}</summary>"
                    ));
                    plain(thought, out);
                    out.push_str("</details>");
                }
                Part::ToolCall { id, name, arguments } => {
                    let called = call::write(name, arguments, out);
                    if let Some(id) = id.as_ref().filter(|_| self.calls.len() < MOST_CALLS) {
                        self.calls.insert(id.clone(), called);
                    }
                }
                Part::ToolResult { call_id, name, is_error, text } => {
                    let called = call_id.as_ref().and_then(|id| self.calls.remove(id));
                    let mut called = called.unwrap_or_default();
                    if let Some(name) = name {
                        called.name.clone_from(name);
                    }
                    call::write_result(&called, *is_error, text, out);
                }
                Part::Image { base64_length, .. } => {
                    if images.is_none() {
                        images = Some(Images::of(self.reader, entry)?);
                    }
                    let found = images.as_mut().map(|images| images.next(*base64_length));
                    match found.transpose()?.flatten() {
                        Some(url) => {
                            out.push_str("<img alt=\"\" loading=\"lazy\" src=\"");
                            out.push_str(&url);
                            out.push_str("\">");
                        }
                        None => out.push_str("<p class=\"note\">(an image)</p>"),
                    }
                }
                Part::Other { type_name, title, text } => {
                    let heading = escaped(&speaker::block(type_name, title.as_deref()));
                    if text.is_empty() {
                        out.push_str(&format!("<p class=\"note\">({heading})</p>"));
                    } else {
                        out.push_str(&format!(
                            "<details class=\"thought\"><summary><i>{heading}</i></summary>"
                        ));
                        plain(text, out);
                        out.push_str("</details>");
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn heading(name: &str, view: &View, told: Option<Told>, entry: &Entry, out: &mut String) {
    out.push_str("<header><b>");
    escape(name, out);
    out.push_str("</b>");
    let model =
        view.model.as_ref().map(|model| format!("<span class=\"model\">{}</span>", escaped(model)));
    let facts = [view.time.map(time), model, told.map(|told| told.html())];
    for fact in facts.into_iter().flatten() {
        out.push(' ');
        out.push_str(&fact);
    }
    out.push_str(&format!(
        " <a class=\"here\" href=\"#e{}\" aria-label=\"This entry\">#</a></header>",
        entry.ordinal()
    ));
}

/// What the user says: a plain text, but for blocks of code.
fn user_text(text: &str, out: &mut String) {
    out.push_str("<div class=\"text\">");
    if text.contains("```") {
        prose::write(text, out);
    } else {
        plain(text, out);
    }
    out.push_str("</div>");
}

fn time(milliseconds: i64) -> String {
    let stamp = escaped(&leafline_import::time::format_timestamp(milliseconds));
    format!("<time datetime=\"{stamp}\">{}</time>", escaped(&speaker::time(milliseconds)))
}
