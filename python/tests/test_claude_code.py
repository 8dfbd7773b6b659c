"""The real Claude Code through the kit's ``query()``: a session mirrored into a store, resumed from it on another machine,
its agents with it. Guards against transcripts that the program does not take back."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import required

required("claude_agent_sdk")

from claude_agent_sdk import (  # noqa: E402
    ClaudeAgentOptions,
    ResultMessage,
    get_session_messages_from_store,
    list_sessions_from_store,
    query,
)
from claude_agent_sdk._internal.session_resume import materialize_resume_session  # noqa: E402
from stand_in import StandIn  # noqa: E402

from leafline import Store  # noqa: E402
from leafline.claude import SessionStore  # noqa: E402

if sys.platform != "linux" and not os.environ.get("LEAFLINE_REQUIRE_CLAUDE"):
    pytest.skip("the program is installed on Linux alone", allow_module_level=True)

WORDS = "the tide clock is three minutes slow"
ORDER = "AGENT: count the gears"
COUNTED = "there are forty-one gears"


def said(request: dict[str, Any]) -> str:
    return json.dumps(request["messages"])


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    whole = said(request)
    if ORDER in whole and WORDS not in whole:
        return [{"type": "text", "text": COUNTED}]
    names = {tool["name"] for tool in request.get("tools", [])}
    agent = next((name for name in ("Task", "Agent") if name in names), None)
    if "GO" in whole and "tool_result" not in whole and agent is not None:
        work = {"description": "Count", "prompt": ORDER, "subagent_type": "general-purpose"}
        return [{"type": "tool_use", "id": "toolu_count", "name": agent, "input": work}]
    return [{"type": "text", "text": "Yes."}]


class Machine:
    """A machine with a home of its own; the folder of the work is the same on all."""

    def __init__(self, home: Path, work: Path, url: str) -> None:
        home.mkdir()
        work.mkdir(exist_ok=True)
        env = {
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }
        self.home = home
        self.options = ClaudeAgentOptions(cwd=work, env=env, permission_mode="bypassPermissions", setting_sources=[])

    def ask(self, prompt: str, monkeypatch: pytest.MonkeyPatch, **options: Any) -> str:
        """Has the program answer, and gives the session's id."""
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        used = replace(self.options, **options)
        if (config := options.get("env")) is not None:
            used = replace(used, env={**self.options.env, **config})

        async def run() -> str:
            session = ""
            async for message in query(prompt=prompt, options=used):
                if isinstance(message, ResultMessage):
                    assert not message.is_error, message
                    session = message.session_id
            return session

        return asyncio.run(asyncio.wait_for(run(), 60))


def test_a_session_goes_on_on_another_machine(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    with StandIn(answer) as api:
        here = Machine(tmp_path / "here", work, api.url)
        store = SessionStore(path)
        session = here.ask(f"GO, {WORDS}", monkeypatch, session_store=store)
        files = list((here.home / ".claude/projects").rglob("*.jsonl"))
        project = files[0].relative_to(here.home / ".claude/projects").parts[0]
        key: Any = {"project_key": project, "session_id": session}

        # What is in the program's files is in the store, entry by entry, the agent's transcript as well.
        file = here.home / ".claude/projects" / project / f"{session}.jsonl"
        written = [json.loads(line) for line in file.read_text().splitlines()]
        mirrored: Any = asyncio.run(store.load(key))
        # All but what it keeps of its requests for itself.
        assert mirrored == [line for line in written if not line["type"].startswith("api-request")]
        subkeys = asyncio.run(store.list_subkeys(key))
        assert len(subkeys) == 1 and subkeys[0].startswith("subagents/agent-")
        agent: Any = asyncio.run(store.load({**key, "subpath": subkeys[0]}))
        agents_file = file.with_suffix("") / f"{subkeys[0]}.jsonl"
        transcript = [one for one in agent if one["type"] != "agent_metadata"]
        written = [json.loads(line) for line in agents_file.read_text().splitlines()]
        assert transcript == [line for line in written if not line["type"].startswith("api-request")]

        # To the rest of Leafline it is a session of Claude Code's.
        leafline = store.store
        facts = leafline.reader(session).facts
        assert (facts["family"], facts["cwd"]) == ("claude", str(work))
        assert [one["agent"] for one in leafline.agents_of(session)] == [subkeys[0].split("agent-")[1]]
        assert {hit["session"] for hit in leafline.search("tide clock")} == {session}
        assert leafline.search("gears")[0]["session"] == leafline.agents_of(session)[0]["id"]
        said_before = leafline.reader(session).context()["messages"]

        # The kit's own lists.
        infos = asyncio.run(list_sessions_from_store(store, directory=str(work)))
        assert [info.session_id for info in infos] == [session]
        assert WORDS in (infos[0].first_prompt or "")
        messages = asyncio.run(get_session_messages_from_store(store, session, directory=str(work)))
        assert WORDS in json.dumps([message.message for message in messages])

        # Another machine, with an empty home and the store alone.
        there = Machine(tmp_path / "there", work, api.url)
        other = SessionStore(Store(path))
        api.requests.clear()
        again = there.ask("PROBE", monkeypatch, session_store=other, resume=session)
        assert again == session
        probe = next(request for request in api.requests if "PROBE" in said(request))
        assert WORDS in said(probe) and COUNTED in said(probe)
        assert [part["role"] for part in said_before[:2]] == ["user", "assistant"]
        # It went on in the same session, and is there once.
        assert len([one for one in leafline.sessions() if one["agent"] is None]) == 1
        after: Any = asyncio.run(store.load(key))
        assert after[: len(mirrored)] == mirrored and "PROBE" in json.dumps(after[len(mirrored) :])
        ids = [one["uuid"] for one in after if "uuid" in one]
        assert len(ids) == len(set(ids))

        # What the program got on the other machine: its session, and the agent's transcript beside it.
        options = replace(there.options, session_store=other, resume=session)
        made: Any = asyncio.run(materialize_resume_session(options))
        placed = made.config_dir / "projects" / project / session / f"{subkeys[0]}.jsonl"
        assert [json.loads(line) for line in placed.read_text().splitlines()] == transcript
        assert placed.with_name(placed.name.replace(".jsonl", ".meta.json")).exists()
        asyncio.run(made.cleanup())

        # Without the kit: the export is a folder that the program uses as its own.
        leafline.export(tmp_path / "all")
        alone = Machine(tmp_path / "alone", work, api.url)
        config = {"CLAUDE_CONFIG_DIR": str(tmp_path / "all/claude")}
        api.requests.clear()
        assert alone.ask("ALONE", monkeypatch, resume=session, env=config) == session
        probe = next(request for request in api.requests if "ALONE" in said(request))
        assert WORDS in said(probe) and "PROBE" in said(probe)


def test_the_last_session_is_continued(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that was imported from the program's folder is the kit's as well."""
    work = tmp_path / "work"
    with StandIn(answer) as api:
        here = Machine(tmp_path / "here", work, api.url)
        session = here.ask(WORDS, monkeypatch)
        with Store(path) as store:
            assert store.import_files(here.home / ".claude/projects")["imported"] == 1
        there = Machine(tmp_path / "there", work, api.url)
        sessions = SessionStore(path)
        api.requests.clear()
        options = {"session_store": sessions, "continue_conversation": True}
        assert there.ask("PROBE", monkeypatch, **options) == session
        assert any("PROBE" in said(request) and WORDS in said(request) for request in api.requests)
        assert [facts["id"] for facts in sessions.store.sessions()] == [session]
