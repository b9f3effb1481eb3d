"""The steps by which what is said becomes more than its words (C4); each can be left out."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Literal, get_args

import msgspec

from recollect.streams.language.grammar.analysis import Analysis

#: `entities`: who and what is named becomes known, and is linked. `temporal`: it is said which days
#: a fact is of. `coreference`: facts are told in the third person, with names for "I" and "she".
#: `temporal_resolution`: the days that "tomorrow" means stand behind it. `evolution`: a newer
#: value, or a correction, takes the place of what was so before, and it is said which fact adds to
#: another or follows from it. `causes`: facts are linked to what they led to. `stability`: it is
#: said how long a fact holds. `salience`: only what is worth remembering becomes a fact.
Step = Literal[
    "entities",
    "temporal",
    "coreference",
    "temporal_resolution",
    "evolution",
    "causes",
    "stability",
    "salience",
]
STEPS: tuple[Step, ...] = get_args(Step)
#: Stands before the name of each step that an agent leaves out, behind the agent's own name.
LESS = "-"
#: The steps that are left out.
Without = Set[Step]
ALL: Without = frozenset()


def left_out_by(names: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps that agents of these names leave out."""
    behind = {part for name in names if ":" not in name for part in name.split(LESS)[1:]}
    return tuple(step for step in STEPS if step in behind)


def left_out(analysis: Analysis, without: Without) -> Analysis:
    """Return what was found in a message, without what these steps find."""
    statements = analysis.statements
    if "entities" in without:
        statements = tuple(msgspec.structs.replace(one, mentions=()) for one in statements)
        analysis = msgspec.structs.replace(analysis, contacts=(), introductions=())
    if "temporal" in without:
        statements = tuple(msgspec.structs.replace(one, dates=()) for one in statements)
        analysis = msgspec.structs.replace(analysis, dates=())
    if "evolution" in without:
        statements = tuple(msgspec.structs.replace(one, claim=None) for one in statements)
        analysis = msgspec.structs.replace(analysis, added=(), added_outside=())
    if "causes" in without:
        analysis = msgspec.structs.replace(analysis, causes=(), outside=())
    return msgspec.structs.replace(analysis, statements=statements)
