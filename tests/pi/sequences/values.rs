//! Random texts and JSON, legal but odd.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::random::Random;

/// Parts of texts: characters that JSON escapes, that JavaScript trims and Rust does not, and that need two UTF-16
/// units.
const WORDS: [&str; 16] = [
    "retry",
    "flaky",
    "café",
    "ünïcödé",
    "🍂",
    "👩‍🚀",
    "行",
    "\u{2028}",
    "\u{85}",
    "\u{feff}",
    "\u{0}",
    "\u{7f}",
    "\t\r\n\u{8}\u{c}\u{1b}",
    "\"quoted\" \\ /",
    "{\"type\":\"session\"}",
    "blob:sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
];

/// JSON strings as text, with escapes that no program writes and lone surrogates, which no Rust string holds.
const RAW_STRINGS: [&str; 6] = [
    r#""\u0041\/\u00e9""#,
    r#""\ud83c\udf42""#,
    r#""\ud83c""#,
    r#""a\udf42\ud83cb""#,
    r#""\u0000\u001f\u007f\u2028""#,
    r#""""#,
];

const NUMBERS: [&str; 17] = [
    "0",
    "-0",
    "-0.0",
    "1.0",
    "1e21",
    "1E21",
    "1e20",
    "1e-7",
    "0.000001",
    "123456789012345678901",
    "9007199254740993",
    "0.1",
    "1.7976931348623157e308",
    "5e-324",
    "1e400",
    "-12.50",
    "1760000000000",
];

/// Names of members: array indices come first in a JavaScript object, whatever their place in the text.
const NAMES: [&str; 14] = [
    "name",
    "data",
    "10",
    "9",
    "01",
    "4294967294",
    "4294967295",
    "-1",
    "1.5",
    "",
    "__proto__",
    "toString",
    "schlüssel",
    "type",
];

/// A text, empty now and then.
pub(super) fn text(random: &mut Random) -> String {
    let count = random.between(0, 5);
    let words: Vec<&str> = (0..count).map(|_| *random.pick(&WORDS)).collect();
    words.join([" ", "", "\n"][random.below(3)])
}

/// A text as JSON, sometimes in a form that only JSON text has.
fn string(random: &mut Random) -> String {
    if random.chance(20) {
        return (*random.pick(&RAW_STRINGS)).to_owned();
    }
    quoted(&text(random))
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Any JSON.
pub(super) fn value(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 => "null".to_owned(),
        1 => ["true", "false"][random.below(2)].to_owned(),
        2 => (*random.pick(&NUMBERS)).to_owned(),
        3 | 4 => string(random),
        5 | 6 => {
            let values: Vec<String> =
                (0..random.below(4)).map(|_| value(random, depth - 1)).collect();
            format!("[{}]", values.join([",", " , "][random.below(2)]))
        }
        _ => format!("{{{}}}", members(random, depth - 1).join(",")),
    }
}

/// Members of an object; a name may come twice.
fn members(random: &mut Random, depth: usize) -> Vec<String> {
    (0..random.below(5))
        .map(|_| format!("{}: {}", quoted(random.pick::<&str>(&NAMES)), value(random, depth)))
        .collect()
}

/// The data of an image around and above the 1,024 characters from which Leafline keeps it separately, usually one of a
/// few, and sometimes one that no encoder would write.
fn image_data(random: &mut Random) -> String {
    let mut source = Random::new(random.below(6) as u64);
    if random.chance(30) {
        source = random.clone();
        random.below(2);
    }
    let mut data = base64(&mut source, 740, 1000);
    match random.below(12) {
        0 => data.truncate(data.len() - 1),
        1 => data.insert_str(100, "\\n"),
        2 => data = data.replace('/', "\\/"),
        3 => data = data.replace('=', ""),
        4 => data.push('='),
        _ => {}
    }
    data
}

/// Base64 of so many bytes.
fn base64(random: &mut Random, least: usize, most: usize) -> String {
    let count = random.between(least, most);
    let bytes: Vec<u8> = (0..count).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
    STANDARD.encode(bytes)
}

/// A block of a message's content.
fn block(random: &mut Random) -> String {
    match random.below(5) {
        0 => {
            let data = image_data(random);
            let data = format!(r#""data":"{data}""#);
            let kind = r#""type":"image""#;
            let mime = r#""mimeType":"image/png""#;
            match random.below(3) {
                0 => format!("{{{data},{kind},{mime}}}"),
                1 => format!(r#"{{{kind},"extra":1.0,{mime},{data}}}"#),
                _ => format!("{{{kind},{data},{mime}}}"),
            }
        }
        1 => format!(
            r#"{{"type":"toolCall","id":"call_{}","name":"read","arguments":{{{}}}}}"#,
            random.below(100),
            members(random, 2).join(",")
        ),
        2 if random.chance(2) => format!(
            r#"{{"type":"thinking","thinking":"","thinkingSignature":"{}"}}"#,
            base64(random, 15_000, 60_000)
        ),
        2 => format!(r#"{{"type":"thinking","thinking":{}}}"#, string(random)),
        _ => format!(r#"{{"type":"text","text":{}}}"#, string(random)),
    }
}

/// A message's content: a text or blocks.
pub(super) fn content(random: &mut Random) -> String {
    if random.chance(40) {
        return string(random);
    }
    let blocks: Vec<String> = (0..random.below(4)).map(|_| block(random)).collect();
    format!("[{}]", blocks.join(","))
}

/// A message of any role.
pub(super) fn message(random: &mut Random) -> String {
    let mut members = match random.below(20) {
        0..=6 => vec![r#""role":"user""#.to_owned(), format!(r#""content":{}"#, content(random))],
        7..=12 => assistant(random),
        13..=16 => vec![
            r#""role":"toolResult""#.to_owned(),
            r#""toolCallId":"call_1""#.to_owned(),
            format!(r#""content":{}"#, content(random)),
            r#""isError":false"#.to_owned(),
        ],
        17 | 18 => vec![
            r#""role":"custom""#.to_owned(),
            r#""customType":"note""#.to_owned(),
            format!(r#""content":{}"#, content(random)),
        ],
        _ => {
            vec![r#""role":"bashExecution""#.to_owned(), format!(r#""command":{}"#, string(random))]
        }
    };
    if random.chance(30) {
        members.push(format!(r#""timestamp":{}"#, random.pick(&NUMBERS)));
    }
    if random.chance(20) {
        let member = format!("{}:{}", quoted(random.pick::<&str>(&NAMES)), value(random, 2));
        let place = random.between(0, members.len());
        members.insert(place, member);
    }
    if random.chance(5) {
        // Of a member met twice, the last value counts.
        members.insert(0, r#""role":"assistant""#.to_owned());
    }
    if random.chance(20) {
        members.reverse();
    }
    format!("{{{}}}", members.join(","))
}

fn assistant(random: &mut Random) -> Vec<String> {
    let mut members =
        vec![r#""role":"assistant""#.to_owned(), format!(r#""content":{}"#, content(random))];
    if random.chance(90) {
        members.push(format!(r#""provider":{}"#, string(random)));
        members.push(format!(r#""model":{}"#, string(random)));
    }
    members
}
