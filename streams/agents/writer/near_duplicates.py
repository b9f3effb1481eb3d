"""The keys by which repeated statements are found, and paraphrases within 24 hours (A21)."""

from __future__ import annotations

from collections.abc import Sequence, Set

from recollect.schemas.changes import FactFingerprint
from recollect.schemas.ids import text_hash
from recollect.schemas.names import normalise_name
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.message_analysis import AnalysedMessage
from recollect.streams.agents.writer.pending_rows import DUPLICATE_WINDOW_MS, PendingRows
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.relations.likeness import (
    LEAST_COSINE,
    cosine_of,
    differ_in_one_word,
    is_vague,
    likeness,
    turned,
)


def signatures_of(
    statement: Statement, message: AnalysedMessage, sender_ids: list[str]
) -> list[str]:
    """Return the signatures under which a statement is searched; the first is stored.

    There is one for each id of its sender and, if the wording was normalised (`turned`), one more
    for the original wording. A statement with an unresolved pronoun is compared only within its
    message.
    """
    written = _own_signature(statement, message)
    words = list(dict.fromkeys((turned(written), written)))
    if is_vague(statement):
        words = [f"{message.event.id} {words[0]}"]
    return [f"{sender_id} {key}" for key in words for sender_id in sender_ids]


def _own_signature(statement: Statement, message: AnalysedMessage) -> str:
    """Return a statement's signature without the speaker's name."""
    content = message.content
    speaker = f"{normalise_name(content.sender_name or content.sender_id)}: "
    return statement.signature.removeprefix(speaker)


def fingerprints_of(
    fact_id: str,
    statement: Statement,
    message: AnalysedMessage,
    sender_ids: list[str],
    state: State,
) -> list[FactFingerprint]:
    """Return a fingerprint of a statement for each id of its sender; the first is stored.

    There is none without an encoder.
    """
    if state.encoder is None or is_vague(statement):
        return []
    wording = likeness(statement, _own_signature(statement, message))
    if wording is None:
        return []
    vector = state.encoded[text_hash(statement.sentence)].vector
    return [
        FactFingerprint(
            fact_id, f"{sender_id} {wording.key}", message.said_at, wording.words, vector
        )
        for sender_id in sender_ids
    ]


def find_paraphrased(
    fingerprints: Sequence[FactFingerprint],
    as_of: int,
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> tuple[str, str] | None:
    """Return the id of the fact that a statement repeats in other words, and the reason, or None.

    Facts in `replaced` do not count.
    """
    if not fingerprints:
        return None
    after, before = as_of - DUPLICATE_WINDOW_MS, as_of + DUPLICATE_WINDOW_MS
    own = fingerprints[0]
    keys = [fingerprint.key for fingerprint in fingerprints]
    similar = state.similar_facts(keys, after, before, replaced | pending.invalid_at.keys())
    best: tuple[float, str] | None = None
    for other in (*similar, *pending.similar_facts(keys, as_of)):
        if differ_in_one_word(own.words, other.words):
            cosine = cosine_of(own.vector, other.vector)
            if cosine >= LEAST_COSINE and (best is None or cosine > best[0]):
                best = cosine, other.fact_id
    if best is None:
        return None
    return best[1], f"near-duplicate within 24 hours: all but one word, cosine {best[0]:.3f}"
