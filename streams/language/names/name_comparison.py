"""Whether two names may denote the same entity: certain by rules, or proposed by likelihood.

A comparison of names never proves that two accounts belong to one person.
"""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct
from rapidfuzz import fuzz
from rapidfuzz.distance import DamerauLevenshtein

from recollect.schemas.names import normalise_name, same_letters
from recollect.streams.language.names.name_alignment import (
    AlignedWords,
    Alignment,
    align,
    is_patronymic,
)
from recollect.streams.language.names.pet_forms import beginning
from recollect.text.name_forms import NameForm, NameKind, name_form, roman

#: The minimum likelihood at which a merge is proposed.
PROPOSED = 0.38

# The minimum similarity, of 100, of equal words in two alphabets: Barack and Barak.
_TRANSLITERATED = 75

# The likelihood for an acronym and words with its letters, which are too rare to learn from.
_ACRONYM = 0.6

# The likelihood for one first name in two spellings or scripts: José and Jose.
_FIRST_NAME = 0.9

# The likelihood for bare initials and a name that begins with them.
_INITIALS = 0.2

# The maximum for two-word names of which one word agrees and the other differs: Emma Stone, Emma
# Watson.
_ANOTHER_WORD = 0.2
# The minimum similarity, 0 to 1, of two words that may be the same.
_ALIKE = 0.55

_MIXED = "MIXED"

# Endings of a family name for a man, and for a woman of the same family.
_OF_MEN_AND_WOMEN = (
    ("ov", "ova"), ("ev", "eva"), ("in", "ina"), ("sky", "skaya"), ("skiy", "skaya"),
    ("skii", "skaia"), ("ski", "ska"), ("cki", "cka"), ("sky", "ska"), ("y", "a"),
)  # fmt: skip

# Below this length, a first name with one letter more or less is another name.
_SHORT_FIRST_NAME = 5

# The maximum length of a short name.
_SHORT = 6

#: The weight of each feature of a pair of names; learnt by `python -m training.name_weights` from
#: the name pairs of OpenSanctions' nomenklatura (MIT).
WEIGHTS: dict[str, float] = {
    "one": -1.837,
    "equal of the shorter": -0.037,
    "equal of the longer": 0.115,
    "sounding alike": 0.578,
    "nicknames": 0.145,
    "initials": 0.473,
    "typos": -0.558,
    "words of both left": -0.072,
    "words of one left": -0.604,
    "the first word agrees": 0.516,
    "the last word agrees": -0.257,
    "alike as a whole": 0.735,
    "one word against several": 0.013,
    "a company": -0.930,
    "what is left is alike": 0.104,
    "a company with more words": -0.595,
    "one of them is short": -0.431,
    "both ends agree": 0.556,
    "alike letter by letter": 0.578,
    "all words of one": 2.527,
}


class NameComparison(Struct, frozen=True):
    """Whether two names are the same; `likelihood`, 0 to 1, and the `reasons`.

    `in_general`: the reasons without words of the names, if `reasons` contain any.
    """

    decision: Literal["same", "propose", "different"]
    likelihood: float
    reasons: tuple[str, ...]
    in_general: tuple[str, ...] = ()


def compare_names(one: str, other: str, kind: NameKind) -> NameComparison:
    """Compare two names of persons, companies or other things; the order does not matter."""
    if normalise_name(one) == normalise_name(other):
        return NameComparison("same", 1.0, ("the same name",))
    first, second = sorted((one, other))
    left, right = name_form(first, kind), name_form(second, kind)
    if not left.words or not right.words:
        return NameComparison("different", 0.0, ("a name without letters",))
    if conflict := _conflict(left, right, kind):
        return NameComparison("different", 0.0, (conflict,))
    aligned = align(left, right, kind)
    if same := _same(left, right, aligned):
        alone = kind == "person" and len(left.words) == 1 and left.suffix is None
        if alone and not same_letters(one, other):
            return NameComparison("propose", _FIRST_NAME, (same, "a first name alone"))
        return NameComparison("same", 1.0, (same,))
    if _numbered_words_differ(aligned):
        return NameComparison("different", 0.0, ("other numbers",))
    if _initials_differ(left, right, aligned):
        return NameComparison("different", 0.0, ("another initial",))
    if kind == "person" and (conflict := _person_conflict(left, right, aligned)):
        return NameComparison("different", 0.0, (conflict,))
    if kind == "person" and any(_is_initials(each) for each in (left, right)):
        return NameComparison("different", _INITIALS, ("one is nothing but initials",))
    if _is_acronym(left, right):
        return NameComparison("propose", _ACRONYM, ("one is the first letters of the other",))
    if kind == "person" and _are_other_first_names(left, right, aligned):
        return NameComparison("different", _ANOTHER_WORD, ("the first names differ",))
    if kind == "person" and _has_another_word(left, right, aligned):
        return _alike("different", _ANOTHER_WORD, aligned)
    likely = likelihood(features(left, right, aligned, kind))
    return _alike("propose" if likely >= PROPOSED else "different", likely, aligned)


def features(
    one: NameForm, other: NameForm, aligned: Alignment, kind: NameKind
) -> tuple[float, ...]:
    """Return the features from which `likelihood` computes whether two names mean one entity."""
    shorter = min(len(one.words), len(other.words))
    longer = max(len(one.words), len(other.words))
    count = dict.fromkeys(("equal", "nickname", "sound", "typo", "initial"), 0)
    for pair in aligned.pairs:
        count[pair.agreement] += 1
    first = agrees = 0.0
    for pair in aligned.pairs:
        first = first or float(one.words[0] == pair.one and other.words[0] == pair.other)
        agrees = agrees or float(one.words[-1] == pair.one and other.words[-1] == pair.other)
    left, right = len(aligned.left), len(aligned.right)
    return (
        1.0,
        count["equal"] / shorter,
        count["equal"] / longer,
        count["sound"] / shorter,
        count["nickname"] / shorter,
        count["initial"] / shorter,
        count["typo"] / shorter,
        float(min(left, right)),
        abs(left - right) / longer,
        first,
        agrees,
        fuzz.token_sort_ratio(" ".join(one.words), " ".join(other.words)) / 100,
        float(shorter == 1 and longer > 1),
        float(kind != "person"),
        max((fuzz.ratio(a, b) for a in aligned.left for b in aligned.right), default=0.0) / 100,
        float(kind != "person" and (left == 0) != (right == 0)),
        float(min(len("".join(one.words)), len("".join(other.words))) < _SHORT),
        first * agrees,
        fuzz.ratio("".join(one.words), "".join(other.words)) / 100,
        float(not left or not right),
    )


def likelihood(values: tuple[float, ...]) -> float:
    """Return the likelihood, 0 to 1, that two names with these features are the same."""
    weighed = math.fsum(
        weight * value for weight, value in zip(WEIGHTS.values(), values, strict=True)
    )
    return round(1 / (1 + math.exp(-weighed)), 4)


def _conflict(one: NameForm, other: NameForm, kind: NameKind) -> str | None:
    """Return why two names cannot be the same, however similar their words; None if they can."""
    # A person's account may append a number to the name: ada, ada99.
    if one.numbers != other.numbers and (kind != "person" or (one.numbers and other.numbers)):
        return "other numbers"
    if one.suffix and other.suffix and one.suffix != other.suffix:
        return "another generation"
    numerals = [each.suffix or roman(each.words[-1]) for each in (one, other)]
    if (
        kind == "person"
        and all(numerals)
        and numerals[0] != numerals[1]
        and _are_numbered(one, other)
    ):
        return "another generation"
    if one.gender and other.gender and one.gender != other.gender:
        return "a man's title and a woman's"
    if len({one.legal, other.legal} - {None, "company"}) > 1:
        return "another legal form"
    return None


def _numbered_words_differ(aligned: Alignment) -> bool:
    """Whether words with digits in both names differ: gate 12a, gate 12b."""
    pairs = [(each.one, each.other) for each in aligned.pairs if each.agreement != "equal"]
    pairs += [(left, right) for left in aligned.left for right in aligned.right]
    return any(_has_digit(one) and _has_digit(other) for one, other in pairs)


def _has_digit(word: str) -> bool:
    return any(letter.isdecimal() for letter in word)


def _are_numbered(one: NameForm, other: NameForm) -> bool:
    """Whether two names are equal except for a final numeral, such as a suffix."""
    stems = (each.words if each.suffix else each.words[:-1] for each in (one, other))
    first, second = stems
    return bool(first) and first == second


def _initials_differ(one: NameForm, other: NameForm, aligned: Alignment) -> bool:
    """Whether each name has an initial, or a word, that conflicts with the other's initial."""
    return any(
        len(left) == 1 or len(right) == 1 for left in aligned.left for right in aligned.right
    )


def _person_conflict(one: NameForm, other: NameForm, aligned: Alignment) -> str | None:
    """Return why two names cannot be one person's, given the aligned words; None if they can."""
    if any(map(is_patronymic, aligned.left)) and any(map(is_patronymic, aligned.right)):
        return "another father's name"
    several = min(len(one.words), len(other.words)) > 1
    if several and one.words[0] != other.words[0] and _is_of_other_gender(one, other):
        return "a man's name and a woman's"
    return None


def _is_of_other_gender(one: NameForm, other: NameForm) -> bool:
    """Whether the last words are a family name in its male and female forms: Baranov, Baranova."""
    ends = sorted((one.words[-1], other.words[-1]), key=len)
    return any(
        ends[0].endswith(man)
        and ends[1].endswith(woman)
        and ends[0].removesuffix(man) == ends[1].removesuffix(woman)
        for man, woman in _OF_MEN_AND_WOMEN
    )


def _has_another_word(one: NameForm, other: NameForm, aligned: Alignment) -> bool:
    """Whether two two-word names share one word, and the others are dissimilar."""
    sizes = len(one.words), len(other.words), len(aligned.left), len(aligned.right)
    if sizes != (2, 2, 1, 1):
        return False
    return DamerauLevenshtein.normalized_similarity(aligned.left[0], aligned.right[0]) < _ALIKE


def _are_other_first_names(one: NameForm, other: NameForm, aligned: Alignment) -> bool:
    """Whether two first names are similar but different: Dan and Dana, Whit and Whitlock."""
    return _is_similar_single_word(one, other, aligned) or (
        len(one.words) == len(other.words) == 1
        and min(len(one.words[0]), len(other.words[0])) < _SHORT_FIRST_NAME
        and all(pair.agreement in ("sound", "typo") for pair in aligned.pairs)
    )


def _is_initials(name: NameForm) -> bool:
    return all(len(word) == 1 for word in name.words)


def _is_similar_single_word(one: NameForm, other: NameForm, aligned: Alignment) -> bool:
    """Whether one name is a single word that merely resembles a word of the other name."""
    single = min(len(one.words), len(other.words)) == 1 < max(len(one.words), len(other.words))
    return (
        single
        and "".join(one.words) != "".join(other.words)
        and all(pair.agreement in ("sound", "typo") for pair in aligned.pairs)
    )


def _same(one: NameForm, other: NameForm, aligned: Alignment) -> str | None:
    """Return why two names are certainly the same; None if that is not certain."""
    if one.suffix != other.suffix or _MIXED in (one.script, other.script):
        # A word that mixes alphabets is meant to be mistaken for another.
        return None
    if one.words == other.words:
        titles = one.titled != other.titled
        if len(one.words) == 1 and titles:
            return None
        return "the same words"
    if one.written == other.written or "".join(one.words) == "".join(other.words):
        return "the same letters"
    if sorted(one.words) == sorted(other.words):
        if one.reordered != other.reordered:
            return "the same words, the family name first"
        if len(one.words) > 2:
            return "the same words in another order"
    if _lacks_patronymic(one, other, aligned):
        return "the same words, one without the father's name"
    if aligned.left or aligned.right or not aligned.in_order:
        return None
    hows = [pair.agreement for pair in aligned.pairs]
    if set(hows) <= {"equal", "initial"} and hows.count("equal") >= 2:
        return "the same words, and an initial"
    if (
        one.script != other.script
        and len(hows) > 1
        and all(map(_is_transliteration, aligned.pairs))
    ):
        return "the same name in another script"
    return None


def _lacks_patronymic(one: NameForm, other: NameForm, aligned: Alignment) -> bool:
    """Whether one name is the other without a patronymic between the first and the last word."""
    shorter, longer = sorted((one, other), key=lambda name: len(name.words))
    rest = aligned.left or aligned.right
    agree = all(
        pair.agreement == "equal" or (one.script != other.script and _is_transliteration(pair))
        for pair in aligned.pairs
    )
    return (
        len(shorter.words) == 2
        and len(longer.words) == 3
        and rest == longer.words[1:2]
        and is_patronymic(longer.words[1])
        and aligned.in_order
        and agree
    )


def _is_transliteration(pair: AlignedWords) -> bool:
    """Whether two words are equal across two alphabets; "Aleksandra" is not "Aleksandr"."""
    if pair.agreement == "equal":
        return True
    ends = {word[-1] == "a" for word in (pair.one, pair.other)}
    return (
        pair.agreement == "sound"
        and len(ends) == 1
        and fuzz.ratio(pair.one, pair.other) >= _TRANSLITERATED
    )


def _is_acronym(one: NameForm, other: NameForm) -> bool:
    """Whether one name is an acronym of the other."""
    for short, long in ((one, other), (other, one)):
        if len(short.words) == 1 and len(long.words) > 2:
            letters = "".join(word[0] for word in long.words)
            if len(short.words[0]) > 2 and short.words[0] == letters:
                return True
    return False


def _base_forms_first(word: str) -> tuple[bool, int]:
    """Return a sort key that puts a word before its derived forms."""
    return beginning(word) is None, len(word)


#: Descriptions of how words agree, with the words and without.
_AGREE = {
    "nickname": ("{} is a nickname of {}", "a nickname"),
    "sound": ("{} and {} sound alike", "words that sound alike"),
    "typo": ("{} and {} are spelt alike", "words that are spelt alike"),
    "initial": ("{} may be {}", "an initial"),
}


def _alike(
    decision: Literal["propose", "different"], likely: float, aligned: Alignment
) -> NameComparison:
    """Return the result by likelihood, with the agreeing and differing words as reasons."""
    reasons: list[tuple[str, str]] = []
    if equal := [pair.one for pair in aligned.pairs if pair.agreement == "equal"]:
        reasons.append((f"both have {' '.join(equal)}", "a part of the name is the same"))
    for pair in aligned.pairs:
        if pair.agreement != "equal":
            named, general = _AGREE[pair.agreement]
            words = sorted((pair.one, pair.other), key=_base_forms_first)
            reasons.append((named.format(*words), general))
    left, right = " ".join(aligned.left), " ".join(aligned.right)
    if left and right:
        reasons.append((f"{left} is not {right}", "another word"))
    elif left or right:
        reasons.append((f"only one has {left or right}", "only one has more"))
    named_all, general_all = zip(*reasons, strict=True) if reasons else ((), ())
    return NameComparison(decision, likely, named_all, tuple(dict.fromkeys(general_all)))
