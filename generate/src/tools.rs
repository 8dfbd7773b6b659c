//! An agent's tool calls and their results.

use crate::code::Line;
use crate::number::integer;
use crate::project::Project;
use crate::random::{ALPHANUMERIC, Random};
use crate::recorder::text_member;
use crate::shell;

/// A tool call; its result follows in a message of its own.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: Vec<u8>,
    pub(crate) tool: &'static str,
    /// The members of its arguments, each preceded by a comma.
    pub(crate) arguments: Vec<u8>,
    /// The result's text, escaped.
    pub(crate) result: Vec<u8>,
    /// The value of the result's `details`, if it has one.
    pub(crate) details: Vec<u8>,
    pub(crate) failed: bool,
}

/// The frequency of each tool: read, bash, edit, write.
const WEIGHTS: [usize; 4] = [200, 470, 305, 25];
/// Of 1,000 reads, how many read a new file.
const READS_OF_NEW_FILES: usize = 170;
/// Of 1,000 reads, how many read only a part of the file.
const READS_OF_PARTS: usize = 450;

/// Appends pi's `toolCall` block to a message's content and returns the call.
pub(crate) fn call(content: &mut Vec<u8>, project: &mut Project, random: &mut Random) -> Call {
    let call = make(project, random);
    content.extend_from_slice(b"{\"type\":\"toolCall\",\"id\":\"");
    content.extend_from_slice(&call.id);
    content.extend_from_slice(b"\",\"name\":\"");
    content.extend_from_slice(call.tool.as_bytes());
    content.extend_from_slice(b"\",\"arguments\":{");
    content.extend_from_slice(&call.arguments[1..]);
    content.extend_from_slice(b"}}");
    call
}

/// A call of a tool.
pub(crate) fn make(project: &mut Project, random: &mut Random) -> Call {
    let mut id = b"toolu_01".to_vec();
    random.characters(&mut id, ALPHANUMERIC, 22);
    let mut call = Call {
        id,
        tool: "",
        arguments: Vec::new(),
        result: Vec::new(),
        details: Vec::new(),
        failed: false,
    };
    let mut arguments = Vec::new();
    match random.weighted(&WEIGHTS) {
        0 => read(&mut call, &mut arguments, project, random),
        1 => bash(&mut call, &mut arguments, project, random),
        2 => edit(&mut call, &mut arguments, project, random),
        _ => write(&mut call, &mut arguments, project, random),
    }
    call.arguments = arguments;
    call
}

fn read(call: &mut Call, arguments: &mut Vec<u8>, project: &mut Project, random: &mut Random) {
    call.tool = "read";
    let place = if random.chance(READS_OF_NEW_FILES) {
        project.add_file(random)
    } else {
        project.use_file(random)
    };
    path_argument(arguments, project, place);
    let lines = &project.file(place).lines;
    if lines.len() > 40 && random.chance(READS_OF_PARTS) {
        let start = random.below(lines.len() - 30);
        let count = random.between(20, 120);
        arguments.extend_from_slice(b",\"offset\":");
        integer(arguments, start as u64 + 1);
        arguments.extend_from_slice(b",\"limit\":");
        integer(arguments, count as u64);
        let end = (start + count).min(lines.len());
        join(&mut call.result, &lines[start..end]);
    } else {
        join(&mut call.result, lines);
    }
}

fn bash(call: &mut Call, arguments: &mut Vec<u8>, project: &mut Project, random: &mut Random) {
    call.tool = "bash";
    let place = project.use_file(random);
    let mut command = Vec::new();
    let size = random.size(330.0, 3.6).min(60_000);
    if random.chance(150) {
        let mut unseen = Vec::new();
        shell::run(&mut command, &mut unseen, 0, project, place, random);
        call.result.extend_from_slice(b"(no output)");
    } else {
        shell::run(&mut command, &mut call.result, size, project, place, random);
    }
    text_member(arguments, "command", &command);
    if random.chance(60) {
        call.failed = true;
        call.result.extend_from_slice(b"\\n\\nCommand exited with code 1");
    }
}

fn edit(call: &mut Call, arguments: &mut Vec<u8>, project: &mut Project, random: &mut Random) {
    call.tool = "edit";
    let place = project.use_file(random);
    path_argument(arguments, project, place);
    let count = project.file(place).lines.len();
    let start = random.below(count);
    let end = (start + random.size(7.0, 2.6).min(200)).min(count);
    let fresh = edited(project, place, start..end, random);
    let file = project.file(place);
    let old = &file.lines[start..end];
    let mut text = Vec::new();
    join(&mut text, old);
    text_member(arguments, "oldText", &text);
    let old_size = text.len();
    text.clear();
    join(&mut text, &fresh);
    text_member(arguments, "newText", &text);
    if random.chance(30) {
        call.failed = true;
        call.result.extend_from_slice(b"Could not find the exact text in ");
        call.result.extend_from_slice(file.path.as_bytes());
        call.result.extend_from_slice(
            b". The old text must match exactly including all whitespace and newlines.",
        );
        call.details.extend_from_slice(b"{}");
        return;
    }
    call.result.extend_from_slice(b"Successfully replaced text in ");
    call.result.extend_from_slice(file.path.as_bytes());
    call.result.extend_from_slice(b". Changed ");
    integer(&mut call.result, old_size as u64);
    call.result.extend_from_slice(b" characters to ");
    integer(&mut call.result, text.len() as u64);
    call.result.extend_from_slice(b" characters.");
    difference(&mut call.details, &file.lines, start..end, &fresh);
    project.replace(place, start..end, fresh);
}

/// The lines that replace a range: some kept, some new, sometimes more.
fn edited(
    project: &Project,
    place: usize,
    range: std::ops::Range<usize>,
    random: &mut Random,
) -> Vec<Line> {
    let mut fresh = Vec::new();
    for line in &project.file(place).lines[range] {
        match random.weighted(&[72, 13, 15]) {
            0 => fresh.push(line.clone()),
            1 => fresh.extend(project.passage(place, 1, random)),
            _ => {}
        }
    }
    if random.chance(600) {
        let count = random.size(4.0, 2.4).min(120);
        let at = random.below(fresh.len() + 1);
        fresh.splice(at..at, project.passage(place, count, random));
    }
    fresh
}

/// Appends the `details` of an edit: its lines with their numbers, and up to 4 lines before and after.
fn difference(
    details: &mut Vec<u8>,
    lines: &[Line],
    range: std::ops::Range<usize>,
    fresh: &[Line],
) {
    details.extend_from_slice(b"{\"diff\":\"");
    let width = lines.len().to_string().len();
    let mut rows = |mark: &str, first: usize, lines: &[Line]| {
        for (number, line) in (first + 1..).zip(lines) {
            details.extend_from_slice(format!("{mark}{number:>width$} ").as_bytes());
            details.extend_from_slice(line);
            details.extend_from_slice(b"\\n");
        }
    };
    let ahead = range.start.saturating_sub(4);
    let behind = (range.end + 4).min(lines.len());
    rows(" ", ahead, &lines[ahead..range.start]);
    rows("-", range.start, &lines[range.clone()]);
    rows("+", range.start, fresh);
    rows(" ", range.end, &lines[range.end..behind]);
    details.extend_from_slice(b"\"}");
}

fn write(call: &mut Call, arguments: &mut Vec<u8>, project: &mut Project, random: &mut Random) {
    call.tool = "write";
    let place = project.add_file(random);
    path_argument(arguments, project, place);
    let file = project.file(place);
    let mut text = Vec::new();
    join(&mut text, &file.lines);
    text_member(arguments, "content", &text);
    call.result.extend_from_slice(b"Successfully wrote ");
    integer(&mut call.result, text.len() as u64);
    call.result.extend_from_slice(b" bytes to ");
    call.result.extend_from_slice(file.path.as_bytes());
}

fn path_argument(arguments: &mut Vec<u8>, project: &Project, place: usize) {
    let path = format!("{}/{}", project.folder, project.file(place).path);
    text_member(arguments, "path", path.as_bytes());
}

fn join(out: &mut Vec<u8>, lines: &[Line]) {
    for (place, line) in lines.iter().enumerate() {
        if place > 0 {
            out.extend_from_slice(b"\\n");
        }
        out.extend_from_slice(line);
    }
}
