"""A store, with the words that its calls take."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from . import _leafline
from ._arguments import checked
from ._leafline import Session, SessionReader
from ._types import (
    ExportMode,
    ExportReport,
    ExportTotals,
    Family,
    FileReport,
    ImportTotals,
    Order,
    Removed,
    Role,
    SearchHit,
    SessionFacts,
    Time,
)

PathLike = str | os.PathLike[str]

# As long as a child has the files open, the locks of its parent stay, even if that is killed.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leafline.after_fork)


@checked
class Store:
    """A store: one file with many sessions, open for any number of processes at once.

    Whatever a method has acknowledged is on the disk. Calls let other threads of Python run, and may be made by several threads
    at once. Sessions and readers keep the store open, too.

    A store belongs to the process that opened it. In one that was forked from it (``os.fork``, ``multiprocessing`` with ``fork``, a
    server that forks its workers) each call of the store, and of its sessions and readers, raises
    :class:`leafline.InheritedStore`, except ``path`` and ``close``, which leaves the file alone. A worker opens the store
    itself, by its path.
    """

    def __init__(self, path: PathLike, *, create: bool = True, read_only: bool = False) -> None:
        """Opens the store at a path, or makes one there. A store that is only read never waits for writers.

        :class:`leafline.StoreNotFound` without ``create``; :class:`leafline.NotAStore`.
        """
        self._native = _leafline.Store.open(path, create=create, read_only=read_only)

    @classmethod
    def in_memory(cls) -> Store:
        """A store that is gone with the last object that holds it."""
        store = cls.__new__(cls)
        store._native = _leafline.Store.in_memory()
        return store

    def close(self) -> None:
        """Closes the store, and its sessions and readers: later calls of them fail. After it the file is all there is."""
        self._native.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The store's file."""
        return Path(self._native.path)

    def sessions(
        self,
        *,
        family: Family | None = None,
        cwd: str | None = None,
        below: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        text: str | None = None,
        without_agents: bool = False,
        order: Order = "modified",
        limit: int | None = None,
    ) -> list[SessionFacts]:
        """The sessions of the store, or those of a family, of a working directory or one ``below`` it, with their last message in
        a span of time, or with a text in the title or the beginning of the first prompt. No line is read."""
        return self._native.sessions(_filter(family, cwd, below, since, until, text, without_agents, order, limit))

    def agents_of(self, session: str) -> list[SessionFacts]:
        """The sessions of the agents that a session of Claude Code started, the oldest first."""
        return self._native.agents_of(session)

    def session(self, id: str, *, keep_everything: bool = False) -> Session:
        """The session with this id, or the only one whose id begins so, to be written. ``keep_everything`` as in
        :meth:`create_session`.

        :class:`leafline.SessionNotFound`, :class:`leafline.AmbiguousId`.
        """
        return self._native.session(id, keep_everything=keep_everything)

    def session_with_id(self, id: str) -> Session | None:
        """The session with exactly this id, if there is one."""
        return self._native.session_with_id(id)

    def reader(self, id: str) -> SessionReader:
        """The same as it is now, for many reads."""
        return self._native.reader(id)

    def create_session(
        self,
        family: Family,
        cwd: str,
        *,
        id: str | None = None,
        title: str | None = None,
        parent_session: str | None = None,
        keep_everything: bool = False,
    ) -> Session:
        """Begins a session. Entries of omp's are stored as omp stores them, with long strings cut and images as blobs, unless
        ``keep_everything``.

        :class:`leafline.SessionExists`, :class:`leafline.WrongFamily` for Codex.
        """
        return self._native.create_session(_new(family, cwd, id, title, parent_session, keep_everything))

    def continue_recent(self, family: Family, cwd: str, *, title: str | None = None, keep_everything: bool = False) -> Session:
        """The family's session of the working directory with the latest message, or a new one."""
        return self._native.continue_recent(_new(family, cwd, None, title, None, keep_everything))

    def fork(self, source: str, cwd: str) -> Session:
        """A new session with the entries of another one, for work in another directory (pi, omp and Claude Code)."""
        return self._native.fork(source, cwd)

    def remove(self, *sessions: str) -> list[Removed]:
        """Deletes sessions: all of them or, if one is not found, none. Imports do not bring them back."""
        return self._native.remove(sessions)

    def import_files(
        self,
        *paths: PathLike,
        progress: Callable[[FileReport], object] | None = None,
        family: Family | None = None,
        replace: bool = False,
        restore: bool = False,
    ) -> ImportTotals:
        """Stores the sessions of files and folders. ``progress`` gets the report on each file as soon as it is final; what it
        raises ends the import, and what is stored by then stays. A path that is not there or cannot be read raises
        :class:`~leafline.errors.UnreadablePaths` once the others are stored; a file in a folder that cannot be read is reported."""
        return self._native.import_files(paths, progress, family=family, replace=replace, restore=restore)

    def sync(
        self,
        *paths: PathLike,
        progress: Callable[[FileReport], object] | None = None,
        family: Family | None = None,
        replace: bool = False,
    ) -> ImportTotals:
        """The same at the cost of what is new: files that have the same size and time are not opened."""
        return self._native.import_files(paths, progress, family=family, sync=True, replace=replace)

    def export(
        self,
        folder: PathLike,
        *,
        sessions: Sequence[str] | None = None,
        progress: Callable[[ExportReport], object] | None = None,
        replace: bool = False,
        mode: ExportMode = "current",
    ) -> ExportTotals:
        """Brings a folder of files in step with all sessions, or with these. The blobs of omp's sessions are in ``omp/blobs``."""
        return self._native.export_folder(folder, progress, sessions=sessions, replace=replace, mode=mode)

    def export_file(self, session: str, path: PathLike, *, mode: ExportMode = "current") -> int:
        """Writes a session's file, and returns its bytes. Only the mode ``portable`` writes the images of omp's sessions into it."""
        return self._native.export_file(session, path, mode=mode)

    def blob(self, hash: str) -> bytes | None:
        """The bytes of the blob with this SHA-256 in hex, with or without ``blob:sha256:`` before it; ``None`` if the store does
        not have them."""
        return self._native.blob(hash)

    def put_blob(self, data: bytes) -> str:
        """Stores a blob, and returns its SHA-256 in hex: lines may refer to it as ``blob:sha256:<hash>``."""
        return self._native.put_blob(data)

    def update_search_index(self) -> bool:
        """Brings the search index in step with the store; a search does so itself. Returns whether it is complete."""
        return self._native.update_search_index()

    def search(
        self,
        text: str,
        *,
        session: str | None = None,
        roles: Sequence[Role] = (),
        since: Time | None = None,
        until: Time | None = None,
        family: Family | None = None,
        cwd: str | None = None,
        below: str | None = None,
        limit: int = 20,
    ) -> list[SearchHit]:
        """The entries that have the words best, in all sessions or in some; also those that were appended just now.

        :class:`leafline.NoWords`.
        """
        filter = _filter(family, cwd, below, None, None, None, False, "modified", None)
        return self._native.search(text, filter, session=session, roles=list(roles), since=since, until=until, limit=limit)

    def __repr__(self) -> str:
        return repr(self._native)


def _filter(
    family: Family | None,
    cwd: str | None,
    below: str | None,
    since: Time | None,
    until: Time | None,
    text: str | None,
    without_agents: bool,
    order: Order,
    limit: int | None,
) -> dict[str, Any]:
    return {
        "family": family,
        "cwd": cwd,
        "below": below,
        "since": since,
        "until": until,
        "text": text,
        "without_agents": without_agents,
        "order": order,
        "limit": limit,
    }


def _new(
    family: Family,
    cwd: str,
    id: str | None,
    title: str | None,
    parent_session: str | None,
    keep_everything: bool,
) -> dict[str, Any]:
    return {
        "family": family,
        "cwd": cwd,
        "id": id,
        "title": title,
        "parent_session": parent_session,
        "keep_everything": keep_everything,
    }
