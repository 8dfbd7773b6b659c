"""Stores and processes that are forked: what a child inherits is refused and writes nothing, and what it opens itself works."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leafline
from leafline import Store

if not hasattr(os, "fork"):
    pytest.skip("this system does not fork", allow_module_level=True)

USER = {"role": "user", "content": "text"}

POOL = """
import multiprocessing, sys
import leafline

path, method = sys.argv[1:]
USER = {"role": "user", "content": "text"}

def begin():
    global own
    own = leafline.Store(path).session("shared")

def append(_):
    return own.append_message(USER)

def inherited(_):
    try:
        return session.append_message(USER)
    except leafline.InheritedStore as error:
        return error.code

if __name__ == "__main__":
    store = leafline.Store(path)
    session = store.session("shared")
    ids = [session.append_message(USER)]
    context = multiprocessing.get_context(method)
    if method == "fork":
        with context.Pool(4) as pool:
            assert set(pool.map(inherited, range(40), 1)) == {"STORE_INHERITED"}
    with context.Pool(4, begin) as pool:
        answers = pool.map_async(append, range(40), 1)
        ids += [session.append_message(USER) for _ in range(10)]
        ids += answers.get(60)
    ids.append(session.append_message(USER))
    print(*ids)
"""

PREFORKING = """
import os, sys
import leafline

path = sys.argv[1]
store = leafline.Store(path)
session = store.session("shared")
USER = {"role": "user", "content": "text"}

def acknowledge(session, count):
    for _ in range(count):
        os.write(1, session.append_message(USER).encode() + b"\\n")

def worker(end):
    try:
        for _ in range(3):
            with leafline.Store(path) as own:
                acknowledge(own.session("shared"), 3)
        end()
    finally:
        os._exit(1)

def fork(end):
    return os.fork() or worker(end)

acknowledge(session, 2)
ends = [lambda: os._exit(0), lambda: (store.close(), os._exit(0)), lambda: sys.exit(0)]
children = [fork(end) for end in ends[:2]]
assert os.waitpid(children.pop(0), 0)[1] == 0
acknowledge(session, 2)
children.append(fork(ends[0]))
for child in children:
    assert os.waitpid(child, 0)[1] == 0
acknowledge(session, 1)
"""

ORPHAN = """
import os, sys, threading, time
import leafline

path = sys.argv[1]
store = leafline.Store(path)
USER = {"role": "user", "content": "text"}

def acknowledge(session, count):
    for _ in range(count):
        os.write(1, session.append_message(USER).encode() + b"\\n")

def append():
    acknowledge(store.session("shared"), 1 << 30)

for _ in range(2):
    threading.Thread(target=append, daemon=True).start()
time.sleep(float(sys.argv[2]))
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent:
        time.sleep(0.001)
    acknowledge(leafline.Store(path).session("shared"), 5)
    os._exit(0)
os.write(2, b"forked")
threading.Event().wait()
"""


@pytest.fixture
def shared(path: Path) -> Path:
    with Store(path) as store:
        store.create_session("pi", "/work", id="shared")
    return path


def ids_in(path: Path) -> list[str | None]:
    with Store(path) as store:
        reader = store.reader("shared")
        return [entry.id for entry in reader.page(0, entries=1 << 20, bytes=1 << 30)[0]]


def expect_there(path: Path, acknowledged: list[str]) -> None:
    there = ids_in(path)
    assert acknowledged and len(set(acknowledged)) == len(acknowledged)
    assert [id for id in acknowledged if there.count(id) != 1] == []


def in_child(work: Callable[[], Any]) -> Any:
    """What a forked process answers."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "wb") as answer:
                pickle.dump(work(), answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        result = pickle.load(answer)
    assert os.waitpid(child, 0)[1] == 0
    return result


def test_every_call_of_what_was_inherited_is_refused(shared: Path) -> None:
    store = Store(shared)
    session = store.session("shared")
    waiting = store.create_session("pi", "/work")
    first = session.append_message(USER)
    reader = session.reader()
    assert [entry.id for entry in reader.page(0)[0]][-1] == first
    memory = Store.in_memory()
    before = ids_in(shared)
    calls: dict[str, Callable[[], Any]] = {
        "append": lambda: session.append_message(USER),
        "append of a waiting session": lambda: waiting.append_message(USER),
        "branch": lambda: session.branch(first),
        "entry": lambda: session.entry(first),
        "leaf": lambda: reader.leaf,
        "page": lambda: reader.page(0),
        "facts": lambda: reader.facts,
        "sessions": lambda: store.sessions(),
        "session": lambda: store.session("shared"),
        "reader": lambda: store.reader("shared"),
        "create_session": lambda: store.create_session("opal", "/work"),
        "remove": lambda: store.remove("shared"),
        "import_files": lambda: store.import_files(shared.parent),
        "search": lambda: store.search("text"),
        "memory": lambda: memory.sessions(),
    }

    def call_all() -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for name, call in calls.items():
            try:
                answers[name] = repr(call())
            except leafline.InheritedStore as error:
                answers[name] = (error.code, error.process)
        path = store.path
        store.close()
        with Store(path) as own:
            answers["own"] = own.session("shared").append_message(USER)
        return answers

    answers = in_child(call_all)
    added = [answers.pop("own")]
    assert answers == dict.fromkeys(calls, ("STORE_INHERITED", os.getpid()))
    added.append(session.append_message(USER))
    store.close()
    assert ids_in(shared) == before + added


def test_a_child_that_drops_all_leaves_the_store_alone(shared: Path) -> None:
    store = Store(shared)
    held: list[Any] = [store, store.session("shared"), store.reader("shared")]
    ids = [held[1].append_message(USER) for _ in range(3)]

    def drop() -> None:
        held.clear()
        gc.collect()

    in_child(drop)
    # Another process appends, as one that has found no lock of theirs would end their journal.
    ids += in_child(lambda: [Store(shared).session("shared").append_message(USER) for _ in range(3)])
    ids += [held[1].append_message(USER) for _ in range(3)]
    expect_there(shared, ids)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_pool_whose_workers_open_the_store_loses_nothing(shared: Path, tmp_path: Path, method: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(POOL)
    run = subprocess.run(
        [sys.executable, program, shared, method], stdout=subprocess.PIPE, text=True, timeout=600, check=True
    )
    acknowledged = run.stdout.split()
    assert len(acknowledged) == 52
    expect_there(shared, acknowledged)


def test_workers_of_a_server_that_forks_them(shared: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PREFORKING, shared], stdout=subprocess.PIPE, text=True, timeout=600, check=True
    )
    acknowledged = run.stdout.split()
    assert len(acknowledged) == 5 + 3 * 9
    expect_there(shared, acknowledged)


@pytest.mark.parametrize("after", [0.0, 0.003, 0.01, 0.02, 0.05])
def test_a_child_outlives_a_parent_that_is_killed(shared: Path, after: float) -> None:
    arguments = [sys.executable, "-c", ORPHAN, str(shared), str(after)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.stdout is not None and parent.stderr is not None
        stderr = parent.stderr
        acknowledged: list[bytes] = []
        reading = threading.Thread(target=lambda: acknowledged.extend(parent.stdout or []), daemon=True)
        reading.start()
        assert stderr.read(6) == b"forked"
        parent.send_signal(signal.SIGKILL)
        # The child has the pipe, too: it has ended when nothing more comes.
        reading.join(600)
        assert not reading.is_alive()
    ids = [line.decode().strip() for line in acknowledged]
    assert len(ids) >= 5
    expect_there(shared, ids)


def test_a_store_is_not_sent_to_another_process(store: Store) -> None:
    for value in [store, store.create_session("pi", "/work")]:
        with pytest.raises(TypeError):
            pickle.dumps(value)
