//! What omp does to an entry before it is written (omp session storage document, persistence; observed behaviour).

mod edits;
mod images;
mod truncate;

pub use truncate::TRUNCATION_NOTICE;

use crate::family::Family;
use crate::pi_omp::draft::{Draft, Member, quoted_wtf8};
use crate::scan::Raw;
use crate::text::unescape;
use edits::{Edits, Images, splice};
use truncate::lines_of;

/// The changes made to an entry before it is written.
///
/// The documented rules are omp's; pi keeps everything. They are applied in this order, at any depth:
///
/// 1. Members `partialJson` and `jsonlEvents`, which only matter while a message streams in, are removed.
/// 2. The `data` of an image block (`{"type":"image","data":...}`, an element of an array `content`) becomes a reference,
///    `blob:sha256:` and the hash of the bytes, where it is base64 that decoding and encoding gives back as it is.
/// 3. Strings that are too long are cut and end in [`TRUNCATION_NOTICE`]. That holds for an image that stayed inline as
///    well; not for names of members, for the entry's type, and for references.
/// 4. Where an object in which something was removed or replaced, at any depth, has a `content` that is a string and a
///    `lineCount` that is a number, the number becomes that of the lines of the string: one more than it has of `\n`.
///
/// ```
/// use leafline_import::pi_omp::{Draft, Rules, TRUNCATION_NOTICE};
///
/// let long = "long ".repeat(1_000);
/// let entry = format!(r#"{{"partialJson":"{{","output":{{"content":"{long}","lineCount":1}}}}"#);
/// let mut draft = Draft::custom("tool", Some(&entry))?;
///
/// let rules = Rules { truncate_from: Some(60), ..Rules::documented() };
/// let images = rules.apply(&mut draft, |_| unreachable!("there is no image in it"));
/// assert!(images.is_empty());
/// let cut = format!("{}{TRUNCATION_NOTICE}", &long[..60 - TRUNCATION_NOTICE.len()]);
/// let cut = cut.replace('\n', "\\n");
/// let expected = format!(r#"{{"output":{{"content":"{cut}","lineCount":3}}}}"#);
/// assert_eq!(draft.member("data"), Some(&*expected));
/// # Ok::<(), leafline_import::pi_omp::DraftError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The most that a string may have, in UTF-16 units; what is longer is cut to that, the notice included. `None` cuts
    /// nothing. A limit below the notice's length cuts without a notice.
    pub truncate_from: Option<usize>,
    /// Whether members `partialJson` and `jsonlEvents` are removed.
    pub drop_transient: bool,
    /// The smallest number of base64 characters for which an image becomes a reference. `None` leaves all images in
    /// place.
    pub externalise_images_from: Option<usize>,
}

impl Rules {
    /// The rules of omp's document: strings of at most 500,000 UTF-16 units, no transient members, references for
    /// images of 1,024 base64 characters or more.
    #[must_use]
    pub const fn documented() -> Self {
        Self {
            truncate_from: Some(500_000),
            drop_transient: true,
            externalise_images_from: Some(1_024),
        }
    }

    /// Those of the family's program: omp's document has them, the others keep everything.
    #[must_use]
    pub const fn of(family: Family) -> Self {
        match family {
            Family::Omp => Self::documented(),
            _ => Self::keep_everything(),
        }
    }

    /// No rule at all: entries are written as they are.
    #[must_use]
    pub const fn keep_everything() -> Self {
        Self { truncate_from: None, drop_transient: false, externalise_images_from: None }
    }

    /// Applies the rules to a draft. `hash` gets the bytes of each removed image and returns their SHA-256.
    ///
    /// Returns the removed images, in the order in which their blocks end; an image that occurs twice is returned
    /// twice.
    pub fn apply(
        &self,
        draft: &mut Draft,
        mut hash: impl FnMut(&[u8]) -> [u8; 32],
    ) -> Vec<ExternalisedImage> {
        let members = draft.members_mut();
        let before = members.len();
        if self.drop_transient {
            members.retain(|member| !is_transient(member.plain_name().as_bytes()));
        }
        let mut is_changed = members.len() < before;
        let mut images = Vec::new();
        for member in members.iter_mut() {
            let out = Images::Out { hash: &mut hash, taken: &mut images };
            let edits = Edits::of_member(self, member.plain_name(), &member.json, out);
            if !edits.is_empty() {
                member.json = splice(&member.json, edits);
                is_changed = true;
            }
        }
        if is_changed {
            count_lines(members);
        }
        images
    }
}

impl Rules {
    /// [`Self::apply`] to an entry that was written before, as a program writes it again ([`crate::ecma`]). `None` where
    /// nothing changes.
    ///
    /// # Panics
    ///
    /// If the text is no JSON.
    pub fn apply_to_line(
        &self,
        line: &str,
        mut hash: impl FnMut(&[u8]) -> [u8; 32],
    ) -> Option<(String, Vec<ExternalisedImage>)> {
        let mut taken = Vec::new();
        let out = Images::Out { hash: &mut hash, taken: &mut taken };
        let edits = Edits::of_member(self, "", line, out);
        (!edits.is_empty()).then(|| (splice(line, edits), taken))
    }

    /// The same, but images of which a reference could take the place stay, whole: whoever stores the line takes them out.
    pub(super) fn apply_but_to_images(&self, line: &str) -> Option<String> {
        if !self.may_change(line) {
            return None;
        }
        let edits = Edits::of_member(self, "", line, Images::Stay);
        (!edits.is_empty()).then(|| splice(line, edits))
    }

    /// Whether something in the line but its images may change: seen without reading it.
    fn may_change(&self, line: &str) -> bool {
        self.truncate_from.is_some_and(|limit| line.len() > limit)
            || (self.drop_transient && TRANSIENT.iter().any(|name| line.contains(name)))
    }
}

/// An image that a reference has taken the place of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalisedImage {
    /// The SHA-256 of the bytes, as `hash` returned it.
    pub hash: [u8; 32],
    /// The bytes, decoded.
    pub bytes: Vec<u8>,
}

/// Members that only matter while a message streams in.
const TRANSIENT: [&str; 2] = ["partialJson", "jsonlEvents"];

fn is_transient(name: &[u8]) -> bool {
    TRANSIENT.iter().any(|transient| transient.as_bytes() == name)
}

/// Updates `lineCount` of an entry that itself has `content` and `lineCount`.
fn count_lines(members: &mut [Member]) {
    let place = |name| members.iter().position(|member| member.plain_name() == name);
    let (Some(content), Some(count)) = (place("content"), place("lineCount")) else {
        return;
    };
    if Raw::of_walked(&members[count].json).is_number()
        && let Some(content) = Raw::of_walked(&members[content].json).as_string()
    {
        members[count].json = lines_of(&content).to_string();
    }
}

#[cfg(test)]
mod tests;
