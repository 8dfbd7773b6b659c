//! `leafline usage`.

mod shown;
mod values;

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ValueEnum, ValueHint};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use leafline::Store;
use leafline::usage::{Prices, UsageBy, UsageOptions, UsageReport};
use serde::Serialize;

use super::failure::{Failure, usage};
use super::number::{count, counted};
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;
use super::session_choice::SessionChoice;
use super::{Status, text, time};

const EXAMPLES: &str = "\
Examples:
  leafline usage                               by day
  leafline usage --by month --since 2026-01-01
  leafline usage --by session --cwd . | head
  leafline usage --by model --json | jq '.rows[] | [.name, .cost]'
  leafline usage --by project --csv > usage.csv
  leafline usage --prices own.json";

/// The characters of a model's name that a message has.
const LONGEST_NAME: usize = 60;

/// The models without a price that a message names; `--json` has all.
const MOST_NAMES: usize = 10;

/// What the rows stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Day,
    Week,
    Month,
    Project,
    Model,
    Family,
    Session,
}

impl By {
    fn of_library(self) -> UsageBy {
        match self {
            Self::Day => UsageBy::Day,
            Self::Week => UsageBy::Week,
            Self::Month => UsageBy::Month,
            Self::Project => UsageBy::Project,
            Self::Model => UsageBy::Model,
            Self::Family => UsageBy::Family,
            Self::Session => UsageBy::Session,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Project => "project",
            Self::Model => "model",
            Self::Family => "family",
            Self::Session => "session",
        }
    }
}

/// Show what the sessions have used, and what it cost
///
/// Shows the tokens of the model's answers and their cost, by day, week (from Monday), month, project, model, family or
/// session. Days are those of your time zone. An answer counts once, however many lines and sessions repeat it. With --by
/// session, what agents used counts to the session that started them, and is shown beside it.
///
/// The cost is what the program wrote; where it wrote none, it is that of a table of prices, which --prices adds to or
/// overrides. What could not be priced is said. On a terminal that is too narrow for all columns some are left out, and named
/// below the table. Without a terminal each row is a line of eight columns, separated by tabs: name, answers, input, output,
/// reasoning, cache read, cache write, cost in US dollars. With --by session ten more follow: the same seven numbers of what
/// agents used, title, working directory, family.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What the rows stand for
    #[arg(long, value_enum, default_value = "day")]
    by: By,

    #[command(flatten)]
    choice: SessionChoice,

    /// Only answers at this time or later: 2026-02-16, 2026-02-16T10:20, or for how long ago 30m (minutes), 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    since: Option<i64>,

    /// Only answers before this time
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    until: Option<i64>,

    /// Print comma-separated values, under a line of their names
    #[arg(long)]
    csv: bool,

    /// Take prices from this JSON file where it has a model
    #[arg(long, value_name = "FILE", value_parser = prices_of_file(), value_hint = ValueHint::FilePath)]
    prices: Option<Prices>,
}

/// A report as JSON.
#[derive(Serialize)]
struct Json<'r> {
    by: &'static str,
    #[serde(flatten)]
    report: &'r UsageReport,
    /// The day that the prices are of.
    prices: &'r str,
}

/// Shows the usage.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    if arguments.csv && out.is_json() {
        return Err(usage("the argument '--csv' cannot be used with '--json'"));
    }
    let zone = time::zone();
    let day_of = |seconds: i64| day_of(&zone, seconds);
    let built_in = Prices::built_in();
    let mut options = UsageOptions {
        sessions: arguments.choice.filter()?,
        since: arguments.since,
        until: arguments.until,
        by: arguments.by.of_library(),
        day_of: Some(&day_of),
        prices: match &arguments.prices {
            Some(own) => built_in.with(own.clone()),
            None => built_in,
        },
        reads_lines: false,
    };
    let store = place.open_to_read()?;
    let report = report(&store, place, &mut options)?;
    if out.is_json() {
        let by = arguments.by.title();
        out.json(&Json { by, report: &report, prices: options.prices.date() })?;
    } else if arguments.csv {
        values::write_csv(&report, arguments.by, out)?;
    } else {
        match out.width() {
            None => values::write_rows(&report, arguments.by, out)?,
            Some(_) if report.rows.is_empty() => out.remark(nothing(arguments)),
            Some(width) => shown::write(&report, arguments.by, &store, width, out)?,
        }
    }
    remark(&report, options.prices.date(), out);
    Ok(if report.unreadable.is_empty() { Status::Done } else { Status::Failed })
}

/// The prices in a file that is named. A wrong one is a wrong value, as a time is that is none.
fn prices_of_file() -> impl TypedValueParser<Value = Prices> {
    PathBufValueParser::new().try_map(|file| prices_in(&file))
}

fn prices_in(file: &PathBuf) -> Result<Prices, String> {
    let unreadable = |problem: String| format!("the prices cannot be read: {problem}");
    let json = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    Prices::read(&json).map_err(|error| unreadable(error.to_string()))
}

/// The report. Sessions that are not counted yet are counted, and if the store can be written, that is kept.
fn report(
    store: &Store,
    place: &Place,
    options: &mut UsageOptions<'_>,
) -> Result<UsageReport, Failure> {
    let report = store.usage(options)?;
    if report.not_counted.is_empty() {
        return Ok(report);
    }
    let spinner = Spinner::new("counting");
    options.reads_lines = true;
    // Whoever may only read the store counts them each time.
    let report = match place.open_to_change() {
        Ok(store) => store.usage(options)?,
        Err(_) => store.usage(options)?,
    };
    drop(spinner);
    Ok(report)
}

/// The day of a time in seconds since 1970, in a time zone; in UTC for times that no calendar has.
pub(super) fn day_of(zone: &TimeZone, seconds: i64) -> i64 {
    let local = Timestamp::from_second(seconds)
        .map_or(seconds, |time| seconds + i64::from(zone.to_offset(time).seconds()));
    local.div_euclid(24 * 60 * 60)
}

/// Says that nothing was used, by what was asked about.
fn nothing(arguments: &Arguments) -> String {
    let local = |time: Option<i64>| time.map(|time| time::local(time).unwrap_or_default());
    let time = match (local(arguments.since), local(arguments.until)) {
        (Some(since), Some(until)) => format!(" between {since} and {until}"),
        (Some(since), None) => format!(" since {since}"),
        (None, Some(until)) => format!(" before {until}"),
        (None, None) => String::new(),
    };
    let chosen = arguments.choice.words();
    text::printable(&format!("no session{chosen} states any usage{time}")).into_owned()
}

/// A name on one line.
fn shown_name(name: &str) -> String {
    let name = text::one_line(name, LONGEST_NAME);
    if name.is_empty() { shown::NO_NAME.to_owned() } else { name }
}

/// A model's name within a sentence.
fn quoted_name(name: &str) -> String {
    match shown_name(name) {
        none if none == shown::NO_NAME => none,
        name => format!("\"{name}\""),
    }
}

/// Says what the report is without.
fn remark(report: &UsageReport, date: &str, out: &mut Output) {
    if !report.unpriced.is_empty() {
        let mut models: Vec<_> = report.unpriced.iter().collect();
        models.sort_by_key(|(_, sums)| Reverse(sums.unpriced_tokens));
        let more = models.len().saturating_sub(MOST_NAMES) as u64;
        models.truncate(MOST_NAMES);
        let names: Vec<String> = models.into_iter().map(|(model, _)| quoted_name(model)).collect();
        let mut names = names.join(", ");
        if more > 0 {
            names.push_str(&format!(" and {} more", count(more)));
        }
        let answers = counted(report.total.unpriced, "answer", "answers");
        let tokens = counted(report.total.unpriced_tokens, "token", "tokens");
        out.remark(format!(
            "the cost leaves out {answers} of {tokens}: there is no price for {names} in the prices of {date}; --prices FILE adds them"
        ));
    }
    if !report.unreadable.is_empty() {
        let names: Vec<_> = report.unreadable.iter().map(|id| text::printable(id)).collect();
        let all = counted(report.unreadable.len() as u64, "session", "sessions");
        out.remark(format!("{all} could not be read as a whole: {}", names.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_time_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(day_of(&zone, 24 * 60 * 60 - 1), 1);
        assert_eq!(day_of(&TimeZone::UTC, 24 * 60 * 60 - 1), 0);
        assert_eq!(day_of(&zone, i64::MAX), i64::MAX.div_euclid(24 * 60 * 60));
    }
}
