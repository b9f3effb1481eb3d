"""Queries of memory.db by agents, who see it exactly as it was before the record in question."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import (
    DeadLetter,
    Fact,
    FactClaim,
    FactDays,
    FactFingerprint,
    FactMerge,
    FactOccasion,
    FactSentence,
    MentalModel,
    MergedSupersession,
    MessageDate,
    StatedEnding,
    WriterPromptProposal,
)
from recollect.schemas.times import LATEST_MS


def facts_with_signature(
    connection: apsw.Connection, signatures: Sequence[str], after: int, before: int
) -> list[tuple[str, int]]:
    """Return (id, as_of) of facts with these signatures in a period (unix ms), earliest first."""
    given = _placeholders(signatures)
    return rows(
        connection,
        # Without INDEXED BY, the planner would read every fact of the period.
        "SELECT id, as_of FROM facts INDEXED BY idx_facts_signature "
        f"WHERE substr(signature, -16) IN ({given}) "
        f"AND as_of BETWEEN ? AND ? AND signature IN ({given}) "
        "UNION SELECT fact_id, as_of FROM claim_signatures "
        f"WHERE signature IN ({given}) AND as_of BETWEEN ? AND ? ORDER BY as_of, id",
        (
            *(signature[-16:] for signature in signatures),
            *(after, before, *signatures),
            *(*signatures, after, before),
        ),
    )


def fingerprints(
    connection: apsw.Connection, keys: Sequence[str], after: int, before: int
) -> list[FactFingerprint]:
    """Return the fact fingerprints with one of these keys in a period (unix ms), earliest first."""
    fingerprint_rows = rows(
        connection,
        "SELECT fact_id, key, as_of, words, vector FROM fact_likenesses "
        f"WHERE key IN ({_placeholders(keys)}) AND as_of BETWEEN ? AND ? ORDER BY as_of, fact_id",
        (*keys, after, before),
    )
    return [FactFingerprint(*row) for row in fingerprint_rows]


_SENTENCE = ", ".join(FactSentence.__struct_fields__)


def sentences_before(
    connection: apsw.Connection, speakers: Sequence[str], before: int, limit: int
) -> list[FactSentence]:
    """Return the last sentences of people's facts before a time (unix ms), the last first."""
    found = connection.execute(
        f"SELECT {_SENTENCE} FROM fact_sentences WHERE speaker IN ({_placeholders(speakers)}) "
        "AND is_standing AND said_at < ? ORDER BY said_at DESC, fact_id LIMIT ?",
        (*speakers, before, limit),
    )
    return [FactSentence(*row) for row in found]


def sentences_after(
    connection: apsw.Connection, speakers: Sequence[str], after: int, percent: int, limit: int
) -> tuple[list[FactSentence], bool]:
    """Return those of the next sentences of people's facts after a time (unix ms) that may end any.

    They are in order, and among the next `limit` sentences; and whether there are more than these.
    `percent`: the least probability that they end anything.
    """
    of_people = f"FROM fact_sentences WHERE speaker IN ({_placeholders(speakers)}) AND is_standing"
    last = scalar(
        connection,
        f"SELECT said_at {of_people} AND said_at > ? ORDER BY said_at LIMIT 1 OFFSET ?",
        (*speakers, after, limit),
    )
    found = connection.execute(
        f"SELECT {_SENTENCE} {of_people} AND said_at > ? AND said_at <= ? AND percent >= ? "
        "ORDER BY said_at, fact_id",
        (*speakers, after, LATEST_MS if last is None else last, percent),
    )
    return [FactSentence(*row) for row in found], last is not None


def sentences_of(connection: apsw.Connection, fact_id: str) -> list[FactSentence]:
    """Return the sentences that state a fact, in order, without those edited or deleted."""
    found = rows(
        connection,
        f"SELECT {_SENTENCE} FROM fact_sentences WHERE fact_id = ? AND is_standing "
        "ORDER BY said_at, event_id",
        (fact_id,),
    )
    return [FactSentence(*row) for row in found]


def sentences_of_events(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> list[FactSentence]:
    """Return the sentences of events that state facts, except of events edited or deleted."""
    found = rows(
        connection,
        f"SELECT {_SENTENCE} FROM json_each(?) AS ids "
        "CROSS JOIN fact_sentences ON event_id = ids.value AND is_standing "
        "ORDER BY event_id, fact_id",
        (json_array(event_ids),),
    )
    return [FactSentence(*row) for row in found]


def message_dates(connection: apsw.Connection, event_id: str) -> list[MessageDate]:
    """Return the dates in an event's text, in order."""
    found = rows(
        connection,
        "SELECT event_id, char_start, char_end, first_day, last_day, is_relative "
        "FROM message_dates WHERE event_id = ? ORDER BY char_start",
        (event_id,),
    )
    return [MessageDate(*row) for row in found]


def repeat_times(connection: apsw.Connection, fact_id: str) -> list[int]:
    """Return when a fact was repeated (unix ms), earliest first."""
    found = rows(
        connection, "SELECT said_at FROM occasions WHERE fact_id = ? ORDER BY said_at", (fact_id,)
    )
    return [at for (at,) in found]


def repeats_between(
    connection: apsw.Connection, fact_ids: Sequence[str], after: int, until: int
) -> list[tuple[int, str]]:
    """Return (time, fact id) of the first repetition of each of these facts in a period (unix ms).

    It is after a time, and not after another. Facts without one are left out.
    """
    return rows(
        connection,
        "SELECT min(said_at), fact_id FROM json_each(?) AS given "
        "CROSS JOIN occasions ON fact_id = given.value "
        "WHERE said_at > ? AND said_at <= ? GROUP BY fact_id",
        (json_array(fact_ids), after, until),
    )


def unstated_facts(connection: apsw.Connection, fact_ids: Sequence[str]) -> set[str]:
    """Return those of these facts that the events they are from no longer state."""
    found = rows(
        connection,
        "SELECT fact_id FROM json_each(?) AS given "
        "CROSS JOIN fact_occasions ON fact_id = given.value WHERE char_start = -1",
        (json_array(fact_ids),),
    )
    return {fact for (fact,) in found}


def occasions(connection: apsw.Connection, fact_id: str) -> list[FactOccasion]:
    """Return the occasions of a fact, withdrawn ones included, by event."""
    columns = ", ".join(FactOccasion.__struct_fields__)
    occasion_rows = rows(
        connection,
        f"SELECT {columns} FROM fact_occasions WHERE fact_id = ?1 "
        "UNION ALL SELECT fact_id, event_id, char_start, said_at, '', '', 1 FROM occasions "
        "WHERE fact_id = ?1 AND event_id NOT IN "
        "(SELECT event_id FROM fact_occasions WHERE fact_id = ?1) ORDER BY event_id",
        (fact_id,),
    )
    return [FactOccasion(*row) for row in occasion_rows]


def occasions_of_event(connection: apsw.Connection, event_id: str) -> list[tuple[str, str]]:
    """Return (fact id, text) of each fact that an event repeats, by fact.

    The text is as the event words it, or the fact's text if an earlier build decided the event.
    """
    return rows(
        connection,
        "SELECT occasions.fact_id, coalesce(own.text, facts.text, '') FROM occasions "
        "LEFT JOIN fact_occasions AS own USING (fact_id, event_id) "
        "LEFT JOIN facts ON facts.id = occasions.fact_id "
        "WHERE occasions.event_id = ? GROUP BY occasions.fact_id ORDER BY occasions.fact_id",
        (event_id,),
    )


def facts_of_events(connection: apsw.Connection, event_ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return (event id, fact id) of the facts that events state, by fact."""
    return rows(
        connection,
        "SELECT source_event_id, facts.id FROM json_each(?) AS ids "
        "CROSS JOIN facts ON source_event_id = ids.value ORDER BY facts.id",
        (json_array(event_ids),),
    )


def facts_repeated_by(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> list[tuple[str, str]]:
    """Return (event id, fact id) of the facts that events repeat, by fact."""
    return rows(
        connection,
        "SELECT DISTINCT event_id, fact_id FROM json_each(?) AS ids "
        "CROSS JOIN occasions ON event_id = ids.value ORDER BY fact_id",
        (json_array(event_ids),),
    )


class DatedClaim(NamedTuple):
    """A claim, and the end of its validity (unix ms); None if it is still valid."""

    claim: FactClaim
    until: int | None


def claims(connection: apsw.Connection, subjects: Sequence[str], attribute: str) -> list[FactClaim]:
    """Return all claims about an attribute of a subject, earliest first.

    `subjects`: all ids of the subject.
    """
    return [
        FactClaim(*row)
        for row in connection.execute(
            "SELECT fact_id, subject, attribute, value, as_of FROM fact_claims "
            f"WHERE subject IN ({_placeholders(subjects)}) AND attribute = ? "
            "ORDER BY as_of, fact_id",
            (*subjects, attribute),
        )
    ]


def claim_of(connection: apsw.Connection, fact_id: str) -> FactClaim | None:
    """Return the claim of a fact, or None."""
    found = rows(
        connection,
        "SELECT fact_id, subject, attribute, value, as_of FROM fact_claims WHERE fact_id = ?",
        (fact_id,),
    )
    return FactClaim(*found[0]) if found else None


def days_of(connection: apsw.Connection, fact_id: str) -> FactDays | None:
    """Return the days that a fact is about, or None."""
    found = rows(
        connection,
        "SELECT fact_id, first_day, last_day FROM fact_days WHERE fact_id = ?",
        (fact_id,),
    )
    return FactDays(*found[0]) if found else None


def merged_attributes(connection: apsw.Connection, subject: str) -> list[str]:
    """Return the attributes of the subject's facts that have a merged supersession, sorted."""
    found = rows(
        connection,
        "SELECT DISTINCT attribute FROM merged_supersessions WHERE subject = ? ORDER BY attribute",
        (subject,),
    )
    return [str(attribute) for (attribute,) in found]


def merged_supersession(connection: apsw.Connection, fact_id: str) -> MergedSupersession | None:
    """Return the supersession of a fact by a fact about a merged person, withdrawn or not."""
    found = rows(
        connection,
        "SELECT fact_id, subject, attribute, superseded_by, invalid_at, is_standing "
        "FROM merged_supersessions WHERE fact_id = ?",
        (fact_id,),
    )
    return MergedSupersession(*found[0]) if found else None


def invalid_at(connection: apsw.Connection, fact_id: str) -> int | None:
    """Return when a fact was superseded (unix ms), or None; ignores retractions and merges."""
    at: int | None = scalar(
        connection, "SELECT invalid_at FROM standing_supersessions WHERE fact_id = ?", (fact_id,)
    )
    return at


def invalid_times(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, int]:
    """Return when each of these facts was superseded, as `invalid_at`; the others are left out."""
    found = rows(
        connection,
        "SELECT fact_id, invalid_at FROM json_each(?) AS given "
        "CROSS JOIN standing_supersessions ON fact_id = given.value",
        (json_array(fact_ids),),
    )
    return dict(found)


def supersession(connection: apsw.Connection, fact_id: str) -> tuple[str, int] | None:
    """Return (id of what superseded a fact, when in unix ms); ignores retractions and merges."""
    found = rows(
        connection,
        "SELECT superseded_by, invalid_at FROM standing_supersessions WHERE fact_id = ?",
        (fact_id,),
    )
    return found[0] if found else None


def supersessions_of(
    connection: apsw.Connection, fact_ids: Sequence[str]
) -> dict[str, tuple[str, int]]:
    """Return fact id -> what `supersession` returns, for facts that are superseded."""
    found = rows(
        connection,
        "SELECT fact_id, superseded_by, invalid_at FROM json_each(?) AS ids "
        "CROSS JOIN standing_supersessions ON fact_id = ids.value",
        (json_array(fact_ids),),
    )
    return {fact_id: (by, at) for fact_id, by, at in found}


def facts_superseded_by(connection: apsw.Connection, ids: Sequence[str]) -> list[str]:
    """Return the ids of the facts that these facts or events superseded, sorted."""
    found = rows(
        connection,
        "SELECT DISTINCT fact_id FROM json_each(?) AS ids "
        "CROSS JOIN fact_supersessions ON superseded_by = ids.value ORDER BY fact_id",
        (json_array(ids),),
    )
    return [fact_id for (fact_id,) in found]


def is_withdrawn(connection: apsw.Connection, fact_id: str, superseded_by: str) -> bool:
    """Return whether a supersession of a fact no longer holds."""
    found = rows(
        connection,
        "SELECT 1 FROM withdrawn_supersessions "
        "WHERE fact_id = ? AND superseded_by = ? AND is_withdrawn",
        (fact_id, superseded_by),
    )
    return bool(found)


_ENDING = ", ".join(StatedEnding.__struct_fields__)


def endings(
    connection: apsw.Connection, subjects: Sequence[str], attribute: str, after: int, until: int
) -> Iterator[StatedEnding]:
    """Yield what sentences may end of an attribute of a subject, in the order of their times.

    They were said after a time, and not after another (unix ms).
    """
    found = (
        connection.execute(
            f"SELECT {_ENDING} FROM stated_endings "
            "WHERE subject = ? AND said_at > ? AND said_at <= ? AND is_standing "
            "AND instr(attributes || nouns, ?) ORDER BY said_at, event_id, position",
            (subject, after, until, json.dumps(attribute, ensure_ascii=False)),
        )
        for subject in dict.fromkeys(subjects)
    )
    by_subject = ((StatedEnding(*row) for row in each) for each in found)
    yield from heapq.merge(*by_subject, key=lambda row: (row.said_at, row.event_id, row.position))


def endings_of_events(connection: apsw.Connection, event_ids: Sequence[str]) -> list[StatedEnding]:
    """Return the endings that events state, except of events that were edited or deleted."""
    found = rows(
        connection,
        f"SELECT {_ENDING} FROM json_each(?) AS ids "
        "CROSS JOIN stated_endings ON event_id = ids.value AND is_standing "
        "ORDER BY event_id, position, role, subject",
        (json_array(event_ids),),
    )
    return [StatedEnding(*row) for row in found]


def fact_end(connection: apsw.Connection, fact_id: str) -> tuple[str, int] | None:
    """Return (id of what superseded or retracted a fact, when it ended in unix ms), or None."""
    found = rows(
        connection,
        "SELECT superseded_by, invalid_at FROM fact_ends WHERE fact_id = ?",
        (fact_id,),
    )
    return found[0] if found else None


def fact_merge(connection: apsw.Connection, fact_id: str) -> FactMerge | None:
    """Return the merge of a fact into another, undone or not."""
    found = rows(
        connection,
        "SELECT fact_id, keeper_id, reason, merged_at, invalid_at, is_standing FROM fact_merges "
        "WHERE fact_id = ?",
        (fact_id,),
    )
    return FactMerge(*found[0]) if found else None


def facts_merged_into(connection: apsw.Connection, fact_id: str) -> list[str]:
    """Return the ids of the facts that are merged into a fact, sorted."""
    found = rows(
        connection,
        "SELECT fact_id FROM fact_merges WHERE keeper_id = ? AND is_standing ORDER BY fact_id",
        (fact_id,),
    )
    return [str(id_) for (id_,) in found]


def is_processed(connection: apsw.Connection, event_id: str) -> bool:
    """Return whether the writer has processed an event."""
    return (
        connection.execute(
            "SELECT 1 FROM memory_processing_log WHERE event_id = ?", (event_id,)
        ).fetchone()
        is not None
    )


def is_completed(connection: apsw.Connection, turn: str) -> bool:
    """Return whether a turn, given by its row id, is completed."""
    return connection.execute("SELECT 1 FROM turns WHERE id = ?", (turn,)).fetchone() is not None


def mental_model(connection: apsw.Connection, model_id: str) -> MentalModel | None:
    """Return a version of a mental model, or None."""
    columns = ", ".join(MentalModel.__struct_fields__)
    row = connection.execute(
        f"SELECT {columns} FROM mental_models WHERE id = ?", (model_id,)
    ).fetchone()
    return None if row is None else MentalModel(*row)


class MentalModelState(NamedTuple):
    """A version of a mental model.

    Attributes:
        current: it is the newest, and no profile of a merged entity took its place.
        is_stale: what is known about its entity has changed since it was refreshed.
        refreshed_at: when it was last found up to date (unix ms).
    """

    model: MentalModel
    current: bool
    is_stale: bool
    refreshed_at: int
    access_count: int


def mental_models(
    connection: apsw.Connection,
    *,
    ids: Sequence[str] | None = None,
    number: int | None = None,
    all_versions: bool = False,
) -> list[MentalModelState]:
    """Return the current versions of mental models, or all versions, in ledger order.

    `ids`, `number`: only versions with these ids, or written by this record.
    """
    columns = ", ".join(f"model.{name}" for name in MentalModel.__struct_fields__)
    version_rows = rows(
        connection,
        f"""
        SELECT {columns},
               model.id IN (SELECT id FROM current_mental_models) AS current,
               model.id IN (SELECT id FROM stale_mental_models WHERE id = model.id),
               max(last_refreshed, coalesce((SELECT max(at) FROM mental_model_refreshes
                                              WHERE model_id = model.id), 0)),
               access_count
          FROM mental_models AS model
         WHERE (current OR ?1)
           AND (?2 IS NULL OR model.id IN (SELECT value FROM json_each(?2)))
           AND (?3 IS NULL OR model.number = ?3)
         ORDER BY model.number
        """,
        (all_versions, None if ids is None else json_array(ids), number),
    )
    return [
        MentalModelState(MentalModel(*row[:-4]), bool(row[-4]), bool(row[-3]), *row[-2:])
        for row in version_rows
    ]


def dead_letter(connection: apsw.Connection, number: int) -> DeadLetter | None:
    """Return the dead letter of a record, or None."""
    row = connection.execute(
        "SELECT number, kind, reason, state, parked_at FROM dead_letters WHERE number = ?",
        (number,),
    ).fetchone()
    return None if row is None else DeadLetter(*row)


def dead_letters(connection: apsw.Connection, state: str | None = "parked") -> list[DeadLetter]:
    """Return the dead letters in one state, or in all states if None, in order."""
    return [
        DeadLetter(*row)
        for row in connection.execute(
            "SELECT number, kind, reason, state, parked_at FROM dead_letters "
            "WHERE ?1 IS NULL OR state = ?1 ORDER BY number",
            (state,),
        )
    ]


def is_traced(connection: apsw.Connection, last_number: int) -> bool:
    """Return whether every decision up to a record has its dependencies traced."""
    count, traced = rows(
        connection,
        "SELECT count(*), min(traced) FROM conclusions WHERE number <= ?",
        (last_number,),
    )[0]
    untraced_restatement = scalar(
        connection,
        "SELECT 1 FROM decisions WHERE restated IS NOT NULL AND length(restated) = 0 LIMIT 1",
    )
    return count == last_number and traced == 1 and untraced_restatement is None


def change_offsets(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Return number -> offset of these change records, if the file reflects them."""
    return dict(
        rows(
            connection,
            f"SELECT number, offset FROM conclusions WHERE number IN ({_placeholders(numbers)})",
            numbers,
        )
    )


def decisions(connection: apsw.Connection, last_number: int) -> list[tuple[int, bytes, bytes]]:
    """Return (number, keys read, keys written) of the decisions up to a record, in order."""
    return rows(
        connection,
        "SELECT number, reads, writes FROM decisions WHERE number <= ? ORDER BY number",
        (last_number,),
    )


def replacement_rows(connection: apsw.Connection, number: int) -> bytes | None:
    """Return the encoded rows of a decision that an erasure repeated, or None."""
    found: bytes | None = scalar(
        connection, "SELECT restated FROM decisions WHERE number = ?", (number,)
    )
    return found


def events_of(connection: apsw.Connection, id_: str) -> list[str]:
    """Return the ids of the events that state or repeat a fact, or the facts of an observation."""
    return events_of_facts(
        connection,
        [
            str(fact)
            for (fact,) in rows(
                connection,
                "SELECT id FROM facts WHERE id = ?1 "
                "UNION SELECT fact_id FROM observation_facts WHERE analysis_run_id = ?1",
                (id_,),
            )
        ],
    )


def events_of_facts(connection: apsw.Connection, facts: Sequence[str]) -> list[str]:
    """Return the ids of the events that state or repeat these facts."""
    found = rows(
        connection,
        "WITH wanted(id) AS (SELECT value FROM json_each(?)) "
        "SELECT source_event_id FROM facts WHERE id IN (SELECT id FROM wanted) "
        "UNION SELECT event_id FROM occasions WHERE fact_id IN (SELECT id FROM wanted)",
        (json_array(facts),),
    )
    return [str(event) for (event,) in found]


def facts_about(connection: apsw.Connection, entity_ids: Sequence[str]) -> list[str]:
    """Return the ids of facts about any of these entities."""
    found = rows(
        connection,
        "SELECT DISTINCT fact_id FROM fact_entities "
        "WHERE entity_id IN (SELECT value FROM json_each(?))",
        (json_array(entity_ids),),
    )
    return [str(fact) for (fact,) in found]


def records_of_models(
    connection: apsw.Connection, ids: Sequence[str] = (), numbers: Sequence[int] = ()
) -> list[int]:
    """Return the numbers of the records that wrote any version of these mental models.

    Models are given by the id of any version, or the number of the record that wrote it.
    """
    number_rows = rows(
        connection,
        """
        WITH RECURSIVE family(id, parent_id) AS (
            SELECT id, parent_id FROM mental_models
             WHERE id IN (SELECT value FROM json_each(?1))
                OR number IN (SELECT value FROM json_each(?2))
            UNION
            SELECT other.id, other.parent_id FROM family JOIN mental_models AS other
                ON other.id = family.parent_id OR other.parent_id = family.id
        )
        SELECT number FROM mental_models WHERE id IN (SELECT id FROM family) ORDER BY number
        """,
        (json_array(ids), json_array(numbers)),
    )
    return [number for (number,) in number_rows]


def stale_models(connection: apsw.Connection, ids: Sequence[str]) -> set[str]:
    """Filter ids of mental models to those marked stale."""
    found = rows(
        connection,
        "SELECT id FROM stale_mental_models WHERE id IN (SELECT value FROM json_each(?))",
        (json_array(ids),),
    )
    return {str(id_) for (id_,) in found}


def model_ids(connection: apsw.Connection, numbers: Sequence[int]) -> list[str]:
    """Return the ids of the mental models written by these records."""
    found = rows(
        connection,
        "SELECT id FROM mental_models WHERE number IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json_array(numbers),),
    )
    return [str(id_) for (id_,) in found]


def models_tagged(connection: apsw.Connection, tags: Sequence[str]) -> list[int]:
    """Return the numbers of the records that wrote mental models with any of these tags."""
    found = rows(
        connection,
        "SELECT number FROM mental_models WHERE EXISTS (SELECT 1 FROM json_each(tags) "
        "WHERE value IN (SELECT value FROM json_each(?))) ORDER BY number",
        (json_array(tags),),
    )
    return [number for (number,) in found]


def models_about(connection: apsw.Connection, entity_ids: Sequence[str]) -> list[int]:
    """Return the numbers of the records that wrote mental models of any of these entities."""
    found = rows(
        connection,
        "SELECT number FROM mental_models WHERE entity_id IN (SELECT value FROM json_each(?))",
        (json_array(entity_ids),),
    )
    return [number for (number,) in found]


def causes(connection: apsw.Connection, fact_id: str) -> list[tuple[str, float, str]]:
    """Return (fact id, strength, text) of the causes of a fact."""
    return rows(
        connection,
        "SELECT from_fact_id, strength, text FROM causal_links JOIN facts ON id = from_fact_id "
        "WHERE to_fact_id = ? ORDER BY 1",
        (fact_id,),
    )


def effects(connection: apsw.Connection, fact_id: str) -> list[tuple[str, float, str]]:
    """Return (fact id, strength, text) of the effects of a fact."""
    return rows(
        connection,
        "SELECT to_fact_id, strength, text FROM causal_links JOIN facts ON id = to_fact_id "
        "WHERE from_fact_id = ? ORDER BY 1",
        (fact_id,),
    )


def facts_from(connection: apsw.Connection, event_id: str) -> list[tuple[str, str]]:
    """Return (id, text) of the facts that an event states."""
    return rows(
        connection, "SELECT id, text FROM facts WHERE source_event_id = ? ORDER BY id", (event_id,)
    )


def fact(connection: apsw.Connection, fact_id: str) -> Fact | None:
    """Return a fact's row."""
    found = rows(
        connection,
        "SELECT id, text, context, as_of, ingested_at, source_event_id, metadata, created_at, "
        "signature FROM facts WHERE id = ?",
        (fact_id,),
    )
    return Fact(*found[0]) if found else None


def is_current_fact(connection: apsw.Connection, fact_id: str) -> bool:
    """Return whether there is a fact with this id that was neither superseded nor retracted."""
    found = scalar(
        connection,
        "SELECT 1 FROM facts WHERE id = ? AND NOT EXISTS "
        "(SELECT 1 FROM fact_ends WHERE fact_ends.fact_id = facts.id)",
        (fact_id,),
    )
    return found is not None


class ModelUsageTotals(NamedTuple):
    """Totals of language model calls for a zone: usage, and the outcome of proposed facts.

    `cost` is in the currency of the configured prices; `reasons`: reason for rejection -> count.
    """

    events: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float
    accepted: int
    duplicates: int
    rejected: int
    reasons: dict[str, int]


def model_usage_totals(connection: apsw.Connection) -> ModelUsageTotals:
    """Return the totals of all language model calls."""
    ((events, calls, tokens_in, tokens_out, cost, kept, repeated, refused),) = rows(
        connection,
        "SELECT count(DISTINCT about), ifnull(sum(calls), 0), ifnull(sum(tokens_in), 0), "
        "ifnull(sum(tokens_out), 0), ifnull(sum(cost), 0.0), ifnull(sum(kept), 0), "
        "ifnull(sum(repeated), 0), ifnull(sum(refused), 0) FROM writings",
    )
    reasons = rows(
        connection,
        "SELECT each.key, sum(each.value) FROM writings, json_each(writings.reasons) AS each "
        "GROUP BY each.key ORDER BY each.key",
    )
    return ModelUsageTotals(
        events, calls, tokens_in, tokens_out, cost, kept, repeated, refused, dict(reasons)
    )


def model_answers_about(connection: apsw.Connection, number: int) -> list[int]:
    """Return the numbers of the records of model answers about an event."""
    found = rows(connection, "SELECT number FROM writings WHERE about = ?", (number,))
    return [each for (each,) in found]


def events_with_model_answers(connection: apsw.Connection) -> set[int]:
    """Return the numbers of the events that have a model answer."""
    return {number for (number,) in rows(connection, "SELECT about FROM writings")}


def events_answered_otherwise(connection: apsw.Connection, model: str, role: str) -> set[int]:
    """Return the numbers of events with model answers, but none by this model with this role."""
    return {
        number
        for (number,) in rows(
            connection,
            "SELECT about FROM writings EXCEPT SELECT about FROM writings "
            "WHERE model = ? AND role = ?",
            (model, role),
        )
    }


def writer_prompts(connection: apsw.Connection) -> dict[str, tuple[int, str]]:
    """Return name -> (event number, text) of the newest version of each writer prompt."""
    return {
        name: (number, text)
        for number, name, text in rows(
            connection, "SELECT number, name, text FROM writer_texts ORDER BY number"
        )
    }


def writer_prompt_times(connection: apsw.Connection) -> dict[str, int]:
    """Return name -> the time (unix ms) when each writer prompt was last set or removed."""
    return dict(rows(connection, "SELECT name, max(created_at) FROM writer_texts GROUP BY name"))


class WriterProposal(NamedTuple):
    """A version of a writer prompt that a model proposed.

    `decision`: accepted, rejected, or None if it is undecided. `newest`: no later record proposed
    or set a version with its name.
    """

    row: WriterPromptProposal
    decision: str | None
    newest: bool


def writer_proposals(connection: apsw.Connection) -> list[WriterProposal]:
    """Return the proposed versions of writer prompts, the newest first."""
    columns = ", ".join(f"proposal.{name}" for name in WriterPromptProposal.__struct_fields__)
    proposal_rows = rows(
        connection,
        f"""
        SELECT {columns}, decision.status,
               proposal.number >= (
                   SELECT max(number) FROM (
                       SELECT number FROM writer_text_proposals WHERE name = proposal.name
                       UNION ALL SELECT number FROM writer_texts WHERE name = proposal.name))
          FROM writer_text_proposals AS proposal
          LEFT JOIN writer_text_decisions AS decision ON decision.proposal_id = proposal.id
         ORDER BY proposal.number DESC, proposal.id
        """,
    )
    return [
        WriterProposal(WriterPromptProposal(*row[:-2]), row[-2], bool(row[-1]))
        for row in proposal_rows
    ]


def undecided_writer_proposal(
    connection: apsw.Connection, proposal_id: str
) -> WriterPromptProposal | None:
    """Return a proposed version of a writer prompt, or None if it is decided or unknown."""
    columns = ", ".join(WriterPromptProposal.__struct_fields__)
    proposal_rows = rows(
        connection,
        f"SELECT {columns} FROM writer_text_proposals WHERE id = ?1 AND NOT EXISTS "
        "(SELECT 1 FROM writer_text_decisions WHERE proposal_id = ?1)",
        (proposal_id,),
    )
    return WriterPromptProposal(*proposal_rows[0]) if proposal_rows else None


def fact_count(connection: apsw.Connection) -> int:
    """Return the number of facts."""
    return int(scalar(connection, "SELECT count(*) FROM facts"))


def park_records(connection: apsw.Connection) -> list[int]:
    """Return the numbers of the records that park an input, unreadable or in conflict."""
    found = rows(connection, "SELECT number FROM dead_letters WHERE kind = 'park' ORDER BY number")
    return [number for (number,) in found]


def completion_event(connection: apsw.Connection, turn: str) -> str | None:
    """Return the id of the event that completed a turn, given its row id, or None."""
    found: str | None = scalar(connection, "SELECT event_id FROM turns WHERE id = ?", (turn,))
    return found


def _placeholders(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
