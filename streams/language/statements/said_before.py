"""What was said just before a statement in its message, where it says what the statement means."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping

from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.grammar.clauses import Span, after_lead_in
from recollect.streams.language.grammar.reported import overlaps
from recollect.streams.language.references.explaining import explains
from recollect.streams.language.references.standing_alone import left_open, person_open
from recollect.streams.language.statements.message_contents import MessageContents
from recollect.streams.language.worth.judged_clauses import JudgedClause
from recollect.streams.language.worth.worth import is_order, says

_THANKS = re.compile(r"\bthank(?:s| you)\b")
#: A sentence of more words is too much to tell with another.
_LONGEST_BEFORE = 40


class SaidBefore:
    """The sentences that tell something in a message, by their places, and what they explain."""

    def __init__(self, contents: MessageContents, told: Mapping[int, Span]) -> None:
        self._contents = contents
        self._told = told
        self._told_places = list(told)
        self._told_ends = [end for _, end in told.values()]

    def sentence(self, statement: Statement, person: int | None, half: Span | None) -> Span | None:
        """What is said before it in its paragraph, if it names what the statement leaves open.

        `person` is the token that stands for somebody, `half` the first part of the same sentence,
        where it is the cause or the effect of this one.
        """
        contents = self._contents
        before = half or self._told_before(statement.start)
        if before is None or "\n" in contents.text[before[0] : statement.start]:
            return None
        if overlaps(contents.others, before[0], statement.end):
            return None
        left, middle = contents.places(*before)
        _, right = contents.places(statement.start, statement.end)
        start = after_lead_in(contents.text, *before)
        said = contents.said(start, before[1])
        if middle - left > _LONGEST_BEFORE or not says(said):
            return None
        if is_order(said) or _THANKS.search(said.lower):
            return None
        begin = bisect_left(contents.tokens.starts, start)
        mentions = contents.mentions_in(before[0], statement.end)
        known = explains(contents.tokens, left, middle, right, mentions, begin, person)
        return before if known else None

    def clauses_explain(self, before: list[JudgedClause], group: list[JudgedClause]) -> bool:
        """Whether the clauses before some of the same sentence say what these leave open."""
        contents = self._contents
        if any(piece.claim for piece in before) and any(piece.claim for piece in group):
            return False
        start, end = group[0].clause.start, group[-1].clause.end
        left, right = contents.places(start, end)
        begin = bisect_left(contents.tokens.starts, after_lead_in(contents.text, start, end))
        own = contents.mentions_in(start, end)
        if left_open(contents.tokens, left, right, own, begin) == "nothing":
            return False
        first = before[0].clause
        mentions = contents.mentions_in(first.start, end)
        person = person_open(contents.tokens, left, right, own, begin)
        opening = after_lead_in(contents.text, first.start, end)
        return explains(
            contents.tokens,
            contents.places(first.start, first.end)[0],
            left,
            right,
            mentions,
            bisect_left(contents.tokens.starts, opening),
            person,
        )

    def _told_before(self, place: int) -> Span | None:
        """The sentence before the one that a place stands in, where it tells something."""
        at = bisect_left(self._told_ends, place + 1)
        if at == 0 or at == len(self._told_places):
            return None
        before = self._told_places[at - 1]
        return self._told[before] if before == self._told_places[at] - 1 else None
