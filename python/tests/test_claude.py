"""``leafline.claude.SessionStore`` by the kit's own contracts, and in what they leave out: the rest of Leafline, several
processes, a kill."""

from __future__ import annotations

import asyncio
import inspect
import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from conftest import Process, required

required("claude_agent_sdk")

from claude_agent_sdk import InMemorySessionStore, fold_session_summary  # noqa: E402
from claude_agent_sdk.testing import run_session_store_conformance  # noqa: E402
from claude_agent_sdk.testing import session_store_conformance as contracts  # noqa: E402

from leafline import InvalidEntry, InvalidKey, Store  # noqa: E402
from leafline.claude import SessionStore  # noqa: E402

KEY: Any = {"project_key": "-work", "session_id": "0b5c7a52-26f4-4b4d-9a42-3d1b8d0c1f11"}


def entry(id: str | None, parent: str | None, text: str, **members: Any) -> Any:
    message = {"role": "user", "content": text}
    placed = {} if id is None else {"uuid": id, "parentUuid": parent}
    at = {"timestamp": "2026-02-16T10:20:30.000Z", "cwd": "/work", "sessionId": KEY["session_id"]}
    return {"type": "user", **placed, "message": message, **at, **members}


def test_the_kits_contracts(tmp_path: Path) -> None:
    made = []

    def make() -> SessionStore:
        made.append(SessionStore(tmp_path / f"{len(made)}.leafline"))
        return made[-1]

    asyncio.run(run_session_store_conformance(make))
    # None of the contracts was left out: one store was made for each of the 14, and one to look at.
    for method in contracts._OPTIONAL_METHODS:
        assert contracts._has_optional(made[0], method, frozenset())
    numbered = [line for line in inspect.getsource(contracts).splitlines() if line.strip().startswith("# ")]
    numbers = {line.strip()[2:].split(".")[0] for line in numbered}
    assert {str(number) for number in range(1, 15)} <= numbers
    assert len(made) == 15
    for sessions in made:
        listed = sessions.store.sessions()
        assert {facts["family"] for facts in listed} <= {"claude"}


def test_in_memory_as_well() -> None:
    asyncio.run(run_session_store_conformance(lambda: SessionStore(Store.in_memory())))


def test_entries_come_back_as_they_are(store: Store) -> None:
    sessions = SessionStore(store)
    values = [2**70, -0.0, 1e-300, "\ud800 alone", "\0\u2028é🍃", None, [], {"10": 1, "9": [{}]}]
    entries = [entry(str(uuid.uuid4()), None, "x", value=value) for value in values]
    asyncio.run(sessions.append(KEY, entries))
    assert asyncio.run(sessions.load(KEY)) == entries
    with pytest.raises((ValueError, InvalidEntry)):
        asyncio.run(sessions.append(KEY, [entry(None, None, "x", value=float("nan"))]))
    with pytest.raises(InvalidKey) as raised:
        asyncio.run(sessions.append({**KEY, "subpath": ""}, entries))
    assert raised.value.part == "subpath"
    assert asyncio.run(sessions.load(KEY)) == entries


def test_what_is_appended_twice_is_there_once(store: Store) -> None:
    async def run() -> None:
        sessions, other = SessionStore(store), SessionStore(store)
        first, second = entry("a", None, "one"), entry("b", "a", "two")
        title: Any = {"type": "custom-title", "customTitle": "Twice"}
        await sessions.append(KEY, [first, title])
        await other.append(KEY, [first, second])
        await sessions.append(KEY, [first, second, title])
        assert await sessions.load(KEY) == [first, title, second, title]

    asyncio.run(run())
    facts = store.sessions()[0]
    assert (facts["title"], facts["cwd"], facts["first_prompt"]) == ("Twice", "/work", "one")
    assert [hit["entry"] for hit in store.search("two")] == ["b"]


def test_summaries_are_what_the_kit_folds(store: Store) -> None:
    """The same as of the kit's own store, whatever is appended in whatever pieces."""

    async def run() -> None:
        sessions, reference = SessionStore(store), InMemorySessionStore()
        keys: list[Any] = [{"project_key": "-work", "session_id": f"s{number}"} for number in range(3)]
        for number in range(40):
            key = keys[number % 3]
            entries = [
                entry(f"{number}-1", None, f"prompt {number}"),
                {"type": "custom-title", "customTitle": f"title {number}"},
                {"type": "tag", "tag": "x" if number % 4 else ""},
                {"type": "x", "gitBranch": f"branch {number}", "n": number},
            ][: number % 5]
            await sessions.append(key, entries)
            if entries:
                await reference.append(key, entries)
            if number % 7 == 0:
                await same()
        await same()
        # What was kept is not read again, by whatever object.
        folded = []

        def fold(before: Any, key: Any, entries: Any) -> Any:
            folded.extend(entries)
            return fold_session_summary(before, key, entries)

        import leafline.claude

        leafline.claude.fold_session_summary = fold
        try:
            await same(SessionStore(store))
            assert folded == []
            await sessions.append(keys[0], [{"type": "x", "customTitle": "new"}])
            listed = {one["session_id"]: one["data"] for one in await sessions.list_session_summaries("-work")}
            assert listed["s0"]["custom_title"] == "new" and len(folded) == 1
        finally:
            leafline.claude.fold_session_summary = fold_session_summary

    async def same(_sessions: SessionStore | None = None) -> None:
        sessions = _sessions or SessionStore(store)
        ours = {one["session_id"]: one for one in await sessions.list_session_summaries("-work")}
        listed = {one["session_id"]: one["mtime"] for one in await sessions.list_sessions("-work")}
        assert set(ours) == set(listed)
        for session, summary in ours.items():
            again: Any = None
            key: Any = {"project_key": "-work", "session_id": session}
            again = fold_session_summary(again, key, await sessions.load(key) or [])
            assert summary["data"] == again["data"]
            assert summary["mtime"] >= listed[session] > 1e12

    asyncio.run(run())


def test_an_agents_transcript_is_an_agents_session(store: Store, tmp_path: Path) -> None:
    sub: Any = {**KEY, "subpath": "subagents/agent-a1"}
    said = entry("s", None, "Find the slowest crate", isSidechain=True, agentId="a1")
    asyncio.run(SessionStore(store).append(sub, [said]))
    asyncio.run(SessionStore(store).append(KEY, [entry("m", None, "Why is the build slow?")]))
    agents = store.agents_of(KEY["session_id"])
    assert [(agent["agent"], agent["first_prompt"]) for agent in agents] == [("a1", "Find the slowest crate")]
    store.export(tmp_path / "all")
    file = tmp_path / "all/claude/projects/-work" / KEY["session_id"] / "subagents/agent-a1.jsonl"
    assert json.loads(file.read_text()) == said
    # A store that has only the files has the same keys.
    other = Store(tmp_path / "other.leafline")
    other.import_files(tmp_path / "all")
    sessions = SessionStore(other)
    assert asyncio.run(sessions.list_subkeys(KEY)) == ["subagents/agent-a1"]
    assert asyncio.run(sessions.load(sub)) == [said]
    assert [found["session_id"] for found in asyncio.run(sessions.list_sessions("-work"))] == [KEY["session_id"]]


WRITER = """
import asyncio, sys
from leafline.claude import SessionStore
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
key = {"project_key": "-work", "session_id": "shared"}
sessions = SessionStore(path)
async def run():
    for number in range(count):
        entries = [
            {"type": "user", "uuid": f"{name}-{number}", "parentUuid": None},
            {"type": "user", "uuid": f"shared-{number}", "parentUuid": None},
            {"type": "mark", "of": f"{name}-{number}"},
        ]
        await sessions.append(key, entries)
        print(number, flush=True)
asyncio.run(run())
"""


def test_two_processes_at_once(path: Path) -> None:
    Store(path).close()
    processes = [Process(WRITER, path, name, 40) for name in "ab"]
    for process in processes:
        process.end()
    sessions = SessionStore(path)
    entries: Any = asyncio.run(sessions.load({"project_key": "-work", "session_id": "shared"}))
    ids = [entry["uuid"] for entry in entries if "uuid" in entry]
    assert sorted(ids) == sorted([f"{name}-{number}" for name in ("a", "b", "shared") for number in range(40)])
    assert len(entries) == 200 and len(sessions.store.sessions()) == 1
    for name in "ab":
        assert [id for id in ids if id.startswith(name)] == [f"{name}-{number}" for number in range(40)]


def test_a_kill_loses_nothing_that_was_acknowledged(path: Path) -> None:
    process = Process(WRITER, path, "a", 100_000)
    for _ in range(25):
        process.line()
    told = 24 + len(process.kill().splitlines())
    sessions = SessionStore(path)
    key: Any = {"project_key": "-work", "session_id": "shared"}
    entries: Any = asyncio.run(sessions.load(key))
    ids = [entry["uuid"] for entry in entries if entry.get("uuid", "").startswith("a-")]
    assert len(ids) in (told + 1, told + 2)
    # A batch is there as a whole; what is appended again changes nothing but what has no uuid.
    assert len(entries) == 3 * len(ids)
    again = [entry for entry in entries if "uuid" in entry]
    asyncio.run(sessions.append(key, again))
    assert asyncio.run(sessions.load(key)) == entries
