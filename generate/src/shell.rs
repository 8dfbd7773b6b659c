//! Commands and their output: searches, listings, test runs, diffs, build errors, logs.

use crate::number::integer;
use crate::project::Project;
use crate::random::Random;
use crate::template::{Scope, escape, fill};

/// Kinds of commands, each with its frequency.
const WEIGHTS: [usize; 7] = [26, 8, 26, 10, 8, 8, 14];

/// Appends a command to `command` and its output, about `size` bytes, to `output`.
pub(crate) fn run(
    command: &mut Vec<u8>,
    output: &mut Vec<u8>,
    size: usize,
    project: &Project,
    place: usize,
    random: &mut Random,
) {
    let scope = project.scope(place);
    if random.chance(450) {
        escape(command, b"cd ");
        escape(command, project.folder.as_bytes());
        escape(command, b" && ");
    }
    let end = output.len() + size;
    match random.weighted(&WEIGHTS) {
        0 => search(command, output, end, project, place, random),
        1 => {
            fill(command, "ls -la src/$k", scope, random);
            repeat(
                output,
                end,
                &["-rw-r--r--  1 robin  staff  $N Mar $n 1$d:$d$d $k.$w"],
                scope,
                random,
            );
        }
        2 => {
            fill(command, "npm test -- $k 2>&1 | tail -$n", scope, random);
            repeat(output, end, TESTS, scope, random);
        }
        3 => {
            fill(command, "git diff HEAD~$d -- src/$k", scope, random);
            difference(output, end, project, place, random);
        }
        4 => {
            fill(command, "git log --oneline -$n", scope, random);
            repeat(output, end, &["$h $w: $c", "$h fix($k): $c"], scope, random);
        }
        5 => {
            fill(command, "npm run check 2>&1 | head -$n", scope, random);
            repeat(output, end, ERRORS, scope, random);
        }
        _ => {
            let pattern = random.pick(SCRIPTS);
            fill(command, pattern, scope, random);
            repeat(output, end.min(output.len() + 400), LOGS, scope, random);
        }
    }
}

const TESTS: &[&str] = &[
    " \u{2713} test/$k.test.ts > $s > $s $nms",
    " \u{2713} test/$k.test.ts ($n tests) $Nms",
    " \u{276f} test/$k.test.ts > $s",
    "   \u{2192} expected '$s' to be '$s' // Object.is equality",
    "test $k::tests::$v ... ok",
    "    at $T.$v (src/$k/$k.ts:$N:$n)",
];

const ERRORS: &[&str] = &[
    "src/$k/$k.ts($N,$n): error TS2$d$d$d: Property '$v' does not exist on type '$T'.",
    "error[E0$d$d$d]: cannot find value `$v` in this scope",
    "  --> src/$k/$k.rs:$N:$n",
    "warning: unused variable: `$v`",
];

const LOGS: &[&str] = &[
    "{\"level\":\"$w\",\"$w\":\"$v\",\"$w\":$N,\"id\":\"$b\"}",
    "[$n:$n:$n] $T: $c",
    "$w=$v $w=$N $w=$h",
    "$s",
];

const SCRIPTS: &[&str] = &[
    "cat package.json | grep $w",
    "node -e \"console.log($v.$v($n))\"",
    "git add -A && git commit -m \"$s: $c\" && git push",
    "python3 -m $w.$w --$w $n",
    "find . -name \"*.$w\" | xargs wc -l",
    "sed -n '$n,$Np' src/$k/$k.ts",
    "curl -s localhost:$N/$k | head -c $N",
];

fn repeat(
    output: &mut Vec<u8>,
    end: usize,
    patterns: &[&str],
    scope: Scope<'_>,
    random: &mut Random,
) {
    while output.len() < end {
        let pattern = patterns[random.rank(patterns.len())];
        fill(output, pattern, scope, random);
        output.extend_from_slice(b"\\n");
    }
}

fn search(
    command: &mut Vec<u8>,
    output: &mut Vec<u8>,
    end: usize,
    project: &Project,
    place: usize,
    random: &mut Random,
) {
    fill(command, "grep -rn \"$v\" src --include=*.$w", project.scope(place), random);
    while output.len() < end {
        let file = project.look_at_file(random);
        let mut number = 0;
        for _ in 0..random.between(1, 6) {
            number += random.between(1, 60);
            let Some(line) = file.lines.get(number) else {
                break;
            };
            output.extend_from_slice(file.path.as_bytes());
            output.push(b':');
            integer(output, number as u64 + 1);
            output.push(b':');
            output.extend_from_slice(line);
            output.extend_from_slice(b"\\n");
        }
    }
}

fn difference(
    output: &mut Vec<u8>,
    end: usize,
    project: &Project,
    place: usize,
    random: &mut Random,
) {
    let file = project.file(place);
    fill(output, "index $h..$h 100644\n--- a/", project.scope(place), random);
    escape(output, file.path.as_bytes());
    escape(output, b"\n+++ b/");
    escape(output, file.path.as_bytes());
    while output.len() < end {
        let start = random.below(file.lines.len());
        fill(output, "\n@@ -$N,$n +$N,$n @@", project.scope(place), random);
        for line in file.lines[start..].iter().take(random.between(3, 12)) {
            output.extend_from_slice(match random.weighted(&[6, 1, 2]) {
                0 => b"\\n ".as_slice(),
                1 => b"\\n-",
                _ => b"\\n+",
            });
            output.extend_from_slice(line);
        }
    }
}
