//! Exporting the imported bytes from the store, compared with SQLite and with reading the file itself.

mod support;

use std::io::sink;

use criterion::{Criterion, criterion_group, criterion_main};

use support::copy_baseline;
use support::leafline_store::{self, ImportedStore};
use support::sampling::whole_file_group;
use support::session_file::SessionFile;
use support::sqlite_baseline::{self, ImportedDatabase};

fn export(criterion: &mut Criterion) {
    let file = SessionFile::make();
    let imported = ImportedStore::make(&file);
    let database = ImportedDatabase::make(&file);
    let session = file.session_id();
    let mut group = whole_file_group(criterion, "export", file.bytes());
    group.bench_function("leafline", |bencher| {
        bencher.iter(|| {
            let written = leafline_store::export(&imported.path(), &session, &mut sink());
            assert_eq!(written, file.bytes(), "every byte came out");
        });
    });
    group.bench_function("sqlite", |bencher| {
        bencher.iter(|| {
            let written = sqlite_baseline::export(&database.path(), &mut sink());
            assert_eq!(written, file.bytes(), "every byte came out");
        });
    });
    group.bench_function("the file itself", |bencher| {
        bencher.iter(|| {
            let read = copy_baseline::read_through(file.path(), &mut sink());
            assert_eq!(read, file.bytes(), "every byte was read");
        });
    });
    group.finish();
}

criterion_group!(benches, export);
criterion_main!(benches);
