//! The made-up project that a session works on: a few dozen files that are read, searched and edited again and again.
//!
//! Long-range redundancy comes from here. New files replace old ones at a steady pace, so that a session of many
//! gigabytes neither grows in memory nor becomes one short text repeated.

use crate::code::{self, Line};
use crate::language::{LANGUAGES, Language};
use crate::random::Random;
use crate::template::Scope;
use crate::vocabulary::{Name, Vocabulary};

/// How many files exist at a time.
const FILES: usize = 40;
/// How many names a project uses at a time; some are replaced as files come and go.
const NAMES: usize = 900;
/// How many of those names a file picks.
const NAMES_OF_FILE: usize = 24;
const TYPES_OF_FILE: usize = 12;

/// A source file.
#[derive(Debug)]
pub(crate) struct File {
    /// Path below the project folder.
    pub(crate) path: String,
    pub(crate) language: &'static Language,
    pub(crate) lines: Vec<Line>,
    names: Vec<Name>,
    types: Vec<Name>,
}

/// Files and the words and names in them.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) folder: String,
    files: Vec<File>,
    names: Vec<Name>,
    main_language: usize,
}

impl Project {
    pub(crate) fn new(random: &mut Random) -> Self {
        let vocabulary = Vocabulary::new(random, 4000);
        let names = (0..NAMES).map(|_| vocabulary.name(random)).collect();
        let folder = format!("/home/robin/work/{}", vocabulary.name(random).kebab);
        let main_language = random.below(LANGUAGES.len());
        let mut project =
            Self { vocabulary, folder, files: Vec::with_capacity(FILES), names, main_language };
        for _ in 0..4 {
            project.add_file(random);
        }
        project
    }

    pub(crate) fn file(&self, place: usize) -> &File {
        &self.files[place]
    }

    /// The index of the file used last.
    pub(crate) fn last(&self) -> usize {
        self.files.len() - 1
    }

    /// Adds a new file to the project, in place of the longest unused one if the project is full, and returns its
    /// index, which is the last: that of the file used last.
    pub(crate) fn add_file(&mut self, random: &mut Random) -> usize {
        let fresh = random.between(4, 12);
        for _ in 0..fresh {
            let place = random.below(self.names.len());
            self.names[place] = self.vocabulary.name(random);
        }
        let language =
            if random.chance(750) { self.main_language } else { random.below(LANGUAGES.len()) };
        let language = &LANGUAGES[language];
        let names = self.pick_names(random, NAMES_OF_FILE);
        let types = self.pick_names(random, TYPES_OF_FILE);
        let path = format!(
            "{}/{}/{}.{}",
            ["src", "src", "lib", "test", "packages"][random.below(5)],
            types[0].kebab,
            names[0].kebab,
            language.extension
        );
        let scope = Scope {
            vocabulary: &self.vocabulary,
            names: &names,
            types: &types,
            snake: language.snake,
        };
        let count = random.size(150.0, 2.4).clamp(12, 2000);
        let lines = code::file(language, count, scope, random);
        if self.files.len() == FILES {
            self.files.remove(0);
        }
        self.files.push(File { path, language, lines, names, types });
        self.files.len() - 1
    }

    fn pick_names(&self, random: &mut Random, count: usize) -> Vec<Name> {
        (0..count).map(|_| self.names[random.rank(self.names.len())].clone()).collect()
    }

    /// Picks a file to work on, preferring the ones used last, and returns its new index: the last.
    pub(crate) fn use_file(&mut self, random: &mut Random) -> usize {
        let age = random.rank(self.files.len());
        let place = self.files.len() - 1 - age;
        let file = self.files.remove(place);
        self.files.push(file);
        self.files.len() - 1
    }

    /// Any file, without marking it as the one used last.
    pub(crate) fn look_at_file(&self, random: &mut Random) -> &File {
        &self.files[random.below(self.files.len())]
    }

    pub(crate) fn scope(&self, place: usize) -> Scope<'_> {
        let file = &self.files[place];
        Scope {
            vocabulary: &self.vocabulary,
            names: &file.names,
            types: &file.types,
            snake: file.language.snake,
        }
    }

    /// New lines in the style of a file.
    pub(crate) fn passage(&self, place: usize, count: usize, random: &mut Random) -> Vec<Line> {
        code::passage(self.files[place].language, count, self.scope(place), random)
    }

    /// Replaces lines of a file.
    pub(crate) fn replace(
        &mut self,
        place: usize,
        range: std::ops::Range<usize>,
        fresh: Vec<Line>,
    ) {
        self.files[place].lines.splice(range, fresh);
    }
}
