//! `leafline keep`, with a home folder and managers of services of its own.
//!
//! Guards against files of services that start something else, settings of Claude Code that lose a byte, and a status that
//! does not see what is behind.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use leafline_judges::{judge, runs};
use serde_json::{Value, json};

use crate::scene::{Run, Scene, command, file, finished, header, message, path};

/// A scene with a home folder, and programs that record how they are called.
struct Home {
    scene: Scene,
}

impl Home {
    fn new() -> Self {
        let home = Self { scene: Scene::new() };
        std::fs::create_dir(home.at("")).unwrap();
        home
    }

    fn at(&self, name: &str) -> PathBuf {
        let home = self.scene.folder().join("home of \"r\" & 5%");
        if name.is_empty() { home } else { home.join(name) }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A manager that answers with this, and fails if it is told to.
    fn manager(&self, name: &str, answers: &str) {
        let calls = self.scene.folder().join("calls");
        let script = format!("#!/bin/sh\necho {name} \"$@\" >> '{}'\n{answers}\n", path(&calls));
        let program = self.scene.write(&format!("bin/{name}"), script.as_bytes());
        std::fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
    }

    fn calls(&self) -> Vec<String> {
        let calls = self.scene.folder().join("calls");
        let told = std::fs::read_to_string(&calls).unwrap_or_default();
        let _ = std::fs::remove_file(calls);
        told.lines().filter(|call| !call.contains("show")).map(str::to_owned).collect()
    }

    fn keep(&self, arguments: &[&str]) -> Run {
        finished(self.command(arguments).output().unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.scene.store());
        let programs = format!("{}:/usr/bin:/bin", path(&self.scene.folder().join("bin")));
        command.env("HOME", self.at("")).env_remove("XDG_CONFIG_HOME").env("PATH", programs);
        command.args(arguments);
        command
    }
}

/// The file without its mark, and the mark's line.
fn without_mark(text: &str, at: usize) -> (String, String) {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mark = lines.remove(at);
    (lines.concat(), mark.to_owned())
}

fn is_mark(line: &str, before: &str, behind: &str) -> bool {
    let digits = line.strip_prefix(before).and_then(|line| line.strip_suffix(behind));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[test]
fn a_unit_is_shown_written_started_and_taken_out() {
    let home = Home::new();
    home.manager("systemctl", "case \"$*\" in *ActiveState*) echo ActiveState=active; echo ActiveEnterTimestamp=Mon;; esac");
    home.scene.run(["new", "--cwd", "/work"]).ok();
    let unit = home.at(".config/systemd/user/leafline.service");
    let on = ["keep", "on", "--manager", "systemd"];
    let refused = home.keep(&on);
    assert!(
        refused.text().contains("ExecStart=")
            && refused.text().contains("run systemctl --user enable")
    );
    assert!(refused.fails(2).contains("--yes does it without a question"));
    assert!(!unit.exists() && home.calls().is_empty());

    let variable = ("CLAUDE_CONFIG_DIR", "/c $HOME/%u\\\"x\"");
    let yes = [&on[..], &["--yes"]].concat();
    let run = finished(home.command(&yes).env(variable.0, variable.1).output().unwrap());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let calls = [
        "systemctl --user daemon-reload",
        "systemctl --user enable leafline.service",
        "systemctl --user restart leafline.service",
    ];
    assert_eq!(home.calls(), calls);
    for made in [&unit, &home.at(".config")] {
        assert_eq!(std::fs::metadata(made).unwrap().permissions().mode() & 0o077, 0);
    }
    let text = std::fs::read_to_string(&unit).unwrap();
    let (text, mark) = without_mark(&text, 0);
    assert!(is_mark(&mark, "# leafline keep ", "\n"), "{mark}");
    let program = env!("CARGO_BIN_EXE_leafline");
    let store = home.scene.store();
    let expected = format!(
        "# `leafline keep off` takes this out.\n[Unit]\nDescription=Leafline keeps the sessions of coding agents\n\n\
         [Service]\nType=exec\nExecStart=\"{program}\" \"--store\" \"{}\" \"sync\" \"--watch\" \"--quiet\"\n\
         Environment=\"CLAUDE_CONFIG_DIR=/c $HOME/%%u\\\\\\\"x\\\"\"\nRestart=on-failure\nRestartSec=30\nNice=10\n\n\
         [Install]\nWantedBy=default.target\n",
        path(&store)
    );
    assert_eq!(text, expected);
    if runs("systemd-analyze") {
        let mut verify = Command::new("systemd-analyze");
        let said = verify.args(["--user", "verify"]).arg(&unit).output().unwrap();
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!said.contains("leafline.service"), "{said}");
    }

    // Again, without the variable: it is brought up to date. And once more: there is nothing to do.
    let status = home.keep(&["keep", "status", "--json", "--manager", "systemd"]).ok().json();
    assert_eq!(
        (&status["service"]["current"], &status["service"]["running"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(home.keep(&yes).status, 0);
    assert_eq!(home.calls(), calls);
    assert_eq!(home.keep(&yes).text(), "it is on already; nothing was changed\n");
    assert_eq!(home.calls(), [""; 0]);
    let told = home.keep(&["keep", "status", "--manager", "systemd"]).ok().text();
    assert!(told.contains("service   runs since Mon, by systemd: "), "{told}");

    // What was changed by hand stays.
    let own = std::fs::read_to_string(&unit).unwrap();
    std::fs::write(&unit, own.replace("Nice=10", "Nice=5")).unwrap();
    assert!(home.keep(&yes).fails(1).contains("was changed by hand"));
    let off = ["keep", "off", "--manager", "systemd"];
    assert!(home.keep(&off).fails(1).contains("was changed by hand"));
    assert!(unit.exists() && home.calls().is_empty());
    std::fs::write(&unit, own).unwrap();
    home.keep(&off).ok();
    assert!(!unit.exists());
    assert_eq!(
        home.calls(),
        ["systemctl --user disable --now leafline.service", "systemctl --user daemon-reload"]
    );
    assert_eq!(home.keep(&off).ok().text(), "it was not on; nothing was changed\n");
    home.keep(&["keep", "status", "--manager", "systemd"]).fails(1);
}

#[test]
fn a_service_that_does_not_start_is_a_failure() {
    let home = Home::new();
    home.manager("systemctl", "case \"$*\" in *restart*) echo no such thing >&2; exit 1;; esac");
    let yes = ["keep", "on", "--yes", "--manager", "systemd"];
    let said = home.keep(&yes).fails(1);
    assert!(said.contains("restart leafline.service` failed: no such thing"), "{said}");
    home.keep(&["keep", "off", "--manager", "systemd"]).ok();
}

#[test]
fn an_agent_of_launchd_is_written_and_taken_out() {
    let home = Home::new();
    home.manager("launchctl", "case \"$*\" in *bootout*) exit 3;; esac");
    home.manager("id", "echo 501");
    let run = finished(
        home.command(&["keep", "on", "--yes", "--manager", "launchd"])
            .env("CODEX_HOME", "/c <&> \"d\"")
            .output()
            .unwrap(),
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let file = home.at("Library/LaunchAgents/leafline.keep.plist");
    let text = std::fs::read_to_string(&file).unwrap();
    let (text, mark) = without_mark(&text, 1);
    assert!(is_mark(&mark, "<!-- leafline keep ", " -->\n"), "{mark}");
    let strings = [
        env!("CARGO_BIN_EXE_leafline"),
        "--store",
        path(&home.scene.store()),
        "sync",
        "--watch",
        "--quiet",
    ]
    .map(|string| format!("\t\t<string>{string}</string>\n"))
    .concat();
    let log = path(&home.at("Library/Logs/leafline.log")).replace('&', "&amp;");
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- `leafline keep off` takes this out. -->\n<plist version=\"1.0\">\n<dict>\n\
         \t<key>Label</key>\n\t<string>leafline.keep</string>\n\
         \t<key>ProgramArguments</key>\n\t<array>\n{strings}\t</array>\n\
         \t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>CODEX_HOME</key>\n\t\t<string>/c &lt;&amp;&gt; \"d\"</string>\n\t</dict>\n\
         \t<key>RunAtLoad</key>\n\t<true/>\n\
         \t<key>KeepAlive</key>\n\t<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>\n\
         \t<key>ThrottleInterval</key>\n\t<integer>30</integer>\n\
         \t<key>ProcessType</key>\n\t<string>Background</string>\n\
         \t<key>StandardErrorPath</key>\n\t<string>{log}</string>\n</dict>\n</plist>\n"
    );
    assert_eq!(text, expected);
    let calls: Vec<String> =
        home.calls().into_iter().filter(|call| call.contains("boot")).collect();
    let bootstrap = format!("launchctl bootstrap gui/501 {}", path(&file));
    assert_eq!(calls, ["launchctl bootout gui/501/leafline.keep", &bootstrap]);
    home.keep(&["keep", "off", "--manager", "launchd"]).ok();
    assert!(!file.exists());
}

#[test]
fn without_a_manager_the_line_is_shown() {
    let home = Home::new();
    home.manager("systemctl", "exit 1");
    let run = home.keep(&["keep", "on", "--yes", "--manager", "systemd"]);
    let line = run.text();
    assert!(
        line.starts_with("nohup ") && line.ends_with(" sync --watch --quiet >/dev/null 2>&1 &\n"),
        "{line}"
    );
    assert!(run.fails(1).contains("leafline keep on --hook"));
    assert!(!home.at(".config").exists());
    // What `enable` has made is taken out all the same.
    home.manager("systemctl", "");
    home.keep(&["keep", "on", "--yes", "--manager", "systemd"]);
    let wanted = home.at(".config/systemd/user/default.target.wants/leafline.service");
    std::fs::create_dir(wanted.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("../leafline.service", &wanted).unwrap();
    home.manager("systemctl", "exit 1");
    home.keep(&["keep", "off", "--manager", "systemd"]).ok();
    assert!(!wanted.is_symlink() && !home.at(".config/systemd/user/leafline.service").exists());
}

#[test]
fn a_hook_comes_and_goes_with_every_other_byte_in_place() {
    let home = Home::new();
    let on = ["keep", "on", "--hook", "--yes"];
    let settings = home.at(".claude/settings.json");
    // None is there: it goes with the hook.
    assert_eq!(home.keep(&on).status, 0);
    assert_eq!(std::fs::metadata(&settings).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(home.keep(&on).ok().text(), "it is on already; nothing was changed\n");
    home.keep(&["keep", "off"]).ok();
    assert!(!settings.exists());
    // One that a link leads to, with rights of its own.
    let text =
        "{\n    \"unknown\": [1.50, {\"a\" : null}],\r\n\n    \"hooks\":{\"Stop\" : [ ]}   }";
    let real = home.write("dot files/claude.json", text);
    std::fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, &settings).unwrap();
    assert_eq!(home.keep(&on).status, 0);
    let now: Value = serde_json::from_slice(&std::fs::read(&real).unwrap()).unwrap();
    let hook = &now["hooks"]["SessionEnd"][0]["hooks"][0];
    assert_eq!((&hook["type"], &hook["timeout"]), (&json!("command"), &json!(60)));
    assert!(settings.is_symlink());
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    // For another store: it takes the place of the first.
    let other = home.scene.folder().join("other.leafline");
    assert_eq!(
        finished(home.command(&on).env("LEAFLINE_STORE", &other).output().unwrap()).status,
        0
    );
    let now: Value = serde_json::from_slice(&std::fs::read(&real).unwrap()).unwrap();
    let groups = now["hooks"]["SessionEnd"].as_array().unwrap();
    assert!(groups.len() == 1 && groups[0].to_string().contains("other.leafline"), "{groups:?}");
    home.keep(&["keep", "off"]).ok();
    assert_eq!(std::fs::read_to_string(&real).unwrap(), text);
    // What is not JSON is not touched.
    std::fs::write(&real, "{ // mine\n}").unwrap();
    let refused = home.keep(&on);
    assert!(refused.text().contains("\"SessionEnd\": ["), "{}", refused.text());
    assert!(refused.fails(1).contains("is not JSON"));
    home.keep(&["keep", "off"]).ok();
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{ // mine\n}");
}

#[test]
fn what_a_killed_one_left_is_removed_by_the_next() {
    let home = Home::new();
    let left = home.write(".claude/.leafline-tmp-0123456789abcdEF", "{}");
    let held = home.write(".claude/.leafline-tmp-ABCDef0123456789", "{}");
    let other = home.write(".claude/.tmp0123ab", "{}");
    // Another process is about to give it its name.
    let open = std::fs::File::open(&held).unwrap();
    open.lock().unwrap();
    assert_eq!(home.keep(&["keep", "on", "--hook", "--yes"]).status, 0);
    assert!(!left.exists() && held.exists() && other.exists());
}

/// Makes a file old enough for its time to be trusted.
fn age(path: &Path) {
    let time = SystemTime::now() - Duration::from_secs(100);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn the_status_says_what_is_behind() {
    let home = Home::new();
    home.manager("systemctl", "exit 1");
    let lines = |id: &str, count: usize| {
        let more = (0..count).map(|place| message(&format!("{place:08x}"), None, "Hi"));
        String::from_utf8(file([header(id)].into_iter().chain(more))).unwrap()
    };
    let at = |id: &str| format!(".pi/agent/sessions/--work--/{id}.jsonl");
    for id in ["s1", "s2", "s3"] {
        age(&home.write(&at(id), &lines(id, 1)));
    }
    home.keep(&["sync"]).ok();
    std::fs::remove_file(home.at(&at("s1"))).unwrap();
    home.write(&at("s2"), &lines("s2", 2));
    home.write(&at("s4"), &lines("s4", 1));
    let status = home.keep(&["keep", "status", "--json", "--manager", "systemd"]);
    let told = status.json();
    assert_eq!((status.status, &told["kept"]), (1, &json!(false)));
    let pi = &told["folders"][0];
    assert_eq!(
        (&pi["family"], &pi["files"], &pi["in_step"], &pi["kept"]),
        (&json!("pi"), &json!(3), &json!(1), &json!(1))
    );
    let behind: Vec<_> =
        pi["behind"].as_array().unwrap().iter().map(|file| &file["imported"]).collect();
    assert_eq!(behind, [&json!(lines("s2", 1).len()), &json!(null)]);
    let told = home.keep(&["keep", "status", "--manager", "systemd"]).text();
    let grown = lines("s2", 2).len() - lines("s2", 1).len();
    assert!(told.contains(&format!(" {grown} B more  ")), "{told}");
    assert!(told.contains("s4.jsonl"), "{told}");
    // With the hook it is kept, and after a sync nothing is behind.
    assert_eq!(home.keep(&["keep", "on", "--hook", "--yes"]).status, 0);
    home.keep(&["sync"]).ok();
    let told = home.keep(&["keep", "status", "--json", "--manager", "systemd"]).ok().json();
    assert_eq!(told["folders"][0]["behind"], json!([]));
    assert_eq!(told["hook"]["current"], true);
}

#[test]
fn the_status_needs_no_store() {
    let home = Home::new();
    home.manager("systemctl", "exit 1");
    let session = format!("{}\n", String::from_utf8(file([header("s1")])).unwrap().trim_end());
    home.write(".pi/agent/sessions/--work--/s1.jsonl", &session);
    let status = ["keep", "status", "--manager", "systemd"];
    let told = home.keep(&status);
    let text = told.text();
    assert!(text.contains("(not there yet: the first sync makes it)"), "{text}");
    // What is advised works here.
    assert!(text.contains("not installed; systemd cannot be asked to run one here\n"), "{text}");
    assert!(!text.contains("`leafline keep on` installs it"), "{text}");
    assert!(text.contains("`leafline keep on --hook`"), "{text}");
    let line = home.keep(&["keep", "on", "--yes", "--manager", "systemd"]).text();
    assert!(line.starts_with("nohup ") && text.contains(&format!("\n{line}\n")), "{text}");
    let json = home.keep(&[&status[..], &["--json"]].concat()).json();
    assert_eq!(json["line"].as_str(), Some(line.trim_end()));
    home.manager("systemctl", "");
    let text = home.keep(&status).text();
    assert!(text.contains("not installed; `leafline keep on` installs it"), "{text}");
    assert!(!text.contains("nohup"), "{text}");
    home.manager("systemctl", "exit 1");
    assert!(text.contains(&format!("new, {} B", session.len())), "{text}");
    assert_eq!(told.fails(1), "");
    assert_eq!(home.keep(&["keep", "on", "--hook", "--yes"]).status, 0);
    let told = home.keep(&[&status[..], &["--json"]].concat()).ok().json();
    assert_eq!((&told["kept"], &told["hook"]["current"]), (&json!(true), &json!(true)));
    assert_eq!(told["line"], json!(null));
    assert_eq!(told["store_exists"], false);
    let pi = &told["folders"][0];
    assert_eq!((&pi["files"], &pi["in_step"], &pi["last"]), (&json!(1), &json!(0), &json!(null)));
    assert_eq!(pi["behind"][0]["imported"], json!(null));
    assert!(home.keep(&status).ok().text().contains("installed: "));
    // Being asked makes no store, and the first sync does.
    assert!(!home.scene.store().exists());
    home.keep(&["sync"]).ok();
    let told = home.keep(&[&status[..], &["--json"]].concat()).ok().json();
    assert_eq!((&told["store_exists"], &told["folders"][0]["kept"]), (&json!(true), &json!(0)));
    // What is not a store is still a failure.
    home.scene.write("other", b"no store");
    let other = home.scene.folder().join("other");
    let run = finished(home.command(&status).env("LEAFLINE_STORE", other).output().unwrap());
    assert_eq!(run.status, 1, "{}", run.stderr);
}

#[test]
fn claude_code_runs_the_hook_at_the_end_of_a_session() {
    let Some(script) = judge("resume-judge", "claude") else { return };
    let home = Home::new();
    home.write(".claude/settings.json", "{\"env\": {\"A\": \"b\"}}\n");
    let before = std::fs::read(home.at(".claude/settings.json")).unwrap();
    assert_eq!(home.keep(&["keep", "on", "--hook", "--yes"]).status, 0);
    let work = home.at("work");
    std::fs::create_dir(&work).unwrap();
    // A session that is new is one that is gone on with from nothing.
    let job = json!({"op": "resume", "command": ["claude"], "home": home.at(""), "cwd": work});
    let answer = script.ask(&[job]).remove(0);
    assert_eq!(answer["ok"], true, "{answer}");
    let sessions = home.scene.run(["--json", "ls"]).ok().json();
    let id = sessions["id"].as_str().unwrap();
    let kept = home.scene.run(["path", id, "--text"]).ok().text();
    assert!(kept.contains("PROBE") && kept.contains("Answer 1."), "{kept}");
    home.keep(&["keep", "off"]).ok();
    assert_eq!(std::fs::read(home.at(".claude/settings.json")).unwrap(), before);
}

/// A home whose name is not text.
#[cfg(target_os = "linux")]
#[test]
fn the_status_needs_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let odd = home.scene.folder().join(std::ffi::OsStr::from_bytes(b"h\xff"));
    std::fs::create_dir(&odd).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leafline"));
        let command = command.env_remove("LEAFLINE_STORE").env_remove("XDG_DATA_HOME");
        finished(command.env("HOME", &odd).args(arguments).output().unwrap())
    };
    let status = run(&["keep", "status"]);
    assert!(status.status == 1 && status.stderr.is_empty(), "{}", status.stderr);
    assert!(String::from_utf8_lossy(&status.stdout).contains("not there yet"));
    // What is installed has to name it.
    assert_ne!(run(&["keep", "on", "--yes"]).status, 0);
}
