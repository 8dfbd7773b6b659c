//! The version of a program.

use std::fmt;
use std::str::FromStr;

/// The version of a program, for example `0.73.1`. Parts that are not named count as 0: `0.87` is `0.87.0`.
///
/// ```
/// use leafline_import::ProgramVersion;
///
/// let version: ProgramVersion = "0.73.1".parse()?;
/// assert!(version < "0.87".parse()? && version > "0.73".parse()?);
/// assert_eq!(version.to_string(), "0.73.1");
/// # Ok::<(), leafline_import::NotAVersion>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramVersion {
    parts: [u32; 3],
}

impl ProgramVersion {
    /// A version of three parts.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { parts: [major, minor, patch] }
    }
}

/// The text is not a version: one to three numbers with dots between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAVersion;

impl fmt::Display for NotAVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version has one to three numbers with dots between them, for example 0.87.1")
    }
}

impl std::error::Error for NotAVersion {}

impl FromStr for ProgramVersion {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let mut parts = [0; 3];
        let mut places = parts.iter_mut();
        for part in text.split('.') {
            let place = places.next().ok_or(NotAVersion)?;
            if !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(NotAVersion);
            }
            *place = part.parse().map_err(|_| NotAVersion)?;
        }
        Ok(Self { parts })
    }
}

impl fmt::Display for ProgramVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.parts;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_part_by_part() {
        let version = |text: &str| text.parse::<ProgramVersion>().unwrap();
        assert_eq!(version("18"), ProgramVersion::new(18, 0, 0));
        assert!(version("0.9") < version("0.10") && version("0.87.1") > version("0.87"));
        for text in ["", ".", "0.", "a", "1.2.3.4", "+1", "-1", " 1", "4294967296"] {
            assert_eq!(text.parse::<ProgramVersion>(), Err(NotAVersion), "{text}");
        }
    }
}
