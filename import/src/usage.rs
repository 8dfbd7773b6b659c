//! The usage of an answer of the model.

/// Tokens and cost of one answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Tokens of input that were not in a cache.
    pub input: u64,
    /// Tokens of output.
    pub output: u64,
    /// Tokens of input read from a cache.
    pub cache_read: u64,
    /// Tokens of input written to a cache.
    pub cache_write: u64,
    /// Cost as the program states it: US dollars, in pi and omp. Never negative.
    pub cost: f64,
}
