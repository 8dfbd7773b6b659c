"""OpenAI's own tests of its sessions, which its source archive has, with Leafline's in the place of its SQLite session."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import required

required("agents")

ARCHIVE = os.environ.get("LEAFLINE_OPENAI_AGENTS_SOURCE")

# Of what the SQLite session is made of: connections, locks, rows that are no JSON, the attributes of its class.
OF_SQLITE = [
    "await_mutation",
    "close",
    "connections",
    "corrupt",
    "file_lock",
    "releases_write_lock",
    "rolls_back",
    "rollback",
    "quarantined",
    "unknown_dictionary_fields",
    "post_commit",
]


@pytest.mark.skipif(ARCHIVE is None, reason="LEAFLINE_OPENAI_AGENTS_SOURCE names no archive")
def test_the_published_tests(tmp_path: Path) -> None:
    assert ARCHIVE is not None
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    # The package that is installed, not the source's.
    (source / "src").rename(source / "not-used")
    arguments = ["-q", "-p", "published", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(source)]
    chosen = ["-k", " and ".join(f"not {name}" for name in OF_SQLITE)]
    files = ["tests/memory/test_session.py", "tests/memory/test_session_limit.py"]
    path = os.pathsep.join([str(Path(__file__).parent), str(source), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, *chosen, *files],
        cwd=source,
        env={**os.environ, "PYTHONPATH": path, "OPENAI_API_KEY": "x"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None and int(passed[1]) >= 30, ran.stdout
