"""Arguments that cannot be used: each is an error that names the call, the place, what it may be, and what it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leafline
from leafline import Store

COUNT = "a whole number from 0 to 2**63 - 1"
TIME = "a time in milliseconds since 1970"
FAMILIES = "one of 'pi', 'omp', 'claude', 'opal', 'codex'"
FILTER = "family, cwd, below, since, until, text, without_agents, order, limit"

WRONG: list[tuple[Callable[[Any, Any, Any], object], type[Exception], str]] = [
    (lambda store, _, __: store.sessions(since="2026"), TypeError, f"since must be {TIME} or None, got the str '2026'"),
    (lambda store, _, __: store.sessions(since=1.5), TypeError, f"since must be {TIME} or None, got the float 1.5"),
    (lambda store, _, __: store.sessions(until=2**63), ValueError, f"until must be {TIME} or None, got the int {2**63}"),
    (lambda store, _, __: store.sessions(limit=-1), ValueError, f"limit must be {COUNT} or None, got the int -1"),
    (lambda store, _, __: store.sessions(limit=float("nan")), TypeError, f"limit must be {COUNT} or None, got the float nan"),
    (lambda store, _, __: store.sessions(limit=True), TypeError, f"limit must be {COUNT} or None, got the bool True"),
    (lambda store, _, __: store.sessions(family="emacs"), ValueError, f"family must be {FAMILIES} or None, got the str 'emacs'"),
    (lambda store, _, __: store.sessions(order=None), TypeError, "order must be one of 'modified', 'created', 'title', 'size', got None"),
    (lambda store, _, __: store.sessions(sinse=1), TypeError, f"Store.sessions() has no argument 'sinse'; it has {FILTER}"),
    (lambda store, _, __: store.sessions("pi"), TypeError, "Store.sessions(): too many positional arguments"),
    (lambda store, _, __: store.create_session("pi"), TypeError, "Store.create_session(): missing a required argument: 'cwd'"),
    (lambda store, _, __: store.create_session("pi", 5), TypeError, "Store.create_session(): cwd must be a str, got the int 5"),
    (
        lambda store, _, __: store.create_session("pi", "/", immediate=True),
        TypeError,
        "has no argument 'immediate'; it has family, cwd, id, title, parent_session, keep_everything",
    ),
    (lambda store, _, __: store.session(b"id"), TypeError, "Store.session(): id must be a str, got the bytes b'id'"),
    (lambda store, _, __: store.search("x", roles="user"), TypeError, "roles must be a sequence, each member one of 'user'"),
    (lambda store, _, __: store.search("x", roles=["user", "you"]), ValueError, "roles[1] must be one of 'user'"),
    (lambda store, _, __: store.search("x", limit=2**64), ValueError, f"limit must be {COUNT}, got the int"),
    (lambda store, _, __: store.import_files(5), TypeError, "paths[0] must be a str or a PathLike, got the int 5"),
    (lambda store, _, __: store.import_files(progress=5), TypeError, "progress must be a function or None, got the int 5"),
    (lambda store, _, __: Store(store.path, readonly=True), TypeError, "Store() has no argument 'readonly'; it has path, create, read_only"),
    (lambda _, session, __: session.append("text"), TypeError, "Session.append(): entry must be a Mapping, got the str 'text'"),
    (lambda _, session, __: session.append_lines("text"), TypeError, "lines must be bytes, got the str 'text'"),
    (lambda _, session, __: session.append_lines(b"", ignore=True), TypeError, "has no argument 'ignore'; it has lines, ignore_repeated"),
    (lambda _, session, __: session.label("x", 5), TypeError, "Session.label(): label must be a str or None, got the int 5"),
    (lambda _, __, reader: reader.page(-1), ValueError, f"SessionReader.page(): start must be {COUNT}, got the int -1"),
    (lambda _, __, reader: reader.page(entries=2**70), ValueError, f"entries must be {COUNT}, got the int {2**70}"),
    (lambda _, __, reader: reader.line("0"), TypeError, f"SessionReader.line(): ordinal must be {COUNT}, got the str '0'"),
    (lambda _, __, reader: reader.context(family="emacs"), ValueError, f"family must be {FAMILIES} or None, got the str 'emacs'"),
    (lambda _, __, reader: reader.context(asof="1"), TypeError, "has no argument 'asof'; it has leaf, full, family, as_of"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_an_argument_is_refused(
    store: Store, call: Callable[[Any, Any, Any], object], kind: type[Exception], message: str
) -> None:
    session = store.create_session("opal", "/work")
    with pytest.raises(kind) as raised:
        call(store, session, session.reader())
    assert type(raised.value) is kind and raised.value.code == "INVALID_ARGUMENT"
    assert message in str(raised.value)
    assert session.reader().facts["entries"] == 0


def test_numbers_may_be_as_large_as_they_can(store: Store) -> None:
    session = store.create_session("opal", "/work")
    session.append_message({"role": "user", "content": "moon"})
    assert len(store.sessions(limit=2**63 - 1, since=-(2**63), until=None)) == 1
    assert store.sessions(limit=0) == []
    assert len(store.search("moon", limit=2**63 - 1)) == 1
    assert store.search("moon", limit=0) == []
    reader = session.reader()
    assert len(reader.page(entries=2**63 - 1, bytes=2**63 - 1)[0]) == 1
    assert reader.page(2**63 - 1) == ([], None)
    assert reader.line(2**63 - 1) is None


def test_calls_keep_their_documentation() -> None:
    assert leafline.Session.append.__name__ == "append"
    assert "No line is read" in (Store.sessions.__doc__ or "")
