//! Ids of tool calls, equal where a JavaScript `Set` has them equal.

use sha2::{Digest, Sha256};

use crate::scan::Raw;

/// A short key for an id, so that those of a long conversation fit in little memory.
pub(in crate::pi_omp::context) type Key = [u8; 16];

/// The key of an id: values are the same if they are strings or numbers that are equal, or the same literal, or both absent.
/// `None` for objects and arrays, which are the same as nothing else.
pub(in crate::pi_omp::context) fn key(id: Option<Raw<'_>>) -> Option<Key> {
    let digest = match id {
        None => Sha256::digest(b"absent"),
        Some(id) if id.is_object() || id.is_array() => return None,
        Some(id) => match (id.as_string(), id.as_f64()) {
            (Some(text), _) => Sha256::new_with_prefix(b"text ").chain_update(&*text).finalize(),
            // Zero has two forms.
            (None, Some(number)) => Sha256::new_with_prefix(b"number ")
                .chain_update((number + 0.0).to_bits().to_le_bytes())
                .finalize(),
            (None, None) => {
                Sha256::new_with_prefix(b"literal ").chain_update(id.as_str()).finalize()
            }
        },
    };
    digest.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_apart_as_in_javascript() {
        let of = |text: &str| key(Raw::parse(text).ok());
        assert_eq!(of("\"a\""), of("\"\\u0061\""));
        assert_eq!(of("1"), of("1.0"));
        assert_eq!(of("0"), of("-0"));
        assert_eq!(key(None), key(None));
        let different = ["\"a\"", "\"1\"", "1", "null", "true", "false", "\"null\"", "\"\""];
        for (place, left) in different.iter().enumerate() {
            assert!(of(left).is_some() && of(left) != key(None), "{left}");
            for right in &different[place + 1..] {
                assert_ne!(of(left), of(right), "{left} {right}");
            }
        }
        assert_eq!((of("{}"), of("[1]")), (None, None));
    }
}
