//! Calls and their results: each call is followed by its result, and each result by no other.

use std::collections::HashSet;

use super::block::{Block, BlockKind, CallKey};
use super::item::Said;
use super::turns::{Answer, Reply, Turn, without_empty_texts};

/// A message as it is sent.
pub(super) struct Message {
    pub(super) ordinals: Vec<u64>,
    pub(super) json: Vec<u8>,
}

/// Pairs calls and results, turn by turn.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// The calls so far: one that is there again is not sent.
    calls: HashSet<CallKey>,
    has_begun: bool,
}

impl Pairs {
    /// The messages of the next turn. `is_open` says that the user's part goes on with the prompt that follows: it is not sent
    /// if nothing of it is left.
    pub(super) fn messages(
        &mut self,
        turn: Turn,
        is_open: bool,
    ) -> impl Iterator<Item = Message> + use<> {
        let Turn { answer, reply } = turn;
        let answer = answer.map(|answer| self.without_lost_calls(answer));
        let reply = self.reply(answer.as_ref(), reply, is_open);
        self.has_begun = true;
        let answer = answer.map(|Answer { blocks, ordinals, .. }| Message {
            ordinals,
            json: json("assistant", &Said::Blocks(blocks)),
        });
        let reply =
            reply.map(|Reply { said, ordinals }| Message { ordinals, json: json("user", &said) });
        answer.into_iter().chain(reply)
    }

    /// The answer without calls that were there before, and without those that the API ran and did not answer.
    fn without_lost_calls(&mut self, mut answer: Answer) -> Answer {
        answer.blocks = without_empty_texts(answer.blocks);
        let results: HashSet<CallKey> = answer
            .blocks
            .iter()
            .filter_map(|block| match block.kind {
                BlockKind::ServerResult(key) => Some(key),
                _ => None,
            })
            .collect();
        let mut blocks = std::mem::take(&mut answer.blocks).into_iter().peekable();
        let mut follows_thought = false;
        while let Some(block) = blocks.next() {
            let is_sent = match block.kind {
                BlockKind::Call(key) => self.calls.insert(key),
                BlockKind::ServerCall(key) => results.contains(&key),
                _ => true,
            };
            let is_thought = block.kind == BlockKind::Thought;
            if is_sent {
                answer.blocks.push(block);
            } else if follows_thought
                && blocks.peek().is_some_and(|next| next.kind == BlockKind::Thought)
            {
                answer.blocks.push(Block::removed_use());
            }
            follows_thought = is_thought;
        }
        if answer.blocks.is_empty() {
            answer.blocks.push(Block::interrupted_use());
        }
        answer
    }

    /// The reply with one result for each call and no other.
    fn reply(&self, answer: Option<&Answer>, reply: Option<Reply>, is_open: bool) -> Option<Reply> {
        let calls = || {
            let blocks = answer.into_iter().flat_map(|answer| &answer.blocks);
            blocks.filter_map(|block| match block.kind {
                BlockKind::Call(key) => Some((key, block)),
                _ => None,
            })
        };
        let mut open: HashSet<CallKey> = calls().map(|(key, _)| key).collect();
        let had_words = reply.as_ref().is_some_and(|reply| !reply.said.is_results_only());
        let mut reply = match reply {
            Some(Reply { said: Said::Text(text), ordinals }) if open.is_empty() => {
                let is_left = !is_open || !Block::text(&text).is_blank();
                return is_left.then_some(Reply { said: Said::Text(text), ordinals });
            }
            Some(reply) => reply,
            None if open.is_empty() => return None,
            None => {
                let ordinals = answer.map(|answer| answer.ordinals.clone()).unwrap_or_default();
                Reply { said: Said::Blocks(Vec::new()), ordinals }
            }
        };
        let mut blocks = std::mem::replace(&mut reply.said, Said::Blocks(Vec::new())).into_blocks();
        blocks.retain(|block| match block.kind {
            BlockKind::Result(key) => open.remove(&key),
            _ => !block.is_blank(),
        });
        let missing = calls().filter(|(key, _)| open.contains(key));
        let mut sent: Vec<Block> = missing.filter_map(|(_, call)| call.missing_result()).collect();
        sent.append(&mut blocks);
        reply.said = if !sent.is_empty() {
            Said::Blocks(sent)
        } else if is_open {
            return None;
        } else if had_words {
            Said::Blocks(vec![Block::no_content()])
        } else if self.has_begun || answer.is_some() {
            Said::Text(b"\"(no content)\"".to_vec())
        } else {
            Said::Blocks(vec![Block::orphaned_result()])
        };
        Some(reply)
    }
}

fn json(role: &str, said: &Said) -> Vec<u8> {
    let begin = ["{\"role\":\"", role, "\",\"content\":"].map(str::as_bytes).concat();
    let said_bytes = match said {
        Said::Text(text) => text.len(),
        // With a comma or a bracket for each.
        Said::Blocks(blocks) => blocks.iter().map(|block| block.json.len() + 1).sum::<usize>() + 2,
    };
    let mut json = Vec::with_capacity(begin.len() + said_bytes + 1);
    json.extend_from_slice(&begin);
    match said {
        Said::Text(text) => json.extend_from_slice(text),
        Said::Blocks(blocks) => {
            json.push(b'[');
            for (place, block) in blocks.iter().enumerate() {
                if place > 0 {
                    json.push(b',');
                }
                json.extend_from_slice(&block.json);
            }
            json.push(b']');
        }
    }
    json.push(b'}');
    json
}
