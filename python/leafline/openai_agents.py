"""The session of OpenAI's agent kit (``openai-agents``).

The kit's items have no family of files: Codex's are the nearest, but nothing can be taken back from its files, and the kit takes
items in forms that Codex does not write. So a session is one of pi, whose messages may have members of their own: each item is a
message that says the same in pi's form, for lists, searches, pages and contexts, and has the item itself, unchanged, as
``openaiItem``. What is taken back stays in the session as a branch of its own until the session is cleared.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from agents.memory import SessionABC, SessionSettings
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

from . import _leafline
from ._store import Store
from .errors import SessionExists, SessionNotFound, WrongFamily

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

__all__ = ["Session"]

ITEM = "openaiItem"
"""The member of a message that has the item."""

_PAGE = 256

_T = TypeVar("_T")


class Session(SessionABC):
    """A conversation in a store::

        session = Session("user-7", "sessions.leafline")
        result = await Runner.run(agent, "Hello", session=session)

    It is a session of the store by the same id, which is made with its first item. The calls run in threads; several objects,
    threads and processes may use one session.
    """

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        session_id: str,
        store: Store | str | os.PathLike[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """Of a store that is open, or of that at a path. ``cwd`` is what lists have as its directory; by default the one of this
        process."""
        self.session_id = session_id
        self.store = store if isinstance(store, Store) else Store(store)
        self.cwd = os.fspath(cwd) if cwd is not None else os.getcwd()
        self.session_settings = SessionSettings() if session_settings is None else coerce_session_settings(session_settings)
        self._session: _leafline.Session | None = None

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, the oldest first; with a limit the newest so many. Below 0 it is none."""
        limit = resolve_session_limit(limit, self.session_settings)
        return await asyncio.to_thread(self._get_items, limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items: all of them, or none."""
        if items:
            await _to_the_end(asyncio.to_thread(self._add_items, list(items)))

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the newest item back, and returns it; ``None`` without one. Of several callers each gets another item."""
        return await _to_the_end(asyncio.to_thread(self._pop_item))

    async def clear_session(self) -> None:
        """Deletes the session with all its items, also those that were taken back."""
        await _to_the_end(asyncio.to_thread(self._clear))

    def _get_items(self, limit: int | None) -> list[Any]:
        if limit == 0:
            return []
        if limit is not None and limit < 0:
            limit = None
        try:
            session = self._open()
            return [] if session is None else _newest(session.reader(), limit)
        except SessionNotFound:
            return []

    def _add_items(self, items: list[Any]) -> None:
        entries = [{"type": "message", "message": _message_of(item)} for item in items]
        while True:
            session = self._open() or self._begin()
            try:
                session.append_all(entries)
            except SessionNotFound:
                # It was cleared meanwhile.
                self._session = None
                continue
            return

    def _pop_item(self) -> Any:
        session = self._open()
        while session is not None:
            try:
                entry = session.leave_leaf()
            except SessionNotFound:
                self._session = None
                return None
            if entry is None:
                return None
            found, item = _item_of(entry)
            if found:
                return item
        return None

    def _clear(self) -> None:
        self._session = None
        if self._open() is not None:
            self._session = None
            try:
                self.store.remove(self.session_id)
            except SessionNotFound:
                pass

    def _open(self) -> _leafline.Session | None:
        if self._session is None:
            session = self.store.session_with_id(self.session_id)
            if session is not None and session.family != "pi":
                raise WrongFamily(
                    f"session {session.id!r} is one of {session.family}, not a conversation of this kit",
                    id=session.id,
                    family=session.family,
                    operation="conversation",
                )
            self._session = session
        return self._session

    def _begin(self) -> _leafline.Session:
        while True:
            try:
                self._session = self.store.create_session("pi", self.cwd, id=self.session_id)
                return self._session
            except SessionExists:
                session = self._open()
                if session is not None:
                    return session


def _newest(reader: _leafline.SessionReader, limit: int | None) -> list[Any]:
    items: list[Any] = []
    entries, following = reader.path_backwards(None, entries=min(limit or _PAGE, _PAGE))
    while True:
        for entry in entries:
            found, item = _item_of(entry)
            if found:
                items.append(item)
        if following is None or (limit is not None and len(items) >= limit):
            break
        entries, following = reader.path_backwards(following, entries=_PAGE)
    if limit is not None:
        del items[limit:]
    items.reverse()
    return items


async def _to_the_end(change: Awaitable[_T]) -> _T:
    """Waits for a change even if the caller is cancelled: what it did is then known."""
    task = asyncio.ensure_future(change)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()
        raise cancelled
    return task.result()


def _item_of(entry: _leafline.Entry) -> tuple[bool, Any]:
    """The item of an entry, if it is one's."""
    if entry.kind != "message":
        return False, None
    message = entry.value.get("message")
    if not isinstance(message, dict) or ITEM not in message:
        return False, None
    return True, message[ITEM]


def _message_of(item: Any) -> dict[str, Any]:
    """What an item says, as a message of pi's, with the item itself."""
    message = _said(item) if isinstance(item, dict) else _other(item)
    message["timestamp"] = time.time_ns() // 1_000_000
    message[ITEM] = item
    return message


def _said(item: dict[str, Any]) -> dict[str, Any]:
    kind, role = item.get("type"), item.get("role")
    if kind in (None, "message") and isinstance(role, str):
        content = _texts(item.get("content"))
        if role == "assistant":
            return _assistant(content)
        return {"role": "user" if role == "user" else "system", "content": content}
    if kind == "reasoning":
        thoughts = [*_list(item.get("summary")), *_list(item.get("content"))]
        return _assistant([{"type": "thinking", "thinking": text} for text in _strings(thoughts)])
    if kind == "function_call":
        return _assistant(
            [
                {
                    "type": "toolCall",
                    "id": str(item.get("call_id", "")),
                    "name": str(item.get("name", "")),
                    "arguments": _arguments(item.get("arguments")),
                }
            ]
        )
    if kind == "function_call_output":
        return {
            "role": "toolResult",
            "toolCallId": str(item.get("call_id", "")),
            "toolName": "",
            "content": _texts(item.get("output")),
            "isError": False,
        }
    return _other(item)


def _other(item: Any) -> dict[str, Any]:
    """An item of which there is no like in pi: its text is that of its JSON."""
    text = json.dumps(item, ensure_ascii=False)
    return {"role": "custom", "customType": "openai-agents", "content": text, "display": False}


def _assistant(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def _texts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text} for text in _strings(_list(content))]


def _list(content: Any) -> list[Any]:
    if content is None:
        return []
    return content if isinstance(content, list) else [content]


def _strings(parts: list[Any]) -> list[str]:
    texts = []
    for part in parts:
        if isinstance(part, dict):
            part = next((part[name] for name in ("text", "refusal", "transcript") if name in part), None)
        if isinstance(part, str):
            texts.append(part)
    return texts


def _arguments(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return {"arguments": text}
