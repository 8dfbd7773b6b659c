//! The size of the benchmarked session, from the environment.

/// Names the size: bytes, or a number with `KB`, `MB` or `GB` (powers of 1,000).
const VARIABLE: &str = "LEAFLINE_BENCH_BYTES";

/// Names the sizes of stores that are appended to, with commas between.
const STORES: &str = "LEAFLINE_BENCH_STORES";

const DEFAULT_STORES: &str = "1MB,1GB";

/// Large enough for several slices of an import, small enough for a quick run.
const DEFAULT_BYTES: u64 = 64_000_000;

/// Size of the session to measure, in bytes.
pub(crate) fn session_bytes() -> u64 {
    asked_bytes().unwrap_or(DEFAULT_BYTES)
}

/// The size from the environment, if it is set.
pub(crate) fn asked_bytes() -> Option<u64> {
    let text = std::env::var(VARIABLE).ok()?;
    let bytes = parse(&text);
    assert!(bytes.is_some(), "{VARIABLE}={text}: expected a size like 64MB or 1GB");
    bytes
}

/// Sizes of the stores to append to, in bytes of sessions.
pub(crate) fn store_bytes() -> Vec<u64> {
    let text = std::env::var(STORES).unwrap_or_else(|_| DEFAULT_STORES.to_owned());
    let sizes: Option<Vec<u64>> = text.split(',').map(parse).collect();
    assert!(sizes.is_some(), "{STORES}={text}: expected sizes like 1MB,1GB");
    sizes.unwrap_or_default()
}

fn parse(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text.strip_prefix(digits)? {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// A group's name with the size in it, so that Criterion never compares runs of different sizes.
pub(crate) fn with_size(name: &str) -> String {
    with_bytes(name, session_bytes())
}

/// A group's name with the size of a session that is chosen in another way.
pub(crate) fn with_bytes(name: &str, bytes: u64) -> String {
    format!("{name} {} MB", bytes / 1_000_000)
}

/// Bytes for people.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

/// One size as a share of another, to three digits.
pub(crate) fn ratio(part: u64, whole: u64) -> String {
    let thousandths = (u128::from(part) * 1_000 + u128::from(whole) / 2) / u128::from(whole.max(1));
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}
