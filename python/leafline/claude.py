"""The ``session_store`` of Claude's agent kit (``claude-agent-sdk``)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

from anyio import to_thread
from claude_agent_sdk import fold_session_summary
from claude_agent_sdk.types import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

from ._store import Store

__all__ = ["SessionStore"]

_T = TypeVar("_T")

FORM = "claude-agent-sdk.python"
"""The name under which the summaries of this kit are kept: each kit has a form of its own."""


class SessionStore:
    """Keeps the transcripts of Claude Code's sessions in a store::

        options = ClaudeAgentOptions(session_store=SessionStore("sessions.leafline"))

    What the kit appends are sessions of the family ``claude``, and its agents' transcripts are sessions of agents. So the rest of
    Leafline lists, searches and exports them; and what was imported from ``~/.claude/projects`` can be resumed through the kit.

    The calls run in threads. An object may be used by several tasks and threads, and a store by several processes.
    """

    def __init__(self, store: Store | str | os.PathLike[str]) -> None:
        """On a store that is open, or on that at a path."""
        self.store = store if isinstance(store, Store) else Store(store)
        self._sessions = self.store._native.claude_sessions()

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Appends entries, all of them or none; one whose ``uuid`` is there already is left out."""
        await _in_thread(self._sessions.append, *_parts(key), cast("list[dict[str, Any]]", entries))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """The entries of a transcript; ``None`` for one that is not there."""
        return await _in_thread(self._load, key)

    def _load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        pages = self._sessions.load(*_parts(key))
        if pages is None:
            return None
        entries: list[Any] = []
        while page := pages.page():
            entries.extend(page)
        return entries

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """The sessions of a project, and when each was last written."""
        listed = await _in_thread(self._sessions.list_sessions, project_key)
        return [{"session_id": session, "mtime": modified} for session, modified in listed]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """The sessions of a project, each with what the kit makes of its entries. Only what was appended since the last call is
        read."""
        return await _in_thread(self._list_session_summaries, project_key)

    def _list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        def fold(session: str, data: str | None, entries: list[Any]) -> str:
            key: SessionKey = {"project_key": project_key, "session_id": session}
            before: SessionSummaryEntry | None = None
            if data is not None:
                before = {"session_id": session, "mtime": 0, "data": json.loads(data)}
            return json.dumps(fold_session_summary(before, key, entries)["data"])

        return [
            {"session_id": session, "mtime": modified, "data": json.loads(data)}
            for session, modified, data in self._sessions.summaries(project_key, FORM, fold)
        ]

    async def delete(self, key: SessionKey) -> None:
        """Deletes a transcript, and with a session's own those of its agents."""
        await _in_thread(self._sessions.delete, *_parts(key))

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """The transcripts of a session's agents, as in ``subagents/agent-a1b2c3``."""
        return await _in_thread(self._sessions.list_subkeys, key["project_key"], key["session_id"])


def _parts(key: SessionKey) -> tuple[str, str, str | None]:
    return key["project_key"], key["session_id"], key.get("subpath")


async def _in_thread(function: Callable[..., _T], *arguments: Any) -> _T:
    """Runs a call in a thread of whatever runs this task: the kit works with asyncio and with trio."""
    return await to_thread.run_sync(partial(function, *arguments))
