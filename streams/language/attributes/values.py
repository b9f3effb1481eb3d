"""Values of attributes: the phrase after a verb, or nothing if it is no value."""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.streams.language.attributes.attribute_words import GENERAL, IDLE, POINTING
from recollect.streams.language.names.gazetteer import PLACES
from recollect.text.lexicon import PREPOSITIONS, WEEKDAYS, word_set

#: The maximum number of words of a value.
_MOST_WORDS = 14
_OPENING = word_set("a an the some my our both")
_AFTER_NOUN = (PREPOSITIONS - {"like"}) | word_set("named called and or that who which but")
_AMOUNTS = word_set("couple lot lots pair bunch few")
#: "I like to take naps"
_TAKEN = word_set("walks naps photos photographs pictures baths")
_NOTHING_LIKED = word_set("not knowing so very no how what when where why who whatever")
#: "I like the smell" refers to something mentioned before.
_SENSED = word_set("feeling thrill smell taste sound color colour look feel night water news")
#: Expressions that limit a state to now or to one day.
_WHEN = word_set("tomorrow today tonight now then later soon again yesterday") | WEEKDAYS.keys()
#: "I live in verdun": an unknown place, in a message without capitals.
_PLAIN_PLACE = re.compile(r"[a-zà-öø-ÿ][\w'\-]{2,}(?: [a-zà-öø-ÿ][\w'\-]{2,})?\Z")


class Told(NamedTuple):
    """An attribute and its value, without its subject."""

    attribute: str
    value: str


class Rest(NamedTuple):
    """The words after a verb, as written and in lower case."""

    text: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Rest:
        """Parse a stretch of text."""
        return cls(text, tuple(word.strip(",.'").lower() for word in text.split()))

    def after(self, count: int = 1) -> Rest:
        """Return what follows the first `count` words."""
        return Rest(" ".join(self.text.split()[count:]), self.words[count:])

    @property
    def opens(self) -> str:
        """The first word; empty if there is none."""
        return self.words[0] if self.words else ""

    @property
    def ends(self) -> str:
        """The last word; empty if there is none."""
        return self.words[-1] if self.words else ""

    def is_for_now(self) -> bool:
        """Whether it applies only to one day: "tomorrow"."""
        return not _WHEN.isdisjoint(self.words)


class Thing(NamedTuple):
    """A noun phrase: its words, the last of them, and the word that follows."""

    words: tuple[str, ...]
    head: str
    next: str


def told(attribute: str, text: str) -> Told | None:
    """Return an attribute with a value; None if the value refers to something said before."""
    words = text.split()
    while len(words) > 1 and words[0].lower() in _OPENING and words[1] not in _AMOUNTS:
        words = words[1:]
    lowers = [word.lower().replace("’", "'").partition("'")[0].strip(",.") for word in words]
    if not 0 < len(words) <= _MOST_WORDS or not POINTING.isdisjoint(lowers):
        return None
    value = " ".join(words).rstrip(" ,.")
    return Told(attribute, value) if value else None


def own(attribute: str, rest: Rest) -> Told | None:
    """As `told`, but without the owner's pronoun: "with my parents" is "with parents"."""
    kept = [word for word in rest.text.split() if word.lower() not in ("my", "our")]
    return told(attribute, " ".join(kept))


def thing(rest: Rest) -> Thing:
    """Return the noun phrase at the beginning."""
    words = rest.words
    commas = [word.endswith(",") for word in rest.text.split()]
    start = 0
    for at in range(len(words)):
        if words[at] == "of" and at and words[at - 1] in _AMOUNTS:
            start = at + 1
        elif at > start and (words[at] in _AFTER_NOUN or commas[at - 1]):
            return Thing(words[:at], words[at - 1], words[at])
    return Thing(words, rest.ends, "")


def liked(attribute: str, rest: Rest) -> Told | None:
    """What somebody likes or dislikes in general: "dogs", "to cook", "the mountains"."""
    if rest.opens == "to":
        idle = rest.words[1:2] and rest.words[1] in IDLE and rest.ends not in _TAKEN
        if len(rest.words) < 2 or idle or rest.is_for_now():
            return None
        return own(attribute, rest.after())
    if rest.opens == "the":
        named = rest.text[4:5].isupper()
        if not named and (GENERAL.isdisjoint(rest.words[1:]) or rest.ends in _SENSED):
            return None
    if rest.words[:2] == ("all", "the") or rest.opens in PREPOSITIONS | _NOTHING_LIKED:
        return None
    return own(attribute, rest)


def place(attribute: str, rest: Rest) -> Told | None:
    """A named place: a known one, or capitalised words."""
    words = rest.text.split()
    if words and words[0].lower() == "the":
        words = words[1:]
    for count in (4, 3, 2, 1):
        known = " ".join(words[:count]).lower().rstrip(",.")
        if len(words) >= count and known in PLACES and not words[count - 1].endswith(".,"):
            return told(attribute, " ".join(words[:count]))
    count = capitals(words)
    return told(attribute, " ".join(words[:count])) if 0 < count <= 4 else None


def plain_place(attribute: str, rest: Rest, no_places: frozenset[str]) -> Told | None:
    """A named place alone, in a text without capitals."""
    if _PLAIN_PLACE.match(rest.text) is None or not no_places.isdisjoint(rest.words):
        return None
    return told(attribute, rest.text)


def capitals(words: list[str]) -> int:
    """Return how many words from the first begin with a capital, up to a comma."""
    for at, word in enumerate(words):
        if not word[0].isupper():
            return at
        if word.endswith(","):
            return at + 1
    return len(words)
