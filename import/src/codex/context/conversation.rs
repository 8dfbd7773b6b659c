//! The context at any line of a stored session.
//!
//! The session is read upwards to the compaction that its history starts from, and from there downwards again. So time
//! and memory grow with the context, and not with what was compacted long ago.

use crate::codex::context::fact::{Names, Turn};
use crate::codex::context::history::{History as Items, Said};
use crate::codex::context::input::Source;
use crate::codex::context::select::Search;
use crate::codex::context::step::{self, Step};
use crate::codex::context::{ContextItem, Place, Use, is_paginated, pairs};
use crate::codex::format::Codex;
use crate::codex::header::Header;
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::codex::scanner::Scanner;
use crate::codex::truncate::Truncation;
use crate::context::{Contexts, TakeMessage};
use crate::conversation::{
    Base, BaseEnd, Before, Conversation, History, HistoryScope, Images, PathEnd,
};
use crate::{ContextSettings, Family, JsonText, text};

impl Contexts for Codex {
    fn context_name() -> &'static str {
        "context of Codex"
    }

    /// The part of another rollout that precedes this one: its header's `history_base`.
    fn base<C: Conversation>(conversation: &mut C) -> Result<Option<Base>, C::Error> {
        let Some(header) = conversation.header()? else { return Ok(None) };
        let text = text::decode(conversation.line(header, Images::AsWritten)?);
        let base = Header::of(&Scanner::new().scan(&text)).and_then(|header| header.history_base);
        Ok(base.map(|base| Base { session: base.rollout_id, end: BaseEnd::Bytes(base.end_byte) }))
    }

    /// The lines that make the context at a line, or its full history: the rollout's own lines, without those that
    /// precede it.
    fn history<C: Conversation>(
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: u64,
        scope: HistoryScope,
    ) -> Result<History, C::Error> {
        let mut lines = Lines::new(conversation, before, leaf);
        let (own, mut last) = (lines.own, None);
        let mut is_compacted = false;
        let mut places = Vec::new();
        let mut take = |item: ContextItem| {
            is_compacted |= item.place.index.is_some() || item.use_as == Use::Summary;
            if last.replace(item.place.line) != Some(item.place.line) {
                places.extend(item.place.line.checked_sub(own));
            }
        };
        match scope {
            HistoryScope::Context => lines.sent()?.into_iter().for_each(&mut take),
            HistoryScope::Full => {
                lines.said()?.into_iter().map(ContextItem::from).for_each(&mut take)
            }
        }
        let begins_compacted = is_compacted && scope == HistoryScope::Context;
        let end = if begins_compacted { PathEnd::Boundary } else { PathEnd::Root };
        Ok(places.into_iter().fold(History::beginning(end), History::and_entry))
    }

    /// Passes on the items of the context at a line, one at a time, each as it is sent, and returns the model of the
    /// last turn. For the full history: all items that were not rolled back, and the summary of each compaction where
    /// it was made.
    ///
    /// Items of a preceding rollout have no places. The outputs of tools are shortened as for a model that Codex knows.
    fn context<C: Conversation>(
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        let Some(leaf) = leaf else { return Ok(ContextSettings::none(Family::Codex)) };
        let mut lines = Lines::new(conversation, before, leaf);
        match scope {
            HistoryScope::Context => {
                let items = lines.sent()?;
                lines.hand_out(items.into_iter(), take)?;
            }
            HistoryScope::Full => {
                let items = lines.said()?;
                lines.hand_out(items.into_iter().map(ContextItem::from), take)?;
            }
        }
        Ok(ContextSettings::of_model(Family::Codex, lines.model()?))
    }
}

/// A line of a full history, kept small: there may be millions.
struct SaidLine {
    line: u64,
    turn: Turn,
    /// It is the summary of a compaction.
    is_summary: bool,
}

impl From<SaidLine> for ContextItem {
    fn from(said: SaidLine) -> Self {
        let use_as = if said.is_summary { Use::Summary } else { Use::Item };
        Self { place: Place { line: said.line, index: None }, use_as }
    }
}

impl Said for SaidLine {
    fn turn(&self) -> Turn {
        self.turn
    }
}

/// The lines of a rollout and of the rollouts that precede it, numbered as if they were one file.
struct Lines<'c, C> {
    conversation: &'c mut C,
    before: &'c mut [Before<C>],
    /// The number of the rollout's own first line.
    own: u64,
    /// The number of lines up to the leaf.
    end: u64,
    scanner: Scanner,
    names: Names,
    /// How far up the lines were searched for the last turn's model, and the result.
    searched: (u64, Option<JsonText>),
}

impl<'c, C: Conversation> Lines<'c, C> {
    fn new(conversation: &'c mut C, before: &'c mut [Before<C>], leaf: u64) -> Self {
        let own = before.iter().map(|before| before.lines).sum();
        let end = leaf.saturating_add(1).saturating_add(own);
        let (scanner, names) = (Scanner::new(), Names::default());
        Self { conversation, before, own, end, scanner, names, searched: (end, None) }
    }

    /// Reads something off a line.
    fn read<T>(
        &mut self,
        line: u64,
        read: impl FnOnce(&Record<'_>, &mut Names) -> T,
    ) -> Result<T, C::Error> {
        let bytes = match line.checked_sub(self.own) {
            Some(own) => self.conversation.line(own, Images::AsWritten)?,
            None => {
                let mut place = line;
                let part = self.before.iter_mut().find(|part| {
                    let is_in = place < part.lines;
                    place -= if is_in { 0 } else { part.lines };
                    is_in
                });
                let part = part.expect("the parts have as many lines as stand ahead of the own");
                part.conversation.line(place, Images::AsWritten)?
            }
        };
        let text = text::decode(bytes);
        Ok(read(&self.scanner.scan(&text), &mut self.names))
    }

    fn step(&mut self, line: u64) -> Result<Option<Step>, C::Error> {
        self.read(line, |record, names| step::of(line, record, names))
    }

    /// The items that the model is sent.
    fn sent(&mut self) -> Result<Vec<ContextItem>, C::Error> {
        let start = self.search()?;
        let mut items = Items::default();
        if let Some(start) = start
            && let Some(Step::Compacted(compacted)) = self.step(start)?
        {
            items = Items::starting_from(&compacted);
        }
        for line in start.map_or(0, |start| start + 1)..self.end {
            let Some(step) = self.step(line)? else { continue };
            items.step_down(&step);
            if matches!(step, Step::Compacted(compacted) if compacted.replacement.is_none()) {
                // What remains of the items is prompts, and those have no calls.
                self.names = Names::default();
            }
        }
        Ok(pairs::complete(items.into_items()))
    }

    /// The line of the compaction that the history starts from.
    fn search(&mut self) -> Result<Option<u64>, C::Error> {
        let header = self.conversation.header()?;
        let header = header.map(|header| self.own + header);
        let is_paginated =
            header.map(|header| self.read(header, |record, _| is_paginated(record))).transpose()?;
        let mut search = Search::new(is_paginated.flatten().unwrap_or_default());
        for line in (0..self.end).rev() {
            let (step, model) =
                self.read(line, |record, names| (step::of(line, record, names), model(record)))?;
            let known = self.searched.1.take();
            self.searched = (line, known.or(model));
            if let Some(start) = step.and_then(|step| search.step_up(line, &step)) {
                return Ok(Some(start));
            }
            if search.is_between_turns() {
                self.names = Names::default();
            }
        }
        Ok(search.finish())
    }

    /// All items that were not rolled back, and summaries where they were made.
    fn said(&mut self) -> Result<Vec<SaidLine>, C::Error> {
        let mut said = Items::default();
        for line in 0..self.end {
            let is_summary = true;
            match self.step(line)? {
                Some(Step::Item(fact)) => {
                    said.push(SaidLine { line, turn: fact.turn, is_summary: false });
                }
                // It counts as a turn of its own if it does so in the program's history.
                Some(Step::Compacted(compacted)) if compacted.replacement.is_none() => {
                    said.push(SaidLine { line, turn: compacted.summary.turn, is_summary });
                }
                Some(Step::Compacted(compacted)) if compacted.has_message => {
                    said.push(SaidLine { line, turn: Turn::Within, is_summary });
                }
                Some(Step::RolledBack(turns)) => said.take_back(turns),
                _ => {}
            }
            self.names = Names::default();
        }
        Ok(said.into_items())
    }

    /// The model of the last turn, however far up that is.
    fn model(&mut self) -> Result<Option<JsonText>, C::Error> {
        let (mut line, mut found) = std::mem::take(&mut self.searched);
        while found.is_none() && line > 0 {
            line -= 1;
            found = self.read(line, |record, _| model(record))?;
        }
        Ok(found)
    }

    fn hand_out(
        &mut self,
        items: impl Iterator<Item = ContextItem>,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        let mut items = items.peekable();
        let (mut of_line, mut json) = (Vec::new(), Vec::new());
        while let Some(first) = items.next() {
            let line = first.place.line;
            of_line.clear();
            of_line.push(first);
            of_line.extend(std::iter::from_fn(|| items.next_if(|next| next.place.line == line)));
            let place = line.checked_sub(self.own);
            let places = place.as_slice();
            let is_there = self.read(line, |record, _| {
                let source = Source::of(record);
                for item in &of_line {
                    json.clear();
                    if source.write(item, Truncation::KNOWN_MODEL, &mut json).is_none() {
                        return Ok(false);
                    }
                    take(places, &json)?;
                }
                Ok(true)
            })??;
            if !is_there {
                let problem = format!("line {line} is not the one that it was");
                return Err(self.conversation.damage(place.unwrap_or_default(), problem));
            }
        }
        Ok(())
    }
}

/// The model that the settings of a turn name.
fn model(record: &Record<'_>) -> Option<JsonText> {
    let model = record.payload_members().model.filter(|model| model.is_string());
    let model = model.filter(|_| record.kind() == RecordKind::TurnContext)?;
    JsonText::of_raw(model.as_str()).ok()
}
