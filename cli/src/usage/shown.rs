//! Usage for a person: a table that fits the terminal.

use leafline::Store;
use leafline::usage::{UsageReport, UsageRow, UsageSums};

use super::By;
use crate::failure::Failure;
use crate::ls::{ids_around, unique_prefix};
use crate::number::count;
use crate::output::{FAINT, Output};
use crate::table::{Column, Table};
use crate::text;

/// What stands for a name that is empty.
pub(super) const NO_NAME: &str = "(no name)";

/// The characters of a title that are shown.
const TITLE: usize = 60;

/// From here on a cost is written with a power of ten: a program may state any, also one of three hundred digits.
const COUNTABLE: f64 = 1e12;

/// The columns that a narrow terminal does without, those that say the least about the cost first.
const DISPENSABLE: [&str; 8] =
    ["reasoning", "cache write", "cache read", "of agents", "answers", "title", "output", "input"];

/// Prints the rows and their total. Sessions are named by prefixes that no others have.
pub(super) fn write(
    report: &UsageReport,
    by: By,
    store: &Store,
    width: usize,
    out: &mut Output,
) -> Result<(), Failure> {
    let ids = match by {
        // Without the ids beside them, in a damaged store, they are shown whole.
        By::Session => ids_around(store, report.rows.iter().map(|row| &*row.name)).ok(),
        _ => None,
    };
    let ids: Option<Vec<&str>> = ids.as_ref().map(|ids| ids.iter().map(String::as_str).collect());
    let name_of = |row: &UsageRow| match &ids {
        Some(ids) => name(unique_prefix(&row.name, ids)),
        None => name(&row.name),
    };
    let mut table = table(report, by, name_of);
    let is_zero = |title: &&str| match *title {
        "input" => report.total.input == 0,
        "output" => report.total.output == 0,
        "cache read" => report.total.cache_read == 0,
        "cache write" => report.total.cache_write == 0,
        _ => false,
    };
    // What says nothing is not missed.
    let zeros: Vec<&str> = DISPENSABLE.into_iter().filter(is_zero).collect();
    let others: Vec<&str> = DISPENSABLE.into_iter().filter(|title| !is_zero(title)).collect();
    table.leave_out(&zeros, width);
    let left_out = table.leave_out(&others, width);
    table.write(out)?;
    if !left_out.is_empty() {
        let note = format!("no room for {}; --json has all", left_out.join(", "));
        for line in text::wrapped(&note, width) {
            let line = out.paint(FAINT, &line);
            out.line(format_args!("{line}"))?;
        }
    }
    Ok(())
}

/// The table with all columns that have something.
fn table(report: &UsageReport, by: By, name_of: impl Fn(&UsageRow) -> String) -> Table {
    let first = match by {
        By::Project => Column::Path(by.title()),
        By::Day | By::Week | By::Month => Column::Whole(by.title()),
        By::Model | By::Family | By::Session => Column::Text(by.title()),
    };
    let has_reasoning = report.total.reasoning > 0;
    let is_by_session = by == By::Session;
    let has_agents = is_by_session && report.rows.iter().any(|row| row.agents.is_some());
    let mut columns =
        vec![first, Column::Number("answers"), Column::Number("input"), Column::Number("output")];
    columns.extend(has_reasoning.then_some(Column::Number("reasoning")));
    columns.extend(["cache read", "cache write", "cost"].map(Column::Number));
    columns.extend(has_agents.then_some(Column::Number("of agents")));
    columns.extend(is_by_session.then_some(Column::Text("title")));
    let mut table = Table::new(columns);
    let total = UsageRow::default();
    let rows = report.rows.iter().map(|row| (name_of(row), row, &row.sums));
    for (name, row, sums) in rows.chain([("total".to_owned(), &total, &report.total)]) {
        let mut cells = vec![name, count(sums.answers), count(sums.input), count(sums.output)];
        cells.extend(has_reasoning.then(|| count(sums.reasoning)));
        cells.extend([count(sums.cache_read), count(sums.cache_write), dollars(sums)]);
        cells.extend(has_agents.then(|| row.agents.as_ref().map(dollars).unwrap_or_default()));
        let title = || text::one_line(row.title.as_deref().unwrap_or_default(), TITLE);
        cells.extend(is_by_session.then(title));
        table.push(cells);
    }
    table
}

fn name(name: &str) -> String {
    if name.trim().is_empty() { NO_NAME.to_owned() } else { text::printable(name).into_owned() }
}

/// A cost: `$12.34`, with a mark if something has no price.
fn dollars(sums: &UsageSums) -> String {
    let more = if sums.unpriced > 0 { "+" } else { "" };
    if sums.cost < COUNTABLE {
        format!("${:.2}{more}", sums.cost)
    } else {
        format!("${:.2e}{more}", sums.cost)
    }
}
