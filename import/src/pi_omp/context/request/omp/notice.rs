//! What omp notes of an output that is not shown whole.

use super::super::object::{is_nullish, is_text, is_truthy};
use super::super::words;
use crate::scan::Raw;

/// Appends the notes on an output, given as its `meta`; nothing if there are none. Diagnostics of a language server, which
/// no output has that a message holds, are left out.
pub(super) fn push(meta: Option<Raw<'_>>, out: &mut Vec<u8>) {
    let Some(meta) = meta.filter(|meta| meta.is_truthy()) else { return };
    let [truncation, source, error, limits] =
        meta.members(["truncation", "source", "artifactError", "limits"]);
    let mut notes = Vec::new();
    if let Some(truncation) = truncation.filter(|it| it.is_truthy()) {
        notes.push(of_truncation(truncation, source));
    }
    if is_truthy(error) {
        notes.push(
            Note::new("Full output was not saved completely (artifact ")
                .value(error)
                .text(" failed)"),
        );
    }
    let limit =
        |name: &str| limits.and_then(|limits| limits.member(name)).filter(|it| it.is_truthy());
    for (name, what) in
        [("matchLimit", "matches"), ("resultLimit", "results"), ("headLimit", "results")]
    {
        if let Some(limit) = limit(name) {
            let [reached, suggestion] = limit.members(["reached", "suggestion"]);
            notes.push(
                Note::default()
                    .value(reached)
                    .text(&format!(" {what} limit reached. Use limit="))
                    .value(suggestion)
                    .text(" for more"),
            );
        }
    }
    if let Some(columns) = limit("columnTruncated") {
        let [most, unit, artifact] = columns.members(["maxColumn", "unit", "artifactId"]);
        let note = Note::new("Some lines truncated to ").value(most).text(" ");
        let note = if is_nullish(unit) { note.text("chars") } else { note.value(unit) };
        notes.push(note.artifact(artifact, None));
    }
    if !notes.is_empty() {
        let notes: Vec<Vec<u8>> = notes.into_iter().map(|note| note.0).collect();
        out.extend_from_slice(b"\n\n[");
        out.extend_from_slice(&notes.join(&b". "[..]));
        out.push(b']');
    }
}

/// A note in the making, as WTF-8.
#[derive(Default)]
struct Note(Vec<u8>);

impl Note {
    fn new(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }

    fn text(mut self, text: &str) -> Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    fn value(mut self, value: Option<Raw<'_>>) -> Self {
        words::push(value, &mut self.0);
        self
    }

    /// Where the whole output can be read, if there is such a place.
    fn artifact(self, id: Option<Raw<'_>>, source: Option<Raw<'_>>) -> Self {
        if is_nullish(id) {
            return self;
        }
        let note = self.text(". Read artifact://").value(id);
        match source {
            Some(source) if is_text(source.member("type"), "report") => {
                note.text(" for full report (").value(source.member("value")).text(")")
            }
            _ => note.text(" for full output"),
        }
    }

    fn next(self, offset: Option<Raw<'_>>) -> Self {
        if is_nullish(offset) {
            return self;
        }
        self.text(". Use :").value(offset).text(" to continue")
    }
}

fn of_truncation(truncation: Raw<'_>, source: Option<Raw<'_>>) -> Note {
    let [direction, next, artifact] = truncation.members(["direction", "nextOffset", "artifactId"]);
    let note = if is_text(direction, "middle") {
        of_middle(truncation).next(next)
    } else if is_truthy(truncation.member("partialLine")) {
        of_partial_line(truncation)
    } else {
        of_range(truncation).next(next)
    };
    note.artifact(artifact, source)
}

/// The middle is left out.
fn of_middle(truncation: Raw<'_>) -> Note {
    let [head, tail, all_lines, all_bytes, lines, bytes, left_lines, left_bytes] = truncation
        .members([
            "headRange",
            "tailRange",
            "totalLines",
            "totalBytes",
            "outputLines",
            "outputBytes",
            "elidedLines",
            "elidedBytes",
        ]);
    let left = |given: Option<Raw<'_>>, all, shown| {
        if is_nullish(given) {
            // JavaScript's `Math.max` keeps NaN.
            let left: f64 = number(all) - number(shown);
            if left < 0.0 { 0.0 } else { left }
        } else {
            number(given)
        }
    };
    let left_bytes = left(left_bytes, all_bytes, bytes);
    let left_lines = left(left_lines, all_lines, lines);
    let range = |note: Note, range: Raw<'_>| {
        let [start, end] = range.members(["start", "end"]);
        note.value(start).text("-").value(end)
    };
    match (head.filter(|it| it.is_truthy()), tail.filter(|it| it.is_truthy())) {
        (Some(head), Some(tail)) => {
            let note = range(Note::new("Showing lines "), head).text(" and ");
            let ending = if is_one(left_lines) { "" } else { "s" };
            range(note, tail).text(" of ").value(all_lines).text(&format!(
                "; {} middle line{ending} ({}) elided",
                grouped(left_lines),
                size(left_bytes)
            ))
        }
        _ if left_bytes > 0.0 => {
            let all = number(all_lines);
            let ending = if is_one(all) { "" } else { "s" };
            Note::default().text(&format!(
                "Showing head and tail bytes of {} line{ending}; {} elided",
                grouped(all),
                size(left_bytes)
            ))
        }
        _ => {
            let (shown, all) = (number(lines), number(all_lines));
            let least = if shown.is_nan() || all.is_nan() { f64::NAN } else { shown.min(all) };
            Note::new(&format!("Showing {} of ", plain(least)))
                .value(all_lines)
                .text(" lines; middle elided")
        }
    }
}

/// One line is shown, and not whole.
fn of_partial_line(truncation: Raw<'_>) -> Note {
    let [range, shown, all, lines] =
        truncation.members(["shownRange", "outputBytes", "totalBytes", "totalLines"]);
    let start = range.and_then(|range| range.member("start"));
    let note = Note::new("Showing line ");
    let note = if is_nullish(start) { note.text("1") } else { note.value(start) };
    note.text(&format!(" (partial, {} of {}) of ", size(number(shown)), size(number(all))))
        .value(lines)
}

/// Lines are left out at an end.
fn of_range(truncation: Raw<'_>) -> Note {
    let [range, lines, all, by, most, shown] = truncation.members([
        "shownRange",
        "outputLines",
        "totalLines",
        "truncatedBy",
        "maxBytes",
        "outputBytes",
    ]);
    let [start, end] = range.map_or([None; 2], |range| range.members(["start", "end"]));
    let note = if is_truthy(range) && number(end) >= number(start) {
        Note::new("Showing lines ").value(start).text("-").value(end).text(" of ").value(all)
    } else {
        Note::new("Showing ").value(lines).text(" of ").value(all).text(" lines")
    };
    if !is_text(by, "bytes") {
        return note;
    }
    let most = if is_nullish(most) { shown } else { most };
    note.text(&format!(" ({} limit)", size(number(most))))
}

fn number(value: Option<Raw<'_>>) -> f64 {
    match value {
        Some(value) if value.is_null() => 0.0,
        value => value.and_then(Raw::as_f64).unwrap_or(f64::NAN),
    }
}

fn is_one(number: f64) -> bool {
    (number - 1.0).abs() < f64::EPSILON
}

fn plain(number: f64) -> String {
    ryu_js::Buffer::new().format(number).to_owned()
}

/// A number of bytes in words.
fn size(bytes: f64) -> String {
    let units = [(1024.0, "KB"), (1024.0 * 1024.0, "MB"), (1024.0 * 1024.0 * 1024.0, "GB")];
    if bytes < 1024.0 {
        return format!("{}B", plain(bytes));
    }
    let unit = units.iter().find(|(unit, _)| bytes < unit * 1024.0);
    let (unit, name) = unit.unwrap_or(&units[2]);
    if !bytes.is_finite() {
        return format!("{}{name}", plain(bytes));
    }
    // Halves are rounded up. A whole number of bytes makes the product exact.
    let tenths = (bytes / unit * 10.0 + 0.5).floor();
    format!("{:.1}{name}", tenths / 10.0)
}

/// A whole number with commas between its thousands, as in American English.
fn grouped(number: f64) -> String {
    let digits = plain(number);
    let (sign, digits) = digits.strip_prefix('-').map_or(("", &*digits), |it| ("-", it));
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{sign}{digits}");
    }
    let mut grouped = sign.to_owned();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(meta: &str) -> String {
        let mut out = Vec::new();
        push(Raw::parse(meta).ok(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn outputs_are_noted_as_omp_notes_them() {
        for (meta, expected) in [
            ("{}", ""),
            ("null", ""),
            (
                r#"{"truncation":{"direction":"tail","truncatedBy":"bytes","totalLines":90,"outputLines":10,"outputBytes":1280,"shownRange":{"start":81,"end":90},"artifactId":"4"}}"#,
                "\n\n[Showing lines 81-90 of 90 (1.3KB limit). Read artifact://4 for full output]",
            ),
            (
                r#"{"truncation":{"direction":"head","truncatedBy":"lines","totalLines":90,"outputLines":10,"nextOffset":11},"artifactError":"write"}"#,
                "\n\n[Showing 10 of 90 lines. Use :11 to continue. Full output was not saved completely (artifact write failed)]",
            ),
            (
                r#"{"truncation":{"direction":"middle","totalLines":5000,"headRange":{"start":1,"end":5},"tailRange":{"start":4990,"end":5000},"elidedLines":4984,"elidedBytes":3000000}}"#,
                "\n\n[Showing lines 1-5 and 4990-5000 of 5000; 4,984 middle lines (2.9MB) elided]",
            ),
            (
                r#"{"limits":{"columnTruncated":{"maxColumn":768},"matchLimit":{"reached":5,"suggestion":10}}}"#,
                "\n\n[5 matches limit reached. Use limit=10 for more. Some lines truncated to 768 chars]",
            ),
        ] {
            assert_eq!(notes(meta), expected, "{meta}");
        }
    }
}
