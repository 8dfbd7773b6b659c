//! `leafline man`.

use std::path::PathBuf;

use clap::CommandFactory;

use super::Status;
use super::failure::Failure;

/// Write the manual pages
///
/// Writes a page for the command and for each of its subcommands into a folder, leafline.1, leafline-import.1 and so on,
/// and makes the folder. `man` finds them below man1 in a folder of MANPATH, such as ~/.local/share/man.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline man ~/.local/share/man/man1")]
pub(super) struct Arguments {
    /// The folder
    folder: PathBuf,
}

/// Writes the pages.
pub(super) fn run(arguments: &Arguments) -> Result<Status, Failure> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(super::arguments::Arguments::command(), folder))
        .map_err(|source| Failure::Manual { path: folder.clone(), source })?;
    Ok(Status::Done)
}
