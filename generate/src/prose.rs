//! What people and agents say to each other, and what agents think.

use crate::random::Random;
use crate::template::{Scope, fill};

/// Phrases that agents repeat.
const OPENINGS: &[&str] = &[
    "Now let me look at `$v` in `$k`",
    "Let me check how `$v` is used",
    "The $w is in `$T`: $c",
    "I see. $c",
    "Now I'll update `$v` so that $c",
    "Let me run the tests again",
    "That fails because `$v` $s",
    "Good. Now the $w",
    "Let me run the whole test suite to be sure",
    "I need to $c",
    "So `$T.$v` should $c",
    "Wait, $c",
    "All tests pass now",
    "Let me look at the file again",
    "First, $c",
    "$c, while `$v` $s",
    "$c",
];

/// Requests of a person.
const REQUESTS: &[&str] = &[
    "please look at $k and tell me why $c",
    "ok, now make `$v` $s",
    "can we $c? i don't want $s",
    "read @src/$k/$k and $c",
    "no, $c. keep $v as it is",
    "commit and push",
    "yes",
    "continue",
    "run the tests, then $c",
    "why does $v $c? it should $c",
    "hm, $c",
];

/// Appends about `size` bytes of prose: sentences, and now and then a list.
pub(crate) fn prose(out: &mut Vec<u8>, size: usize, scope: Scope<'_>, random: &mut Random) {
    let end = out.len() + size;
    let mut first = true;
    while out.len() < end {
        if !first {
            out.extend_from_slice(match random.weighted(&[70, 20, 10]) {
                0 => b" ".as_slice(),
                1 => b"\\n\\n",
                _ => b"\\n- ",
            });
        }
        first = false;
        sentence(out, OPENINGS, scope, random);
    }
}

/// Appends a person's message of about `size` bytes.
pub(crate) fn request(out: &mut Vec<u8>, size: usize, scope: Scope<'_>, random: &mut Random) {
    let end = out.len() + size;
    loop {
        let pattern = random.pick(REQUESTS);
        fill(out, pattern, scope, random);
        if out.len() >= end {
            break;
        }
        out.extend_from_slice(if random.chance(800) { b". " } else { b"\\n\\n" });
    }
}

/// Appends about `size` bytes of a summary in Markdown, with headings and lists of files.
pub(crate) fn summary(out: &mut Vec<u8>, size: usize, scope: Scope<'_>, random: &mut Random) {
    const HEADINGS: [&str; 6] = [
        "## Goal",
        "## Progress",
        "## Key decisions",
        "## Files changed",
        "## Open questions",
        "## Next steps",
    ];
    let end = out.len() + size;
    for heading in HEADINGS {
        out.extend_from_slice(heading.as_bytes());
        out.extend_from_slice(b"\\n");
        for _ in 0..random.between(1, 1 + size / 500) {
            let pattern = random.pick(&["1. **$s**: $c", "- `src/$k/$k`: $c", "- $c", "- [x] $c"]);
            fill(out, pattern, scope, random);
            out.extend_from_slice(b"\\n");
        }
        if out.len() > end {
            break;
        }
        out.extend_from_slice(b"\\n");
    }
}

fn sentence(out: &mut Vec<u8>, patterns: &[&str], scope: Scope<'_>, random: &mut Random) {
    let pattern = patterns[random.rank(patterns.len() * 3) % patterns.len()];
    fill(out, pattern, scope, random);
    out.push(if random.chance(850) { b'.' } else { b':' });
}
