"""The library through Python: guards against values, errors and threads that do not come through as they are."""

from __future__ import annotations

import base64
import json
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import leafline
from conftest import Process
from leafline import Store, errors

SAMPLES = Path(__file__).resolve().parents[2] / "import" / "samples"


def message(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}]}}


def test_a_session_is_written_and_read(store: Store) -> None:
    session = store.create_session("pi", "/work")
    first = session.append(message("user", "Why is the build slow?"))
    second, third = session.append_all([message("assistant", "I look."), message("user", "And?")])
    session.label(first, "start")
    session.branch(second)
    other = session.append_message({"role": "user", "content": "Use fewer crates"})
    session.set_name("Slow build")
    reader = session.reader()
    assert [entry.id for entry in reader.path(other)] == [first, second, other]
    assert {child.id for child in reader.children(second)} == {third, other}
    assert reader.label(first) == "start"
    entry = session.entry(second)
    assert (entry.kind, entry.role, entry.parent_id, entry.text) == ("message", "assistant", first, "I look.")
    assert json.loads(entry.line) == entry.value
    facts = store.sessions()[0]
    assert (facts["title"], facts["family"], facts["messages"]) == ("Slow build", "pi", 4)
    assert reader.facts["id"] == session.id
    context = reader.context(other)
    assert [said["role"] for said in context["messages"]] == ["user", "assistant", "user"]
    assert reader.request(other)["messages"][0]["role"] == "user"
    # A reader shows the session as it is at each call.
    left = session.leave_leaf()
    assert left is not None and left.kind == "session_info"
    assert reader.leaf is not None and reader.leaf.id == other


@pytest.mark.parametrize("end", ["close", "drop", "kill"])
@pytest.mark.parametrize("family", ["pi", "omp", "opal", "claude"])
def test_what_has_an_id_is_on_disk(path: Path, family: leafline.Family, end: str) -> None:
    appending = Process(APPENDING, path, family, end)
    session, entry, branch = json.loads(appending.line())
    with Store(path) as store:
        assert store.session(session).entry(entry).text == "Hello"
        assert store.continue_recent(family, "/work").id in (session, branch)
    if end == "kill":
        appending.kill()
    else:
        appending.end()
    with Store(path) as store:
        assert store.session(session).entry(entry).text == "Hello"
        assert branch is None or store.reader(branch).facts["messages"] == 1


APPENDING = """
import json, sys, time
from leafline import Store
path, family, end = sys.argv[1:]
store = Store(path)
session = store.create_session(family, "/work")
id = session.id
entry = session.append_message({"role": "user", "content": "Hello"})
branch = None if family == "opal" else session.branched_session(entry).id
if end == "close":
    store.close()
elif end == "drop":
    del session, store
print(json.dumps([id, entry, branch]), flush=True)
if end == "kill":
    time.sleep(600)
"""


def test_entries_of_omp_are_kept_whole_on_request(store: Store) -> None:
    long = "x" * 600_000
    session = store.create_session("omp", "/work")
    cut = session.append_message({"role": "user", "content": long})
    assert len(session.entry(cut).line) < 510_000
    kept = store.session(session.id, keep_everything=True).append_message({"role": "user", "content": long})
    assert session.entry(kept).value["message"]["content"] == long
    new = store.create_session("omp", "/work", keep_everything=True)
    kept = new.append_message({"role": "user", "content": long})
    assert new.entry(kept).value["message"]["content"] == long


def test_named_paths_that_cannot_be_read_raise(store: Store, tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    session.write_text('{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}\n')
    for call in (store.import_files, store.sync):
        with pytest.raises(errors.UnreadablePaths, match="nope") as raised:
            call(tmp_path / "nope", session)
        assert raised.value.paths == [str(tmp_path / "nope")]
        assert raised.value.code == "IMPORT_UNREADABLE"
    assert [facts["id"] for facts in store.sessions()] == ["s"]


def test_a_reader_says_that_lines_were_changed_since(store: Store, tmp_path: Path) -> None:
    header = '{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}'
    line = json.dumps({**message("user", "as it was"), "id": "a1", "parentId": None})
    file = tmp_path / "s.jsonl"
    file.write_text(f"{header}\n{line}\n")
    store.import_files(file)
    reader = store.session("s").reader()
    assert reader.entry("a1").text == "as it was"
    file.write_text(f"{header}\n{line}\n".replace("as it was", "changed"))
    store.import_files(file, replace=True)
    for call in (lambda: reader.entry("a1"), reader.context):
        with pytest.raises(errors.SessionError, match="changed") as raised:
            call()
        assert raised.value.code == "SESSION_REWRITTEN"
    assert store.session("s").reader().entry("a1").text == "changed"


def test_relative_paths_are_of_the_directory_in_which_they_are_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    monkeypatch.chdir(one)
    with Store("s.leafline") as store:
        first = store.continue_recent("pi", ".")
        first.append_message({"role": "user", "content": "moon"})
        monkeypatch.chdir(other)
        assert store.path == one / "s.leafline"
        assert len(store.search("moon")) == 1
        assert store.continue_recent("pi", ".").id != first.id
        assert [facts["id"] for facts in store.sessions(cwd=f"{one}/")] == [first.id]
        assert [facts["cwd"] for facts in store.sessions(cwd=".")] == [str(other)]
    assert list(other.iterdir()) == []


def test_images_of_omp_become_blobs(store: Store) -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "QUJD" * 300}
    for session, is_kept in [
        (store.create_session("omp", "/work"), False),
        (store.create_session("omp", "/work", keep_everything=True), True),
    ]:
        id = session.append_message({"role": "user", "content": [image]})
        data = session.entry(id).value["message"]["content"][0]["data"]
        assert data == image["data"] if is_kept else data.startswith("blob:sha256:")


def test_pages_end(store: Store) -> None:
    session = store.create_session("opal", "/work")
    ids = session.append_all([{"role": "user", "content": str(number)} for number in range(250)])
    reader = session.reader()
    seen: list[str | None] = []
    start: int | None = 0
    while start is not None:
        entries, start = reader.page(start, entries=40)
        assert 0 < len(entries) <= 40
        seen.extend(entry.id for entry in entries)
    assert seen == ids
    entries, following = reader.path_backwards(entries=3)
    assert [entry.id for entry in entries] == ids[:-4:-1] and following is not None
    entries, following = reader.path_backwards(following, entries=1000)
    assert following is None and [entry.id for entry in entries] == ids[-4::-1]


def test_texts_come_back_as_they_are(store: Store) -> None:
    session = store.create_session("pi", "/work")
    for text in ["", "\0\u2028", "é🍃", "\ud800 alone", "a" * 200_000, '"\\\n']:
        id = session.append(message("user", text))
        assert session.entry(id).value["message"]["content"][0]["text"] == text
    number = {"type": "custom", "customType": "numbers", "data": [2**70, -0.0, 1e-300]}
    assert session.entry(session.append(number)).value["data"] == [2**70, -0.0, 1e-300]
    for wrong in [message("user", float("nan")), {"type": "message"}, [], {"type": b"x"}]:  # type: ignore[arg-type]
        with pytest.raises((ValueError, TypeError, leafline.InvalidEntry)):
            session.append(wrong)  # type: ignore[arg-type]


def test_lines_are_kept_byte_for_byte(store: Store) -> None:
    totals = store.import_files(SAMPLES / "codex")
    assert totals["failed"] == 0 and totals["imported"] > 0
    session = store.session(store.sessions()[0]["id"])
    before = session.reader().bytes()
    line = b'{ "timestamp":"2026-02-18T09:00:00.000Z", "type":"compacted"  }\n'
    assert session.append_lines(line) == (1, 0)
    assert session.reader().bytes() == before + line


def test_an_import_counts_the_files_that_it_leaves_out(store: Store, tmp_path: Path) -> None:
    for name in ["a", "b"]:
        (tmp_path / f"rollout-{name}.jsonl.zst").write_bytes(b"")
    reports: list[leafline.FileReport] = []
    totals = store.import_files(tmp_path, progress=reports.append)
    assert totals["left_out"] == [{"reason": "compressed with Zstandard (rollout-*.jsonl.zst)", "files": 2}]
    assert [report["status"] for report in reports] == ["left_out", "left_out"]
    assert store.sync(tmp_path)["left_out"] == totals["left_out"]


def test_import_and_export_report(store: Store, tmp_path: Path) -> None:
    reports: list[leafline.FileReport] = []
    totals = store.import_files(SAMPLES, progress=reports.append)
    assert len(reports) == totals["files"] and {report["status"] for report in reports} >= {"imported"}
    again = store.sync(SAMPLES)
    assert again["imported"] == 0 and again["unchanged"] + again["skipped"] > 0
    exported: list[leafline.ExportReport] = []
    outcome = store.export(tmp_path / "all", progress=exported.append)
    assert outcome["written"] == outcome["sessions"] == len(exported)
    one = store.sessions(limit=1)[0]["id"]
    assert store.export_file(one, tmp_path / "one.jsonl") == (tmp_path / "one.jsonl").stat().st_size
    assert store.reader(one).bytes() == (tmp_path / "one.jsonl").read_bytes()


def test_a_session_takes_its_images_along(store: Store, tmp_path: Path) -> None:
    picture = base64.b64encode(b"a picture" * 200).decode()
    session = store.create_session("omp", "/work")
    image = {"type": "image", "mimeType": "image/png", "data": picture}
    session.append({"type": "message", "message": {"role": "user", "content": [image]}})
    store.export(tmp_path / "all")
    [blob] = (tmp_path / "all" / "omp" / "blobs").iterdir()
    assert blob.read_bytes() == store.blob(blob.name) == b"a picture" * 200
    assert picture.encode() not in session.reader().bytes()
    assert picture.encode() in session.reader().bytes(mode="portable")
    store.export_file(session.id, tmp_path / "one.jsonl", mode="portable")
    assert picture in (tmp_path / "one.jsonl").read_text()
    assert store.put_blob(b"a picture" * 200) == blob.name and store.blob("0" * 64) is None


def test_what_a_report_raises_ends_the_call(store: Store, tmp_path: Path) -> None:
    def stop(_: object) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        store.import_files(SAMPLES, progress=stop)
    # What was stored by then is whole, and the rest comes with the next import.
    totals = store.import_files(SAMPLES)
    assert totals["failed"] == 0 and totals["imported"] + totals["unchanged"] == len(store.sessions()) > 0
    with pytest.raises(KeyError, match="enough"):
        store.export(tmp_path / "all", progress=stop)


def test_what_was_appended_is_found(store: Store) -> None:
    session = store.create_session("pi", "/work")
    id = session.append(message("user", "The tide clock is three minutes slow"))
    hits = store.search("tide clock", roles=["user"])
    assert [(hit["session"], hit["entry"]) for hit in hits] == [(session.id, id)]
    assert "three minutes" in hits[0]["snippet"]
    assert store.search("tide", family="omp") == [] and store.search("tide", cwd="/work") != []
    with pytest.raises(leafline.NoWords) as raised:
        store.search("...")
    assert raised.value.query == "..."
    with pytest.raises(ValueError, match="roles"):
        store.search("tide", roles=["nobody"])  # type: ignore[list-item]


def test_errors_have_their_facts(store: Store, tmp_path: Path) -> None:
    with pytest.raises(leafline.SessionNotFound) as missing:
        store.session("nobody")
    assert missing.value.id == "nobody" and missing.value.facts == {"id": "nobody"}
    assert "nobody" in str(missing.value) and isinstance(missing.value, leafline.Error)
    again = pickle.loads(pickle.dumps(missing.value))
    assert type(again) is leafline.SessionNotFound and again.id == "nobody"
    assert missing.value.code == again.code == "SESSION_NOT_FOUND"
    store.create_session("opal", "/work", id="taken")
    with pytest.raises(leafline.SessionExists):
        store.create_session("opal", "/work", id="taken")
    with pytest.raises(leafline.WrongFamily) as family:
        store.create_session("codex", "/work")
    assert family.value.family == "codex"
    with pytest.raises(leafline.EntryNotFound) as entry:
        store.session("taken").entry("x")
    assert (entry.value.session, entry.value.entry) == ("taken", "x")
    with pytest.raises(leafline.StoreNotFound):
        Store(tmp_path / "none", create=False)
    (tmp_path / "text").write_text("not a store" * 1000)
    with pytest.raises(leafline.StoreError):
        Store(tmp_path / "text")
    with pytest.raises(ValueError, match="no-family"):
        store.sessions(family="no-family")  # type: ignore[arg-type]
    with Store(store.path, read_only=True) as reading, pytest.raises(leafline.Error):
        reading.create_session("opal", "/work")


def test_a_store_closes_with_its_sessions_and_readers(path: Path) -> None:
    with Store(path) as store:
        session = store.create_session("opal", "/work")
        for text in ("one", "two", "three"):
            session.append({"role": "user", "content": text})
        reader = session.reader()
        assert path.with_name(f"{path.name}.journal").exists()
    for call in (store.sessions, session.reader, reader.bytes, lambda: session.append({"role": "user", "content": "late"})):
        with pytest.raises(ValueError, match="closed"):
            call()
    # The file is all there is.
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert [found["messages"] for found in Store(path).sessions()] == [3]


def test_a_session_keeps_its_store_open(path: Path) -> None:
    session = Store(path).create_session("opal", "/work")
    session.append({"role": "user", "content": "still open"})
    assert [found["messages"] for found in Store(path).sessions()] == [1]


def test_python_runs_on_while_a_call_is_at_work(store: Store, tmp_path: Path) -> None:
    header = {"type": "session", "version": 3, "id": "long", "timestamp": "2026-02-16T10:20:30.000Z", "cwd": "/work"}
    with (tmp_path / "long.jsonl").open("w") as file:
        file.write(json.dumps(header) + "\n")
        for number in range(30_000):
            place = {"id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number else None}
            file.write(json.dumps({**message("user", f"{number} " * 40), **place}) + "\n")
    importing = threading.Thread(target=store.import_files, args=(tmp_path / "long.jsonl",))
    importing.start()
    ticks = 0
    while importing.is_alive():
        time.sleep(0.001)
        ticks += 1
    # A call that kept the interpreter's lock would let this thread run before it and behind it.
    assert ticks > 10
    assert store.reader("long").facts["messages"] == 30_000


def test_threads_share_a_session(store: Store) -> None:
    session = store.create_session("pi", "/work")

    def write(name: str) -> None:
        for number in range(20):
            session.append(message("user", f"{name}{number}"))
            assert session.reader().facts["messages"] > number

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    path = session.reader().path(None)
    assert len(path) == 80 and [entry.parent_id for entry in path[1:]] == [entry.id for entry in path[:-1]]
