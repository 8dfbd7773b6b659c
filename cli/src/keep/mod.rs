//! `leafline keep`: from now on nothing that the programs write is lost to their own clean-up.

mod change;
mod hook;
mod mark;
mod service;
mod settings;
mod status;
mod task;

use std::path::PathBuf;

use leafline::Family;

use self::change::Step;
use self::service::Manager;
use super::confirmation;
use super::failure::{Failure, complain, usage};
use super::output::Output;
use super::place::{Place, quoted, shown};
use super::{Status, text};

const EXAMPLES: &str = "\
Examples:
  leafline keep on
  leafline keep status
  leafline keep on --hook --yes";

/// Keep what the programs write, from now on
///
/// `on` has the system run `leafline sync --watch` for this store as a service of yours: new lines of all programs are stored
/// some 50 ms after they were written, and stay when a program deletes its files. With --hook, Claude Code runs `leafline sync`
/// at the end of each of its sessions instead, where no service can run. `off` takes out what `on` has put in, and nothing
/// else. `status` says what is installed, what was seen, and what is behind.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    On(On),
    Off(Off),
    Status(StatusArguments),
}

/// Begin to keep: show what is written and run, ask, and do it
///
/// The service is a unit of systemd in ~/.config/systemd/user, an agent of launchd in ~/Library/LaunchAgents, or on Windows a
/// scheduled task of yours, whose description is kept in %LOCALAPPDATA%\leafline. It names this
/// program, this store and the folders that the programs' variables (CLAUDE_CONFIG_DIR and the like) name now; run this again
/// when one of them has changed. The hook is a group of SessionEnd in Claude Code's settings.json, of which every other byte
/// stays. Where systemd cannot be asked, as in most containers, nothing is written, and the line to run is shown.
///
/// Exit status: 0 if it is on, 1 if it is not, 2 if it was only shown because nobody could be asked.
#[derive(Debug, clap::Args)]
struct On {
    /// Put a hook into Claude Code's settings instead of installing a service
    #[arg(long)]
    hook: bool,

    /// Do it without asking
    #[arg(short, long)]
    yes: bool,

    /// Who runs the service, in place of what this system has
    #[arg(long, hide = true, conflicts_with = "hook")]
    manager: Option<Manager>,
}

/// Stop keeping: take out the service and the hook
///
/// What was changed by hand since `on` wrote it is left as it is, and reported. The store and its sessions stay.
#[derive(Debug, clap::Args)]
struct Off {
    /// Who runs the service, in place of what this system has
    #[arg(long, hide = true)]
    manager: Option<Manager>,
}

/// Say what is installed, what was seen and when, and what is behind
///
/// Judges files by size and time, as a sync does. A file is behind if the store does not have it as it is: it is new, or has
/// grown, or was rewritten. The last column is the session whose file was written last, of those that the store has. `only
/// here` counts the sessions whose files are gone. Where no service can run and no hook is installed, the line to run is shown.
///
/// Exit status: 0 if the service runs or the hook is installed, 1 if neither.
#[derive(Debug, clap::Args)]
struct StatusArguments {
    /// Who runs the service, in place of what this system has
    #[arg(long, hide = true)]
    manager: Option<Manager>,
}

/// What a service or a hook is told.
#[derive(Debug)]
struct Setting {
    /// This program.
    program: String,
    /// The store's file.
    store: String,
    /// The programs' variables that are set.
    variables: Vec<(String, String)>,
    home: PathBuf,
    /// True if the paths are only shown: then they need not be UTF-8.
    is_shown: bool,
}

/// A path as a service or a hook is told it. What is not text is an error, unless it is only shown.
fn text_of(path: PathBuf, is_shown: bool) -> Result<String, Failure> {
    path.into_os_string().into_string().or_else(|name| {
        let name = name.to_string_lossy().into_owned();
        if is_shown { Ok(name) } else { Err(Failure::KeepName { name }) }
    })
}

impl Setting {
    fn of(place: &Place, is_shown: bool) -> Result<Self, Failure> {
        let text = |path: PathBuf| text_of(path, is_shown);
        // Without /proc Linux does not say it.
        let program = std::env::current_exe().or_else(|source| {
            let path = PathBuf::from("leafline");
            if is_shown { Ok(path) } else { Err(Failure::KeepFile { path, source }) }
        })?;
        let store = std::path::absolute(place.path()?).map_err(Failure::NoCurrentDirectory)?;
        let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
        let mut variables: Vec<(String, String)> = Vec::new();
        for name in Family::ALL.iter().flat_map(|family| family.folder_variables()) {
            let value = std::env::var_os(name).filter(|value| !value.is_empty());
            if let Some(value) = value
                && variables.iter().all(|(known, _)| known != name)
            {
                variables.push(((*name).to_owned(), text(value.into())?));
            }
        }
        Ok(Self {
            program: text(program)?,
            store: text(store)?,
            variables,
            home: home.ok_or(Failure::NoHomeFolder)?,
            is_shown,
        })
    }

    /// The arguments of the service's program.
    fn arguments(&self) -> Vec<String> {
        ["--store", &self.store, "sync", "--watch", "--quiet"].map(str::to_owned).to_vec()
    }

    /// The line that does without a service.
    fn line(&self, manager: Manager) -> String {
        if manager == Manager::Tasks {
            return task::line(self);
        }
        format!("nohup {} >/dev/null 2>&1 &", self.words(quoted))
    }

    /// The program and its arguments, each quoted.
    fn words(&self, quote: impl Fn(&str) -> String) -> String {
        let arguments = self.arguments();
        let words = std::iter::once(&self.program).chain(&arguments).map(|word| quote(word));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Turns it on or off, or says how it is.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let setting = Setting::of(place, matches!(arguments.action, Action::Status(_)))?;
    match &arguments.action {
        Action::On(arguments) => on(arguments, &setting, out),
        Action::Off(arguments) => off(arguments.manager, &setting, out),
        Action::Status(arguments) => {
            let manager = arguments.manager.unwrap_or_else(Manager::of_system);
            status::run(manager, &setting, place, out)
        }
    }
}

fn on(arguments: &On, setting: &Setting, out: &mut Output) -> Result<Status, Failure> {
    let steps = if arguments.hook {
        hook::put_in(setting, out)?
    } else {
        let manager = arguments.manager.unwrap_or_else(Manager::of_system);
        if !manager.runs() {
            return without_service(manager, setting, out);
        }
        install(manager, setting)?
    };
    if steps.is_empty() {
        if !out.is_json() {
            out.line(format_args!("it is on already; nothing was changed"))?;
        }
        return Ok(Status::Done);
    }
    change::show(&steps, out)?;
    if !arguments.yes {
        if !confirmation::can_be_asked() {
            return Err(usage("nothing was written or run; --yes does it without a question"));
        }
        if !confirmation::is_given("", "do this?")? {
            complain("nothing was written or run");
            return Ok(Status::Failed);
        }
    }
    change::carry_out(&steps, out)?;
    if arguments.hook {
        out.remark("leafline: it is on for sessions that end from now on; `leafline sync` imports what is there".to_owned());
    } else if arguments.manager.unwrap_or_else(Manager::of_system) == Manager::Systemd {
        out.remark("leafline: it is on, and runs while you are logged in; `loginctl enable-linger` lets it run beyond".to_owned());
    }
    Ok(Status::Done)
}

/// What installs the service; nothing if it is installed as it would be, and runs.
fn install(manager: Manager, setting: &Setting) -> Result<Vec<Step>, Failure> {
    let path = change::real(&manager.path(&setting.home))?;
    let (old, new) = (change::read(&path)?, manager.text(setting)?);
    if old.as_ref().is_some_and(|old| !manager.is_own(old)) {
        return Err(Failure::KeepEdited { path });
    }
    let is_same = old.as_ref() == Some(&new);
    if is_same && manager.state(setting)?.running {
        return Ok(Vec::new());
    }
    let start = manager.start(&path);
    let write = (!is_same).then(|| Step::write(path, old, new));
    Ok(write.into_iter().chain(start).collect())
}

/// Says what to do where no service can be installed.
fn without_service(
    manager: Manager,
    setting: &Setting,
    out: &mut Output,
) -> Result<Status, Failure> {
    let line = setting.line(manager);
    let time = manager.time_of_line();
    complain(&format!(
        "{} cannot be asked to run a service here, and nothing was written. This line does the same {time}; `leafline keep on --hook` has Claude Code do it at the end of each session:",
        manager.name()
    ));
    if out.is_json() {
        out.json(&serde_json::json!({"line": line}))?;
    } else {
        out.line(format_args!("{}", text::printable(&line)))?;
    }
    Ok(Status::Failed)
}

fn off(manager: Option<Manager>, setting: &Setting, out: &mut Output) -> Result<Status, Failure> {
    let manager = manager.unwrap_or_else(Manager::of_system);
    let (mut steps, mut edited) = (Vec::new(), Vec::new());
    let path = manager.path(&setting.home);
    match change::read(&path)? {
        Some(text) if manager.is_own(&text) => steps.extend(manager.remove(&path)),
        Some(_) => edited.push(path),
        None => {}
    }
    match hook::take_out()? {
        hook::Taken::Nothing => {}
        hook::Taken::Step(step) => steps.push(step),
        hook::Taken::Edited(path) => edited.push(path),
    }
    if steps.is_empty() && edited.is_empty() && !out.is_json() {
        out.line(format_args!("it was not on; nothing was changed"))?;
    }
    if out.is_json() {
        change::show(&steps, out)?;
    }
    change::carry_out(&steps, out)?;
    for path in &edited {
        complain(&format!(
            "{} was changed by hand since `leafline keep on` wrote it, and stays as it is",
            shown(path)
        ));
    }
    Ok(if edited.is_empty() { Status::Done } else { Status::Failed })
}
