"""Leafline keeps coding agents' sessions in one file: any entry at once, nothing lost, the same bytes out.

``leafline.claude`` has the session store of Claude's agent kit, ``leafline.openai_agents`` the session of OpenAI's. Neither kit
is needed for the rest.
"""

from . import _arguments
from ._leafline import Entry, Session, SessionReader
from ._store import Store
from ._types import (
    Context,
    ExportMode,
    ExportReport,
    ExportTotals,
    Family,
    FileReport,
    ImportTotals,
    Order,
    Removed,
    Role,
    SearchHit,
    SessionFacts,
)
from .errors import *  # noqa: F403
from .errors import __all__ as _errors

_arguments.check_native(Session, SessionReader)

__all__ = [
    "Context",
    "Entry",
    "ExportMode",
    "ExportReport",
    "ExportTotals",
    "Family",
    "FileReport",
    "ImportTotals",
    "Order",
    "Removed",
    "Role",
    "SearchHit",
    "Session",
    "SessionFacts",
    "SessionReader",
    "Store",
    *_errors,
]
