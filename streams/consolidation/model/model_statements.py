"""A language model's statements about memories, and their validation.

A statement cites memories that the model was shown, by number. A tool call that is malformed, or
cites a memory that the model was not shown, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import msgspec

#: The maximum number of statements, and of characters of each.
MAX_STATEMENTS, MAX_LENGTH = 12, 400
_STATE = "state"


class Statement(NamedTuple):
    """A sentence, and the positions of the memories that it rests on."""

    text: str
    positions: tuple[int, ...]


class _Call(msgspec.Struct, frozen=True):
    text: str
    memories: list[int]


def checked_statements(calls: Sequence[tuple[str, str]], positions: Set[int]) -> list[Statement]:
    """Return the valid statements of a model's calls (tool, JSON arguments), each text once.

    `positions`: the positions of the memories that it was shown.
    """
    statements: dict[str, Statement] = {}
    for name, arguments in calls:
        try:
            call = msgspec.json.decode(arguments, type=_Call, strict=False)
        except (ValueError, RecursionError):
            continue
        text = " ".join(call.text.split())
        cited = tuple(sorted(set(call.memories)))
        if name == _STATE and 0 < len(text) <= MAX_LENGTH and cited and positions >= set(cited):
            statements.setdefault(text, Statement(text, cited))
    return list(statements.values())[:MAX_STATEMENTS]


#: The tool, as sent to a model.
STATEMENT_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "type": "function",
        "function": {
            "name": _STATE,
            "description": "One thing that the memories say together, in a sentence of its own.",
            "parameters": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "memories": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "description": "numbers of the memories that say it",
                    },
                },
                "required": ["text", "memories"],
                "additionalProperties": False,
            },
        },
    },
)
