"""What an append costs through Python: beside a line in a file with ``fsync``, and items beside OpenAI's SQLite session.

    python python/tests/measure.py [FOLDER] [APPENDS]

Each way takes its turn in rounds, so that all of them meet the same disk. Times are of single calls. Where
other programs are busy, the fastest tenth shows what a call costs by itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 20


def message(number: int) -> dict[str, Any]:
    text = f"{number} " + "The tide clock is three minutes slow, and nobody knows since when. " * 8
    return {"role": "user", "content": text}


def resident() -> int:
    """Bytes in memory that are this process's."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def timed(call: Callable[[int], object], numbers: range, into: list[float]) -> None:
    for number in numbers:
        begin = time.perf_counter()
        call(number)
        into.append(time.perf_counter() - begin)


def appends(folder: Path, count: int) -> None:
    from agents import SQLiteSession

    from leafline import Store
    from leafline.claude import SessionStore
    from leafline.openai_agents import Session

    store = Store(folder / "sessions.leafline")
    session = store.create_session("pi", "/work")
    kit = SessionStore(store)
    ours = Session("conversation", store)
    theirs = SQLiteSession("measured", folder / "sessions.db")
    loop = asyncio.new_event_loop()
    file = os.open(folder / "lines.jsonl", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def to_file(number: int) -> None:
        os.write(file, json.dumps(message(number)).encode() + b"\n")
        os.fsync(file)

    def to_kit(number: int) -> None:
        placed = {"type": "user", "uuid": str(number), "parentUuid": str(number - 1) if number else None}
        key: Any = {"project_key": "-work", "session_id": "measured"}
        loop.run_until_complete(kit.append(key, [{**placed, "message": message(number)}]))

    ways: dict[str, Callable[[int], object]] = {
        "a line in a file, with fsync": to_file,
        "Session.append": lambda number: session.append({"type": "message", "message": message(number)}),
        "claude.SessionStore.append": to_kit,
        "openai_agents.Session.add_items": lambda number: loop.run_until_complete(ours.add_items([message(number)])),
        "SQLiteSession.add_items": lambda number: loop.run_until_complete(theirs.add_items([message(number)])),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        timed(way, range(5), [])
    step = max(count // ROUNDS, 1)
    for start in range(5, 5 + count, step):
        for name, way in ways.items():
            timed(way, range(start, start + step), times[name])
    print(f"{'':34} {'10 %':>8}    {'median':>8}    {'99 %':>8}")
    for name, taken in times.items():
        tenth, *_, last = (statistics.quantiles(taken, n=100)[at] * 1e3 for at in (9, 98))
        print(f"{name:34} {tenth:8.3f} ms {statistics.median(taken) * 1e3:8.3f} ms {last:8.3f} ms")
    loop.run_until_complete(ours.get_items())


MEMORY = {
    "Python alone": "",
    "leafline imported": "import leafline",
    "a store open": "import leafline; s = leafline.Store(PATH)",
    "and 1,000 appends": "import leafline; s = leafline.Store(PATH); x = s.create_session('pi', '/w')\n"
    "for n in range(1000): x.append({'type': 'message', 'message': {'role': 'user', 'content': 'x' * 500}})",
}


def memory(folder: Path) -> None:
    for name, program in MEMORY.items():
        path = folder / "memory.leafline"
        begin = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); PATH = {str(path)!r}"
        code = f"{begin}\n{program}\nimport measure; print(measure.resident())"
        read = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        print(f"{name:34} {int(read.stdout) / 1e6:8.1f} MB")


if __name__ == "__main__":
    place = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=place) as made:
        appends(Path(made), int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
        memory(Path(made))
