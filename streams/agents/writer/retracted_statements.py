"""The facts that a retraction covers (G1): those that restate the retracted part of a message.

A retraction stores offsets into the event's text, never text. So it applies to every writer that
reads the event, and reveals nothing once the event is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from recollect.schemas.changes import Fact, MemoryRetraction, RetractedFact
from recollect.schemas.events import Content
from recollect.streams.language.relations.content_words import content_words

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class RetractedStatement(NamedTuple):
    """The content words of the retracted part of a text, and of the rest of it."""

    retracted: frozenset[str]
    rest: frozenset[str]

    def is_said_by(self, text: str) -> bool:
        """Return whether a fact of the message restates the retracted part, and nothing else."""
        words = content_words(text)
        return bool(words & self.retracted) and not words & self.rest


def retracted_statement(
    text: str, start: int, end: int, names: Iterable[str]
) -> RetractedStatement:
    """Return the retracted part of a text, from `start` to `end`.

    `names`: the names of the sender, which any fact of the message may have.
    """
    retracted = content_words(text[start:end])
    own = content_words(" ".join(names))
    rest = content_words(f"{text[:start]} {text[end:]}")
    return RetractedStatement(retracted, rest - retracted - own)


def covering(
    fact_id: str,
    text: str,
    active: Sequence[MemoryRetraction],
    texts: Mapping[str, str],
    names: Iterable[str],
) -> list[MemoryRetraction]:
    """Return the retractions that cover a fact, one for each retracted memory.

    `active`: retractions of what the versions of its message state. `texts`: their texts by id.
    """
    names = tuple(names)
    by_target: dict[str, MemoryRetraction] = {}
    for row in active:
        text_ = texts.get(row.event_id)
        if row.target_id == fact_id or (
            text_ is not None
            and _covers(retracted_statement(text_, row.char_start, row.char_end, names), text, row)
        ):
            by_target.setdefault(row.target_id, row)
    return list(by_target.values())


def _covers(statement: RetractedStatement, text: str, row: MemoryRetraction) -> bool:
    # The whole event was retracted, whatever the words of its facts.
    return row.target_id == row.event_id or statement.is_said_by(text)


def retractions_of_new_fact(
    fact: Fact, active: Sequence[MemoryRetraction], texts: Mapping[str, str], content: Content
) -> list[RetractedFact]:
    """Return the rows of the retractions in force that cover a new fact of a message."""
    names = (content.sender_id, content.sender_name or "")
    found = covering(fact.id, fact.text, active, texts, names)
    return [retracted_fact(fact.id, fact.as_of, each) for each in found]


def retracted_fact(
    fact_id: str, as_of: int, by: MemoryRetraction, newer: str | None = None
) -> RetractedFact:
    """Return the row by which a retraction covers a fact that began at `as_of` (unix ms).

    `newer`: the fact that replaces it; None: the id that the retraction names.
    """
    return RetractedFact(
        fact_id=fact_id,
        target_id=by.target_id,
        retracted_by=newer or by.retracted_by,
        invalid_at=max(as_of, by.replaced_at or as_of),
        is_void=int(by.replaced_at is None),
        is_standing=by.is_standing,
    )


def stated_span(text: str, fact: str, names: Iterable[str]) -> tuple[int, int]:
    """Return the shortest span of a text with all content words of a fact that the text has.

    The `names` of the sender do not count. A fact that shares no other content word with the text
    rests on all of it.
    """
    wanted = (content_words(fact) & content_words(text)) - content_words(" ".join(names))
    places = [
        (match.start(), match.end(), word)
        for match in _WORD.finditer(text)
        for word in content_words(match.group()) & wanted
    ]
    last: dict[str, int] = {}
    best = (0, len(text))
    for start, end, word in places:
        last[word] = start
        if len(last) == len(wanted) and end - min(last.values()) < best[1] - best[0]:
            best = (min(last.values()), end)
    return best
