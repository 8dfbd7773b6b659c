//! A corpus of planted secrets: one of each shape, in each way in which a line may have it, and lines without any.
//!
//! Every secret is put together while the test runs, so that no scanner finds one in this repository.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::shapes::{INNERS, SERVICES, SHAPES};
use super::{RedactionOptions, Redactor};
use crate::Store;

fn redactor(options: &RedactionOptions) -> Redactor {
    Store::in_memory().unwrap().redactor(options).unwrap()
}

fn plain() -> Redactor {
    redactor(&RedactionOptions::default())
}

/// Characters that look random, the same each time.
struct Characters(fastrand::Rng);

impl Characters {
    fn new() -> Self {
        Self(fastrand::Rng::with_seed(19))
    }

    fn pick(&mut self) -> impl FnMut(&[u8]) -> u8 {
        |allowed| allowed[self.0.usize(..allowed.len())]
    }

    fn text(&mut self, length: usize) -> String {
        let letters = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let drawn: String =
            (0..length).map(|_| char::from(letters[self.0.usize(..letters.len())])).collect();
        // Whatever is drawn, it has a digit and a letter of each size.
        format!("{}{}", &drawn[..length - 3], "x7Q")
    }
}

/// A secret, and the text around it by which it is known.
struct Planted {
    kind: &'static str,
    before: String,
    secret: String,
}

fn private_key(lines: usize) -> String {
    let mut characters = Characters::new();
    let mut key = format!("-----BEGIN OPENSSH {} KEY-----\n", "PRIVATE");
    (0..lines).for_each(|_| key.push_str(&format!("{}\n", characters.text(64))));
    key + &format!("-----END OPENSSH {} KEY-----", "PRIVATE")
}

fn planted() -> Vec<Planted> {
    let mut characters = Characters::new();
    let mut planted = Vec::new();
    let mut plant = |kind, before: &str, secret| {
        planted.push(Planted { kind, before: before.to_owned(), secret });
    };
    for shape in SHAPES {
        let token = shape.example(characters.pick());
        // A host is not part of the name before it.
        plant(shape.kind, if token.starts_with('.') { "https://a" } else { "" }, token);
    }
    for inner in INNERS {
        plant(inner.kind, "", inner.example(characters.pick()));
    }
    for service in SERVICES {
        for token in service.examples(characters.pick()) {
            let token = format!("{}{}", &token[..token.len() - 1], "7");
            plant(service.kind, &format!("{}_KEY=", service.name.to_uppercase()), token);
        }
    }
    plant("private-key", "", private_key(24));
    for before in
        ["API_KEY=", "token: ", "client_secret = ", "--password ", "Authorization: Bearer "]
    {
        let kind = if before.contains("pass") { "password" } else { "secret" };
        plant(kind, before, characters.text(24));
    }
    plant("password", "DB_PASSWORD=", ["S3c", "r&t)", "!x9;"].concat());
    plant("password", "mysql://root:", ["tide", "-44"].concat() + "@db/app");
    plant("password", "curl -sS -u root:", ["tide", "-44"].concat());
    plant("password", "curl --user deploy:", characters.text(16));
    let odd = |parts: [&str; 3]| parts.concat();
    for before in
        ["password: ", "POSTGRES_PASSWORD: ", "db_pass=", "Password: ", "ENV DB_PASSWORD ", "PASS="]
    {
        for secret in [
            odd(["Win", "ter20", "26!"]),
            odd(["P@s", "sw0rd$", "2026"]),
            odd(["Tr0ub", "4dor&", "3xyz"]),
            odd(["aB3dE", ";*dbE", "+#fg"]),
            odd(["3dEf9", "<8Zq>", "kk.x"]),
            odd(["q(7R)", "{t}[x", "]2Lm"]),
        ] {
            plant("password", before, secret);
        }
    }
    for before in ["api_key: ", "token=", "secret-key = ", "- name: API_KEY\n  value: "] {
        plant("secret", before, odd(["aB3dE!", "f9kk8", "ZqLmNo"]));
    }
    let signature = characters.text(43);
    plant("url-signature", "https://a.blob.example/b?sv=2024&sig=", signature + "%3D");
    plant("password", "//r.example/:_auth=", STANDARD.encode("robin:tide-44"));
    plant("secret", "kind: Secret\ndata:\n  login: ", STANDARD.encode("some words of it"));
    planted
}

/// Ways in which a program's line has a text.
fn lines_with(text: &str) -> Vec<String> {
    let as_json = |value: &Value| value.to_string();
    let arguments = as_json(&json!({ "command": format!("echo '{text}'"), "n": 1.50 }));
    let escape = |unit: u16| format!("\\u{unit:04x}");
    let escaped: String = text.encode_utf16().map(escape).collect();
    let nested = as_json(&json!({ "body": arguments }));
    vec![
        as_json(&json!({ "type": "message", "text": text })),
        as_json(&json!({ "a": [format!("before\n{text}\nafter"), "x"] })),
        as_json(&json!({ "arguments": arguments })),
        as_json(&json!({ "arguments": nested })),
        as_json(&json!({ text: true })),
        format!("{{\"text\":\"{escaped}\"}}"),
        as_json(&json!({ "url": format!("https://a.b/?q=1&x= {text}") })),
        as_json(&json!({ "text": format!("\u{1b}[1;31m{text}\u{1b}[0m") })),
        // Torn.
        as_json(&json!({ "text": format!("a\n{text}"), "more": "than there is" }))
            .split("is\"")
            .next()
            .unwrap()
            .to_owned(),
        format!("not JSON at all: {text}"),
    ]
}

#[test]
fn no_planted_secret_is_left() {
    let redactor = plain();
    let mut count = 0;
    for Planted { kind, before, secret } in planted() {
        let is_url = secret.ends_with("@db/app");
        let known = secret.strip_suffix("@db/app").unwrap_or(&secret);
        for line in lines_with(&format!("{before}{secret}")) {
            let redacted = redactor.line(line.as_bytes());
            let redacted = std::str::from_utf8(&redacted).unwrap();
            let shown = decoded(redacted);
            assert!(redacted.contains(&format!("REDACTED-{kind}-")), "{kind}: {line}\n{redacted}");
            assert!(!shown.contains(known), "{kind}: {line}\n{redacted}");
            assert!(is_url || shown.contains(&before), "{kind}: {line}\n{redacted}");
            let was_json = serde_json::from_str::<Value>(&line).is_ok();
            assert_eq!(serde_json::from_str::<Value>(redacted).is_ok(), was_json, "{redacted}");
            count += 1;
        }
    }
    assert!(count > 2_000, "{count}");
}

/// Ways to write a password on a line of its own, with what is behind it, and the characters that it then cannot have.
const WAYS: [(&str, &str, &str); 14] = [
    ("password: ", "", "\"'`"),
    ("  password: ", "", "\"'`"),
    ("- password: ", "  # a comment", "\"'`"),
    ("DB_PASSWORD=", "", "\"'`"),
    ("export DB_PASSWORD=", "", "\"'`"),
    ("+DB_PASSWORD=", "", "\"'`"),
    ("    12\u{2192}DB_PASSWORD=", "", "\"'`"),
    ("ENV DB_PASSWORD ", "", "\"'`"),
    ("password = \"", "\"", "\"\\"),
    ("DB_PASSWORD='", "'", "'\\"),
    ("\"password\": \"", "\",", "\"\\"),
    ("Server=x;User Id=sa;Password=", ";Database=d", "\"'`;&,"),
    ("{password: ", "}", "\"'`,{}"),
    ("{password: ", ", user: x}", "\"'`,{}"),
];

#[test]
fn passwords_of_any_characters_are_replaced_as_a_whole() {
    let redactor = plain();
    let mut random = fastrand::Rng::with_seed(26);
    let (mut left, mut all) = (Vec::new(), 0);
    for (before, behind, without) in WAYS {
        for _ in 0..300 {
            let drawn = std::iter::repeat_with(|| char::from(random.u8(33..127)));
            let password: String =
                drawn.filter(|drawn| !without.contains(*drawn)).take(20).collect();
            let text = format!("# settings\n{before}{password}{behind}\nuser: root\n");
            let arguments = json!({ "command": format!("cat <<END\n{text}END") }).to_string();
            for line in [json!({ "text": text }), json!({ "arguments": arguments })] {
                let redacted = redactor.line(line.to_string().as_bytes()).into_owned();
                let shown = decoded(std::str::from_utf8(&redacted).unwrap());
                let begins = format!("{before}REDACTED-password-");
                let behind = format!("{behind}\nuser: root\n");
                let rest = shown.find(&begins).map(|at| &shown[at + begins.len() + 12..]);
                all += 1;
                if !rest.is_some_and(|rest| rest.starts_with(&behind)) {
                    left.push((text.clone(), shown));
                }
            }
        }
    }
    // What a line goes on behind may be code: a few look like it.
    let goes_on = |text: &str| text.contains("Server=") || text.contains("{password");
    assert!(left.iter().all(|(text, _)| goes_on(text)), "{left:#?}");
    assert!(left.len() * 400 < all, "{} of {all}: {left:#?}", left.len());
}

#[test]
fn lines_of_any_pieces_stay_what_they_are() {
    const PIECES: [&str; 40] = [
        "password",
        "DB_PASS",
        "token",
        "auth",
        "API_KEY",
        ": ",
        "=",
        "==",
        "=>",
        " ",
        "\n",
        "\\",
        "\"",
        "'",
        "`",
        "{",
        "}",
        "(",
        ")",
        "[",
        "<",
        ">",
        "</b>",
        "&amp;",
        "&",
        ";",
        ",",
        "é",
        "\u{2192}",
        "\u{1b}[31m",
        "aB3dE!f9",
        "kk8ZqLmNo7",
        "://u:",
        "@h",
        "kind: Secret\ndata:\n  a: ",
        "?sig=",
        "ENV ",
        "value",
        "**",
        "curl -u a:",
    ];
    let redactor = plain();
    let mut random = fastrand::Rng::with_seed(27);
    for _ in 0..20_000 {
        let count = random.usize(1..16);
        let text: String = (0..count).map(|_| PIECES[random.usize(..PIECES.len())]).collect();
        let nested = json!({ "arguments": json!({ "text": text }).to_string(), "text": text });
        let line = nested.to_string();
        let redacted = redactor.line(line.as_bytes()).into_owned();
        let redacted = String::from_utf8(redacted).unwrap();
        let value: Value = serde_json::from_str(&redacted).unwrap();
        assert_eq!(value.as_object().unwrap().len(), 2, "{line}\n{redacted}");
        let cut = random.usize(..=line.len());
        drop(redactor.line(&line.as_bytes()[..cut]));
        drop(redactor.text(&text));
    }
}

#[test]
fn lists_of_secrets_are_read_to_their_end() {
    let count = 2_000;
    let item = |number: usize| format!("- kind: Secret\n  data:\n    key: c2FsdA{number:04}x7Q\n");
    let text: String = (0..count).map(item).collect();
    let redacted = plain().text(&text).into_owned();
    assert!(!redacted.contains("c2FsdA"), "{redacted}");
    assert_eq!(redacted.matches("REDACTED-secret-").count(), count);
}

#[test]
fn variables_told_by_name_and_value_are_found() {
    let secret = Characters::new().text(20);
    let env = json!([{ "name": "PORT", "value": "8080" }, { "name": "API_KEY", "value": secret }]);
    let line = json!({ "env": env, "text": env.to_string() }).to_string();
    let redacted = String::from_utf8(plain().line(line.as_bytes()).into_owned()).unwrap();
    assert!(
        !redacted.contains(&secret) && redacted.matches("REDACTED-secret-").count() == 2,
        "{redacted}"
    );
    let login = STANDARD.encode("robin:tide-44");
    let docker = json!({ "auths": { "https://r.example": { "auth": login } } }).to_string();
    assert!(!String::from_utf8_lossy(&plain().line(docker.as_bytes())).contains(&login));
    let django = ["django-insecure-(a", "4#k)=_x7", "$q0(w8)&"].concat();
    let line = json!({ "text": format!("SECRET_KEY='{django}'\nSECRET_KEY = \"{django}\"") });
    let redacted =
        String::from_utf8(plain().line(line.to_string().as_bytes()).into_owned()).unwrap();
    assert!(!redacted.contains("insecure"), "{redacted}");
    let other = json!([{ "name": "API_KEY" }, { "name": "x", "value": secret }]).to_string();
    assert_eq!(*plain().line(other.as_bytes()), *other.as_bytes());
}

/// All escapes of a line decoded, however deep.
fn decoded(line: &str) -> String {
    let mut text = line.as_bytes().to_vec();
    for _ in 0..5 {
        text = super::escapes::Decoded::of(&text).text.into_owned();
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn the_same_secret_has_the_same_placeholder_and_others_have_others() {
    let redactor = plain();
    let mut characters = Characters::new();
    let (one, other) = (characters.text(30), characters.text(30));
    let placeholder = |line: String| {
        let redacted = redactor.line(line.as_bytes()).into_owned();
        let text = String::from_utf8(redacted).unwrap();
        let start = text.find("REDACTED-").unwrap();
        let is_of_it = |byte: char| byte.is_ascii_alphanumeric() || byte == '-';
        text[start..].chars().take_while(|byte| is_of_it(*byte)).collect::<String>()
    };
    let first = placeholder(format!("{{\"password\":\"{one}\"}}"));
    let escaped = format!("\\u{:04x}{}", one.as_bytes()[0], &one[1..]);
    for line in [
        format!("{{\"text\":\"password={one}\"}}"),
        format!("{{\"arguments\":\"{{\\\"password\\\":\\\"{one}\\\"}}\"}}"),
        format!("{{\"password\":\"{escaped}\"}}"),
        format!("{{\"url\":\"redis://u:{one}@h\"}}"),
        format!("{{\"a\":1,\"passwords\":0,\"password\":[\"{one}\"]}}"),
    ] {
        assert_eq!(placeholder(line.clone()), first, "{line}");
    }
    assert_ne!(placeholder(format!("{{\"password\":\"{other}\"}}")), first);
    // Redacted once more, it stays.
    let again =
        format!("{{\"password\":\"{first}\",\"text\":\"password={first} token: {first}\"}}");
    assert_eq!(*redactor.line(again.as_bytes()), *again.as_bytes());
}

#[test]
fn all_other_bytes_stay_as_they_are() {
    let secret = Characters::new().text(24);
    let (head, tail) =
        (" {\"n\" : 1.50e+00,\t\"\\u0041\\/b\":\"caf\u{e9} \\ud83d API_KEY=", "\\n\" }\r\n");
    let line = format!("{head}{secret}{tail}");
    let redacted = plain().line(line.as_bytes()).into_owned();
    assert!(redacted.starts_with(head.as_bytes()) && redacted.ends_with(tail.as_bytes()));
    for line in ["", "\n", "{}", "\"", "\"\\", "{\"token\":", "\u{feff}{\"a\":1}", "[[[[", "\\u"] {
        assert_eq!(*plain().line(line.as_bytes()), *line.as_bytes());
    }
    let bytes = [b"{\"a\":\"\xff\xfe token=", secret.as_bytes(), b"\"}"].concat();
    assert!(plain().line(&bytes).starts_with(b"{\"a\":\"\xff\xfe token=REDACTED-"));
}

#[test]
fn a_key_with_a_string_for_each_line_is_replaced() {
    let key = private_key(6);
    let lines: Vec<String> = key.lines().map(|line| format!("+{line}")).collect();
    let line = json!({ "patch": { "lines": lines, "old": 3 }, "text": "the next" }).to_string();
    let redacted = String::from_utf8(plain().line(line.as_bytes()).into_owned()).unwrap();
    assert!(key.lines().all(|line| !redacted.contains(line)), "{redacted}");
    let value: Value = serde_json::from_str(&redacted).unwrap();
    assert_eq!(value["patch"]["lines"].as_array().unwrap().len(), lines.len());
    assert_eq!(value["text"], "the next");
}

#[test]
fn secrets_are_found_at_any_place_of_a_long_string() {
    let redactor = plain();
    let token = SHAPES.iter().find(|shape| shape.begins == "ghp_").unwrap();
    let token = token.example(Characters::new().pick());
    let key = private_key(30);
    let filler = "words \\n and \\u00e9 more ";
    for at in [0, 439_990, 440_000, 451_580, 524_280, 524_288, 900_000] {
        let mut line = String::from("{\"text\":\"");
        while line.len() < at {
            line.push_str(filler);
        }
        line.truncate((0..=at.max(9)).rev().find(|at| line.is_char_boundary(*at)).unwrap().max(9));
        line.push_str(&format!(" {token} {} ", key.replace('\n', "\\n")));
        while line.len() < 1_500_000 {
            line.push_str(filler);
        }
        line.push_str("\"}");
        let redacted = String::from_utf8(redactor.line(line.as_bytes()).into_owned()).unwrap();
        assert!(!redacted.contains(&token) && !redacted.contains(&key[100..160]), "{at}");
        assert_eq!(redacted.matches("REDACTED-").count(), 2, "{at}");
    }
}

#[test]
fn images_are_not_looked_at() {
    let token = SHAPES.iter().find(|shape| shape.begins == "AKIA").unwrap();
    let token = token.example(Characters::new().pick());
    let data = format!("{}+{token}/{}", "iVBORw0K".repeat(200), "AAAB".repeat(200));
    for line in [json!({ "data": data }), json!({ "url": format!("data:image/png;base64,{data}") })]
    {
        let line = line.to_string();
        assert_eq!(*plain().line(line.as_bytes()), *line.as_bytes());
    }
}

#[test]
fn callers_say_what_else_is_replaced() {
    let options =
        RedactionOptions { patterns: vec!["(?i)project \\w+".into()], emails: true, homes: true };
    let said = redactor(&options);
    let line = json!({
        "cwd": "/home/robin/work",
        "text": "Write to robin@example.org about Project Tide\nC:\\Users\\robin",
        "folder": "-home-robin-work",
    });
    let redacted = said.line(line.to_string().as_bytes()).into_owned();
    let redacted: Value = serde_json::from_slice(&redacted).unwrap();
    let cwd = redacted["cwd"].as_str().unwrap();
    let robin = cwd.strip_prefix("/home/").unwrap().strip_suffix("/work").unwrap();
    assert!(robin.starts_with("REDACTED-home-"), "{cwd}");
    assert_eq!(redacted["folder"], format!("-home-{robin}-work"));
    let text = redacted["text"].as_str().unwrap();
    assert!(
        text.starts_with("Write to REDACTED-email-") && text.contains("about REDACTED-pattern-")
    );
    assert!(text.ends_with(&format!("C:\\Users\\{robin}")), "{text}");
    let again = said.line(redacted.to_string().as_bytes()).into_owned();
    assert_eq!(serde_json::from_slice::<Value>(&again).unwrap(), redacted);
    let kinds: Vec<_> =
        said.redactions().kinds.iter().map(|(kind, count)| (*kind, count.places)).collect();
    assert_eq!(kinds, [("email", 1), ("home", 3), ("pattern", 1)]);

    let wrong = RedactionOptions { patterns: vec!["(".into()], ..RedactionOptions::default() };
    let error = Store::in_memory().unwrap().redactor(&wrong).unwrap_err().to_string();
    assert!(error.contains("the pattern ( is no regular expression"), "{error}");
}

#[test]
fn a_stream_is_redacted_whatever_its_pieces() {
    let redactor = plain();
    let lines: Vec<String> = planted()
        .iter()
        .flat_map(|planted| lines_with(&format!("{}{}", planted.before, planted.secret)))
        .filter(|line| !line.contains('\n'))
        .take(300)
        .collect();
    let file = lines.join("\n");
    let expected: Vec<Vec<u8>> =
        lines.iter().map(|line| redactor.line(line.as_bytes()).into_owned()).collect();
    let expected = expected.join(&b'\n');
    for piece in [1, 7, 4096, file.len()] {
        let mut out = Vec::new();
        let mut writer = redactor.writer(&mut out);
        file.as_bytes().chunks(piece).for_each(|piece| writer.write_all(piece).unwrap());
        assert_eq!(writer.finish().unwrap(), expected.len() as u64);
        assert!(out == expected, "{piece}");
    }
}

#[test]
fn a_key_beside_the_store_keeps_placeholders_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let text = format!("password={}", Characters::new().text(20));
    let options = RedactionOptions::default();
    let redact = |store: &Store| store.redactor(&options).unwrap().text(&text).into_owned();
    let store = Store::open(place("a")).unwrap();
    let first = redact(&store);
    drop(store);
    let before = std::fs::read(place("a")).unwrap();
    assert_eq!(redact(&Store::open(place("a")).unwrap()), first);
    assert_eq!(std::fs::read(place("a")).unwrap().len(), before.len());
    assert_ne!(redact(&Store::open(place("b")).unwrap()), first);
    assert!(!Store::in_memory().unwrap().redactor(&options).unwrap().is_lasting());
}

/// Bytes a second, and finds in a megabyte, of the texts in a folder: `cargo test --release --features redact -- --ignored redaction_rates
/// --nocapture`, with LEAFLINE_CORPUS.
#[test]
#[ignore = "measures"]
fn redaction_rates() {
    let redactor = plain();
    let mut corpora: Vec<(String, Vec<u8>)> = Vec::new();
    for family in [leafline_generate::Family::Pi, leafline_generate::Family::Claude] {
        let bytes = leafline_generate::random_tree_session(7, 60_000, family);
        corpora.push((format!("generated, {family:?}"), bytes));
    }
    if let Some(folder) = std::env::var_os("LEAFLINE_CORPUS") {
        let (mut folders, mut bytes) = (vec![std::path::PathBuf::from(folder)], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        let text = std::fs::read(path).unwrap();
                        bytes.extend(std::str::from_utf8(&text).unwrap_or_default().bytes());
                    }
                }
            }
        }
        corpora.push(("corpus".into(), bytes));
    }
    for (name, bytes) in corpora {
        let begun = std::time::Instant::now();
        let mut found = super::Redactions::default();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            redactor.secrets(line, &mut |secret| {
                found.add(secret.kind, secret.tag);
                if std::env::var_os("LEAFLINE_SHOW").is_some() {
                    let from = secret.place.start.saturating_sub(40);
                    println!("{}: {}", secret.kind, line[from..secret.place.end].escape_ascii());
                }
            });
        }
        let (seconds, megabytes) = (begun.elapsed().as_secs_f64(), bytes.len() as f64 / 1e6);
        let places: u64 = found.kinds.values().map(|count| count.places).sum();
        println!(
            "{name}: {megabytes:.1} MB at {:.0} MB/s, {:.2} finds/MB {:?}",
            megabytes / seconds,
            places as f64 / megabytes,
            found.kinds
        );
    }
}
