"""The subjects of claims, and the periods in which the claims of a slot are valid (F7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.attributes import (
    MASK,
    OPPOSITES,
    is_single_valued,
)
from recollect.schemas.changes import (
    AnyRow,
    FactClaim,
    FactOccasion,
    FactSupersession,
    MergedSupersession,
)
from recollect.schemas.events import Content
from recollect.schemas.names import normalise_name
from recollect.streams.agents.consolidation.merged_slots import merged_supersessions
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.state import EntityRef, State
from recollect.streams.agents.writer.pending_rows import PendingRows
from recollect.streams.language.attributes.frames import frame_of
from recollect.streams.language.attributes.stated_values import OF_THINGS
from recollect.streams.language.grammar.analysis import Claim, Ending
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


class Subjects(NamedTuple):
    """The keys of a claim's subject: a person's ids, or the name if no entity has it.

    The claim is stored under the first of `own`. `merged`: the ids of persons merged with this one
    by command.
    """

    own: list[str]
    merged: list[str]

    def all(self) -> list[str]:
        """Return all keys."""
        return [*self.own, *self.merged]


def subjects_of(
    claim: Claim, content: Content, sender: EntityRef, resolver: EntityResolver
) -> Subjects:
    """Return the keys of a claim's subject, the preferred one first.

    The subject of a frame (a claim without a listed attribute) is rarely a person, so its name
    precedes the ids of persons, unless the subject is the sender.
    """
    if MASK not in claim.attribute:
        return person_keys(claim.subject, content, sender, resolver)
    own, merged = _ids_of(claim.subject, content, sender, resolver)
    subject = normalise_name(claim.subject)
    if _is_sender(claim.subject, content):
        return Subjects([*own, subject], merged)
    return Subjects([subject, *map(normalise_name, claim.also), *own], merged)


def person_keys(
    name: str, content: Content, sender: EntityRef, resolver: EntityResolver
) -> Subjects:
    """Return the keys of a person in claims of listed attributes."""
    own, merged = _ids_of(name, content, sender, resolver)
    return Subjects(own or [normalise_name(name)], merged)


def _ids_of(
    name: str, content: Content, sender: EntityRef, resolver: EntityResolver
) -> tuple[list[str], list[str]]:
    """Return the ids of a person, and those of persons merged with them by command."""
    ids: list[str] = []
    if _is_sender(name, content):
        ids = resolver.sender_ids(sender)
    elif (person := resolver.find_in_conversation(name, "PERSON")) is not None:
        ids = resolver.ids_named(name, person)
    own = [each for each in ids if resolver.own_id(each) == resolver.own_id(ids[0])]
    return own, [each for each in ids if each not in own]


def _is_sender(name: str, content: Content) -> bool:
    return normalise_name(name) == normalise_name(content.sender_name or content.sender_id)


def claim_rows(
    claim: Claim,
    subjects: Subjects,
    fact_id: str,
    as_of: int,
    own_id: Callable[[str], str],
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[AnyRow]:
    """Return a statement's claim, followed by the supersessions that it causes (F7).

    Claims about persons merged with this one are handled only in `merged_rows`.

    Of two different values the earlier is valid until the later begins, in whatever order they
    were stated. At equal times, the one stated first ends. If the other value was stated again
    after this one, this one ends then instead. A multi-valued slot keeps all its values; a new one
    ends only the same value of the opposite slot. Facts in `replaced` do not count.
    """
    row = FactClaim(fact_id, subjects.own[0], claim.attribute, claim.value, as_of)
    ends: list[FactSupersession] = []
    later: list[tuple[int, str]] = []
    text = pending.text_of(fact_id, state) if claim.attribute in OF_THINGS else ""
    others = _incompatible_claims(claim, as_of, subjects.own, state, pending, replaced)
    for other, until in _of_same_thing(others, text, state, pending):
        is_later = other.as_of > as_of
        had_ended = until is not None and until < as_of
        if (until == other.as_of) if is_later else had_ended:
            continue
        state.use_claim(other.fact_id)
        again = pending.first_repeat(other.fact_id, as_of, state)
        if is_later:
            later.append((min(other.as_of, again or other.as_of), other.fact_id))
        elif again is None:
            ends.append(FactSupersession(other.fact_id, fact_id, as_of))
        else:
            later.append((again, other.fact_id))
    if later:
        time, newer = min(later)
        ends.append(FactSupersession(fact_id, newer, time))
    pending.claims.append(row)
    pending.invalid_at.update((end.fact_id, end.invalid_at) for end in ends)
    return [row, *ends, *merged_rows(claim, subjects, own_id, state, pending, replaced)]


def ended_claims(
    ending: Ending,
    text: str,
    sentence: str,
    keys_of: Callable[[str], Sequence[str]],
    newer: str,
    as_of: int,
    state: State,
    pending: PendingRows,
    spared: Set[str],
) -> list[FactSupersession]:
    """Return the ends of the earlier, current claims that a sentence ends.

    `text`: that of its fact, or the sentence itself if it has none; `keys_of` returns the keys of a
    person; `newer`: the id of its fact, or of its event; facts in `spared` are not ended.
    """
    words = _naming_words(sentence)
    persons = [key for each in ending.persons for key in keys_of(each)]
    things = [normalise_name(each) for each in ending.things]
    lookups = [
        (things, attribute, percent, True)
        if MASK in attribute
        else (persons, attribute, percent, False)
        for attribute, percent in ending.attributes
    ]
    by_names = ending.percent >= _ANY_BY_NAME
    proper = proper_words(sentence) if by_names else {}
    if ending.percent >= _ANY_ENDING:
        lookups += [(persons, each, 100, True) for each in ending.phrases]
    if by_names:
        lookups += [(persons, frame_of(each), 100, True) for each in ending.phrases]

    unnamed: dict[str, str] = {}

    somebody = max(
        (percent for name, percent in ending.attributes if name in _OF_SOMEBODY), default=0
    )

    def ends_somebody(attribute: str, percent: int) -> bool:
        if ending.percent < _ANY_ENDING or attribute == "family":
            return percent >= _SOMEBODY_ENDING
        is_gone = attribute in _OF_A_LIFE and somebody >= _SOMEBODY_ENDING
        return is_gone or percent >= _SOMEBODY_OF_ANY

    def ended_of(keys: list[str], attribute: str, percent: int, names_thing: bool) -> list[str]:
        is_single = is_single_valued(attribute)
        by_word = percent >= _NAMED_ENDING and (
            is_single or percent >= _NAMED_OF_SEVERAL or ending.percent >= _ANY_ENDING
        )
        if attribute in _OF_SOMEBODY:
            by_word = ends_somebody(attribute, percent)
        by_name = by_names and not names_thing and attribute not in _OF_SOMEBODY
        if not by_word and not by_name:
            return []
        ends_sole = percent >= (_SOLE_ENDING if is_single else _SOLE_OF_SEVERAL)

        def may_end(claim: FactClaim) -> bool:
            if claim.as_of > as_of or claim.fact_id in {newer, *spared}:
                return False
            if by_name and _shares_proper_word(proper, proper_words(claim.value)):
                return True
            # A value without a word of the sentence is not named, nor decides which others are.
            return by_word and (
                ends_sole or names_thing or not words.isdisjoint(_naming_words(claim.value))
            )

        found = pending.search_claims(state, keys, attribute, may_end)
        standing = [item for item in found if item.until is None]
        for item in standing:
            state.use_claim(item.claim.fact_id)
        current = [item.claim for item in _of_same_thing(standing, text, state, pending)]
        named = current if names_thing else named_claims(current, words)
        if not named and ends_sole and len(current) == 1:
            named = current
            unnamed[current[0].fact_id] = attribute
        return [each.fact_id for each in named]

    names = {word for each in ending.persons for word in proper_words(each)}

    def ended_of_owner(attribute: str) -> list[str]:
        """Return the current claims of the owner whose value is named like one of the persons."""

        def may_end(claim: FactClaim) -> bool:
            is_earlier = claim.as_of <= as_of and claim.fact_id not in {newer, *spared}
            return is_earlier and not names.isdisjoint(proper_words(claim.value))

        found = pending.search_claims(state, [*keys_of(ending.owner)], attribute, may_end)
        for item in found:
            state.use_claim(item.claim.fact_id)
        return [item.claim.fact_id for item in found if item.until is None]

    ended = dict.fromkeys(each for lookup in lookups for each in ended_of(*lookup))
    for each, attribute in unnamed.items():
        # "I quit my job at Siemens" ends no other job.
        left = {
            word
            for value, attributes in ending.left
            if attribute in attributes
            for word in _naming_words(value)
        }
        if left and left.isdisjoint(_naming_words(pending.text_of(each, state))):
            ended.pop(each, None)
    if ending.owner:
        for attribute, percent in ending.attributes:
            if attribute in _OF_SOMEBODY:
                is_likely = ends_somebody(attribute, percent)
            else:
                is_likely = percent >= _NAMED_OF_SEVERAL
            if is_likely and MASK not in attribute and attribute != "family":
                ended |= dict.fromkeys(ended_of_owner(attribute))
    # What was stated again after the sentence still holds: the sentence arrived late.
    ends = [
        FactSupersession(each, newer, as_of)
        for each in ended
        if pending.first_repeat(each, as_of, state) is None
    ]
    pending.invalid_at.update((end.fact_id, end.invalid_at) for end in ends)
    return ends


def _naming_words(text: str) -> Set[str]:
    """Return the words by which a text names a value: its content words, names and numbers."""
    return content_words(text) | proper_words(text).keys()


def _shares_proper_word(one: Mapping[str, bool], other: Mapping[str, bool]) -> bool:
    """Whether two texts have a word in common that is surely a name or a number in one of them."""
    return any(word in other and (sure or other[word]) for word, sure in one.items())


def _of_same_thing(
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


def merged_rows(
    claim: Claim,
    subjects: Subjects,
    own_id: Callable[[str], str],
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[MergedSupersession]:
    """Return the changes that a statement, new or repeated, makes to the claims of merged persons.

    `own_id` returns the id of a subject's person, ignoring merges by command. Facts in `replaced`
    do not count.
    """
    is_single = is_single_valued(claim.attribute)
    if not subjects.merged or not (is_single or claim.attribute in OPPOSITES):
        return []
    value = normalise_name(claim.value)

    def person_of(subject: str) -> str:
        # The subject of a frame is a name, not an entity's id.
        return subjects.own[0] if subject in subjects.own else own_id(subject)

    def claims_of(ids: Sequence[str], attribute: str) -> list[DatedClaim]:
        return [
            item
            for item in pending.claims_of(state, list(ids), attribute)
            if item.claim.fact_id not in replaced
            and (is_single or normalise_name(item.claim.value) == value)
        ]

    rows = merged_supersessions(
        [subjects.all()],
        [claim.attribute],
        person_of,
        claims_of,
        partial(pending.repeat_times, state),
        state,
        pending.merged,
    )
    pending.merged.update((row.fact_id, row) for row in rows)
    return rows


def merged_rows_after(
    ended: Set[str],
    withdrawn: Sequence[FactOccasion],
    own_id: Callable[[str], str],
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[MergedSupersession]:
    """Return the changes to the claims of merged persons when a message is edited or deleted.

    `ended`: the facts that only the message stated; `withdrawn`: the occasions on which it stated
    other facts; `own_id` and `replaced` are those of `merged_rows`.
    """
    attributes: dict[tuple[str, ...], set[str]] = {}
    for fact_id in sorted(ended | {row.fact_id for row in withdrawn}):
        claim = state.claim_of(fact_id)
        if claim is None or not (is_single_valued(claim.attribute) or claim.attribute in OPPOSITES):
            continue
        group = tuple(state.group_of(claim.subject))
        if len(group) > 1:
            attributes.setdefault(group, set()).add(claim.attribute)

    def claims_of(ids: Sequence[str], attribute: str) -> list[DatedClaim]:
        found = pending.claims_of(state, list(ids), attribute)
        return [item for item in found if item.claim.fact_id not in replaced]

    def repeat_times(fact_id: str) -> list[int]:
        gone = {row.event_id: row.said_at for row in withdrawn if row.fact_id == fact_id}
        times = pending.repeat_times(state, fact_id)
        for row in state.occasions(fact_id) if gone else ():
            if row.is_standing and row.event_id in gone:
                times.remove(row.said_at)
        return times

    rows = [
        row
        for group, slots in sorted(attributes.items())
        for row in merged_supersessions(
            [group], slots, own_id, claims_of, repeat_times, state, pending.merged
        )
    ]
    pending.merged.update((row.fact_id, row) for row in rows)
    return rows


def _incompatible_claims(
    claim: Claim,
    as_of: int,
    subjects: list[str],
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[DatedClaim]:
    """Search for the claims that cannot be valid at the same time as this one.

    Those of facts in `replaced` are left out. An earlier claim of the same value is included if it
    was retracted: the new claim counts as new, and supersedes what the retracted one superseded.
    """
    value = normalise_name(claim.value)

    def is_same(other: FactClaim) -> bool:
        return normalise_name(other.value) == value

    def may_replace_value(other: FactClaim) -> bool:
        is_candidate = not is_same(other) or other.as_of <= as_of
        return is_candidate and other.fact_id not in replaced

    def is_opposite(other: FactClaim) -> bool:
        return is_same(other) and other.fact_id not in replaced

    if is_single_valued(claim.attribute):
        found = pending.search_claims(state, subjects, claim.attribute, may_replace_value)
        return [
            item
            for item in found
            if not is_same(item.claim)
            or (item.until is None and state.is_retracted(item.claim.fact_id))
        ]
    opposite = OPPOSITES.get(claim.attribute)
    if opposite is None:
        return []
    return pending.search_claims(state, subjects, opposite, is_opposite)
