//! Messages of about 1 KB, as an agent appends them.

use super::random_order::shuffle;

/// Distinct messages, so that one does not help to compress the next.
const MESSAGES: usize = 256;

/// Approximate bytes of a message.
const BYTES: usize = 1_000;

const WORDS: &str = "the session file has lines that a reader finds by their id and the store keeps them compressed \
    in chunks of four pages while agents append messages call tools read results edit functions run tests fix errors \
    and summarise what they did so far for whoever asks about it later in another branch of the same conversation";

/// Messages one after the other, over and over.
#[derive(Debug)]
pub(crate) struct Messages {
    texts: Vec<String>,
    turn: usize,
}

impl Messages {
    pub(crate) fn new() -> Self {
        let mut words: Vec<String> = (0..200).flat_map(word).collect();
        let texts = (0..MESSAGES)
            .map(|_| {
                shuffle(&mut words);
                let mut text = words.join(" ");
                text.truncate(BYTES);
                format!(
                    r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"stop"}}"#
                )
            })
            .collect();
        Self { texts, turn: 0 }
    }

    /// The next message, a JSON object.
    pub(crate) fn next(&mut self) -> &str {
        self.turn = (self.turn + 1) % self.texts.len();
        self.texts.get(self.turn).expect("the turn is below the number of messages")
    }
}

/// A word, and a number that few others share.
fn word(number: usize) -> [String; 2] {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let word = words.get(number % words.len()).copied().unwrap_or_default();
    [word.to_owned(), format!("{word}{number}")]
}
