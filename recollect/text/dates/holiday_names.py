"""Holidays by name, in any of the usual spellings: Hanukkah, Chanuka; Eid ul-Fitr.

Names are compared by their letters, ignoring what varies between spellings of the same sound:
doubled letters, an "h" that is not the first letter, "ee" and "i", "w" and "v", spaces, hyphens and
accents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from recollect.text.dates.feast_tables import FEASTS
from recollect.text.dates.holidays import CHRISTIAN, CIVIL
from recollect.text.dates.rules.holiday_rules import Rule, by_table
from recollect.text.lexicon import DAY_WORDS, MONTHS, SEASONS, WEEKDAYS, word_set

_NO_LETTER = re.compile(r"[^a-z\d]")
_DOUBLED = re.compile(r"(.)\1+")
_AS_ONE = str.maketrans({"q": "k", "w": "v", "z": "s"})
_SOUNDS = (
    ("chh", "#"),
    ("ch", "$"),
    ("ck", "k"),
    ("c", "k"),
    ("ph", "f"),
    ("ee", "i"),
    ("oo", "u"),
)
_SPOKEN_Y = re.compile(r"(?<=.)y(?=.)")
#: Words of names that are also common elsewhere: by themselves they do not indicate a holiday.
_PLAIN = word_set(
    """al an the of and for la de as e el il ul un wal day days night week year new festival feast
    great good holy small big sweet white saint st world international national maha sri shri lord
    black spring low fat eve first old may chinese lunar hindu indian korean persian islamic muslim
    greek russian vietnamese palm branch rose orthodox super moon dragon double ghost hungry lady
    all sugar cake fast burns singles mary harbor heart christ king king's breaking lights souls
    dead heaven trees booths weeks prophets mid small salt lesser greater tika tish tu qi
    qing zhong no now akha kali rosh shushan adha azha xi qiu hari salty
    fifth ninth seventh dedication boat corpus birthday"""
)
_TELLING_ANYWAY = (
    frozenset(DAY_WORDS) | frozenset(MONTHS) | frozenset(SEASONS) | frozenset(WEEKDAYS)
) | word_set("day night week year years")
# The maximum number of words whose result a test caches.
_MOST_WORDS = 50_000
#: Words that may precede a name: the feast of Purim, erev Purim.
CLASS = word_set("feast festival holiday day month fast eve erev")


@lru_cache(maxsize=4_096)
def folded(name: str) -> str:
    """Return the part that all spellings of a name share.

    >>> folded("Rosh Ha-Shanah") == folded("rosh hashanna")
    True
    """
    letters = unicodedata.normalize("NFKD", name).lower().translate(_AS_ONE)
    letters = _NO_LETTER.sub("", letters)
    for written, spoken in _SOUNDS:
        letters = letters.replace(written, spoken)
    letters = letters[:1] + letters[1:].replace("h", "")
    return _DOUBLED.sub(r"\1", _SPOKEN_Y.sub("i", letters))


def spelled_out(names: str) -> list[str]:
    """Return the names that a pattern stands for.

    >>> spelled_out("a|(b|c) d[e]")
    ['a', 'b d', 'b de', 'c d', 'c de']
    """
    found, end = _alternatives(names, 0)
    if end != len(names):
        raise ValueError(f"unmatched closing bracket: {names}")
    return found


def _alternatives(names: str, at: int) -> tuple[list[str], int]:
    """Return the alternatives up to the closing bracket, and the position of that bracket."""
    alternatives: list[str] = []
    begun = [""]
    while at < len(names) and names[at] not in ")]":
        if names[at] in "([":
            inner, end = _alternatives(names, at + 1)
            chosen = inner if names[at] == "(" else ["", *inner]
            begun = [left + right for left in begun for right in chosen]
            at = end + 1
        elif names[at] == "|":
            alternatives += begun
            begun = [""]
            at += 1
        else:
            begun = [beginning + names[at] for beginning in begun]
            at += 1
    return alternatives + begun, at


class Holiday(NamedTuple):
    """When a holiday is, and the offset of its eve in days; None: its eve has a rule of its own."""

    rule: Rule
    eve: int | None


class _Index(NamedTuple):
    named: Mapping[str, Holiday]
    starts: frozenset[str]
    telling: frozenset[str]


@cache
def _index() -> _Index:
    """Return the holidays by folded name, the beginnings of names, and the telling words.

    A telling word shows that a text may name a holiday.
    """
    named: dict[str, Holiday] = {}
    starts: set[str] = set()
    telling: set[str] = set()
    civil = {names: Holiday(rule, None) for names, rule in {**CIVIL, **CHRISTIAN}.items()}
    feasts = {table.names: Holiday(by_table(table), table.eve) for table in FEASTS}
    for names, holiday in (civil | feasts).items():
        for name in spelled_out(names):
            key = folded(name)
            if named.setdefault(key, holiday) is not holiday:
                raise ValueError(f"two holidays are called {name}")
            words = name.split()
            starts.update(folded(" ".join(words[:size])) for size in range(1, len(words) + 1))
            if not _TELLING_ANYWAY.isdisjoint(words):
                continue
            own = [folded(word) for word in words if word not in _PLAIN]
            telling |= {max(own, key=len) if own else folded(words[-1]), key}
    return _Index(named, frozenset(starts), frozenset(telling))


def holiday_named(name: str) -> Holiday | None:
    """Return the holiday with a name, in any spelling; None if there is none."""
    return _index().named.get(folded(name))


class WordTest(dict[str, bool]):
    """A cache of a test's result for each word."""

    def __init__(self, test: Callable[[str], bool]) -> None:
        super().__init__()
        self._test = test

    def __missing__(self, word: str) -> bool:
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[word] = found = self._test(word)
        return found


def _opens_holiday(lower: str) -> bool:
    return lower in CLASS or may_be_longer(lower)


def may_be_longer(name: str) -> bool:
    """Whether these words begin the name of a holiday."""
    return folded(name) in _index().starts


#: Whether a word may begin a holiday: Rosh, Hanukkah, the feast of, erev.
OPENS_HOLIDAY = WordTest(_opens_holiday)


def indicates_holiday(lower: str) -> bool:
    """Whether a word by itself indicates a holiday, unlike "day" or "feast"."""
    return folded(lower) in _index().telling
