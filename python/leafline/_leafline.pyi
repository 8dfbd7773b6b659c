"""The part of the package that is written in Rust. Calls give up the interpreter's lock; all objects may be used by several
threads at once."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from ._types import Context, ExportMode, ExportReport, ExportTotals, Family, FileReport, ImportTotals, Removed, SearchHit, SessionFacts, Time

__all__ = ["ClaudeSessions", "Entry", "STUBS", "Session", "SessionEntries", "SessionReader", "Store", "after_fork"]

STUBS: str
"""The text of this file."""

def after_fork() -> None:
    """Closes the files that a process that was just forked has inherited. The package calls it after each fork."""

@final
class Entry:
    """One line of a session, as its program wrote it."""

    @property
    def id(self) -> str | None:
        """Its id. In sessions of Codex, whose lines state none, its number."""
    @property
    def parent_id(self) -> str | None:
        """The id of the entry that it follows, as the line names it."""
    @property
    def ordinal(self) -> int:
        """Its number in the session, from 0; usually the number of its line."""
    @property
    def kind(self) -> str:
        """What it is: ``message``, ``compaction``, ``label``, ``custom`` and so on."""
    @property
    def role(self) -> str:
        """Whom it is from: ``user``, ``assistant``, ``tool``, ``system``, ``summary`` and so on."""
    @property
    def timestamp(self) -> int | None:
        """Its time in milliseconds since 1970, if the line states one."""
    @property
    def is_sidechain(self) -> bool:
        """Whether it belongs to an agent's conversation beside the session's own (Claude Code)."""
    @property
    def line(self) -> bytes:
        """The exact bytes of the line, with its line feed."""
    @property
    def value(self) -> Any:
        """The line as JSON. ``ValueError`` for a line that is none."""
    @property
    def text(self) -> str:
        """What it says, as text."""

@final
class SessionReader:
    """Reads a session. Each call shows it as it is then. Lines that were read keep their contents and ordinals as long as entries
    are only added. If lines were changed since the reader was made, calls raise ``LeaflineError`` with the code
    ``SESSION_REWRITTEN``. Between calls it keeps the store open, but holds back none of its space."""

    @property
    def facts(self) -> SessionFacts:
        """What a list shows of the session, and its lines by type."""
    @property
    def leaf(self) -> Entry | None:
        """The entry that the next one follows."""
    @property
    def header(self) -> Entry | None:
        """The header's line, in families that have one."""
    def entry(self, id: str) -> Entry:
        """The entry with this id. :class:`leafline.EntryNotFound`."""
    def line(self, ordinal: int) -> Entry | None:
        """The line with this number, entry or not."""
    def children(self, id: str | None) -> list[Entry]:
        """The entries directly below another one, in the order of the file; for ``None`` the roots."""
    def label(self, id: str) -> str | None:
        """The label that is set on an entry."""
    def page(self, start: int = 0, *, entries: int = 100, bytes: int = 1 << 20) -> tuple[list[Entry], int | None]:
        """The entries from a number on, up to a count or total bytes, and the number from which to go on; at least one entry."""
    def path_backwards(
        self, start: int | None = None, *, entries: int = 100, bytes: int = 1 << 20
    ) -> tuple[list[Entry], int | None]:
        """The path from the entry with this number, or from the leaf, up towards the root, and the number to go on from."""
    def path(self, id: str | None) -> list[Entry]:
        """The whole path from the root down to an entry, or for ``None`` to the leaf."""
    def context(
        self, leaf: str | None = None, *, full: bool = False, family: Family | None = None, as_of: str | None = None
    ) -> Context:
        """What the session's program has as the context at an entry, or at the leaf: its messages and settings. ``full`` goes on
        above compactions; ``family`` and ``as_of`` name another program and its version."""
    def request(
        self, leaf: str | None = None, *, full: bool = False, family: Family | None = None, as_of: str | None = None
    ) -> Context:
        """The same with the messages that the program sends to the model."""
    def bytes(self, *, mode: ExportMode = "current") -> bytes:
        """The session's file."""

@final
class Session:
    """A session that can be written to. When a method returns, its effect is on the disk."""

    @property
    def id(self) -> str: ...
    @property
    def family(self) -> str: ...
    def append(self, entry: Mapping[str, Any]) -> str:
        """Appends an entry below the leaf, and returns its id. It has the members of the family's entries, without those that
        place it in the session: for pi ``{"type": "message", "message": {...}}``."""
    def append_all(self, entries: Sequence[Mapping[str, Any]]) -> list[str]:
        """Appends entries, each below the one before: all of them, or none."""
    def append_message(self, message: Mapping[str, Any]) -> str:
        """Appends a message, which has a ``role``."""
    def append_lines(self, lines: bytes, *, ignore_repeated: bool = False) -> tuple[int, int]:
        """Appends lines byte for byte, as what the session's file has gained. Returns how many were added, and how many were left
        out since the session already had them."""
    def branch(self, entry: str) -> None:
        """Moves the leaf to an entry."""
    def reset_leaf(self) -> None:
        """Moves the leaf before all entries."""
    def leave_leaf(self) -> Entry | None:
        """Moves the leaf to the entry above it, and returns the one that it was."""
    def branch_with_summary(self, entry: str | None, summary: str, details: Any = None) -> str:
        """Moves the leaf, and appends a summary of what is left."""
    def label(self, entry: str, label: str | None) -> str:
        """Sets or clears the label of an entry (pi and omp)."""
    def set_name(self, name: str) -> None:
        """Names the session."""
    def branched_session(self, leaf: str) -> Session:
        """A new session with the path to an entry."""
    def reader(self) -> SessionReader:
        """The session as it is now."""
    def entry(self, id: str) -> Entry:
        """The entry with this id."""

@final
class ClaudeSessions:
    """The sessions that Claude's agent kit keeps; :class:`leafline.claude.SessionStore` is made of it."""

    def append(
        self, project_key: str, session_id: str, subpath: str | None, entries: Sequence[Mapping[str, Any]]
    ) -> tuple[int, int]: ...
    def load(self, project_key: str, session_id: str, subpath: str | None) -> SessionEntries | None: ...
    def list_sessions(self, project_key: str) -> list[tuple[str, int]]: ...
    def summaries(
        self, project_key: str, form: str, fold: Callable[[str, str | None, list[Any]], str]
    ) -> list[tuple[str, int, str]]: ...
    def list_subkeys(self, project_key: str, session_id: str) -> list[str]: ...
    def delete(self, project_key: str, session_id: str, subpath: str | None) -> None: ...

@final
class SessionEntries:
    """The entries of one of these sessions, some megabytes at a time."""

    def page(self) -> list[dict[str, Any]]:
        """The next entries; none after the last."""

@final
class Store:
    """The store itself; :class:`leafline.Store` is made of it."""

    @staticmethod
    def open(path: str | os.PathLike[str], *, create: bool = True, read_only: bool = False) -> Store: ...
    @staticmethod
    def in_memory() -> Store: ...
    def close(self) -> None: ...
    @property
    def path(self) -> os.PathLike[str]: ...
    def sessions(self, filter: Mapping[str, Any]) -> list[SessionFacts]: ...
    def agents_of(self, session: str) -> list[SessionFacts]: ...
    def session(self, id: str, *, keep_everything: bool = False) -> Session: ...
    def session_with_id(self, id: str) -> Session | None: ...
    def reader(self, id: str) -> SessionReader: ...
    def create_session(self, new: Mapping[str, Any]) -> Session: ...
    def continue_recent(self, new: Mapping[str, Any]) -> Session: ...
    def fork(self, source: str, cwd: str) -> Session: ...
    def remove(self, sessions: Sequence[str]) -> list[Removed]: ...
    def import_files(
        self,
        paths: Sequence[str | os.PathLike[str]],
        progress: Callable[[FileReport], object] | None,
        *,
        family: str | None = None,
        sync: bool = False,
        replace: bool = False,
        restore: bool = False,
    ) -> ImportTotals: ...
    def export_folder(
        self,
        folder: str | os.PathLike[str],
        progress: Callable[[ExportReport], object] | None,
        *,
        sessions: Sequence[str] | None = None,
        replace: bool = False,
        mode: ExportMode = "current",
    ) -> ExportTotals: ...
    def export_file(self, session: str, path: str | os.PathLike[str], *, mode: ExportMode = "current") -> int: ...
    def blob(self, hash: str) -> bytes | None: ...
    def put_blob(self, bytes: bytes) -> str: ...
    def update_search_index(self) -> bool: ...
    def search(
        self,
        text: str,
        filter: Mapping[str, Any],
        *,
        session: str | None = None,
        roles: Sequence[str] = ...,
        since: Time | None = None,
        until: Time | None = None,
        limit: int = 20,
    ) -> list[SearchHit]: ...
    def claude_sessions(self) -> ClaudeSessions: ...
