"""Causes: which statements of a message led to which, collected sentence by sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from recollect.streams.language.grammar.analysis import Caused, Outside, Statement
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.reported import is_reported
from recollect.streams.language.relations.causes import (
    STATED,
    Joined,
    Opening,
    named_cause,
    opening_strength,
)
from recollect.streams.language.relations.content_words import content_words


class StatedCauses:
    """The causal links between the statements of a message, by index."""

    def __init__(self, text: str, others: list[Span]) -> None:
        self._text = text
        self.others = others
        self.found: list[Caused] = []
        self.outside: list[Outside] = []

    def linked(self) -> set[int]:
        """Return the indices of the statements that are a cause or an effect."""
        ends = {place for one in self.found for place in (one.cause, one.effect)}
        return ends | {one.statement for one in self.outside}

    def renumber(self, places: Mapping[int, int]) -> None:
        """Renumber the statements; drop the links of those without a new number."""
        self.found = [
            msgspec.structs.replace(one, cause=places[one.cause], effect=places[one.effect])
            for one in self.found
            if one.cause in places and one.effect in places
        ]
        self.outside = [
            msgspec.structs.replace(one, statement=places[one.statement])
            for one in self.outside
            if one.statement in places
        ]

    def between(self, right: int, joint: Joined) -> None:
        """Record the cause within a sentence whose second part begins with statement `right`."""
        places = (right - 1, right) if joint.cause_first else (right, right - 1)
        self.found.append(Caused(*places, joint.strength, joint.concludes))

    def of(
        self,
        span: Span,
        place: int,
        opens: Opening | None,
        before: Sequence[Statement],
        *,
        follows: bool,
        first: bool,
    ) -> None:
        """Record how a sentence, whose first statement is `place`, relates to the previous ones.

        `follows`: the latest statement is of the previous sentence. `first`: no sentence precedes.
        """
        if is_reported(self.others, span[0]):
            return
        if opens is not None:
            is_cause, strength = opens == "cause", opening_strength(self._text, *span)
            if follows:
                pair = (place, place - 1) if is_cause else (place - 1, place)
                self.found.append(Caused(*pair, strength, not is_cause))
            elif first:
                self.outside.append(Outside(place, frozenset(), is_cause, strength))
            return
        words = named_cause(self._text, *span)
        if not words:
            return
        said = [each for each, one in enumerate(before) if words <= content_words(one.sentence)]
        if said:
            self.found.append(Caused(said[-1], place, STATED, concludes=True))
        else:
            self.outside.append(Outside(place, words, False, STATED))
