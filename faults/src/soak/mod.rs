//! Days of use in minutes: three hosts with twenty sessions each, a watch over files that grow and are deleted, an MCP client, a
//! `browse` that is left open, searches, backups, compactions, a long import and its removal, and kills. Every figure has a limit.

mod actors;
mod process;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use fastrand::Rng;
use leafline::Store;
use leafline_generate::{Shape, generate};

pub use self::actors::host;
use self::actors::{Scene, be_client, keep, keep_host, write_files};
use self::process::{Post, bytes_of, lock};
use crate::answers::{Opening, open};
use crate::command::program::Program;
use crate::crowd::quantile;

/// The hidden command of a host's process.
pub const WORD: &str = "soak-host";

/// How many hosts there are.
const HOSTS: usize = 3;

/// Between two kills.
const BETWEEN_KILLS: Duration = Duration::from_secs(20);

/// Bytes of the file that is imported and removed.
const LARGE: u64 = 100_000_000;

const MIB: u64 = 1 << 20;

/// A measured figure and its limit.
#[derive(Debug)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The measured value.
    pub value: f64,
    /// The largest allowed value; infinite if there is no limit.
    pub limit: f64,
}

/// The result of a soak.
#[derive(Debug, Default)]
pub struct Report {
    /// The figures, in the order of the table.
    pub figures: Vec<Figure>,
    /// Failures, including figures over their limits.
    pub failures: Vec<String>,
}

impl Report {
    fn add(&mut self, name: impl Into<String>, unit: &'static str, value: f64, limit: f64) {
        let name = name.into();
        if value > limit {
            self.failures.push(format!("{name}: {value:.1} {unit}, at most {limit:.1}"));
        }
        self.figures.push(Figure { name, unit, value, limit });
    }
}

/// Lets all of them work for so long, in a folder of its own below the given one. `own` is this program.
///
/// # Errors
///
/// If there is no program.
///
/// # Panics
///
/// If the folder cannot be written, or a process cannot be begun.
pub fn run(
    time: Duration,
    program: Option<&Path>,
    own: &Path,
    folder: &Path,
) -> Result<Report, String> {
    let folder = tempfile::tempdir_in(folder).map_err(|error| error.to_string())?;
    let folder = folder.path();
    let program = &Program::find(program, &folder.join("prints"))?;
    for name in ["home", "files"] {
        std::fs::create_dir(folder.join(name)).map_err(|error| error.to_string())?;
    }
    let mut large = Vec::new();
    let shape = Shape { seed: 3, bytes: LARGE, ..Shape::default() };
    let id = generate(&shape, &mut large).expect("memory takes all bytes").session_id;
    std::fs::write(folder.join("large.jsonl"), large).expect("a file can be written");
    let store = folder.join("store.leafline");
    drop(Store::open(&store).map_err(|error| error.to_string())?);
    let search = folder.join("store.leafline.search");
    let scene = Scene {
        program,
        own,
        folder,
        over: AtomicBool::new(false),
        failures: Mutex::default(),
        times: Mutex::default(),
    };
    let posts = ["host", "host", "host", "sync --watch", "mcp", "browse"].map(Post::new);
    let [hosts @ .., watch, client, browse] = &posts;
    let (mut most, mut report) = ((0, 0), Report::default());
    let begun = Instant::now();
    let (kept, written) = std::thread::scope(|scope| {
        let scene = &scene;
        let hosts: Vec<_> = hosts
            .iter()
            .enumerate()
            .map(|(number, post)| scope.spawn(move || keep_host(scene, number, post)))
            .collect();
        scope.spawn(|| keep(scene, watch, &["sync", "--watch", "files"], false));
        scope.spawn(|| be_client(scene, client));
        scope.spawn(|| keep(scene, browse, &["browse"], true));
        let writer = scope.spawn(|| write_files(scene));
        scope.spawn(|| {
            while !scene.is_over() {
                scene.run("search", &["search", "zebra", "--limit", "5"]);
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        scope.spawn(|| change(scene, &id));
        let (mut random, mut killed) = (Rng::with_seed(7), Instant::now());
        while begun.elapsed() < time {
            posts.iter().for_each(Post::measure);
            most = (most.0.max(bytes_of(&store)), most.1.max(bytes_of(&search)));
            if killed.elapsed() >= BETWEEN_KILLS {
                killed = Instant::now();
                // The one that is left open stays.
                posts[random.usize(0..posts.len() - 1)].kill();
            }
            std::thread::sleep(Duration::from_millis(250));
        }
        scene.over.store(true, std::sync::atomic::Ordering::Relaxed);
        // The client rests.
        for _ in 0..16 {
            client.measure();
            std::thread::sleep(Duration::from_millis(250));
        }
        let kept: Vec<_> = hosts.into_iter().map(|host| host.join().expect("no panic")).collect();
        (kept, writer.join().expect("no panic"))
    });
    report.failures = std::mem::take(&mut lock(&scene.failures));
    scene.run("sync", &["sync", "files", "--quiet"]);
    let ended = (bytes_of(&store), bytes_of(&search));
    judge_entries(&mut report, &store, &kept, &written, &posts);
    scene.run("compact", &["compact"]);
    scene.run("index", &["index", "--rebuild"]);
    let least = (bytes_of(&store), bytes_of(&search));
    report.failures.append(&mut lock(&scene.failures));
    judge_sizes(&mut report, most, ended, least);
    judge_processes(&mut report, &posts, &kept, &written);
    judge_times(&mut report, &lock(&scene.times));
    Ok(report)
}

/// Makes backups, compacts, imports the large file and removes it.
fn change(scene: &Scene<'_>, id: &str) {
    while !scene.is_over() {
        scene.run("backup", &["backup", "backup.leafline"]);
        std::fs::remove_file(scene.folder.join("backup.leafline")).ok();
        scene.run("import", &["import", "large.jsonl", "--restore", "--quiet"]);
        scene.run("compact", &["compact", "--in-place"]);
        scene.run("rm", &["rm", id, "--yes"]);
        scene.run("compact", &["compact", "--in-place"]);
        std::thread::sleep(Duration::from_secs(2));
    }
}

/// Compares the store with what was acknowledged and written.
fn judge_entries(
    report: &mut Report,
    store: &Path,
    kept: &[Vec<(String, String)>],
    written: &[(String, u64)],
    posts: &[Post],
) {
    let store = match open(store, Opening::ToWrite) {
        Ok(store) => store,
        Err(error) => return report.failures.push(format!("opening the store: {error}")),
    };
    let mut expected: HashMap<&str, Vec<String>> = HashMap::new();
    for (session, id) in kept.iter().flatten() {
        expected.entry(session).or_default().push(id.clone());
    }
    let of_files = written.iter().map(|(id, lines)| {
        (&**id, (0..*lines).map(|line| format!("{id}-{line}")).collect::<Vec<_>>())
    });
    expected.extend(of_files);
    let (mut all, mut missing, mut twice, mut unasked) = (0, 0, 0, 0u64);
    for (session, ids) in expected {
        let mut there: HashMap<String, u64> = HashMap::new();
        let read = store.reader(session).and_then(|reader| {
            reader.lines(1, |entry| {
                *there.entry(entry.id().unwrap_or_default()).or_default() += 1;
                Ok(true)
            })
        });
        if let Err(error) = read {
            report.failures.push(format!("{session}: {error}"));
        }
        all += ids.len() as u64;
        missing += ids.iter().filter(|id| !there.contains_key(*id)).count() as u64;
        twice += there.values().filter(|count| **count > 1).count() as u64;
        unasked += (there.len() as u64).saturating_sub(ids.len() as u64);
    }
    let kills: u64 = posts.iter().map(|post| post.figures().kills).sum();
    report.add("entries acknowledged and lines written", "", of(all), f64::INFINITY);
    report.add("of them missing", "", of(missing), 0.0);
    report.add("twice", "", of(twice), 0.0);
    // A process may be killed between an append and its acknowledgement.
    report.add("not acknowledged and there", "", of(unasked), of(kills));
    report.add("kills", "", of(kills), f64::INFINITY);
    match store.verify() {
        Ok(verified) => {
            let problems = verified.problems.iter();
            report.failures.extend(problems.map(|problem| format!("{problem:?}")));
        }
        Err(error) => report.failures.push(error.to_string()),
    }
}

fn judge_sizes(report: &mut Report, most: (u64, u64), ended: (u64, u64), least: (u64, u64)) {
    // The large file, as it is stored, comes and goes.
    let whole = least.0 + LARGE / 2;
    report.add("store, most", "MB", megabytes(most.0), megabytes(3 * whole));
    report.add("store, in the end", "MB", megabytes(ended.0), megabytes(3 * whole));
    report.add("store, compacted", "MB", megabytes(least.0), f64::INFINITY);
    let limit = 3 * least.1 + LARGE;
    report.add("search folder, most", "MB", megabytes(most.1), megabytes(limit));
    report.add("search folder, in the end", "MB", megabytes(ended.1), megabytes(limit));
    report.add("search folder, made again", "MB", megabytes(least.1), f64::INFINITY);
}

fn judge_processes(
    report: &mut Report,
    posts: &[Post],
    kept: &[Vec<(String, String)>],
    written: &[(String, u64)],
) {
    /// Bytes of the line that each append and each line of a file has, about.
    const LINE: u64 = 1_100;
    let lines: u64 = written.iter().map(|(_, lines)| lines).sum();
    let mut appended = kept.iter().map(|entries| entries.len() as u64);
    for post in posts {
        let (name, figures) = (post.name, post.figures());
        // An index of 100 MB is made in the memory of whoever finds that it lacks them.
        let limit = if name == "host" { 128 } else { 400 };
        report.add(format!("{name}, memory, most"), "MB", of(figures.memory.0) / 1e3, of(limit));
        if name == "mcp" {
            let rest = of(figures.memory.1) / 1e3;
            report.add(format!("{name}, memory, at rest"), "MB", rest, 200.0);
        }
        report.add(format!("{name}, descriptors"), "", of(figures.descriptors), 64.0);
        let bytes = match name {
            "host" => appended.next().unwrap_or_default() * LINE,
            "sync --watch" => lines * LINE,
            _ => continue,
        };
        let each = of(figures.written()) / of(bytes.max(1));
        report.add(format!("{name}, bytes written for one"), "", each, 100.0);
    }
}

fn judge_times(report: &mut Report, times: &[(&'static str, Duration)]) {
    let mut by_name: HashMap<&str, Vec<Duration>> = HashMap::new();
    for (name, took) in times {
        by_name.entry(name).or_default().push(*took);
    }
    let named = [
        ("append", 5.0),
        ("mcp read", 10.0),
        ("mcp search", 60.0),
        ("search", 150.0),
        ("backup", 60.0),
        ("import", 120.0),
        ("rm", 60.0),
        ("compact", 120.0),
    ];
    for (name, limit) in named {
        let mut times = by_name.remove(name).unwrap_or_default();
        times.sort_unstable();
        let [half, most, all] = [500, 990, 1000].map(|part| quantile(&times, part).as_secs_f64());
        let count = times.len();
        report.add(format!("{name}, p50 of {count}"), "ms", half * 1e3, f64::INFINITY);
        report.add(format!("{name}, p99"), "ms", most * 1e3, f64::INFINITY);
        report.add(format!("{name}, the longest"), "ms", all * 1e3, limit * 1e3);
    }
}

fn megabytes(bytes: u64) -> f64 {
    of(bytes) / of(MIB)
}

#[expect(clippy::cast_precision_loss, reason = "figures are printed with one decimal")]
fn of(number: u64) -> f64 {
    number as f64
}
