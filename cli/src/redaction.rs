//! What an export replaces, and what is told of it.

use leafline::Store;
use leafline::redact::{KindCount, RedactionOptions, Redactor};
use serde_json::json;

use super::failure::{Failure, complain};
use super::number::{count, counted};
use super::output::Output;

/// Whether secrets are replaced, and which.
#[derive(Debug, clap::Args)]
pub(super) struct RedactionArguments {
    /// Replace secrets by placeholders: tokens and keys by their published shapes, private keys, values of names such as
    /// password and api_key. The same secret has the same placeholder in all exports of a store
    #[arg(long)]
    redact: bool,

    /// With --redact, which it implies, also replace what matches; may be given several times
    #[arg(long = "redact-pattern", value_name = "REGEX")]
    patterns: Vec<String>,

    /// With --redact, which it implies, also replace e-mail addresses
    #[arg(long = "redact-emails")]
    emails: bool,

    /// With --redact, which it implies, also replace the user's name in the paths of home folders
    #[arg(long = "redact-homes")]
    homes: bool,
}

impl RedactionArguments {
    /// What replaces them; `None` if nothing is to be replaced.
    pub(super) fn redactor(&self, store: &Store) -> Result<Option<Redactor>, Failure> {
        if !(self.redact || self.emails || self.homes || !self.patterns.is_empty()) {
            return Ok(None);
        }
        let (patterns, emails, homes) = (self.patterns.clone(), self.emails, self.homes);
        let redactor = store.redactor(&RedactionOptions { patterns, emails, homes })?;
        if !redactor.is_lasting() {
            complain(
                "no key can be kept beside the store: the next export will have other placeholders",
            );
        }
        Ok(Some(redactor))
    }
}

/// Tells what was replaced: with --json an object, on standard output unless that has the session.
pub(super) fn tell(
    redactor: Option<&Redactor>,
    has_session: bool,
    out: &mut Output,
) -> Result<(), Failure> {
    let Some(redactor) = redactor else { return Ok(()) };
    let kinds = redactor.redactions().kinds;
    if out.is_json() {
        let told = json!({ "status": "redacted", "kinds": kinds });
        if has_session {
            out.remark(told.to_string());
            return Ok(());
        }
        out.json(&told)?;
        return out.show();
    }
    if kinds.is_empty() {
        complain(
            "no secrets were found; read it before you share it, there may be some of no known shape",
        );
        return Ok(());
    }
    let places = kinds.values().map(|count| count.places).sum();
    let said = kinds.iter().map(|(kind, count)| said(kind, count)).collect::<Vec<_>>().join(", ");
    complain(&format!("{} replaced: {said}", counted(places, "secret was", "secrets were")));
    Ok(())
}

fn said(kind: &str, of: &KindCount) -> String {
    match of.places == of.different {
        true => format!("{} {kind}", count(of.places)),
        false => format!("{} {kind} ({} different)", count(of.places), count(of.different)),
    }
}
