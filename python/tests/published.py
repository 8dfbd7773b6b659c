"""A plugin for pytest under which OpenAI's own tests of its sessions run with Leafline's in the place of its SQLite session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import agents
import agents.memory

from leafline import Store
from leafline.openai_agents import Session

_stores: dict[Path, Store] = {}


class Stored(Session):
    """With the words and the methods of the kit's own: without a path it is in memory, and it can be closed."""

    def __init__(self, session_id: str, db_path: str | Path = ":memory:", **options: Any) -> None:
        if str(db_path) == ":memory:":
            store = Store.in_memory()
        else:
            path = Path(db_path).resolve()
            # Of a folder that is gone the store is, too.
            if path not in _stores or not path.exists():
                _stores[path] = Store(path)
            store = _stores[path]
        super().__init__(session_id, store, **options)

    def close(self) -> None:
        pass


agents.SQLiteSession = agents.memory.SQLiteSession = Stored  # type: ignore[misc,assignment]
