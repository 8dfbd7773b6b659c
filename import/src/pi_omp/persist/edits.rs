//! Finds in one walk what the rules change in a member's text, at any depth.
//!
//! The text has the form that `JSON.stringify` writes: no white space, no repeated members, and no escapes in the names
//! searched for.

use std::ops::Range;

use super::images::decode;
use super::truncate::{lines_of, truncated};
use super::{ExternalisedImage, Rules, is_transient, quoted_wtf8, unescape};
use crate::grammar::{self, Container, Scalar, StringToken, Visitor};
use crate::scan::is_reference;

/// A part of the text, and its replacement.
pub(super) type Edit = (Range<usize>, String);

/// The text after the edits, which must not overlap.
pub(super) fn splice(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut spliced = String::with_capacity(text.len());
    let mut from = 0;
    for (range, replacement) in edits {
        spliced.push_str(&text[from..range.start]);
        spliced.push_str(&replacement);
        from = range.end;
    }
    spliced.push_str(&text[from..]);
    spliced
}

/// The name of the member whose value comes next, as far as the rules need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Type,
    Data,
    Content,
    LineCount,
    Other,
}

impl Name {
    fn of(name: &str) -> Self {
        match name {
            "type" => Self::Type,
            "data" => Self::Data,
            "content" => Self::Content,
            "lineCount" => Self::LineCount,
            _ => Self::Other,
        }
    }
}

/// The facts of each open container.
#[derive(Debug)]
struct Frame {
    /// It is the array of a member named `content`.
    is_content: bool,
    /// It is an element of such an array.
    in_content: bool,
    /// Its `type` is `image`.
    is_image: bool,
    /// The name of the current member.
    name: Name,
    /// Whether it already has a member that stays.
    has_members: bool,
    /// Its `data`, held back until it is known whether it is an image.
    data: Option<StringToken>,
    content: Option<StringToken>,
    line_count: Option<Range<usize>>,
    /// How many edits there were before it.
    edits: usize,
}

impl Frame {
    fn new(name: Name, edits: usize) -> Self {
        Self {
            is_content: false,
            in_content: false,
            is_image: false,
            name,
            has_members: false,
            data: None,
            content: None,
            line_count: None,
            edits,
        }
    }
}

/// A member that is being removed.
struct Removal {
    start: usize,
    /// The number of containers around the member's container.
    depth: usize,
}

/// What becomes of images that references may take the place of.
pub(super) enum Images<'a> {
    /// They are taken out.
    Out { hash: &'a mut dyn FnMut(&[u8]) -> [u8; 32], taken: &'a mut Vec<ExternalisedImage> },
    /// They stay, and are not cut.
    Stay,
}

pub(super) struct Edits<'a> {
    rules: &'a Rules,
    text: &'a str,
    images: Images<'a>,
    found: Vec<Edit>,
    /// The frames around the current one.
    frames: Vec<Frame>,
    frame: Frame,
    removal: Option<Removal>,
}

impl<'a> Edits<'a> {
    /// What changes in the value of an entry's member, or of none: in a whole entry.
    pub(super) fn of_member(
        rules: &'a Rules,
        name: &str,
        json: &'a str,
        images: Images<'a>,
    ) -> Vec<Edit> {
        let mut edits = Self {
            rules,
            text: json,
            images,
            found: Vec::new(),
            frames: Vec::new(),
            frame: Frame::new(Name::of(name), 0),
            removal: None,
        };
        grammar::walk(json, &mut Vec::new(), &mut edits).expect("what a program writes is JSON");
        edits.found
    }

    fn inside(&self, token: StringToken) -> &'a str {
        &self.text[token.start..token.end]
    }

    /// The string cut to the limit; `None` if it stays whole.
    fn truncated(&self, token: StringToken) -> Option<Vec<u8>> {
        let limit = self.rules.truncate_from?;
        let inside = self.inside(token);
        // A unit takes at least one byte, and an escape more.
        if inside.len() <= limit || is_reference(inside.as_bytes()) {
            return None;
        }
        truncated(&unescape(inside), limit)
    }

    fn truncate(&mut self, token: StringToken) {
        if let Some(cut) = self.truncated(token) {
            self.found.push((token.start - 1..token.end + 1, quoted_wtf8(&cut)));
        }
    }

    /// Whether the string is an image that a reference may take the place of, and takes unless images stay.
    fn externalise(&mut self, token: StringToken) -> bool {
        let fewest = self.rules.externalise_images_from;
        let Some(bytes) = fewest.and_then(|fewest| decode(self.inside(token), fewest)) else {
            return false;
        };
        if let Images::Out { hash, taken } = &mut self.images {
            let image = ExternalisedImage { hash: hash(&bytes), bytes };
            self.found.push((token.start - 1..token.end + 1, image.reference()));
            taken.push(image);
        }
        true
    }

    fn count_lines(&mut self, content: StringToken, count: Range<usize>) {
        let lines = match self.truncated(content) {
            Some(cut) => lines_of(&cut),
            None => lines_of(&unescape(self.inside(content))),
        };
        self.found.push((count, lines.to_string()));
    }

    /// Ends a value, and its removal if its member is removed.
    fn end_value(&mut self, end: usize) {
        let Some(removal) = self.removal.take_if(|removal| removal.depth == self.frames.len())
        else {
            return;
        };
        // One comma goes with it: the one before it, or the one after it if no member before it stays.
        let range = if self.frame.has_members {
            removal.start - 1..end
        } else if self.text.as_bytes().get(end) == Some(&b',') {
            removal.start..end + 1
        } else {
            removal.start..end
        };
        self.found.push((range, String::new()));
    }
}

impl Visitor for Edits<'_> {
    fn open(&mut self, container: Container, _: usize) {
        let mut inner = Frame::new(Name::Other, self.found.len());
        inner.is_content = container == Container::Array && self.frame.name == Name::Content;
        inner.in_content = self.frame.is_content;
        self.frames.push(std::mem::replace(&mut self.frame, inner));
    }

    fn close(&mut self, _: Container, end: usize) {
        let outer = self.frames.pop().expect("the grammar closes only what it has opened");
        let closed = std::mem::replace(&mut self.frame, outer);
        if self.removal.is_none() {
            if let Some(data) = closed.data
                && !(closed.is_image && self.externalise(data))
            {
                self.truncate(data);
            }
            // What is deep inside of an object changes it as well.
            let is_changed = self.found.len() > closed.edits;
            if let (true, Some(content), Some(count)) =
                (is_changed, closed.content, closed.line_count)
            {
                self.count_lines(content, count);
            }
        }
        self.end_value(end);
    }

    fn key(&mut self, token: StringToken) {
        if self.removal.is_some() {
            return;
        }
        let name = self.inside(token);
        self.frame.name = Name::of(name);
        if self.rules.drop_transient && is_transient(name.as_bytes()) {
            self.removal = Some(Removal { start: token.start - 1, depth: self.frames.len() });
        } else {
            self.frame.has_members = true;
        }
    }

    fn string(&mut self, token: StringToken) {
        if self.removal.is_none() {
            match self.frame.name {
                Name::Type => self.frame.is_image = self.inside(token) == "image",
                Name::Content => self.frame.content = Some(token),
                _ => {}
            }
            if self.frame.name == Name::Data && self.frame.in_content {
                self.frame.data = Some(token);
            } else {
                self.truncate(token);
            }
        }
        self.end_value(token.end + 1);
    }

    fn scalar(&mut self, scalar: Scalar, start: usize, end: usize) {
        if self.frame.name == Name::LineCount && scalar == Scalar::Number && self.removal.is_none()
        {
            self.frame.line_count = Some(start..end);
        }
        self.end_value(end);
    }
}
