//! Enums of the documents' names, each with a number that stands for the name in stored data.

macro_rules! codes {
    ($(#[$meta:meta])* $type:ident { $($(#[doc = $meaning:literal])* $variant:ident = $code:literal $name:literal,)* }) => {
        $(#[$meta])*
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type {
            $($(#[doc = $meaning])* $variant,)*
        }

        impl $type {
            /// All of them, by code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The number that stands for it in stored data; it never changes.
            #[must_use]
            pub fn code(self) -> u8 {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// The value that a number stands for; `None` for a number that a later version wrote.
            #[must_use]
            pub fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name in the documents, or a word in angle brackets if no document names it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            fn of_documented_name(name: &[u8]) -> Option<Self> {
                // Names in angle brackets are ours; no record can use them.
                Self::ALL
                    .iter()
                    .copied()
                    .find(|kind| kind.name().as_bytes() == name && !name.starts_with(b"<"))
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

pub(crate) use codes;
