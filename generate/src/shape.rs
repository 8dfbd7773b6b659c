//! What to generate, and what was generated.

/// Which program's sessions to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Family {
    /// pi.
    #[default]
    Pi,
    /// omp (oh-my-pi).
    Omp,
    /// Claude Code.
    Claude,
}

/// The properties of a generated session. The same shape always gives the same bytes.
///
/// ```
/// use leafline_generate::{Shape, generate};
///
/// let shape = Shape { seed: 7, bytes: 100_000, ..Shape::default() };
/// let mut session = Vec::new();
/// let summary = generate(&shape, &mut session)?;
/// assert_eq!(summary.bytes, session.len() as u64);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Identifies the session: another seed gives another session, with other names, files and words.
    pub seed: u64,
    /// The size to reach, in bytes. The session ends with the line that reaches it.
    pub bytes: u64,
    /// The version of the format, 1 to 3; Claude Code's has none. A version 1 has no ids, so no branches, labels or
    /// custom entries either.
    pub version: u32,
    /// Whether the conversation goes back and branches.
    pub branches: bool,
    /// Whether the context is compacted about every 200 entries.
    pub compactions: bool,
    /// The share of all bytes that are images, from 0.0 to 0.95.
    pub images: f64,
    /// The program that would have written the session.
    pub family: Family,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            seed: 1,
            bytes: 10_000_000,
            version: 3,
            branches: true,
            compactions: true,
            images: 0.0,
            family: Family::Pi,
        }
    }
}

/// What was generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The id of the session, from its header; for Claude Code, its file name without `.jsonl`.
    pub session_id: String,
    /// Lines, including the header.
    pub lines: u64,
    /// Lines that are entries.
    pub entries: u64,
    /// Bytes in total.
    pub bytes: u64,
    /// How often the conversation went back.
    pub branches: u64,
    /// How often the context was compacted.
    pub compactions: u64,
    /// How many images there are, including repeated ones.
    pub images: u64,
    /// Ids of entries, evenly spread in file order, at most 10,000. None for version 1.
    pub sample_ids: Vec<String>,
    /// The id of the last entry. None for version 1.
    pub leaf_id: Option<String>,
}
