//! What omp does to an entry before it is written (omp session storage document, persistence; observed behaviour).

mod edits;
mod images;
mod truncate;

pub use truncate::TRUNCATION_NOTICE;

use crate::pi_omp::draft::{Draft, Member, quoted_wtf8};
use crate::scan::Raw;
use crate::text::unescape;
use edits::{Edits, splice};
use truncate::lines_of;

/// The changes made to an entry before it is written.
///
/// The documented rules are omp's; pi keeps everything. They are applied in this order, at any depth:
///
/// 1. Members `partialJson` and `jsonlEvents`, which only matter while a message streams in, are removed.
/// 2. The `data` of an image block (`{"type":"image","data":...}`, an element of an array `content`) becomes a
///    reference, `blob:sha256:` and the hash of the bytes, if it is base64 that decoding and encoding reproduces
///    exactly.
/// 3. Strings that are too long are cut and end in [`TRUNCATION_NOTICE`]. That includes an image that stayed inline,
///    but not names of members, the entry's type, and references.
/// 4. If an object has a string `content` and a number `lineCount`, the number becomes the number of lines in the
///    string: one more than it has `
/// `.
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
    /// The maximum length of a string in UTF-16 units; a longer one is cut to that, including the notice. `None` cuts
    /// nothing and counts no lines. A limit below the notice's length cuts without a notice.
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
        if self.drop_transient {
            members.retain(|member| !is_transient(member.plain_name().as_bytes()));
        }
        let mut images = Vec::new();
        for member in members.iter_mut() {
            let edits =
                Edits::of_member(self, member.plain_name(), &member.json, &mut hash, &mut images);
            if !edits.is_empty() {
                member.json = splice(&member.json, edits);
            }
        }
        if self.truncate_from.is_some() {
            count_lines(members);
        }
        images
    }
}

/// An image that was replaced by a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalisedImage {
    /// The SHA-256 of the bytes, as `hash` returned it.
    pub hash: [u8; 32],
    /// The bytes, decoded.
    pub bytes: Vec<u8>,
}

/// Whether a member only matters while a message streams in.
fn is_transient(name: &[u8]) -> bool {
    matches!(name, b"partialJson" | b"jsonlEvents")
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
