"""Endings: which earlier claims a statement may end, by the types that the reader predicts.

"We split up" ends a partner, "the boiler works again" the boiler's status. The writer decides which
of the stored claims end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.schemas.attributes import MASK
from recollect.streams.language.attributes.named_things import named_phrases, named_things
from recollect.streams.language.attributes.stated_values import MOST_ENDED
from recollect.streams.language.grammar.analysis import Ending, Mention
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.text_reading import ReadWord, TextReading, ValueType
from recollect.streams.language.grammar.verbs import base_form
from recollect.text.lexicon import RELATIONS

#: The attributes of claims, and the types of ends that may end them.
_TYPES: Mapping[str, tuple[ValueType, ...]] = {
    "home": ("home",),
    "housing": ("home",),
    "address": ("address",),
    "employer": ("employer", "job"),
    "role": ("job", "employer"),
    "work": ("job", "employer"),
    "school": ("school",),
    "studies": ("school",),
    "partner": ("partner",),
    "relationship": ("partner",),
    "family": ("family", "relation"),
    "pet": ("pet",),
    "diet": ("diet",),
    "health": ("health", "allergy"),
    "birthday": ("birthday",),
    "age": ("age",),
    "phone": ("phone",),
    "email": ("email",),
    "language": ("language",),
    "likes": ("like", "dislike"),
    "dislikes": ("dislike", "like"),
    "possession": ("possession", "pet"),
    "activity": ("habit",),
    "skill": ("skill", "habit", "language"),
    "membership": ("membership", "habit", "employer"),
    f"{MASK}'s date": ("appointment", "deadline"),
    f"{MASK}'s price": ("price",),
    f"{MASK}'s place": ("place",),
    f"{MASK}'s status": ("status",),
    f"{MASK}'s name": ("name", "pet"),
}
#: Types of values that one leaves for another, and the attributes that they can be values of.
_LEFT: Mapping[ValueType, frozenset[str]] = {
    "home": frozenset({"home", "housing", "address"}),
    "school": frozenset({"school", "studies"}),
    "employer": frozenset({"employer", "role", "work", "membership"}),
}
#: Words of a new role with the same employer, and the attributes that it leaves as they are.
_RISES = frozenset({"promoted", "appointed"})
_OUTSIDE_ROLE = frozenset({"employer", "work", "school", "studies", "membership"})
#: What has a place is still there: "the car is in the garage", "Rex is at the vet's".
_HELD = frozenset({"possession", "pet"})
_PLACED = frozenset({"in", "at", "on", "with", "near", "outside", "inside"})
_SPEAKER, _POSSESSIVES = frozenset({"i", "we", "me", "us"}), frozenset({"my", "our"})


def ending_of(
    text: str,
    span: Span,
    speaker: str,
    mentions: Sequence[Mention],
    reading: TextReading,
) -> Ending | None:
    """Return which kinds of facts the sentences in a span may declare ended; None if none."""
    start, end = span
    percents: dict[ValueType, int] = {}
    for sentence in reading.sentences_over(start, end):
        for type_, percent in sentence.ends:
            percents[type_] = max(percent, percents.get(type_, 0))
    left: list[tuple[str, frozenset[str]]] = []
    for value in reading.values_in(start, end):
        if value.holds <= MOST_ENDED:
            over = value.type_sure * (100 - value.holds) // 100
            percents[value.type] = max(over, percents.get(value.type, 0))
        is_left = value.holds <= MOST_ENDED or text[: value.start].endswith(" from ")
        if is_left and value.type in _LEFT:
            left.append((text[value.start : value.end], _LEFT[value.type]))
    attributes = tuple(
        (attribute, max(percents.get(each, 0) for each in types))
        for attribute, types in _TYPES.items()
        if not percents.keys().isdisjoint(types)
    )
    if not percents:
        return None
    words = [each for each in reading.words_in(start, end) if each.end <= end]
    lowers = [text[each.start : each.end].lower() for each in words]
    kept = _OUTSIDE_ROLE if not _RISES.isdisjoint(lowers) else frozenset[str]()
    if _is_somewhere(words, lowers):
        kept |= _HELD
    attributes = tuple(each for each in attributes if each[0] not in kept)
    people = [each for each in mentions if each.type == "PERSON"]
    relatives = [f"{speaker}'s {each}" for each in lowers if each in RELATIONS]
    others = [*(each.text for each in people), *relatives]
    # "My sister moved" is not about the speaker.
    own = _SPEAKER if relatives else _SPEAKER | _POSSESSIVES
    is_own = not others or not own.isdisjoint(lowers)
    return Ending(
        attributes,
        tuple(dict.fromkeys([speaker, *others] if is_own else others)),
        tuple(f"{speaker}'s {each}" for each in named_things(words, lowers, people)),
        tuple(named_phrases(words, lowers)),
        min(sum(percents.values()), 100),
        "" if is_own else speaker,
        tuple(dict.fromkeys(left)),
    )


def _is_somewhere(words: Sequence[ReadWord], lowers: Sequence[str]) -> bool:
    """Whether the first verb says where its subject is: "is in", "are still at"."""
    verb = next((place for place, each in enumerate(words) if each.tag.startswith("VB")), None)
    if verb is None or words[verb].tag not in ("VBZ", "VBP") or base_form(lowers[verb]) != "be":
        return False
    after = (lowers[place] for place in range(verb + 1, len(words)) if words[place].tag != "RB")
    return next(after, "") in _PLACED
