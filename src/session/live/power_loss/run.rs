//! Plays scripts, and checks images of what a loss of power at each of their events leaves.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Random;
use super::disk::{Image, JOURNAL_NAME, Kept, STORE_NAME};
use super::expected::Sessions;
use super::images::Desk;
use super::script::{Left, Played, Script};
use crate::store::recorder::{self, Event, STORE};

/// After so many failures a run ends.
const MOST_FAILURES: usize = 10;

/// After so many a script does.
const MOST_OF_SCRIPT: usize = 3;

/// At so many events of a script images are made, so that a run has many scripts.
const EVENTS: usize = 600;

/// Bytes of an area of the journals that a run makes, so that images are small.
const AREA: u64 = 64 << 10;

/// What is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The first script.
    pub seed: u64,
    /// How many different images are checked at least.
    pub images: u64,
    /// By how many threads.
    pub threads: usize,
    /// The program whose processes play the scripts; else threads do. Called with [`WORD`](super::WORD) and a file, it does
    /// [`work`](super::work).
    pub program: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Scripts that were played, and those of them that went on from an image of the one before.
    pub scripts: u64,
    /// See `scripts`.
    pub continued: u64,
    /// Different images that were checked.
    pub images: u64,
    /// Those with all that was written until then, with what was synced alone, and with a part of the rest.
    pub prefixes: u64,
    /// See `prefixes`.
    pub synced: u64,
    /// See `prefixes`.
    pub subsets: u64,
    /// Images that were the same as one before, at another event, and were compared with what was told then.
    pub repeated: u64,
    /// Stores that were opened.
    pub opened: u64,
    /// Moments at which several records were not synced.
    pub together: u64,
    /// How often the second area of a journal was begun.
    pub areas: u64,
    /// Calls that succeeded, by their kinds.
    pub calls: BTreeMap<String, u64>,
    /// What went wrong, with the script and the event, and where the image is.
    pub failures: Vec<String>,
}

impl Report {
    pub(super) fn add(&mut self, other: Self) {
        self.scripts += other.scripts;
        self.continued += other.continued;
        self.images += other.images;
        self.prefixes += other.prefixes;
        self.synced += other.synced;
        self.subsets += other.subsets;
        self.repeated += other.repeated;
        self.opened += other.opened;
        self.together += other.together;
        self.areas += other.areas;
        for (kind, count) in other.calls {
            *self.calls.entry(kind).or_default() += count;
        }
        self.failures.extend(other.failures);
    }
}

/// Runs scripts until so many images are checked. `told` is called after each script.
pub fn run(options: &Options, told: &(dyn Fn(&Report) + Sync)) -> Report {
    recorder::use_areas(AREA);
    let report = Mutex::new(Report::default());
    let (seed, is_over) = (AtomicU64::new(options.seed), AtomicBool::new(options.images == 0));
    std::thread::scope(|scope| {
        for _ in 0..options.threads.max(1) {
            scope.spawn(|| {
                let mut desk = Desk::new();
                let mut left = None;
                while !is_over.load(Ordering::Relaxed) {
                    let script = Script::of_seed(seed.fetch_add(1, Ordering::Relaxed));
                    let script = script.by(options.program.as_deref());
                    // A script with failures counts files from the beginning.
                    let from = left.take().filter(|_| !script.fails);
                    let (one, next) = script.run(&mut desk, from.as_ref(), EVENTS);
                    left = next;
                    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                    report.add(one);
                    told(&report);
                    let is_enough = report.images >= options.images;
                    if is_enough || report.failures.len() >= MOST_FAILURES {
                        is_over.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    report.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Script {
    /// The script of a long run that follows from a seed.
    pub(super) fn of_seed(seed: u64) -> Self {
        let mut random = Random(seed ^ 0x5EED);
        let fails = random.below(8) == 0;
        let areas = [Some(8 << 10), Some(16 << 10), None, Some(AREA)];
        let area = areas[random.below(4)];
        // Small areas and long messages: both areas are full before they are folded.
        let is_small = area.is_some_and(|area| area < AREA);
        Self {
            seed,
            threads: if fails { 2 } else { 1 + random.below(3) },
            steps: if fails { 20 + random.below(20) } else { 6 + random.below(10) },
            parts: if fails { 1 } else { 1 + random.below(3) },
            alone: random.below(4),
            area: if fails { Some(area.unwrap_or(32 << 10)) } else { area },
            text: if random.below(if is_small { 2 } else { 4 }) == 0 { 2000 } else { 300 },
            fails,
            patience: Duration::from_micros([200, 1000, 2000, 2000][random.below(4)]),
            program: None,
        }
    }

    /// The same, played by processes of a program. In these the system does not fail.
    fn by(self, program: Option<&Path>) -> Self {
        let Some(program) = program else { return self };
        let (threads, parts) = (2 + self.threads % 2, self.parts);
        Self { threads, parts, fails: false, program: Some(program.to_owned()), ..self }
    }

    /// Plays it, and checks images of so many events, or of all. Returns also an image from which another script can go on.
    pub(super) fn run(
        &self,
        desk: &mut Desk,
        from: Option<&Left>,
        events: usize,
    ) -> (Report, Option<Left>) {
        let mut report = Report { scripts: 1, ..Report::default() };
        report.continued = u64::from(from.is_some());
        let played = match catch_unwind(AssertUnwindSafe(|| self.play(from))) {
            Ok(played) => played,
            Err(panic) => {
                let text = words(&*panic);
                report.failures.push(format!("{self:?}: it is not played to its end: {text}"));
                return (report, None);
            }
        };
        for (kind, count) in played.threads.iter().flat_map(|thread| &thread.kinds) {
            *report.calls.entry(kind.clone()).or_default() += count;
        }
        desk.clear();
        let opened = desk.opened;
        let left = self.check(&played, desk, events, from.is_none(), &mut report);
        report.opened = desk.opened - opened;
        (report, left)
    }

    fn check(
        &self,
        played: &Played,
        desk: &mut Desk,
        events: usize,
        is_first: bool,
        report: &mut Report,
    ) -> Option<Left> {
        let mut random = Random(self.seed ^ 0xABCD);
        let every = played.events.len().div_ceil(events.max(1)).max(1);
        // Where another script goes on, unless this one did.
        let place = random.below(played.events.len());
        let mut left = None;
        let mut moment = played.before();
        for (event, happened) in played.events.iter().enumerate() {
            moment.take(event, happened);
            report.together += u64::from(moment.unsynced_records() > 1);
            // The second area begins behind the first page, the first area, and a page.
            let second = self.area.unwrap_or(AREA) + 2 * 4096;
            report.areas += u64::from(matches!(
                happened,
                Event::Write { file, at, .. } if *file != STORE && *at == second
            ));
            if event % every != place % every {
                continue;
            }
            for kept in [Kept::All, Kept::None, Kept::Some, Kept::Some] {
                // These leave what is there, and what has to be.
                let is_same = matches!(
                    happened,
                    Event::Synced { .. } | Event::FolderSynced { .. } | Event::Began(_)
                );
                if kept == Kept::All && is_same && every == 1 {
                    continue;
                }
                let image = moment.image(&mut random, kept);
                let checked = catch_unwind(AssertUnwindSafe(|| {
                    played.check(desk, event, &image, &mut random)
                }));
                let checked = checked.unwrap_or_else(|panic| Err(words(&*panic)));
                if desk.is_new(&image) {
                    report.images += 1;
                    *match kept {
                        Kept::All => &mut report.prefixes,
                        Kept::None => &mut report.synced,
                        Kept::Some => &mut report.subsets,
                    } += 1;
                } else {
                    report.repeated += 1;
                }
                match checked {
                    Ok(found) if event >= place && left.is_none() && kept == Kept::Some => {
                        let file = |name| image.get(name).cloned();
                        let (store, journal) = (file(STORE_NAME).unwrap(), file(JOURNAL_NAME));
                        let found = Sessions::clone(&found);
                        left = Some(Left { store, journal, found, calls: played.calls });
                    }
                    Ok(_) => {}
                    Err(problem) => {
                        let place = keep(&image, self.seed, event);
                        report.failures.push(format!(
                            "{self:?}, event {event}, {kept:?}, in {}: {problem}",
                            place.display()
                        ));
                        if report.failures.len() >= MOST_OF_SCRIPT {
                            return None;
                        }
                    }
                }
            }
        }
        left.filter(|_| is_first)
    }
}

/// What a panic says.
pub(super) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a panic: {}", text.unwrap_or_default())
}

/// Keeps a failing image, to be looked at.
fn keep(image: &Image, seed: u64, event: usize) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("leafline-power-{seed}-{event}"));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in image {
        std::fs::write(folder.join(name), &**bytes).unwrap();
    }
    folder
}
