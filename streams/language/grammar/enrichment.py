"""The steps by which what is said becomes more than its words (C4); each can be left out."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal, get_args

import msgspec

from streams.language.grammar.analysis import Analysis

#: `entities`: who and what is named becomes known, and is linked. `coreference`: facts are told in
#: the third person, with names for "I" and "she". `temporal_resolution`: the days that "tomorrow"
#: means stand behind it. `evolution`: a newer value, or a correction, takes the place of what was
#: so before. `causes`: facts are linked to what they led to.
Step = Literal["entities", "coreference", "temporal_resolution", "evolution", "causes"]
STEPS: tuple[Step, ...] = get_args(Step)
#: The steps that are left out.
Without = Set[Step]
ALL: Without = frozenset()


def left_out(analysis: Analysis, without: Without) -> Analysis:
    """Return what was found in a message, without what these steps find."""
    statements = analysis.statements
    if "entities" in without:
        statements = tuple(msgspec.structs.replace(one, mentions=()) for one in statements)
        analysis = msgspec.structs.replace(analysis, contacts=(), introductions=())
    if "evolution" in without:
        statements = tuple(msgspec.structs.replace(one, claim=None) for one in statements)
    if "causes" in without:
        analysis = msgspec.structs.replace(analysis, causes=(), outside=())
    return msgspec.structs.replace(analysis, statements=statements)
