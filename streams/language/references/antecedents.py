"""The antecedent of a "he" or "she" at the start of a clause, if the message leaves no doubt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.streams.language.grammar.analysis import Mention
from recollect.streams.language.grammar.reported import Span, is_reported
from recollect.streams.language.grammar.vocatives import is_vocative
from recollect.streams.language.names.first_names import Gender, gender_of_name, gender_of_relation
from recollect.text.lexicon import OCCUPATIONS, RELATIONS
from recollect.text.relatives import Relative, name_of, relatives_in

#: In characters: a person named longer ago may no longer be the topic.
_NEAR = 400
_PRONOUN = re.compile(r"(?P<he>he)|she", re.IGNORECASE)
#: Other possible antecedents: "a friend", "her doctor", "that woman", "they".
_ANYBODY = re.compile(
    rf"\b(?:{'|'.join(sorted(RELATIONS | OCCUPATIONS))}|man|woman|men|women|guys?|lady|"
    r"person|people|friends|kids|children|parents|they|them|someone|somebody|dog|cat|puppy|kitten|pet|"
    r"rabbit|horse|bird)s?\b",
    re.IGNORECASE,
)


def antecedent(
    text: str, place: int, mentions: Sequence[Mention], speaker: str, others: list[Span]
) -> tuple[str, list[Mention]] | None:
    """Return the name of the person whom the pronoun at `place` means, and their mentions.

    That is the only person of that gender whom the paragraph names before; None if anybody else may
    be meant, or the gender is unknown. `others` are the spans of other people's words.
    """
    pronoun = _PRONOUN.match(text, place)
    begin = max(text.rfind("\n\n", 0, place), place - _NEAR, 0)
    if pronoun is None or is_reported(others, place):
        return None
    wanted: Gender = "m" if pronoun["he"] else "f"
    named = [item for item in mentions if begin <= item.start and item.end <= place]
    if any(item.type == "OTHER" or is_reported(others, item.start) for item in named):
        return None
    persons = [
        item for item in named if item.type == "PERSON" and not is_vocative(text, item, place)
    ]
    kin = [each for each in relatives_in(text, begin, place) if each.is_own]
    if len(kin) > 1 or any(
        not _within(each, kin) for each in _ANYBODY.finditer(text, begin, place)
    ):
        return None
    names = {item.text for item in persons}
    if len(names) > 1 or names & {speaker, speaker.split(" ")[0]} or not (kin or names):
        return None
    if kin and persons and name_of(text, kin[0], [(persons[0].start, persons[0].end)]) is None:
        return None
    gender = gender_of_relation(kin[0].word) if kin else None
    if gender is None and persons:
        gender = gender_of_name(persons[0].text.split(" ")[0])
    if gender != wanted:
        return None
    if not kin:
        return persons[0].text, persons[:1]
    if persons and persons[0].start != kin[0].end + 1:
        # "Eve is my sister"
        return persons[0].text, persons[:1]
    end = persons[0].end if persons else kin[0].end
    return text[kin[0].start : end], persons[:1]


def _within(found: re.Match[str], kin: Sequence[Relative]) -> bool:
    return any(each.start <= found.start() < each.end for each in kin)
