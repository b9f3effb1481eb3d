"""The ends of statements by what the same person says later, whatever they are about.

"The pup went back to the breeder" ends "we got a pup", though it names no value of it. Each pair of
statements is judged by itself (`pair_scores`), so the order of arrival does not matter (G8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.schemas.attributes import MASK, is_open
from recollect.schemas.changes import FactSentence, FactSupersession
from recollect.schemas.ids import text_hash
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.claims.pair_scores import ended_percents
from recollect.streams.agents.writer.pending_rows import PendingRows
from recollect.streams.encoder.catalog import MINILM
from recollect.streams.language.grammar.analysis import Statement

#: The encoder with whose vectors the network was trained, in any precision.
_ENCODER = f"{MINILM.name}/"
#: A statement may end others if its sentence ends anything with this probability (percent) ...
_LEAST_ENDING = 30
#: ... and ends those that the network judges so with this one, or with the second if the sentence
#: surely ends something. Chosen on the dev sets, and so that hardly any fact of LoCoMo's dev
#: conversations ends.
_LEAST_PERCENT, _LEAST_OF_SURE, _SURE = 68, 45, 50
#: The least cosine of the vectors of two sentences of which one ends the other.
_LEAST_COSINE = 0.2
#: No sentence ends what it surely leaves: the probability is less than this (percent).
_MOST_OF_HOLDING = 15
#: The value of a listed attribute ends only if the sentence ends one with this probability
#: (percent).
_LEAST_OF_VALUE = 20
#: How many sentences of a person may lie between two of which one ends the other.
_MOST_BETWEEN = 4_096

_WORD = re.compile(r"[^\W_]+")
_json = msgspec.json.Encoder()
_percents = msgspec.json.Decoder(dict[str, int]).decode


def sentence_row(
    fact_id: str, event_id: str, statement: Statement, speaker: str, said_at: int, state: State
) -> FactSentence | None:
    """Return the row of a statement's sentence; None without the encoder of the network."""
    if state.encoder is None or not state.encoder.startswith(_ENCODER):
        return None
    sentence = statement.sentence
    vector = state.encoded[text_hash(sentence)].vector
    percent, attributes, names = 0, "{}", ""
    ending = statement.ending
    # What begins later ends values of the same slot then, and else nothing.
    if ending is not None and ending.percent >= _LEAST_ENDING and statement.begins is None:
        percent, attributes = ending.percent, _json.encode(dict(ending.attributes)).decode()
        if ending.owner:
            about = _words(" ".join(ending.persons)) - _words(ending.owner)
            names = " ".join(sorted(about))
    said = (event_id, speaker, said_at, sentence, vector)
    return FactSentence(fact_id, *said, percent, attributes, names, 1)


def _words(text: str) -> set[str]:
    return {each.lower() for each in _WORD.findall(text)}


def ends_by_statement(
    own: FactSentence,
    speakers: Sequence[str],
    state: State,
    pending: PendingRows,
    spared: Set[str],
) -> list[FactSupersession]:
    """Return the ends of what a person said before a statement that ends it, and its own end.

    `speakers`: the ids of the person; facts in `spared` are not ended, and end nothing.
    """
    spared = {own.fact_id, *spared}
    rows: list[FactSupersession] = []
    if own.percent >= _LEAST_ENDING:
        earlier = pending.sentences_before(state, speakers, own.said_at, _MOST_BETWEEN)
        for each in _ended([item for item in earlier if item.fact_id not in spared], own):
            rows += _end_of(each, own, state, pending)
    rows += _first_end(own, speakers, state, pending, spared)
    return rows


def end_again(
    fact: str, state: State, pending: PendingRows, spared: Set[str]
) -> list[FactSupersession]:
    """Return the end of a fact, whose end was withdrawn, by another statement; empty without."""
    own = pending.sentence_of(fact, state)
    if own is None:
        return []
    return _first_end(own, [own.speaker], state, pending, {fact, *spared})


def _first_end(
    own: FactSentence,
    speakers: Sequence[str],
    state: State,
    pending: PendingRows,
    spared: Set[str],
) -> list[FactSupersession]:
    """Return the end of a statement by the first later one that ends it; empty if none does."""
    found = pending.sentences_after(state, speakers, own.said_at, _LEAST_ENDING, _MOST_BETWEEN)
    later = [each for each in found if each.fact_id not in spared]
    for _, each in _ending_pairs([(own, each) for each in later], _cosines(later, own)):
        state.sentences_of(each.fact_id)
        if end := _end_of(own, each, state, pending):
            return end
    return []


def ends_earlier(earlier: str, later: str, state: State, pending: PendingRows) -> bool:
    """Return whether a statement ends an earlier one, by their facts."""
    one, other = pending.sentence_of(earlier, state), pending.sentence_of(later, state)
    if one is None or other is None or other.percent < _LEAST_ENDING:
        return False
    return bool([*_ended([one], other)]) and _may_end(earlier, other, state, pending)


def surely_holds(earlier: str, later: str, state: State, pending: PendingRows) -> bool:
    """Return whether a statement leaves an earlier one as it is, by their facts."""
    one, other = pending.sentence_of(earlier, state), pending.sentence_of(later, state)
    if one is None or other is None:
        return False
    pair = (one.sentence, other.sentence, float(_cosines([one], other)[0]))
    return bool(ended_percents([pair])[0] < _MOST_OF_HOLDING)


def _end_of(
    earlier: FactSentence, later: FactSentence, state: State, pending: PendingRows
) -> list[FactSupersession]:
    """Return the end of a statement, unless it ended before, or was said again after."""
    state.sentences_of(earlier.fact_id)
    if not _may_end(earlier.fact_id, later, state, pending):
        return []
    stored = state.supersessions([earlier.fact_id]).get(earlier.fact_id)
    until = pending.end_of(earlier.fact_id, stored and stored[1])
    if until is not None and until <= later.said_at:
        return []
    if pending.first_repeat(earlier.fact_id, later.said_at, state) is not None:
        return []
    return [FactSupersession(earlier.fact_id, later.fact_id, later.said_at)]


def _may_end(earlier: str, later: FactSentence, state: State, pending: PendingRows) -> bool:
    """Return whether a statement may end a fact, by what both are about.

    A statement about others ends only what names one of them, and the value of a listed attribute
    ends only with what may be one.
    """
    if later.names and _words(later.names).isdisjoint(_words(pending.text_of(earlier, state))):
        return False
    claim = pending.claim_of(earlier, state)
    if claim is None or MASK in claim.attribute or is_open(claim.attribute):
        return True
    percents = _percents(later.attributes)
    return claim.attribute != "family" and percents.get(claim.attribute, 0) >= _LEAST_OF_VALUE


def _ended(earlier: Sequence[FactSentence], later: FactSentence) -> Iterable[FactSentence]:
    """Yield the statements that a later one ends."""
    pairs = _ending_pairs([(each, later) for each in earlier], _cosines(earlier, later))
    return (ended for ended, _ in pairs)


def _ending_pairs(
    pairs: Sequence[tuple[FactSentence, FactSentence]], cosines: npt.NDArray[np.float64]
) -> Iterable[tuple[FactSentence, FactSentence]]:
    """Yield the pairs of a statement and a later one that ends it; `cosines`: of their vectors."""
    related = [
        (*pair, cosine)
        for pair, cosine in zip(pairs, cosines.tolist(), strict=True)
        if cosine >= _LEAST_COSINE
    ]
    percents = ended_percents((one.sentence, other.sentence, each) for one, other, each in related)
    for (earlier, later, _), percent in zip(related, percents.tolist(), strict=True):
        if percent >= (_LEAST_OF_SURE if later.percent >= _SURE else _LEAST_PERCENT):
            yield earlier, later


def _cosines(rows: Sequence[FactSentence], other: FactSentence) -> npt.NDArray[np.float64]:
    """Return the cosines of vectors with another one: of whole numbers, so exact but for a root."""
    if not rows:
        return np.zeros(0)
    matrix = np.frombuffer(b"".join(each.vector for each in rows), np.int8)
    codes = matrix.reshape(len(rows), -1).astype(np.float64)
    vector = np.frombuffer(other.vector, np.int8).astype(np.float64)
    squares = np.einsum("nd,nd->n", codes, codes) * np.einsum("d,d->", vector, vector)
    cosines: npt.NDArray[np.float64] = np.einsum("nd,d->n", codes, vector) / np.sqrt(
        np.maximum(squares, 1)
    )
    return cosines
