"""The lines of the user's directives, the first ones of every block."""

from __future__ import annotations

from collections.abc import Callable

from recollect.projections.files import ZoneFiles
from recollect.projections.memory.mental_model_queries import directives
from recollect.projections.recall.context.framing import DIRECTIVES, escape

#: Maximum share of a block's tokens for directives; beyond it, only the newest are shown.
DIRECTIVE_SHARE = 0.3

Count = Callable[[str], int]


def directive_lines(files: ZoneFiles, max_tokens: int, count: Count) -> list[str]:
    """Return the directives in force, in the order in which they were stated."""
    obeyed = directives(files.memory.connection)
    if not obeyed:
        return []
    room = DIRECTIVE_SHARE * max_tokens - count(f"{DIRECTIVES}\n")
    shown: list[str] = []
    for directive in reversed(obeyed):
        line = f"- {escape(directive.directive.text)}"
        room -= count(f"{line}\n")
        if room < 0:
            break
        shown.append(line)
    return shown[::-1]
