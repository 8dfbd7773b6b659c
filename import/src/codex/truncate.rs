//! How the program shortens a text: it keeps the beginning and the end, and counts what was between them (observed).

/// Bytes that count as one token.
const BYTES_A_TOKEN: u64 = 4;

/// How much of a tool's output the model is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// All of it.
    None,
    /// At most so many bytes.
    Bytes(u64),
    /// At most this many tokens, of four bytes each.
    Tokens(u64),
}

impl Truncation {
    /// What Codex sends to a model that it does not know: 12,000 bytes, its limit of 10,000 with an allowance of a fifth.
    pub const UNKNOWN_MODEL: Self = Self::Bytes(12_000);

    /// What Codex sends to the models of its own list: 12,000 tokens, 10,000 with an allowance of a fifth.
    pub const KNOWN_MODEL: Self = Self::Tokens(12_000);

    fn bytes(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Bytes(bytes) => Some(bytes),
            Self::Tokens(tokens) => Some(tokens.saturating_mul(BYTES_A_TOKEN)),
        }
    }

    /// Whether no room is left.
    pub(super) fn is_used_up(self) -> bool {
        self.bytes() == Some(0)
    }

    /// What is left after a text.
    pub(super) fn less(self, text: &str) -> Self {
        match self {
            Self::None => Self::None,
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_sub(text.len() as u64)),
            Self::Tokens(left) => Self::Tokens(left.saturating_sub(tokens(text.len() as u64))),
        }
    }
}

/// The number of tokens that this many bytes count as.
pub(super) fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_A_TOKEN)
}

/// Where a text longer than `limit` bytes is cut: the end of the part kept at its beginning, and the start of the part
/// kept at its end.
pub(super) fn cut(text: &str, limit: u64) -> Option<(usize, usize)> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if text.len() <= limit {
        return None;
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let before = (0..=limit / 2).rev().find(is_boundary).unwrap_or(0);
    let behind = (text.len() - (limit - limit / 2)..=text.len()).find(is_boundary);
    Some((before, behind.unwrap_or(text.len())))
}

/// The shortened text; `None` if it is short enough.
pub(super) fn truncate(text: &str, truncation: Truncation) -> Option<String> {
    let (before, behind) = cut(text, truncation.bytes()?)?;
    let removed = &text[before..behind];
    let what = match truncation {
        Truncation::Tokens(_) => format!("{} tokens", tokens(removed.len() as u64)),
        _ => format!("{} chars", removed.chars().count()),
    };
    Some(format!("{}…{what} truncated…{}", &text[..before], &text[behind..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_and_ends_stay() {
        let short = |text, truncation| truncate(text, truncation);
        assert_eq!(short("abcdef", Truncation::Bytes(6)), None);
        assert_eq!(short("abcdef", Truncation::None), None);
        assert_eq!(short("abcdef", Truncation::Bytes(3)).unwrap(), "a…3 chars truncated…ef");
        assert_eq!(short("éééé", Truncation::Bytes(5)).unwrap(), "é…2 chars truncated…é");
        assert_eq!(short("abcdefghij", Truncation::Tokens(1)).unwrap(), "ab…2 tokens truncated…ij");
        assert_eq!(short("abcde", Truncation::Tokens(0)).unwrap(), "…2 tokens truncated…");
    }
}
