//! The pictures in `docs/` of what a terminal shows, and of `stats --svg`, compared with what the command prints.
//!
//! `LEAFLINE_DRAW=1 cargo test --workspace --test command documents` draws them again; look at what has changed.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::scene::{CLAUDE, PI_3, Scene, command, finished, path, sample_blobs, samples};

/// The columns of the pictures. Lines with paths of the home folder have more, so that its own length changes none.
const WIDTH: usize = 100;
const WIDE: usize = 200;

fn compare(name: &str, drawn: &str) {
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join(name);
    if std::env::var_os("LEAFLINE_DRAW").is_some() {
        std::fs::write(&picture, drawn).unwrap();
    }
    let expected = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn == expected, "{}:\n{drawn}", path(&picture));
    assert!(drawn.len() < 100_000);
}

/// Lines of a terminal as SVG; commands after `$` stand out.
fn terminal(lines: &str) -> String {
    let lines: Vec<&str> = lines.trim_end().lines().collect();
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap();
    let (width, height) = (columns as f64 * 7.83 + 32.0, lines.len() * 18 + 30);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height}\" viewBox=\"0 0 {width:.0} {height}\">\n\
         <style>text{{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;white-space:pre;fill:#22252a}}\
         .typed{{font-weight:700;fill:#2f6f4f}}rect{{fill:#f4f2ee}}\
         @media (prefers-color-scheme:dark){{text{{fill:#dcdfe3}}.typed{{fill:#7fc8a0}}rect{{fill:#1d2024}}}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\"/>\n"
    );
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let text = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let class = if line.starts_with("$ ") { " class=\"typed\"" } else { "" };
        // As wide as its columns, whatever the font.
        let long = line.chars().count() as f64 * 7.83;
        svg += &format!(
            "<text{class} x=\"16\" y=\"{}\" textLength=\"{long:.0}\" xml:space=\"preserve\">{text}</text>\n",
            place * 18 + 26
        );
    }
    svg + "</svg>\n"
}

/// What commands print, each under its line.
fn session(of: impl Fn(&[&str]) -> String, commands: &[&[&str]]) -> String {
    let told = commands.iter().map(|arguments| {
        let quoted =
            |word: &&str| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() };
        let words: Vec<String> = arguments.iter().map(quoted).collect();
        format!("$ leafline {}\n{}\n", words.join(" "), of(arguments).trim_end())
    });
    told.collect::<Vec<_>>().join("\n")
}

fn copy(from: &Path, to: &Path, time: SystemTime) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) =
            (entry.as_ref().unwrap().path(), to.join(entry.as_ref().unwrap().file_name()));
        if from.is_dir() {
            copy(&from, &to, time);
        } else {
            std::fs::copy(&from, &to).unwrap();
            File::options().write(true).open(&to).unwrap().set_modified(time).unwrap();
        }
    }
}

#[test]
fn the_picture_of_keeping() {
    let scene = Scene::new();
    let home = scene.folder().join("home");
    // 2026-02-20 16:15 UTC.
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_771_604_100);
    for (program, folder) in [
        ("pi/sessions", ".pi/agent/sessions"),
        ("omp/sessions", ".omp/agent/sessions"),
        ("claude/projects", ".claude/projects"),
        ("codex/sessions", ".codex/sessions"),
    ] {
        copy(&samples().join(program), &home.join(folder), time);
    }
    let asks = "#!/bin/sh\ncase \"$*\" in *ActiveState*) echo ActiveState=active; echo 'ActiveEnterTimestamp=Fri 2026-02-20 16:20:01 UTC';; esac\n";
    let program = scene.write("bin/systemctl", asks.as_bytes());
    std::fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
    let of = |arguments: &[&str]| {
        let mut command = command(&home.join(".local/share/leafline/sessions.leafline"));
        let programs = format!("{}:/usr/bin:/bin", path(&scene.folder().join("bin")));
        command.env("HOME", &home).env_remove("XDG_CONFIG_HOME").env("PATH", programs);
        command.env_remove("LC_ALL").env_remove("LC_CTYPE").env("LANG", "C.UTF-8");
        command.args(["--width", &WIDE.to_string()]).args(arguments);
        let run = finished(command.output().unwrap());
        assert_eq!(run.status, 0, "{}{}", run.text(), run.stderr);
        let told = run.text().replace(path(&home), "~");
        told.replace(env!("CARGO_BIN_EXE_leafline"), "~/.cargo/bin/leafline")
    };
    of(&["sync"]);
    of(&["keep", "on", "--yes", "--manager", "systemd"]);
    // What Claude Code does after 30 days, and what pi has written a moment ago.
    let project = home.join(".claude/projects/-home-robin-work-tide-clock");
    std::fs::remove_file(project.join(format!("{CLAUDE}.jsonl"))).unwrap();
    let folder = home.join(".pi/agent/sessions/--home-robin-work-tide-clock--");
    let grown: PathBuf = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains(PI_3))
        .unwrap();
    let mut bytes = std::fs::read(&grown).unwrap();
    bytes.extend_from_slice(
        b"{\"type\":\"custom\",\"id\":\"0badcafe\",\"parentId\":null,\"customType\":\"note\"}\n",
    );
    std::fs::write(grown, bytes).unwrap();
    let told = session(of, &[&["keep", "status"], &["ls", "--gone"]]);
    compare("keep.svg", &terminal(&told));
}

#[test]
fn the_pictures_of_finding_and_understanding() {
    let scene = Scene::new();
    scene.run(["import", path(&samples()), "--blobs", path(&sample_blobs())]).ok();
    let of = |arguments: &[&str]| {
        let mut command = command(&scene.store());
        command.env_remove("LC_ALL").env_remove("LC_CTYPE").env("LANG", "C.UTF-8");
        let run = finished(
            command.args(["--width", &WIDTH.to_string()]).args(arguments).output().unwrap(),
        );
        assert_eq!(run.status, 0, "{}{}", run.text(), run.stderr);
        run.text()
    };
    let commands: [&[&str]; 3] = [
        &["search", "\"fake timers\"", "--role", "user"],
        &["ls", "--cwd", "/home/robin/work/tide-clock", "-n", "3"],
        &["path", CLAUDE, "--text", "--from", "d6564eca-5f4e-5b47-93dc-6549b5759b71"],
    ];
    let told = session(of, &commands).replace(CLAUDE, &CLAUDE[..8]);
    let told = told.replace("d6564eca-5f4e-5b47-93dc-6549b5759b71", "d6564eca");
    compare("find.svg", &terminal(&told));
    compare("understand.svg", &of(&["stats", PI_3, "--svg"]));
}
