"""Whether a statement says again what a fact of the same day says (A21)."""

from __future__ import annotations

from collections.abc import Set

from recollect.schemas.changes import FactFingerprint
from recollect.schemas.ids import text_hash
from recollect.schemas.names import normalise_name
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.decided_so_far import SAME_PERIOD_MS, DecidedSoFar
from recollect.streams.agents.writer.message_reading import Reading
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.relations.likeness import (
    LEAST_COSINE,
    cosine_of,
    differ_in_one_word,
    is_vague,
    likeness,
    turned,
)


def signatures_of(statement: Statement, reading: Reading, sender_ids: list[str]) -> list[str]:
    """Return the near-duplicate keys of a statement, those under which it is kept first.

    One for each id of its sender, and those of before words were turned. What is about "her" is
    found again in the same message alone.
    """
    said = _said(statement, reading)
    words = [turned(said)] if turned(said) == said else [turned(said), said]
    if is_vague(statement):
        words = [f"{reading.event.id} {words[0]}"]
    return [f"{sender_id} {key}" for key in words for sender_id in sender_ids]


def _said(statement: Statement, reading: Reading) -> str:
    content = reading.content
    speaker = f"{normalise_name(content.sender_name or content.sender_id)}: "
    return statement.signature.removeprefix(speaker)


def likenesses_of(
    identity: str, statement: Statement, reading: Reading, sender_ids: list[str], state: State
) -> list[FactFingerprint]:
    """Return the likenesses of a statement, one for each id of its sender; without an encoder none.

    The first is the one that is kept with the fact.
    """
    if state.encoder is None or is_vague(statement):
        return []
    found = likeness(statement, _said(statement, reading))
    if found is None:
        return []
    vector = state.encoded[text_hash(statement.sentence)].vector
    return [
        FactFingerprint(identity, f"{sender_id} {found.key}", reading.said_at, found.words, vector)
        for sender_id in sender_ids
    ]


def repeated_fact(
    signatures: list[str],
    likenesses: list[FactFingerprint],
    as_of: int,
    state: State,
    new: DecidedSoFar,
    replaced: Set[str],
) -> tuple[str, str] | None:
    """Return the fact that a statement repeats within the period, and why it is taken for it."""
    after, before = as_of - SAME_PERIOD_MS, as_of + SAME_PERIOD_MS
    there = state.fact_with_signature(signatures, after, before, replaced | new.until.keys())
    there = there or new.fact_with_signature(signatures, as_of)
    if there is not None:
        return there, "near-duplicate within 24 hours: the same words"
    if not likenesses:
        return None
    own = likenesses[0]
    keys = [each.key for each in likenesses]
    held = state.facts_alike(keys, after, before, replaced | new.until.keys())
    best: tuple[float, str] | None = None
    for other in (*held, *new.facts_alike(keys, as_of)):
        if differ_in_one_word(own.words, other.words):
            cosine = cosine_of(own.vector, other.vector)
            if cosine >= LEAST_COSINE and (best is None or cosine > best[0]):
                best = cosine, other.fact_id
    if best is None:
        return None
    return best[1], f"near-duplicate within 24 hours: all but one word, cosine {best[0]:.3f}"
