//! Patterns of files' names.

/// Whether a name matches a pattern, in which `*` is any run of characters and `?` any one character.
pub(super) fn matches(name: &str, pattern: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    let (mut at, mut of) = (0, 0);
    // Where the last star is, and what it has taken so far.
    let mut star = None;
    while at < name.len() {
        match pattern.get(of) {
            Some('*') => {
                star = Some((of, at));
                of += 1;
            }
            Some(sign) if *sign == '?' || name.get(at) == Some(sign) => {
                at += 1;
                of += 1;
            }
            _ => match &mut star {
                Some((place, taken)) => {
                    *taken += 1;
                    (at, of) = (*taken, *place + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(of).all(|sign| *sign == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_are_any_characters_and_hidden_names_are_asked_for() {
        for (name, pattern) in [
            ("a.jsonl", "*.jsonl"),
            ("a.jsonl", "*"),
            ("a.jsonl", "a.jsonl"),
            ("a.b.jsonl", "a*b*l"),
            ("é.bak", "?.bak"),
            (".a.jsonl", ".*"),
            ("", "*"),
        ] {
            assert!(matches(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [
            (".a.jsonl", "*.jsonl"),
            ("a.jsonl.bak", "*.jsonl"),
            ("a", "?a"),
            ("ab", "a"),
            ("aab", "*ac"),
            ("", "?"),
        ] {
            assert!(!matches(name, pattern), "{name} {pattern}");
        }
    }
}
