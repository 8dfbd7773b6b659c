"""What can go wrong. Every exception of the package is an :class:`Error`; what it says in words it also has as attributes."""

from __future__ import annotations

from typing import Any

__all__ = [
    "AmbiguousId",
    "Contended",
    "Corrupted",
    "EngineError",
    "EntryNotFound",
    "Error",
    "ExportFailed",
    "FileError",
    "ImportFailed",
    "IndexBusy",
    "InheritedStore",
    "InvalidEntry",
    "InvalidKey",
    "Latched",
    "NoWords",
    "NotAStore",
    "ReadOnlyStore",
    "SearchError",
    "SessionError",
    "SessionExists",
    "SessionNotFound",
    "StoreError",
    "StoreInUse",
    "StoreNotFound",
    "UnknownFormat",
    "UnreadablePaths",
    "WriteError",
    "WrongFamily",
]


class Error(Exception):
    """An error of Leafline. ``facts`` has its facts by name; each is an attribute, too. ``code`` is its name in all languages, as
    ``SESSION_NOT_FOUND``; it stays when the words change."""

    facts: dict[str, Any]
    code: str = ""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_made_again, (type(self), str(self), self.code, self.facts))


def _made_again(kind: type[Error], message: str, code: str, facts: dict[str, Any]) -> Error:
    error = kind(message, **facts)
    error.code = code
    return error


class StoreError(Error):
    """A store cannot be opened, or cannot be written."""


class StoreNotFound(StoreError):
    """There is no store at ``path``."""

    path: str


class NotAStore(StoreError):
    """What is at ``path`` is no store."""

    path: str


class UnknownFormat(StoreError):
    """The store at ``path`` has a ``format`` of another version of Leafline."""

    path: str
    format: int


class StoreInUse(StoreError):
    """Others use the store at ``path`` in a way that does not go together with the call."""

    path: str


class InheritedStore(StoreError):
    """The store at ``path`` was opened by ``process``, and this one was forked from it: open it again here."""

    path: str
    process: int


class ReadOnlyStore(StoreError):
    """The store at ``path`` may only be read."""

    path: str


class SessionError(Error):
    """A session or an entry is missing or not suitable."""


class SessionNotFound(SessionError):
    """No session has the ``id``, or one that begins with it."""

    id: str


class SessionExists(SessionError):
    """Another session has the ``id``."""

    id: str


class AmbiguousId(SessionError):
    """``count`` sessions have ids that begin with ``prefix``; ``examples`` are some of them."""

    prefix: str
    count: int
    examples: list[str]


class EntryNotFound(SessionError):
    """The ``session`` has no such ``entry``."""

    session: str
    entry: str


class WrongFamily(SessionError):
    """The session ``id`` is one of a ``family`` that has no such ``operation``."""

    id: str
    family: str
    operation: str


class WriteError(Error):
    """Nothing was written to a session."""


class InvalidEntry(WriteError):
    """It is not an entry; ``problem`` says why."""

    problem: str


class InvalidKey(WriteError):
    """A ``part`` of a session's key has a ``problem``."""

    part: str
    problem: str


class Contended(WriteError):
    """Others changed the session ``id`` each time before it could be written. Try again."""

    id: str


class Latched(WriteError):
    """The handle of the ``session`` takes no more entries, since an earlier one could not be stored: ``first``."""

    session: str
    first: str


class SearchError(Error):
    """The search index cannot be used."""


class NoWords(SearchError):
    """The ``query`` has no word to search for."""

    query: str


class IndexBusy(SearchError):
    """Another process is updating the search index at ``path``."""

    path: str


class ImportFailed(Error):
    """A session was not imported."""


class UnreadablePaths(ImportFailed):
    """``paths`` that the call named are not there or cannot be read. The others are stored."""

    paths: list[str]


class ExportFailed(Error):
    """A session was not exported."""


class Corrupted(Error):
    """A record of a ``table`` at a ``place`` is damaged: ``problem``."""

    table: str
    place: str
    problem: str


class FileError(Error):
    """Reading or writing the file at ``path`` failed. ``errno`` is the system's number, if it gave one."""

    action: str
    path: str
    errno: int | None


class EngineError(Error):
    """The store's engine failed."""
