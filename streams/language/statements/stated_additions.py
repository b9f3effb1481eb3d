"""Additions: which statements of a message add to which, or to something said before it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recollect.streams.language.grammar.analysis import Added, AddedOutside, Statement
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.reported import is_reported
from recollect.streams.language.relations.additions import (
    NAMED,
    NEXT,
    SHARED,
    Addition,
    find_addition,
    may_add,
    told_words,
)
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.subjects import (
    PRONOUNS,
    SPEAKER,
    Subject,
    is_named,
    is_same,
    subject_of,
)
from recollect.streams.language.statements.document import Findings

#: The maximum distance, in sentences, at which "I also …" adds to a sentence with the same subject
#: but no shared word.
_NEAR = 2


class _Said(NamedTuple):
    """A sentence of a statement: its index, its span, its content words and its subject."""

    place: int
    start: int
    end: int
    words: frozenset[str]
    subject: Subject | None


class StatedAdditions:
    """The additions among the statements of one message, by the words of their sentences.

    `told` are the sentences that state something, by index.
    """

    def __init__(
        self,
        findings: Findings,
        told: Mapping[int, Span],
        statements: Sequence[Statement],
    ) -> None:
        self._findings = findings
        self._statements = statements
        self._places = list(told)
        self._spans = list(told.values())
        self._starts = [start for start, _ in self._spans]
        self._begins = sorted(each.start for each in statements)
        self.within: list[Added] = []
        self.outside: list[AddedOutside] = []
        #: The sentences of each statement, computed once a statement adds something.
        self._said: list[list[_Said]] = []
        if statements and may_add(findings.tokens):
            self._said = [self._sentences(each) for each in statements]
            for place, statement in enumerate(statements):
                self._look_at(place, statement)

    def _look_at(self, at: int, statement: Statement) -> None:
        """Record what a statement adds to, if it has a cue for an addition."""
        text = self._findings.text
        said = self._said[at]
        if not said or is_reported(self._findings.quoted, statement.start):
            return
        first = said[0]
        addition = find_addition(text, first.start, first.end)
        if addition is None:
            return
        subject = subject_of(self._findings.tokens, addition.begins, first.end)
        if subject is None:
            return
        named = statement.whom.name if statement.whom is not None else None
        words = told_words(text[addition.begins : first.end], frozenset(subject))
        found = self._added(at, addition, first, subject, named, words)
        if found is not None:
            self.within.append(found)
            return
        if subject[0] in PRONOUNS:
            if named is None:
                return
            subject = tuple(named.lower().split()[:1])
        self.outside.append(AddedOutside(at, subject, words, addition.names, addition.answers))

    def _added(
        self,
        at: int,
        addition: Addition,
        own: _Said,
        subject: Subject,
        named: str | None,
        words: frozenset[str],
    ) -> Added | None:
        """Return the earlier statement, of the same message, that a statement adds to.

        It is the nearest of those that share the most words, or just the previous one.
        """
        best: tuple[float, int, int] | None = None
        for place, other in enumerate(self._statements):
            if other.start >= own.start or place == at or _differ(other, self._statements[at]):
                continue
            for said in self._said[place]:
                if said.start >= own.start or not self._is_of(said, own, subject, named):
                    continue
                theirs = said.words - frozenset(subject)
                if words and words <= theirs:
                    continue  # it adds no content
                shared, near = len(words & theirs), own.place - said.place <= _NEAR
                if addition.names:
                    sure = NAMED if addition.names <= theirs else 0.0
                elif shared:
                    sure = SHARED
                else:
                    sure = NEXT if near and not addition.ends else 0.0
                if sure and (best is None or (sure, shared, place) > best):
                    best = sure, shared, place
        return None if best is None else Added(at, best[2], best[0])

    def _is_of(self, said: _Said, own: _Said, subject: Subject, named: str | None) -> bool:
        """Whether a sentence has the same subject; "she" is the previous sentence's subject."""
        other = said.subject
        if other is None:
            return False
        if subject[0] not in PRONOUNS:
            return is_same(subject, other)
        if named is not None and is_named(other, named):
            return True
        return (
            other != SPEAKER
            and other[0] not in PRONOUNS - {subject[0]}
            and (named is None and own.place - said.place <= 1)
        )

    def _sentences(self, statement: Statement) -> list[_Said]:
        """Return the sentences of a statement; the first one with its introduction."""
        found: list[_Said] = []
        first = max(bisect_right(self._starts, statement.start) - 1, 0)
        for index in range(first, len(self._spans)):
            start, end = self._spans[index]
            if start >= statement.end:
                break
            # If an earlier statement began in the same sentence, this one begins at its own start.
            before = bisect_left(self._begins, statement.start) - 1
            if before >= 0 and self._begins[before] >= start:
                start = statement.start
            end = min(end, statement.end)
            words = content_words(self._findings.text[start:end])
            subject = subject_of(self._findings.tokens, start, end)
            found.append(_Said(self._places[index], start, end, words, subject))
        return found


def _differ(one: Statement, other: Statement) -> bool:
    """Whether two statements make claims about different subjects."""
    if one.claim is None or other.claim is None:
        return False
    return one.claim.subject != other.claim.subject
