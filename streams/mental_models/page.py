"""The page about an entity: blocks in sections, made from the facts about it.

Nothing is computed and nothing rephrased: a line is a fact without the entity's name, or the values
of an attribute. A block is determined by the facts that it cites, and its id by its section and
what it is about. So a page that is made again differs only in the blocks whose facts changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from recollect.schemas.attributes import MULTI_VALUED, SINGLE_VALUED, is_single_valued
from recollect.streams.consolidation.days import day_of, named_days, with_named_days
from recollect.streams.language.grammar.verbs import is_past
from recollect.streams.mental_models.coverage import in_order_of_gain, word_similarities
from recollect.text.lexicon import FUNCTION_WORDS, NOT_PAST
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: The sections, in order: their ids and titles.
SECTIONS = {
    "held": "What is held",
    "changed": "What changed",
    "regular": "Regular",
    "ahead": "With a day ahead",
    "time": "In order of time",
    "beside": "Named beside",
}
#: A page is made from at most this many facts, the newest ones.
MAX_FACTS = 1_200
#: The most lines of a section.
MAX_CHANGES, MAX_ROUTINES, MAX_AHEAD, MAX_IN_TIME, MAX_BESIDE = 8, 8, 12, 48, 12
#: The most values of an attribute, and the earlier values of one that has a single value.
MAX_VALUES, MAX_EARLIER = 8, 4
#: A longer text is not worth its tokens.
LONG_TEXT = 28
#: A text with fewer content words says little.
FEW_WORDS = 4

_CHANGE = re.compile(
    r"\b(?:moved|started|began|joined|quit|left|sold|bought|adopted|married|engaged|divorced|"
    r"retired|switched|stopped|gave up|no longer|used to|became|signed up|graduated|broke up|"
    r"opened|closed|died|passed away|was born|promoted|hired|fired|new job|anymore)\b",
    re.IGNORECASE,
)
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_ROUTINE = re.compile(
    rf"\b(?:every|each) (?:other |single |second )?(?:day|morning|evening|night|weekend|week|month|"
    rf"year|summer|winter|spring|autumn|fall|{_WEEKDAY})s?\b|"
    rf"\b(?:daily|weekly|monthly|yearly|nightly)\b|"
    rf"\b(?:once|twice|(?:\w+|\d+) times) (?:a|an|per|every) (?:day|week|month|year)\b|"
    rf"\bon {_WEEKDAY}s\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours)\b|\bI['’]")
_SECOND_PERSON = re.compile(r"\byou(?:r|rs)?\b", re.IGNORECASE)
_DANGLING = re.compile(
    r"(?:and |but |so |then |also |yeah,? |yes,? )?"
    r"(?:it|its|it['’]s|that|that['’]s|this|they|them|their|those|these|he|she|his|her)\b",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(r"(?:here(?:'s|’s| is| are)|check out|look at|what a|how)\b", re.IGNORECASE)


class PageFact(NamedTuple):
    """A fact about the page's entity.

    Attributes:
        name: the entity's name in the fact; speaker: who said it in these words, or "".
        said_at: when it was said (unix ms).
        days: the first and last day that it is about (YYYY-MM-DD), if it names any.
        attribute, value: of its slot, if the entity is the slot's subject; else "".
        ended_at: when it ceased to be so (unix ms); None if it still is.
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

    `rank`: its place in the order in which lines are worth their room, from 0.
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
    in_time = sorted(newest, key=time_key)
    found = [*_held(in_time)]
    cited = {fact for block in found for fact in block.facts}
    for lines in (
        _lines("ahead", ahead(in_time, today), MAX_AHEAD),
        _lines("regular", routines(in_time), MAX_ROUTINES),
        _lines("changed", _changes(in_time), MAX_CHANGES),
    ):
        found += [block for block in lines if block.facts[0] not in cited]
        cited |= {fact for block in found for fact in block.facts}
    found += _time_line(in_time, cited)
    found += _beside(in_time)
    order = {section: place for place, section in enumerate(SECTIONS)}
    return Page(name_of(in_time), tuple(sorted(found, key=lambda block: order[block.section])))


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


def _held(facts: Sequence[PageFact]) -> Iterator[Block]:
    """Yield a block for each attribute: the value with those before it, or the values."""
    by_attribute: dict[str, list[PageFact]] = {}
    for each in sorted(facts, key=lambda fact: (fact.said_at, fact.id)):
        if each.attribute:
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
            label = attribute.removeprefix("…'s ").removesuffix(" is")
            yield Block("held", f"held:{attribute}", f"{label}: {text}", ids, rank)


def _single(facts: Sequence[PageFact]) -> tuple[list[PageFact], str]:
    """Return the current value and the values before it, the newest first."""
    turns: list[PageFact] = []
    for each in facts:
        if not turns or _folded(turns[-1].value) != _folded(each.value):
            turns.append(each)
        elif turns[-1].ended_at is not None and each.ended_at is None:
            turns[-1] = each
    shown = turns[::-1][: 1 + MAX_EARLIER]
    current = next((each for each in shown if each.ended_at is None), None)
    earlier = [each for each in shown if each is not current]
    texts = [] if current is None else [f"{current.value} ({_said(current)})"]
    texts += [f"before: {each.value} ({_said(each)}{_until(each)})" for each in earlier]
    return ([] if current is None else [current]) + earlier, "; ".join(texts)


def _several(facts: Sequence[PageFact]) -> tuple[list[PageFact], str]:
    """Return the newest values that still are so, and those that are not, in order of time."""
    by_value = {_folded(each.value): each for each in facts}
    shown = sorted(by_value.values(), key=lambda each: (each.ended_at is None, each.said_at))
    shown = sorted(shown[-MAX_VALUES:], key=lambda each: (each.said_at, each.id))
    texts = [
        each.value if each.ended_at is None else f"no longer {each.value} ({_day(each.ended_at)})"
        for each in shown
    ]
    return shown, "; ".join(texts)


def _folded(value: str) -> str:
    return " ".join(tokenise(value).lowers)


def _said(each: PageFact) -> str:
    return f"said {_day(each.said_at)}"


def _until(each: PageFact) -> str:
    return "" if each.ended_at is None else f", until {_day(each.ended_at)}"


def _day(at: int) -> str:
    day = date.fromisoformat(day_of(at))
    return named_days(day, day)


# Lines of single facts


def _lines(section: str, facts: Iterable[PageFact], most: int) -> list[Block]:
    """Return the newest of these facts as blocks of a section, in order of time."""
    newest = sorted(facts, key=time_key)[-most:]
    ranks = {each.id: rank for rank, each in enumerate(reversed(newest))}
    return [_line(section, each, ranks[each.id]) for each in newest]


def _line(section: str, each: PageFact, rank: int) -> Block:
    return Block(section, f"{section}:{each.id}", line_text(each), (each.id,), rank)


def ahead(facts: Sequence[PageFact], today: str) -> Iterator[PageFact]:
    """Yield the facts that are about a day after today (YYYY-MM-DD)."""
    for each in facts:
        is_ahead = each.days is not None and each.days[1] > today
        if is_ahead and each.ended_at is None and not _read(each.text, each.speaker).is_weak:
            yield each


def routines(facts: Sequence[PageFact]) -> Iterator[PageFact]:
    """Yield the facts about recurring events."""
    for each in facts:
        read = _read(each.text, each.speaker)
        if each.days is None and each.ended_at is None and read.is_routine and not read.is_weak:
            yield each


def _changes(facts: Sequence[PageFact]) -> Iterator[PageFact]:
    for each in facts:
        read = _read(each.text, each.speaker)
        if not each.speaker and read.is_change and not read.is_weak:
            yield each


def _time_line(facts: Sequence[PageFact], cited: set[str]) -> list[Block]:
    """Return the facts that best cover what is known of an entity, in order of time."""
    own = {lower for each in facts for lower in tokenise(each.name).lowers}
    words = {each.id: _content(each, own) for each in facts}
    values = {each.id: _value(each, len(words[each.id])) for each in facts}
    candidates = [each for each in facts if each.id in cited or values[each.id] > 0]
    chosen: list[PageFact] = []
    for place in in_order_of_gain(
        word_similarities([words[each.id] for each in candidates]),
        [values[each.id] for each in candidates],
        [_read(each.text, each.speaker).length + 4 for each in candidates],
        [1.0 + (each.days is not None) for each in candidates],
        [place for place, each in enumerate(candidates) if each.id in cited],
    ):
        chosen.append(candidates[place])
        if len(chosen) == MAX_IN_TIME:
            break
    ranks = {each.id: rank for rank, each in enumerate(chosen)}
    return [_line("time", each, ranks[each.id]) for each in sorted(chosen, key=time_key)]


def _beside(facts: Sequence[PageFact]) -> list[Block]:
    """Return a block with the names of the entities that are most often in the same facts."""
    together: dict[str, list[tuple[PageFact, str]]] = {}
    for each in facts:
        for entity, name in each.beside:
            together.setdefault(entity, []).append((each, name))
    often = sorted(together.values(), key=lambda found: (-len(found), found[0][1], found[0][0].id))
    shown = [found[-1] for found in often[:MAX_BESIDE]]
    if not shown:
        return []
    names = dict.fromkeys(name for _, name in shown)
    cited = dict.fromkeys(fact.id for fact, _ in shown)
    return [Block("beside", "beside", ", ".join(names), tuple(cited), 0)]


def is_weak(each: PageFact) -> bool:
    """Return whether a fact says little on its own."""
    return _read(each.text, each.speaker).is_weak


class _Read(NamedTuple):
    """What the words of a fact tell.

    Attributes:
        core: its text without the name of who said it in these words.
        content: its words that name a topic, in lower case.
        is_weak: it says little on its own.
        is_change, is_routine: it tells of a change, or of what happens again and again.
        length: how many words it has.
        worth: what its words are worth on a time line.
    """

    core: str
    content: tuple[str, ...]
    is_weak: bool
    is_change: bool
    is_routine: bool
    length: int
    worth: float


@lru_cache(maxsize=8_192)
def _read(text: str, speaker: str) -> _Read:
    """Read the words of a fact; `speaker`: who said it in these words, or ""."""
    core = text.removeprefix(f"{speaker}: ") if speaker else text
    lowers = tokenise(core).lowers
    to_somebody = _SECOND_PERSON.search(core) is not None
    is_weak = bool(
        _DANGLING.match(core)
        or _FRAGMENT.match(core)
        or core.rstrip("\"'”’").endswith("?")
        or (speaker and to_somebody)
        or len(lowers) < 3
    )
    is_change = _CHANGE.search(core) is not None
    happened = any(is_past(lower) and lower not in NOT_PAST for lower in lowers[:8])
    worth = (
        0.15
        + 0.2 * happened
        + 0.15 * is_change
        - 0.2 * bool(speaker)
        - 0.1 * bool(_FIRST_PERSON.search(core))
        - 0.3 * to_somebody
        - 0.4 * is_weak
        - 0.02 * max(0, len(lowers) - LONG_TEXT)
    )
    content = tuple(
        lower.removesuffix("'s")
        for lower in lowers
        if lower not in STOP_WORDS and lower not in FUNCTION_WORDS and not lower[0].isdigit()
    )
    return _Read(core, content, is_weak, is_change, bool(_ROUTINE.search(core)), len(lowers), worth)


def _value(each: PageFact, content_words: int) -> float:
    """Return the value of a fact on a time line, apart from what it covers."""
    return (
        _read(each.text, each.speaker).worth
        + 0.3 * (each.days is not None)
        + 0.1 * bool(each.beside)
        - 0.3 * (content_words < FEW_WORDS)
    )


def _content(each: PageFact, own: Set[str]) -> list[str]:
    """Return the words of a fact that name a topic, without the entity's own names."""
    return [word for word in _read(each.text, each.speaker).content if word not in own]


def line_text(each: PageFact) -> str:
    """Return a fact as a line: without the name that heads the page, and with its day."""
    words = with_named_days(_read(each.text, each.speaker).core).rstrip(".!,;: ")
    if each.speaker:
        words = f"“{words}”" if each.speaker == each.name else f"{each.speaker}: “{words}”"
    else:
        words = _without_name(words, each.name)
    if not re.search(r"\(\d{4}-\d\d-\d\d", each.text):
        if each.days is not None:
            words += f" ({named_days(*map(date.fromisoformat, each.days))})"
        else:
            words += f" ({_said(each)})"
    return words if each.ended_at is None else f"(no longer so since {_day(each.ended_at)}) {words}"


def _without_name(words: str, name: str) -> str:
    """Return a text without the name at its beginning that heads the page."""
    for known in (name, name.split()[0]) if name else ():
        rest = words.removeprefix(known + " ")
        if rest != words and rest[:1].islower() and not rest.startswith("and "):
            return rest
    return words
