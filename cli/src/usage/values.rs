//! Usage for a program: rows of values.

use leafline::usage::{UsageReport, UsageRow, UsageSums};

use super::By;
use crate::failure::Failure;
use crate::output::Output;
use crate::table::write_tabs;
use crate::text;

/// Prints each row as a line of values, separated by tabs.
pub(super) fn write_rows(report: &UsageReport, by: By, out: &mut Output) -> Result<(), Failure> {
    for row in &report.rows {
        let mut values = vec![text::printable(&row.name).into_owned()];
        values.extend(numbers(&row.sums));
        if by == By::Session {
            values.extend(numbers(&row.agents.unwrap_or_default()));
            values.extend(facts(row));
        }
        write_tabs(out, &values)?;
    }
    Ok(())
}

/// Prints comma-separated values, under a line of their names. Columns that came later are behind those that were there.
pub(super) fn write_csv(report: &UsageReport, by: By, out: &mut Output) -> Result<(), Failure> {
    let of_session = if by == By::Session { ",title,project,family" } else { "" };
    out.line(format_args!(
        "{},answers,input,output,reasoning,cache_read,cache_write,cost,unpriced,unpriced_tokens,agents_cost,\
         agents_answers,agents_input,agents_output,agents_reasoning,agents_cache_read,agents_cache_write{of_session}",
        by.title()
    ))?;
    for row in &report.rows {
        let mut values = vec![quoted(&text::printable(&row.name))];
        values.extend(numbers(&row.sums));
        values
            .extend([row.sums.unpriced, row.sums.unpriced_tokens].map(|number| number.to_string()));
        let [counts @ .., cost] = numbers(&row.agents.unwrap_or_default());
        values.push(cost);
        values.extend(counts);
        if by == By::Session {
            values.extend(facts(row).map(|fact| quoted(&fact)));
        }
        out.line(format_args!("{}", values.join(",")))?;
    }
    Ok(())
}

/// Answers, tokens of each kind, and the cost.
fn numbers(sums: &UsageSums) -> [String; 7] {
    let numbers =
        [sums.answers, sums.input, sums.output, sums.reasoning, sums.cache_read, sums.cache_write];
    let [answers, input, output, reasoning, read, write] = numbers.map(|number| number.to_string());
    [answers, input, output, reasoning, read, write, format!("{:.6}", sums.cost)]
}

/// The title, the working directory and the family of a session.
fn facts(row: &UsageRow) -> [String; 3] {
    [
        text::one_line(row.title.as_deref().unwrap_or_default(), usize::MAX),
        text::printable(row.project.as_deref().unwrap_or_default()).into_owned(),
        row.family.map(|family| family.name().to_owned()).unwrap_or_default(),
    ]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted() {
        assert_eq!(quoted("/work/a"), "/work/a");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
    }
}
