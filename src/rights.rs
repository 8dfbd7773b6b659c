//! The rights to a store's file, given to what takes its place or lies next to it: the owner, the group, the mode, and on Linux the
//! access control list.
//!
//! Where root works on another user's store, that user can still open everything.

#[cfg(not(unix))]
pub(crate) use self::other::Rights;
#[cfg(unix)]
pub(crate) use self::unix::Rights;

/// On other systems a new file has the rights of its folder.
#[cfg(not(unix))]
mod other {
    use std::fs::File;
    use std::io::Result;
    use std::path::Path;

    #[derive(Debug, Clone)]
    pub(crate) struct Rights;

    impl Rights {
        pub(crate) fn of(_: &File) -> Result<Self> {
            Ok(Self)
        }

        pub(crate) fn at(_: &Path) -> Result<Self> {
            Ok(Self)
        }

        pub(crate) fn give(&self, _: &File) -> Result<()> {
            Ok(())
        }

        pub(crate) fn lend(&self, _: &File) -> Result<()> {
            Ok(())
        }

        pub(crate) fn lend_folder(&self, _: &Path) {}
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, Metadata, Permissions};
    use std::io::Result;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    use std::path::Path;

    use crate::private::is_refusal;

    /// The rights of all to read, of the group, and of others.
    const READ: u32 = 0o444;
    const GROUP: u32 = 0o070;
    const ALL: u32 = 0o777;

    /// Of a file: nothing here is executed.
    const ALL_OF_FILE: u32 = 0o666;

    /// Of a file that only its user can open.
    const CLOSED: u32 = 0o600;

    /// The rights to a file.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) struct Rights {
        owner: u32,
        group: u32,
        mode: u32,
        list: Option<acl::List>,
    }

    impl Rights {
        pub(crate) fn of(file: &File) -> Result<Self> {
            Ok(Self::from(&file.metadata()?, acl::of(file)?))
        }

        /// The rights to the file at a path, which may be a link; of a folder, those that its files are to have. It is not opened: a
        /// process that closes a file gives up its locks.
        pub(crate) fn at(path: &Path) -> Result<Self> {
            Ok(Self::from(&std::fs::metadata(path)?, acl::at(path)?))
        }

        fn from(facts: &Metadata, list: Option<acl::List>) -> Self {
            let (mode, list) = (facts.mode() & ALL_OF_FILE, list.map(|list| list.of_file()));
            Self { owner: facts.uid(), group: facts.gid(), mode, list }
        }

        /// Gives them to a new file, which only its user can open.
        ///
        /// # Errors
        ///
        /// If the file cannot have all of them. Then nobody has got a right to it that is not there in these.
        pub(crate) fn give(&self, file: &File) -> Result<()> {
            let now = file.metadata()?;
            if now.uid() != self.owner {
                fchown(file, Some(self.owner), Some(self.group))?;
            } else if now.gid() != self.group {
                let given = fchown(file, None, Some(self.group));
                // To a group that has no right it need not belong.
                given.or_else(|error| match self.mode & GROUP {
                    0 if is_refusal(&error) => Ok(()),
                    _ => Err(error),
                })?;
            }
            self.set(file)
        }

        /// Gives them to a file next to the store. Only root may give the owner; the owner may have a right as one of the group.
        ///
        /// # Errors
        ///
        /// If the store's owner could not open the file. Then only its maker can.
        pub(crate) fn lend(&self, file: &File) -> Result<()> {
            let refused = match self.give(file) {
                Err(error) if is_refusal(&error) => error,
                given => return given,
            };
            let _ = fchown(file, None, Some(self.group));
            let may = |rights: u32| self.mode & rights == rights;
            let has_group = file.metadata()?.gid() == self.group;
            if may(0o006) || has_group && may(0o060) {
                return self.set(file);
            }
            Err(refused)
        }

        /// The same for a folder that can be made again. Who may read the store may list it.
        pub(crate) fn lend_folder(&self, folder: &Path) {
            let list = self.list.as_ref().map(acl::List::of_folder);
            let rights = Self { mode: of_folder(self.mode), list, ..*self };
            if let Ok(folder) = File::open(folder) {
                let _ = rights.lend(&folder);
            }
        }

        /// The list goes first: the group's rights in a mode are the most that anyone in a list has.
        fn set(&self, file: &File) -> Result<()> {
            // A file may have got one from its folder.
            let listed = acl::of(file).and_then(|list| match list == self.list {
                true => Ok(()),
                false => acl::set(file, self.list.as_ref()),
            });
            let given = listed.and_then(|()| match file.metadata()?.mode() & ALL == self.mode {
                true => Ok(()),
                false => file.set_permissions(Permissions::from_mode(self.mode)),
            });
            given.inspect_err(|_| {
                let _ = file.set_permissions(Permissions::from_mode(CLOSED));
            })
        }
    }

    /// The mode of a folder for a file's.
    fn of_folder(mode: u32) -> u32 {
        mode | (mode & READ) >> 2
    }

    #[cfg(target_os = "linux")]
    mod acl {
        use std::fs::File;
        use std::io::Result;
        use std::path::Path;

        use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr, getxattr};
        use rustix::io::Errno;

        const NAME: &str = "system.posix_acl_access";

        /// Bytes of the version that a list begins with, and of each entry: its kind, its rights and its user or group.
        const VERSION: usize = 4;
        const ENTRY: usize = 8;

        /// The most that an attribute may have.
        const LONGEST: usize = 64 << 10;

        /// An access control list as the system writes it.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(super) struct List(Vec<u8>);

        impl List {
            /// Who may read may also list.
            pub(super) fn of_folder(&self) -> Self {
                self.with(|rights| rights | (rights & 4) >> 2)
            }

            pub(super) fn of_file(&self) -> Self {
                self.with(|rights| rights & 6)
            }

            fn with(&self, change: impl Fn(u8) -> u8) -> Self {
                let mut list = self.0.clone();
                let entries = list.get_mut(VERSION..).into_iter();
                for entry in entries.flat_map(|entries| entries.chunks_exact_mut(ENTRY)) {
                    entry[2] = change(entry[2]);
                }
                Self(list)
            }
        }

        /// The list of a file; `None` if its mode says all.
        pub(super) fn of(file: &File) -> Result<Option<List>> {
            read(|list| fgetxattr(file, NAME, list))
        }

        pub(super) fn at(path: &Path) -> Result<Option<List>> {
            read(|list| getxattr(path, NAME, list))
        }

        fn read(get: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> Result<Option<List>> {
            let mut list = vec![0; 256];
            loop {
                match get(&mut list[..]) {
                    Ok(length) => {
                        list.truncate(length);
                        return Ok(Some(List(list)));
                    }
                    Err(Errno::RANGE) if list.len() < LONGEST => list.resize(LONGEST, 0),
                    // It has none, or the file system has none.
                    Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(None),
                    Err(error) => return Err(error.into()),
                }
            }
        }

        pub(super) fn set(file: &File, list: Option<&List>) -> Result<()> {
            match list {
                Some(list) => fsetxattr(file, NAME, &list.0, XattrFlags::empty())?,
                None => fremovexattr(file, NAME)?,
            }
            Ok(())
        }
    }

    /// Other systems' lists are not read.
    #[cfg(not(target_os = "linux"))]
    mod acl {
        use std::fs::File;
        use std::io::Result;
        use std::path::Path;

        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(super) enum List {}

        impl List {
            pub(super) fn of_folder(&self) -> Self {
                match *self {}
            }

            pub(super) fn of_file(&self) -> Self {
                match *self {}
            }
        }

        pub(super) fn of(_: &File) -> Result<Option<List>> {
            Ok(None)
        }

        pub(super) fn at(_: &Path) -> Result<Option<List>> {
            Ok(None)
        }

        pub(super) fn set(_: &File, _: Option<&List>) -> Result<()> {
            Ok(())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn who_may_read_a_file_may_list_a_folder() {
            assert_eq!(of_folder(0o640), 0o750);
            assert_eq!(of_folder(0o600), 0o700);
            assert_eq!(of_folder(0o662), 0o772);
        }

        #[test]
        fn a_file_gets_all_rights_of_another_one() {
            let folder = tempfile::tempdir().unwrap();
            let make = |name: &str, mode| {
                let path = folder.path().join(name);
                std::fs::write(&path, "").unwrap();
                std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
                File::open(&path).unwrap()
            };
            for mode in [0o600, 0o640, 0o664, 0o400] {
                let (old, new) = (make("old", mode), make("new", 0o600));
                let rights = Rights::of(&old).unwrap();
                rights.give(&new).unwrap();
                assert_eq!(Rights::of(&new).unwrap(), rights);
            }
        }
    }
}
