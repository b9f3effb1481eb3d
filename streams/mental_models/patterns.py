"""What facts about an entity show over time: what is regular, ahead, in cycles, shared by two.

Nothing is computed but the counts of a cycle, and nothing rephrased: an item is a fact without the
name that heads the text, and cites it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from datetime import date, timedelta
from math import comb
from typing import Literal, NamedTuple

from recollect.streams.consolidation.days import day_of, named_days
from recollect.streams.consolidation.observation_text import Item, Rendered
from recollect.streams.consolidation.unit_topics import topics_of
from recollect.streams.consolidation.word_cosine import word_cosine
from recollect.streams.language.grammar.verbs import is_past
from recollect.streams.mental_models.page import (
    PageFact,
    ahead,
    is_weak,
    line_text,
    name_of,
    routines,
    time_key,
)
from recollect.text.lexicon import FUNCTION_WORDS, NOT_PAST, word_set
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

PatternKind = Literal["regular", "ahead", "cycle", "shared"]
#: The minimum number of facts about an entity, in how many days, for a pass to consider it.
MIN_RECENT_FACTS, RECENT_DAYS = 3, 30
#: The minimum and maximum number of items of a pattern, and its maximum number of words.
MIN_ITEMS, MAX_ITEMS, MAX_WORDS = 2, 8, 165
#: The minimum number of facts about two persons together, and of days on which they were said.
MIN_SHARED, MIN_SHARED_DAYS = 3, 2
#: The minimum number of days of a cycle, and its maximum p-value, corrected for all topics tested.
MIN_CYCLE_DAYS, MAX_CHANCE = 3, 0.01
#: The number of weeks without it after which a weekly cycle is over.
MISSED_WEEKS = 3
#: The cosine of their words from which an item repeats another.
_REPEATS = 0.7
_REFERS = re.compile(r"\b(?:it|its|them|they|their|that['’]s|those|these|this|so)\b", re.IGNORECASE)
#: "The daily costs": not how often something is done.
_ADJECTIVE = re.compile(
    r"\b(?:daily|weekly|monthly|yearly|nightly)\b(?!\s*(?:[.,;:)”\"(]|$|(?:at|on|in|with|for|and|"
    r"to|from|by|since|after|before)\b))",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:hopes?|wish(?:es)?|wants?|not|never|cannot|should|would|could|might|may)\b|n['’]t\b",
    re.IGNORECASE,
)
#: Words that say how often, or that something is done, and not what.
_VAGUE = word_set(
    """go goes going went do does doing did see sees saw keep keeps try tries make makes take takes
    every each once twice three often only usually always never time times day days week weeks month
    months year years morning evening night weekend daily weekly monthly yearly others few couple
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays"""
)
_WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")


class Pattern(NamedTuple):
    """An observation to write; `key` tells it from the entity's others of the same kind."""

    kind: PatternKind
    key: str
    rendered: Rendered


def patterns(
    facts: Sequence[PageFact], entity_id: str, today: str, people: Set[str]
) -> list[Pattern]:
    """Return what the facts about an entity show as of a day (YYYY-MM-DD), in any order of them.

    `people`: those of the other entities in the facts that are persons.
    """
    in_time = sorted(facts, key=time_key)
    name = name_of(in_time)
    if not name:
        return []
    found: list[Pattern] = []
    lines: dict[PatternKind, Iterator[PageFact]] = {
        "regular": (each for each in routines(in_time) if _is_habit(each)),
        "ahead": (each for each in ahead(in_time, today) if _is_to_come(each, today)),
    }
    for kind, candidates in lines.items():
        clear = [each for each in candidates if _stands_alone(each)]
        rendered = _listed(name, kind, _distinct(clear))
        if rendered is not None:
            found.append(Pattern(kind, kind, rendered))
    return [*found, *_cycles(name, in_time, today), *_shared(name, in_time, entity_id, people)]


def _is_habit(each: PageFact) -> bool:
    """Return whether a fact in the third person says how often something is done."""
    return not (each.speaker or _ADJECTIVE.search(each.text) or _NOT_DONE.search(each.text))


def _is_to_come(each: PageFact, today: str) -> bool:
    """Return whether a fact tells of no past, and its days have not begun."""
    words = tokenise(each.text).lowers
    told = any(is_past(word) and word not in NOT_PAST for word in words)
    return each.days is not None and each.days[0] > today and not told


def _stands_alone(each: PageFact) -> bool:
    """Return whether a fact names what it is about, and refers to nothing before it."""
    if _REFERS.search(each.text):
        return False
    named = {*tokenise(each.name).lowers, *tokenise(each.speaker).lowers}
    words = set(tokenise(each.text.split("(")[0]).lowers) - named
    return any(
        word not in STOP_WORDS and word not in FUNCTION_WORDS and word not in _VAGUE
        for word in words
    )


def _distinct(facts: Sequence[PageFact]) -> list[PageFact]:
    """Return the newest of these facts that do not repeat each other, in order of time."""
    chosen: list[PageFact] = []
    words = 0
    for each in reversed(facts):
        length = len(each.text.split())
        if len(chosen) == MAX_ITEMS or words + length > MAX_WORDS:
            break
        if all(word_cosine(each.text, other.text) < _REPEATS for other in chosen):
            chosen.append(each)
            words += length
    return chosen[::-1]


def _listed(name: str, label: str, facts: Sequence[PageFact]) -> Rendered | None:
    """Return the text that lists facts; None if they are too few."""
    if len(facts) < MIN_ITEMS:
        return None
    text = f"{name} – {label}: "
    items = []
    for place, each in enumerate(facts):
        text += "; " if place else ""
        words = line_text(each)
        items.append(Item(each.id, len(text), len(text) + len(words)))
        text += words
    return Rendered(text + ".", label, tuple(items))


def _cycles(name: str, facts: Sequence[PageFact], today: str) -> Iterator[Pattern]:
    """Yield the topics that come up on one day of the week more often than by chance."""
    own = frozenset(tokenise(name).lowers)
    by_topic: dict[str, dict[str, PageFact]] = {}
    for each in facts:
        if each.days is None or each.days[0] != each.days[1] or is_weak(each):
            continue
        if each.days[0] <= today:
            for topic in topics_of(each.text, own):
                by_topic.setdefault(topic, {}).setdefault(each.days[0], each)
    tested = {topic: days for topic, days in by_topic.items() if len(days) >= MIN_CYCLE_DAYS}
    for topic, days in sorted(tested.items()):
        weekdays = [date.fromisoformat(day).weekday() for day in days]
        best = max(set(weekdays), key=lambda each: (weekdays.count(each), -each))
        hits = weekdays.count(best)
        if hits < MIN_CYCLE_DAYS or _chance(hits, len(days)) * 7 * len(tested) > MAX_CHANCE:
            continue
        supporting = [days[day] for day in days if date.fromisoformat(day).weekday() == best]
        last = max(day for day in days if date.fromisoformat(day).weekday() == best)
        over = date.fromisoformat(today) - date.fromisoformat(last) > timedelta(weeks=MISSED_WEEKS)
        others = [day for day in days if date.fromisoformat(day).weekday() != best]
        label = f"{topic} on {_WEEKDAYS[best]}{', no longer' if over else ''}"
        label += f" ({hits} of {len(days)} days{_exceptions(others)})"
        rendered = _listed(name, label, supporting[-MAX_ITEMS:])
        if rendered is not None:
            yield Pattern("cycle", f"cycle:{topic}", rendered)


def _exceptions(days: Sequence[str]) -> str:
    if not days:
        return ""
    return "; not " + ", ".join(named_days(*[date.fromisoformat(day)] * 2) for day in days[:3])


def _chance(hits: int, days: int) -> float:
    """Return how likely so many of these days are one given weekday by chance (binomial tail)."""
    favourable = sum(comb(days, k) * 6.0 ** (days - k) for k in range(hits, days + 1))
    return favourable / 7.0**days


def _shared(
    name: str, facts: Sequence[PageFact], entity_id: str, people: Set[str]
) -> Iterator[Pattern]:
    """Yield what is said of the entity together with another, for the first of the two by id."""
    together: dict[str, list[tuple[PageFact, str]]] = {}
    for each in facts:
        if each.speaker or each.ended_at is not None or is_weak(each):
            continue
        for other, other_name in each.beside:
            if other in people and entity_id < other and _joined(each.text, name, other_name):
                together.setdefault(other, []).append((each, other_name))
    for other, found in sorted(together.items()):
        named = [each for each, _ in found]
        days = {day_of(each.said_at) for each in named}
        if len(named) >= MIN_SHARED and len(days) >= MIN_SHARED_DAYS:
            rendered = _listed(f"{name} and {found[-1][1]}", "together", _distinct(named))
            if rendered is not None:
                yield Pattern("shared", f"shared:{other}", rendered)


def _joined(text: str, one: str, other: str) -> bool:
    """Return whether a text says something of two together: "A and B", "A with B"."""
    first, second = (re.escape(name.split()[0]) for name in (one, other))
    return any(
        re.search(rf"\b{a}(?: and|\b[^.;:!?,]* with) {b}\b(?!['’]s)", text)
        for a, b in ((first, second), (second, first))
    )
