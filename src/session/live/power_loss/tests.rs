//! Short runs.

use std::time::Duration;

use super::images::Desk;
use super::run::Report;
use super::script::Script;

/// Runs scripts, each from the image that the one before has left, and checks images of so many events of each.
fn run(scripts: impl IntoIterator<Item = Script>, events: usize) -> Report {
    let mut report = Report::default();
    let (mut desk, mut left) = (Desk::new(), None);
    for script in scripts {
        let from = left.take().filter(|_| !script.fails);
        let (one, next) = script.run(&mut desk, from.as_ref(), events);
        report.add(one);
        left = next;
    }
    println!("{report:#?}");
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    report
}

#[test]
fn what_was_acknowledged_survives_a_power_loss() {
    let scripts = (1..=10).map(|seed| Script {
        threads: 2 + usize::from(seed % 3 == 0),
        steps: 20,
        parts: 2,
        alone: 6,
        fails: false,
        ..Script::of_seed(seed)
    });
    let report = run(scripts, 20);
    assert!(report.together > 0 && report.areas > 0 && report.continued > 0);
    let kinds = [
        "append",
        "append by all",
        "append in a new store",
        "append lines",
        "append several",
        "backup",
        "backup again",
        "begin",
        "branch with a summary",
        "compact",
        "import",
        "import again",
        "import another file",
        "label",
        "make a store",
        "metadata",
        "move the leaf",
        "name",
        "open",
        "remove",
        "replace a segment",
        "rewrite",
    ];
    for kind in kinds {
        assert!(report.calls.contains_key(kind), "{kind}");
    }
}

#[test]
fn what_was_acknowledged_survives_failures_of_the_system() {
    let scripts = (1..=8).map(|seed| Script {
        threads: 0,
        steps: 40,
        parts: 1,
        area: Some([8 << 10, 32 << 10][usize::from(seed % 2 == 0)]),
        text: 2000,
        fails: true,
        ..Script::of_seed(seed)
    });
    assert!(run(scripts, 10).images > 100);
}

#[test]
fn areas_of_the_usual_size_are_used_again() {
    let script = |seed| Script {
        seed,
        threads: 0,
        steps: 130,
        parts: 1,
        alone: 0,
        area: Some(4 << 20),
        text: 200_000,
        fails: false,
        patience: Duration::from_millis(2),
        program: None,
    };
    // When an area is full depends on when what it has was folded: on a busy machine a script may not come to it.
    assert!((1..=5).any(|seed| run([script(seed)], 8).areas > 1));
}
