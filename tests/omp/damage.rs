//! Random damage to random sessions.

use super::random::Random;
use super::{Case, trees};

/// The damaged session of a number.
pub(crate) fn case(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0xdead);
    let mut text = trees::case(seed + 1_000_000).text.into_bytes();
    for _ in 0..=random.below(3) {
        damage(&mut text, &mut random);
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    Case { name: format!("damaged {seed}"), text }
}

fn damage(text: &mut Vec<u8>, random: &mut Random) {
    if text.is_empty() {
        return;
    }
    // The header stays, or there is nothing to compare.
    let body = text.iter().position(|&byte| byte == b'\n').map_or(0, |end| {
        let second = text[end + 1..].iter().position(|&byte| byte == b'\n');
        second.map_or(end, |second| end + 1 + second)
    });
    let at = body + random.below(text.len() - body);
    let newline = text[at..].iter().position(|&byte| byte == b'\n').map(|offset| at + offset);
    match random.below(9) {
        0 => text.truncate(at),
        1 => text[at] = random.one(b"{}[]\",:\\ \n\0x0"),
        2 => text.insert(at, random.one(b"{}[]\",:\\ \n\r\0x0")),
        3 => {
            text.remove(at);
        }
        // Two records on one line.
        4 | 5 => {
            if let Some(newline) = newline {
                text.remove(newline);
            }
        }
        6 => {
            let end = (at + random.below(200)).min(text.len());
            text.drain(at..end);
        }
        7 => {
            if let Some(newline) = newline {
                let garbage =
                    random.one(&["\0\0\0", " ", "}", "{\"type\":", "\u{a0}", "\r", "// x"]);
                text.splice(newline..newline, garbage.bytes());
            }
        }
        _ => {
            if let Some(newline) = newline {
                let garbage = random.one(&[
                    "\n\n",
                    "\nnull",
                    "\n[1]",
                    "\n7",
                    "\n\u{feff}",
                    "\n {\"type\":\"leaf\"}",
                ]);
                text.splice(newline..newline, garbage.bytes());
            }
        }
    }
}
