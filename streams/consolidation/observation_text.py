"""The text of an observation: a dated list of units, each of which cites the fact that it is from.

Nothing is computed, and nothing rephrased but the name that heads the observation: an item is a
unit of a fact without it. Counts are not in the text, or every fact would change it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from recollect.streams.consolidation.clear_texts import (
    DANGLING,
    FIRST_PERSON,
    FRAGMENT,
    INTENTION,
    SECOND_PERSON,
    SUBORDINATE,
    has_verb,
    is_clear,
    is_order,
)
from recollect.streams.consolidation.days import (
    day_of,
    is_about_another_day,
    named_days,
    names_days,
    quoted,
    with_named_days,
    with_remarks,
    with_short_days,
    with_years,
)
from recollect.streams.consolidation.nouns import activity, is_topical
from recollect.streams.consolidation.repeated_names import value_without_name, without_name
from recollect.streams.consolidation.told_values import is_named
from recollect.streams.consolidation.units import without_link
from recollect.streams.consolidation.word_classes import word_class
from recollect.streams.language.grammar.verbs import begins_in_past, is_participle
from recollect.streams.language.names.first_names import gender_of_name
from recollect.text.dates.resolved_dates import periods_in_numbers
from recollect.text.lexicon import (
    FUNCTION_WORDS,
    MONTHS,
    NUMBER_WORDS,
)
from recollect.text.stability import stability
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: The minimum number of items of an observation, the number of facts for one more, and the maximum.
MIN_ITEMS, FACTS_PER_ITEM, MAX_ITEMS = 6, 8, 12
#: With fewer messages than this, an observation has at least three items.
MANY_MESSAGES, MIN_ITEMS_OF_FEW = 5, 3
#: The maximum number of words of all items together: about 220 tokens.
MAX_WORDS = 165
#: A longer unit is not worth its tokens.
LONG_UNIT = 24
#: A unit repeats another if they share this fraction of the shorter one's content words.
SAME_WORDS = 0.7
#: The least score of a unit that is worth an item.
LEAST_SCORE = 0.1

_CHANGE = re.compile(
    r"\b(?:moved (?:to|into|in|out|from|back)|(?:started|began) (?:\w+ing\b(?<!feeling)|an? )|"
    r"(?:just|recently|finally) (?:started|began)|joined|quit|sold|bought|adopted|married|"
    r"engaged|divorced|retired|switched|(?<!barely )(?<!hardly )(?<!never )stopped|gave up|"
    r"no longer (?!\w+ing\b)|(?<!is )(?<!are )(?<!be )used to "
    r"(?!\w+ing\b)|became|signed up|graduated|broke up|passed away|died|was born|promoted|hired|"
    r"fired|(?:got|has|found) a new|lost (?:\w+['’]s|her|his|their) job|opened (?:an?|\w+['’]s))\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:not|never|no longer|no more|dislikes?|hates?|hated|stopped|quit|sold|died|gave up|"
    r"without|anymore)\b|n['’]t\b",
    re.IGNORECASE,
)
_IMPRESSION = re.compile(r"\b(?:looks?|sounds?) \w+", re.IGNORECASE)
#: Refers to something in the text before: "this approach", "what the assistant suggested".
_ANAPHORIC = re.compile(
    r"\b(?:(?:this|these|those) (?!(?:morning|afternoon|evening|night|day|weekend|week|month|year|"
    r"spring|summer|autumn|fall|winter|\w+day|one)s?\b)[a-z]|the assistant\b)",
    re.IGNORECASE,
)
#: Asks or tells the addressee something about the conversation itself.
_OF_THE_TALK = re.compile(
    r"\b(?:(?:would like|wants?|wanted) to (?:ask|know|see|start|get some (?:advice|information))|"
    r"as \w+ (?:mentioned|said|discussed|promised|agreed)|we (?:discussed|talked|agreed)|"
    r"(?:is|are) (?:\w+ )?(?:ready|about|keen|happy|glad) to|(?:is|are) (?:just )?waiting|"
    r"(?:has|have|took|take[ns]?) (?:noted|note)|thank you|thanks)\b",
    re.IGNORECASE,
)
#: A text of this many words with a smaller share of common words is hardly English.
MIN_WORDS, LEAST_COMMON = 3, 0.15
#: The opening of a sentence whose main clause is missing: no comma ends it.
_OPENING_ALONE = re.compile(
    r"(?:due to|because of|after|before|during|despite|following|combined with|as for|regarding|"
    r"besides|along with|instead of)\b[^,:]*$",
    re.IGNORECASE,
)
#: Adds an entry to those before it, in whatever order they were said.
_ADDING = re.compile(r"\A(?:also|then|even) (?=[a-z])")
_SHORT_FORMS = {"fam": "family", "biz": "business"}
_NUMBER = rf"\b(?:\d+|{'|'.join(NUMBER_WORDS)})"
_DATE = re.compile(r"\(\d{4}-\d\d-\d\d")


class Evidence(NamedTuple):
    """A fact in a cluster, and the unit of it that is about the cluster's topic.

    Attributes:
        speaker: who said the unit in these words, "" if it is in the third person.
        name: the name of the cluster's entity in the fact.
        word: the word of the unit that names the topic.
        said_at: when it was said (unix ms).
        days: the first and last day that the fact is about (YYYY-MM-DD), if it names any.
        ended_at: when it ceased to hold (unix ms); None if it still holds.
        is_event: it tells of a past event, of which only the result has ended.
    """

    fact_id: str
    text: str
    speaker: str
    name: str
    word: str
    said_at: int
    days: tuple[str, str] | None = None
    ended_at: int | None = None
    is_event: bool = False


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
    if SECOND_PERSON.search(text):
        return True
    return bool(_IMPRESSION.search(text)) and not FIRST_PERSON.search(text)


def is_change(text: str) -> bool:
    """Return whether a unit in the third person reports a change."""
    return bool(changes_in(text))


def changes_in(text: str) -> list[int]:
    """Return where a unit in the third person reports changes."""
    places = [found.start() for found in _CHANGE.finditer(text)]
    # Before a comma is another clause.
    return [at for at in places if not SUBORDINATE.search(text[:at].rpartition(",")[2])]


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
    if len(chosen) == 1 and not _is_repeated(chosen[0], evidence):
        return None
    if all(_may_be_name(unit.word) for unit in evidence):
        return None
    common = {word for unit in evidence for word in tokenise(unit.text).words if word.islower()}
    entries = [(unit, item_text(unit, common)) for unit in sorted(chosen, key=in_time)]
    return _listed(entries, label or _label([unit for unit, _ in entries]))


def render_values(evidence: Sequence[Evidence], label: str, *, in_turn: bool) -> Rendered | None:
    """Return the observation on the values of an attribute; the texts of `evidence` are values.

    `in_turn`: each value took the place of the one before. None if there are too few values.
    """
    entries: list[tuple[Evidence, str]] = []
    named = (value for value in evidence if is_named(value.text, label))
    for value in sorted(named, key=in_time):
        same = _folded(entries[-1][0].text) if entries else ""
        known = {same} if in_turn else {_folded(other.text) for other, _ in entries}
        if _folded(value.text) not in known:
            then = "then " if in_turn and entries else ""
            words = with_small_initial(value_without_name(value.text, value.name))
            entries.append((value, then + _dated(value, words, says_end=not in_turn)))
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


def in_time(unit: Evidence) -> tuple[str, int, str]:
    """Return the key that sorts evidence by its own day, or else by when it was said."""
    return (unit.days[0] if unit.days else day_of(unit.said_at), unit.said_at, unit.fact_id)


def _label(evidence: Sequence[Evidence]) -> str:
    """Return the words for the topic of these units.

    A compound that most units have, such as `mental health`; else the most frequent word.
    """
    words = Counter(
        unit.word.lower() if _may_be_name(unit.word) else unit.word for unit in evidence
    )
    word = max(
        words, key=lambda candidate: (candidate.endswith("ing"), words[candidate], candidate)
    )
    if words[word] * 2 < len(evidence):
        word = max(words, key=lambda candidate: (words[candidate], candidate))
    word = activity(word) or word if word.endswith("ed") else _SHORT_FORMS.get(word, word)
    before: Counter[str] = Counter()
    for unit in evidence:
        lowers = tokenise(unit.text).lowers
        places = [at for at, lower in enumerate(lowers) if lower == unit.word.lower()]
        before.update(
            {lowers[place - 1] for place in places if place and _modifies(lowers[place - 1])}
        )
    if before:
        modifier = max(before, key=lambda candidate: (before[candidate], candidate))
        if before[modifier] * 3 >= len(evidence) * 2:
            return f"{modifier} {word}"
    return word


def _may_be_name(word: str) -> bool:
    """Return whether a word is capitalised, and is not an acronym."""
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
    """Return the evidence that the text lists, in the order in which it is chosen."""
    evidence = [unit for unit in evidence if _is_english(unit)]
    words = {unit.fact_id: content_words(unit.text) for unit in evidence}
    counts = Counter(word for of_unit in words.values() for word in of_unit)
    most = min(MAX_ITEMS, MIN_ITEMS + len(evidence) // FACTS_PER_ITEM)
    chosen: list[Evidence] = []
    length = 0
    scores = [
        (_score(unit, words[unit.fact_id], counts, len(evidence)), unit)
        for unit in evidence
        if not (unit.ended_at is not None and _says_no_state(unit))
        and is_clear(unit.text, unit.name, unit.speaker)
    ]
    scores.sort(key=lambda each: (-each[0], in_time(each[1])))
    clear = [unit for _, unit in scores]
    forced = [*_opposites(clear), *_last_number(clear)]
    worthy = (unit for score, unit in scores if score >= LEAST_SCORE)
    for unit in (*forced, *worthy):
        size = len(unit.text.split()) + 3
        if unit in chosen or (chosen and length + size > MAX_WORDS) or len(chosen) == most:
            continue
        own = words[unit.fact_id]
        if any(repeats(own, words[other.fact_id]) for other in chosen):
            continue
        chosen.append(unit)
        length += size
    return chosen


def _says_no_state(unit: Evidence) -> bool:
    """Return whether a unit does not say what has ended: it is quoted, or tells what was done."""
    lowers = tokenise(unit.text).lowers
    done = any(
        before in ("has", "have") and is_participle(word) for before, word in pairwise(lowers[:6])
    )
    return bool(unit.speaker) or (not unit.is_event and (done or begins_in_past(lowers)))


def _is_repeated(unit: Evidence, evidence: Sequence[Evidence]) -> bool:
    """Return whether at least half of the evidence says the same as a unit."""
    own = content_words(unit.text)
    return 2 * sum(repeats(own, content_words(each.text)) for each in evidence) >= len(evidence)


def repeats(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two units say the same thing, by their words and their numbers."""
    if len(one & other) < SAME_WORDS * max(1, min(len(one), len(other))):
        return False
    return _numbers(one) == _numbers(other)


def _opposites(scored: Sequence[Evidence]) -> list[Evidence]:
    """Return the first unit for (or against) the topic, and the last unit of the opposite attitude.

    Empty if no unit opposes another.
    """
    plain = [unit for unit in scored if not unit.speaker and not _is_weak(unit.text)]
    against = [unit for unit in plain if is_negative(unit.text) or unit.ended_at is not None]
    in_favour = [unit for unit in plain if unit not in against]
    if not against or not in_favour:
        return []
    first_against, first_for = min(against, key=in_time), min(in_favour, key=in_time)
    if in_time(first_for) <= in_time(first_against):
        return [first_for, max(against, key=in_time)]
    return [first_against, max(in_favour, key=in_time)]


def _last_number(scored: Sequence[Evidence]) -> list[Evidence]:
    """Return the latest unit that states how many of the topic there are, if several do."""
    counted = []
    for each in scored:
        if re.search(rf"{_NUMBER} (?:\w+ )?{re.escape(each.word)}", each.text):
            counted.append(each)
    return [max(counted, key=in_time)] if len(counted) > 1 else []


def _is_english(unit: Evidence) -> bool:
    """Return whether the words of a quoted unit may be English."""
    lowers = tokenise(unit.text).lowers
    common = sum(lower in FUNCTION_WORDS or lower in STOP_WORDS for lower in lowers)
    return not unit.speaker or len(lowers) < MIN_WORDS or common >= LEAST_COMMON * len(lowers)


def _is_weak(text: str) -> bool:
    return bool(DANGLING.match(text) or FRAGMENT.match(text) or text.endswith("?"))


def _is_opening(text: str) -> bool:
    """Return whether a text is only the opening of a sentence, without a verb after it."""
    if not _OPENING_ALONE.match(text):
        return False
    return not has_verb(text)


def _score(unit: Evidence, own: frozenset[str], counts: Counter[str], facts: int) -> float:
    """Return how informative a unit is about the topic."""
    text = periods_in_numbers(unit.text)
    durable = {"static": 1.0, "semi_dynamic": 0.6}.get(stability(text, None).kind, 0.2)
    central = sum(counts[word] for word in own) / (facts * max(4, len(own)))
    length = len(text.split())
    return (
        0.3 * durable
        + 0.5 * min(1.0, 2 * central)
        + 0.25 * bool(_DATE.search(text) or unit.days)
        + 0.1 * any(letter.isdigit() for letter in _DATE.sub("", text))
        + 0.15 * is_change(text)
        - 0.15 * bool(unit.speaker)
        - (0.1 if FIRST_PERSON.search(text) else 0.25 if unit.speaker else 0.0)
        - 0.2 * bool(SECOND_PERSON.search(text))
        - 0.3 * (text.endswith("?") or bool(FRAGMENT.match(text)) or length < 4)
        - 0.6 * _is_opening(text)
        - 0.4 * bool(DANGLING.match(text))
        - 0.7 * bool(_OF_THE_TALK.search(text) or _QUOTES.search(text))
        - 0.4 * bool(INTENTION.match(text))
        - 0.3 * bool(unit.speaker and is_order(text))
        - 0.25 * bool(_ANAPHORIC.search(text))
        - 0.03 * max(0, length - LONG_UNIT)
    )


#: What somebody said, quoted in the middle of a text.
_QUOTES = re.compile(r"\b(?:said|says|asked|replied|goes|went),? [\"“]")


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


def item_text(unit: Evidence, common: Set[str] = frozenset()) -> str:
    """Return the text of a list item for the unit, with its day.

    `common`: words in lower case that are no names.
    """
    text = unit.text if unit.speaker else without_link(unit.text)
    core = with_short_days(text, unit.days, unit.name)
    words = with_named_days(core if unit.speaker else with_years(core)).rstrip(".!,;: ")
    if not unit.speaker:
        words = _ADDING.sub("", without_name(words, unit.name))
        words = with_small_initial(words, common)
    elif unit.speaker == unit.name:
        words = quoted(words)
    else:
        words = f"{unit.speaker}: {quoted(words)}"
    return _dated(unit, words, names_day=names_days(core))


def with_small_initial(words: str, common: Set[str] = frozenset()) -> str:
    """Return words as they stand within a sentence: only a name or an acronym has a capital.

    `common`: words in lower case that are no names.

    >>> with_small_initial("It made Ada laugh"), with_small_initial("Ada's horse won")
    ('it made Ada laugh', "Ada's horse won")
    """
    tokens = tokenise(words)
    if not tokens.words or not words.startswith(tokens.words[0]) or not words[:1].isupper():
        return words
    plain = tokens.lowers[0].split("'")[0]
    if plain in ("i", "will", *MONTHS) or tokens.words[0][1:2].isupper():
        return words
    is_common = plain in FUNCTION_WORDS or plain in STOP_WORDS or plain.endswith("ing")
    may_be_name = gender_of_name(plain) is not None
    # "New York" is a name.
    before_capital = tokens.words[1:] and tokens.gap(0) == " " and tokens.words[1][0].isupper()
    if not (is_common or may_be_name or before_capital):
        is_common = plain in common or plain.endswith("ly") or word_class(plain) != "noun"
    return words[0].lower() + words[1:] if is_common else words


def _dated(unit: Evidence, words: str, *, names_day: bool = False, says_end: bool = True) -> str:
    """Return an item with its day, unless its words name one, and whether it has ended."""
    told = []
    if not names_day:
        said = (day_of(unit.said_at),) * 2
        # What was done "recently" was not done on the day on which that was said.
        days = None if unit.days == said and is_about_another_day(words) else unit.days
        on = named_days(*map(date.fromisoformat, days or said))
        told.append(on if days else f"said {on}")
    if says_end and unit.ended_at is not None:
        if not unit.is_event:
            return f"(no longer so; {', '.join([words, *told])})"
        told.append("ended since")
    return with_remarks(words, told)


def _folded(value: str) -> str:
    return " ".join(tokenise(value).lowers)
