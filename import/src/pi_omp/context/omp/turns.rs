//! The messages of a context without failed turns, and without tool calls that have no result.
//!
//! omp looks at all messages of a context at once. Here they are handed out one after the other: the lines below are read
//! as far as a turn depends on them, and only ids are kept of what was read.

use std::collections::{HashMap, HashSet, VecDeque};

use super::facts::{self, Facts, Turn};
use super::key::Key;
use super::message;
use crate::context::TakeMessage;
use crate::conversation::{Conversation, Node};
use crate::{EntryKind, MessageRole};

/// Hands out the messages of these entries, as omp sends them.
pub(super) fn hand_out<C: Conversation>(
    conversation: &mut C,
    mut entries: impl Iterator<Item = u64> + Clone,
    take: TakeMessage<'_, C::Error>,
) -> Result<(), C::Error> {
    let mut turns = Turns::new(entries.clone());
    let mut message = Vec::new();
    while let Some(entry) = entries.next() {
        let Some(form) = turns.form(conversation, entry, &entries)? else { continue };
        let results = (form == Form::WithoutLooseCalls).then_some(&turns.results);
        if message::append(conversation, entry, results, &mut message)? {
            take(&[entry], &message)?;
        }
    }
    Ok(())
}

/// How an entry's message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    AsItIs,
    WithoutLooseCalls,
}

/// What is known of the messages so far, and of those below that were read ahead.
struct Turns<I> {
    /// The entries whose results are not in `results` yet.
    ahead: I,
    /// The ids of the results so far.
    results: HashSet<Key>,
    /// The ids of the calls of failed turns that were left out: their results are left out too.
    left_out: HashSet<Key>,
    /// The entries of a run that has been judged, and whether they are sent.
    judged: VecDeque<(u64, bool)>,
}

/// A message of a run: failed turns, and results among them.
enum Member {
    Failed(Vec<Key>),
    Result(Option<Key>),
}

impl<I: Iterator<Item = u64> + Clone> Turns<I> {
    fn new(entries: I) -> Self {
        Self {
            ahead: entries,
            results: HashSet::new(),
            left_out: HashSet::new(),
            judged: VecDeque::new(),
        }
    }

    /// How an entry's message is sent; `None` if it is not. `below` are the entries that follow.
    fn form<C: Conversation>(
        &mut self,
        conversation: &mut C,
        entry: u64,
        below: &I,
    ) -> Result<Option<Form>, C::Error> {
        let judged = self.take_judgement(entry);
        if judged == Some(false) {
            return Ok(None);
        }
        if is_result(&conversation.node_ahead_of_line(entry)?)
            && (judged.is_some() || self.left_out.is_empty())
        {
            return Ok(Some(Form::AsItIs));
        }
        Ok(match facts::of(conversation, entry)? {
            None => None,
            Some(Facts::Plain | Facts::InterruptedThinking) => Some(Form::AsItIs),
            Some(Facts::Result(id)) => (!self.is_left_out(id)).then_some(Form::AsItIs),
            Some(Facts::Turn(turn)) => {
                let loose = self.loose_calls(conversation, &turn)?;
                if loose > 0 && loose == turn.calls.len() && !turn.has_more {
                    return Ok(None);
                }
                if turn.has_failed
                    && judged.is_none()
                    && !self.judge(conversation, (entry, &turn), below.clone())?
                {
                    return Ok(None);
                }
                Some(if loose > 0 { Form::WithoutLooseCalls } else { Form::AsItIs })
            }
        })
    }

    /// Whether an entry of a judged run is sent.
    fn take_judgement(&mut self, entry: u64) -> Option<bool> {
        let &(_, is_sent) = self.judged.front().filter(|(judged, _)| *judged == entry)?;
        self.judged.pop_front();
        Some(is_sent)
    }

    fn is_left_out(&self, id: Option<Key>) -> bool {
        id.is_some_and(|id| self.left_out.contains(&id))
    }

    /// How many calls of a turn have no result in the context.
    fn loose_calls<C: Conversation>(
        &mut self,
        conversation: &mut C,
        turn: &Turn,
    ) -> Result<usize, C::Error> {
        let mut loose = 0;
        for call in &turn.calls {
            let has_result = match call {
                Some(call) => self.has_result(conversation, call)?,
                None => false,
            };
            loose += usize::from(!has_result);
        }
        Ok(loose)
    }

    fn has_result<C: Conversation>(
        &mut self,
        conversation: &mut C,
        call: &Key,
    ) -> Result<bool, C::Error> {
        while !self.results.contains(call) {
            let Some(entry) = self.ahead.next() else { return Ok(false) };
            if is_result(&conversation.node(entry)?) {
                self.results.extend(facts::result_of(conversation, entry)?);
            }
        }
        Ok(true)
    }

    /// The calls of a turn that have a result.
    fn paired(&self, turn: &Turn) -> Vec<Key> {
        turn.calls.iter().flatten().filter(|call| self.results.contains(*call)).copied().collect()
    }

    /// Decides which messages of a run that begins with a failed turn are sent, and whether that turn is.
    ///
    /// omp goes from the last message to the first: a failed turn stays only if the note on its interrupted thinking then
    /// follows it. If it is left out, so are the results of its calls below it.
    fn judge<C: Conversation>(
        &mut self,
        conversation: &mut C,
        (first, turn): (u64, &Turn),
        below: I,
    ) -> Result<bool, C::Error> {
        let mut run = vec![(first, Member::Failed(self.paired(turn)))];
        let mut ends_with_note = false;
        for entry in below {
            let member = match facts::of(conversation, entry)? {
                None => continue,
                Some(Facts::Result(id)) => Member::Result(id),
                Some(Facts::Turn(turn)) => {
                    let loose = self.loose_calls(conversation, &turn)?;
                    if loose > 0 && loose == turn.calls.len() && !turn.has_more {
                        continue;
                    }
                    if !turn.has_failed {
                        break;
                    }
                    Member::Failed(self.paired(&turn))
                }
                Some(Facts::InterruptedThinking) => {
                    ends_with_note = true;
                    break;
                }
                Some(Facts::Plain) => break,
            };
            run.push((entry, member));
        }
        let (is_sent, left_out) = sent_of_run(&run, ends_with_note);
        let judged = run.into_iter().zip(is_sent).map(|((entry, member), is_sent)| {
            let is_left_out = matches!(member, Member::Result(id) if self.is_left_out(id));
            (entry, is_sent && !is_left_out)
        });
        let mut judged: VecDeque<(u64, bool)> = judged.collect();
        let first = judged.pop_front();
        self.judged = judged;
        self.left_out.extend(left_out);
        Ok(first.is_some_and(|(_, is_sent)| is_sent))
    }
}

/// Which messages of a run are sent, and the calls of the turns that are not.
fn sent_of_run(run: &[(u64, Member)], ends_with_note: bool) -> (Vec<bool>, HashSet<Key>) {
    let mut is_sent = vec![true; run.len()];
    let mut left_out = HashSet::new();
    let mut results: HashMap<Key, Vec<usize>> = HashMap::new();
    let mut sent_below = 0;
    for (place, (_, member)) in run.iter().enumerate().rev() {
        match member {
            Member::Result(id) => {
                if let Some(id) = id {
                    results.entry(*id).or_default().push(place);
                }
                sent_below += 1;
            }
            Member::Failed(_) if sent_below == 0 && ends_with_note => sent_below += 1,
            Member::Failed(calls) => {
                is_sent[place] = false;
                for result in calls.iter().filter_map(|call| results.remove(call)).flatten() {
                    is_sent[result] = false;
                    sent_below -= 1;
                }
                left_out.extend(calls.iter().copied());
            }
        }
    }
    (is_sent, left_out)
}

fn is_result(node: &Node) -> bool {
    (node.kind, node.role) == (EntryKind::Message, MessageRole::ToolResult)
}
