//! Commands and code that the user ran, as the text that is sent.

use super::object::{is_nullish, is_truthy};
use super::words;
use crate::scan::Raw;

/// What is run, with the words of the programs around it.
struct Wording<'w> {
    before_code: &'w str,
    after_code: &'w str,
    before_output: &'w str,
    cancelled: &'w str,
    failed: &'w str,
}

/// Commands of a shell: pi's and omp's words are the same.
const COMMAND: Wording<'static> = Wording {
    before_code: "Ran `",
    after_code: "`\n",
    before_output: "",
    cancelled: "\n\n(command cancelled)",
    failed: "\n\nCommand exited with code ",
};

/// omp: code in Python.
const PYTHON: Wording<'static> = Wording {
    before_code: "Ran Python:\n```python\n",
    after_code: "\n```\n",
    before_output: "Output:\n",
    cancelled: "\n\n(execution cancelled)",
    failed: "\n\nExecution failed with code ",
};

/// The text of a `bashExecution`, as WTF-8, without what a program says of a shortened output.
pub(super) fn of_command(message: Raw<'_>) -> Vec<u8> {
    COMMAND.text(message, message.member("command"))
}

/// The text of a `pythonExecution`.
pub(super) fn of_python(message: Raw<'_>) -> Vec<u8> {
    PYTHON.text(message, message.member("code"))
}

impl Wording<'_> {
    fn text(&self, message: Raw<'_>, code: Option<Raw<'_>>) -> Vec<u8> {
        let [output, cancelled, exit_code] = message.members(["output", "cancelled", "exitCode"]);
        let mut text = self.before_code.as_bytes().to_vec();
        words::push(code, &mut text);
        text.extend_from_slice(self.after_code.as_bytes());
        if is_truthy(output) {
            text.extend_from_slice(self.before_output.as_bytes());
            text.extend_from_slice(b"```\n");
            words::push(output, &mut text);
            text.extend_from_slice(b"\n```");
        } else {
            text.extend_from_slice(b"(no output)");
        }
        let has_failed =
            !is_nullish(exit_code) && exit_code.and_then(Raw::as_f64).is_none_or(|it| it != 0.0);
        if is_truthy(cancelled) {
            text.extend_from_slice(self.cancelled.as_bytes());
        } else if has_failed {
            text.extend_from_slice(self.failed.as_bytes());
            words::push(exit_code, &mut text);
        }
        text
    }
}
