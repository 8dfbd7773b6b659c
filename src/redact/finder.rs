//! Finds secrets in a text: one search for all beginnings and names, and a look at what follows each.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memchr_iter;
use regex::bytes::Regex;

use super::RedactionOptions;
use super::names::{self, Name};
use super::shapes::{INNERS, Inner, SERVICES, SHAPES, Service, Shape};
use super::{manifest, personal, private_key, users};
use crate::error::{Error, ExportError, Result};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) place: Range<usize>,
    pub(super) kind: &'static str,
    /// How much is known by it: of several at one place the highest one names it.
    pub(super) rank: Rank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Personal,
    Named,
    Pattern,
    Shape,
    PrivateKey,
}

/// What the search for a text leads to.
#[derive(Debug, Clone, Copy)]
enum Lead {
    Shape(&'static Shape),
    Inner(&'static Inner),
    Service(&'static Service),
    Name,
    Url,
    Curl,
    Signature,
    Manifest,
    PrivateKey,
    Home,
}

/// Finds secrets, by rules that are made ready once.
#[derive(Debug)]
pub(super) struct Finder {
    search: AhoCorasick,
    leads: Vec<Lead>,
    patterns: Vec<Regex>,
    emails: bool,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) finds: Vec<Find>,
    /// Whether a private key is cut off at the end of the text.
    pub(super) key_goes_on: bool,
    /// Up to where lines that say what a manifest is belong to one whose values were found.
    manifests_to: usize,
}

impl Finder {
    pub(super) fn new(options: &RedactionOptions) -> Result<Self> {
        let mut sought: Vec<(&str, Lead)> = Vec::new();
        sought.extend(SHAPES.iter().map(|shape| (shape.begins, Lead::Shape(shape))));
        sought.extend(INNERS.iter().map(|inner| (inner.has, Lead::Inner(inner))));
        sought.extend(SERVICES.iter().map(|service| (service.name, Lead::Service(service))));
        sought.extend(names::SOUGHT.iter().map(|name| (*name, Lead::Name)));
        sought.push(("://", Lead::Url));
        sought.push(("curl ", Lead::Curl));
        sought.extend(names::SIGNATURES.iter().map(|name| (*name, Lead::Signature)));
        sought.extend(manifest::SOUGHT.iter().map(|line| (*line, Lead::Manifest)));
        sought.push((private_key::BEGINS, Lead::PrivateKey));
        if options.homes {
            sought.extend(personal::HOMES.iter().map(|home| (*home, Lead::Home)));
        }
        let (texts, leads): (Vec<&str>, Vec<Lead>) = sought.into_iter().unzip();
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(texts)
            .expect("a few hundred short texts make a small automaton");
        let compile = |pattern: &String| {
            Regex::new(pattern).map_err(|source| {
                let (pattern, problem) = (pattern.clone(), source.to_string());
                Error::Export(ExportError::Pattern { pattern, problem })
            })
        };
        let patterns = options.patterns.iter().map(compile).collect::<Result<_>>()?;
        Ok(Self { search, leads, patterns, emails: options.emails })
    }

    /// Whether a text that is free of escapes can have a secret.
    pub(super) fn may_find_in(&self, text: &[u8]) -> bool {
        !self.patterns.is_empty()
            || self.emails && memchr::memchr(b'@', text).is_some()
            || self.search.is_match(text)
    }

    /// Appends what is found in a text.
    pub(super) fn find(&self, text: &[u8], found: &mut Found) {
        for hit in self.search.find_overlapping_iter(text) {
            let Some(lead) = self.leads.get(hit.pattern().as_usize()) else { continue };
            follow(*lead, text, hit.range(), found);
        }
        for pattern in &self.patterns {
            let places = pattern.find_iter(text).map(|hit| hit.range());
            let rank = Rank::Pattern;
            let finds = places.filter(|place| !place.is_empty());
            found.finds.extend(finds.map(|place| Find { place, kind: "pattern", rank }));
        }
        if self.emails {
            let places = memchr_iter(b'@', text).filter_map(|at| personal::email(text, at));
            let rank = Rank::Personal;
            found.finds.extend(places.map(|place| Find { place, kind: "email", rank }));
        }
    }
}

fn follow(lead: Lead, text: &[u8], hit: Range<usize>, found: &mut Found) {
    let find = match lead {
        Lead::Shape(shape) => shape.end(text, hit.start).map(|end| Find {
            place: hit.start..end,
            kind: shape.kind,
            rank: Rank::Shape,
        }),
        Lead::Inner(inner) => inner.place(text, hit.start).map(|(start, end)| Find {
            place: start..end,
            kind: inner.kind,
            rank: Rank::Shape,
        }),
        Lead::Service(service) => names::value_of_service(text, hit)
            .filter(|place| text.get(place.clone()).is_some_and(|value| service.has(value)))
            .map(|place| Find { place, kind: service.kind, rank: Rank::Shape }),
        Lead::Name => names::value_of(text, hit).map(|(name, place)| Find {
            place,
            kind: name.kind(),
            rank: Rank::Named,
        }),
        Lead::Url => users::password_of_url(text, hit.start).map(|place| Find {
            place,
            kind: Name::Password.kind(),
            rank: Rank::Named,
        }),
        Lead::Curl => users::password_of_curl(text, hit.end - 1).map(|place| Find {
            place,
            kind: Name::Password.kind(),
            rank: Rank::Named,
        }),
        Lead::Signature => names::signature(text, hit).map(|place| Find {
            place,
            kind: "url-signature",
            rank: Rank::Shape,
        }),
        Lead::Manifest if hit.start < found.manifests_to => None,
        Lead::Manifest => {
            found.manifests_to = hit.start + manifest::NEAR;
            let finds = manifest::values(text, &hit).into_iter();
            let (kind, rank) = (Name::Secret.kind(), Rank::Named);
            found.finds.extend(finds.map(|place| Find { place, kind, rank }));
            None
        }
        Lead::PrivateKey => private_key::at(text, hit.start).map(|key| {
            found.key_goes_on = key.goes_on;
            Find { place: key.place, kind: "private-key", rank: Rank::PrivateKey }
        }),
        Lead::Home => personal::user_of_home(text, hit).map(|place| Find {
            place,
            kind: "home",
            rank: Rank::Personal,
        }),
    };
    found.finds.extend(find);
}
