"""Slots of the values that the reader finds: of a known type, or of an open attribute.

A typed value of a person fills that person's slot ("home"); one of a thing fills a frame of the
thing ("Ada's boiler", "…'s status"). A value that no longer holds, or is denied, ends earlier
claims with the same value.

The attribute of any other value is named by the noun that it is said of. If that is a
single thing with one value at a time, it is a frame: "my shoe size is 43" gives "…'s shoe size is".
Otherwise it is open, and its values end nothing: "boiler: …" gives `boiler`. Verbs name none: two
readers found 17 of 19 such slots wrong ("feel that", "be for").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from recollect.schemas.attributes import MASK, is_open, is_single_valued
from recollect.streams.language.attributes.frames import frame_of, is_attribute
from recollect.streams.language.attributes.modality import (
    denies_verb,
    is_asserted,
    is_former,
    verb_group,
)
from recollect.streams.language.attributes.named_things import (
    NOUNS,
    named_phrases,
    named_things,
)
from recollect.streams.language.grammar.analysis import Claim, Mention
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.text_reading import (
    ReadValue,
    ReadWord,
    TextReading,
    ValueType,
)
from recollect.streams.language.grammar.verbs import base_form
from recollect.text.lexicon import PARTNERS
from recollect.text.relatives import Relative, called_in, relatives_in

#: The attribute of a person for each type of value.
_OF_PERSONS: Mapping[ValueType, str] = {
    "home": "home",
    "address": "address",
    "employer": "employer",
    "job": "role",
    "school": "school",
    "partner": "partner",
    "family": "family",
    "pet": "pet",
    "diet": "diet",
    "allergy": "health",
    "health": "health",
    "birthday": "birthday",
    "age": "age",
    "phone": "phone",
    "email": "email",
    "language": "language",
    "like": "likes",
    "dislike": "dislikes",
    "possession": "possession",
    "habit": "activity",
    "skill": "skill",
    "membership": "membership",
}
#: The attribute of a thing for each type of value, with one value at a time.
_OF_THINGS: Mapping[ValueType, str] = {
    "appointment": "date",
    "deadline": "date",
    "price": "price",
    "place": "place",
    "status": "status",
    "name": "name",
}
#: The attributes of things, whose subjects are named by a noun only.
OF_THINGS = frozenset(f"{MASK}'s {each}" for each in _OF_THINGS.values())
#: Minimum probabilities (percent): that a value has its type, that it has it certainly enough to
#: end a person's earlier values, and that it is the sender's own.
_TYPED, _ENDING, _OWN = 28, 50, 50
#: A value is over if its probability of still holding (percent) is at most the first; or if it is
#: at most the second, and the sentence ends facts of its type with at least the third probability.
MOST_ENDED, _DOUBTFUL, _ENDING_TYPE = 50, 75, 15
#: The maximum length of a name, in words.
_LONGEST = 5
#: How far before the value, in words, its verb may be negated.
_DENIED_WITHIN = 4
_DENIALS = frozenset({"not", "n't", "n’t", "no", "never"})
_SPEAKER = frozenset({"i", "we", "my", "our"})
_SELF = frozenset({"i", "we", "me", "us", "i'm", "im", "i’m"})
_AS_SUBJECT = frozenset({"i", "we", "myself", "ourselves"})
#: After one of these stands a verb, even if it is read as a noun: "it rains".
_BEFORE_VERBS = frozenset({"i", "you", "he", "she", "it", "we", "they", "who"})
#: Tags of verbs that, after a noun, have it as their subject.
_FINITE = frozenset({"VBZ", "VBP"})
#: The maximum length of a value, in words: a longer one is a statement, unless it is a location.
_LONGEST_VALUE = 8
_OF_PLACES = frozenset[ValueType]({"address", "place", "home"})
#: Tags of the words in a noun phrase, at its beginning, and of connections to another one.
_PHRASE = NOUNS | {"JJ", "CD", "DT", "PRP$", "POS"}
_BEGINS = frozenset({"DT", "PRP$", "POS"})
#: Nouns after the name of a language that name it too: "the Welsh language".
_LANGUAGES = frozenset({"language", "dialect"})
#: A day is a birthday only with one of these words.
_BIRTH = frozenset({"birthday", "bday", "b-day", "born", "birth", "turn", "turns", "turned"})
#: Words of couples. Without one of them, somebody who was met is no partner.
_COUPLES = PARTNERS | {"dating", "engaged", "marry", "married", "together", "wedding"}
_IS = frozenset({"is", "'s", "’s"})
#: Types of values that somebody may not eat, and verbs of eating, in their base forms.
_AVOIDED = frozenset[ValueType]({"diet", "allergy"})
_EATS = frozenset({"eat", "drink", "take", "tolerate", "digest", "stand", "touch"})
#: What stands between values of a list, and types whose values cannot be owners of others.
_BETWEEN_VALUES = re.compile(r"\s*(?:[,;/&+]|(?:and|or)\b)", re.IGNORECASE)
#: Tags of the words between them, and their maximum number.
_IN_LISTS, _MOST_BETWEEN = frozenset({"CC", "DT", "JJ", "RB", "NN", ","}), 3
_UNTIL = frozenset({"until", "till", "til"})
_SOMEBODY = frozenset[ValueType]({"partner", "family", "relation", "pet", "name"})
_LINKS = frozenset({"IN", "TO", "RP"})


def stated_slot(
    text: str,
    span: Span,
    speaker: str,
    mentions: Sequence[Mention],
    reading: TextReading,
    known: Collection[Span] = (),
) -> Claim | None:
    """Return the slot that the values in a span of a text fill; None if none.

    If there are several values, one of a known type fills the slot, preferably of a single-valued
    attribute, and among those the most certain. `known` are the spans whose values fill other
    slots.
    """
    filled: list[tuple[bool, bool, int, Claim]] = []
    for value in reading.values_in(*span):
        if any(value.start < last and first < value.end for first, last in known):
            continue
        if _is_statement(text, value, reading):
            continue
        if _is_time_of_entry(text, value) or _only_has_language(value, text, reading):
            continue
        clause = _clause(text, span, value, speaker, mentions, reading)
        said = " ".join(text[value.start : value.end].split())
        avoided = clause.avoided(value)
        if avoided is not None:
            said = " ".join(text[avoided : value.end].split())
        elif (_is_over(value, reading) and not clause.lasts(value)) or not clause.asserts(
            value, said
        ):
            continue
        slot = clause.typed_slot(value)
        if slot is None:
            found = clause.slot(said)
            # "The phone is broken" gives no telephone number.
            if found is not None and (MASK in found[1] or is_open(found[1])):
                filled.append((False, MASK in found[1], value.sure, Claim(*found, said)))
            continue
        (subject, *also), attribute = slot
        if avoided is None and not is_single_valued(attribute):
            said = _listed(text, span, value, reading)
        claim = Claim(subject, attribute, said, tuple(also))
        filled.append((True, is_single_valued(attribute), value.sure, claim))
    best = max(filled, key=lambda each: each[:3], default=None)
    return best[3] if best is not None else None


def _listed(text: str, span: Span, value: ReadValue, reading: TextReading) -> str:
    """Return the list of values of one type that a value is part of: "Greek and Dutch"."""
    start, end = value.start, value.end
    found = [each for each in reading.values_in(*span) if each.type == value.type]
    for other in found:
        if other.start >= end and _joins(text, end, other.start, reading):
            end = other.end
    for other in reversed(found):
        if other.end <= start and _joins(text, other.end, start, reading):
            start = other.start
    return " ".join(text[start:end].split())


def _joins(text: str, start: int, end: int, reading: TextReading) -> bool:
    """Whether what stands between two values makes them a list: ", some", "and a little"."""
    if _BETWEEN_VALUES.match(text[start:end]) is None:
        return False
    tags = [each.tag for each in reading.words_in(start, end)]
    return len(tags) <= _MOST_BETWEEN and _IN_LISTS.issuperset(tags)


def _is_statement(text: str, value: ReadValue, reading: TextReading) -> bool:
    """Whether a value is a statement of its own: of the sender, with a verb of its own, or long."""
    lowers = text[value.start : value.end].lower().split()
    if len(lowers) > _LONGEST_VALUE and value.type not in _OF_PLACES:
        return True
    tags = [each.tag for each in reading.words_over(value.start, value.end)]
    first = next((place for place, tag in enumerate(tags) if tag in NOUNS), len(tags))
    subjects = {re.split("['’]", each)[0] for each in lowers}
    return not _AS_SUBJECT.isdisjoint(subjects) or not _FINITE.isdisjoint(tags[first:])


def _is_time_of_entry(text: str, value: ReadValue) -> bool:
    """Whether a value is a time in brackets, as after an entry of a calendar.

    "Dinner (3 May, 18:30)" is one dinner of many: the next does not move it.
    """
    is_time = _OF_THINGS.get(value.type) == "date"
    return is_time and text[: value.start].rstrip().endswith("(")


def _only_has_language(value: ReadValue, text: str, reading: TextReading) -> bool:
    """Whether a value is a thing in some language: "a Spanish novel"."""
    words = reading.words_over(value.start, value.end)
    said = [text[each.start : each.end] for each in words]
    is_thing = len(said) > 1 and said[-1].islower() and said[-1] not in _LANGUAGES
    return value.type == "language" and is_thing and not said[-2].islower()


def _is_over(value: ReadValue, reading: TextReading) -> bool:
    """Whether a value is over or denied: "Ruben" in "Ruben and I split up"."""
    if value.holds > _DOUBTFUL:
        return False
    sentence = reading.sentence_at(value.start)
    ends = dict(sentence.ends) if sentence is not None else {}
    return value.holds <= MOST_ENDED or ends.get(value.type, 0) >= _ENDING_TYPE


def _clause(
    text: str,
    span: Span,
    value: ReadValue,
    speaker: str,
    mentions: Sequence[Mention],
    reading: TextReading,
) -> _Clause:
    start, _ = span
    words = [each for each in reading.words_in(start, value.start) if each.end <= value.start]
    if not any(map(_is_verb, words)):
        # A value that begins with a verb is said of no noun: "I [take the bus]".
        words += filter(_is_verb, reading.words_in(value.start, value.start + 1))
    others = [each for each in reading.values_in(start, value.start) if _is_of_nobody(each)]
    people = [
        each
        for each in mentions
        if each.type == "PERSON"
        and each.end <= value.start
        and not any(each.start < other.end and other.start < each.end for other in others)
    ]
    # In "A photo of the boat. At the harbour." nothing says that a photo is at the harbour.
    sentence = reading.sentence_at(value.start)
    first, last = span if sentence is None else (sentence.start, sentence.end)
    around = [
        each
        for each in reading.words_in(max(start, first), min(span[1], last))
        if each.end <= min(span[1], last) and not _overlaps(each, value)
    ]
    before = text[start : value.start]
    relatives = [
        each
        for each in (*relatives_in(before), *called_in(before))
        if each.whose in ("my", "our", "") and not each.is_plural
    ]
    relatives.sort(key=lambda each: each.end)
    inside = reading.words_over(value.start, value.end)
    return _Clause(text, words, around, speaker, inside, people, relatives)


def _is_of_nobody(value: ReadValue) -> bool:
    """Whether a value is surely nobody's name: "Frisian" is a language."""
    return value.type_sure >= _ENDING and value.type not in _SOMEBODY


def _overlaps(word: ReadWord, value: ReadValue) -> bool:
    return word.start < value.end and value.start < word.end


def _is_verb(word: ReadWord) -> bool:
    return word.tag.startswith("VB")


class _NounPhrase(NamedTuple):
    """A noun with its adjectives.

    `is_own`: it is the speaker's or a named person's; `is_one`: it has one value at a time.
    """

    noun: str
    is_own: bool
    is_one: bool

    def has_single(self, value: str) -> bool:
        """Whether a value can be the only one of the thing: "great" of "the food" is not.

        Something that belongs to somebody can have any; otherwise it is a name, or has digits.
        """
        return self.is_own or any(each.isdigit() or each.isupper() for each in value)


class _Clause:
    """The context of a value in its clause, which gives its owner and its attribute."""

    def __init__(
        self,
        text: str,
        words: Sequence[ReadWord],
        around: Sequence[ReadWord],
        speaker: str,
        inside: Sequence[ReadWord],
        people: Sequence[Mention],
        relatives: Sequence[Relative],
    ) -> None:
        """`words` precede the value, `inside` are its own, `around` the others of its sentence.

        `people` and `relatives` are the persons and the speaker's relatives before the value.
        """
        self._words, self._around = words, around
        self._lowers, self._around_lowers = (
            [text[each.start : each.end].lower() for each in some] for some in (words, around)
        )
        self._speaker = speaker
        self._text, self._inside = text, inside
        self._people, self._relatives = people, relatives

    def subject(self) -> str | None:
        """Return the subject of the clause: the speaker, or a named person; None if unknown."""
        if not _SPEAKER.isdisjoint(self._lowers):
            return self._speaker
        return self._people[0].text if self._people else None

    def asserts(self, value: ReadValue, said: str) -> bool:
        """Whether the clause asserts that a value, in these words, holds now."""
        return not is_former(said.lower()) and is_asserted(self._words, self._lowers, value.type)

    def lasts(self, value: ReadValue) -> bool:
        """Whether something has long been so, and still is: "I've been vegan for years"."""
        verbs = [place for place, each in enumerate(self._words) if _is_verb(each)]
        if not verbs or self._lowers[verbs[-1]] != "been":
            return False
        first, end = verb_group(self._words, verbs[-1])
        is_perfect = self._words[first].tag in _FINITE and not self.is_denied()
        after = [
            lower
            for word, lower in zip(self._around, self._around_lowers, strict=True)
            if word.start >= value.end
        ]
        return is_perfect and end == len(self._words) and after[:1] in (["for"], ["since"])

    def avoided(self, value: ReadValue) -> int | None:
        """Return where "doesn't eat pork" begins, if the value is what somebody does not eat.

        The value may itself begin with the verb.
        """
        if value.type not in _AVOIDED:
            return None
        before = [each for each in self._words if each.end <= value.start]
        words = [*before, *self._inside]
        verbs = [place for place, each in enumerate(words) if _is_verb(each)]
        if not verbs:
            return None
        first, end = verb_group(words, verbs[-1])
        tags = {each.tag for each in words[first:end]}
        lowers = [self._text[each.start : each.end].lower() for each in words[first:end]]
        base = base_form(lowers[verbs[-1] - first])
        # "I don't have allergies", but "I can't have nuts".
        eats = base in _EATS or (base == "have" and "MD" in tags)
        denies = any(map(denies_verb, lowers))
        return words[first].start if eats and denies and "VBD" not in tags else None

    def typed_slot(self, value: ReadValue) -> tuple[list[str], str] | None:
        """Return the subject's names, and the attribute by the value's type; None if unknown."""
        if value.type_sure < _TYPED:
            return None
        if value.type == "relation" and (role := self._new_role()) is not None:
            return [self._speaker], frame_of(role)
        attribute = _OF_PERSONS.get(value.type)
        if attribute is not None and is_single_valued(attribute) and value.type_sure < _ENDING:
            return None
        if attribute == "birthday" and _BIRTH.isdisjoint(self._around_lowers):
            return None
        if attribute == "partner" and self._is_encounter():
            return None
        if attribute == "role" and self._is_possessed():
            return None
        if attribute in ("home", "address") and self._is_elsewhere(value):
            return None
        if value.type in _OF_THINGS:
            named = named_things(self._around, self._around_lowers, self._people)
            things = [f"{self._speaker}'s {each}" for each in named]
            return (things, f"{MASK}'s {_OF_THINGS[value.type]}") if things else None
        owner = self.owner(value)
        return ([owner], attribute) if attribute is not None and owner is not None else None

    def owner(self, value: ReadValue) -> str | None:
        """Return whose a value is: the sender's, a named person's or a relative's; None if open."""
        if value.own >= _OWN and not self._is_of_relative(value):
            return self._speaker
        if self._people:
            return self._people[-1].text
        if self._relatives:
            # The husband of "my sister's husband" is nobody that is known.
            last = self._relatives[-1]
            return None if last.of_relative or last.is_former else f"{self._speaker}'s {last.word}"
        return None if _SPEAKER.isdisjoint(self._lowers) else self._speaker

    def _is_of_relative(self, value: ReadValue) -> bool:
        """Whether a relative has the value, in a sentence that does not speak of the sender."""
        has_own = value.type in _OF_PERSONS and value.type not in _SOMEBODY
        return has_own and bool(self._relatives) and _SELF.isdisjoint(self._around_lowers)

    def _is_possessed(self) -> bool:
        """Whether somebody has the value: who has "a new accountant" is not an accountant."""
        verbs = [place for place, each in enumerate(self._words) if _is_verb(each)]
        if not verbs or base_form(self._lowers[verbs[-1]]) != "have":
            return False
        return all(each.tag in _PHRASE for each in self._words[verbs[-1] + 1 :])

    def _is_elsewhere(self, value: ReadValue) -> bool:
        """Whether somebody only has something at a place, or is there until some day."""
        verbs = [place for place, each in enumerate(self._words) if _is_verb(each)]
        if not verbs:
            return False
        base = base_form(self._lowers[verbs[-1]])
        after = [
            lower
            for word, lower in zip(self._around, self._around_lowers, strict=True)
            if word.start >= value.end
        ]
        return base in ("have", "own") or (base == "be" and not _UNTIL.isdisjoint(after[:1]))

    def _is_encounter(self) -> bool:
        """Whether the sentence says only that somebody was met: "I met Tom at the museum"."""
        verbs = {
            base_form(lower)
            for word, lower in zip(self._words, self._lowers, strict=True)
            if _is_verb(word)
        }
        return "meet" in verbs and _COUPLES.isdisjoint(self._around_lowers)

    def is_denied(self) -> bool:
        """Whether the word that governs the value is negated."""
        return not _DENIALS.isdisjoint(self._lowers[-_DENIED_WITHIN:])

    def _new_role(self) -> str | None:
        """Return the role that a new person takes: "a new landlord, Mrs Stone"."""
        phrases = named_phrases(self._words, self._lowers)
        return next((each.removeprefix("new ") for each in phrases if each[:4] == "new "), None)

    def slot(self, value: str) -> tuple[str, str] | None:
        """Return the subject and attribute by the noun that a value is said of, or None."""
        subject = self.subject() or self._speaker
        verbs = [place for place, each in enumerate(self._words) if _is_verb(each)]
        if not verbs:
            return self._of_noun(subject)
        verb = verbs[-1]
        if base_form(self._lowers[verb]) != "be" or self.is_denied():
            return None
        phrase = self._phrase_before(verb)
        if phrase is None:
            return None
        is_one = phrase.is_one and self._lowers[verb] in _IS and phrase.has_single(value)
        return subject, frame_of(phrase.noun) if is_one else phrase.noun

    def _of_noun(self, subject: str) -> tuple[str, str] | None:
        """Return the slot of a noun and the preposition after it: "his job in [Portland]"."""
        end = len(self._words)
        linked = end > 0 and self._words[end - 1].tag in _LINKS
        phrase = self._phrase_before(end - linked)
        if phrase is None:
            return None
        return subject, f"{phrase.noun} {self._lowers[end - 1]}" if linked else phrase.noun

    def _phrase_before(self, end: int) -> _NounPhrase | None:
        """Return the noun phrase just before a word; None if there is none, or it is a person."""
        begin = end
        while begin > 0 and self._words[begin - 1].tag in _PHRASE:
            begin -= 1
        if begin > 0 and self._lowers[begin - 1] in _BEFORE_VERBS:
            return None
        owners = [place for place in range(begin, end) if self._words[place].tag in ("PRP$", "POS")]
        first = owners[-1] + 1 if owners else begin
        named = [place for place in range(first, end) if self._words[place].tag not in _BEGINS]
        if not 0 < len(named) <= _LONGEST or self._words[named[-1]].tag not in NOUNS:
            return None
        last = self._words[named[-1]]
        if any(each.start <= last.start < each.end for each in self._people):
            return None
        nouns = [self._lowers[place] for place in named]
        head = self._head_before(begin)
        if head is not None:
            # "The code for the garage" is the garage code; Tom's garage is one of several.
            nouns.append(head.noun)
            is_single = head.is_one and not owners and is_attribute(" ".join(nouns).split())
            return _NounPhrase(" ".join(nouns), head.is_own, is_single)
        is_own = bool(owners) and self._is_known(owners)
        is_one = is_own or (not owners and self._lowers[begin] == "the")
        is_single = last.tag == "NN" and is_attribute(nouns)
        return _NounPhrase(" ".join(nouns), is_own, is_one and is_single)

    def _head_before(self, begin: int) -> _NounPhrase | None:
        """Return the noun phrase that one beginning at a word is the complement of, or None."""
        is_linked = begin > 1 and self._words[begin - 1].tag in _LINKS
        return self._phrase_before(begin - 1) if is_linked else None

    def _is_known(self, owners: Sequence[int]) -> bool:
        """Whether the owner of a noun is the speaker or a named person."""
        [first, *others] = owners
        if others:
            return False
        if self._words[first].tag == "PRP$":
            return self._lowers[first] in _SPEAKER
        before = self._words[first - 1].start if first else -1
        return any(each.start <= before < each.end for each in self._people)
