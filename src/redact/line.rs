//! Redacts a line of a session: finds secrets in the texts of its strings, and replaces them where the strings have them.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};
use serde::de::IgnoredAny;

use super::escapes::Decoded;
use super::finder::{Find, Finder, Found, Rank};
use super::names::{self, Name};
use super::placeholder::{self, Key, Tag};
use super::private_key;
use super::text::Class;
use super::{Redactions, Redactor};

/// How much of a string is looked at at once, and how much of it again with what follows. A longer secret than the latter
/// is found only as far as it goes.
const WINDOW: usize = 512 << 10;
const AGAIN: usize = 72 << 10;

/// How much before what is looked at counts for what it is: a name, a word.
const BEFORE: usize = 256;

/// How often a text is decoded: a string of JSON in a string of JSON in a line.
const DEPTH: usize = 3;

/// From this length on a string of nothing but base64 is data, such as an image, and not looked at.
const DATA: usize = 1024;

/// A secret in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) place: Range<usize>,
    pub(super) kind: &'static str,
    pub(super) tag: Tag,
    rank: Rank,
    depth: usize,
}

impl Redactor {
    /// Passes on a line with its secrets replaced; what has none is passed on as it is.
    pub(super) fn pass<E>(
        &self,
        line: &[u8],
        redactions: &mut Redactions,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = 0;
        let mut placeholder = Vec::new();
        let mut failure = Ok(());
        self.secrets(line, &mut |secret| {
            if failure.is_err() {
                return;
            }
            redactions.add(secret.kind, secret.tag);
            placeholder.clear();
            placeholder::write(secret.kind, secret.tag, &mut placeholder);
            failure = take(line.get(at..secret.place.start).unwrap_or_default())
                .and_then(|()| take(&placeholder));
            at = secret.place.end;
        });
        failure?;
        take(line.get(at..).unwrap_or_default())
    }

    /// The secrets of a line, in order, none of which overlaps another.
    pub(super) fn secrets(&self, line: &[u8], take: &mut dyn FnMut(&Secret)) {
        let search = Search { finder: &self.rules.finder, key: &self.rules.key };
        // In a line without such escapes every beginning of a secret stands as it is.
        let hides = memmem::find(line, b"\\u").is_some() || memmem::find(line, b"\\/").is_some();
        if !hides && !search.finder.may_find_in(line) {
            return;
        }
        if is_json(line) {
            search.in_strings(line, take);
        } else {
            search.in_text(line, 0, None, take);
        }
    }

    /// The secrets of a text that is no JSON.
    pub(super) fn secrets_of_text(&self, text: &[u8], take: &mut dyn FnMut(&Secret)) {
        let search = Search { finder: &self.rules.finder, key: &self.rules.key };
        search.in_text(text, 0, None, take);
    }
}

/// Whether a line is one record or several.
fn is_json(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    serde_json::Deserializer::from_slice(line)
        .into_iter::<IgnoredAny>()
        .all(|record| record.is_ok())
}

#[derive(Debug, Clone, Copy)]
struct Search<'r> {
    finder: &'r Finder,
    key: &'r Key,
}

impl Search<'_> {
    /// Goes through the strings of a line of JSON.
    fn in_strings(self, line: &[u8], take: &mut dyn FnMut(&Secret)) {
        let mut at = 0;
        let mut name = None;
        let mut in_key = false;
        // A variable as a member `name` tells it, whose value is the object's member `value`.
        let (mut variable, mut tells_variable) = (None, false);
        while let Some(start) = memchr(b'"', line.get(at..).unwrap_or_default()) {
            let start = at + start + 1;
            if memchr(b'}', line.get(at..start).unwrap_or_default()).is_some() {
                variable = None;
            }
            let end = end_of_string(line, start);
            let Some(string) = line.get(start..end) else { break };
            at = end + 1;
            let behind = line.get(at..).unwrap_or_default();
            if behind.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':') {
                name = match string {
                    b"value" => variable,
                    string => Name::of(&Decoded::of(string).text),
                };
                tells_variable = matches!(string, b"name" | b"key");
                self.in_text(string, start, None, take);
                continue;
            }
            if std::mem::take(&mut tells_variable) {
                variable = Name::of(string);
            }
            if is_data(string) {
                continue;
            }
            if in_key && let Some(goes_on) = self.rest_of_key(string, start, take) {
                in_key = goes_on;
                continue;
            }
            in_key = self.in_text(string, start, name, take);
        }
    }

    /// Replaces what a string has of a private key that other strings have begun, a line in each; `None` if it has nothing.
    fn rest_of_key(
        self,
        string: &[u8],
        start: usize,
        take: &mut dyn FnMut(&Secret),
    ) -> Option<bool> {
        let decoded = Decoded::of(string);
        let (length, is_end) = private_key::rest(&decoded.text)?;
        let place = decoded.place_of(0..length);
        take(&Secret {
            place: start + place.start..start + place.end,
            kind: "private-key",
            tag: self.key.tag(decoded.text.get(..length).unwrap_or_default()),
            rank: Rank::PrivateKey,
            depth: 0,
        });
        Some(!is_end)
    }

    /// Looks at the inside of a string, or at another text that begins at `start`, a window after the other. Returns whether
    /// a private key is cut off at its end.
    fn in_text(
        self,
        raw: &[u8],
        start: usize,
        name: Option<Name>,
        take: &mut dyn FnMut(&Secret),
    ) -> bool {
        let (mut from, mut key_goes_on) = (0_usize, false);
        loop {
            let before = char_start(raw, from.saturating_sub(BEFORE));
            let end = raw.len().min(from.saturating_add(WINDOW));
            let is_last = end == raw.len();
            let end = if is_last { end } else { char_start(raw, end) };
            // What begins behind this is looked at with what follows.
            let until = if is_last { end } else { end - AGAIN };
            let window = raw.get(before..end).unwrap_or_default();
            let name = name.filter(|_| from == 0 && is_last);
            let (secrets, goes_on) = self.in_window(window, name);
            let mut next = until;
            for mut secret in secrets {
                let place = before + secret.place.start..before + secret.place.end;
                if place.start < from || place.start >= until && !is_last {
                    continue;
                }
                next = next.max(place.end);
                secret.place = start + place.start..start + place.end;
                take(&secret);
            }
            key_goes_on |= goes_on && is_last;
            if is_last {
                return key_goes_on;
            }
            from = next;
        }
    }

    /// The secrets of a window in order, those that overlap joined.
    fn in_window(self, raw: &[u8], name: Option<Name>) -> (Vec<Secret>, bool) {
        let mut secrets = Vec::new();
        let key_goes_on = self.at_depth(raw, 1, &mut |secret| secrets.push(secret));
        if let Some(name) = name {
            let decoded = Decoded::of(raw);
            if names::is_secret_member(name, &decoded.text) {
                let tag = self.key.tag(&decoded.text);
                let (place, rank) = (0..raw.len(), Rank::Named);
                secrets.push(Secret { place, kind: name.kind(), tag, rank, depth: 0 });
            }
        }
        for secret in &mut secrets {
            // The rest stays valid UTF-8.
            secret.place = char_start(raw, secret.place.start)..char_end(raw, secret.place.end);
        }
        (joined(secrets), key_goes_on)
    }

    /// Passes on what is found in the text that a string stands for, and in the text that this one stands for in turn.
    fn at_depth(self, raw: &[u8], depth: usize, take: &mut dyn FnMut(Secret)) -> bool {
        let decoded = Decoded::of(raw);
        let mut found = Found::default();
        self.finder.find(&decoded.text, &mut found);
        for Find { place, kind, rank } in found.finds {
            let tag = self.key.tag(decoded.text.get(place.clone()).unwrap_or_default());
            take(Secret { place: decoded.place_of(place), kind, tag, rank, depth });
        }
        let mut key_goes_on = found.key_goes_on;
        if depth < DEPTH && decoded.has_escapes() && memchr(b'\\', &decoded.text).is_some() {
            key_goes_on |= self.at_depth(&decoded.text, depth + 1, &mut |mut secret| {
                secret.place = decoded.place_of(secret.place);
                take(secret);
            });
        }
        key_goes_on
    }
}

/// Joins secrets that overlap. The one that says most names all of them: by its rank, then as the text that is meant, which
/// is the one decoded most often, then as the longest.
fn joined(mut secrets: Vec<Secret>) -> Vec<Secret> {
    secrets.sort_by_key(|secret| secret.place.start);
    let mut joined: Vec<Secret> = Vec::with_capacity(secrets.len());
    for secret in secrets {
        match joined.last_mut() {
            Some(last) if secret.place.start < last.place.end => {
                let place = last.place.start..last.place.end.max(secret.place.end);
                let weight = |secret: &Secret| (secret.rank, secret.depth, secret.place.len());
                if weight(&secret) > weight(last) {
                    *last = secret;
                }
                last.place = place;
            }
            _ => joined.push(secret),
        }
    }
    joined
}

/// The place of the quotation mark that ends a string.
fn end_of_string(line: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = memchr2(b'"', b'\\', line.get(at..).unwrap_or_default()) {
        at += found;
        if line.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    line.len()
}

/// Whether a string is long and nothing but base64, with or without the beginning of a data URL.
fn is_data(string: &[u8]) -> bool {
    if string.len() < DATA {
        return false;
    }
    let data = match string.starts_with(b"data:") {
        true => memmem::find(string.get(..DATA).unwrap_or_default(), b";base64,")
            .and_then(|at| string.get(at + 8..)),
        false => Some(string),
    };
    data.is_some_and(|data| data.iter().all(|byte| Class::Base64.has(*byte)))
}

/// The beginning of the character that has a byte.
fn char_start(text: &[u8], at: usize) -> usize {
    let is_inside = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    at - (1..4)
        .take_while(|back| at.checked_sub(back - 1).is_some_and(|place| is_inside(&place)))
        .count()
}

fn char_end(text: &[u8], at: usize) -> usize {
    at + (0..3).take_while(|on| text.get(at + on).is_some_and(|byte| byte & 0xc0 == 0x80)).count()
}
