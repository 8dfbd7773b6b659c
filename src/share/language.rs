//! The language of a text: by the name of the file that it is of.

/// The endings of files' names, by language. A language is called as Markdown's fences call it.
const ENDINGS: &[(&str, &[&str])] = &[
    ("bash", &["sh", "bash", "zsh", "fish", "ksh"]),
    ("c", &["c", "h"]),
    ("cpp", &["cc", "cpp", "cxx", "hh", "hpp", "hxx", "ino", "m", "mm"]),
    ("csharp", &["cs"]),
    ("css", &["css", "less", "scss"]),
    ("dart", &["dart"]),
    ("elixir", &["ex", "exs"]),
    ("go", &["go"]),
    ("haskell", &["hs"]),
    ("html", &["htm", "html", "svelte", "svg", "vue", "xhtml", "xml"]),
    ("java", &["java"]),
    ("javascript", &["cjs", "js", "jsx", "mjs"]),
    ("json", &["json", "json5", "jsonc", "jsonl", "ndjson", "webmanifest"]),
    ("kotlin", &["kt", "kts"]),
    ("lua", &["lua"]),
    ("makefile", &["mk"]),
    ("nix", &["nix"]),
    ("perl", &["pl", "pm"]),
    ("php", &["php"]),
    ("powershell", &["ps1", "psm1"]),
    ("proto", &["proto"]),
    ("python", &["py", "pyi", "pyx"]),
    ("r", &["r"]),
    ("ruby", &["gemspec", "rake", "rb"]),
    ("rust", &["rs"]),
    ("scala", &["sbt", "scala"]),
    ("sql", &["sql"]),
    ("swift", &["swift"]),
    ("toml", &["cfg", "conf", "ini", "lock", "toml"]),
    ("typescript", &["cts", "mts", "ts", "tsx"]),
    ("yaml", &["yaml", "yml"]),
    ("zig", &["zig"]),
];

/// Files that are known by their whole names.
const NAMES: &[(&str, &[&str])] = &[
    ("bash", &[".bashrc", ".env", ".profile", ".zshrc"]),
    ("dockerfile", &["containerfile", "dockerfile"]),
    ("json", &["composer.lock", "package-lock.json"]),
    ("makefile", &["gnumakefile", "justfile", "makefile"]),
    ("ruby", &["gemfile", "rakefile"]),
    ("yaml", &[".clang-format", "pnpm-lock.yaml"]),
];

/// The language of a file by its path, behind which places in it may stand: `src/main.rs:10-20`.
pub(super) fn of_path(path: &str) -> Option<&'static str> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let of = |table: &'static [(&str, &[&str])], wanted: &str| {
        table.iter().find(|(_, known)| known.contains(&wanted)).map(|(language, _)| *language)
    };
    of(NAMES, &name).or_else(|| of(ENDINGS, ending?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        for (path, language) in [
            ("/work/src/main.rs", Some("rust")),
            ("C:\\work\\Main.TSX", Some("typescript")),
            ("src/face.py:10-20", Some("python")),
            ("Dockerfile", Some("dockerfile")),
            ("a/.bashrc", Some("bash")),
            ("notes.txt", None),
            ("README.md", None),
            ("rs", None),
            ("", None),
        ] {
            assert_eq!(of_path(path), language, "{path}");
        }
    }
}
