"""What a program with types sees of the package: checked by test_types.py, never run. It uses every call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import assert_type

import leafline
from leafline import Entry, Error, Session, SessionReader, Store
from leafline.claude import SessionStore
from leafline.errors import EntryNotFound, UnreadablePaths
from leafline.openai_agents import Session as AgentSession


def stores() -> list[str]:
    with Store("sessions.leafline", create=False, read_only=True) as store, Store.in_memory() as other:
        assert_type(store.path, Path)
        listed = store.sessions(
            family="pi", cwd="/", below="/", since=1, until=2, text="x", without_agents=True, order="size", limit=1
        )
        listed += store.agents_of(listed[0]["id"])
        store.sessions(family="emacs")  # type: ignore[arg-type]
        store.sessions(sinse=1)  # type: ignore[call-arg]
        removed = other.remove(*[facts["id"] for facts in listed])
        hits = store.search(
            "moon", session="a", roles=["user"], since=1, until=2, family="omp", cwd="/", below="/", limit=len(removed)
        )
        assert_type(store.update_search_index(), bool)
        other.close()
        return [hit["snippet"] for hit in hits]


def files(store: Store) -> int:
    try:
        totals = store.import_files("a", Path("b"), progress=print, family="omp", replace=True, restore=True)
        totals = store.sync("a", progress=lambda report: report["status"], family="omp", replace=True)
    except UnreadablePaths as error:
        return len(error.paths)
    exported = store.export(Path("out"), sessions=["a"], progress=print, replace=True, mode="portable")
    assert store.blob(store.put_blob(b"a picture")) is not None
    return totals["imported"] + exported["written"] + store.export_file("a", "a.jsonl")


def writing(store: Store) -> list[str]:
    sessions: list[Session | None] = [
        store.session("a", keep_everything=True),
        store.session_with_id("a"),
        store.create_session("pi", "/", id="a", title="t", parent_session="b", keep_everything=True),
        store.continue_recent("pi", "/", title="t", keep_everything=True),
        store.fork("a", "/"),
    ]
    session = sessions[0]
    assert session is not None
    message: dict[str, Any] = {"role": "user", "content": session.family}
    ids = [
        session.append({"type": "message", "message": message}),
        *session.append_all([{"type": "message", "message": message}]),
        session.append_message(message),
        session.branch_with_summary(None, "text", {"a": 1}),
        session.label("a", None),
        session.id,
    ]
    added, ignored = session.append_lines(b"{}\n", ignore_repeated=True)
    session.branch(ids[added - ignored])
    session.reset_leaf()
    session.set_name("name")
    assert_type(session.leave_leaf(), Entry | None)
    assert_type(session.entry("a"), Entry)
    return [*ids, session.branched_session("a").id]


def reading(reader: SessionReader) -> bytes:
    entries, start = reader.page(0, entries=10, bytes=1 << 20)
    while start is not None:
        more, start = reader.path_backwards(start, entries=10, bytes=1 << 20)
        entries += more
    entries += reader.path(None) + reader.children("a") + [reader.entry("a")]
    for entry in (reader.leaf, reader.header, reader.line(0), *entries):
        if entry is not None:
            facts = (entry.id, entry.parent_id, entry.ordinal, entry.kind, entry.role, entry.timestamp, entry.is_sidechain)
            assert_type(entry.line, bytes)
            assert_type(entry.text, str)
            print(facts, entry.value)
    context = reader.context("a", full=True, family="omp", as_of="14")
    request = reader.request("a", full=True, family="omp", as_of="14")
    assert_type(reader.label("a"), str | None)
    print(context["messages"], request["messages"], reader.facts["entries"])
    return reader.bytes()


async def kit(store: Store) -> None:
    await SessionStore(store).append({"project_key": "a", "session_id": "b"}, [{"type": "user"}])
    await AgentSession("a", store).add_items([{"role": "user", "content": "Hello"}])


def fails(store: Store) -> str:
    try:
        return store.reader("a").entry("b").text
    except EntryNotFound as error:
        return error.entry
    except Error as error:
        return error.code or leafline.__name__
