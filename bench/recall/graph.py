"""The latency of neighbours over several hops, in a zone with many relationships.

python -m bench.recall.graph [--relationships N] [--entities N]
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.kit.report import Report, Target, count, markdown, percentile, stopwatch
from recollect.projections.entity_graph import EntityGraph
from recollect.projections.identity import IdentityModel
from recollect.projections.memory import MemoryModel
from recollect.schemas.changes import Entity, Fact, Merge, RelationshipEvidence, Section
from recollect.schemas.changes.row import Row
from recollect.schemas.choices import RELATIONSHIP_TYPES

RELATIONSHIPS, ENTITIES = 100_000, 20_000
#: The share of the entities that are merged into another one.
MERGED = 0.02
HOPS, QUERIES = (1, 2, 3), 100
#: The maximum number of entities of an answer: the default, and the highest allowed.
LIMITS = (100, 1_000)
MAX_MS = 50.0
_BLOCK = 10_000


def fill(memory: MemoryModel, identity: IdentityModel, relationships: int, entities: int) -> None:
    """Write relationships between random entities; a few entities have most of them."""
    drawn = random.Random(7)
    ids = [f"E{number:025}" for number in range(entities)]
    _write(identity, (Entity(id_, id_, "person", id_.lower(), "inferred", 0) for id_ in ids))
    merged = range(int(entities * MERGED))
    _write(
        identity,
        (Merge(f"M{one:025}", ids[-1 - one], ids[one], 1.0, "the same", 0) for one in merged),
    )
    weights = [1.0 / (1 + place) ** 0.5 for place in range(entities)]
    ends = drawn.choices(ids, weights, k=2 * relationships)
    rows: list[Row] = []
    for number in range(relationships):
        fact = f"F{number:025}"
        rows.append(
            Fact(
                id=fact,
                text=f"{ends[2 * number]} knows {ends[2 * number + 1]}.",
                context=None,
                as_of=number,
                ingested_at=number,
                source_event_id=fact,
                metadata="{}",
                created_at=number,
                signature=fact,
            )
        )
        rows.append(
            RelationshipEvidence(
                fact_id=fact,
                source_entity_id=ends[2 * number],
                target_entity_id=ends[2 * number + 1],
                relationship_type=drawn.choice(RELATIONSHIP_TYPES),
                confidence=0.75,
                char_start=0,
                char_end=10,
                rule="meet",
            )
        )
    _write(memory, iter(rows))


def _write(model: MemoryModel | IdentityModel, rows: Iterator[Row]) -> None:
    block: list[Row] = []
    with model.connection:
        for row in rows:
            block.append(row)
            if len(block) == _BLOCK:
                model.project([Section(puts=tuple(block))])
                block = []
        model.project([Section(puts=tuple(block))])


def run(*, relationships: int = RELATIONSHIPS, entities: int = ENTITIES) -> Report:
    """Measure neighbours, and the relationships among them, from random entities."""
    rows: list[list[str]] = []
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as scratch:
        memory = MemoryModel(Path(scratch))
        identity = IdentityModel(Path(scratch))
        fill(memory, identity, relationships, entities)
        graph = EntityGraph(memory.connection, identity.connection)
        drawn = random.Random(11)
        starts = [f"E{number:025}" for number in drawn.sample(range(entities // 2), QUERIES)]
        for limit in LIMITS:
            for hops in HOPS:
                near, among, entity_count = [], [], 0
                for start in starts:
                    with stopwatch() as taken:
                        reached = graph.neighbors([start], hops, limit).hops
                    near.append(taken.seconds * 1_000)
                    with stopwatch() as taken:
                        graph.edges_among(list(reached))
                    among.append(taken.seconds * 1_000)
                    entity_count += len(reached)
                both = [one + other for one, other in zip(near, among, strict=True)]
                rows.append(
                    [
                        str(hops),
                        count(limit),
                        count(entity_count // QUERIES),
                        f"{percentile(near, 0.5):.1f}",
                        f"{percentile(near, 0.95):.1f}",
                        f"{percentile(both, 0.5):.1f}",
                        f"{percentile(both, 0.95):.1f}",
                    ]
                )
                if hops == max(HOPS):
                    worst = max(worst, percentile(near, 0.95))
    return Report(
        title="Graph",
        about=f"Neighbours of {QUERIES} random entities in a zone with {count(relationships)} "
        f"relationships of {count(entities)} entities, a few of which have most of them; "
        f"{MERGED:.0%} of the entities are merged into others. Times in ms: of the traversal, and "
        "of the traversal with all relationships among the entities found.",
        columns=(
            *("hops", "limit", "entities found", "traversal p50", "traversal p95"),
            *("with relationships p50", "with relationships p95"),
        ),
        rows=rows,
        targets=(
            Target(
                f"{max(HOPS)} hops, p95 of the traversal, at most {MAX_MS:.0f} ms",
                f"{worst:.1f} ms",
                worst <= MAX_MS,
            ),
        ),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--relationships", type=int, default=RELATIONSHIPS)
    parser.add_argument("--entities", type=int, default=ENTITIES)
    given = parser.parse_args()
    print(markdown(run(relationships=given.relationships, entities=given.entities)))
