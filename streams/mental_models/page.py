"""The page about an entity: blocks in sections, made from the facts about it.

Nothing is computed, and nothing rephrased but the entity's name: a line is a fact with pronouns
instead, or the values of an attribute. A block is determined by the facts that it cites, and its id
by its section and what it is about. So a page that is made again differs only in the blocks whose
facts changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from recollect.schemas.attributes import (
    MULTI_VALUED,
    OPPOSITES,
    SINGLE_VALUED,
    is_single_valued,
)
from recollect.streams.consolidation.clear_texts import (
    FIRST_PERSON,
    INTENTION,
    SECOND_PERSON,
    has_first_or_second_person,
    has_verb,
    is_clear,
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
from recollect.streams.consolidation.nouns import activity, is_noun, is_topical, singular
from recollect.streams.consolidation.observation_text import (
    content_words,
    is_change,
    is_negative,
    repeats,
)
from recollect.streams.consolidation.repeated_names import (
    name_expression,
    value_without_name,
    without_name,
)
from recollect.streams.consolidation.told_values import is_named, is_told_of, told_value
from recollect.streams.consolidation.units import units_of, without_link
from recollect.streams.consolidation.word_classes import word_class
from recollect.streams.language.grammar.verbs import begins_in_past, is_past
from recollect.streams.mental_models.coverage import in_order_of_gain, word_similarities
from recollect.streams.mental_models.event_words import (
    SPEAKER,
    event_words,
    habit_words,
    plan_words,
)
from recollect.streams.mental_models.value_statements import is_stated
from recollect.text.lexicon import FILLERS, FUNCTION_WORDS, NOT_PAST, PREPOSITIONS, word_set
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: The sections, in order: their ids and titles.
SECTIONS = {
    "held": "Attributes",
    "changed": "Changes",
    "regular": "Routines",
    "ahead": "Upcoming",
    "time": "Events",
    "beside": "Also named",
}
#: A page is made from at most this many facts, the newest ones.
MAX_FACTS = 1_200
#: The maximum numbers of lines of sections.
MAX_CHANGES, MAX_ROUTINES, MAX_AHEAD, MAX_IN_TIME, MAX_BESIDE = 8, 8, 12, 36, 12
#: A longer word of capitals alone is no name, but emphasised.
_MAX_ACRONYM = 5
#: The maximum number of values of an attribute, and of earlier values of a single-valued one.
MAX_VALUES, MAX_EARLIER = 8, 4
#: A longer text is not worth its tokens.
LONG_TEXT = 28
#: A text with fewer content words says little.
FEW_WORDS = 4
#: A text with more topics is worth no more.
MANY_TOPICS = 4
#: How much the value of a fact counts on a timeline, compared with what it covers.
VALUE_WEIGHT = 3.0
#: A longer silence separates two sittings. What is said first after it is mostly news.
SITTING_MS = 3 * 3_600_000

_CHANGE = re.compile(
    r"\b(?:moved|started|began|joined|quit|"
    # Not "left the key under the mat".
    r"left (?:the|a|an|\w+['’]s)(?! (?:\w+ ){1,3}(?:on|under|behind|inside|with|by) )|"
    r"adopted|married|engaged|"
    r"divorced|retired|switched|stopped|gave up|no longer|used to|became|signed up|graduated|"
    r"broke up|opened (?:an?|\w+['’]s)|closed down|died|passed away|was born|promoted|hired|fired|"
    r"new job|anymore)\b",
    re.IGNORECASE,
)
#: Each match of the expression has one of these words, which are quicker to look for.
_OF_CHANGE = word_set(
    "moved started began joined quit left adopted married engaged divorced retired "
    "switched stopped gave longer used became signed graduated broke opened closed died passed "
    "born promoted hired fired job anymore"
)
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_ROUTINE = re.compile(
    rf"\b(?:every|each) (?:other |single |second )?(?:day|morning|evening|night|weekend|week|month|"
    rf"year|summer|winter|spring|autumn|fall|{_WEEKDAY})s?\b|"
    rf"\b(?P<often>daily|weekly|monthly|yearly|nightly)\b(?: (?P<what>[^\W\d_]+))?|"
    rf"\b(?:once|twice|(?:\w+|\d+) times) (?:a|an|per|every) (?:day|week|month|year)\b|"
    rf"\bon {_WEEKDAY}s\b",
    re.IGNORECASE,
)
_OF_ROUTINES = word_set(
    "every each daily weekly monthly yearly nightly once twice times mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays"
)
#: What happens again and again, besides activities.
_RECURRING = word_set(
    "walk call visit meeting lesson class session practice rehearsal dinner lunch"
)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours)\b|\bI['’]")
_DANGLING = re.compile(
    r"(?:and |but |so |then |also |yeah,? |yes,? )?"
    r"(?:it|its|it['’]s|that|that['’]s|this|they|them|their|those|these|he|she|his|her)\b",
    re.IGNORECASE,
)
#: Words whose meaning is mostly in the text before.
_REFERRING = word_set("it that this those these them they there stuff thing things")
_RESTRICTING = re.compile(
    r"\b(?:not|no|never|nothing|nobody|but|however|though|although|unless|until|if|or|maybe|perhaps|"
    r"kidding|joking|cancel\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
#: Adverbs before a verb, or after a sentence, that relate it to others.
_ADVERBS = re.compile(
    r"\A(?:(?:just|also|even|actually|again) )+(?=[a-z])|,? (?:too|btw|lol|haha|though|as well)\Z"
)
_FRAGMENT = re.compile(r"(?:here(?:'s|’s| is| are)|check out|look at|what a|how)\b", re.IGNORECASE)


class PageFact(NamedTuple):
    """A fact about the page's entity.

    Attributes:
        name: the entity's name in the fact; speaker: who said it in these words, or "".
        said_at: when it was said (unix ms).
        days: the first and last day that it is about (YYYY-MM-DD), if it names any.
        attribute, value: of its slot, if the entity is the slot's subject; else "".
        ended_at: when it ceased to hold (unix ms); None if it still holds.
        beside: the other entities in it: (id, name).
    """

    id: str
    text: str
    name: str
    speaker: str
    said_at: int
    days: tuple[str, str] | None = None
    attribute: str = ""
    value: str = ""
    ended_at: int | None = None
    beside: tuple[tuple[str, str], ...] = ()


class Block(NamedTuple):
    """A line of a page: its section, its id in the page, its text and the facts that it cites.

    `rank`: its position in the order of usefulness per token, from 0.
    """

    section: str
    id: str
    text: str
    facts: tuple[str, ...]
    rank: int


class Page(NamedTuple):
    """The name that heads a page, and its blocks in order."""

    name: str
    blocks: tuple[Block, ...]


def compose(facts: Sequence[PageFact], today: str) -> Page:
    """Return the page made from the facts about an entity; without facts it has no blocks.

    The order of the facts does not matter. `today` (YYYY-MM-DD): later days are ahead.
    """
    newest = sorted(facts, key=lambda each: (-each.said_at, each.id))[:MAX_FACTS]
    in_time = sorted(map(as_told, newest), key=time_key)
    untold = _untold_ends(in_time)
    found = [
        *_held(
            each._replace(ended_at=None) if each.id in untold else each
            for each in in_time
            if each.id not in untold or is_single_valued(each.attribute)
        )
    ]
    # An event stays true, whatever became of its result.
    in_time = [
        each if _has_result(each) and each.id not in untold else each._replace(ended_at=None)
        for each in in_time
        if each.ended_at is None or (_is_past(each) and (each.attribute or each.id in untold))
    ]
    # A fact about an event may appear among the events too, besides the value that it states.
    cited = {fact for block in found for fact in block.facts}
    cited -= {each.id for each in in_time if _is_event(each)}
    for lines in (
        _lines("ahead", ahead(in_time, today), plan_part, MAX_AHEAD),
        _lines("regular", routines(in_time), habit_part, MAX_ROUTINES),
    ):
        new = [block for block in lines if block.facts[0] not in cited]
        found += new
        cited |= {block.facts[0] for block in new}
    found += _events(in_time, cited, [block.text for block in found])
    # Names alone are no page.
    found += _beside(in_time, {fact for block in found for fact in block.facts}) if found else []
    order = {section: place for place, section in enumerate(SECTIONS)}
    return Page(name_of(in_time), tuple(sorted(found, key=lambda block: order[block.section])))


def as_told(each: PageFact) -> PageFact:
    """Return a fact without its speaker, if somebody else states it of the entity by its name.

    Bob's words "Ada sold the boat" tell the same as the fact "Ada sold the boat".
    """
    if not each.speaker or not each.name or each.speaker == each.name:
        return each
    core = each.text.removeprefix(f"{each.speaker}: ")
    if has_first_or_second_person(core) or re.match(name_expression(each.name), core) is None:
        return each
    return each._replace(text=core, speaker="")


def _is_past(each: PageFact) -> bool:
    return begins_in_past(_read(each.text, each.speaker).lowers)


def _has_result(each: PageFact) -> bool:
    """Return whether a fact tells of an event that gave a value, such as joining a choir."""
    return each.attribute != "" and _is_change(each) and _is_worth_holding(each)


def render(blocks: Iterable[Block]) -> Iterator[tuple[str, Block | None]]:
    """Yield the parts of a page's text, each with its block; titles and bullets have none."""
    section = ""
    for block in blocks:
        if block.section != section:
            section = block.section
            yield f"\n## {SECTIONS[section]}", None
        yield "\n- ", None
        yield block.text, block


def name_of(facts: Sequence[PageFact]) -> str:
    """Return the entity's most frequent name in these facts; "" if it has none."""
    names = Counter(each.name for each in facts if each.name)
    return max(names, key=lambda name: (names[name], name)) if names else ""


def time_key(each: PageFact) -> tuple[str, int, str]:
    """Return the key by which facts are put in order of time."""
    return (each.days[0] if each.days else day_of(each.said_at), each.said_at, each.id)


# Attributes


def _held(facts: Iterable[PageFact]) -> Iterator[Block]:
    """Yield a block for each attribute: the value with those before it, or the values."""
    by_attribute: dict[str, list[PageFact]] = {}
    for each in sorted(facts, key=lambda fact: (fact.said_at, fact.id)):
        if each.attribute and _is_worth_holding(each):
            by_attribute.setdefault(each.attribute, []).append(each)
    known = [each for each in (*SINGLE_VALUED, *MULTI_VALUED) if each in by_attribute]
    others = sorted(by_attribute.keys() - set(known))
    for rank, attribute in enumerate((*known, *others)):
        if is_single_valued(attribute):
            used, text = _single(by_attribute[attribute])
        else:
            used, text = _several(by_attribute[attribute])
        if used:
            ids = tuple(each.id for each in used)
            yield Block("held", f"held:{attribute}", f"{_label_of(attribute)}: {text}", ids, rank)


def _is_worth_holding(each: PageFact) -> bool:
    """Return whether a value names something, and its attribute says of what.

    An attribute of no fixed kind, such as "Ada's holiday", may have a passing state: "almost over".
    """
    return _is_value(each.value, each.text, each.name, each.speaker, each.attribute)


@lru_cache(maxsize=8_192)
def _is_value(own: str, text: str, name: str, speaker: str, attribute: str) -> bool:
    value = _told_value(own, text, name)
    if not is_named(value, attribute):
        return False
    told = told_value(own, text, name) if name else own
    if not is_told_of(told, text, name, speaker, attribute):
        return False
    if not is_stated(told, text, attribute):
        return False
    if attribute in SINGLE_VALUED or attribute in MULTI_VALUED:
        return True
    if not _is_stated_to_be(own, text, name, attribute):
        return False
    label, words = tokenise(_label_of(attribute)).lowers, tokenise(value).lowers
    if not words or not label or label[-1] in FUNCTION_WORDS or not _topic(label[-1]):
        return False
    if word_class(words[-1]) not in ("noun", "noun or verb"):
        return False
    return not {words[0], words[-1]} & (FILLERS | PREPOSITIONS)


def _untold_ends(facts: Sequence[PageFact]) -> set[str]:
    """Return the facts that ended by a message whose facts do not tell of that end.

    A message tells of it by another value of the attribute, or by a denial or a change that names
    the value.
    """
    by_time: dict[int, list[PageFact]] = {}
    for each in facts:
        by_time.setdefault(each.said_at, []).append(each)
    return {
        each.id
        for each in facts
        if each.ended_at in by_time
        and not any(_tells_end(each, other) for other in by_time[each.ended_at] if other != each)
    }


def _tells_end(ended: PageFact, other: PageFact) -> bool:
    """Return whether a fact tells that another one no longer holds."""
    if other.attribute and is_single_valued(other.attribute):
        return other.attribute == ended.attribute and _is_worth_holding(other)
    opposite = OPPOSITES.get(ended.attribute)
    if opposite and other.attribute == opposite and _is_worth_holding(other):
        return _folded(other.value) == _folded(ended.value)
    named = {*tokenise(ended.value or ended.text).lowers} - {*tokenise(ended.name).lowers}
    shared = named & {*_read(other.text, other.speaker).content}
    return bool(shared) and (is_negative(other.text) or is_change(other.text))


def _is_stated_to_be(value: str, text: str, name: str, attribute: str) -> bool:
    """Return whether a text says that something of its entity's is a value.

    "Ada's boat is a dinghy".
    """
    if not name:
        return False
    label = rf"{name_expression(name)}['’]s? {re.escape(_label_of(attribute))}\b"
    link = r"(?: [\w'’]+){0,2} (?:is|are|was|were|costs?) (?:(?:a|an|the|now|still|about) ){0,2}"
    return re.search(rf"{label}{link}{re.escape(value)}", text, re.IGNORECASE) is not None


def _label_of(attribute: str) -> str:
    return attribute.removeprefix("…'s ").removesuffix(" is")


def _single(facts: Sequence[PageFact]) -> tuple[list[PageFact], str]:
    """Return the current value and the values before it, the newest first.

    Nothing if no value is current. An earlier value is left out if its words are part of a newer
    one's or the other way round, and so are earlier ages.
    """
    newest_first = sorted(facts, key=lambda each: (-each.said_at, each.id))
    current = next((each for each in newest_first if each.ended_at is None), None)
    if current is None:
        return [], ""
    shown, known = [current], [_value_words(current.value)]
    for each in newest_first:
        if len(shown) > MAX_EARLIER:
            break
        words = _value_words(each.value)
        is_same = any(words <= other or other <= words for other in known)
        if each.ended_at is not None and each.attribute != "age" and not is_same:
            shown.append(each)
            known.append(words)
    texts = [f"{_told(current)} ({_said(current)})"]
    texts += [f"formerly {_told(each)} ({_said(each)}{_until(each)})" for each in shown[1:]]
    return shown, "; ".join(texts)


def _several(facts: Sequence[PageFact]) -> tuple[list[PageFact], str]:
    """Return the newest values that still hold, and those that no longer do, in order of time."""
    by_value = {_folded(each.value): each for each in facts}
    words = [(each, _value_words(each.value)) for each in by_value.values()]
    distinct = [each for each, own in words if not _is_in_another(each, own, words)]
    shown = sorted(distinct, key=lambda each: (each.ended_at is None, each.said_at))
    shown = sorted(shown[-MAX_VALUES:], key=lambda each: (each.said_at, each.id))
    texts = [
        _told(each) if each.ended_at is None else f"no longer {_told(each)} ({_day(each.ended_at)})"
        for each in shown
    ]
    return shown, "; ".join(texts)


def _is_in_another(
    each: PageFact, own: Set[str], others: Iterable[tuple[PageFact, Set[str]]]
) -> bool:
    """Return whether the words of a value are among those of another one that holds as well."""
    return any(
        own <= words
        and other is not each
        and (other.ended_at is None) == (each.ended_at is None)
        and (own < words or (other.said_at, other.id) > (each.said_at, each.id))
        for other, words in others
    )


def _value_words(value: str) -> frozenset[str]:
    """Return the words of a value without articles, and with their nouns in the singular."""
    lowers = tokenise(value).lowers
    return frozenset(
        activity(lower) or singular(lower) for lower in lowers if lower not in FUNCTION_WORDS
    )


def _folded(value: str) -> str:
    return " ".join(tokenise(value).lowers)


def _told(each: PageFact) -> str:
    return _told_value(each.value, each.text, each.name)


@lru_cache(maxsize=8_192)
def _told_value(value: str, text: str, name: str) -> str:
    return value_without_name(told_value(value, text, name), name)


def _said(each: PageFact) -> str:
    return f"said {_day(each.said_at)}"


def _until(each: PageFact) -> str:
    return "" if each.ended_at is None else f", until {_day(each.ended_at)}"


def _day(at: int) -> str:
    day = date.fromisoformat(day_of(at))
    return named_days(day, day)


# Lines of single facts


def _lines(
    section: str, facts: Iterable[PageFact], part: Callable[[PageFact], str], most: int
) -> list[Block]:
    """Return the newest of these facts as blocks of a section, in order of time.

    `part`: the function that returns the part of a fact that its line gives.
    """
    in_turn = sorted(facts, key=time_key, reverse=True)
    lines = _most_informative({each.id: _told_in(part(each), each.days) for each in in_turn}, ())
    newest: list[tuple[PageFact, str]] = []
    told: list[_Told] = []
    # The last of those that say the same.
    for each in in_turn:
        line = lines.get(each.id)
        if line is not None and not any(_says_again(line, other) for other in told):
            told.append(line)
            newest.append((each, line_text(each, part(each))))
    return [
        Block(section, f"{section}:{each.id}", text, (each.id,), rank)
        for rank, (each, text) in [*enumerate(newest[:most])][::-1]
    ]


def ahead(facts: Sequence[PageFact], today: str) -> Iterator[PageFact]:
    """Yield the facts that tell what somebody does on days after today (YYYY-MM-DD)."""
    for each in facts:
        if each.days is None or each.days[0] <= today or each.ended_at is not None:
            continue
        if plan_part(each):
            yield each


def routines(facts: Sequence[PageFact]) -> Iterator[PageFact]:
    """Yield the facts about recurring events."""
    for each in facts:
        read = _read(each.text, each.speaker)
        is_held = each.days is None and each.ended_at is None and not each.speaker
        if is_held and read.is_routine and not is_unclear(each) and habit_part(each):
            yield each


def plan_part(each: PageFact) -> str:
    """Return the part of a fact that tells what the entity does on its days, or ""."""
    if each.speaker:
        return ""
    return plan_words(_read(each.text, each.speaker).core, _names(each), each.days)


def habit_part(each: PageFact) -> str:
    """Return the part of a fact that tells what the entity does in general, or ""."""
    if each.speaker:
        return ""
    return habit_words(_read(each.text, each.speaker).core, _names(each))


def _names(each: PageFact) -> tuple[str, ...]:
    """Return the entity's name in a fact, and those of the others."""
    return (each.name, *(name for _, name in each.beside))


def _is_event(each: PageFact) -> bool:
    """Return whether a fact tells of something that happened."""
    read = _read(each.text, each.speaker)
    return read.happened and not read.is_weak


def is_unclear(each: PageFact) -> bool:
    """Return whether a fact says little on its own, or leaves open what it is about."""
    if is_weak(each) or not _is_clear(each.text, each.name, each.speaker):
        return True
    # Who is named first is whom it is about.
    others = [name for _, name in each.beside if each.text.startswith((f"{name} ", f"{name}'s "))]
    is_named = not each.name or re.search(name_expression(each.name), each.text) is not None
    return bool(others) and not each.speaker and not is_named


@lru_cache(maxsize=8_192)
def _is_clear(text: str, name: str, speaker: str) -> bool:
    core = _read(text, speaker).core
    return has_verb(core) and is_clear(core, name, speaker)


def _events(facts: Sequence[PageFact], cited: Set[str], lines: Sequence[str]) -> list[Block]:
    """Return the changes, and the events that best cover what is known of an entity.

    Both are in order of time, and ranked together. `facts` are in order of time. Those that are
    `cited` in other sections are left out, and count as covered. An event is left out if its line
    says the same as one of these sections' `lines`, or as a line chosen before, or less than
    another line.
    """
    own = {lower for each in facts for lower in tokenise(each.name).lowers}
    words = {each.id: _content(each, own) for each in facts}
    before = _said_before(facts)
    values = {each.id: _value(each, len(words[each.id]), before[each.id]) for each in facts}
    parts = {
        each.id: part
        for each in facts
        if each.id not in cited
        and (_is_change(each) or values[each.id] > 0)
        and (part := event_part(each))
    }
    told = [_told_in(line, None) for line in lines]
    events = _most_informative(
        {each.id: _told_in(parts[each.id], each.days, own) for each in facts if each.id in parts},
        told,
    )
    new = [each for each in facts if each.id in events and _is_change(each)]
    changes = {each.id for each in new[-MAX_CHANGES:]}
    candidates = [
        each
        for each in facts
        if each.id in cited or each.id in changes or (values[each.id] > 0 and each.id in events)
    ]
    chosen: dict[str, PageFact] = {}
    for place in in_order_of_gain(
        word_similarities([words[each.id] for each in candidates]),
        [values[each.id] for each in candidates],
        [_read(each.text, each.speaker).length + 4 for each in candidates],
        [1.0 + _has_own_day(each) for each in candidates],
        [place for place, each in enumerate(candidates) if each.id in cited],
    ):
        each = candidates[place]
        text = line_text(each, parts[each.id])
        event = events[each.id]
        if text in chosen or any(_says_again(event, other) for other in told):
            continue
        told.append(event)
        chosen[text] = each
        if len(chosen) == MAX_IN_TIME + len(changes):
            break
    ranked = [(each, text, rank) for rank, (text, each) in enumerate(chosen.items())]
    blocks = []
    for each, text, rank in sorted(ranked, key=lambda found: time_key(found[0])):
        section = "changed" if each.id in changes else "time"
        blocks.append(Block(section, f"{section}:{each.id}", text, (each.id,), rank))
    return blocks


class _Told(NamedTuple):
    """What a line tells: its days, if it names any, its content words, and the first of them."""

    days: tuple[str, str] | None
    words: frozenset[str]
    first: str


def _told_in(line: str, days: tuple[str, str] | None, own: Set[str] = frozenset()) -> _Told:
    words = content_words(line) - own
    return _Told(days, words, next((word for word in tokenise(line).lowers if word in words), ""))


def _most_informative(lines: Mapping[str, _Told], told: Iterable[_Told]) -> dict[str, _Told]:
    """Return the lines, by their facts, but those that say less than another or what is `told`.

    "Sold the boats" says less than "sold 3 boats to Carl", but not less than "saw Carl, who sold
    the boats".
    """
    by_first: dict[str, list[_Told]] = {}
    for each in told:
        by_first.setdefault(each.first, []).append(each)
    kept = {}
    for fact, line in sorted(lines.items(), key=lambda item: -len(item[1].words)):
        alike = by_first.setdefault(line.first, [])
        if len(line.words) > 1 and any(
            line.words < more.words and _may_be_at_once(line, more) for more in alike
        ):
            continue
        alike.append(line)
        kept[fact] = line
    return kept


def _says_again(new: _Told, told: _Told) -> bool:
    """Return whether a line tells of the same as another: the same words, on no other days."""
    return repeats(new.words, told.words) and _may_be_at_once(new, told)


def _may_be_at_once(one: _Told, other: _Told) -> bool:
    """Return whether two lines do not tell of different days."""
    if one.days is None or other.days is None:
        return True
    return one.days[0] <= other.days[1] and other.days[0] <= one.days[1]


def event_part(each: PageFact) -> str:
    """Return the part of a fact that tells an event, or "". Others' words tell none.

    The entity's own words may tell one of somebody whom they name: "Bob sold the boat".
    """
    if each.speaker and each.speaker != each.name:
        return ""
    names = _names(each)
    core = _read(each.text, each.speaker).core
    if each.speaker:
        others = [name for name in names[1:] if re.match(name_expression(name), core)]
        names = (SPEAKER, *names[1:]) if FIRST_PERSON.search(core) else (*others, *names[1:])
    if not names:
        return ""
    return event_words(core, names, each.days, _has_own_day(each))


def _is_change(each: PageFact) -> bool:
    return not each.speaker and _read(each.text, each.speaker).is_change


def _beside(facts: Sequence[PageFact], cited: Set[str]) -> list[Block]:
    """Return a block with the names of the entities that are most often in the same facts.

    A name counts if it is in facts of two messages, or in a fact that the page has `cited`.
    """
    together: dict[str, list[tuple[PageFact, str]]] = {}
    for each in facts:
        for entity, name in each.beside:
            together.setdefault(entity, []).append((each, name))
    known = [
        found
        for found in together.values()
        if _is_name(found[-1][1])
        and (len({each.said_at for each, _ in found}) > 1 or found[0][0].id in cited)
    ]
    often = sorted(known, key=lambda found: (-len(found), found[0][1], found[0][0].id))
    names = {found[-1][1] for found in often[:MAX_BESIDE]}
    shown = [
        found[-1]
        for found in often[:MAX_BESIDE]
        if not any(found[-1][1] in name for name in names - {found[-1][1]})
    ]
    if not shown:
        return []
    cited_ids = dict.fromkeys(fact.id for fact, _ in shown)
    return [
        Block(
            "beside", "beside", ", ".join(dict.fromkeys(n for _, n in shown)), tuple(cited_ids), 0
        )
    ]


def _is_name(name: str) -> bool:
    """Return whether a name is written as one: with a capital, and not only with capitals."""
    return any(
        word[0].isupper() and (not word.isupper() or len(word) <= _MAX_ACRONYM)
        for word in tokenise(name).words
    )


def is_weak(each: PageFact) -> bool:
    """Return whether a fact says little on its own."""
    return _read(each.text, each.speaker).is_weak


class _WordFeatures(NamedTuple):
    """Features of a fact's words.

    Attributes:
        core: the text without the speaker's name; lowers: its words in lower case.
        content: the words that name a topic, in lower case.
        is_weak: the fact says little on its own.
        is_change, is_routine: the fact reports a change, or something that recurs.
        happened: the fact reports something past.
        length: the number of words.
        worth: a score of the words, the higher the better for a timeline.
    """

    core: str
    lowers: Sequence[str]
    content: tuple[str, ...]
    is_weak: bool
    is_change: bool
    is_routine: bool
    happened: bool
    length: int
    worth: float


@lru_cache(maxsize=8_192)
def _read(text: str, speaker: str) -> _WordFeatures:
    """Return the features of a fact's words; `speaker`: the speaker, if it is quoted, or ""."""
    core = text.removeprefix(f"{speaker}: ") if speaker else text
    lowers = tokenise(core).lowers
    to_somebody = SECOND_PERSON.search(core) is not None
    is_weak = bool(
        _DANGLING.match(core)
        or _FRAGMENT.match(core)
        or core.rstrip("\"'”’").endswith("?")
        or (speaker and to_somebody)
        or len(lowers) < 3
    )
    words = set(lowers)
    # A compound such as "re-married" has these words as parts.
    parts = {part for word in words for part in word.split("-")}
    is_change = not _OF_CHANGE.isdisjoint(parts) and _CHANGE.search(core) is not None
    happened = any(is_past(lower) and lower not in NOT_PAST for lower in lowers[:8])
    content = tuple(_content_words(lowers))
    topics = {topic for topic in map(_topic, content) if topic}
    worth = (
        0.15
        + 0.3 * happened
        + 0.15 * is_change
        + 0.1 * min(len(topics), MANY_TOPICS)
        - 0.2 * (not _REFERRING.isdisjoint(words))
        - 0.2 * bool(speaker)
        - 0.4 * bool(INTENTION.match(core))
        - 0.1 * bool(_FIRST_PERSON.search(core))
        - 0.3 * to_somebody
        - 0.4 * is_weak
        - 0.02 * max(0, len(lowers) - LONG_TEXT)
    )
    is_routine = not _OF_ROUTINES.isdisjoint(parts) and any(
        not found["often"] or _recurs(found["what"]) for found in _ROUTINE.finditer(core)
    )
    return _WordFeatures(
        core, lowers, content, is_weak, is_change, is_routine, happened, len(lowers), worth
    )


def _recurs(what: str | None) -> bool:
    """Return whether "daily", with this word after it, tells of something that recurs.

    "Daily use" and "daily tasks" do not; "a daily run" and "runs daily" do.
    """
    if what is None or what.lower() in FUNCTION_WORDS:
        return True
    noun = singular(what.lower())
    return not is_noun(noun) or activity(noun) is not None or noun in _RECURRING


def _content_words(lowers: Iterable[str]) -> Iterator[str]:
    return (
        lower.removesuffix("'s")
        for lower in lowers
        if lower not in STOP_WORDS and lower not in FUNCTION_WORDS and not lower[0].isdigit()
    )


@lru_cache(maxsize=8_192)
def _topic(word: str) -> str:
    """Return the topic that a word in lower case names, or ""."""
    noun = singular(word)
    return noun if is_noun(noun) and is_topical(noun) else ""


def _value(each: PageFact, content_words: int, said_before: int) -> float:
    """Return the value of a fact on a timeline, apart from what it covers.

    `said_before`: the messages with facts about the entity that came before in the same sitting.
    """
    return VALUE_WEIGHT * (
        _read(each.text, each.speaker).worth
        + 0.3 * _has_own_day(each)
        + 0.4 / (1 + said_before)
        + 0.1 * bool(each.beside)
        - 0.3 * (content_words < FEW_WORDS)
    )


def _has_own_day(each: PageFact) -> bool:
    """Return whether a fact names days other than the one on which it was said."""
    if each.days is None:
        return False
    day = day_of(each.said_at)
    return each.days != (day, day)


def _said_before(facts: Sequence[PageFact]) -> dict[str, int]:
    """Return for each fact how many messages with facts came before it in the same sitting."""
    found: dict[str, int] = {}
    last, before = None, 0
    for each in sorted(facts, key=lambda fact: (fact.said_at, fact.id)):
        if last is None or each.said_at - last > SITTING_MS:
            before = 0
        elif each.said_at > last:
            before += 1
        last = each.said_at
        found[each.id] = before
    return found


def _content(each: PageFact, own: Set[str]) -> list[str]:
    """Return the words of a fact that name a topic, without the entity's own names."""
    return [word for word in _read(each.text, each.speaker).content if word not in own]


@lru_cache(maxsize=8_192)
def line_text(each: PageFact, part: str = "") -> str:
    """Return a fact as a line: without the name that heads the page, and with its day.

    A line tells since when its fact no longer holds, or until when an event's result held. `part`:
    the part of the fact's text that the line gives [all that names a topic].
    """
    core = part or _excerpt(_read(each.text, each.speaker).core)
    core = with_short_days(core if each.speaker else without_link(core), each.days, each.name)
    words = with_named_days(core if each.speaker else with_years(core)).rstrip(".!,;: ")
    if each.speaker:
        words = quoted(words) if each.speaker == each.name else f"{each.speaker}: {quoted(words)}"
    else:
        words = _ADVERBS.sub("", without_name(words, each.name))
    told = []
    if not names_days(core):
        said = (day_of(each.said_at),) * 2
        # What was done "recently" was not done on the day on which that was said.
        is_own = each.days != said or not is_about_another_day(core)
        # Days that another sentence names are not those of this part.
        is_own = is_own and not (part and names_days(each.text) and not names_days(part))
        days = is_own and each.days and named_days(*map(date.fromisoformat, each.days))
        told.append(days or _said(each))
    if each.ended_at is not None:
        told.append(f"until {_day(each.ended_at)}")
    return with_remarks(words, told)


def _excerpt(core: str) -> str:
    """Return a text without the sentences, or parts of one, at its ends that name no topic.

    Parts that restrict what is said are kept: "not any more".
    """
    parts = [unit.text for unit in units_of(core, ())]
    told = [
        part
        for part in parts
        if _RESTRICTING.search(part) or any(map(_topic, _content_words(tokenise(part).lowers)))
    ]
    if len(told) == len(parts) or not told:
        return core
    start, last = core.find(told[0]), core.rfind(told[-1])
    return core[start : last + len(told[-1])] if 0 <= start <= last else core
