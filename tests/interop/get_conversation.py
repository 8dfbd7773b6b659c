"""Reads sessions of Claude Code as the session JSONL format's document says, for tests to compare with.

Takes one JSON object a line, {"path": "...", "leaves": ["..."] or null}, and answers each with one of
{"summary": uuid or null, "conversations": [[leaf, [uuid, ...] or null], ...]}. Without leaves it answers for every uuid of
the file. A conversation is null where the document's loop would not end.
"""

import json
import sys


def get_conversation(messages, leaf_uuid):
    """The document's function, with an end where it has none: a loop of parents."""
    by_uuid = {m["uuid"]: m for m in messages if "uuid" in m}
    chain = []
    current = leaf_uuid
    while current:
        msg = by_uuid.get(current)
        if not msg:
            break
        chain.append(msg)
        if len(chain) > len(messages):
            return None
        current = msg.get("parentUuid")
    return list(reversed(chain))


def parse(line):
    """A record; None for what the document does not know: blank and malformed lines, and values that are no objects."""
    try:
        value = json.loads(line, parse_constant=lambda name: int("NaN"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_name(value):
    return isinstance(value, str)


def load(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8", errors="replace").lstrip("\ufeff")
    messages = []
    for record in filter(None, map(parse, text.split("\n"))):
        # A name that is no string is none: Python could not even keep some of them in a map.
        for name in ("uuid", "parentUuid"):
            if name in record and not is_name(record[name]):
                del record[name]
        messages.append(record)
    return messages


def answer(job):
    messages = load(job["path"])
    first = messages[0] if messages else {}
    summary = first.get("leafUuid") if first.get("type") == "summary" else None
    leaves = job["leaves"]
    if leaves is None:
        leaves = list(dict.fromkeys(m["uuid"] for m in messages if "uuid" in m))
    conversations = []
    for leaf in leaves:
        chain = get_conversation(messages, leaf)
        conversations.append([leaf, chain and [m["uuid"] for m in chain]])
    return {"summary": summary if is_name(summary) else None, "conversations": conversations}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
