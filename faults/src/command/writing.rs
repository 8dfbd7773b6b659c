//! The commands that write.

use super::case::{Case, USUAL};
use super::driving::Input;
use super::judge::{Rule, Told};
use super::stock;

/// An entry of pi's and omp's.
const ENTRY: &str = r#"{"type":"message","message":{"role":"user","content":"one"}}"#;

/// Entries for a stream, some with an image.
pub(super) const ENTRIES: &str = include_str!("entries.jsonl");

/// Lines of a session of Claude Code's, as the program writes them.
const LINES: &str = include_str!("lines.jsonl");

/// A whole file.
const FILE: &str = concat!(
    r#"{"type":"session","version":3,"id":"piped","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/work/piped"}"#,
    "\n",
    include_str!("lines.jsonl")
);

/// What a client asks of a server.
const REQUESTS: &str = include_str!("requests.jsonl");

/// All of them.
#[must_use]
pub fn cases() -> Vec<Case> {
    [imports(), sessions(), entries(), copies(), upkeep(), services()].concat()
}

fn imports() -> Vec<Case> {
    let import = Case { rule: Rule::Each, told: Told::Reports, ..USUAL };
    vec![
        Case {
            name: "import, new store",
            arguments: "import files --json",
            prepare: stock::no_store,
            ..import.clone()
        },
        Case { name: "import", arguments: "import files --json", ..import.clone() },
        Case {
            name: "import, replaced",
            arguments: "import kept --replace --json",
            prepare: stock::changed_files,
            ..import.clone()
        },
        Case {
            name: "import from standard input",
            arguments: "import - --json",
            input: Input::Whole(FILE),
            ..import.clone()
        },
        Case {
            name: "import, journal left",
            arguments: "import files --json",
            prepare: stock::journal,
            ..import.clone()
        },
        Case {
            name: "sync, new store",
            arguments: "sync files --json",
            prepare: stock::no_store,
            ..import.clone()
        },
        Case {
            name: "sync, grown files",
            arguments: "sync kept --json",
            prepare: stock::changed_files,
            ..import.clone()
        },
        Case {
            name: "sync, merged",
            arguments: "sync kept --json",
            prepare: stock::changed_on_both_sides,
            shows: "export kept",
            merges: stock::KEPT,
            ..import.clone()
        },
        Case {
            name: "sync --watch",
            arguments: "sync kept --watch --verbose --json",
            input: Input::Interrupted(stock::CHANGED_FILES),
            prepare: stock::changed_files,
            ..import
        },
    ]
}

fn sessions() -> Vec<Case> {
    let new = Case { told: Told::Sessions, repeats: true, ..USUAL };
    vec![
        Case {
            name: "new, new store",
            arguments: "new --cwd /work/new",
            prepare: stock::no_store,
            ..new.clone()
        },
        Case {
            name: "new, omp",
            arguments: "new --family omp --title A\\_title --cwd /work/new",
            ..new.clone()
        },
        Case { name: "fork", arguments: "fork pi-live --cwd /work/new", ..new.clone() },
        Case { name: "fork, images", arguments: "fork kept --cwd /work/new", ..new.clone() },
        Case { name: "extract", arguments: "extract omp-live @leaf", ..new },
        Case {
            name: "rm",
            arguments: "rm pi-live --json",
            told: Told::Reports,
            is_refused_again: true,
            ..USUAL
        },
        Case {
            name: "rm, several, indexed",
            arguments: "rm --family omp --yes --json",
            prepare: stock::indexed,
            told: Told::Reports,
            is_refused_again: true,
            shows: "search --json the",
            ..USUAL
        },
        Case { name: "move", arguments: "move pi-live /work/moved", ..USUAL },
        Case {
            name: "relocate",
            arguments: "relocate /usr/share /work/moved",
            is_refused_again: true,
            ..USUAL
        },
        Case { name: "name, omp", arguments: "name --set Mine omp-live", ..USUAL },
    ]
}

fn entries() -> Vec<Case> {
    let append = Case { rule: Rule::Lines, told: Told::Entries("pi-live"), repeats: true, ..USUAL };
    let stream = Case { input: Input::Whole(ENTRIES), ..append.clone() };
    vec![
        Case {
            name: "append",
            arguments: "append pi-live",
            input: Input::Whole(ENTRY),
            ..append.clone()
        },
        Case { name: "append, each", arguments: "append pi-live --sync each", ..stream.clone() },
        Case { name: "append, batch", arguments: "append pi-live --sync batch", ..stream.clone() },
        Case { name: "append, stream", arguments: "append pi-live", ..stream.clone() },
        Case {
            name: "append, omp",
            arguments: "append omp-live --sync each",
            told: Told::Entries("omp-live"),
            ..stream.clone()
        },
        Case {
            name: "append, journal left",
            arguments: "append pi-live --sync each",
            prepare: stock::journal,
            ..stream.clone()
        },
        Case {
            name: "append, lines",
            arguments: "append pi-live --lines --ignore-repeated",
            input: Input::Whole(LINES),
            told: Told::All,
            repeats: false,
            ..append.clone()
        },
        Case {
            name: "append, lines, each",
            arguments: "append pi-live --lines --sync each --ignore-repeated",
            input: Input::Whole(LINES),
            told: Told::All,
            repeats: false,
            ..append.clone()
        },
        Case {
            name: "branch with a summary",
            arguments: "branch kept raw2 --summary Tried",
            told: Told::Entries("kept"),
            ..append.clone()
        },
        Case {
            name: "label",
            arguments: "label kept raw2 cause",
            told: Told::Entries("kept"),
            ..append.clone()
        },
        Case { name: "name, pi", arguments: "name --set Mine pi-live", ..append },
        Case { name: "reset-leaf", arguments: "reset-leaf pi-live", ..USUAL },
        Case { name: "branch", arguments: "branch kept raw2", ..USUAL },
        Case { name: "history add", arguments: "history add one\\_more --cwd /work", ..USUAL },
        Case {
            name: "history import",
            arguments: "history import prompts.db",
            prepare: stock::omp_prompts,
            told: Told::Nothing,
            rule: Rule::Each,
            ..USUAL
        },
        Case {
            name: "history export",
            arguments: "history export made.db",
            told: Told::Nothing,
            ..USUAL
        },
    ]
}

fn copies() -> Vec<Case> {
    let files = Case { rule: Rule::Each, told: Told::Reports, ..USUAL };
    vec![
        Case { name: "export, folder", arguments: "export --all -o out --json", ..files.clone() },
        Case {
            name: "export, folder again",
            arguments: "export --all -o out --json",
            prepare: stock::exported,
            ..files.clone()
        },
        Case {
            name: "export, file",
            arguments: "export pi-live -o out.jsonl --json",
            ..files.clone()
        },
        Case {
            name: "export, source",
            arguments: "export --to-source pi-live --json",
            ..files.clone()
        },
        Case {
            name: "export, source, merged",
            arguments: "export --to-source kept --json",
            prepare: stock::changed_in_its_program,
            shows: "export kept",
            merges: stock::KEPT_AT_HOME,
            ..files.clone()
        },
        Case {
            name: "export, references",
            arguments: "export --all -o out --as refs --blobs blobs --json",
            ..files.clone()
        },
        Case {
            name: "export, page",
            arguments: "export omp-live --as html -o out.html --json",
            // Reports are of files that have a session's lines.
            told: Told::All,
            ..files
        },
        Case { name: "resume", arguments: "resume pi-live", ..USUAL },
        Case { name: "backup", arguments: "backup saved.leafline", ..USUAL },
        Case {
            name: "backup again",
            arguments: "backup saved.leafline",
            prepare: stock::backed_up,
            ..USUAL
        },
        Case {
            name: "backup, compared",
            arguments: "backup saved.leafline --compare-all",
            prepare: stock::backed_up,
            ..USUAL
        },
        Case {
            name: "backup, journal left",
            arguments: "backup saved.leafline",
            prepare: stock::journal,
            ..USUAL
        },
        Case {
            name: "salvage",
            arguments: "salvage store.leafline -o saved.leafline",
            is_refused_again: true,
            ..USUAL
        },
    ]
}

fn upkeep() -> Vec<Case> {
    vec![
        Case { name: "compact", arguments: "compact", prepare: stock::holes, ..USUAL },
        Case {
            name: "compact, waiting",
            arguments: "compact --wait=5",
            prepare: stock::holes,
            ..USUAL
        },
        Case {
            name: "compact, journal left",
            arguments: "compact",
            prepare: stock::journal,
            ..USUAL
        },
        Case {
            name: "compact, in place",
            arguments: "compact --in-place",
            prepare: stock::holes,
            ..USUAL
        },
        Case { name: "repair, whole store", arguments: "repair --rebuild", ..USUAL },
        Case {
            name: "repair, journal left",
            arguments: "repair --rebuild",
            prepare: stock::journal,
            ..USUAL
        },
        Case {
            name: "repair, damaged store",
            arguments: "repair --json",
            prepare: stock::damaged,
            told: Told::Nothing,
            is_damaged: true,
            ..USUAL
        },
        Case {
            name: "index",
            arguments: "index",
            told: Told::Nothing,
            shows: "search --json the",
            ..USUAL
        },
        Case {
            name: "index, again",
            arguments: "index",
            prepare: stock::half_indexed,
            told: Told::Nothing,
            shows: "search --json the",
            ..USUAL
        },
        Case {
            name: "index, rebuilt",
            arguments: "index --rebuild",
            prepare: stock::indexed,
            told: Told::Nothing,
            shows: "search --json the",
            ..USUAL
        },
        Case {
            name: "search, indexing",
            arguments: "search --json the",
            prepare: stock::half_indexed,
            told: Told::Nothing,
            shows: "search --json the",
            ..USUAL
        },
    ]
}

fn services() -> Vec<Case> {
    let keep = Case { told: Told::Nothing, ..USUAL };
    vec![
        Case { name: "keep on", arguments: "keep on --manager systemd --yes", ..keep.clone() },
        Case {
            name: "keep on, hook",
            arguments: "keep on --hook --yes",
            prepare: stock::settings,
            ..keep.clone()
        },
        Case {
            name: "keep off",
            arguments: "keep off --manager systemd",
            prepare: stock::kept_on,
            ..keep
        },
        Case { name: "man", arguments: "man out", prepare: stock::old_pages, ..USUAL },
        Case {
            name: "mcp",
            arguments: "mcp --write",
            input: Input::Requests(REQUESTS),
            rule: Rule::Each,
            told: Told::Answers(&[(2, "pi-live"), (3, "kept")]),
            repeats: true,
            ..USUAL
        },
    ]
}
