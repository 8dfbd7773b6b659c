//! The operations on a session, and random sequences of them.

use super::values;
use crate::random::Random;

/// An entry, counted among those that exist when it is used. So a sequence stays valid when operations are dropped.
#[derive(Debug, Clone)]
pub(super) enum Reference {
    /// This many entries before the last one, wrapping around.
    Back(usize),
    /// An id that no entry has.
    Unknown,
}

/// A message as a caller of the library has it. Its numbers may differ from the text that it was read from: serde_json
/// does not keep all digits.
#[derive(Debug, Clone)]
pub(super) enum Message {
    Text(String),
    Value(serde_json::Value),
}

/// An operation. JSON is text, as both programs receive it.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Message(Message),
    /// Messages that Leafline appends at once, and pi one by one.
    Messages(Vec<String>),
    ThinkingLevel(String),
    Model(String, String),
    Compaction {
        summary: String,
        first_kept: Reference,
        tokens_before: u64,
        details: Option<String>,
        from_hook: Option<bool>,
    },
    Custom {
        custom_type: String,
        data: Option<String>,
    },
    CustomMessage {
        custom_type: String,
        content: String,
        display: bool,
        details: Option<String>,
    },
    Name(String),
    Label {
        target: Reference,
        label: Option<String>,
    },
    Branch(Reference),
    ResetLeaf,
    BranchWithSummary {
        entry: Option<Reference>,
        summary: String,
        details: Option<String>,
        from_hook: Option<bool>,
    },
    CreateBranchedSession(Reference),
    Fork,
    Reopen,
    /// Asks for the paths, children and contexts of these; `None` stands for the leaf's path, the roots and the empty
    /// context.
    Observe(Vec<Option<Reference>>),
}

/// The id that nothing has.
pub(super) const UNKNOWN: &str = "nowhere";

const LABELS: [&str; 6] = ["checkpoint", "später", "\u{2028}\"\\", "constructor", "1", " "];

/// A sequence of 10 to 60 operations, observed at its end.
pub(super) fn sequence(seed: u64) -> Vec<Operation> {
    let mut random = Random::new(seed);
    let count = random.between(10, 50);
    // Some sequences stay on one branch for long, and some never do.
    let wanders = random.chance(50);
    operations(&mut random, count, wanders)
}

/// A sequence of 300 to 500 operations.
pub(super) fn long_sequence(seed: u64) -> Vec<Operation> {
    let mut random = Random::new(seed ^ 0x1095_0000);
    let count = random.between(300, 500);
    let mut all = operations(&mut random, count, true);
    // These would remove most of it.
    all.retain(|operation| !matches!(operation, Operation::CreateBranchedSession(_)));
    all
}

/// The operations on an existing session.
pub(super) fn continuation(seed: u64) -> Vec<Operation> {
    let mut random = Random::new(seed ^ 0xc0ff_ee00);
    let count = random.between(10, 20);
    let mut all = vec![Operation::Observe(references(&mut random))];
    all.extend(operations(&mut random, count, true));
    all
}

fn operations(random: &mut Random, count: usize, wanders: bool) -> Vec<Operation> {
    let mut all: Vec<Operation> = (0..count).map(|_| operation(random, wanders)).collect();
    all.push(Operation::Observe(references(random)));
    all
}

fn references(random: &mut Random) -> Vec<Option<Reference>> {
    (0..3).map(|_| random.sometimes(90, reference)).collect()
}

fn reference(random: &mut Random) -> Reference {
    match random.below(20) {
        0 => Reference::Unknown,
        1..=9 => Reference::Back(random.below(6)),
        _ => Reference::Back(random.below(60)),
    }
}

fn operation(random: &mut Random, wanders: bool) -> Operation {
    let kinds = if wanders { 100 } else { 78 };
    match random.below(kinds) {
        0 => Operation::Messages(
            (0..random.between(2, 20)).map(|_| values::message(random)).collect(),
        ),
        1..=34 => {
            let text = values::message(random);
            // serde_json refuses some of what JavaScript accepts.
            let value = serde_json::from_str(&text).ok().filter(|_| random.chance(50));
            Operation::Message(value.map_or(Message::Text(text), Message::Value))
        }
        35..=38 => Operation::ThinkingLevel(values::text(random)),
        39..=42 => Operation::Model(values::text(random), values::text(random)),
        43..=48 => Operation::Compaction {
            summary: values::text(random),
            first_kept: reference(random),
            tokens_before: *random.pick(&[0, 50_000, 1 << 53, (1 << 53) + 1]),
            details: random.sometimes(40, |random| values::value(random, 3)),
            from_hook: random.sometimes(40, |random| random.chance(50)),
        },
        49..=53 => Operation::Custom {
            custom_type: values::text(random),
            data: random.sometimes(80, |random| values::value(random, 4)),
        },
        54..=58 => Operation::CustomMessage {
            custom_type: values::text(random),
            content: values::content(random),
            display: random.chance(50),
            details: random.sometimes(50, |random| values::value(random, 3)),
        },
        59..=62 => Operation::Name(values::text(random)),
        63..=71 => Operation::Label {
            target: reference(random),
            label: match random.below(10) {
                0 | 1 => None,
                2 => Some(String::new()),
                _ => Some((*random.pick(&LABELS)).to_owned()),
            },
        },
        72..=74 => Operation::Observe(references(random)),
        75 => Operation::Reopen,
        76 | 77 => Operation::CreateBranchedSession(reference(random)),
        78..=86 => Operation::Branch(reference(random)),
        87 => Operation::ResetLeaf,
        88..=94 => Operation::BranchWithSummary {
            entry: random.sometimes(80, reference),
            summary: values::text(random),
            details: random.sometimes(40, |random| values::value(random, 3)),
            from_hook: random.sometimes(40, |random| random.chance(50)),
        },
        95 | 96 => Operation::Fork,
        97 => Operation::Reopen,
        _ => Operation::CreateBranchedSession(reference(random)),
    }
}
