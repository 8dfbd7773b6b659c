//! What omp does to an entry before it is written (omp session storage document, persistence; observed behaviour).

mod edits;
mod images;
mod truncate;

pub use truncate::TRUNCATION_NOTICE;

use crate::pi_omp::draft::{Draft, Member, quoted_wtf8};
use crate::scan::Raw;
use crate::text::unescape;
use crate::writing::{ExternalisedImage, Rules};
use edits::{Edits, Images, splice};
use truncate::lines_of;

impl Rules {
    /// Applies the rules to a draft. `hash` gets the bytes of each removed image and returns their SHA-256.
    ///
    /// Returns the removed images, in the order in which their blocks end; an image that occurs twice is returned
    /// twice.
    ///
    /// ```
    /// use leafline_import::pi_omp::{Draft, TRUNCATION_NOTICE};
    /// use leafline_import::writing::Rules;
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

    /// [`Self::apply`] to an entry that was written before, as a program writes it again ([`crate::ecma`]). `None` where
    /// nothing changes.
    ///
    /// # Panics
    ///
    /// If the text is not JSON.
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
