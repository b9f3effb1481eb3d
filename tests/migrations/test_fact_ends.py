"""The table of ends follows supersessions, merges and retractions, whatever comes or goes."""

from __future__ import annotations

import random

from recollect.projections.memory import MemoryModel
from recollect.projections.sqlite import rows
from recollect.schemas.changes import (
    Delete,
    FactSupersession,
    MergedSupersession,
    RetractedFact,
    Section,
    WithdrawnSupersession,
)

Ends = dict[str, tuple[str, int]]


def expected(
    own: Ends,
    withdrawn: set[tuple[str, str]],
    merged: dict[str, MergedSupersession],
    retracted: dict[tuple[str, str], RetractedFact],
) -> Ends:
    """Follow the earlier supersession of each fact past what is void, one step at a time."""
    ended = {fact: end for fact, end in own.items() if (fact, end[0]) not in withdrawn}
    for fact, item in merged.items():
        if item.is_standing and (fact not in ended or item.invalid_at < ended[fact][1]):
            ended[fact] = item.superseded_by, item.invalid_at
    standing: dict[str, RetractedFact] = {}
    for row in retracted.values():
        if row.is_standing:
            other = standing.get(row.fact_id)
            if other is None or (row.is_void, row.target_id) > (other.is_void, other.target_id):
                standing[row.fact_id] = row
    void = {row.fact_id for row in retracted.values() if row.is_standing and row.is_void}
    found = {fact: (row.retracted_by, row.invalid_at) for fact, row in standing.items()}
    for fact, end in ended.items():
        step: tuple[str, int] | None = end
        while step is not None and step[0] in void:
            step = ended.get(step[0])
        if fact not in standing and step is not None:
            found[fact] = step
    return found


def test_ends_follow_every_history() -> None:
    for seed in range(60):
        draw = random.Random(seed)
        model = MemoryModel(None)
        ended: Ends = {}
        withdrawn: set[tuple[str, str]] = set()
        merged: dict[str, MergedSupersession] = {}
        retracted: dict[tuple[str, str], RetractedFact] = {}
        for step in range(60):
            chance = draw.random()
            if chance < 0.2:
                older = draw.randrange(8)
                newer = draw.randrange(older + 1, 10)
                end = MergedSupersession(
                    f"f{older}", "s", "home", f"f{newer}", 10 * newer, draw.randrange(2)
                )
                merged[end.fact_id] = end
                model.project([Section(puts=(end,))])
            elif chance < 0.25 and merged:
                fact = draw.choice(sorted(merged))
                del merged[fact]
                model.project([Section(deletes=(Delete("merged_supersessions", (fact,)),))])
            elif chance < 0.32 and ended:
                fact = draw.choice(sorted(ended))
                withdrawn.add((fact, ended[fact][0]))
                gone = WithdrawnSupersession(fact, ended[fact][0])
                model.project([Section(puts=(gone,))])
            elif chance < 0.35 and withdrawn:
                pair = draw.choice(sorted(withdrawn))
                withdrawn.remove(pair)
                if draw.random() < 0.5:
                    again = WithdrawnSupersession(*pair, is_withdrawn=0)
                    model.project([Section(puts=(again,))])
                else:
                    model.project([Section(deletes=(Delete("withdrawn_supersessions", pair),))])
            elif chance < 0.5:
                older = draw.randrange(8)
                newer = draw.randrange(older + 1, 10)
                ended[f"f{older}"] = f"f{newer}", 10 * newer
                put = FactSupersession(f"f{older}", f"f{newer}", 10 * newer)
                model.project([Section(puts=(put,))])
            elif chance < 0.8:
                row = RetractedFact(
                    f"f{draw.randrange(10)}",
                    f"t{draw.randrange(3)}",
                    f"c{step}",
                    step,
                    draw.randrange(2),
                    draw.randrange(2),
                )
                retracted[row.fact_id, row.target_id] = row
                model.project([Section(puts=(row,))])
            elif chance < 0.9 and ended:
                fact = draw.choice(sorted(ended))
                del ended[fact]
                model.project([Section(deletes=(Delete("fact_supersessions", (fact,)),))])
            elif retracted:
                key = draw.choice(sorted(retracted))
                del retracted[key]
                model.project([Section(deletes=(Delete("retracted_facts", key),))])
            sql = "SELECT fact_id, superseded_by, invalid_at FROM fact_ends"
            found = {fact: (by, at) for fact, by, at in rows(model.connection, sql)}
            assert found == expected(ended, withdrawn, merged, retracted), (seed, step)
        model.close()
