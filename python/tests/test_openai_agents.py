"""``leafline.openai_agents.Session`` beside the kit's own SQLite session, call by call, and in what that is not asked: the
rest of Leafline, several processes, a kill."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from conftest import Process, required

required("agents")

from agents import Agent, Runner, SQLiteSession  # noqa: E402
from agents.memory import Session as Protocol  # noqa: E402
from agents.testing import ScriptedModel  # noqa: E402

import leafline  # noqa: E402
from leafline import Store  # noqa: E402
from leafline.openai_agents import Session  # noqa: E402

CALLS: list[Any] = [
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "clock"}', "id": "fc_1"},
    {"type": "function_call", "call_id": "c2", "name": "look", "arguments": "{broken", "status": "completed"},
    {"type": "function_call_output", "call_id": "c1", "output": "three minutes slow"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "gears"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I look at it"}]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "tides"}},
    {
        "role": "assistant",
        "type": "message",
        "id": "m",
        "content": [{"type": "output_text", "text": "Yes", "annotations": []}],
    },
    {"role": "developer", "content": "Be short"},
    {"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64," + "iVBORw0KGgo" * 400}]},
    {"role": "user", "content": None},
    {"anything": [1, 2.5, None, {"x": "\ud800"}], "big": 2**70},
    {},
]


def item(source: random.Random) -> Any:
    if source.random() < 0.5:
        return {"role": source.choice(["user", "assistant"]), "content": f"text {source.random()} é🍃\n\0"}
    return source.choice(CALLS)


@pytest.mark.parametrize("seed", range(3))
def test_call_by_call_as_the_kits_own(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    path, database = tmp_path / "sessions.leafline", tmp_path / "sessions.db"
    ids = ["user", "user-1", "us", "a/b: c", "é"]

    async def run() -> None:
        ours = {id: Session(id, path) for id in ids}
        theirs = {id: SQLiteSession(id, database) for id in ids}
        for _ in range(150):
            id = source.choice(ids)
            if source.random() < 0.1:
                # Another object of the same session goes on.
                ours[id] = Session(id, ours[id].store if source.random() < 0.5 else path)
            one, other = ours[id], theirs[id]
            operation = source.random()
            if operation < 0.45:
                items = [item(source) for _ in range(source.randrange(4))]
                await one.add_items(items)
                await other.add_items(items)
            elif operation < 0.65:
                assert await one.pop_item() == await other.pop_item()
            elif operation < 0.7:
                await one.clear_session()
                await other.clear_session()
            else:
                limit = source.choice([None, None, 0, 1, 2, 5, 1000, -1])
                assert await one.get_items(limit) == await other.get_items(limit), limit
        for id in ids:
            assert await ours[id].get_items() == await theirs[id].get_items()
            theirs[id].close()

    asyncio.run(run())
    assert isinstance(Session("x", path), Protocol)


def test_settings_limit_what_is_read(path: Path) -> None:
    async def run() -> None:
        session = Session("user", path, session_settings={"limit": 2})
        await session.add_items([{"role": "user", "content": str(number)} for number in range(700)])
        assert [one["content"] for one in await session.get_items()] == ["698", "699"]
        assert [one["content"] for one in await session.get_items(3)] == ["697", "698", "699"]
        assert len(await Session("user", session.store).get_items()) == 700

    asyncio.run(run())


def test_it_is_a_session_of_the_store(path: Path) -> None:
    async def run() -> Session:
        session = Session("user-7", path, cwd="/work")
        await session.add_items([{"role": "user", "content": "Why is the tide clock slow?"}, *CALLS])
        return session

    session = asyncio.run(run())
    store = session.store
    facts = store.sessions()[0]
    assert (facts["id"], facts["family"], facts["cwd"]) == ("user-7", "pi", "/work")
    assert facts["first_prompt"] == "Why is the tide clock slow?"
    for words, role in [("three minutes slow", "tool"), ("why tide", "user"), ("look clock", "assistant")]:
        assert role in {hit["role"] for hit in store.search(words)}, words
    context = store.reader("user-7").context()["messages"]
    assert len(context) == 1 + len(CALLS) and context[1]["content"][0]["name"] == "look"
    # What was taken back is still there, until the session is cleared.
    taken: Any = asyncio.run(session.pop_item())
    assert taken == CALLS[-1] and store.reader("user-7").facts["messages"] == 1 + len(CALLS)
    asyncio.run(session.clear_session())
    assert store.sessions() == [] and store.search("tide") == []


def test_a_session_of_another_family_is_none_of_the_kits(store: Store) -> None:
    store.create_session("opal", "/work", id="taken")
    for call in (Session("taken", store).get_items(), Session("taken", store).add_items([{"role": "user", "content": "x"}])):
        with pytest.raises(leafline.WrongFamily) as raised:
            asyncio.run(call)
        assert raised.value.family == "opal"


def test_the_kits_runner(path: Path) -> None:
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    def text(said: str) -> Any:
        content = ResponseOutputText(text=said, type="output_text", annotations=[])
        return ResponseOutputMessage(id="1", type="message", role="assistant", content=[content], status="completed")

    async def run() -> None:
        model = ScriptedModel()
        agent = Agent(name="clock", model=model)
        model.enqueue([text("Three minutes.")])
        await Runner.run(agent, "How slow is it?", session=Session("user", path))
        model.enqueue([text("Since May.")])
        result = await Runner.run(agent, "Since when?", session=Session("user", path))
        assert result.final_output == "Since May."
        items: Any = await Session("user", path).get_items()
        assert [one["role"] for one in items] == ["user", "assistant", "user", "assistant"]
        assert items[0]["content"] == "How slow is it?"

    asyncio.run(run())


WRITER = """
import asyncio, sys
from leafline.openai_agents import Session
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
session = Session("shared", path)
async def run():
    for number in range(count):
        await session.add_items([{"role": "user", "content": f"{name}{number}.{part}"} for part in range(2)])
        print(number, flush=True)
asyncio.run(run())
"""

POPPER = """
import asyncio, sys
from leafline.openai_agents import Session
session = Session("shared", sys.argv[1])
async def run():
    while (item := await session.pop_item()) is not None:
        print(item["content"], flush=True)
asyncio.run(run())
"""


def test_two_processes_at_once(path: Path) -> None:
    Store(path).close()
    for process in [Process(WRITER, path, name, 20) for name in "ab"]:
        process.end()
    session = Session("shared", path)
    said = [one["content"] for one in asyncio.run(session.get_items())]
    assert sorted(said) == sorted(f"{name}{number}.{part}" for name in "ab" for number in range(20) for part in (0, 1))
    # The items of a call stand together.
    assert all(first[:-1] == second[:-1] for first, second in zip(said[::2], said[1::2], strict=True))
    # Each item is taken back once.
    poppers = [Process(POPPER, path) for _ in "ab"]
    taken = []
    for popper in poppers:
        assert popper.running.stdout is not None
        taken.extend(popper.running.stdout.read().split())
        popper.end()
    assert sorted(taken) == sorted(said)
    assert asyncio.run(session.get_items()) == []


def test_a_kill_loses_nothing_that_was_acknowledged(path: Path) -> None:
    process = Process(WRITER, path, "a", 100_000)
    for _ in range(20):
        process.line()
    told = 20 + len(process.kill().splitlines())
    said = [one["content"] for one in asyncio.run(Session("shared", path).get_items())]
    assert len(said) in (2 * told, 2 * told + 2)
    assert said == [f"a{number}.{part}" for number in range(len(said) // 2) for part in (0, 1)]


def test_a_cancelled_call_has_an_outcome(path: Path) -> None:
    async def run() -> None:
        session = Session("user", path)
        for number in range(20):
            adding = asyncio.create_task(session.add_items([{"role": "user", "content": str(number)}]))
            await asyncio.sleep(0)
            adding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await adding
        assert [one["content"] for one in await session.get_items()] == [str(number) for number in range(20)]

    asyncio.run(run())
