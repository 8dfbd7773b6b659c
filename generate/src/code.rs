//! Source code of a made-up file: nested blocks, the same names over and over, some lines almost repeated.

use std::rc::Rc;

use crate::language::Language;
use crate::random::Random;
use crate::template::{Scope, escape, fill};

/// Of 1,000 lines inside blocks, how many repeat an earlier line of the file.
const REPEATED: usize = 350;

/// One line of code, escaped for JSON, without its terminator. Shared, because edits keep most lines of a file.
pub(crate) type Line = Rc<[u8]>;

/// Makes a file of about `count` lines.
pub(crate) fn file(
    language: &'static Language,
    count: usize,
    scope: Scope<'_>,
    random: &mut Random,
) -> Vec<Line> {
    let mut coder = Coder::new(language, count, scope, random);
    for _ in 0..coder.random.between(2, 2 + count / 30) {
        let place = coder.random.below(language.imports.len());
        coder.line(language.imports[place], 0);
    }
    while coder.lines.len() < count {
        coder.line("", 0);
        let place = coder.random.rank(language.items.len());
        coder.block(language.items[place], 0);
    }
    coder.lines
}

/// Makes `count` lines of a function body.
pub(crate) fn passage(
    language: &'static Language,
    count: usize,
    scope: Scope<'_>,
    random: &mut Random,
) -> Vec<Line> {
    let mut coder = Coder::new(language, count, scope, random);
    while coder.lines.len() < count {
        let place = coder.random.rank(language.statements.len());
        coder.block(language.statements[place], 1);
    }
    coder.lines.truncate(count);
    coder.lines
}

struct Coder<'a> {
    language: &'static Language,
    scope: Scope<'a>,
    random: &'a mut Random,
    lines: Vec<Line>,
    text: Vec<u8>,
}

impl<'a> Coder<'a> {
    fn new(
        language: &'static Language,
        count: usize,
        scope: Scope<'a>,
        random: &'a mut Random,
    ) -> Self {
        Self {
            language,
            scope,
            random,
            lines: Vec::with_capacity(count + 16),
            text: Vec::with_capacity(128),
        }
    }

    fn line(&mut self, pattern: &str, depth: usize) {
        self.text.clear();
        if !pattern.is_empty() {
            for _ in 0..depth {
                escape(&mut self.text, self.language.indent.as_bytes());
            }
            fill(&mut self.text, pattern, self.scope, self.random);
        }
        self.lines.push(Rc::from(&self.text[..]));
    }

    /// Writes a line and, if it opens a block, the block's content and end.
    fn block(&mut self, pattern: &str, depth: usize) {
        self.line(pattern, depth);
        let Some(closing) = closing(self.language, pattern) else {
            return;
        };
        let inside = match depth {
            0 => self.random.between(2, 14),
            1 => self.random.between(1, 7),
            _ => self.random.between(1, 3),
        };
        for _ in 0..inside {
            if self.random.chance(REPEATED) {
                let earlier = self.random.below(self.lines.len());
                self.lines.push(Rc::clone(&self.lines[earlier]));
                continue;
            }
            let statements = self.language.statements;
            let inner = statements[self.random.rank(statements.len())];
            if depth < 3 {
                self.block(inner, depth + 1);
            } else if self::closing(self.language, inner).is_none() {
                self.line(inner, depth + 1);
            }
        }
        if self.language.closes {
            self.line(closing, depth);
        }
    }
}

/// The line that ends the block that `pattern` opens, or nothing if it opens none.
fn closing(language: &Language, pattern: &str) -> Option<&'static str> {
    if !language.closes {
        return pattern.ends_with(':').then_some("");
    }
    if pattern.ends_with("=> {") && pattern.contains("(\"") {
        return Some("});");
    }
    if pattern.ends_with("else {") && pattern.starts_with("let") {
        return Some("};");
    }
    if pattern.ends_with("func() {") {
        return Some("}()");
    }
    pattern.ends_with('{').then_some("}")
}
