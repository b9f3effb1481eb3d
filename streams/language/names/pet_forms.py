"""Pet forms made of the beginning of a first name: Juju (doubled) and Juni (clipped) for Junie."""

from __future__ import annotations

import re

from recollect.streams.language.names.first_names import gender_of_name
from recollect.text.lexicon import word_set
from recollect.text.nicknames import is_title, other_names

_BEGINNING = r"[b-df-hj-np-tv-xz]{1,2}[aeiouy]{1,2}"
_DOUBLED = re.compile(rf"({_BEGINNING})\1")
_FIRST = re.compile(_BEGINNING)
#: The minimum length of a clipped name.
_CLIPPED = 3
#: Doubled syllables that are not names: laughter, and children's words for people and things.
_NO_NAMES = word_set("haha hehe hihi hoho lala blabla dada baba tata yaya bobo dodo yoyo tutu caca")


def beginning(pet: str) -> str | None:
    """Return the syllable that a lower-case name doubles, "ju" of "juju"; None if none."""
    doubled = _DOUBLED.fullmatch(pet)
    return None if doubled is None or pet in _NO_NAMES or is_title(pet) else doubled[1]


def is_pet_form(pet: str, first: str) -> bool:
    """Whether a lower-case word doubles the beginning of another; "lou" counts as "lu" too."""
    begins = beginning(pet)
    return (
        begins is not None
        and beginning(first) is None
        and _sound(first).startswith(_sound(begins))
        and len(first) > len(begins)
    )


def may_be_clipped(short: str) -> bool:
    """Whether a lower-case word may be a clipped name, and is not itself a known name."""
    known = gender_of_name(short) is not None or other_names(short) or is_title(short)
    return len(_stem(short)) >= _CLIPPED and " " not in short and not known


def is_clipped(short: str, first: str) -> bool:
    """Whether `first` begins with `short`, and `short` may be its clipped form."""
    long_enough = len(first) > len(short) + 1
    return long_enough and first.startswith(_stem(short)) and may_be_clipped(short)


def _stem(short: str) -> str:
    return short.removesuffix("ie") if short.endswith("ie") else short.rstrip("iy")


def pet_forms(first: str) -> tuple[str, ...]:
    """Return the names that double the beginning of a lower-case first name."""
    found = _FIRST.match(first)
    if found is None or beginning(first) is not None:
        return ()
    whole = found[0]
    short = whole[:-1] if whole[-2:-1] in tuple("aeiouy") else whole
    begins = {whole, short, _sound(whole)}
    return tuple(sorted(form for form in (each * 2 for each in begins) if is_pet_form(form, first)))


def _sound(word: str) -> str:
    return word.replace("ou", "u")
