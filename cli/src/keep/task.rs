//! The task of Windows that runs the sync: its description, and how its command is written.

use super::Setting;
use super::service::in_xml;
use crate::failure::Failure;

/// The task's name. It has no character that needs quoting.
pub(super) const TASK: &str = "leafline-keep";

/// Runs a program of the console without a window, and ends it when it is ended.
const WITHOUT_WINDOW: &str = "conhost.exe";

/// The task's file, for one user.
///
/// It is begun at the user's logon, and looked after every five minutes: one that runs is left alone. A task has no variables, so
/// PowerShell sets them where there are any. The file has ASCII characters alone, since `schtasks` does not say how it reads others.
pub(super) fn text(setting: &Setting, user: &str) -> Result<String, Failure> {
    let arguments = arguments(setting)?;
    let text = |text: &str| in_xml(text).map(|text| in_ascii(&text));
    let (user, arguments) = (text(user)?, text(&arguments)?);
    Ok(format!(
        "<Task version=\"1.2\" xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">\n\
         <!-- `leafline keep off` takes this out. -->\n\
         \t<RegistrationInfo>\n\
         \t\t<Description>Leafline keeps the sessions of coding agents</Description>\n\
         \t</RegistrationInfo>\n\
         \t<Triggers>\n\t\t<LogonTrigger>\n\
         \t\t\t<Repetition>\n\t\t\t\t<Interval>PT5M</Interval>\n\t\t\t</Repetition>\n\
         \t\t\t<UserId>{user}</UserId>\n\
         \t\t</LogonTrigger>\n\t</Triggers>\n\
         \t<Principals>\n\t\t<Principal id=\"user\">\n\
         \t\t\t<UserId>{user}</UserId>\n\
         \t\t\t<LogonType>InteractiveToken</LogonType>\n\
         \t\t\t<RunLevel>LeastPrivilege</RunLevel>\n\
         \t\t</Principal>\n\t</Principals>\n\
         \t<Settings>\n\
         \t\t<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>\n\
         \t\t<DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>\n\
         \t\t<StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>\n\
         \t\t<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>\n\
         \t</Settings>\n\
         \t<Actions Context=\"user\">\n\t\t<Exec>\n\
         \t\t\t<Command>{WITHOUT_WINDOW}</Command>\n\
         \t\t\t<Arguments>{arguments}</Arguments>\n\
         \t\t</Exec>\n\t</Actions>\n\
         </Task>\n"
    ))
}

/// The command line that runs without a window.
fn arguments(setting: &Setting) -> Result<String, Failure> {
    let mut words = vec!["--headless".to_owned()];
    if setting.variables.is_empty() {
        words.push(setting.program.clone());
        words.extend(setting.arguments());
    } else {
        let variables = setting.variables.iter();
        let set =
            variables.map(|(name, value)| format!("$env:{name} = {}; ", in_powershell(value)));
        let command = format!("{}{}", set.collect::<String>(), call(setting));
        words.extend(
            ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command"].map(str::to_owned),
        );
        words.push(command);
    }
    let words: Result<Vec<String>, Failure> =
        words.iter().map(|word| in_command_line(word)).collect();
    words.map(|words| words.join(" "))
}

/// The line that does without a task, in either shell, as long as its window is open.
pub(super) fn line(setting: &Setting) -> String {
    format!("powershell -NoProfile -Command {}", crate::place::quoted_on_windows(&call(setting)))
}

/// The program and its arguments as a command of PowerShell.
fn call(setting: &Setting) -> String {
    format!("& {}", setting.words(in_powershell))
}

/// A text of PowerShell in which nothing is replaced. It takes the typographic quotation marks for others.
fn in_powershell(text: &str) -> String {
    let mut quoted = String::from("'");
    for character in text.chars() {
        if matches!(character, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') {
            quoted.push(character);
        }
        quoted.push(character);
    }
    quoted.push('\'');
    quoted
}

/// A word of a command line of Windows, as a program takes it apart. No path has a quotation mark in it.
fn in_command_line(word: &str) -> Result<String, Failure> {
    if word.contains('"') {
        return Err(Failure::KeepName { name: word.to_owned() });
    }
    if !word.is_empty() && !word.contains([' ', '\t']) {
        return Ok(word.to_owned());
    }
    // Ahead of a quotation mark they are doubled.
    let trailing = word.len() - word.trim_end_matches('\\').len();
    Ok(format!("\"{word}{}\"", "\\".repeat(trailing)))
}

/// A text of XML with references in place of what is not ASCII.
fn in_ascii(text: &str) -> String {
    let mut ascii = String::new();
    for character in text.chars() {
        match character.is_ascii() {
            true => ascii.push(character),
            false => ascii.push_str(&format!("&#x{:X};", u32::from(character))),
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(variables: &[(&str, &str)]) -> Setting {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Setting {
            program: r"C:\Users\Zo\u{eb} & me\leafline.exe".replace(r"\u{eb}", "\u{eb}"),
            store: r"C:\it's\sessions.leafline".to_owned(),
            variables: variables.collect(),
            home: r"C:\Users\me".into(),
            is_shown: false,
        }
    }

    #[test]
    fn a_task_runs_the_sync_of_the_store() {
        let text = text(&setting(&[]), "DESKTOP\\Zo\u{eb}").unwrap();
        assert!(text.is_ascii(), "{text}");
        let arguments = "<Arguments>--headless \"C:\\Users\\Zo&#xEB; &amp; me\\leafline.exe\" --store C:\\it's\\sessions.leafline sync --watch --quiet</Arguments>";
        assert!(text.contains(arguments), "{text}");
        assert_eq!(text.matches("<UserId>DESKTOP\\Zo&#xEB;</UserId>").count(), 2);
        let mut open = Vec::new();
        for tag in text.split('<').skip(1).filter(|tag| !tag.starts_with('!')) {
            let name = tag.split(['>', ' ']).next().unwrap();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{text}"),
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn powershell_sets_the_variables_of_a_task() {
        let set = setting(&[("CLAUDE_CONFIG_DIR", r"D:\o'clock\$x")]);
        let arguments = arguments(&set).unwrap();
        let expected = "--headless powershell.exe -NoProfile -NonInteractive -Command \"$env:CLAUDE_CONFIG_DIR = 'D:\\o''clock\\$x'; & 'C:\\Users\\Zo\u{eb} & me\\leafline.exe' '--store' 'C:\\it''s\\sessions.leafline' 'sync' '--watch' '--quiet'\"";
        assert_eq!(arguments, expected);
        assert!(super::arguments(&setting(&[("CODEX_HOME", "a\"b")])).is_err());
    }

    #[test]
    fn a_line_does_without_a_task() {
        let line = line(&setting(&[]));
        let expected = "powershell -NoProfile -Command \"& 'C:\\Users\\Zo\u{eb} & me\\leafline.exe' '--store' 'C:\\it''s\\sessions.leafline' 'sync' '--watch' '--quiet'\"";
        assert_eq!(line, expected);
    }

    #[test]
    fn words_are_taken_apart_as_they_were() {
        let word = |word: &str| in_command_line(word).unwrap();
        assert_eq!(word(r"C:\a\b"), r"C:\a\b");
        assert_eq!(word(r"C:\a b\"), r#""C:\a b\\""#);
        assert_eq!(word(""), "\"\"");
        assert!(in_command_line("a\"b").is_err());
        assert_eq!(in_powershell("\u{2019}; x"), "'\u{2019}\u{2019}; x'");
    }
}
