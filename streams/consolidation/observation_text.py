"""The text of an observation: a dated list of units, each of which cites the fact that it is from.

Nothing is computed and nothing rephrased: an item is a unit of a fact without the name that heads
the observation. Counts are not in the text, or every fact would change it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from recollect.streams.consolidation.days import day_of, named_days, with_named_days
from recollect.streams.consolidation.nouns import activity, is_topical
from recollect.streams.language.grammar.verbs import is_past
from recollect.text.lexicon import AUXILIARIES, FUNCTION_WORDS, NUMBER_WORDS
from recollect.text.stability import stability
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: An observation has this many items, one more for each eighth fact, and at most the maximum.
MIN_ITEMS, FACTS_PER_ITEM, MAX_ITEMS = 6, 8, 12
#: With fewer messages than this, an observation has at least three items.
MANY_MESSAGES, MIN_ITEMS_OF_FEW = 5, 3
#: Words of the items together; 220 tokens.
MAX_WORDS = 165
#: A longer unit is not worth its tokens.
LONG_UNIT = 24
#: A unit repeats another if it shares this part of its content words.
SAME_WORDS = 0.7
#: The least score of a unit that is worth an item.
LEAST_SCORE = 0.1

_CHANGE = re.compile(
    r"\b(?:moved (?:to|into|in|out|from|back)|(?:started|began) (?:\w+ing\b(?<!feeling)|an? )|"
    r"(?:just|recently|finally) (?:started|began)|joined|quit|sold|bought|adopted|married|"
    r"engaged|divorced|retired|switched|(?<!barely )(?<!hardly )(?<!never )stopped|gave up|"
    r"no longer|(?<!is )(?<!are )(?<!be )used to "
    r"(?!\w+ing\b)|became|signed up|graduated|broke up|passed away|died|was born|promoted|hired|"
    r"fired|(?:got|has|found) a new|lost (?:\w+['’]s|her|his|their) job|opened (?:an?|\w+['’]s))\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:not|never|no longer|no more|dislikes?|hates?|hated|stopped|quit|sold|died|gave up|"
    r"without|anymore)\b|n['’]t\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours)\b|\bI['’]", re.IGNORECASE)
_SECOND_PERSON = re.compile(r"\byou(?:r|rs)?\b", re.IGNORECASE)
_IMPRESSION = re.compile(r"\b(?:looks?|sounds?) \w+", re.IGNORECASE)
_DANGLING = re.compile(
    r"(?:and |but |so |then |also )?(?:it|its|that|this|they|them|their|those|these|he|she|his|her)"
    r"\b(?!\s+(?:is|was)\s+\w+ing\b)",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(r"(?:here(?:'s|’s| is| are)|check out|look at|what a|how)\b", re.IGNORECASE)
#: The opening of a sentence whose main clause is missing: no comma ends it.
_OPENING_ALONE = re.compile(
    r"(?:due to|because of|after|before|during|despite|following|combined with|as for|regarding|"
    r"besides|along with|instead of)\b[^,:]*$",
    re.IGNORECASE,
)
_SHORT_FORMS = {"fam": "family", "biz": "business"}
_NUMBER = rf"\b(?:\d+|{'|'.join(NUMBER_WORDS)})"
_DATE = re.compile(r"\(\d{4}-\d\d-\d\d")


class Evidence(NamedTuple):
    """A fact in a cluster, and the unit of it that is about the cluster's topic.

    Attributes:
        speaker: who said the unit in these words, "" if it is in the third person.
        name: the name of the cluster's entity in the fact.
        word: the word of the unit that says the topic.
        said_at: when it was said (unix ms).
        days: the first and last day that the fact is about (YYYY-MM-DD), if it names any.
        ended_at: when it ceased to be so (unix ms); None if it still is.
    """

    fact_id: str
    text: str
    speaker: str
    name: str
    word: str
    said_at: int
    days: tuple[str, str] | None = None
    ended_at: int | None = None


class Item(NamedTuple):
    """A part of an observation's text, from `start` to `end`, and the fact that it cites."""

    fact_id: str
    start: int
    end: int


class Rendered(NamedTuple):
    """An observation's text, its topic in words, and its items in order of the text."""

    text: str
    label: str
    items: tuple[Item, ...]


def is_said_to_another(text: str) -> bool:
    """Return whether a text addresses somebody, or comments on their looks."""
    if _SECOND_PERSON.search(text):
        return True
    return bool(_IMPRESSION.search(text)) and not _FIRST_PERSON.search(text)


def is_change(text: str) -> bool:
    """Return whether a unit in the third person reports a change."""
    return _CHANGE.search(text) is not None


def is_negative(text: str) -> bool:
    """Return whether a unit denies something, or says that it ended."""
    return _NEGATIVE.search(text) is not None


def render_topic(
    evidence: Sequence[Evidence], label: str = "", *, messages: int = 0
) -> Rendered | None:
    """Return the observation on a cluster; None if too few units are worth an item.

    `label`: the topic in words; if empty, it is found in the items. `messages`: how many state the
    facts, if that is more than one for each.
    """
    chosen = chosen_units(evidence)
    if len(chosen) < (1 if max(messages, len(evidence)) >= MANY_MESSAGES else MIN_ITEMS_OF_FEW):
        return None
    if all(_may_be_name(each.word) for each in evidence):
        return None
    entries = [(each, item_text(each)) for each in sorted(chosen, key=in_time)]
    return _listed(entries, label or _label([each for each, _ in entries]))


def render_values(evidence: Sequence[Evidence], label: str, *, in_turn: bool) -> Rendered | None:
    """Return the observation on the values of an attribute; the texts of `evidence` are values.

    `in_turn`: each value took the place of the one before. None if there are too few values.
    """
    entries: list[tuple[Evidence, str]] = []
    for each in sorted(evidence, key=in_time):
        same = _folded(entries[-1][0].text) if entries else ""
        known = {same} if in_turn else {_folded(other.text) for other, _ in entries}
        if _folded(each.text) not in known:
            then = "then " if in_turn and entries else ""
            entries.append((each, then + _dated(each, each.text, ended=not in_turn)))
    if len(entries) < (2 if in_turn else 3):
        return None
    return _listed(entries[-MAX_ITEMS:], label)


def name_of(evidence: Sequence[Evidence]) -> str:
    """Return the name that most of the evidence has for its entity."""
    names = Counter(each.name for each in evidence)
    return max(names, key=lambda name: (names[name], name))


def _listed(entries: Sequence[tuple[Evidence, str]], label: str) -> Rendered:
    text = f"{name_of([each for each, _ in entries])} – {label}: "
    items = []
    for place, (each, words) in enumerate(entries):
        text += "; " if place else ""
        items.append(Item(each.fact_id, len(text), len(text) + len(words)))
        text += words
    return Rendered(text + ".", label, tuple(items))


def in_time(each: Evidence) -> tuple[str, int, str]:
    """Return the key that sorts evidence by its own day, or else by when it was said."""
    return (each.days[0] if each.days else day_of(each.said_at), each.said_at, each.fact_id)


def _label(evidence: Sequence[Evidence]) -> str:
    """Return the words for the topic of these units.

    A compound that most units have, such as `mental health`; else the most frequent word.
    """
    words = Counter(
        each.word.lower() if _may_be_name(each.word) else each.word for each in evidence
    )
    word = max(words, key=lambda each: (each.endswith("ing"), words[each], each))
    if words[word] * 2 < len(evidence):
        word = max(words, key=lambda each: (words[each], each))
    word = activity(word) or word if word.endswith("ed") else _SHORT_FORMS.get(word, word)
    before: Counter[str] = Counter()
    for each in evidence:
        lowers = tokenise(each.text).lowers
        places = [at for at, lower in enumerate(lowers) if lower == each.word.lower()]
        before.update(
            {lowers[place - 1] for place in places if place and _modifies(lowers[place - 1])}
        )
    if before:
        modifier = max(before, key=lambda each: (before[each], each))
        if before[modifier] * 3 >= len(evidence) * 2:
            return f"{modifier} {word}"
    return word


def _may_be_name(word: str) -> bool:
    """Return whether a word is capitalised, and is no acronym."""
    return word[:1].isupper() and not word.isupper()


def _modifies(lower: str) -> bool:
    return (
        lower.isalpha()
        and lower not in FUNCTION_WORDS
        and lower not in STOP_WORDS
        and is_topical(lower)
    )


# The choice of units


def chosen_units(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the units that become items, in order of choice."""
    words = {each.fact_id: content_words(each.text) for each in evidence}
    said = Counter(word for of_unit in words.values() for word in of_unit)
    scored = sorted(
        evidence,
        key=lambda each: (-_score(each, words[each.fact_id], said, len(evidence)), in_time(each)),
    )
    most = min(MAX_ITEMS, MIN_ITEMS + len(evidence) // FACTS_PER_ITEM)
    chosen: list[Evidence] = []
    length = 0
    forced = [*_opposites(scored), *_last_number(scored)]
    worthy = (
        each
        for each in scored
        if _score(each, words[each.fact_id], said, len(evidence)) >= LEAST_SCORE
    )
    for each in (*forced, *worthy):
        size = len(each.text.split()) + 3
        if each in chosen or (chosen and length + size > MAX_WORDS) or len(chosen) == most:
            continue
        own = words[each.fact_id]
        if any(repeats(own, words[other.fact_id]) for other in chosen):
            continue
        chosen.append(each)
        length += size
    return chosen


def repeats(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two units say the same, by their words; different numbers make them differ."""
    if _numbers(one) != _numbers(other):
        return False
    return len(one & other) >= SAME_WORDS * max(1, min(len(one), len(other)))


def _opposites(scored: Sequence[Evidence]) -> list[Evidence]:
    """Return the first unit with the attitude that the last one opposes, and that last one.

    Empty if no unit opposes another.
    """
    plain = [each for each in scored if not each.speaker and not _is_weak(each.text)]
    against = [each for each in plain if is_negative(each.text) or each.ended_at is not None]
    in_favour = [each for each in plain if each not in against]
    if not against or not in_favour:
        return []
    first_against, first_for = min(against, key=in_time), min(in_favour, key=in_time)
    if in_time(first_for) <= in_time(first_against):
        return [first_for, max(against, key=in_time)]
    return [first_against, max(in_favour, key=in_time)]


def _last_number(scored: Sequence[Evidence]) -> list[Evidence]:
    """Return the last unit that gives a number of what the topic names, if several do."""
    counted = []
    for each in scored:
        if re.search(rf"{_NUMBER} (?:\w+ )?{re.escape(each.word)}", each.text):
            counted.append(each)
    return [max(counted, key=in_time)] if len(counted) > 1 else []


def _is_weak(text: str) -> bool:
    return bool(_DANGLING.match(text) or _FRAGMENT.match(text) or text.endswith("?"))


def _is_opening(text: str) -> bool:
    """Return whether a text is only the opening of a sentence, without a verb after it."""
    if not _OPENING_ALONE.match(text):
        return False
    lowers = tokenise(text).lowers[1:]
    return not any(lower in AUXILIARIES or is_past(lower) for lower in lowers)


def _score(each: Evidence, own: frozenset[str], said: Counter[str], facts: int) -> float:
    """Return how informative a unit is about the topic."""
    text = each.text
    durable = {"static": 1.0, "semi_dynamic": 0.6}.get(stability(text, None).kind, 0.2)
    central = sum(said[word] for word in own) / (facts * max(4, len(own)))
    length = len(text.split())
    return (
        0.3 * durable
        + 0.5 * min(1.0, 2 * central)
        + 0.25 * bool(_DATE.search(text) or each.days)
        + 0.1 * any(letter.isdigit() for letter in _DATE.sub("", text))
        + 0.15 * is_change(text)
        - 0.15 * bool(each.speaker)
        - (0.1 if _FIRST_PERSON.search(text) else 0.25 if each.speaker else 0.0)
        - 0.2 * bool(_SECOND_PERSON.search(text))
        - 0.3 * (text.endswith("?") or bool(_FRAGMENT.match(text)) or length < 4)
        - 0.6 * _is_opening(text)
        - 0.25 * bool(_DANGLING.match(text))
        - 0.02 * max(0, length - LONG_UNIT)
    )


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text, in lower case, numbers included."""
    return frozenset(
        lower
        for lower in tokenise(text).lowers
        if lower in NUMBER_WORDS
        or lower.isdecimal()
        or (lower not in STOP_WORDS and lower not in FUNCTION_WORDS and not lower[0].isdigit())
    )


def _numbers(words: frozenset[str]) -> set[str]:
    return {word for word in words if word in NUMBER_WORDS or word.isdecimal()}


# The text of an item


def item_text(each: Evidence) -> str:
    """Return the unit as an item says it, with its day."""
    words = with_named_days(each.text).rstrip(".!,;: ")
    if each.speaker:
        quoted = f"“{words}”"
        return _dated(each, quoted if each.speaker == each.name else f"{each.speaker}: {quoted}")
    return _dated(each, _without_name(words, each.name))


def _without_name(words: str, name: str) -> str:
    """Return a unit without the name at its beginning that heads the observation."""
    for known in (name, name.split()[0]):
        rest = words.removeprefix(known + " ")
        if rest != words and rest[:1].islower() and not rest.startswith("and "):
            return rest
    return words


def _dated(each: Evidence, words: str, *, ended: bool = True) -> str:
    """Return an item with the day of it, unless its words name one."""
    when = ""
    if not _DATE.search(each.text):
        when = (
            named_days(date.fromisoformat(each.days[0]), date.fromisoformat(each.days[1]))
            if each.days
            else f"said {named_days(*[date.fromisoformat(day_of(each.said_at))] * 2)}"
        )
    if ended and each.ended_at is not None:
        return f"(no longer so; {words}{', ' + when if when else ''})"
    return f"{words} ({when})" if when else words


def _folded(value: str) -> str:
    return " ".join(tokenise(value).lowers)
