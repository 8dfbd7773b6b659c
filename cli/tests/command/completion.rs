//! Completion in shells, and the manual pages.

use crate::scene::{PI_3, Scene, command, finished, path};

/// What a shell that completes the last of these words is told: candidates, each with its help behind a tab.
fn completed(scene: &Scene, words: &[&str]) -> Vec<String> {
    let mut command = command(&scene.store());
    command.env("COMPLETE", "fish").args(["--", "leafline"]).args(words);
    finished(command.output().unwrap()).ok().text().lines().map(str::to_owned).collect()
}

#[test]
fn sessions_are_completed_with_their_titles() {
    let scene = Scene::of_samples();
    for words in [
        &["show", "019c6605"][..],
        &["path", "019c6605"],
        &["rm", "019c6605"],
        &["export", "019c6605"],
        &["search", "x", "--session", "019c6605"],
    ] {
        let candidates = completed(&scene, words);
        assert_eq!(candidates, [format!("{PI_3}\tFlaky scheduler test")], "{words:?}");
    }
    assert!(completed(&scene, &["show", ""]).len() >= 18);
    // Of the store that the line names.
    let other = Scene::new();
    let store = scene.store();
    assert_eq!(completed(&other, &["--store", path(&store), "show", "019c6605"]).len(), 1);
    // Nothing is said about a store that is not there.
    assert_eq!(completed(&other, &["show", "019c6605"]), [""; 0]);
    assert!(!other.store().exists());
}

#[test]
fn commands_and_options_are_completed() {
    let scene = Scene::new();
    let begins = |words: &[&str], with: &str| {
        completed(&scene, words).iter().any(|candidate| candidate.starts_with(with))
    };
    assert!(begins(&["rel"], "relocate"));
    assert!(begins(&["bro"], "browse"));
    assert!(begins(&["import", "--fam"], "--family"));
    assert!(begins(&["ls", "--family", "o"], "opal"));
    for shell in ["bash", "zsh", "fish"] {
        let mut command = command(&scene.store());
        let script = finished(command.env("COMPLETE", shell).output().unwrap()).ok().text();
        assert!(script.contains("leafline"), "{shell}: {script}");
    }
}

/// What a shell completes `show` and the beginning of an id to, with the line of README.md; `None` if it is not installed.
fn by_shell(scene: &Scene, shell: &str) -> Option<String> {
    let script = match shell {
        "bash" => {
            "source <(COMPLETE=bash leafline)
             COMP_WORDS=(leafline show 019c6605) COMP_CWORD=2
             $(complete -p leafline | sed 's/.*-F \\([^ ]*\\).*/\\1/') leafline 019c6605 show
             echo \"${COMPREPLY[@]}\""
        }
        // The functions of its line editor, which a script does not have.
        "zsh" => {
            "compdef() { completer=$1 }
             _describe() { print -rl -- \"${(@P)3}\" }
             source <(COMPLETE=zsh leafline)
             words=(leafline show 019c6605) CURRENT=3
             $completer"
        }
        _ => {
            "COMPLETE=fish leafline | source
             complete -C 'leafline show 019c6605'"
        }
    };
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_leafline"));
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = std::process::Command::new(shell);
    command.arg("-c").arg(script).env("PATH", path).env("LEAFLINE_STORE", scene.store());
    match command.env("HOME", scene.folder()).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        output => Some(finished(output.unwrap()).ok().text()),
    }
}

#[test]
fn shells_complete_sessions_with_the_lines_of_the_readme() {
    let scene = Scene::of_samples();
    let lines = [
        ("bash", "echo 'source <(COMPLETE=bash leafline)' >> ~/.bashrc", PI_3.to_owned()),
        (
            "zsh",
            "echo 'source <(COMPLETE=zsh leafline)' >> ~/.zshrc",
            format!("{PI_3}:Flaky scheduler test"),
        ),
        (
            "fish",
            "echo 'COMPLETE=fish leafline | source' >> ~/.config/fish/config.fish",
            format!("{PI_3}\tFlaky scheduler test"),
        ),
    ];
    let readme = include_str!("../../../README.md");
    // PowerShell is not here to be asked.
    assert!(
        readme
            .contains(r#"$env:COMPLETE = "powershell"; leafline | Out-String | Invoke-Expression"#)
    );
    for (shell, line, expected) in lines {
        assert!(readme.contains(line), "{line}");
        match by_shell(&scene, shell) {
            Some(completed) => assert_eq!(completed.trim_end(), expected, "{shell}"),
            // The others are installed by `./setup test`.
            None => assert_ne!(shell, "bash"),
        }
    }
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let scene = Scene::new();
    let folder = scene.folder().join("man/man1");
    scene.run(["man", path(&folder)]).ok();
    let help = scene.run(["--help"]).ok().text();
    let commands = help.split_once("Commands:\n").unwrap().1;
    // A command's line begins with two spaces; what its help goes on with is further in.
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split_once(' '));
    let names: Vec<&str> = names.map(|(name, _)| name).filter(|name| !name.is_empty()).collect();
    assert!(names.len() > 25, "{names:?}");
    for name in names.iter().map(|name| format!("leafline-{name}")).chain(["leafline".to_owned()]) {
        if name == "leafline-help" {
            continue;
        }
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains("leafline"), "{page}");
        assert!(page.contains(".SH EXAMPLES\n.nf\n") && !page.contains(".SH EXTRA"), "{page}");
    }
    let file = scene.write("file", b"");
    let told = scene.run(["man", path(&file)]).fails(1);
    assert!(told.contains("writing the manual pages to"), "{told}");
}

#[test]
#[cfg(unix)]
fn a_manual_page_is_replaced_and_not_written_through_a_link() {
    let scene = Scene::new();
    let folder = scene.folder().join("man1");
    scene.run(["man", path(&folder)]).ok();
    let page = folder.join("leafline-ls.1");
    let before = std::fs::read(&page).unwrap();
    let other = scene.write("other", b"precious");
    std::fs::remove_file(&page).unwrap();
    std::os::unix::fs::symlink(&other, &page).unwrap();
    scene.run(["man", path(&folder)]).ok();
    assert_eq!(std::fs::read(&other).unwrap(), b"precious");
    assert!(std::fs::read(&page).unwrap() == before && !page.is_symlink());
}
