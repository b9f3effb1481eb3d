"""Clauses as they were judged, and which of them make one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recollect.streams.language.grammar.analysis import Claim
from recollect.streams.language.grammar.clauses import Clause
from recollect.streams.language.worth.worth import (
    About,
    Said,
    is_command,
    is_comment,
    is_order,
    points_back,
)


class JudgedClause(NamedTuple):
    """A clause, or several that belong together, as it was judged."""

    clause: Clause
    said: Said
    about: About
    claim: Claim | None
    kept: bool
    overruled: bool  # kept whatever the gate says


def leads_to(piece: JudgedClause) -> bool:
    """Whether a clause that was not kept itself may say of whom the next one speaks."""
    return not (piece.kept or piece.about == "listener" or is_order(piece.said))


def together(pieces: Sequence[JudgedClause]) -> list[tuple[int, int]]:
    """Return the first and last of the clauses that make one statement each.

    A clause with a claim or a subject of its own stands alone; a comment and what others are asked
    go, what takes something back ("but", "though") stays with what it takes back, and a purpose
    with what is done for it.
    """
    groups: list[tuple[int, int]] = []
    for place, piece in enumerate(pieces):
        hangs = piece.clause.shifts or piece.clause.purpose
        if hangs and groups and groups[-1][1] == place - 1:
            groups[-1] = (groups[-1][0], place)
        elif piece.clause.purpose:
            continue
        elif piece.kept:
            apart = not points_back(piece.said) and (
                piece.about in ("speaker", "person") or piece.claim is not None
            )
            if groups and groups[-1][1] == place - 1 and not apart:
                groups[-1] = (groups[-1][0], place)
            else:
                groups.append((place, place))
        elif (
            groups
            and groups[-1][1] == place - 1
            and not (is_comment(piece.said) or is_command(piece.said))
        ):
            groups[-1] = (groups[-1][0], place)
    return groups
