"""Repetitions: the fact that a statement repeats, on any day and in any thread.

Two statements of a person are the same claim if they have the same words, or give the same value
for the same slot. The days that a claim mentions are part of its signature, so claims about
different days differ. A value that was superseded since then counts as new.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from recollect.schemas.attributes import MASK, is_open, is_single_valued
from recollect.schemas.changes import FactFingerprint, FactSupersession
from recollect.schemas.names import normalise_name
from recollect.schemas.times import LATEST_MS
from recollect.streams.agents.state import State, StatedFact
from recollect.streams.agents.writer.claims.claim_order import Subjects
from recollect.streams.agents.writer.message_analysis import AnalysedMessage
from recollect.streams.agents.writer.near_duplicates import find_paraphrased
from recollect.streams.agents.writer.pending_rows import DUPLICATE_WINDOW_MS, PendingRows
from recollect.streams.language.grammar.analysis import Claim, Statement
from recollect.streams.language.references.standing_alone import left_open
from recollect.streams.language.relations.content_words import content_words
from recollect.text.tokenizer import tokenise

_NUMBER = re.compile(r"\d+")


def claim_signatures_of(
    claim: Claim | None, subjects: Subjects | None, sender_ids: Sequence[str]
) -> list[str]:
    """Return the signatures of a claim, one for each id of its sender and key of its subject.

    The first is stored. There is none without a slot: the words of a frame identify its claim, as
    do those of a statement with an open attribute.
    """
    if claim is None or subjects is None or MASK in claim.attribute or is_open(claim.attribute):
        return []
    value = f"{claim.attribute}: {normalise_name(claim.value)}"
    return [
        f"{sender_id} states of {subject} {value}"
        for subject in subjects.own
        for sender_id in sender_ids
    ]


def says_more(sentence: str, claim: Claim) -> bool:
    """Return whether a sentence has more content words than its claim and the verb between."""
    named = f"{claim.subject} {claim.value}"
    numbers = set(_NUMBER.findall(sentence)) - set(_NUMBER.findall(named))
    return len(content_words(sentence) - content_words(named)) > 1 or bool(numbers)


def find_duplicate(
    statement: Statement,
    message: AnalysedMessage,
    signatures: Sequence[str],
    claim_signatures: Sequence[str],
    fingerprints: Sequence[FactFingerprint],
    subjects: Subjects | None,
    state: State,
    pending: PendingRows,
    excluded: Set[str],
) -> tuple[str, str] | None:
    """Return the id of the fact that a statement repeats, and the reason; None if there is none.

    `signatures`: of its words; `claim_signatures`: of its claim. Facts in `excluded` do not count.
    """
    at = message.said_at
    window = None if _is_complete(statement, message) else DUPLICATE_WINDOW_MS
    first, last = (0, LATEST_MS) if window is None else (at - window, at + window)
    claim = statement.claim
    context = (claim, at, subjects, state, pending, excluded)
    same = _find_stated(signatures, first, last, *context)
    if same is not None:
        return same, "said again: the same words"
    if claim is not None and not statement.dates and not says_more(statement.sentence, claim):
        same = _find_stated(claim_signatures, 0, LATEST_MS, *context)
        if same is not None:
            return same, "said again: the same value"
    return find_paraphrased(fingerprints, at, state, pending, excluded)


def find_same_claim(
    claim: Claim,
    signatures: Sequence[str],
    at: int,
    subjects: Subjects,
    state: State,
    pending: PendingRows,
    excluded: Set[str],
) -> str | None:
    """Return the id of the fact whose claim a claim stated at `at` (unix ms) repeats, or None.

    `signatures`: of the claim. Facts in `excluded` do not count.
    """
    context = (claim, at, subjects, state, pending, excluded)
    return _find_stated(signatures, 0, LATEST_MS, *context)


def _find_stated(
    signatures: Sequence[str],
    after: int,
    before: int,
    claim: Claim | None,
    at: int,
    subjects: Subjects | None,
    state: State,
    pending: PendingRows,
    excluded: Set[str],
) -> str | None:
    """Return the first fact of a period (unix ms) with one of these signatures, valid at `at`."""
    changed_at: int | None = None
    for fact in pending.facts_with_signature(signatures, after, before, state):
        if fact.id in excluded or not is_valid_between(fact, at):
            continue
        if fact.as_of > at and changed_at is None:
            changed_at = _next_change(claim, at, subjects, state, pending, excluded)
        if fact.as_of <= at or (changed_at is not None and fact.as_of <= changed_at):
            return fact.id
    return None


def _is_complete(statement: Statement, message: AnalysedMessage) -> bool:
    """Return whether a statement means the same on any day, without the context before it."""
    if message.context_numbers(statement):
        return False
    tokens = tokenise(statement.sentence)
    found = left_open(tokens, 0, len(tokens.words), (), 0)
    return found in ("nothing", "aside")


def is_valid_between(fact: StatedFact, at: int) -> bool:
    """Return whether a fact is valid from when it was stated to `at`, in either order."""
    return fact.until is None or max(fact.as_of, at) < fact.until


def _next_change(
    claim: Claim | None,
    at: int,
    subjects: Subjects | None,
    state: State,
    pending: PendingRows,
    excluded: Set[str],
) -> int:
    """Return when another value of a single-valued slot was first stated after a time (unix ms)."""
    if claim is None or subjects is None or not is_single_valued(claim.attribute):
        return LATEST_MS
    value = normalise_name(claim.value)
    others = (
        item
        for item in pending.claims_of(state, subjects.own, claim.attribute)
        if normalise_name(item.claim.value) != value and item.claim.fact_id not in excluded
    )
    first = pending.first_statement(others, at, state)
    return LATEST_MS if first is None else first[0]


def earlier_claim_rows(
    claim: Claim | None,
    fact_id: str,
    at: int,
    subjects: Subjects | None,
    state: State,
    pending: PendingRows,
) -> list[FactSupersession]:
    """Return the rows that move the start of a known fact back to `at`.

    This is the time of an event that arrived late and states the fact. The facts that the known
    fact superseded end at that time.
    """
    if claim is None or subjects is None or not is_single_valued(claim.attribute):
        return []
    claims = pending.claims_of(state, subjects.own, claim.attribute)
    begun = next((item.claim.as_of for item in claims if item.claim.fact_id == fact_id), None)
    if begun is None or begun <= at:
        return []
    rows = [
        FactSupersession(item.claim.fact_id, fact_id, at)
        for item in claims
        if item.claim.as_of <= at and item.until == begun
    ]
    pending.invalid_at.update((row.fact_id, row.invalid_at) for row in rows)
    return rows
