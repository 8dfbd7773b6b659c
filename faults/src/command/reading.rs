//! The commands that only read.

use super::case::{Case, USUAL};
use super::judge::Told;
use super::stock;

/// All of them.
#[must_use]
pub fn cases() -> Vec<Case> {
    let reading = Case { told: Told::Nothing, reads: true, ..USUAL };
    let plain = [
        ("ls", "ls --json"),
        ("ls --gone", "ls --gone --json"),
        ("show", "show pi-live --json"),
        ("tree", "tree omp-live --json"),
        ("path", "path pi-live"),
        ("children", "children kept raw2 --json"),
        ("context", "context omp-live"),
        ("export to standard output", "export pi-live omp-live"),
        ("history recent", "history recent --json"),
        ("history search", "history search buil --json"),
        ("verify", "verify --json"),
        ("verify a session", "verify omp-live"),
        ("stats", "stats --json"),
        ("stats of a session", "stats pi-live --json"),
        ("usage", "usage --by session --json"),
        ("secrets", "secrets --json"),
        ("Markdown to standard output", "export pi-live --as md"),
        ("page to standard output", "export omp-live --as html"),
    ];
    let mut cases: Vec<Case> = Vec::new();
    for (name, arguments) in plain {
        cases.push(Case { name, arguments, ..reading.clone() });
    }
    cases.push(Case {
        name: "ls, journal left",
        arguments: "ls --json",
        prepare: stock::journal,
        ..reading.clone()
    });
    cases.push(Case {
        name: "path, journal left",
        arguments: "path pi-live",
        prepare: stock::journal,
        ..reading.clone()
    });
    cases.push(Case {
        name: "search",
        arguments: "search --json the",
        prepare: stock::indexed,
        ..reading
    });
    cases
}
