//! Shared by the benchmarks: the session file, Leafline on it, and the baselines.

#![allow(dead_code, reason = "each benchmark uses its part of this")]

pub(crate) mod compacted_session;
pub(crate) mod copy_baseline;
pub(crate) mod jsonl_baseline;
pub(crate) mod latency;
pub(crate) mod leafline_store;
pub(crate) mod messages;
pub(crate) mod peak_memory;
pub(crate) mod random_order;
pub(crate) mod sampling;
pub(crate) mod session_file;
pub(crate) mod size;
pub(crate) mod sqlite_baseline;
