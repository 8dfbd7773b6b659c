//! The folders of projects.

/// The name of the folder that holds the sessions of a working folder: the cwd with every character that is not an ASCII
/// letter or digit as `-` (observed).
///
/// A character outside the basic plane is two dashes, as the program replaces UTF-16 units. (ours: the documents name
/// no such case, and JavaScript's regular expressions work so.) Two working folders can share a name; so the cwd of a
/// session is what its records say, never what its folder is called.
///
/// ```
/// use leafline_import::claude::project_folder_name;
///
/// assert_eq!(project_folder_name("/home/robin/tide_clock.v2"), "-home-robin-tide-clock-v2");
/// assert_eq!(project_folder_name("e:\\Work"), "e--Work");
/// ```
#[must_use]
pub fn project_folder_name(cwd: &str) -> String {
    cwd.encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_are_no_ascii_letters() {
        assert_eq!(project_folder_name("/é/🍃-a_b"), "------a-b");
        assert_eq!(project_folder_name(""), "");
    }
}
