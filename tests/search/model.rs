//! What a search must find, determined by reading every entry.

use leafline::search::{SearchHit, SearchIndex, SearchQuery};
use leafline::view::Part;
use leafline::{Entry, Store};

/// The found entries, as (session, ordinal), in order.
pub(crate) type Found = Vec<(String, u64)>;

/// A part of a query: consecutive words, the last of which may be a beginning, and which may be excluded.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) words: Vec<String>,
    pub(crate) is_prefix: bool,
    pub(crate) is_excluded: bool,
}

impl Asked {
    pub(crate) fn text(&self) -> String {
        let minus = if self.is_excluded { "-" } else { "" };
        let star = if self.is_prefix { "*" } else { "" };
        format!("{minus}\"{}\"{star}", self.words.join(" "))
    }

    fn is_in(&self, words: &[String]) -> bool {
        words.windows(self.words.len()).any(|window| {
            let last = self.words.len() - 1;
            window.iter().zip(&self.words).enumerate().all(|(at, (word, asked))| {
                if at == last && self.is_prefix { word.starts_with(asked) } else { word == asked }
            })
        })
    }
}

/// The words of a text that has no other accents than these.
fn words(text: &str) -> Vec<String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('é', "e"))
        .collect()
}

fn passages(entry: &Entry) -> Vec<Vec<String>> {
    let view = entry.view();
    if !SearchIndex::ROLES.contains(&view.role) {
        return Vec::new();
    }
    let mut passages: Vec<Vec<String>> = view
        .parts
        .iter()
        .flat_map(|part| match part {
            Part::Text(text) | Part::Thinking(text) | Part::ToolResult { text, .. } => {
                vec![words(text)]
            }
            Part::ToolCall { name, arguments, .. } => {
                let mut said = words(name);
                said.extend(words(&plain(arguments)));
                vec![said]
            }
            Part::Other { title, text, .. } => {
                title.iter().chain([text]).map(|said| words(said)).collect()
            }
            _ => Vec::new(),
        })
        .collect();
    passages.extend(view.error.as_deref().map(words));
    passages
}

/// The names and values of JSON, in order.
fn plain(json: &str) -> String {
    fn add(value: &serde_json::Value, out: &mut String) {
        match value {
            serde_json::Value::Object(members) => {
                for (name, value) in members {
                    out.push_str(name);
                    out.push(' ');
                    add(value, out);
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(|value| add(value, out)),
            serde_json::Value::String(text) => {
                out.push_str(text);
                out.push(' ');
            }
            other => out.push_str(&format!("{other} ")),
        }
    }
    let mut out = String::new();
    match serde_json::from_str(json) {
        Ok(value) => add(&value, &mut out),
        // Codex's tools may take a text.
        Err(_) => out.push_str(json),
    }
    out
}

/// The searched text of a store: the passages of each entry that has any, with its session and its ordinal.
struct Said(Vec<(String, u64, Vec<Vec<String>>)>);

impl Said {
    fn of(store: &Store) -> Self {
        let mut said = Vec::new();
        for facts in store.sessions().unwrap() {
            let reader = store.reader(&facts.id).unwrap();
            reader
                .lines(0, |entry| {
                    let passages = passages(&entry);
                    if passages.iter().any(|words| !words.is_empty()) {
                        said.push((facts.id.to_string(), entry.ordinal(), passages));
                    }
                    Ok(true)
                })
                .unwrap();
        }
        Self(said)
    }

    /// What a search for these must find.
    fn with(&self, asked: &[Asked]) -> Found {
        let mut found: Found = self
            .0
            .iter()
            .filter(|(_, _, passages)| {
                let has = |asked: &Asked| passages.iter().any(|words| asked.is_in(words));
                asked.iter().all(|asked| has(asked) != asked.is_excluded)
            })
            .map(|(session, ordinal, _)| (session.clone(), *ordinal))
            .collect();
        found.sort();
        found
    }
}

pub(crate) fn hits(index: &SearchIndex, query: &SearchQuery) -> Vec<SearchHit> {
    index.search(query).unwrap()
}

/// What a search finds in the index.
pub(crate) fn found(index: &SearchIndex, asked: &[Asked]) -> Found {
    let text: Vec<String> = asked.iter().map(Asked::text).collect();
    let query = SearchQuery { limit: 100_000, ..SearchQuery::new(text.join(" ")) };
    let mut found: Found =
        hits(index, &query).into_iter().map(|hit| (hit.session, hit.ordinal)).collect();
    found.sort();
    found
}

/// A store's index with everything in it.
pub(crate) fn updated(store: &Store) -> SearchIndex {
    let index = SearchIndex::open_or_create(store).unwrap();
    assert!(index.update(|_| true).unwrap().is_complete);
    assert_eq!(index.lag().unwrap().sessions, 0);
    index
}

/// The index finds exactly what reading everything finds, for words in the store.
#[track_caller]
pub(crate) fn assert_finds_everything(store: &Store, index: &SearchIndex, seed: u64) {
    assert_finds(store, index, (seed, 60));
}

/// The same with another number of searches.
#[track_caller]
pub(crate) fn assert_finds(store: &Store, index: &SearchIndex, (seed, searches): (u64, u32)) {
    let said = Said::of(store);
    let lines: Vec<&Vec<String>> = said
        .0
        .iter()
        .flat_map(|(_, _, passages)| passages)
        .filter(|line| !line.is_empty())
        .collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % most as u64).unwrap()
    };
    for _ in 0..searches {
        let mut asked = Vec::new();
        for place in 0..=below(3) {
            let line = lines[below(lines.len())];
            let start = below(line.len());
            let count = 1 + below(3).min(line.len() - start - 1);
            let mut words = line[start..start + count].to_vec();
            let is_prefix = below(3) == 0;
            if is_prefix {
                let last = words.last_mut().unwrap();
                last.truncate(1 + below(last.len()));
            }
            asked.push(Asked { words, is_prefix, is_excluded: place > 0 && below(3) == 0 });
        }
        assert_eq!(found(index, &asked), said.with(&asked), "{asked:?}");
    }
}
