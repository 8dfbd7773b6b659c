//! `leafline usage`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use leafline::usage::{Prices, UsageBy, UsageOptions, UsageReport, UsageRow, UsageSums};
use serde::Serialize;

use super::failure::{Failure, usage};
use super::number::{count, counted};
use super::output::Output;
use super::place::{Place, shown};
use super::progress::Spinner;
use super::session_choice::SessionChoice;
use super::table::{Column, Table, write_tabs};
use super::{Status, text, time};

const EXAMPLES: &str = "\
Examples:
  leafline usage                               by day
  leafline usage --by month --since 2026-01-01
  leafline usage --by session --cwd . | head
  leafline usage --by model --json | jq '.rows[] | [.name, .cost]'
  leafline usage --by project --csv > usage.csv
  leafline usage --prices own.json";

/// The characters of a title that are shown.
const TITLE: usize = 60;

/// What the rows stand for.
#[derive(Debug, Clone, Copy, ValueEnum)]
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
/// overrides. What could not be priced is said. Without a terminal each row is a line of eight columns, separated by tabs:
/// name, answers, input, output, reasoning, cache read, cache write, cost in US dollars.
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
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
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
    let zone = TimeZone::system();
    let day_of = |seconds: i64| day_of(&zone, seconds);
    let mut options = UsageOptions {
        sessions: arguments.choice.filter()?,
        since: arguments.since,
        until: arguments.until,
        by: arguments.by.of_library(),
        day_of: Some(&day_of),
        prices: prices(arguments.prices.as_deref())?,
        reads_lines: false,
    };
    let report = report(place, &mut options)?;
    if out.is_json() {
        let by = arguments.by.title();
        out.json(&Json { by, report: &report, prices: options.prices.date() })?;
    } else if arguments.csv {
        write_csv(&report, arguments.by, out)?;
    } else if out.width().is_none() {
        report.rows.iter().try_for_each(|row| write_tabs(out, &plain(&row.name, &row.sums)))?;
    } else {
        write_table(&report, arguments.by, out)?;
    }
    remark(&report, options.prices.date(), out);
    Ok(if report.unreadable.is_empty() { Status::Done } else { Status::Failed })
}

/// The built-in prices, with those of a file.
fn prices(file: Option<&Path>) -> Result<Prices, Failure> {
    let Some(file) = file else { return Ok(Prices::built_in()) };
    let unreadable = |problem: String| {
        usage(&format!("the prices in {} cannot be read: {problem}", shown(file)))
    };
    let json = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    let own = Prices::read(&json).map_err(|error| unreadable(error.to_string()))?;
    Ok(Prices::built_in().with(own))
}

/// The report. Sessions that are not counted yet are counted, and if the store can be written, that is kept.
fn report(place: &Place, options: &mut UsageOptions<'_>) -> Result<UsageReport, Failure> {
    let store = place.open_to_read()?;
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

/// The eight columns for a program.
fn plain(name: &str, sums: &UsageSums) -> [String; 8] {
    let name = text::printable(name).into_owned();
    let numbers =
        [sums.answers, sums.input, sums.output, sums.reasoning, sums.cache_read, sums.cache_write];
    let [answers, input, output, reasoning, read, write] = numbers.map(|number| number.to_string());
    [name, answers, input, output, reasoning, read, write, format!("{:.6}", sums.cost)]
}

fn write_csv(report: &UsageReport, by: By, out: &mut Output) -> Result<(), Failure> {
    let title = by.title();
    out.line(format_args!(
        "{title},answers,input,output,reasoning,cache_read,cache_write,cost,unpriced,unpriced_tokens,agents_cost"
    ))?;
    for row in &report.rows {
        let [_, numbers @ ..] = plain("", &row.sums);
        let (unpriced, tokens) = (row.sums.unpriced, row.sums.unpriced_tokens);
        let agents = row.agents.map_or(0.0, |agents| agents.cost);
        let (name, numbers) = (quoted(&row.name), numbers.join(","));
        out.line(format_args!("{name},{numbers},{unpriced},{tokens},{agents:.6}"))?;
    }
    Ok(())
}

/// A value as RFC 4180 has it. One that a spreadsheet would take for a formula gets an apostrophe before it.
fn quoted(value: &str) -> String {
    let is_formula = value.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let value = if is_formula { format!("'{value}") } else { value.to_owned() };
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value
    }
}

fn write_table(report: &UsageReport, by: By, out: &mut Output) -> Result<(), Failure> {
    if report.rows.is_empty() {
        return Ok(());
    }
    let name = match by {
        By::Project => Column::Path(by.title()),
        By::Day | By::Week | By::Month => Column::Whole(by.title()),
        By::Model | By::Family | By::Session => Column::Text(by.title()),
    };
    let has_reasoning = report.total.reasoning > 0;
    let has_agents =
        matches!(by, By::Session) && report.rows.iter().any(|row| row.agents.is_some());
    let mut columns =
        vec![name, Column::Number("answers"), Column::Number("input"), Column::Number("output")];
    if has_reasoning {
        columns.push(Column::Number("reasoning"));
    }
    columns.extend(["cache read", "cache write", "cost"].map(Column::Number));
    if has_agents {
        columns.push(Column::Number("of agents"));
    }
    if matches!(by, By::Session) {
        columns.push(Column::Text("title"));
    }
    let mut table = Table::new(columns);
    let total = UsageRow::default();
    let rows = report.rows.iter().map(|row| (row.name.as_str(), row, &row.sums));
    for (name, row, sums) in rows.chain([("total", &total, &report.total)]) {
        let mut cells = vec![
            text::printable(name).into_owned(),
            count(sums.answers),
            count(sums.input),
            count(sums.output),
        ];
        if has_reasoning {
            cells.push(count(sums.reasoning));
        }
        cells.extend([count(sums.cache_read), count(sums.cache_write), dollars(sums)]);
        if has_agents {
            cells.push(row.agents.as_ref().map(dollars).unwrap_or_default());
        }
        if matches!(by, By::Session) {
            cells.push(
                row.title.as_deref().map(|title| text::one_line(title, TITLE)).unwrap_or_default(),
            );
        }
        table.push(cells);
    }
    table.write(out)
}

/// A cost: `$12.34`, with a mark if something has no price.
fn dollars(sums: &UsageSums) -> String {
    format!("${:.2}{}", sums.cost, if sums.unpriced > 0 { "+" } else { "" })
}

/// Says what the report is without.
fn remark(report: &UsageReport, date: &str, out: &mut Output) {
    if !report.unpriced.is_empty() {
        let models: Vec<String> =
            report.unpriced.keys().map(|model| text::printable(model).into_owned()).collect();
        let answers = counted(report.total.unpriced, "answer", "answers");
        let tokens = counted(report.total.unpriced_tokens, "token", "tokens");
        out.remark(format!(
            "the cost is without {answers} of {tokens}: the prices of {date} do not have {}; --prices adds them",
            models.join(", ")
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
    fn values_are_quoted() {
        assert_eq!(quoted("/work/a"), "/work/a");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
    }

    #[test]
    fn days_are_those_of_the_time_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(day_of(&zone, 24 * 60 * 60 - 1), 1);
        assert_eq!(day_of(&TimeZone::UTC, 24 * 60 * 60 - 1), 0);
        assert_eq!(day_of(&zone, i64::MAX), i64::MAX.div_euclid(24 * 60 * 60));
    }
}
