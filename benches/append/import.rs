//! Appends while another process imports a file into the same store.

use std::path::Path;

use leafline::Store;
use leafline::import::ImportOptions;
use tempfile::TempDir;

use super::processes::child;
use super::support::latency::Latencies;
use super::support::session_file::{SessionFile, folder};
use super::turns::ratio;
use super::ways::{self, SMALL, Way, open_small, session};

/// Appends before the import.
const BEFORE: usize = 1_000;

pub(crate) fn run() {
    let place = TempDir::new_in(folder()).expect("a folder can be made");
    let path = place.path().join("leafline");
    let store = open_small(&path);
    let file = SessionFile::make();
    let mut ours = ways::leafline(session(&store, SMALL));
    let mut bare = ways::bare(&place.path().join("bare"));
    let mut count = 0;
    let quiet = in_turn(&mut ours, &mut bare, || {
        count += 1;
        count <= BEFORE
    });
    println!("appends while another process imports a file of {} MB:", file.bytes() / 1_000_000);
    let mut import = child("import", &path, &file.path().to_string_lossy());
    let busy = in_turn(&mut ours, &mut bare, || {
        import.try_wait().expect("a child can be waited for").is_none()
    });
    assert!(import.wait().expect("a child can be waited for").success(), "the import");
    for (name, [ours, bare]) in [("before", &quiet), ("meanwhile", &busy)] {
        ours.print(&format!("leafline, {name}"));
        bare.print(&format!("write in place, {name}"));
        println!("the longest: {:.1?} and {:.1?}", ours.longest(), bare.longest());
    }
    let against = |way: usize| ratio(busy[way].percentile(50), quiet[way].percentile(50));
    println!("p50 meanwhile to before: leafline {:.2}, write {:.2}", against(0), against(1));
}

/// Both in turn, as long as there is more.
fn in_turn(
    ours: &mut Way<'static>,
    bare: &mut Way<'static>,
    mut more: impl FnMut() -> bool,
) -> [Latencies; 2] {
    let mut times = [Vec::new(), Vec::new()];
    while more() {
        for (way, times) in [&mut *ours, &mut *bare].into_iter().zip(&mut times) {
            times.push(Latencies::measure(0..1, |_| way()));
        }
    }
    times.map(|times| Latencies::joined(&times))
}

/// The child: imports a file.
pub(crate) fn import(store: &Path, file: &Path) {
    let store = Store::open(store).expect("the store can be opened");
    let totals = store
        .import(&[file], &ImportOptions::default(), &mut ())
        .expect("the session can be imported");
    assert_eq!(totals.imported, 1, "the file was imported");
}
