"""What the tests share: a store, processes, and a stand-in of a model's API."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leafline import Store


def required(package: str) -> None:
    """Skips a module without the package, unless it is required."""
    if importlib.util.find_spec(package) is None:
        # Where the program alone is named, its kit is not installed.
        is_required = os.environ.get("LEAFLINE_REQUIRE_CLAUDE") and not os.environ.get("LEAFLINE_CLAUDE")
        if is_required and package == "claude_agent_sdk":
            raise RuntimeError(f"{package} is required, and is not there")
        pytest.skip(f"without {package}", allow_module_level=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.leafline"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as store:
        yield store


class Process:
    """Another process of Python, that runs a program and can be killed."""

    def __init__(self, program: str, *arguments: object) -> None:
        self.running = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True
        )

    def line(self) -> str:
        assert self.running.stdout is not None
        return self.running.stdout.readline().strip()

    def end(self) -> None:
        assert self.running.wait(600) == 0
        self.close()

    def kill(self) -> str:
        """Kills it, and gives what it had printed until then."""
        assert self.running.stdout is not None
        self.running.kill()
        left = self.running.stdout.read()
        self.close()
        return left

    def close(self) -> None:
        assert self.running.stdout is not None
        self.running.stdout.close()
        self.running.wait(600)
