"""Queries of memory.db about observations and mental models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import json_array, rows, scalar

#: Section, id, first and last character in the text, rank, and ids of the cited facts.
PlacedBlock = tuple[str, str, int, int, int, list[str]]
_blocks = msgspec.json.Decoder(list[PlacedBlock])
_NO_BLOCKS = "[]"
_ids = msgspec.json.Decoder(list[str])


def blocks_of(encoded: str) -> list[PlacedBlock]:
    """Return the blocks of a page, given as its row stores them."""
    return _blocks.decode(encoded)


class ObservationVersion(NamedTuple):
    """A version of an observation, about a topic of an entity. Times are unix ms.

    Attributes:
        before: (id, text) of the previous version.
        items: the ids of the facts that its text cites, in order.
    """

    id: str
    text: str
    created_at: int
    is_stale: bool
    before: tuple[str, str] | None
    entity_id: str
    items: list[str]


class MentalModelVersion(NamedTuple):
    """A version of a mental model; `updated_at` is unix ms.

    Attributes:
        entities: its entity and all that were merged with it, if it was made from facts.
        note_end: how many characters at the beginning of the text were written by hand.
        blocks: the encoded blocks of what was made from facts (see `blocks_of`).
    """

    id: str
    name: str
    description: str
    entity_id: str | None
    updated_at: int
    entities: list[str]
    note_end: int
    blocks: str

    @property
    def has_page(self) -> bool:
        """Whether it has a page, that is, blocks made from facts."""
        return self.blocks != _NO_BLOCKS

    @property
    def facts(self) -> list[str]:
        """The ids of the facts that it cites, sorted."""
        return sorted({fact for *_, facts in blocks_of(self.blocks) for fact in facts})


def mental_models(
    connection: apsw.Connection, until_ms: int, about: Collection[str] | None = None
) -> list[MentalModelVersion]:
    """Return the newest version of each mental model up to a time, in order of ids.

    `about`: of the models with a page, only those about one of these entities; None: all.
    """
    version_rows = rows(
        connection,
        """
        SELECT model.id, name, description, entity_id, updated_at, entities, note_end, blocks
          FROM mental_models AS model
          LEFT JOIN mental_model_pages AS page ON page.model_id = model.id
         WHERE updated_at <= ?1
           AND NOT EXISTS (SELECT 1 FROM mental_models AS newer
                            WHERE newer.parent_id = model.id AND newer.updated_at <= ?1)
           AND NOT EXISTS (SELECT 1 FROM mental_models AS other
                            WHERE other.id = page.replaced_by AND other.updated_at <= ?1)
           AND (?2 IS NULL OR coalesce(blocks, ?3) = ?3
                OR EXISTS (SELECT 1 FROM json_each(page.entities)
                            WHERE value IN (SELECT value FROM json_each(?2))))
         ORDER BY model.id
        """,
        (until_ms, None if about is None else json_array(sorted(about)), _NO_BLOCKS),
    )
    return [
        MentalModelVersion(
            id_,
            name,
            description,
            entity_id,
            updated_at,
            _ids.decode(entities or "[]"),
            note_end or 0,
            blocks or _NO_BLOCKS,
        )
        for (
            id_,
            name,
            description,
            entity_id,
            updated_at,
            entities,
            note_end,
            blocks,
        ) in version_rows
    ]


def stale_mental_models(connection: apsw.Connection, ids: Sequence[str]) -> set[str]:
    """Filter ids of mental models to those that are stale."""
    found = rows(
        connection,
        "SELECT value FROM json_each(?) "
        "WHERE EXISTS (SELECT 1 FROM stale_mental_models WHERE id = value)",
        (json_array(ids),),
    )
    return {str(id_) for (id_,) in found}


def observations_of(
    connection: apsw.Connection, fact_ids: Sequence[str], until_ms: int
) -> list[ObservationVersion]:
    """Return the newest versions of the observations that cite any of these facts, in id order."""
    return [
        ObservationVersion(
            id_,
            text,
            created_at,
            bool(is_stale),
            (before, previous_text) if previous_text is not None else None,
            entity_id,
            _ids.decode(items),
        )
        for id_, text, created_at, is_stale, before, previous_text, entity_id, items in rows(
            connection,
            """
            SELECT run.id, run.output_text, run.created_at, run.is_stale,
                   before.id, before.output_text, version.entity_id,
                   (SELECT json_group_array(fact_id)
                      FROM (SELECT fact_id FROM observation_items
                             WHERE analysis_run_id = run.id ORDER BY position))
              FROM analysis_runs AS run
              JOIN observation_versions AS version ON version.analysis_run_id = run.id
              LEFT JOIN analysis_runs AS before ON before.id = run.parent_id
             WHERE run.id IN (SELECT analysis_run_id FROM observation_items
                               WHERE fact_id IN (SELECT value FROM json_each(?1)))
               AND run.status = 'completed'
               AND run.output_text IS NOT NULL AND run.created_at <= ?2
               AND NOT EXISTS (
                   SELECT 1 FROM analysis_runs AS later
                    WHERE later.parent_id = run.id AND later.status = 'completed'
                      AND later.created_at <= ?2
               )
             ORDER BY run.id
            """,
            (json_array(fact_ids), until_ms),
        )
    ]


def supporting_facts(
    connection: apsw.Connection, run_ids: Sequence[str]
) -> dict[str, list[tuple[str, str, int]]]:
    """Return observation id -> (fact id, text, unix ms) of its facts, the newest first."""
    facts_by_version: dict[str, list[tuple[str, str, int]]] = {}
    for run, *fact in rows(
        connection,
        "SELECT analysis_run_id, facts.id, facts.text, facts.as_of FROM observation_facts "
        "JOIN facts ON facts.id = observation_facts.fact_id "
        "WHERE analysis_run_id IN (SELECT value FROM json_each(?)) "
        "ORDER BY facts.as_of DESC, facts.id",
        (json_array(run_ids),),
    ):
        facts_by_version.setdefault(str(run), []).append((fact[0], fact[1], fact[2]))
    return facts_by_version


def observation_version(
    connection: apsw.Connection, run_id: str
) -> tuple[str, str | None, int] | None:
    """Return (text, previous version, unix ms) of a version of an observation, or None."""
    version_rows = rows(
        connection,
        "SELECT output_text, parent_id, created_at FROM analysis_runs "
        "WHERE id = ? AND output_text IS NOT NULL",
        (run_id,),
    )
    return (version_rows[0][0], version_rows[0][1], version_rows[0][2]) if version_rows else None


class ListedObservation(NamedTuple):
    """A version of an observation; `before`: the previous version; `current`: it is the newest."""

    id: str
    text: str
    created_at: int
    is_stale: bool
    before: str | None
    current: bool


def observation_list(
    connection: apsw.Connection,
    *,
    ids: Sequence[str] | None,
    all_versions: bool,
    after: tuple[int, str],
    limit: int,
    about: Sequence[str] | None = None,
) -> list[ListedObservation]:
    """Return up to `limit` observations that follow `after` (`created_at`, id), newest first.

    `ids`: only versions with these ids. `all_versions`: include replaced versions. `about`: only
    observations on these entities.
    """
    version_rows = rows(
        connection,
        """
        SELECT run.id, run.output_text, run.created_at, run.is_stale, run.parent_id,
               NOT EXISTS (
                   SELECT 1 FROM analysis_runs AS later
                    WHERE later.parent_id = run.id AND later.status = 'completed'
               ) AS current
          FROM analysis_runs AS run
          JOIN analysis_types AS type ON type.id = run.analysis_type_id
         WHERE type.name LIKE 'observation%' AND run.status = 'completed'
           AND run.output_text IS NOT NULL AND (current OR ?1)
           AND (?2 IS NULL OR run.id IN (SELECT value FROM json_each(?2)))
           AND (?6 IS NULL OR run.id IN (
                   SELECT analysis_run_id FROM observation_versions
                    WHERE entity_id IN (SELECT value FROM json_each(?6))))
           AND run.created_at <= ?3 AND (run.created_at < ?3 OR run.id < ?4)
         ORDER BY run.created_at DESC, run.id DESC LIMIT ?5
        """,
        (
            all_versions,
            None if ids is None else json_array(ids),
            *after,
            limit,
            None if about is None else json_array(about),
        ),
    )
    return [
        ListedObservation(id_, text, at, bool(stale), before, bool(current))
        for id_, text, at, stale, before, current in version_rows
    ]


def observation_family(connection: apsw.Connection, run_id: str) -> list[str]:
    """Return the ids of all versions of an observation, given any one."""
    id_rows = rows(
        connection,
        """
        WITH RECURSIVE family(id, parent_id) AS (
            SELECT id, parent_id FROM analysis_runs WHERE id = ?
            UNION
            SELECT other.id, other.parent_id FROM family JOIN analysis_runs AS other
                ON other.id = family.parent_id OR other.parent_id = family.id
        )
        SELECT id FROM family
        """,
        (run_id,),
    )
    return [str(id_) for (id_,) in id_rows]


def sources_of(connection: apsw.Connection, run_id: str) -> list[tuple[str, str, str]]:
    """Return (fact id, text, event id) of the facts that support a version, the newest first."""
    return rows(
        connection,
        "SELECT facts.id, facts.text, facts.source_event_id FROM observation_facts "
        "JOIN facts ON facts.id = observation_facts.fact_id WHERE analysis_run_id = ? "
        "ORDER BY facts.as_of DESC, facts.id",
        (run_id,),
    )


class ObservationTopic(NamedTuple):
    """The cluster that a version of an observation is about, and the record that wrote it."""

    cluster_id: str
    kind: str
    entity_id: str
    label: str
    number: int


def observation_topics(
    connection: apsw.Connection, run_ids: Sequence[str]
) -> dict[str, ObservationTopic]:
    """Return version -> what it is about."""
    topic_rows = rows(
        connection,
        "SELECT analysis_run_id, cluster_id, kind, entity_id, label, number "
        "FROM observation_versions WHERE analysis_run_id IN (SELECT value FROM json_each(?))",
        (json_array(run_ids),),
    )
    return {str(run): ObservationTopic(*row) for run, *row in topic_rows}


def observation_items(connection: apsw.Connection, run_id: str) -> list[tuple[str, int, int]]:
    """Return (fact id, start, end) of the parts of a version's text, in order."""
    return rows(
        connection,
        "SELECT fact_id, char_start, char_end FROM observation_items "
        "WHERE analysis_run_id = ? ORDER BY position",
        (run_id,),
    )


def evidence_of(connection: apsw.Connection, topic: ObservationTopic) -> list[str]:
    """Return the ids of the facts of a cluster, as of a version of its observation."""
    found = rows(
        connection,
        "SELECT fact_id FROM cluster_facts WHERE cluster_id = ? AND number <= ? ORDER BY fact_id",
        (topic.cluster_id, topic.number),
    )
    return [str(fact) for (fact,) in found]


class EndedVersion(NamedTuple):
    """A version of an observation; if that is its end, `text` is None and `reason` says why."""

    id: str
    text: str | None
    created_at: int
    reason: str | None


def version_history(connection: apsw.Connection, run_id: str) -> list[EndedVersion]:
    """Return all versions of an observation, given any one, the oldest first."""
    version_rows = rows(
        connection,
        """
        SELECT run.id, run.output_text, run.created_at, run.blocked_reason
          FROM observation_versions AS version JOIN analysis_runs AS run
               ON run.id = version.analysis_run_id
         WHERE version.cluster_id = (
                   SELECT cluster_id FROM observation_versions WHERE analysis_run_id = ?)
         ORDER BY version.number
        """,
        (run_id,),
    )
    return [EndedVersion(*row) for row in version_rows]


def versions_since(connection: apsw.Connection, number: int) -> tuple[int, int]:
    """Return how many versions with a text, and without, were written since a record."""
    found = rows(
        connection,
        "SELECT coalesce(sum(output_text IS NOT NULL), 0), coalesce(sum(output_text IS NULL), 0) "
        "FROM observation_versions AS version JOIN analysis_runs AS run "
        "ON run.id = version.analysis_run_id WHERE version.number > ?",
        (number,),
    )
    return found[0][0], found[0][1]


def observation_count(connection: apsw.Connection) -> int:
    """Return the number of observations."""
    return int(
        scalar(
            connection,
            """
            SELECT count(*) FROM analysis_runs AS run
             WHERE analysis_type_id LIKE 'observation%' AND status = 'completed'
               AND output_text IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM analysis_runs AS later
                                WHERE later.parent_id = run.id AND later.status = 'completed')
            """,
        )
    )


def clusters_to_write(connection: apsw.Connection, limit: int | None) -> list[str]:
    """Return the clusters whose current observation a model has not written, the oldest first.

    Clusters are left out if the model's answer about them was refused and they have not changed
    since.
    """
    cluster_rows = rows(
        connection,
        """
        SELECT version.cluster_id
          FROM standing_observations AS version
          JOIN analysis_runs AS run ON run.id = version.analysis_run_id
         WHERE version.kind IN ('cluster', 'changes')
           AND NOT EXISTS (SELECT 1 FROM analysis_runs AS refused
                            WHERE refused.parent_id = run.id AND refused.status = 'blocked')
           AND (run.analysis_type_id NOT LIKE 'observation_model:%'
                OR EXISTS (SELECT 1 FROM cluster_facts AS fact
                            WHERE fact.cluster_id = version.cluster_id
                              AND fact.number > version.number)
                OR EXISTS (SELECT 1 FROM cluster_changes AS change
                            WHERE change.cluster_id = version.cluster_id
                              AND change.number > version.number))
         ORDER BY version.number, version.cluster_id LIMIT ?
        """,
        (-1 if limit is None else limit,),
    )
    return [str(cluster) for (cluster,) in cluster_rows]


def answers_of_models(connection: apsw.Connection) -> tuple[int, int]:
    """Return how many versions of observations models wrote, and how many answers were refused."""
    found = rows(
        connection,
        "SELECT coalesce(sum(status = 'completed'), 0), coalesce(sum(status = 'blocked'), 0) "
        "FROM analysis_runs WHERE analysis_type_id LIKE 'observation_model:%'",
    )
    return found[0][0], found[0][1]


class Authorship(NamedTuple):
    """The type of the analysis that wrote a version; why a model's later answer was refused."""

    type_id: str
    refused: str | None


def authorships(connection: apsw.Connection, run_ids: Sequence[str]) -> dict[str, Authorship]:
    """Return version -> how it was written."""
    authorship_rows = rows(
        connection,
        """
        SELECT id, analysis_type_id,
               (SELECT blocked_reason FROM analysis_runs AS refused
                 WHERE refused.parent_id = run.id AND refused.status = 'blocked'
                 ORDER BY refused.id DESC LIMIT 1)
          FROM analysis_runs AS run WHERE id IN (SELECT value FROM json_each(?))
        """,
        (json_array(run_ids),),
    )
    return {str(run): Authorship(*rest) for run, *rest in authorship_rows}


def standing_texts(connection: apsw.Connection) -> dict[str, str]:
    """Return cluster -> the text of its standing observation."""
    return dict(
        rows(
            connection,
            "SELECT cluster_id, output_text FROM standing_observations "
            "JOIN analysis_runs ON analysis_runs.id = analysis_run_id",
        )
    )
