"""Whether a sentence names what the one after it means, and a question what it asks about."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.streams.language.grammar.analysis import Mention
from recollect.streams.language.grammar.verbs import BASES
from recollect.streams.language.names.first_names import Gender, gender_of_name
from recollect.streams.language.references.bare_things import is_verb
from recollect.streams.language.references.standing_alone import POINTING, THEY, left_open
from recollect.streams.language.references.what_is_named import (
    AGENTS,
    DETERMINERS,
    HE,
    SOMEBODY,
    Named,
    gender_of,
    is_noun,
)
from recollect.text.lexicon import (
    AUXILIARIES,
    PREPOSITIONS,
    word_set,
)
from recollect.text.tokenizer import Tokens, bare

_OF_LISTENER = word_set("you your yours you're you've you'll you'd ya u ur")
_COPULAS = word_set("feel feels felt seem seems look looks sound sounds get gets got become became")
_NUMERALS = word_set("two three four five six seven eight nine ten twelve twenty many several")
_BEFORE_THINGS = (PREPOSITIONS | BASES) - _COPULAS
_NO_ACTS = _COPULAS | AUXILIARIES
_DETERMINING = DETERMINERS | _NUMERALS
_THEY_ALONE = THEY - word_set("their theirs")


def explains(
    tokens: Tokens,
    left: int,
    middle: int,
    right: int,
    mentions: Sequence[Mention],
    begin: int,
    person: int | None,
) -> bool:
    """Whether a sentence, the tokens from `left` to `middle`, names what the one after it means.

    It names one thing at least, or, where the token `person` stands for somebody, nobody but one,
    and leaves nothing open itself. `begin` is where it begins to say something.
    """
    inside = [item for item in mentions if item.start < tokens.ends[middle - 1]]
    if left_open(tokens, left, middle, inside, begin) != "nothing":
        return False
    if not _OF_LISTENER.isdisjoint(tokens.lowers[left:middle]):
        return False
    if person is not None:
        word = tokens.lowers[person].split("'")[0]
        if not _is_one_person(tokens, left, middle, inside, "m" if word in HE else "f"):
            return False
    elif not _names_thing(tokens, left, middle, inside):
        return False
    if _THEY_ALONE.isdisjoint(tokens.lowers[middle:right]):
        return True
    return Named(tokens, left, middle, inside).several_before(middle, "them")


def tells_what(asked: Tokens) -> bool:
    """Whether a question says by itself what it asks about: "Do you still have the dog?"."""
    right = len(asked.words)
    if left_open(asked, 0, right, (), 0) != "nothing" or not POINTING.isdisjoint(asked.lowers):
        return False
    return _names_thing(asked, 0, right, ())


def _names_thing(tokens: Tokens, left: int, right: int, mentions: Sequence[Mention]) -> bool:
    """Whether a thing is named for sure: "a loom", "hockey" after "play", a name."""
    lowers = tokens.lowers
    persons = [item for item in mentions if item.type == "PERSON"]
    if any(item.type not in ("DATE", "TIME", "NUMBER", "PERSON") for item in mentions):
        return True
    return any(
        is_noun(tokens, at, left)
        and not any(item.start <= tokens.starts[at] < item.end for item in persons)
        and (
            not _DETERMINING.isdisjoint(lowers[max(left, at - 3) : at])
            or lowers[at - 1].isdecimal()
            or lowers[at - 1] in _BEFORE_THINGS
            or (is_verb(lowers[at - 1]) and lowers[at - 1] not in _NO_ACTS)
        )
        for at in range(left + 1, right)
    )


def _is_one_person(
    tokens: Tokens, left: int, right: int, mentions: Sequence[Mention], gender: Gender
) -> bool:
    """Whether one person alone is named of whom "he" or "she" may be said."""
    found: set[str] = set()
    taken = -1
    for item in mentions:
        if item.type in ("PERSON", "OTHER") and (
            gender_of_name(item.text.split(" ")[0]) in (None, gender)
        ):
            found.add(item.text)
    named = [(item.start, item.end) for item in mentions if item.type in ("PERSON", "OTHER")]
    for at in range(left, right):
        start = tokens.starts[at]
        if start < taken or any(begin <= start < end for begin, end in named):
            continue
        word = bare(tokens.lowers[at])
        somebody = word in SOMEBODY or (
            at > left and tokens.lowers[at - 1] in DETERMINERS and word.endswith(AGENTS)
        )
        if somebody and gender_of(word) in (None, gender):
            following = tokens.ends[at] + 1
            if any(begin == following for begin, _ in named):
                continue  # "my aunt Nora"
            found.add(word)
    return len(found) == 1
