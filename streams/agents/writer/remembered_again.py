"""Texts to remember that repeat a current fact, however old it is (F1).

Agents store in the third person what their user stated in the first person, in the same or other
words. The text is rewritten as the person it is about would state it, and compared with facts by
its words, and by the value that it gives to an attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from recollect.schemas.attributes import MASK
from recollect.schemas.memory_terms import EVERYONE
from recollect.schemas.names import normalise_name
from recollect.schemas.senders import is_from_assistant
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.memories.memory_versions import author_of_event
from recollect.streams.agents.state import EntityRef, State
from recollect.streams.agents.writer.claims.claim_order import subjects_of
from recollect.streams.agents.writer.message_analysis import AnalysedMessage
from recollect.streams.agents.writer.pending_rows import DUPLICATE_WINDOW_MS, PendingRows
from recollect.streams.agents.writer.repetitions import says_more
from recollect.streams.language.grammar.analysis import Claim, Statement
from recollect.streams.language.names.signature import signature
from recollect.streams.language.relations.likeness import turned
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse

#: The sender id of a person who writes to an assistant, and how assistants refer to that person.
_USER = "user"
_USER_NAMES = frozenset({_USER, "the user"})
_MAX_NAME_WORDS = 3
_POSSESSIVE = re.compile("['\u2019]s?$")
_FIRST_PERSON_START = re.compile(r"(?:I|My)\b")
# Verbs whose first person differs from the third by more than an ending.
_FIRST_PERSON = {"is": "am", "has": "have", "does": "do", "isn't": "am not", "doesn't": "don't"}


def find_remembered_duplicate(
    statement: Statement,
    message: AnalysedMessage,
    signatures: list[str],
    sender: EntityRef,
    resolver: EntityResolver,
    state: State,
    pending: PendingRows,
    excluded: Set[str],
) -> tuple[str, str] | None:
    """Return the id of the current fact that a statement repeats, and the reason, or None.

    `signatures` are the statement's own. Facts in `excluded` and of other owners do not count.
    """
    excluded = excluded | pending.invalid_at.keys()
    owner = author_of_event(message.event).writer
    readings = list(_first_person_readings(statement, message, sender, resolver, state))
    signatures = [
        *signatures,
        *(
            key
            for sentence, person in readings
            for key in _signatures(sentence, resolver.ids(person))
        ),
    ]
    latest = message.said_at + DUPLICATE_WINDOW_MS
    for fact in state.facts_with_signature(signatures, 0, latest):
        if fact.until is None and fact.id not in excluded:
            return fact.id, "remembered again: the same words"
    claims: list[tuple[Claim, list[str]]] = []
    if statement.claim is not None:
        claim_subjects = subjects_of(statement.claim, message.content, sender, resolver)
        claims.append((statement.claim, claim_subjects.all()))
    # Most accounts of "user" have the same name: parse each sentence once per name.
    own = {(sentence, person.normalized) for sentence, person in readings}
    claim_of = {reading: _own_claim(*reading, message) for reading in own}
    for sentence, person in readings:
        if (claim := claim_of[sentence, person.normalized]) is not None:
            claims.append((claim, resolver.ids(person)))
    for claim, subjects in claims:
        if MASK in claim.attribute or says_more(statement.sentence, claim):
            continue
        for item in pending.claims_of(state, subjects, claim.attribute):
            current = item.until is None and item.claim.fact_id not in excluded
            same_value = current and normalise_name(item.claim.value) == normalise_name(claim.value)
            fact_id = item.claim.fact_id
            is_known = same_value and not state.is_retracted(fact_id)
            if (
                is_known
                and not state.is_private(fact_id)
                and pending.author_of(fact_id, state).writer in (EVERYONE, owner)
            ):
                return fact_id, "remembered again: the same value"
    return None


def _first_person_readings(
    statement: Statement,
    message: AnalysedMessage,
    sender: EntityRef,
    resolver: EntityResolver,
    state: State,
) -> Iterator[tuple[str, EntityRef]]:
    """Yield a statement about a person as that person would state it, for each possible person.

    "The user" is anyone who writes to an assistant under that name, on any platform.
    """
    sentence = statement.sentence
    users = state.entities_named(_USER)
    if _FIRST_PERSON_START.match(sentence) and not is_from_assistant(message.event):
        yield from ((sentence, person) for person in (sender, *users))
    for name in _leading_names(sentence):
        stated = _in_first_person(sentence, name)
        if name.lower() in _USER_NAMES:
            yield from ((stated, person) for person in users)
        elif (person := resolver.find_in_conversation(name, "PERSON")) is not None:
            yield stated, person


def _leading_names(sentence: str) -> list[str]:
    """Return the possible names at the beginning of a sentence, longest first."""
    words = sentence.split()[:_MAX_NAME_WORDS]
    names = (_POSSESSIVE.sub("", " ".join(words[:count])) for count in range(len(words), 0, -1))
    return [name for name in names if name[:1].isupper()]


def _in_first_person(sentence: str, name: str) -> str:
    """Return a sentence that begins with a person's name, in that person's first person."""
    verb, _, rest = sentence.removeprefix(name).lstrip().partition(" ")
    if verb in ("'s", "\u2019s"):
        return f"My {rest}"
    return f"I {_FIRST_PERSON.get(verb, verb)} {rest}"


def _signatures(sentence: str, person_ids: list[str]) -> list[str]:
    """Return the signatures of a sentence stated by a person."""
    written = signature(sentence)
    words = dict.fromkeys((turned(written), written))
    return [f"{person_id} {key}" for key in words for person_id in person_ids]


def _own_claim(sentence: str, speaker: str, message: AnalysedMessage) -> Claim | None:
    """Return the claim of a first-person sentence about its speaker, if it states nothing else."""
    analysis = analyse(
        Document(
            text=sentence,
            speaker=speaker,
            at_ms=message.said_at,
            utc_offset_minutes=message.content.utc_offset,
            keep=((0, len(sentence)),),
        )
    ).statements
    if len(analysis) != 1 or (claim := analysis[0].claim) is None:
        return None
    return claim if normalise_name(claim.subject) == speaker else None
