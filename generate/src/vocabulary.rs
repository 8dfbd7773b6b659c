//! The words and names of a made-up project: everyday words first, then words made of syllables.

use crate::random::Random;

/// The most common words, so that the prose reads like prose. Their order is their rank.
const EVERYDAY: &str = "the to a is in and of that it for this with not on be as by when from are if we only now \
    file test so an was has then which no at can code line value first new all out use run path what type before after \
    call state need should still same more one check but error read returns need make set add each into them they will \
    there where instead case default name also list message index both does done find work here problem change looks \
    passes fails wrong between because already without while return function update handle missing empty second other \
    order old next last module key input output buffer start end event request response token queue worker cache lock \
    order parse session option limit store result count number string config build command branch server client retry \
    timeout record entry header chunk window page offset length flag mode level user data table row field match query";

const ONSETS: [&str; 28] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pr",
    "br", "cl", "gr", "pl", "sh", "ch", "fl", "cr", "sp", "qu",
];
const NUCLEI: [&str; 12] = ["a", "e", "i", "o", "u", "ea", "ai", "ou", "io", "oo", "ie", "au"];
const CODAS: [&str; 20] = [
    "", "", "", "", "n", "r", "l", "t", "s", "d", "m", "nd", "st", "ck", "nt", "rt", "x", "ng",
    "le", "p",
];

/// Words by falling frequency. Real sessions' prose has around 4,000 different words in a megabyte.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    words: Vec<String>,
}

impl Vocabulary {
    pub(crate) fn new(random: &mut Random, size: usize) -> Self {
        let mut words: Vec<String> = EVERYDAY.split_whitespace().map(str::to_owned).collect();
        while words.len() < size {
            let syllables = 1 + random.weighted(&[10, 50, 30, 10]);
            words.push((0..syllables).map(|_| syllable(random)).collect());
        }
        Self { words }
    }

    /// A word, frequent ones more often.
    pub(crate) fn word(&self, random: &mut Random) -> &str {
        &self.words[random.rank(self.words.len())]
    }

    /// A word that can name things: beyond the small words, all about equally likely.
    pub(crate) fn noun(&self, random: &mut Random) -> &str {
        let first = 60;
        &self.words[first + random.rank((self.words.len() - first) / 2)]
    }

    pub(crate) fn name(&self, random: &mut Random) -> Name {
        let parts = 1 + random.weighted(&[30, 50, 20]);
        Name::new((0..parts).map(|_| self.noun(random)))
    }
}

fn syllable(random: &mut Random) -> String {
    let mut text = String::from(ONSETS[random.below(ONSETS.len())]);
    text.push_str(NUCLEI[random.rank(NUCLEI.len())]);
    text.push_str(CODAS[random.below(CODAS.len())]);
    text
}

/// One name in the spellings that languages and paths need.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) camel: String,
    pub(crate) pascal: String,
    pub(crate) snake: String,
    pub(crate) kebab: String,
}

impl Name {
    fn new<'a>(parts: impl Iterator<Item = &'a str>) -> Self {
        let mut name = Self {
            camel: String::new(),
            pascal: String::new(),
            snake: String::new(),
            kebab: String::new(),
        };
        for part in parts {
            let capital = part[..1].to_ascii_uppercase() + &part[1..];
            name.pascal.push_str(&capital);
            if name.camel.is_empty() {
                name.camel.push_str(part);
            } else {
                name.camel.push_str(&capital);
                name.snake.push('_');
                name.kebab.push('-');
            }
            name.snake.push_str(part);
            name.kebab.push_str(part);
        }
        name
    }
}
