//! Importing one session file into a new store, until it is on disk, compared with SQLite, a copy of the file, and
//! loading it into memory; and a Claude Code session of the same size.

mod support;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};

use leafline_generate::{Family, Shape};
use support::jsonl_baseline::LoadedSession;
use support::leafline_store::{self, Ending};
use support::sampling::{time_in_fresh_folders, whole_file_group};
use support::session_file::SessionFile;
use support::size::session_bytes;
use support::{copy_baseline, sqlite_baseline};

fn import(criterion: &mut Criterion) {
    let file = SessionFile::make();
    let mut group = whole_file_group(criterion, "import", file.bytes());
    group.bench_function("leafline", |bencher| {
        bencher.iter_custom(|iterations| {
            time_in_fresh_folders(iterations, |path| {
                leafline_store::import(&file, path, Ending::AsItIs);
            })
        });
    });
    group.bench_function("leafline, compacted", |bencher| {
        bencher.iter_custom(|iterations| {
            time_in_fresh_folders(iterations, |path| {
                leafline_store::import(&file, path, Ending::Compacted);
            })
        });
    });
    group.bench_function("sqlite", |bencher| {
        bencher.iter_custom(|iterations| {
            time_in_fresh_folders(iterations, |path| sqlite_baseline::import(&file, path))
        });
    });
    group.bench_function("copy and sync", |bencher| {
        bencher.iter_custom(|iterations| {
            time_in_fresh_folders(iterations, |path| {
                copy_baseline::copy_and_sync(file.path(), path);
            })
        });
    });
    group.bench_function("jsonl reload", |bencher| {
        bencher.iter_with_large_drop(|| black_box(LoadedSession::load(file.path())).len());
    });
    group.finish();
}

fn import_claude(criterion: &mut Criterion) {
    let shape = Shape { family: Family::Claude, bytes: session_bytes(), ..Shape::default() };
    let file = SessionFile::of_shape(&shape);
    let mut group = whole_file_group(criterion, "import claude", file.bytes());
    for (name, ending) in [("leafline", Ending::AsItIs), ("leafline, compacted", Ending::Compacted)]
    {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                time_in_fresh_folders(iterations, |path| {
                    leafline_store::import(&file, path, ending);
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, import, import_claude);
criterion_main!(benches);
