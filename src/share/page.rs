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
use leafline_import::{LineReader, Usage, UsageReport, text};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::html::{escape, escaped};
use super::images::Images;
use super::number::{counted, grouped};
use super::prose::{plain, write_code};
use super::speaker::{self, Showing};
use super::tree::{Step, Ways};
use super::{ShareOptions, Sheet, diff, html, picture, prose, title};
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

/// Deeper branches of branches are written below each other: a browser nests 512 elements and no more.
const DEEPEST: usize = 100;

pub(super) fn write(
    reader: &SessionReader,
    options: &ShareOptions,
    out: &mut dyn Write,
) -> Result<()> {
    let from = options.from.as_deref().map(|from| reader.view().named(from)).transpose()?;
    let outline = reader.get_outline()?;
    let ways = Ways::of(&outline);
    let mut page = Page {
        reader,
        options,
        outline: &outline,
        walk: reader.read_outline(&outline),
        usages: LineReader::new(reader.reading()),
        sheet: Sheet { out },
        calls: HashMap::new(),
        speaker: None,
        last_message: None,
        forks: 0,
    };
    page.head()?;
    let mut steps = ways.begin();
    let mut begin = None;
    if let Some(from) = from
        && let Some(place) = outline.segment_of(from.raw())
    {
        (steps, begin) = (vec![Step::Segment(place)], Some(from.raw()));
    }
    page.tree(&ways, steps, begin)?;
    page.foot(&ways)
}

struct Page<'p> {
    reader: &'p SessionReader,
    options: &'p ShareOptions,
    outline: &'p Outline,
    walk: OutlineReader<'p>,
    usages: LineReader,
    sheet: Sheet<'p>,
    /// The names of the tools that were called, by call.
    calls: HashMap<String, String>,
    /// The model, while it goes on speaking.
    speaker: Option<String>,
    /// The answer whose usage was shown last: several records may repeat it.
    last_message: Option<Vec<u8>>,
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
        let sum = self.reader.usage_statistics()?;
        if sum.messages > 0 {
            let (input, output) = (sum.input, sum.output);
            let (cache_read, cache_write, cost) = (sum.cache_read, sum.cache_write, sum.cost);
            let cost = Some(cost);
            let sum = Usage { input, output, cache_read, cache_write, cost, ..Usage::default() };
            said.push(usage(&sum));
        }
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
                    let is_cut = self.segment(place, begin.take())?;
                    let mut behind = ways.behind(place);
                    if is_cut {
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
        let first = self.outline.segment(place).map(|segment| segment.first()).unwrap_or_default();
        let entry = self.options.shown(self.walk.line(first)?);
        let words = escaped(&entry.view().preview(90));
        let entries = counted(ways.entries(place), "entry", "entries");
        self.sheet.put(format!(
            "<details class=\"branch\" name=\"fork{fork}\"><summary><b>Branch</b> {words} <small>{entries}</small></summary>\n"
        ))
    }

    /// Writes the entries of a segment, from one on. Returns whether the leaf is before its end: then a branch has been
    /// opened for what is behind it, in a fork.
    fn segment(&mut self, place: usize, from: Option<u64>) -> Result<bool> {
        let leaf = self.outline.leaf();
        let mut behind_leaf = false;
        let mut is_cut = false;
        self.walk.begin(place);
        while let Some(found) = self.walk.next_entry()? {
            if from.is_some_and(|from| found.ordinal < from) {
                continue;
            }
            if behind_leaf && !is_cut {
                is_cut = true;
                let left = self
                    .outline
                    .segment(place)
                    .map_or(0, |segment| segment.last() - found.ordinal + 1);
                let left = counted(left, "line", "lines");
                self.sheet.put(format!(
                    "<div class=\"fork\"><details class=\"branch\"><summary><b>Behind the leaf</b> <small>{left}</small></summary>\n"
                ))?;
            }
            let entry = self.options.shown(self.walk.line(found.ordinal)?);
            let is_leaf = leaf == Some(found.ordinal);
            self.entry(&entry, is_leaf)?;
            behind_leaf |= is_leaf;
        }
        Ok(is_cut)
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
        let mut out =
            format!("<article class=\"{}\" id=\"e{}\">", classes.join(" "), entry.ordinal());
        if is_leaf {
            out.push_str("<a id=\"leaf\"></a>");
        }
        self.heading(&name, &view, entry, &mut out);
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

    fn heading(&mut self, name: &str, view: &View, entry: &Entry, out: &mut String) {
        out.push_str("<header><b>");
        escape(name, out);
        out.push_str("</b>");
        if let Some(stamp) = view.time {
            out.push(' ');
            out.push_str(&time(stamp));
        }
        if let Some(model) = &view.model {
            out.push_str(&format!(" <span class=\"model\">{}</span>", escaped(model)));
        }
        let decoded = text::decode(entry.line());
        let line = self.usages.read(text::trim_start_of_file(&decoded));
        if let Some(UsageReport::Answer { usage: found, .. }) = line.usage() {
            let message = line.message_id().map(std::borrow::Cow::into_owned);
            if message.is_none() || message != self.last_message {
                out.push(' ');
                out.push_str(&usage(&found));
            }
            self.last_message = message;
        }
        out.push_str(&format!(
            " <a class=\"here\" href=\"#e{}\" aria-label=\"This entry\">#</a></header>",
            entry.ordinal()
        ));
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
                    if let Some(id) = id.as_ref().filter(|_| self.calls.len() < MOST_CALLS) {
                        self.calls.insert(id.clone(), name.clone());
                    }
                    call(name, arguments, out);
                }
                Part::ToolResult { call_id, name, is_error, text } => {
                    let called = call_id.as_ref().and_then(|id| self.calls.remove(id));
                    let name = name.clone().or(called).unwrap_or_default();
                    result(&name, *is_error, text, out);
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
                Part::Other { type_name } => {
                    out.push_str(&format!("<p class=\"note\">({})</p>", escaped(type_name)));
                }
                _ => {}
            }
        }
        Ok(())
    }
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

fn call(name: &str, arguments: &str, out: &mut String) {
    let name = if name.is_empty() { "tool" } else { name };
    out.push_str(&format!(
        "<details class=\"call\"><summary><b>{}</b> <code>{}</code></summary>",
        escaped(name),
        escaped(&speaker::subject(arguments))
    ));
    match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) => {
            out.push_str("<dl>");
            let change = change(&members);
            for (name, value) in &members {
                if change.is_some_and(|(old, new)| name == old || name == new) {
                    continue;
                }
                out.push_str(&format!("<dt>{}</dt><dd>", escaped(name)));
                argument(value, out);
                out.push_str("</dd>");
            }
            if let Some((old, new)) = change {
                let text =
                    |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
                out.push_str("<dt>change</dt><dd>");
                diff::write_change(text(old), text(new), out);
                out.push_str("</dd>");
            }
            out.push_str("</dl>");
        }
        _ => write_code(arguments, "json", out),
    }
    out.push_str("</details>");
}

/// The names of an old and a new text among a call's arguments.
fn change(members: &serde_json::Map<String, Value>) -> Option<(&'static str, &'static str)> {
    let names = [
        ("old_string", "new_string"),
        ("oldText", "newText"),
        ("old_text", "new_text"),
        ("old_str", "new_str"),
    ];
    names.into_iter().find(|(old, new)| {
        [old, new].into_iter().all(|name| members.get(*name).is_some_and(Value::is_string))
    })
}

fn argument(value: &Value, out: &mut String) {
    match value {
        Value::String(text) if text.contains('\n') || text.len() > 120 => write_code(text, "", out),
        Value::String(text) => {
            out.push_str("<code>");
            html::linked(text, out);
            out.push_str("</code>");
        }
        Value::Array(changes)
            if changes.iter().any(|change_of| change_of.as_object().and_then(change).is_some()) =>
        {
            for each in changes {
                match each.as_object().and_then(|members| Some((members, change(members)?))) {
                    Some((members, (old, new))) => {
                        let text = |name: &str| {
                            members.get(name).and_then(Value::as_str).unwrap_or_default()
                        };
                        diff::write_change(text(old), text(new), out);
                    }
                    None => argument(&Value::String(each.to_string()), out),
                }
            }
        }
        other => {
            let text = serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string());
            write_code(&text, "json", out);
        }
    }
}

fn result(name: &str, is_error: bool, text: &str, out: &mut String) {
    let lines = text.lines().count() as u64;
    out.push_str(if is_error {
        "<details class=\"result failed\">"
    } else {
        "<details class=\"result\">"
    });
    out.push_str(&format!(
        "<summary><b>{}</b> {} <small>{}</small></summary>",
        escaped(name),
        escaped(&speaker::beginning(text, 90)),
        counted(lines, "line", "lines")
    ));
    write_code(text, "text", out);
    out.push_str("</details>");
}

fn time(milliseconds: i64) -> String {
    let stamp = escaped(&leafline_import::time::format_timestamp(milliseconds));
    format!("<time datetime=\"{stamp}\">{}</time>", escaped(&speaker::time(milliseconds)))
}

/// Tokens and cost in a few words; a title has all of them.
fn usage(usage: &Usage) -> String {
    let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let mut words = format!("{} in, {} out", grouped(input), grouped(usage.output));
    if let Some(cost) = usage.cost.filter(|cost| *cost > 0.0) {
        words.push_str(&format!(
            ", ${}",
            if cost < 0.1 { format!("{cost:.4}") } else { format!("{cost:.2}") }
        ));
    }
    format!(
        "<span class=\"usage\" title=\"input {}, cache read {}, cache write {}, output {}\">{words}</span>",
        grouped(usage.input),
        grouped(usage.cache_read),
        grouped(usage.cache_write),
        grouped(usage.output)
    )
}
