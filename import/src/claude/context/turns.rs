//! Messages: records put together as the API wants them, the model's and the user's in turn.

use std::collections::VecDeque;

use super::block::{Block, BlockKind};
use super::item::{Item, Said, Speaker};

/// How many messages of the model's are kept for records that follow others'. The program keeps all of them.
pub(super) const KEPT: usize = 8;

/// What the model said, and what it was told next.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// What the model said; `None` where a conversation begins with the user.
    pub(super) answer: Option<Answer>,
    pub(super) reply: Option<Reply>,
}

/// A message of the model's.
#[derive(Debug)]
pub(super) struct Answer {
    id: Option<Vec<u8>>,
    pub(super) blocks: Vec<Block>,
    pub(super) ordinals: Vec<u64>,
}

impl Answer {
    /// Takes out the white space of what was put together, where no thoughts would meet.
    fn strip(&mut self) {
        self.blocks = without_white_space(std::mem::take(&mut self.blocks));
    }

    /// Says that nothing joins the message any more.
    fn complete(&mut self) {
        if self.ordinals.len() > 1 {
            self.strip();
        }
        if self.blocks.is_empty() {
            self.blocks.push(Block::nothing_said());
        }
    }
}

/// A message of the user's.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) said: Said,
    pub(super) ordinals: Vec<u64>,
}

impl Reply {
    /// Puts another message of the user's behind this one: results first, and texts that meet on lines of their own.
    fn join(&mut self, said: Said, ordinal: u64) {
        let mut blocks = std::mem::replace(&mut self.said, Said::Blocks(Vec::new())).into_blocks();
        let more = said.into_blocks();
        if let (Some(last), Some(first)) = (blocks.last_mut(), more.first())
            && last.is_text()
            && first.is_text()
        {
            last.end_line();
        }
        blocks.extend(more);
        let (results, others): (Vec<Block>, Vec<Block>) =
            blocks.into_iter().partition(Block::is_result);
        self.said = Said::Blocks(results.into_iter().chain(others).collect());
        self.ordinals.push(ordinal);
    }
}

/// Puts records together. Turns that nothing can join any more are complete.
#[derive(Debug, Default)]
pub(super) struct Turns {
    open: VecDeque<Turn>,
    complete: VecDeque<Turn>,
}

impl Turns {
    /// Takes what the next record says.
    pub(super) fn take(&mut self, item: Item) {
        let Item { ordinal, speaker, said, .. } = item;
        match speaker {
            Speaker::Model(id) => self.answer(id, said.into_blocks(), ordinal),
            Speaker::User | Speaker::Command => self.reply(said, ordinal),
        }
    }

    /// A turn that is complete.
    pub(super) fn next(&mut self) -> Option<Turn> {
        let mut turn = self.complete.pop_front()?;
        if let Some(answer) = &mut turn.answer {
            answer.complete();
        }
        Some(turn)
    }

    /// Whether all turns were given.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.complete.is_empty()
    }

    /// Says that no record follows.
    pub(super) fn finish(&mut self) {
        self.complete.append(&mut self.open);
    }

    fn answer(&mut self, id: Option<Vec<u8>>, blocks: Vec<Block>, ordinal: u64) {
        // A message goes on behind results, and not behind anything that the user said.
        let is_passed =
            |turn: &Turn| turn.reply.as_ref().is_none_or(|reply| reply.said.has_results());
        let passed = self.open.iter_mut().rev().take_while(|turn| is_passed(turn));
        let same = passed
            .filter_map(|turn| turn.answer.as_mut())
            .find(|answer| id.is_some() && answer.id == id);
        if let Some(answer) = same {
            let is_white_space = blocks.iter().all(Block::is_blank);
            answer.blocks.extend(blocks);
            answer.blocks.retain(|block| !block.is_nothing());
            // White space alone may stand between thoughts once more follows.
            if !is_white_space {
                answer.strip();
            }
            answer.blocks = calls_last(std::mem::take(&mut answer.blocks));
            answer.ordinals.push(ordinal);
            return;
        }
        if self.open.back().is_some_and(|last| !is_passed(last)) {
            self.complete.append(&mut self.open);
        }
        if self.open.len() >= KEPT {
            self.complete.extend(self.open.pop_front());
        }
        let answer = Answer { id, blocks: calls_last(blocks), ordinals: vec![ordinal] };
        self.open.push_back(Turn { answer: Some(answer), reply: None });
    }

    fn reply(&mut self, said: Said, ordinal: u64) {
        if self.open.is_empty() {
            self.open.push_back(Turn::default());
        }
        let Some(turn) = self.open.back_mut() else { return };
        match &mut turn.reply {
            Some(reply) => reply.join(said, ordinal),
            None => turn.reply = Some(Reply { said, ordinals: vec![ordinal] }),
        }
    }
}

/// Puts calls behind everything else that the model said, unless thoughts would meet that calls are between.
fn calls_last(blocks: Vec<Block>) -> Vec<Block> {
    if blocks.is_sorted_by_key(Block::is_call) {
        return blocks;
    }
    let meeting = |blocks: &mut dyn Iterator<Item = &Block>| {
        let thoughts: Vec<bool> = blocks.map(|block| block.kind == BlockKind::Thought).collect();
        thoughts.windows(2).filter(|pair| pair[0] && pair[1]).count()
    };
    let now = meeting(&mut blocks.iter());
    if meeting(&mut blocks.iter().filter(|block| !block.is_call())) > now {
        return blocks;
    }
    let (calls, others): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(Block::is_call);
    others.into_iter().chain(calls).collect()
}

/// Takes out white space, unless thoughts would meet.
fn without_white_space(blocks: Vec<Block>) -> Vec<Block> {
    without_blanks(blocks, |block, is_between| {
        (is_between || !block.is_blank() || block.is_empty_text()).then_some(block)
    })
}

/// Takes out empty texts; where thoughts would meet without one, something stands for it.
pub(super) fn without_empty_texts(blocks: Vec<Block>) -> Vec<Block> {
    without_blanks(blocks, |block, is_between| match block.is_empty_text() {
        true => is_between.then(Block::empty_text),
        false => Some(block),
    })
}

/// Gives what stands for each text of white space, of which it is told whether it stands between thoughts.
fn without_blanks(
    blocks: Vec<Block>,
    instead: impl Fn(Block, bool) -> Option<Block>,
) -> Vec<Block> {
    if !blocks.iter().any(Block::is_blank) {
        return blocks;
    }
    let is_thought = |block: &Block| block.kind == BlockKind::Thought;
    let mut kept: Vec<Block> = Vec::with_capacity(blocks.len());
    let mut rest = blocks.into_iter().peekable();
    while let Some(block) = rest.next() {
        if block.is_blank() {
            let follows = kept.last().is_some_and(is_thought);
            let is_between = follows && rest.peek().is_some_and(is_thought);
            kept.extend(instead(block, is_between));
        } else {
            kept.push(block);
        }
    }
    kept
}
