"""Who somebody's relatives and friends are: "my sister Petra", "Saskia is my best friend"."""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.streams.language.grammar.analysis import Claim, Mention
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.vocatives import is_vocative
from recollect.streams.language.names.first_names import gender_of_name, gender_of_relation
from recollect.text.lexicon import PARTNERS, word_set
from recollect.text.relatives import FAMILY, Relative, name_of, relatives_in

#: In characters: a name that begins farther away is not the relative's.
_NEAR = 100
_PARTNERS = PARTNERS | {"spouse"}
#: Words that mean a relative only sometimes.
_VAGUE = word_set("girl boy baby client")
#: Before "is my sister": it may not be so.
_DOUBT = re.compile(
    r"\b(?:if|not|would|might|wish|maybe|perhaps|almost|pretend|thinks?|believes?|guess|said|"
    r"says)\b|n['’]t\b|[?]",
    re.IGNORECASE,
)


class NamedRelative(NamedTuple):
    """A relative or friend of the speaker with the name, and the claim that names them."""

    relative: Relative
    name: Mention
    claim: Claim

    @property
    def span(self) -> Span:
        """The words that state the relation, in the order of the text."""
        return (
            min(self.relative.start, self.name.start),
            max(self.relative.end, self.name.end),
        )

    @property
    def sentence(self) -> str:
        """The relation as a sentence of the speaker: "Saskia is my best friend"."""
        kin = f"{self.relative.qualifier} {self.relative.word}".strip()
        return f"{self.name.text} is {self.relative.whose} {kin}"


def named_relatives(
    text: str, span: Span, speaker: str, mentions: Sequence[Mention]
) -> Iterator[NamedRelative]:
    """Yield the relatives and friends of a speaker whom a span of a text names.

    `mentions` are the mentions of the span.
    """
    start, end = span
    persons = {each.start: each for each in mentions if each.type == "PERSON"}
    starts = sorted(persons)
    for relative in relatives_in(text, start, end) if persons else ():
        if not relative.is_own or relative.is_former or relative.word in _VAGUE:
            continue
        first = bisect_left(starts, relative.start - _NEAR)
        last = bisect(starts, relative.end + _NEAR)
        near = [(at, persons[at].end) for at in starts[first:last]]
        place = name_of(text, relative, near)
        name = None if place is None else persons[place[0]]
        if name is None:
            continue
        if name.start > relative.start:
            # "My mum, Eve, sings": `name_of` has seen the second comma.
            is_aside = relative.start == start and text.startswith(", ", relative.end)
            is_so = is_aside or not is_vocative(text, name, end)
        else:
            is_so = _DOUBT.search(text, start, relative.start) is None
        gender = gender_of_relation(relative.word)
        named = gender_of_name(name.text.split(" ")[0])
        # "I told my sister Tom is vegan"
        if not is_so or (gender and named and gender != named):
            continue
        yield NamedRelative(relative, name, _claim(speaker, relative.word, name.text))


def _claim(speaker: str, word: str, name: str) -> Claim:
    if word in _PARTNERS:
        return Claim(speaker, "partner", name)
    if word in FAMILY:
        return Claim(speaker, "family", f"{word} {name}")
    return Claim(speaker, word, name)
