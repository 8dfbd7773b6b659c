//! Commands that are killed: at each of their calls that write, and at any moment.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fastrand::Rng;

use crate::command::aftermath;
use crate::command::calling::WRITING;
use crate::command::case::{MOST_OF_A_CALL, Prepared, Stage};
use crate::command::program::{Fault, Program};
use crate::command::writing;

/// One kill in so many is at any moment, without a tracer.
const AT_ANY_MOMENT: u64 = 5;

/// One run in so many is killed a second time, while it completes what the first one has left.
const TWICE: u64 = 4;

/// What came of the runs of one command.
#[derive(Debug, Clone, Default)]
pub struct Count {
    /// How many there were.
    pub runs: u64,
    /// Those that were killed.
    pub killed: u64,
    /// Those that were killed a second time.
    pub twice: u64,
    /// The writing calls that it makes, and that are tried.
    pub places: u64,
    /// Those at which it was killed.
    pub covered: u64,
}

/// The runs of all commands, and what must not be.
#[derive(Debug, Default)]
pub struct Report {
    /// By command.
    pub counts: BTreeMap<&'static str, Count>,
    /// Each failure: the run, and what happened.
    pub failures: Vec<String>,
}

/// Kills so many times. Only the commands whose names contain the given text.
///
/// # Errors
///
/// If there is no program, no tracer, or a command does not do what it should without a kill.
pub fn run(seed: u64, runs: u64, program: Option<&Path>, only: &str) -> Result<Report, String> {
    if !Program::can_trace() {
        return Err("`strace` is not there, or may not trace".to_owned());
    }
    let stage = Stage::new(program)?;
    let mut cases = Vec::new();
    for case in writing::cases().iter().filter(|case| case.name.contains(only)) {
        cases.push(stage.prepare(case, WRITING)?);
    }
    let mut report = Report::default();
    let mut random = Rng::with_seed(seed);
    // Each command's calls in an order of their own, so that all have their turn before one has it again.
    let mut turns: Vec<Vec<usize>> = Vec::new();
    for prepared in &cases {
        let order = prepared.some_of_each(MOST_OF_A_CALL, &mut random);
        let count = report.counts.entry(prepared.case.name).or_default();
        count.places = order.len() as u64;
        turns.push(order);
    }
    // In proportion to what they write.
    let mut schedule: Vec<(usize, Option<usize>)> = Vec::new();
    while (schedule.len() as u64) < runs {
        let begun = schedule.len();
        for (number, order) in turns.iter().enumerate() {
            for &place in order {
                schedule.push((number, Some(place)));
                if random.u64(0..AT_ANY_MOMENT - 1) == 0 {
                    schedule.push((number, None));
                }
            }
        }
        random.shuffle(&mut schedule[begun..]);
    }
    schedule.truncate(usize::try_from(runs).unwrap_or(usize::MAX));
    let mut covered = std::collections::HashSet::new();
    for (run, (number, place)) in schedule.into_iter().enumerate() {
        let prepared = &cases[number];
        let mut random = Rng::with_seed(seed.wrapping_mul(1 << 32).wrapping_add(run as u64));
        let fault = fault_of(prepared, place, &mut random);
        let count = report.counts.entry(prepared.case.name).or_default();
        count.runs += 1;
        if place.is_some_and(|place| covered.insert((number, place))) {
            count.covered += 1;
        }
        let one = || one(&stage, prepared, &fault, &mut random, count);
        let outcome = catch_unwind(AssertUnwindSafe(one)).unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<String>().map_or("a panic", String::as_str);
            Err(format!("the library panicked: {text}"))
        });
        if let Err(problem) = outcome {
            let name = prepared.case.name;
            report.failures.push(format!("run {run} of seed {seed}: {name}, {fault:?}: {problem}"));
        }
    }
    Ok(report)
}

fn fault_of(prepared: &Prepared, place: Option<usize>, random: &mut Rng) -> Fault {
    match place.and_then(|place| prepared.places.get(place)) {
        Some(place) => Fault::KilledAt(place.call.clone(), place.nth),
        None => Fault::KilledAfter(prepared.whole.took.mul_f64(random.f64())),
    }
}

fn one(
    stage: &Stage,
    prepared: &Prepared,
    fault: &Fault,
    random: &mut Rng,
    count: &mut Count,
) -> Result<(), String> {
    stage.reset(prepared).map_err(|error| error.to_string())?;
    let case = &prepared.case;
    let input = case.input;
    let mut ended = stage.program.run(&stage.work, &prepared.arguments, input, fault);
    count.killed += u64::from(ended.is_killed());
    // What a second run adds would have to be told from what the first one has.
    if !case.repeats && ended.is_killed() && random.u64(0..TWICE) == 0 {
        aftermath::left(stage, prepared, &ended)?;
        let place = random.usize(0..prepared.places.len());
        let fault = fault_of(prepared, Some(place), random);
        ended = stage.program.run(&stage.work, &prepared.arguments, input, &fault);
        count.twice += u64::from(ended.is_killed());
        let problem = |problem| format!("a second time, {fault:?}: {problem}");
        return examine(stage, prepared, &ended).map_err(problem);
    }
    examine(stage, prepared, &ended)
}

fn examine(
    stage: &Stage,
    prepared: &Prepared,
    ended: &crate::command::program::Ended,
) -> Result<(), String> {
    let may_fail = prepared.case.is_refused_again || prepared.case.is_damaged;
    if !ended.is_killed() && !ended.is_done() && !may_fail {
        return Err(ended.described());
    }
    aftermath::examine(stage, prepared, ended)
}
