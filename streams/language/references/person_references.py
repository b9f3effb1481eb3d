"""Whom the names and pronouns of a message mean, from it and the previous messages.

Each message is analysed anew with the previous ones of its conversation. So nothing is known about
a person beyond these texts, and it is forgotten with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.names.first_names import Gender, gender_of_name, gender_of_relation
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.references.named_referents import HE
from recollect.text.lexicon import FUNCTION_WORDS, HONORIFICS, PHATIC, word_set
from recollect.text.nicknames import other_names
from recollect.text.relatives import name_of, relatives_in
from recollect.text.tokenizer import Tokens, tokenise

#: The number of previous messages that are considered.
IN_MIND = 12
#: Longer texts are cut here.
_LONGEST = 4_000

_I = word_set("i me my mine myself im ive")
_YOU = word_set("you your yours yourself ya u ur yourselves youre youve y'all")
_WE = word_set("we us our ours ourselves let's lets")
_SHE = word_set("she her hers herself")
_PRONOUNS = _I | _YOU | _WE | HE | _SHE
_GROUP = word_set("guys all both two three folks people")
#: Forms of address used instead of a name.
_ENDEARMENTS = word_set(
    """honey sweetie sweetheart darling dear babe baby buddy pal man dude mate bro sir madam love
    dearie hon pumpkin"""
)
_OPENING = word_set(
    "hey hi hello oh well thanks thank dear wow yes no yeah ok okay bye look listen"
)
_SOMEBODY = word_set("guy woman man girl boy lady chick dude bloke actress")
_ONE = word_set("a the that this some another one your")
#: Names that are also ordinary words.
_ALSO_WORDS = word_set(
    """mark rose grace joy dawn daisy ivy ruby violet viola olive jade pearl amber penny hazel rob
    bill pat sue miles dale max frank grant earl art chase lance will sally"""
)
_ENDS = re.compile(r"\s*(?:[,.!?;:…—–]|--|\Z|\n)")
_BEGINS = re.compile(r"(?:\A|[.!?…\n,;:—–]|--)[\s\"'“*]*\Z")


class Heard(NamedTuple):
    """An earlier message: its sender, its text, and what the classifier heads found in it."""

    speaker: str
    text: str
    reading: TextReading | None = None


class Reference(Struct, frozen=True):
    """A word of a message, and the person whom it means; a plural word has one for each.

    `spoke`: the person takes part in the conversation. `back`: how many messages ago the person was
    named or spoke; 0: in this message.
    """

    start: int
    end: int
    who: str
    pronoun: bool
    spoke: bool
    back: int


class _Named(NamedTuple):
    """A person named in a text: the position, the name and the gender."""

    start: int
    end: int
    name: str
    gender: Gender | None
    called: bool  # addressed by this name
    kin: bool = False  # described as a relative of somebody


class _Recent(NamedTuple):
    """A person mentioned before, and how many messages ago."""

    named: _Named
    back: int


def person_references(
    text: str, speaker: str, before: Sequence[Heard], reading: TextReading | None = None
) -> list[Reference]:
    """Return the references to people in a text of `speaker`, in order, without unresolved ones.

    `before` are the previous messages, the nearest first; the first `IN_MIND` count. `reading` is
    what the classifier heads found in the text.
    """
    before = before[:IN_MIND]
    people = _people(speaker, before)
    tokens = tokenise(text[:_LONGEST])
    names = _named(tokens, people, _marks(tokens.text, reading), speaker)
    earlier = [
        _Recent(each, back)
        for back in range(len(before), 0, -1)
        for each in _heard(before[back - 1], people)
    ]
    return [
        Reference(start, end, who, pronoun, who in people.back, back)
        for start, end, who, pronoun, back in _references(tokens, speaker, people, names, earlier)
    ]


class _People:
    """The participants of a conversation, the latest speaker first, and their possible names."""

    def __init__(self, speakers: Sequence[tuple[str, int]]) -> None:
        self.last = speakers  # name, how many messages ago
        self.back = dict(speakers)
        called: dict[str, set[str]] = {}
        for name, _ in speakers:
            for each in _called(name):
                called.setdefault(each, set()).add(name)
        self._called = {each: next(iter(of)) for each, of in called.items() if len(of) == 1}

    def one_called(self, name: str) -> str | None:
        """Return the participant with a name; None if nobody has it, or several do."""
        return self._called.get(name.lower().rstrip("."))


def _people(speaker: str, before: Sequence[Heard]) -> _People:
    speakers: dict[str, int] = {}
    for back, heard in enumerate(before, start=1):
        speakers.setdefault(heard.speaker, back)
    speakers.pop(speaker, None)
    return _People([*speakers.items(), (speaker, 0)])


@lru_cache(maxsize=1_024)
def _called(name: str) -> frozenset[str]:
    """Return the lower-case names by which somebody may be called: Rachel Green is also Rach."""
    words = [word for word in name.lower().split() if word.strip(".") not in HONORIFICS]
    if not words or not words[0].isalpha():
        return frozenset({name.lower()})
    first = words[0]
    names = {name.lower(), first, " ".join(words)} | set(other_names(first))
    names |= {first[:length] for length in range(3, len(first))}
    if len(words) > 1:
        names.add(words[-1])
    return frozenset(names) - FUNCTION_WORDS - PHATIC


def _references(
    tokens: Tokens,
    speaker: str,
    people: _People,
    names: Sequence[_Named],
    earlier: Sequence[_Recent],
) -> Iterable[tuple[int, int, str, bool, int]]:
    """Yield (start, end, person, whether by a pronoun, how many messages back)."""
    at_names = {each.start: each for each in names if each.name and not each.kin}
    addressed = _addressed(tokens, speaker, people, names)
    others = [name for name, _ in people.last if name != speaker]
    until = -1
    for index, lower in enumerate(tokens.lowers):
        start = tokens.starts[index]
        if start < until:
            continue
        if (named := at_names.get(start)) is not None:
            until = named.end
            yield start, named.end, named.name, False, people.back.get(named.name, 0)
            continue
        word = lower.split("'")[0] if lower not in ("let's", "y'all") else lower
        if word == "let":
            continue
        end = start + len(word)
        if word in _ENDEARMENTS and _is_called(tokens, index, index + 1):
            for name in addressed[:1]:
                yield start, end, name, False, people.back.get(name, 0)
            continue
        meant: Sequence[tuple[str, int]] = ()
        if word not in _PRONOUNS:
            continue
        if word in _I:
            meant = [(speaker, 0)]
        elif word in _YOU:
            several = tokens.lowers[index + 1 : index + 2]
            group = word in ("yourselves", "y'all") or (
                word == "you" and bool(several) and several[0] in _GROUP
            )
            who = (others if group else addressed[:1])[:6]
            meant = [(name, people.back.get(name, 0)) for name in who]
        elif word in _WE:
            with_whom = addressed[:1] or others[:1]
            if word in ("let's", "lets"):
                start += 4 if "'" in lower else 3
                end = start + 1
            meant = [
                (name, people.back.get(name, 0)) for name in (speaker, *others[:3], *with_whom)
            ]
        else:
            gender: Gender = "m" if word in HE else "f"
            said = [*earlier, *(_Recent(each, 0) for each in names if each.end <= start)]
            one = _third(gender, speaker, people, said, addressed)
            meant = [one] if one is not None else []
        for name, back in dict(meant).items():
            yield start, end, name, True, back


def _third(
    gender: Gender,
    speaker: str,
    people: _People,
    said: Sequence[_Recent],
    addressed: Sequence[str],
) -> tuple[str, int] | None:
    """Return the person whom "he" or "she" means, and how many messages ago they were mentioned.

    `said` are the people mentioned before, the latest last.
    """
    unsure: tuple[str, int] | None = None
    for each, back in reversed(said):
        if each.name == speaker or (each.called and back == 0) or each.name in addressed[:1]:
            continue
        if each.gender == gender:
            if not each.name:
                return None
            if unsure is not None and unsure[1] < back:
                return unsure
            return each.name, back
        if each.gender is None and unsure is None and each.name:
            unsure = (each.name, back)
    if unsure is not None:
        return unsure
    for name, back in people.last:
        if name != speaker and name not in addressed[:1] and _gender(name) == gender:
            return name, back
    return None


def _addressed(tokens: Tokens, speaker: str, people: _People, names: Sequence[_Named]) -> list[str]:
    """Return the possible addressees, the likeliest first: a named one, else the last speaker."""
    called = [each.name for each in names if each.called and each.name != speaker]
    spoke = [name for name, _ in people.last if name != speaker]
    return list(dict.fromkeys([*called, *spoke]))


def _is_called(tokens: Tokens, left: int, right: int) -> bool:
    """Whether words stand alone between pauses, like the name of an addressee."""
    text = tokens.text
    if _ENDS.match(text, tokens.ends[right - 1]) is None:
        return False
    if left and tokens.lowers[left - 1] in _OPENING:
        return True
    return _BEGINS.search(
        text[max(0, tokens.starts[left] - 6) : tokens.starts[left]]
    ) is not None or (left == 0)


class _Marks(NamedTuple):
    """The positions at which a text names persons, and at which it names something else."""

    persons: dict[int, int]
    others: tuple[tuple[int, int], ...]


@lru_cache(maxsize=2_048)
def _marks(text: str, reading: TextReading | None) -> _Marks:
    found = mentions(text, reading)
    persons = {each.start: each.end for each in found if each.type == "PERSON"}
    others = [(each.start, each.end) for each in found if each.type not in ("PERSON", "OTHER")]
    return _Marks(persons, tuple(others))


def _heard(heard: Heard, people: _People) -> list[_Named]:
    text = heard.text[:_LONGEST]
    return _named(tokenise(text), people, _marks(text, heard.reading), heard.speaker)


def _named(tokens: Tokens, people: _People, marks: _Marks, speaker: str) -> list[_Named]:
    """Return the persons whom a text names, in order: mentions, participants, first names.

    Also relatives of the speaker: "my sister".
    """
    found: list[_Named] = []
    unnamed, genders = _relatives(tokens.text, speaker, marks)
    until = -1
    for index, word in enumerate(tokens.words):
        start = tokens.starts[index]
        if start < until:
            continue
        lower = tokens.lowers[index]
        if lower.endswith("n't"):
            continue
        if index and lower in _SOMEBODY and tokens.lowers[index - 1] in _ONE:
            # "That woman": somebody, but who?
            found.append(_Named(start, start, "", gender_of_relation(lower), False))
            continue
        if (relative := unnamed.get(start)) is not None:
            found.append(relative)
            continue
        if not word[0].isupper():
            continue
        bare = re.split("['’]", word)[0]
        end = marks.persons.get(start)
        if end is None:
            if people.one_called(bare) is None and not _is_first_name(tokens, index, bare, marks):
                continue
            end = start + len(bare)
        right = index + 1
        while right < len(tokens.words) and tokens.ends[right - 1] < end:
            right += 1
        name = tokens.text[start:end]
        first, *more = name.split() or [name]
        who = people.one_called(name) or (people.one_called(first) if more else None) or name
        before = tokens.words[index - 1] if index else ""
        if who == name and before[:1].isupper() and before.lower() in HONORIFICS:
            dot = "." if tokens.text[start - 2 : start] == ". " else ""
            who = f"{before}{dot} {name}"
        gender = (gender_of_relation(first.rstrip(".")) if more else None) or gender_of_relation(
            before
        )
        gender = genders.get(start) or gender
        called = _is_called(tokens, index, right)
        found.append(_Named(start, end, who, gender or _gender(who), called))
        until = end
    return found


def _relatives(
    text: str, speaker: str, marks: _Marks
) -> tuple[dict[int, _Named], dict[int, Gender]]:
    """Return the relatives of the speaker without a name, and the gender of those with one.

    The former by the position of their word, "sister" in "my sister", the latter by their name's.
    """
    unnamed: dict[int, _Named] = {}
    genders: dict[int, Gender] = {}
    for each in relatives_in(text):
        gender = gender_of_relation(each.word)
        if gender is None or each.whose == "your" or each.is_plural:
            continue
        named = name_of(text, each, marks.persons.items())
        if named is not None:
            genders[named[0]] = gender
            continue
        kin = f"{each.qualifier} {each.word}".strip()
        start = each.end - len(each.word)
        unnamed[start] = _Named(start, each.end, f"{speaker}'s {kin}", gender, False, True)
    return unnamed, genders


def _is_first_name(tokens: Tokens, index: int, word: str, marks: _Marks) -> bool:
    """Whether a capitalised word is a known first name and nothing else here."""
    if gender_of_name(word) is None or word.lower() in FUNCTION_WORDS:
        return False
    start = tokens.starts[index]
    if any(begin <= start < end for begin, end in marks.others):
        return False
    opens = _BEGINS.search(tokens.text[max(0, start - 6) : start]) is not None
    return not (opens and (word.lower() in _ALSO_WORDS or len(word) < 3))


def _gender(name: str) -> Gender | None:
    words = [word for word in name.split() if word.lower().strip(".") not in HONORIFICS]
    return gender_of_name(words[0].split("'")[0]) if words else None
