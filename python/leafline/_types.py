"""The dictionaries that calls return. Times are milliseconds since 1970."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

Time = Annotated[int, "milliseconds since 1970"]
"""A time that a call is given. Other numbers that calls are given are counts, from 0."""

Family = Literal["pi", "omp", "claude", "opal", "codex"]
"""Whose format a session has."""

Order = Literal["modified", "created", "title", "size"]
"""The order of a list: the latest message, the latest creation or the largest first; or by title."""

ExportMode = Literal["current", "exact", "original", "portable"]
"""The form of an export: ``current``, as the session's program has it today; ``exact``, as close to the imported bytes as possible;
``original``, the imported bytes; ``portable``, with the blobs to which its lines refer written into them."""

Role = Literal["user", "assistant", "tool", "system", "summary", "shell", "custom"]
"""Whom an entry is from, where entries are searched."""


class TypeFacts(TypedDict):
    name: str
    lines: int
    bytes: int


class _SessionFacts(TypedDict):
    id: str
    family: Family
    imported_version: str
    migrated: bool
    irregular: bool
    cwd: str | None
    messages: int
    title: str | None
    parent_session: str | None
    first_prompt: str | None
    created: int | None
    modified: int | None
    agent: str | None
    lines: int
    entries: int
    malformed: int
    recovered: int
    orphans: int
    duplicates: int
    unaddressed: int
    bytes: int


class SessionFacts(_SessionFacts, total=False):
    """What is known of a session without reading its lines. ``types`` is missing in lists."""

    types: list[TypeFacts]


class FileReport(TypedDict):
    """What became of a file of an import."""

    path: str
    status: str
    session: str | None
    family: Family | None
    version: int | None
    lines: int
    entries: int
    malformed: int
    bytes: int
    reason: str | None


class BesideTotals(TypedDict):
    """What became of the files beside sessions in an import."""

    taken: int
    bytes: int
    unchanged: int
    skipped: int
    failed: int


class LeftOut(TypedDict):
    """Files in folders that hold sessions in a form that is not read, and the reason."""

    reason: str
    files: int


class ImportTotals(TypedDict):
    """What became of all of them."""

    files: int
    imported: int
    grown: int
    unchanged: int
    replaced: int
    skipped: int
    removed: int
    failed: int
    lines: int
    entries: int
    malformed: int
    bytes: int
    new_bytes: int
    beside: BesideTotals
    left_out: list[LeftOut]


class ExportReport(TypedDict):
    """What became of a session's file in an export, or of one beside it."""

    session: str
    path: str
    beside: bool
    outcome: Literal["written", "unchanged", "kept", "failed", "removed", "left"]
    bytes: int | None
    reason: str | None


class BesideExportTotals(TypedDict):
    """What became of the files beside sessions in an export."""

    written: int
    unchanged: int
    kept: int
    failed: int
    bytes: int


class ExportTotals(TypedDict):
    """What became of all of them."""

    sessions: int
    written: int
    unchanged: int
    kept: int
    failed: int
    removed: int
    left: int
    bytes: int
    beside: BesideExportTotals


class Removed(TypedDict):
    """What a deletion removed."""

    session: str
    lines: int
    bytes: int
    blob_bytes: int
    files: int
    file_bytes: int
    unswept: str | None


class SearchHit(TypedDict):
    """An entry that was found."""

    session: str
    family: Family
    title: str | None
    cwd: str | None
    entry: str | None
    ordinal: int
    role: str
    time: int | None
    score: float
    snippet: str


class _Messages(TypedDict):
    messages: list[dict[str, Any]]


class Context(_Messages, total=False):
    """The messages of a context, and the settings that its program has: for pi ``thinkingLevel`` and ``model``."""

    thinkingLevel: Any
    model: Any
    models: Any
    injectedTtsrRules: Any
    mode: Any
    modeData: Any
