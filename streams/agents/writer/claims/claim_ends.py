"""The ends of claims: which of a subject's values a sentence ends, whenever they arrive (F7, G8).

A sentence ends what held when it was said, even if that is learnt later. So its `StatedEnding` rows
are kept, and when a claim arrives that is older than the sentence, it is decided anew what the
sentence ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.attributes import MASK, is_single_valued
from recollect.schemas.changes import FactClaim, FactSupersession, StatedEnding
from recollect.schemas.names import normalise_name
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.claims.statement_ends import surely_holds
from recollect.streams.agents.writer.pending_rows import PendingRows
from recollect.streams.language.attributes.frames import frame_of
from recollect.streams.language.attributes.stated_values import OF_THINGS
from recollect.streams.language.grammar.analysis import Ending
from recollect.streams.language.relations.content_words import content_words, proper_words
from recollect.streams.language.relations.same_things import Qualifiers, qualifiers

#: Minimum probabilities (percent) at which a statement ends a claim that it names, by its thing or
#: a word of its value: for a single-valued attribute, and for a multi-valued one. The third is for
#: an end of anything; from there on, the first suffices for multi-valued attributes too, and named
#: claims of open attributes end. Chosen on the dev sets of lives, and so that hardly any fact of
#: LoCoMo's dev conversations ends.
_NAMED_ENDING, _NAMED_OF_SEVERAL, _ANY_ENDING = 4, 25, 50
#: The same for the only current claim of an attribute, which need not be named.
_SOLE_ENDING, _SOLE_OF_SEVERAL = 10, 30
#: The same for an end of anything, if the statement names the value by a proper noun or a number,
#: or an open attribute by its noun: "the alarm code".
_ANY_BY_NAME = 30
#: Attributes whose values are named for many reasons: people and animals. A sentence about one ends
#: it from the first probability on, and from the second on if something has surely ended. Kinship
#: lasts whatever happens to the relative, so that a sentence about one does not end it.
_OF_SOMEBODY = frozenset({"family", "partner", "relationship", "pet"})
_SOMEBODY_ENDING, _SOMEBODY_OF_ANY = 25, 8
#: Attributes that end with somebody's life, whoever it was: a name alone does not tell.
_OF_A_LIFE = frozenset({"partner", "pet"})

#: How the claims of a subject end: `StatedEnding` describes the stored roles; "noun" is a person
#: whose attribute the sentence names by a noun.
StoredRole = Literal["person", "thing", "owner"]
Role = StoredRole | Literal["noun"]
_json = msgspec.json.Encoder()
_decode = msgspec.json.Decoder(dict[str, int]).decode
_decode_left = msgspec.json.Decoder(dict[str, tuple[str, ...]]).decode
_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode


class Lookup(NamedTuple):
    """Claims that a sentence may end: those with one of these subjects and this attribute.

    `percent`: the probability that it ends such a claim. `left`: the values of the attribute that
    it says are left.
    """

    role: Role
    subjects: Sequence[str]
    attribute: str
    percent: int
    left: tuple[str, ...] = ()

    @property
    def names_thing(self) -> bool:
        """Whether the sentence names what the claims are about: "the alarm code"."""
        return self.role in ("noun", "thing")


class SaidEnding(NamedTuple):
    """A sentence that may end claims.

    Attributes:
        event_id, position: the event, and the sentence's place among those that may end something.
        said_at: unix ms.
        ended_by: the fact or event that supersedes the claims.
        lookups: the claims that it may end.
        keys: the further keys of each subject, by its first.
        percent: the probability that it ends anything.
        sentence: names what ends; `names`: whom it is about, if it is about others than the sender.
    """

    event_id: str
    position: int
    said_at: int
    ended_by: str
    lookups: tuple[Lookup, ...]
    keys: Mapping[str, Sequence[str]]
    percent: int
    sentence: str
    names: frozenset[str]

    def rows(self) -> list[StatedEnding]:
        """Return the rows by which claims that arrive later find it, one for each subject."""
        attributes: dict[tuple[StoredRole, str], dict[str, int]] = {}
        nouns: dict[str, list[str]] = {}
        left = {each.attribute: each.left for each in self.lookups if each.left}
        for each in self.lookups:
            for subject in self.keys.keys() & set(each.subjects):
                role: StoredRole = "person" if each.role == "noun" else each.role
                found = attributes.setdefault((role, subject), {})
                if each.role == "noun":
                    nouns.setdefault(subject, []).append(each.attribute)
                else:
                    found[each.attribute] = each.percent
        return [
            StatedEnding(
                self.event_id,
                self.position,
                role,
                subject,
                _json.encode(self.keys[subject]).decode(),
                self.said_at,
                self.ended_by,
                _json.encode(attributes[role, subject]).decode(),
                _json.encode(nouns.get(subject, ()) if role == "person" else ()).decode(),
                _json.encode(left if role == "person" else {}).decode(),
                self.percent,
                " ".join(sorted(self.names)) if role == "owner" else self.sentence,
                1,
            )
            for role, subject in sorted(attributes)
        ]


def said_ending(
    ending: Ending,
    sentence: str,
    keys_of: Callable[[str], Sequence[str]],
    event_id: str,
    position: int,
    said_at: int,
    ended_by: str,
) -> SaidEnding:
    """Return an ending with the keys of its subjects; `keys_of` returns those of a person."""
    groups = [keys_of(each) for each in ending.persons]
    persons = tuple(dict.fromkeys(key for keys in groups for key in keys))
    things = tuple(dict.fromkeys(normalise_name(each) for each in ending.things))
    lookups = [
        Lookup("thing", things, attribute, percent)
        if MASK in attribute
        else Lookup("person", persons, attribute, percent, _left_of(ending, attribute))
        for attribute, percent in ending.attributes
    ]
    if ending.percent >= _ANY_ENDING:
        lookups += [Lookup("noun", persons, each, 100) for each in ending.phrases]
    if ending.percent >= _ANY_BY_NAME:
        lookups += [Lookup("noun", persons, frame_of(each), 100) for each in ending.phrases]
    names = frozenset[str]()
    if ending.owner:
        names = frozenset(word for each in ending.persons for word in proper_words(each))
        owner = keys_of(ending.owner) if names else ()
        groups.append(owner)
        lookups += [
            Lookup("owner", owner, attribute, percent)
            for attribute, percent in ending.attributes
            if (percent >= _NAMED_OF_SEVERAL or attribute in _OF_SOMEBODY)
            and MASK not in attribute
            and attribute != "family"
        ]
    somebody = max(
        (percent for attribute, percent in ending.attributes if attribute in _OF_SOMEBODY),
        default=0,
    )
    return SaidEnding(
        event_id,
        position,
        said_at,
        ended_by,
        tuple(
            each
            for each in lookups
            if each.subjects and _may_end_any(each, ending.percent, somebody)
        ),
        dict.fromkeys(things, ()) | {keys[0]: tuple(keys[1:]) for keys in groups if keys},
        ending.percent,
        sentence,
        names,
    )


def ending_of_rows(rows: Sequence[StatedEnding]) -> SaidEnding:
    """Return the ending whose `SaidEnding.rows` are given."""
    subjects: dict[tuple[Role, str], list[str]] = {}
    percents: dict[tuple[Role, str], int] = {}
    keys: dict[str, Sequence[str]] = {}
    left: dict[str, tuple[str, ...]] = {}
    for row in rows:
        left |= _decode_left(row.left_values)
        keys[row.subject] = _decode_names(row.also)
        found: list[tuple[Role, str, int]] = [
            *((row.role, each, percent) for each, percent in _decode(row.attributes).items()),
            *(("noun", each, 100) for each in _decode_names(row.nouns)),
        ]
        for role, attribute, percent in found:
            subjects.setdefault((role, attribute), []).extend([row.subject, *keys[row.subject]])
            percents[role, attribute] = percent
    words = {row.role: row.words for row in rows}
    one = rows[0]
    return SaidEnding(
        one.event_id,
        one.position,
        one.said_at,
        one.ended_by,
        tuple(
            Lookup(key[0], found, key[1], percents[key], left.get(key[1], ()))
            for key, found in subjects.items()
        ),
        keys,
        one.percent,
        words.get("person", words.get("thing", "")),
        frozenset(words.get("owner", "").split()),
    )


def _left_of(ending: Ending, attribute: str) -> tuple[str, ...]:
    return tuple(value for value, attributes in ending.left if attribute in attributes)


def _may_end_any(lookup: Lookup, percent: int, somebody: int) -> bool:
    """Whether a sentence that ends something with this probability may end one of the claims.

    `somebody`: the greatest probability that it ends somebody.
    """
    if lookup.attribute not in _OF_SOMEBODY:
        is_named = _is_by_word(lookup, percent) or _is_by_name(lookup, percent)
        return lookup.role == "owner" or is_named
    if percent < _ANY_ENDING or lookup.attribute == "family":
        return lookup.percent >= _SOMEBODY_ENDING
    is_gone = lookup.attribute in _OF_A_LIFE and somebody >= _SOMEBODY_ENDING
    return is_gone or lookup.percent >= _SOMEBODY_OF_ANY


def _is_by_word(lookup: Lookup, percent: int) -> bool:
    if lookup.attribute in _OF_SOMEBODY:
        return True  # decided by `_may_end_any`
    return lookup.percent >= _NAMED_ENDING and (
        is_single_valued(lookup.attribute)
        or lookup.percent >= _NAMED_OF_SEVERAL
        or percent >= _ANY_ENDING
    )


def _is_by_name(lookup: Lookup, percent: int) -> bool:
    return (
        percent >= _ANY_BY_NAME and not lookup.names_thing and lookup.attribute not in _OF_SOMEBODY
    )


class EndedValues:
    """Decides which claims a sentence ends."""

    def __init__(self, ending: SaidEnding) -> None:
        self._ending = ending
        self._words = _naming_words(ending.sentence)
        self._proper = proper_words(ending.sentence) if ending.percent >= _ANY_BY_NAME else {}

    def may_end(self, lookup: Lookup, claim: FactClaim) -> bool:
        """Whether a claim of a lookup may end, and so decides which others do."""
        if lookup.role == "owner":
            return not self._ending.names.isdisjoint(proper_words(claim.value))
        percent = self._ending.percent
        if _is_by_name(lookup, percent) and _shares_proper_word(
            self._proper, proper_words(claim.value)
        ):
            return True
        # A value without a word of the sentence is not named, nor decides which others are.
        return _is_by_word(lookup, percent) and (
            _ends_sole(lookup)
            or lookup.names_thing
            or not self._words.isdisjoint(_naming_words(claim.value))
        )

    def ended(
        self, lookup: Lookup, standing: Sequence[DatedClaim], state: State, pending: PendingRows
    ) -> list[FactClaim]:
        """Return which of the claims end that may end, and that held when the sentence was said."""
        return [
            claim
            for claim in self._named(lookup, standing, state, pending)
            if not surely_holds(claim.fact_id, self._ending.ended_by, state, pending)
        ]

    def _named(
        self, lookup: Lookup, standing: Sequence[DatedClaim], state: State, pending: PendingRows
    ) -> list[FactClaim]:
        for item in standing:
            state.use_claim(item.claim.fact_id)
        if lookup.role == "owner":
            return [item.claim for item in standing]
        if standing and lookup.attribute in OF_THINGS:
            text = pending.text_of(self._ending.ended_by, state) or self._ending.sentence
            standing = of_same_thing(standing, text, state, pending)
        current = [item.claim for item in standing]
        named = current if lookup.names_thing else named_claims(current, self._words)
        begun = [each for each in current if each.as_of <= self._ending.said_at]
        current = begun or current
        if not named and _ends_sole(lookup) and _is_one_value(current):
            # "I quit my job at Siemens" ends no other job.
            left = {word for value in lookup.left for word in _naming_words(value)}
            named = [
                each
                for each in current
                if not left
                or not left.isdisjoint(_naming_words(pending.text_of(each.fact_id, state)))
            ]
        return named


def _is_one_value(claims: Sequence[FactClaim]) -> bool:
    """Whether claims give one value, in one or several statements."""
    return len({(each.subject, normalise_name(each.value)) for each in claims}) == 1


def _ends_sole(lookup: Lookup) -> bool:
    """Whether the sentence ends the only claim of a lookup, even if it does not name its value."""
    is_single = is_single_valued(lookup.attribute)
    return lookup.percent >= (_SOLE_ENDING if is_single else _SOLE_OF_SEVERAL)


def ended_claims(
    ending: SaidEnding, state: State, pending: PendingRows, spared: Set[str]
) -> tuple[list[FactSupersession], list[tuple[Lookup, DatedClaim]]]:
    """Return the ends of the claims that a sentence ends, and these claims as they were before.

    They are of earlier statements, and held when the sentence was said. Facts in `spared` are not
    ended.
    """
    values = EndedValues(ending)
    spared = {ending.ended_by, *spared}
    ended: dict[str, tuple[Lookup, DatedClaim]] = {}
    for lookup in ending.lookups:

        def may_end(claim: FactClaim, lookup: Lookup = lookup) -> bool:
            return claim.fact_id not in spared and values.may_end(lookup, claim)

        found = pending.search_claims(
            state, [*lookup.subjects], lookup.attribute, may_end, stated_by=ending.said_at
        )
        standing = [
            item
            for item in found
            if (item.until is None or item.until > ending.said_at)
            and pending.is_stated_by(item.claim, ending.said_at, state)
        ]
        by_fact = {item.claim.fact_id: item for item in standing}
        for claim in values.ended(lookup, standing, state, pending):
            ended.setdefault(claim.fact_id, (lookup, by_fact[claim.fact_id]))
    # What was stated again after the sentence still holds: the sentence arrived late.
    lasting = {
        fact: each
        for fact, each in ended.items()
        if not pending.is_stated_after(fact, each[1].claim.as_of, ending.said_at, state)
    }
    ends = [FactSupersession(fact, ending.ended_by, ending.said_at) for fact in lasting]
    pending.invalid_at.update((end.fact_id, end.invalid_at) for end in ends)
    return ends, [*lasting.values()]


@lru_cache(maxsize=16_384)
def _naming_words(text: str) -> Set[str]:
    """Return the words by which a text names a value: its content words, names and numbers."""
    return frozenset(content_words(text) | proper_words(text).keys())


def _shares_proper_word(one: Mapping[str, bool], other: Mapping[str, bool]) -> bool:
    """Whether two texts have a word in common that is surely a name or a number in one of them."""
    return any(word in other and (sure or other[word]) for word, sure in one.items())


def of_same_thing(
    found: Sequence[DatedClaim], text: str, state: State, pending: PendingRows
) -> Sequence[DatedClaim]:
    """Return those claims that are about the same thing as a text; all, unless about things.

    If standing claims are about different things, and the text may mean either, it means neither.
    """
    if not found or found[0].claim.attribute not in OF_THINGS:
        return found
    same: list[DatedClaim] = []
    standing: set[Qualifiers] = set()
    for item in found:
        thing = item.claim.subject
        meant, known = (
            qualifiers(each, thing) for each in (text, pending.text_of(item.claim.fact_id, state))
        )
        if known.is_same(meant):
            same.append(item)
            if item.until is None:
                standing.add(known)
    if all(one.is_same(other) for one in standing for other in standing):
        return same
    for item in same:
        state.use_claim(item.claim.fact_id)
    return []


def named_claims(claims: Sequence[FactClaim], words: Set[str]) -> list[FactClaim]:
    """Return the claims whose value a sentence with these words names.

    If several values have a word of the sentence, it names those that have one of their own, and
    those whose words it has all. A more detailed form of a named value counts as named too.
    """
    values = {each.value: _naming_words(each.value) for each in claims}
    whole = [value for value in values.values() if value and value <= words]

    def is_named(own: Set[str]) -> bool:
        if any(value <= own for value in whole):
            return True
        others = (other for other in values.values() if not (other <= own or own <= other))
        elsewhere = {word for other in others for word in other}
        return not words & own <= elsewhere

    return [each for each in claims if is_named(values[each.value])]
