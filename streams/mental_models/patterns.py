"""Patterns in the facts about an entity: routines, upcoming events, cycles, joint activities.

Only the direction of series and the counts of cycles and correlations are computed, and nothing is
rephrased: an item is a fact without the name that heads the text, and cites it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import date, timedelta
from itertools import combinations
from math import comb
from typing import Literal, NamedTuple

from recollect.streams.consolidation.days import day_of, named_days
from recollect.streams.consolidation.observation_text import Item, Rendered
from recollect.streams.consolidation.repeated_names import name_expression
from recollect.streams.consolidation.unit_topics import topics_of
from recollect.streams.consolidation.word_cosine import word_cosine
from recollect.streams.language.grammar.verbs import is_past
from recollect.streams.mental_models.page import (
    PageFact,
    ahead,
    as_told,
    event_part,
    habit_part,
    line_text,
    name_of,
    plan_part,
    routines,
    time_key,
)
from recollect.streams.mental_models.series import series_in
from recollect.text.lexicon import FUNCTION_WORDS, NOT_PAST, word_set
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

PatternKind = Literal["regular", "ahead", "cycle", "correlation", "series", "shared"]
#: The passes run if an entity has this many facts in this many recent days ...
MIN_RECENT_FACTS, RECENT_DAYS = 3, 30
#: ... and then consider each with as many facts in this many days.
CONSIDERED_DAYS = 365
#: The minimum and maximum number of items of a pattern, and its maximum number of words.
MIN_ITEMS, MAX_ITEMS, MAX_WORDS = 2, 8, 165
#: The maximum number of days of an upcoming event.
MAX_AHEAD_DAYS = 32
#: The minimum number of facts about two persons together, and of days on which they were said.
MIN_SHARED, MIN_SHARED_DAYS = 3, 2
#: The minimum number of days of a cycle or a correlation, and the maximum p-value, corrected for
#: all topics, or pairs of topics, tested.
MIN_CYCLE_DAYS, MAX_CHANCE = 3, 0.01
#: The number of days of a correlation that its text lists.
CORRELATED_DAYS = 4
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
#: Words for the frequency of an action, or for acting as such, but not for the topic.
_VAGUE = word_set(
    """go goes going went do does doing did see sees saw keep keeps try tries make makes take takes
    every each once twice three often only usually always never time times day days week weeks month
    months year years morning evening night weekend daily weekly monthly yearly others few couple
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays"""
)
_WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")


class Pattern(NamedTuple):
    """An observation to write; `key` is unique among the entity's observations of its kind."""

    kind: PatternKind
    key: str
    rendered: Rendered


def patterns(
    facts: Sequence[PageFact], entity_id: str, today: str, people: Set[str]
) -> list[Pattern]:
    """Return the patterns in the facts about an entity as of a day (YYYY-MM-DD), in no fixed order.

    `people`: the other entities in the facts that are persons.
    """
    in_time = sorted(map(as_told, facts), key=time_key)
    name = name_of(in_time)
    if not name:
        return []
    found_patterns: list[Pattern] = []
    lines: dict[PatternKind, Iterator[PageFact]] = {
        "regular": (fact for fact in routines(in_time) if _is_habit(fact)),
        "ahead": (fact for fact in ahead(in_time, today) if _is_to_come(fact, today)),
    }
    parts = {"regular": habit_part, "ahead": plan_part}
    for kind, candidates in lines.items():
        clear = [fact for fact in candidates if _stands_alone(fact)]
        rendered = _listed(name, kind, _distinct(clear, parts[kind]), parts[kind])
        if rendered is not None:
            found_patterns.append(Pattern(kind, kind, rendered))
    found_patterns += _series(name, in_time)
    dated = [(fact.days[0], fact) for fact in in_time if fact.days and _has_happened(fact, today)]
    by_topic = _topic_days(name, dated)
    found_patterns += _cycles(name, by_topic, today)
    found_patterns += _correlations(name, by_topic, sorted({day for day, _ in dated}))
    return [*found_patterns, *_shared(name, in_time, entity_id, people)]


def _series(name: str, facts: Sequence[PageFact]) -> Iterator[Pattern]:
    """Yield the quantities that rise or fall, with their values in order of time."""
    for series in series_in(facts):
        label = f"{series.topic}, {'rising' if series.rises else 'falling'}"
        text = f"{name} – {label}: "
        items: list[Item] = []
        for value in series.values:
            text += "; " if items else ""
            day = date.fromisoformat(value.day)
            words = f"{value.words} ({named_days(day, day)})"
            items.append(Item(value.fact.id, len(text), len(text) + len(words)))
            text += words
        key = f"series:{series.topic}:{series.unit}"
        yield Pattern("series", key, Rendered(f"{text}.", label, tuple(items)))


def _is_habit(fact: PageFact) -> bool:
    """Return whether a fact in the third person says how often something is done."""
    return not (fact.speaker or _ADJECTIVE.search(fact.text) or _NOT_DONE.search(fact.text))


def _is_to_come(fact: PageFact, today: str) -> bool:
    """Return whether a fact's days are in the future, and it reports nothing past.

    A period as long as "next year" does not count: it gives an intention, not an appointment.
    """
    if fact.days is None or fact.days[0] <= today:
        return False
    first, last = map(date.fromisoformat, fact.days)
    words = tokenise(fact.text).lowers
    reports_past = any(is_past(word) and word not in NOT_PAST for word in words)
    return not reports_past and (last - first).days < MAX_AHEAD_DAYS


def _stands_alone(fact: PageFact) -> bool:
    """Return whether a fact names what it is about, and refers to nothing before it."""
    if _REFERS.search(fact.text):
        return False
    named = {*tokenise(fact.name).lowers, *tokenise(fact.speaker).lowers}
    words = set(tokenise(fact.text.split("(")[0]).lowers) - named
    return any(
        word not in STOP_WORDS and word not in FUNCTION_WORDS and word not in _VAGUE
        for word in words
    )


def _distinct(facts: Sequence[PageFact], part: Callable[[PageFact], str]) -> list[PageFact]:
    """Return the newest of these facts whose parts do not repeat each other, in order of time."""
    chosen: list[PageFact] = []
    words = 0
    for fact in reversed(facts):
        text = part(fact)
        length = len(text.split())
        if len(chosen) == MAX_ITEMS or words + length > MAX_WORDS:
            break
        if all(word_cosine(text, part(other)) < _REPEATS for other in chosen):
            chosen.append(fact)
            words += length
    return chosen[::-1]


def _listed(
    name: str,
    label: str,
    facts: Sequence[PageFact],
    part: Callable[[PageFact], str],
    least: int = MIN_ITEMS,
) -> Rendered | None:
    """Return the text that lists parts of facts; None if they are fewer than `least`."""
    if len(facts) < least:
        return None
    text = f"{name} – {label}: "
    items = []
    for place, fact in enumerate(facts):
        text += "; " if place else ""
        words = line_text(fact, part(fact))
        items.append(Item(fact.id, len(text), len(text) + len(words)))
        text += words
    return Rendered(text + ".", label, tuple(items))


#: The facts of each topic by the day that they are about, both in order of time.
_TopicDays = Mapping[str, Mapping[str, Sequence[PageFact]]]


def _has_happened(fact: PageFact, today: str) -> bool:
    """Return whether a fact tells an event of a single day, until today."""
    if fact.days is None or fact.days[0] != fact.days[1] or fact.days[0] > today:
        return False
    return event_part(fact) != ""


def _topic_days(name: str, dated: Sequence[tuple[str, PageFact]]) -> _TopicDays:
    """Return the topics of facts with their days, if they come up on enough of them."""
    own = frozenset(tokenise(name).lowers)
    by_topic: dict[str, dict[str, list[PageFact]]] = {}
    for day, each in dated:
        for topic in topics_of(each.text, own):
            by_topic.setdefault(topic, {}).setdefault(day, []).append(each)
    return {topic: days for topic, days in sorted(by_topic.items()) if len(days) >= MIN_CYCLE_DAYS}


def _cycles(name: str, by_topic: _TopicDays, today: str) -> Iterator[Pattern]:
    """Yield the topics that come up on one day of the week more often than by chance."""
    for topic, days in by_topic.items():
        weekdays = [date.fromisoformat(day).weekday() for day in days]
        best = max(set(weekdays), key=lambda weekday_: (weekdays.count(weekday_), -weekday_))
        hits = weekdays.count(best)
        if hits < MIN_CYCLE_DAYS or _chance(hits, len(days)) * 7 * len(by_topic) > MAX_CHANCE:
            continue
        supporting = [days[day][0] for day in days if date.fromisoformat(day).weekday() == best]
        last = max(day for day in days if date.fromisoformat(day).weekday() == best)
        over = date.fromisoformat(today) - date.fromisoformat(last) > timedelta(weeks=MISSED_WEEKS)
        others = [day for day in days if date.fromisoformat(day).weekday() != best]
        label = f"{topic} on {_WEEKDAYS[best]}{', no longer' if over else ''}"
        label += f" ({hits} of {len(days)} days{_exceptions(others)})"
        rendered = _listed(name, label, supporting[-MAX_ITEMS:], event_part)
        if rendered is not None:
            yield Pattern("cycle", f"cycle:{topic}", rendered)


def _exceptions(days: Sequence[str]) -> str:
    if not days:
        return ""
    return "; not " + ", ".join(named_days(*[date.fromisoformat(day)] * 2) for day in days[:3])


def _chance(hits: int, days: int) -> float:
    """Return the probability that this many of the days are one given weekday (binomial tail)."""
    favourable = sum(comb(days, k) * 6.0 ** (days - k) for k in range(hits, days + 1))
    return favourable / 7.0**days


def _correlations(name: str, by_topic: _TopicDays, days: Sequence[str]) -> Iterator[Pattern]:
    """Yield the pairs of topics that come up on the same days more often than by chance.

    `days`: those with any fact. Of them, only those from the first to the last of either topic
    count, so that two topics are not paired merely because they are of one period.
    """
    pairs = comb(len(by_topic), 2)
    by_day: dict[str, list[str]] = {}
    for topic, of_topic in by_topic.items():
        # A topic can be significant only if another one with exactly the same days would be.
        if pairs <= MAX_CHANCE * comb(len(days), len(of_topic)):
            for day in of_topic:
                by_day.setdefault(day, []).append(topic)
    shared = Counter(pair for topics in by_day.values() for pair in combinations(topics, 2))
    for (one, other), count in sorted(shared.items()):
        if count < MIN_CYCLE_DAYS:
            continue
        both, joint = _shared_days(by_topic[one], by_topic[other])
        alone = {
            one: by_topic[one].keys() - by_topic[other].keys(),
            other: by_topic[other].keys() - by_topic[one].keys(),
        }
        used = [*both, *alone[one], *alone[other]]
        if len(both) < MIN_CYCLE_DAYS:
            continue
        span = bisect_right(days, max(used)) - bisect_left(days, min(used))
        span -= sum(min(used) <= day <= max(used) for day in joint)
        of_one, of_other = (len(both) + len(of_topic) for of_topic in alone.values())
        if _chance_together(len(both), of_one, of_other, span) * pairs > MAX_CHANCE:
            continue
        label = f"{one} and {other} on the same day ({len(both)} days"
        label += "".join(f"; only {topic} on {len(of)}" for topic, of in alone.items() if of) + ")"
        shown = [fact for day in sorted(both)[-CORRELATED_DAYS:] for fact in both[day]]
        rendered = _listed(name, label, shown, event_part)
        if rendered is not None:
            yield Pattern("correlation", f"correlation:{one}:{other}", rendered)


def _shared_days(
    one: Mapping[str, Sequence[PageFact]], other: Mapping[str, Sequence[PageFact]]
) -> tuple[dict[str, tuple[PageFact, PageFact]], list[str]]:
    """Return the days of both topics, each with a fact of either topic; and the days to ignore.

    The two facts must be from two messages, and each about one topic only, since topics that one
    message names together are not correlated. A common day without two such facts is ignored.
    """
    both, joint = {}, []
    for day in sorted(one.keys() & other.keys()):
        firsts = [fact for fact in one[day] if fact not in other[day]]
        seconds = [fact for fact in other[day] if fact not in one[day]]
        pairs = [(a, b) for a in firsts for b in seconds if a.said_at != b.said_at]
        if pairs:
            both[day] = pairs[0]
        else:
            joint.append(day)
    return both, joint


def _chance_together(both: int, one: int, other: int, days: int) -> float:
    """Return the probability that two topics share this many of the days.

    Fisher's exact test, one-sided: the tail of the hypergeometric distribution.
    """
    favourable = sum(
        comb(one, k) * comb(days - one, other - k) for k in range(both, min(one, other) + 1)
    )
    return favourable / comb(days, other)


def _shared(
    name: str, facts: Sequence[PageFact], entity_id: str, people: Set[str]
) -> Iterator[Pattern]:
    """Yield the joint activities of the entity and another, for the first of the two by id."""
    together: dict[str, list[tuple[PageFact, str]]] = {}
    for fact in facts:
        if fact.speaker or fact.ended_at is not None or not event_part(fact):
            continue
        for other, other_name in fact.beside:
            if other in people and entity_id < other and _joined(fact.text, name, other_name):
                together.setdefault(other, []).append((fact, other_name))
    for other, joint in sorted(together.items()):
        named = [fact for fact, _ in joint]
        days = {day_of(fact.said_at) for fact in named}
        if len(named) >= MIN_SHARED and len(days) >= MIN_SHARED_DAYS:
            both = f"{name} and {joint[-1][1]}"
            distinct = _distinct(named, event_part)
            rendered = _listed(both, "together", distinct, event_part, MIN_SHARED)
            if rendered is not None:
                yield Pattern("shared", f"shared:{other}", rendered)


def _joined(text: str, one: str, other: str) -> bool:
    """Return whether a text is about two people jointly: "A and B", "A with B"."""
    first, second = map(name_expression, (one, other))
    return any(
        re.search(rf"{a}(?: and|\b[^.;:!?,]* with) {b}(?!['’]s)", text)
        for a, b in ((first, second), (second, first))
    )
