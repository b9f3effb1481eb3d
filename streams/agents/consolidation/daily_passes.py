"""The daily passes: patterns of facts over time, and merging of duplicate observations and facts.

A pass is a tick that requests commands, one for each step: an entity, or a pair of observations or
facts. Its last command is the tick of the next pass, so the passes keep their order. After a crash,
at most one step is repeated.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import get_args

import apsw
import msgspec

from recollect.projections.events.event_queries import switch_numbers
from recollect.projections.memory.pass_queries import active_entities, sharing_observations
from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    EntityFact,
    ObservationFact,
    ObservationItem,
    ObservationMerge,
    ObservationVersion,
    PassTick,
)
from recollect.schemas.events import RESERVED_PLATFORM, Draft, Event, RunPass, Tick
from recollect.schemas.ids import row_id
from recollect.streams.agents.consolidation.fact_merging import (
    FACT_MERGE,
    facts_to_merge,
    merge_facts,
)
from recollect.streams.agents.consolidation.observation_rows import ending, run_id, version_rows
from recollect.streams.agents.consolidation.pass_scope import scope_of
from recollect.streams.agents.mental_models.entity_pages import page_fact
from recollect.streams.agents.state import State
from recollect.streams.consolidation.days import day_of
from recollect.streams.consolidation.word_cosine import SAME, word_cosine
from recollect.streams.mental_models.page import MAX_FACTS
from recollect.streams.mental_models.patterns import (
    CONSIDERED_DAYS,
    MIN_RECENT_FACTS,
    RECENT_DAYS,
    Pattern,
    PatternKind,
    patterns,
)

#: The passes, in order.
TEMPORAL, OBSERVATION_MERGE = "temporal", "observation_merge"
#: Only marks that dreams are due: a language model looks for them outside of the commit.
DREAMS = "dreams"
PASSES = (TEMPORAL, OBSERVATION_MERGE, FACT_MERGE, DREAMS)
#: The kinds of observations that the temporal pass writes.
PATTERN_KINDS = frozenset(get_args(PatternKind))
_DAY_MS = 86_400_000
_numbers = msgspec.json.Decoder(list[int])


def has_work(events: apsw.Connection, memory: apsw.Connection, at: int, before: int) -> bool:
    """Return whether the passes would consider anything.

    `at`: the time of the first pass (unix ms), `before`: the number of its tick.
    """
    since = at - RECENT_DAYS * _DAY_MS
    return bool(
        active_entities(memory, since, MIN_RECENT_FACTS, before)
        or sharing_observations(memory, scope_of(OBSERVATION_MERGE, events, memory, before).since)
    )


def pass_tick(event: Event, name: str, state: State) -> list[DecidedPart]:
    """Return the commands that a pass's tick requests; none for any other tick.

    The state is read untracked, because commands are not issued again after an erasure.
    """
    state = state.untracked()
    if name == TEMPORAL:
        commands = _temporal_commands(event, state)
    elif name == OBSERVATION_MERGE:
        commands = _merge_commands(event, state)
    elif name == FACT_MERGE:
        commands = _fact_commands(event, state)
    elif name == DREAMS:
        commands = []
    else:
        return []
    assert isinstance(event.payload, Tick)
    later = PASSES[PASSES.index(name) + 1 :]
    if later:
        follow = Tick(source_id=f"{event.payload.source_id}:{later[0]}", name=later[0])
        commands.append(_draft(follow, event.occurred_at, event))
    tick = PassTick(event.number, name, event.occurred_at)
    return [DecidedPart((event.number,), [tick], outbox=commands)]


def _temporal_commands(tick: Event, state: State) -> list[Draft]:
    since = tick.occurred_at - CONSIDERED_DAYS * _DAY_MS
    return [
        _draft(
            RunPass(
                source_id=f"pass:{TEMPORAL}:{entity.id}:{day_of(tick.occurred_at)}:"
                f"{_position(entity.last_change, state)}",
                name="temporal",
                subject=entity.id,
            ),
            tick.occurred_at,
            tick,
        )
        for entity in active_entities(state.memory, since, MIN_RECENT_FACTS, tick.number)
        if _type_of(entity.id, state) in ("person", "organisation")
    ]


def _type_of(entity_id: str, state: State) -> str | None:
    entity = state.entity(entity_id)
    return None if entity is None else entity.type


def _merge_commands(tick: Event, state: State) -> list[Draft]:
    """Return one command for each observation that should end in favour of a similar one.

    The most similar pairs come first; of each pair, the one with more evidence is kept.
    """
    scope = scope_of(OBSERVATION_MERGE, state.events, state.memory, tick.number)
    pairs = [
        (word_cosine(*pair.texts), pair) for pair in sharing_observations(state.memory, scope.since)
    ]
    ended: set[str] = set()
    commands = []
    for cosine, pair in sorted(pairs, key=lambda entry: (-entry[0], entry[1].clusters)):
        if cosine <= SAME or not ended.isdisjoint(pair.clusters):
            continue
        first_kept = pair.facts[0] >= pair.facts[1]
        keeper, subject = pair.clusters if first_kept else pair.clusters[::-1]
        ended.add(subject)
        command = RunPass(
            source_id=f"pass:{OBSERVATION_MERGE}:{subject}:{keeper}:"
            f"{_position(scope.last_change(pair.last_change), state)}",
            name="observation_merge",
            subject=subject,
            keeper=keeper,
        )
        commands.append(_draft(command, tick.occurred_at, tick))
    return commands


def _fact_commands(tick: Event, state: State) -> list[Draft]:
    """Return a command for each fact to hide in favour of another."""
    return [
        _draft(
            RunPass(
                source_id=f"pass:{FACT_MERGE}:{pair.fact_id}:{pair.keeper_id}:"
                f"{_position(pair.last_change, state)}",
                name="fact_merge",
                subject=pair.fact_id,
                keeper=pair.keeper_id,
            ),
            tick.occurred_at,
            tick,
        )
        for pair in facts_to_merge(state, tick.number)
    ]


def _position(number: int, state: State) -> int:
    """Return a record's number without the switches before it: the same after every rebuild."""
    return number - bisect_left(switch_numbers(state.events), number)


def _draft(payload: RunPass | Tick, at: int, tick: Event) -> Draft:
    return Draft(
        platform=RESERVED_PLATFORM,
        occurred_at=at,
        ingested_at=max(at, tick.ingested_at),
        payload=payload,
    )


def run_pass(event: Event, command: RunPass, state: State) -> list[DecidedPart]:
    """Return what one step of a pass decides."""
    if command.name == OBSERVATION_MERGE:
        return _merge(event, command, state)
    if command.name == FACT_MERGE:
        return merge_facts(event, command, state)
    return _find_patterns(event, command.subject, state)


# The temporal pass


def _find_patterns(event: Event, entity_id: str, state: State) -> list[DecidedPart]:
    """Return new versions of an entity's patterns, and the ends of those that no longer hold."""
    group = state.group_of(entity_id)
    canonical = state.canonical(entity_id)
    entity = entity_id if canonical is None else canonical.id
    rows = {row.fact_id: row for row in state.entity_facts(group, MAX_FACTS)}
    facts = [page_fact(row, frozenset(group)) for row in rows.values()]
    standing = state.standing_observations(group)
    parts = [DecidedPart((event.number,))]
    kept = set()
    beside = sorted({other for fact in facts for other, _ in fact.beside})
    people = {other for other in beside if _type_of(other, state) == "person"}
    for pattern in patterns(facts, entity, day_of(event.occurred_at), people):
        cluster = row_id(0, "cluster", "pattern", entity, pattern.key)
        kept.add(cluster)
        newest = state.newest_version(cluster)
        text = pattern.rendered.text
        if newest is not None and newest[1].output_text == text:
            continue
        others = [other for other in standing if other[0].cluster_id != cluster]
        similar = [
            other for other in others if word_cosine(text, other[1].output_text or "") > SAME
        ]
        if similar and newest is None:
            parts += _enriched(event, pattern, similar[0][1].id, rows, state)
        else:
            parts.append(_version(event, pattern, cluster, entity, rows, state))
    for version, run in standing:
        if version.kind in PATTERN_KINDS and version.cluster_id not in kept:
            parts.append(ending(event, (version, run), "few facts", state))
    return parts


def _version(
    event: Event,
    pattern: Pattern,
    cluster: str,
    entity: str,
    rows: dict[str, EntityFact],
    state: State,
) -> DecidedPart:
    """Return the rows of a new version of a pattern, sealed with the events that it quotes."""
    newest = state.newest_version(cluster)
    cited = [item.fact_id for item in pattern.rendered.items]
    units = [row for row in map(state.fact_units, cited) if row is not None]
    written = version_rows(
        event,
        ObservationVersion("", cluster, pattern.kind, entity, pattern.rendered.label, 0),
        pattern.rendered.text,
        newest,
        {(row.event_id, row.event_number, row.said_at) for row in units},
        state,
    )
    run = run_id(event, cluster)
    written += [ObservationFact(run, fact) for fact in sorted(set(cited))]
    written += [
        ObservationItem(run, place, *item) for place, item in enumerate(pattern.rendered.items)
    ]
    return DecidedPart(_sources(event, cited, rows), written)


def _enriched(
    event: Event, pattern: Pattern, run: str, rows: dict[str, EntityFact], state: State
) -> list[DecidedPart]:
    """Return the facts of a pattern as evidence of an observation that already states it."""
    known = set(state.evidence_of(run))
    parts = []
    for fact in sorted({item.fact_id for item in pattern.rendered.items} - known):
        evidence: list[AnyRow] = [ObservationFact(run, fact)]
        parts.append(DecidedPart(_sources(event, [fact], rows), evidence))
    return parts


def _sources(event: Event, fact_ids: Sequence[str], rows: dict[str, EntityFact]) -> tuple[int, ...]:
    numbers = {number for each in fact_ids for number in _numbers.decode(rows[each].sources)}
    return tuple(sorted({event.number, *numbers}))


# The merge of observations


def _merge(event: Event, command: RunPass, state: State) -> list[DecidedPart]:
    """Return the end of an observation if its keeper still says the same thing."""
    marker = DecidedPart((event.number,))
    assert command.keeper is not None
    newest, keeper = state.newest_version(command.subject), state.newest_version(command.keeper)
    if newest is None or keeper is None:
        return [marker]
    texts = newest[1].output_text, keeper[1].output_text
    if texts[0] is None or texts[1] is None or word_cosine(texts[0], texts[1]) <= SAME:
        return [marker]
    ended = ending(event, newest, "merged", state)
    run = run_id(event, command.subject)
    ended.puts.append(ObservationMerge(run, command.keeper))
    return [marker, ended]


def is_said_by_keeper(newest: ObservationVersion, text: str, state: State) -> bool:
    """Return whether a new text duplicates the observation into which this one was merged."""
    merge = state.observation_merge(newest.analysis_run_id)
    if merge is None:
        return False
    keeper = state.newest_version(merge.keeper_cluster_id)
    said = None if keeper is None else keeper[1].output_text
    return said is not None and word_cosine(said, text) > SAME
