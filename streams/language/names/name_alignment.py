"""Alignment of the words of two names, and how well they agree."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from rapidfuzz.distance import DamerauLevenshtein

from recollect.streams.language.names.pet_forms import is_pet_form
from recollect.text.lexicon import word_set
from recollect.text.name_forms import NameForm, NameKind, sound_of
from recollect.text.nicknames import other_names

#: How two words agree, the most certain first; "far": they do not.
Agreement = Literal["equal", "nickname", "sound", "typo", "initial", "far"]

_WORTH: dict[Agreement, float] = {
    "equal": 1.0,
    "sound": 0.9,
    "nickname": 0.8,
    "typo": 0.7,
    "initial": 0.5,
    "far": 0.0,
}
# A word of this many letters may have one typo; one of twice as many, two.
_LETTERS_A_TYPO = 3
# The minimum length of a clipped name: Mel for Melanie.
_CLIPPED = 3
# The endings of patronymics, and the minimum length of such a word.
_CHILD_OF = (
    "ovich", "evich", "ovych", "evych", "ovitch", "evitch", "ovna", "evna", "ivna", "ichna",
)  # fmt: skip
_PATRONYMIC = 7
# Full names that end as diminutives do.
_NO_DIMINUTIVES = word_set(
    """marie julie sophie natalie nathalie valerie stephanie melanie rosalie leslie amelie emilie
    aurelie elodie leonie eugenie virginie stacie bonnie kelly shelly emily molly harry henry"""
)


class AlignedWords(Struct, frozen=True):
    """A word of each name; `agreement` says how they agree."""

    one: str
    other: str
    agreement: Agreement


class Alignment(Struct, frozen=True):
    """Pairs of words that agree, in the order of the first name, and the unmatched words."""

    pairs: tuple[AlignedWords, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    in_order: bool


def agreement(
    one: str, other: str, *, transliterated: bool = False, given: bool = True
) -> Agreement:
    """Return how two words of names agree.

    `transliterated`: they come from two scripts. `given`: they may be given names. Only given names
    have nicknames and are clipped: Lind is not short for Lindemann.
    """
    if one == other:
        return "equal"
    if one.isdecimal() or other.isdecimal():
        return "far"
    short, long = sorted((one, other), key=len)
    if len(short) == 1:
        return "initial" if long.startswith(short) else "far"
    clipped = len(short) >= _CLIPPED and long.startswith(short) and len(long) > len(short) + 1
    if given and not _is_fathers_name(short, long):
        named = clipped or long in other_names(short) or short in other_names(long)
        if (
            named
            or _is_diminutive(short, long)
            or is_pet_form(one, other)
            or is_pet_form(other, one)
        ):
            return "nickname"
    distance = DamerauLevenshtein.distance(one, other)
    allowed = len(long) // _LETTERS_A_TYPO
    sound = sound_of(one)
    # In a short word, every letter counts: Ann is not Jan, and Xi is not Shi.
    alike = one[0] == other[0] or len(short) > _CLIPPED or sound[0] not in "aeiou"
    if sound == sound_of(other) and (transliterated or (alike and distance <= allowed + 1)):
        return "sound"
    # The first letter is hardly ever mistyped: Iran is not Tigran.
    return "typo" if distance <= allowed and one[0] == other[0] else "far"


def is_patronymic(word: str) -> bool:
    """Return whether a word is a patronymic: Ivanovich, Petrovna."""
    return len(word) >= _PATRONYMIC and word.endswith(_CHILD_OF)


def _is_diminutive(short: str, long: str) -> bool:
    """Whether a short name is a diminutive of a longer one: Junie of Juniper."""
    if short in _NO_DIMINUTIVES:
        return False
    stem = short[:-2] if short.endswith("ie") else short[:-1] if short.endswith("y") else ""
    doubled = len(stem) > 1 and stem[-1] == stem[-2]
    stem = stem[:-1] if doubled else stem
    fewest = _CLIPPED if doubled or short.endswith("ie") else _CLIPPED + 1
    return len(stem) >= fewest and len(long) > len(stem) + 2 and long.startswith(stem)


def _is_fathers_name(short: str, long: str) -> bool:
    """Whether the longer word is a patronymic of the shorter: Oleksandrovych is not Oleksandr."""
    return is_patronymic(long) and long.startswith(short[:-1])


def align(one: NameForm, other: NameForm, kind: NameKind = "person") -> Alignment:
    """Pair the words of two names, the most certain pairs first; each word is used once."""
    scripts = one.script != other.script
    scored = sorted(
        (-_WORTH[how], abs(i - j), i, j, how)
        for i, left in enumerate(one.words)
        for j, right in enumerate(other.words)
        if (
            how := agreement(
                left,
                right,
                transliterated=scripts,
                given=kind == "person" and not (_is_family(i, one) or _is_family(j, other)),
            )
        )
        != "far"
    )
    places: dict[int, tuple[int, Agreement]] = {}
    taken: set[int] = set()
    for _, _, i, j, how in scored:
        if i not in places and j not in taken:
            places[i] = j, how
            taken.add(j)
    pairs = tuple(
        AlignedWords(one.words[i], other.words[j], how) for i, (j, how) in sorted(places.items())
    )
    order = [j for _, (j, _) in sorted(places.items())]
    found = Alignment(
        pairs=pairs,
        left=tuple(word for i, word in enumerate(one.words) if i not in places),
        right=tuple(word for j, word in enumerate(other.words) if j not in taken),
        in_order=order == sorted(order),
    )
    return (
        _joined(found, found.left, found.right) or _joined(found, found.right, found.left) or found
    )


def _is_family(place: int, name: NameForm) -> bool:
    return 0 < place == len(name.words) - 1


def _joined(
    found: Alignment, several: tuple[str, ...], single: tuple[str, ...]
) -> Alignment | None:
    """Pair unmatched words of one name with one word of the other: "Patr ushev", or "J C" as "JC".

    Return None if there is no such pair.
    """
    if len(several) < 2:
        return None
    whole, initials = "".join(several), "".join(word[0] for word in several)
    for word in single:
        if word == initials:
            pair = AlignedWords(word, " ".join(several), "initial")
        elif (how := agreement(whole, word)) in ("equal", "sound", "typo"):
            pair = AlignedWords(whole, word, "sound" if how == "equal" else how)
        else:
            continue
        rest = tuple(each for each in single if each != word)
        mine = several is found.left
        return Alignment(
            (*found.pairs, pair), () if mine else rest, rest if mine else (), found.in_order
        )
    return None
