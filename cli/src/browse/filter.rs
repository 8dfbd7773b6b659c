//! The live filter of the sessions, as fzf's: words in any order, letters of a word with others between them.

use std::ops::Range;

use leafline::SessionFacts;
use leafline_import::normalised::Normalised;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// What is typed, and what it takes to match it.
pub(super) struct Filter {
    text: String,
    pattern: Pattern,
    matcher: Matcher,
    /// Used again for each text.
    haystack: String,
    characters: Vec<char>,
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Filter").field(&self.text).finish()
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            text: String::new(),
            pattern: Pattern::default(),
            matcher: Matcher::new(Config::DEFAULT),
            haystack: String::new(),
            characters: Vec::new(),
        }
    }
}

impl Filter {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn set(&mut self, text: &str) {
        self.text = text.to_owned();
        let normal: String = Normalised::new(text).map(|(character, _)| character).collect();
        self.pattern = Pattern::parse(&normal, CaseMatching::Smart, Normalization::Smart);
    }

    /// How well a session matches by its title, first prompt, folder, program and id; `None` if it does not.
    pub(super) fn score(&mut self, facts: &SessionFacts) -> Option<u32> {
        if self.pattern.atoms.is_empty() {
            return Some(0);
        }
        self.haystack.clear();
        let said = [facts.title.as_deref(), facts.first_prompt.as_deref(), facts.cwd.as_deref()];
        let named = [Some(facts.family.name()), Some(&*facts.id)];
        for text in said.into_iter().chain(named).flatten() {
            self.haystack.extend(Normalised::new(text).map(|(character, _)| character));
            self.haystack.push(' ');
        }
        let haystack = Utf32Str::new(&self.haystack, &mut self.characters);
        self.pattern.score(haystack, &mut self.matcher)
    }

    /// The bytes of a text that match a word, each as its place.
    pub(super) fn places(&mut self, text: &str) -> Vec<usize> {
        let (normal, ranges): (String, Vec<Range<usize>>) = Normalised::new(text).unzip();
        let haystack = Utf32Str::new(&normal, &mut self.characters);
        let mut places = Vec::new();
        for atom in self.pattern.atoms.iter().filter(|atom| !atom.negative) {
            // A word that another text of the session has adds none.
            let _ = atom.indices(haystack, &mut self.matcher, &mut places);
        }
        let ranges = places.into_iter().filter_map(|place| ranges.get(place as usize).cloned());
        let mut places: Vec<usize> = ranges.flatten().collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leafline::{Family, NewSession, Store};

    #[test]
    fn words_match_as_in_fzf() {
        let store = Store::in_memory().unwrap();
        let session = store.create_session(&NewSession::new(Family::Opal, "/work/Tide clöck"));
        drop(session.unwrap());
        let facts = store.sessions().unwrap().remove(0);
        let mut filter = Filter::default();
        for (text, is_there) in [
            ("", true),
            ("tide", true),
            ("tdclk", true),
            ("opal tide", true),
            ("clock", true),
            ("Tide", true),
            ("TIDE", false),
            ("'tdclk", false),
            ("!tide", false),
            ("tide lantern", false),
            ("'clock", true),
            ("^/work", true),
            ("^tide", false),
            ("tide$", false),
        ] {
            filter.set(text);
            assert_eq!(filter.score(&facts).is_some(), is_there, "{text}");
        }
        filter.set(&format!("{}$", &facts.id[4..]));
        assert!(filter.score(&facts).is_some());
        filter.set("ti !x ck");
        assert_eq!(filter.places("Tide clöck"), [0, 1, 5, 10]);
        filter.set("日");
        assert_eq!(filter.places("e\u{301} 日本"), [4, 5, 6]);
        filter.set("프 việt");
        assert_eq!(filter.places("Vie\u{323}\u{302}t"), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
