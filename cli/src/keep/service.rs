//! The service that keeps the store in step: a unit of systemd, an agent of launchd, or a task of Windows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Setting;
use super::change::Step;
use super::mark::{is_as_marked, marked};
use super::task::{self, TASK};
use crate::failure::Failure;
use crate::place::shown;

/// The unit's name.
const UNIT: &str = "leafline.service";

/// The agent's name.
const LABEL: &str = "leafline.keep";

/// Seconds until a service that failed is started again.
const PAUSE: u32 = 30;

/// Who runs services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Manager {
    /// systemd, for the user.
    Systemd,
    /// launchd, for the user's session.
    Launchd,
    /// The task scheduler of Windows.
    Tasks,
}

/// What is known of the service.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct State {
    pub(super) manager: &'static str,
    pub(super) path: String,
    /// Whether the file is there.
    pub(super) installed: bool,
    /// Whether it was changed by hand since `keep on` wrote it.
    pub(super) edited: bool,
    /// Whether it is what `keep on` would write now: for this program, this store and these folders.
    pub(super) current: bool,
    /// Whether it runs.
    pub(super) running: bool,
    /// What its manager says of it.
    pub(super) state: Option<String>,
    /// Since when it runs, in its manager's words.
    pub(super) since: Option<String>,
}

impl Manager {
    /// The one of this system.
    pub(super) fn of_system() -> Self {
        if cfg!(windows) {
            Self::Tasks
        } else if cfg!(target_os = "macos") {
            Self::Launchd
        } else {
            Self::Systemd
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
            Self::Tasks => "the task scheduler",
        }
    }

    /// How long the line works that does without it.
    pub(super) fn time_of_line(self) -> &'static str {
        match self {
            Self::Systemd | Self::Launchd => "until the machine stops",
            Self::Tasks => "as long as its window is open",
        }
    }

    /// Whether it can be asked: in a container there is often none.
    pub(super) fn runs(self) -> bool {
        match self {
            Self::Systemd => answer("systemctl", &["--user", "show-environment"]).is_some(),
            Self::Launchd => answer("launchctl", &["version"]).is_some(),
            Self::Tasks => answer("schtasks", &["/?"]).is_some(),
        }
    }

    /// Where the service's file is.
    pub(super) fn path(self, home: &Path) -> PathBuf {
        match self {
            Self::Systemd => {
                let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
                let named = named.filter(|folder| folder.is_absolute());
                named.unwrap_or_else(|| home.join(".config")).join("systemd/user").join(UNIT)
            }
            Self::Launchd => home.join("Library/LaunchAgents").join(format!("{LABEL}.plist")),
            Self::Tasks => {
                let named = std::env::var_os("LOCALAPPDATA").map(PathBuf::from);
                let named = named.filter(|folder| folder.is_absolute());
                let folder = named.unwrap_or_else(|| home.join("AppData").join("Local"));
                folder.join("leafline").join(format!("{TASK}.xml"))
            }
        }
    }

    /// The service's file.
    pub(super) fn text(self, setting: &Setting) -> Result<String, Failure> {
        let text = match self {
            Self::Systemd => unit(setting),
            Self::Launchd => agent(setting)?,
            Self::Tasks => task::text(setting, &user())?,
        };
        let (at, around) = self.place_of_mark();
        Ok(marked(&text, at, around))
    }

    /// Whether a file is as [`Self::text`] made it, for whatever setting.
    pub(super) fn is_own(self, text: &str) -> bool {
        let (at, around) = self.place_of_mark();
        is_as_marked(text, at, around)
    }

    fn place_of_mark(self) -> (usize, (&'static str, &'static str)) {
        match self {
            Self::Systemd => (0, ("# ", "")),
            Self::Launchd | Self::Tasks => (1, ("<!-- ", " -->")),
        }
    }

    /// What starts the service, once its file is there.
    pub(super) fn start(self, path: &Path) -> Vec<Step> {
        match self {
            Self::Systemd => vec![
                Step::run("systemctl", &["--user", "daemon-reload"]),
                Step::run("systemctl", &["--user", "enable", UNIT]),
                Step::run("systemctl", &["--user", "restart", UNIT]),
            ],
            Self::Launchd => {
                let domain = domain();
                vec![
                    Step::try_to_run("launchctl", &["bootout", &format!("{domain}/{LABEL}")]),
                    Step::run("launchctl", &["bootstrap", &domain, &shown(path)]),
                ]
            }
            Self::Tasks => vec![
                Step::try_to_run("schtasks", &["/End", "/TN", TASK]),
                Step::run("schtasks", &["/Create", "/TN", TASK, "/XML", &shown(path), "/F"]),
                Step::run("schtasks", &["/Run", "/TN", TASK]),
            ],
        }
    }

    /// What stops the service and takes it out.
    pub(super) fn remove(self, path: &Path) -> Vec<Step> {
        let file = Step::Remove { path: path.to_owned() };
        match self {
            Self::Systemd if self.runs() => vec![
                Step::try_to_run("systemctl", &["--user", "disable", "--now", UNIT]),
                file,
                Step::try_to_run("systemctl", &["--user", "daemon-reload"]),
            ],
            Self::Systemd => {
                // What `enable` made, where nobody is there to undo it.
                let wanted = path.with_file_name("default.target.wants").join(UNIT);
                let link = wanted.is_symlink().then_some(Step::Remove { path: wanted });
                link.into_iter().chain([file]).collect()
            }
            Self::Launchd => {
                let name = format!("{}/{LABEL}", domain());
                vec![Step::try_to_run("launchctl", &["bootout", &name]), file]
            }
            Self::Tasks => vec![
                Step::try_to_run("schtasks", &["/End", "/TN", TASK]),
                Step::try_to_run("schtasks", &["/Delete", "/TN", TASK, "/F"]),
                file,
            ],
        }
    }

    /// What is installed, and whether it runs.
    pub(super) fn state(self, setting: &Setting) -> Result<State, Failure> {
        let path = self.path(&setting.home);
        let text = match std::fs::read(&path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(source) => return Err(Failure::KeepFile { path, source }),
        };
        let asked = text.as_ref().and_then(|_| self.ask());
        let (state, since) = asked.map_or((None, None), |(state, since)| (Some(state), since));
        Ok(State {
            manager: self.name(),
            path: shown(&path),
            installed: text.is_some(),
            edited: text.as_ref().is_some_and(|text| !self.is_own(text)),
            current: text.as_ref() == Some(&self.text(setting)?),
            running: matches!(state.as_deref(), Some("active" | "running" | "Running")),
            state,
            since,
        })
    }

    /// What it says of the service.
    fn ask(self) -> Option<(String, Option<String>)> {
        let of = |told: &str, name: &str, between: &str| -> Option<String> {
            let value = told.lines().find_map(|line| {
                line.trim().strip_prefix(name)?.trim_start().strip_prefix(between)
            })?;
            Some(value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        match self {
            Self::Systemd => {
                let names = "--property=ActiveState,ActiveEnterTimestamp";
                let told = answer("systemctl", &["--user", "show", UNIT, names])?;
                Some((of(&told, "ActiveState", "=")?, of(&told, "ActiveEnterTimestamp", "=")))
            }
            Self::Launchd => {
                let told = answer("launchctl", &["print", &format!("{}/{LABEL}", domain())])?;
                Some((of(&told, "state", "=")?, None))
            }
            // What `schtasks` says is in the user's language.
            Self::Tasks => {
                let state = format!("(Get-ScheduledTask -TaskName {TASK}).State");
                let arguments = ["-NoProfile", "-NonInteractive", "-Command", &state];
                let told = answer("powershell", &arguments)?;
                Some(told.trim().to_owned()).filter(|state| !state.is_empty()).map(|it| (it, None))
            }
        }
    }
}

/// What a program prints, if it is there and succeeds.
fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The session of launchd that the user's agents belong to.
fn domain() -> String {
    format!("gui/{}", answer("id", &["-u"]).unwrap_or_default().trim())
}

/// The user whom a task is of, with the domain.
fn user() -> String {
    answer("whoami", &[]).unwrap_or_default().trim().to_owned()
}

fn unit(setting: &Setting) -> String {
    let mut command = vec![in_unit(&setting.program, false)];
    command.extend(setting.arguments().iter().map(|argument| in_unit(argument, true)));
    let mut lines = vec![
        "# `leafline keep off` takes this out.".to_owned(),
        "[Unit]".to_owned(),
        "Description=Leafline keeps the sessions of coding agents".to_owned(),
        String::new(),
        "[Service]".to_owned(),
        // A program that cannot be run fails the start.
        "Type=exec".to_owned(),
        format!("ExecStart={}", command.join(" ")),
    ];
    for (name, value) in &setting.variables {
        lines.push(format!("Environment={}", in_unit(&format!("{name}={value}"), false)));
    }
    lines.extend([
        "Restart=on-failure".to_owned(),
        format!("RestartSec={PAUSE}"),
        "Nice=10".to_owned(),
        String::new(),
        "[Install]".to_owned(),
        "WantedBy=default.target".to_owned(),
        String::new(),
    ]);
    lines.join("\n")
}

/// A word in a unit's file: in quotation marks, with `%`, and in arguments `$`, doubled (systemd.syntax, systemd.service).
fn in_unit(word: &str, is_argument: bool) -> String {
    let mut quoted = String::from("\"");
    for character in word.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '%' => quoted.push_str("%%"),
            '$' if is_argument => quoted.push_str("$$"),
            control if control.is_ascii_control() => {
                quoted.push_str(&format!("\\x{:02x}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn agent(setting: &Setting) -> Result<String, Failure> {
    let strings = |strings: &mut dyn Iterator<Item = &String>| -> Result<String, Failure> {
        strings.map(|string| Ok(format!("\t\t<string>{}</string>\n", in_xml(string)?))).collect()
    };
    let arguments = setting.arguments();
    let command = strings(&mut [&setting.program].into_iter().chain(&arguments))?;
    let log = in_xml(&shown(&setting.home.join("Library/Logs/leafline.log")))?;
    let mut variables = String::new();
    for (name, value) in &setting.variables {
        let (name, value) = (in_xml(name)?, in_xml(value)?);
        variables += &format!("\t\t<key>{name}</key>\n\t\t<string>{value}</string>\n");
    }
    if !variables.is_empty() {
        variables = format!("\t<key>EnvironmentVariables</key>\n\t<dict>\n{variables}\t</dict>\n");
    }
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- `leafline keep off` takes this out. -->\n\
         <plist version=\"1.0\">\n<dict>\n\
         \t<key>Label</key>\n\t<string>{LABEL}</string>\n\
         \t<key>ProgramArguments</key>\n\t<array>\n{command}\t</array>\n{variables}\
         \t<key>RunAtLoad</key>\n\t<true/>\n\
         \t<key>KeepAlive</key>\n\t<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>\n\
         \t<key>ThrottleInterval</key>\n\t<integer>{PAUSE}</integer>\n\
         \t<key>ProcessType</key>\n\t<string>Background</string>\n\
         \t<key>StandardErrorPath</key>\n\t<string>{log}</string>\n\
         </dict>\n</plist>\n"
    ))
}

/// A text in XML.
pub(super) fn in_xml(text: &str) -> Result<String, Failure> {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' => escaped.push(character),
            '\r' => escaped.push_str("&#13;"),
            // XML has no way to write them.
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                return Err(Failure::KeepName { name: text.to_owned() });
            }
            other => escaped.push(other),
        }
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped_as_their_readers_want() {
        assert_eq!(in_unit("/a b/%h/\"q\"\\$x\n", true), r#""/a b/%%h/\"q\"\\$$x\x0a""#);
        assert_eq!(in_unit("A=$x", false), "\"A=$x\"");
        assert_eq!(in_xml("/a & <b>\"'").unwrap(), "/a &amp; &lt;b&gt;\"'");
        assert!(in_xml("a\u{1}").is_err());
    }
}
