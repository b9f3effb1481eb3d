"""The steps by which statements gain more than their words (C4); each can be disabled."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Literal, get_args

import msgspec

from recollect.streams.language.grammar.analysis import Analysis

#: `entities`: names are recognised and linked. `temporal`: facts have days. `coreference`: facts
#: are in the third person, with names for "I" and "she". `temporal_resolution`: the days that
#: "tomorrow" means are written after it. `evolution`: a newer value, or a correction, supersedes
#: earlier ones, and facts are related as additions or conclusions. `causes`: facts are linked to
#: their effects. `stability`: a fact says how long it holds. `salience`: only what is worth
#: remembering becomes a fact.
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
#: Precedes the name of each disabled step, in the name of an agent.
LESS = "-"
#: The disabled steps.
Without = Set[Step]
ALL: Without = frozenset()


def left_out_by(names: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps that agents with these names disable."""
    behind = {part for name in names if ":" not in name for part in name.split(LESS)[1:]}
    return tuple(step for step in STEPS if step in behind)


def left_out(analysis: Analysis, without: Without) -> Analysis:
    """Return the findings of a message, the findings of disabled steps removed."""
    statements = analysis.statements
    if "entities" in without:
        statements = tuple(msgspec.structs.replace(one, mentions=()) for one in statements)
        analysis = msgspec.structs.replace(analysis, contacts=(), introductions=())
    if "temporal" in without:
        statements = tuple(
            msgspec.structs.replace(one, dates=(), happens=None) for one in statements
        )
        analysis = msgspec.structs.replace(analysis, dates=())
    if "evolution" in without:
        statements = tuple(msgspec.structs.replace(one, claim=None) for one in statements)
        analysis = msgspec.structs.replace(analysis, added=(), added_outside=(), ended_outside=())
    if "causes" in without:
        analysis = msgspec.structs.replace(analysis, causes=(), outside=())
    return msgspec.structs.replace(analysis, statements=statements)
