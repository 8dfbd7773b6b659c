//! The rules that pi and omp share.

use std::io::{self, BufRead};
use std::path::PathBuf;

use crate::family::{Family, Migration};
use crate::file_name::{FileName, shorten};
use crate::migration::{Migrate, MigrateLines, Migrated};
use crate::pi_omp::forward::forward_references_in;
use crate::pi_omp::{Detection, HeaderFacts, Migrator, NotASession, detect};
use crate::start::{Refusal, Start};
use crate::time::format_timestamp;
use crate::view::{self, View};
use crate::writing::Rules;

/// How pi and omp rewrite a file of an earlier version: see [`Migrator`].
#[derive(Debug, Clone)]
pub struct VersionMigration {
    header: HeaderFacts,
    reads_first_record: bool,
    /// The changes that the program makes to each entry that it writes.
    rules: Rules,
}

impl Migrate for VersionMigration {
    type Lines = Migrator;

    fn begin<R: BufRead>(&self, open: impl FnOnce() -> io::Result<R>) -> io::Result<Migrator> {
        let migrator = Migrator::new(&self.header)
            .reading_first_records(self.reads_first_record)
            .with_rules(self.rules);
        if !self.header.version.needs_tree() {
            return Ok(migrator);
        }
        Ok(migrator
            .with_forward_references(forward_references_in(open()?, self.reads_first_record)?))
    }
}

impl MigrateLines for Migrator {
    fn migrate_line(&mut self, text: &str, out: &mut Vec<u8>) -> Migrated {
        Self::migrate_line(self, text, out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Migrated {
        Self::finish(self, out)
    }
}

/// Detects whether a file is the family's; `migration` turns the shared migration into the family's. A file that shows
/// neither family is pi's.
pub(crate) fn start(
    family: Family,
    (prefix, is_chosen, complete): (&[u8], bool, bool),
    migration: fn(VersionMigration) -> Migration,
) -> Result<Start, Refusal> {
    let choice = is_chosen.then_some(family);
    let Detection { family: found, version, needs_migration, header } =
        detect(prefix, choice, complete).map_err(|reason| Refusal {
            is_undecided: matches!(reason, NotASession::PrefixTooShort { .. }),
            is_certain: false,
            reason: reason.to_string(),
        })?;
    if found != family {
        let reason = format!("it is one of {}", found.program());
        return Err(Refusal { is_undecided: false, is_certain: false, reason });
    }
    Ok(Start {
        id: Some(header.id.clone()),
        version: version.number().to_string(),
        format_version: version.whole(),
        cwd: header.cwd.clone(),
        title: header.title.clone(),
        parent_session: header.parent_session.clone(),
        created_ms: header.timestamp_ms,
        migration: needs_migration.then(|| {
            let reads_first_record = family.reads_first_record();
            let rules = family.rules();
            migration(VersionMigration { header, reads_first_record, rules })
        }),
        ..Start::new(family)
    })
}

/// The path of a session's file: `--<cwd>--/<time>_<id>.jsonl` (pi and omp documents, file location).
pub(crate) fn file_path(name: &FileName<'_>) -> PathBuf {
    PathBuf::from(folder_name(name.cwd)).join(file_name(name))
}

/// Whether it is a file in the folder of a project, and is named by the session's id.
pub(crate) fn is_file_path(name: &FileName<'_>, below: &[&str]) -> bool {
    let [folder, file] = below else { return false };
    let ending = format!("_{}.jsonl", name.plain_id());
    folder.starts_with('-') && (file.ends_with(&ending) || *file == name.of_id())
}

/// The folder of a session: its working directory without the leading slash, with `/`, `\` and `:` as `-`,
/// between two dashes (pi and omp documents, file location).
pub(crate) fn folder_name(cwd: Option<&str>) -> String {
    let cwd = cwd.unwrap_or_default();
    let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    let encoded = inner.replace(['/', '\\', ':'], "-");
    let printable = encoded.replace(|character: char| character.is_control(), "-");
    format!("--{}--", shorten(&printable))
}

/// The file name of a session: the header's time with `:` and `.` as `-`, `_`, and the id; only the id if the header
/// states no time.
fn file_name(name: &FileName<'_>) -> String {
    match name.created_ms {
        Some(time) => {
            let time = format_timestamp(time).replace([':', '.'], "-");
            format!("{time}_{}.jsonl", name.plain_id())
        }
        None => name.of_id(),
    }
}

/// A message as the model is sent it.
pub(crate) fn view_message(message: &str) -> View {
    view::pi_omp(&format!(r#"{{"type":"message","message":{message}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_the_documents() {
        assert_eq!(folder_name(Some("/home/me/project")), "--home-me-project--");
        assert_eq!(folder_name(Some("C:\\work")), "--C--work--");
        assert_eq!(folder_name(None), "----");
        assert_eq!(folder_name(Some("/../../etc")), "--..-..-etc--");
    }
}
