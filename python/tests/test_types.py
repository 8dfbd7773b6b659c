"""Checks the package with a type checker: guards against types that are not those of the module."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import leafline
from leafline import Entry, Session, SessionReader, Store

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "typed_program.py"
PACKAGE = Path(leafline.__file__).resolve().parent


def succeeds(*arguments: str | Path) -> None:
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": path}
    run = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)], cwd=PACKAGE.parent, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_program_and_the_package_are_typed_strictly() -> None:
    succeeds("mypy", "--config-file", HERE.parent / "pyproject.toml", PROGRAM, PACKAGE)


def test_the_stubs_are_those_of_the_module() -> None:
    succeeds("mypy.stubtest", "leafline._leafline", "--mypy-config-file", HERE.parent / "pyproject.toml")


def test_the_program_uses_every_call() -> None:
    used = set(re.findall(r"\w+", PROGRAM.read_text()))
    names = {name for owner in (Entry, Session, SessionReader, Store) for name in vars(owner) if not name.startswith("_")}
    assert len(names) > 40
    assert names - used == set()
