//! The changes made to an entry before it is stored.

/// The changes made to an entry before it is stored.
///
/// The [documented](Self::documented) rules are omp's; the other programs keep everything. They are applied in this order, at
/// any depth:
///
/// 1. Members `partialJson` and `jsonlEvents`, which only matter while a message streams in, are removed.
/// 2. The `data` of an image block (`{"type":"image","data":...}`, an element of an array `content`) becomes a reference,
///    `blob:sha256:` and the hash of the bytes, where it is base64 that decoding and encoding gives back as it is.
/// 3. Strings that are too long are cut and end in [`TRUNCATION_NOTICE`](crate::pi_omp::TRUNCATION_NOTICE). That holds for an
///    image that stayed inline as well; not for names of members, for the entry's type, and for references.
/// 4. Where an object in which something was removed or replaced, at any depth, has a `content` that is a string and a
///    `lineCount` that is a number, the number becomes that of the lines of the string: one more than it has of `\n`.
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

    /// No rule at all: entries are written as they are.
    #[must_use]
    pub const fn keep_everything() -> Self {
        Self { truncate_from: None, drop_transient: false, externalise_images_from: None }
    }
}

/// An image that a reference has taken the place of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalisedImage {
    /// The SHA-256 of the bytes.
    pub hash: [u8; 32],
    /// The bytes, decoded.
    pub bytes: Vec<u8>,
}
