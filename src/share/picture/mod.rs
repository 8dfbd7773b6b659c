//! Pictures of a session and of a store: bytes by type and over time, the tree's shape, and tokens by day. One drawing for each,
//! which a page has in it, and which together are a file of SVG.

mod drawing;
mod series;
mod shape;

use std::io::Write;

use self::drawing::{Anchor, Drawing, WIDTH, in_xml};
use self::series::Series;
use super::number::{bytes, counted, grouped};
use super::tree::Ways;
use super::{ShareOptions, Sheet, speaker, title};
use crate::catalog::usage::calendar::date;
use crate::error::Result;
use crate::session::{Outline, SessionAnswer, SessionFacts, SessionReader, TypeFacts};
use crate::store::Store;
use crate::usage::{DayOf, UsageBy, UsageOptions};

/// The style of the drawings, with the names of a page's colours.
pub(super) const STYLE: &str = include_str!("picture.css");

/// The colours where there is no page: those of a page.
const COLOURS: &str = concat!(include_str!("../colours.css"), ".back{fill:var(--back)}\n");

/// The most types that have a bar of their own.
const MOST_TYPES: usize = 12;

/// How an amount is written.
type Amount = fn(u64) -> String;

/// The height of bars over time.
const TALL: f64 = 96.0;

/// The space around the drawings of a file, and between them.
const MARGIN: f64 = 24.0;

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

impl SessionReader {
    /// Writes pictures of the session as a file of SVG: bytes by type and over time, the tree's shape, and tokens by day, with
    /// the exact numbers as titles. It has no script and asks for nothing; its size is bounded, whatever the session's.
    ///
    /// `day_of` says which day a time is on; in UTC by default. The title goes through what replaces secrets.
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
    /// let mut picture = Vec::new();
    /// store.reader("019c6605")?.write_picture(&ShareOptions::default(), None, &mut picture)?;
    /// assert!(picture.starts_with(b"<svg "));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`](crate::error::ExportError::Output) of the writer;
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn write_picture(
        &self,
        options: &ShareOptions,
        day_of: Option<DayOf<'_>>,
        out: &mut dyn Write,
    ) -> Result<()> {
        let outline = self.get_outline()?;
        let drawings =
            of_session((self, options), &outline, &Ways::of(&outline, outline.leaf()), day_of)?;
        write(&title(self, options), &drawings, out)
    }
}

impl Store {
    /// Writes pictures of all sessions as a file of SVG: bytes by type, bytes by the time of the sessions' last entries, and
    /// tokens by day, each answer once. Like [`SessionReader::write_picture`]; it reads no lines.
    ///
    /// # Errors
    ///
    /// Those of [`SessionReader::write_picture`].
    pub fn write_picture(&self, day_of: Option<DayOf<'_>>, out: &mut dyn Write) -> Result<()> {
        let statistics = self.statistics()?;
        let mut over_time = Series::new();
        for row in self.snapshot_to_read()?.sessions()?.iter()? {
            let facts = SessionFacts::of(&row?.record()?);
            if let Some(time) = facts.modified {
                over_time.add(time.div_euclid(DAY), [facts.bytes]);
            }
        }
        let options = UsageOptions {
            by: UsageBy::Day,
            day_of,
            reads_lines: false,
            ..UsageOptions::default()
        };
        let mut tokens = Series::new();
        for row in self.usage(&options)?.rows {
            if let Some(day) = row.day {
                let sums = row.sums;
                tokens.add(
                    day,
                    [sums.output, sums.input.saturating_add(sums.cache_write), sums.cache_read],
                );
            }
        }
        let drawings = [
            by_type(&statistics.types, statistics.line_bytes, &ShareOptions::default()),
            over_days(
                |days| format!("Bytes by {days} of the sessions' last entries"),
                &over_time,
                &["bytes"],
                bytes,
            ),
            over_days(tokens_by, &tokens, &KINDS, grouped),
        ];
        let drawings: Vec<Drawing> = drawings.into_iter().flatten().collect();
        let title = counted(statistics.sessions, "session", "sessions");
        write(&title, &drawings, out)
    }
}

/// What the drawing of tokens is called, by how long a bar is.
fn tokens_by(days: &str) -> String {
    format!("Tokens by {days}")
}

/// The parts of the drawing of tokens.
const KINDS: [&str; 3] = ["output", "input and cache writes", "cache reads"];

/// The drawings of a session.
pub(super) fn of_session(
    (reader, options): (&SessionReader, &ShareOptions),
    outline: &Outline,
    ways: &Ways<'_>,
    day_of: Option<DayOf<'_>>,
) -> Result<Vec<Drawing>> {
    let facts = reader.facts();
    let mut over_time = Series::new();
    reader.each_line_size(|time, bytes| {
        if let Some(time) = time {
            over_time.add(time.div_euclid(1000), [bytes]);
        }
    })?;
    let in_utc = |seconds: i64| seconds.div_euclid(DAY / 1000);
    let day_of = day_of.unwrap_or(&in_utc);
    let mut tokens = Series::new();
    reader.each_answer(|SessionAnswer { time, usage, .. }| {
        if let Some(time) = time {
            let input = usage.input.saturating_add(usage.cache_write);
            tokens.add(day_of(time), [usage.output, input, usage.cache_read]);
        }
    })?;
    let drawings = [
        by_type(&facts.types, facts.bytes, options),
        over_time_of(&over_time),
        shape::draw(outline, ways),
        over_days(tokens_by, &tokens, &KINDS, grouped),
    ];
    Ok(drawings.into_iter().flatten().collect())
}

/// A bar for each type, the largest first.
fn by_type(types: &[TypeFacts], all: u64, options: &ShareOptions) -> Option<Drawing> {
    let shown = |facts: &TypeFacts| (options.shown_text(&facts.name), facts.bytes, facts.lines);
    let mut types: Vec<(String, u64, u64)> = types.iter().map(shown).collect();
    types.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let largest = types.first().map(|first| first.1.max(1))?;
    if types.len() > MOST_TYPES {
        let rest = types.split_off(MOST_TYPES - 1);
        let name = format!("{} other types", rest.len());
        types.push((name, rest.iter().map(|one| one.1).sum(), rest.iter().map(|one| one.2).sum()));
    }
    let mut drawing = Drawing::new("Bytes by type", &bytes(all));
    let (left, right) = (190.0, 130.0);
    for (name, size, lines) in types {
        let y = drawing.height;
        let width = (WIDTH - left - right) * (size as f64 / largest as f64).min(1.0);
        let short = speaker::beginning(&name, 28);
        drawing.text((left - 8.0, y + 11.0), Anchor::End, "name", &short);
        let says = format!("{name}: {} bytes, {}", grouped(size), counted(lines, "line", "lines"));
        drawing.bar((left, y + 1.0), (width.max(0.5), 12.0), "one", &says);
        let says = format!("{}, {}", bytes(size), counted(lines, "line", "lines"));
        drawing.text((left + width + 6.0, y + 11.0), Anchor::Start, "faint", &says);
        drawing.height += 19.0;
    }
    Some(drawing)
}

/// Bytes of a session's lines, by second or longer.
fn over_time_of(series: &Series<1>) -> Option<Drawing> {
    let named = |seconds: i64| speaker::time(seconds.saturating_mul(1000));
    let length = lasting(series.step());
    bars(("Bytes over time", &length), series, &["bytes"], (&named, bytes))
}

/// Bars by day, or by several days where there are too many.
fn over_days<const PARTS: usize>(
    title: impl Fn(&str) -> String,
    series: &Series<PARTS>,
    parts: &[&str],
    amount: Amount,
) -> Option<Drawing> {
    let (by, length) = match series.step() {
        1 => ("day".to_owned(), "a day".to_owned()),
        days => {
            let days = counted(days.unsigned_abs(), "day", "days");
            (days.clone(), days)
        }
    };
    bars((&title(&by), &length), series, parts, (&date, amount))
}

/// How long a bar is that takes so many seconds.
fn lasting(seconds: i64) -> String {
    let seconds = seconds.unsigned_abs();
    let of =
        |unit: u64, name: &str| format!("about {} {name}", grouped((seconds + unit / 2) / unit));
    match seconds {
        0 | 1 => "a second".to_owned(),
        2..120 => format!("{seconds} seconds"),
        120..7200 => of(60, "minutes"),
        7200..172_800 => of(3600, "hours"),
        _ => of(86_400, "days"),
    }
}

/// Bars over time, of parts upon each other, and how long each of them is.
fn bars<const PARTS: usize>(
    (title, length): (&str, &str),
    series: &Series<PARTS>,
    parts: &[&str],
    (named, amount): (&dyn Fn(i64) -> String, Amount),
) -> Option<Drawing> {
    if series.is_empty() || series.total() == 0 {
        return None;
    }
    let (all, largest) = (amount(series.total()), amount(series.largest()));
    let mut drawing = Drawing::new(title, &format!("{all} in all, {largest} at most in {length}"));
    let tallest = series.tallest().max(1.0);
    let (top, bottom) = (drawing.height, drawing.height + TALL);
    let wide = WIDTH / series.span().max(1) as f64;
    // A single day is no wall.
    let bar = (wide * 0.8).clamp(1.0, 36.0);
    for (place, (begin, end), amounts) in series.iter() {
        let when = if named(begin) == named(end) {
            named(begin)
        } else {
            format!("{} to {}", named(begin), named(end))
        };
        let mut says = format!("{when}: ");
        for (number, (part, size)) in parts.iter().zip(amounts).enumerate() {
            let between = if number == 0 { "" } else { ", " };
            says.push_str(&format!("{between}{} {part}", grouped(size)));
        }
        let mut y = bottom;
        for (class, size) in ["one", "two", "three"].into_iter().zip(amounts) {
            let high = TALL * size as f64 / tallest;
            if size > 0 {
                y -= high;
                drawing.bar((wide * place as f64, y), (bar, high.max(0.3)), class, &says);
            }
        }
    }
    drawing.bar((0.0, bottom), (WIDTH, 1.0), "rule", "");
    let (first, last) = series.ends()?;
    drawing.text((0.0, bottom + 15.0), Anchor::Start, "faint", &named(first));
    if named(first) != named(last) {
        drawing.text((WIDTH, bottom + 15.0), Anchor::End, "faint", &named(last));
    }
    if parts.len() > 1 {
        let mut x = 150.0;
        for (class, part) in ["one", "two", "three"].into_iter().zip(parts) {
            drawing.bar((x, bottom + 6.0), (10.0, 10.0), class, "");
            drawing.text((x + 15.0, bottom + 15.0), Anchor::Start, "faint", part);
            x += 30.0 + 7.0 * part.len() as f64;
        }
    }
    drawing.height = top + TALL + 24.0;
    Some(drawing)
}

/// Writes drawings below each other as a file.
fn write(title: &str, drawings: &[Drawing], out: &mut dyn Write) -> Result<()> {
    let title = speaker::beginning(title, 80);
    let between = 22.0;
    let heights: f64 = drawings.iter().map(|drawing| drawing.height + between).sum();
    let (width, height) = (WIDTH + 2.0 * MARGIN, heights + 2.0 * MARGIN + 30.0);
    let mut sheet = Sheet { out };
    sheet.put(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<title>{title}</title>\n<style>\n{COLOURS}{style}</style>\n\
         <rect class=\"back\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"{MARGIN:.0}\" y=\"{:.0}\">{title}</text>\n",
        MARGIN + 14.0,
        title = in_xml(&title),
        // Its size is its own here.
        style = STYLE.split_once('\n').map_or(STYLE, |(_, rest)| rest),
    ))?;
    let mut y = MARGIN + 34.0;
    for drawing in drawings {
        sheet.put(drawing.at(MARGIN, y))?;
        y += drawing.height + between;
    }
    sheet.put("</svg>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places and the heights of a drawing's bars.
    fn heights(drawing: &Drawing) -> Vec<(f64, f64)> {
        let of = |bar: &str, name: &str| -> f64 {
            let value = bar.split_once(&format!(" {name}=\"")).unwrap().1;
            value.split_once('"').unwrap().0.parse().unwrap()
        };
        let drawn = drawing.in_page();
        drawn.split("<rect ").skip(1).map(|bar| (of(bar, "y"), of(bar, "height"))).collect()
    }

    #[test]
    fn a_bar_stays_in_its_panel_whatever_its_sum() {
        let mut series = Series::new();
        series.add(1, [u64::MAX; 3]);
        series.add(2, [1, 0, u64::MAX]);
        let drawing = over_days(tokens_by, &series, &KINDS, grouped).unwrap();
        let (top, bottom) = (34.0, 34.0 + TALL);
        let bars: Vec<_> = heights(&drawing).into_iter().filter(|(y, _)| *y < bottom).collect();
        // A part of one token among so many has no height.
        assert_eq!(bars.len(), 4, "{bars:?}");
        assert!(bars.iter().all(|(y, high)| *y >= top && y + high <= bottom + 0.4), "{bars:?}");
    }

    #[test]
    fn what_a_bar_is_of_is_named() {
        let drawn = |days: std::ops::Range<i64>| {
            let mut series = Series::new();
            days.for_each(|day| series.add(day, [1, 0, 0]));
            over_days(tokens_by, &series, &KINDS, grouped).unwrap().in_page()
        };
        let short = drawn(3..5);
        assert!(short.contains(">Tokens by day<"), "{short}");
        assert!(short.contains(">2 in all, 1 at most in a day<"), "{short}");
        let long = drawn(3..300);
        assert!(long.contains(">Tokens by 4 days<"), "{long}");
        assert!(long.contains(">297 in all, 4 at most in 4 days<"), "{long}");
        // The first day and the last one, not those at which a bar could begin and end.
        for day in [3, 299].map(date) {
            assert!(long.contains(&format!(">{day}</text>")), "{long}");
        }
        assert_eq!(
            [1, 64, 512, 16_384, 1 << 20].map(lasting),
            ["a second", "64 seconds", "about 9 minutes", "about 5 hours", "about 12 days"]
        );
    }
}
