"""The consolidation agent: it groups facts into clusters, and writes observations on clusters.

The decision on a fact's event assigns the fact to clusters. A tick requests a command for each
changed cluster that deserves an observation, and the decision on that command writes a new version
if the text has changed. So each decision concerns a single fact or a single cluster.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections.events.event_queries import event_by_id, event_by_number, switch_numbers
from recollect.projections.memory.cluster_queries import (
    ChangedCluster,
    changed_clusters,
    overlaps,
)
from recollect.schemas.attributes import MULTI_VALUED, SINGLE_VALUED, is_single_valued
from recollect.schemas.changes import (
    AnalysisRun,
    AnyRow,
    ClusterChange,
    ClusterConsolidation,
    ClusterFact,
    ConsolidationTick,
    DecidedPart,
    Fact,
    FactClaim,
    FactDays,
    FactUnits,
    Mention,
    ObservationFact,
    ObservationItem,
    ObservationVersion,
)
from recollect.schemas.choices import ObservationKind
from recollect.schemas.events import (
    RESERVED_PLATFORM,
    Consolidate,
    Draft,
    Edit,
    Event,
    FindDreams,
    ModelConsolidated,
    RunPass,
    Tick,
    UndoMerge,
)
from recollect.streams.agents.agent import Conversation, DerivingAgent, Extract, ModelCalls
from recollect.streams.agents.consolidation.daily_passes import (
    is_said_by_keeper,
    pass_tick,
    run_pass,
)
from recollect.streams.agents.consolidation.dream_decisions import decide_dreams, extract_dreams
from recollect.streams.agents.consolidation.fact_merging import undo_fact_merge
from recollect.streams.agents.consolidation.observation_rows import (
    ending,
    model_type,
    refused_rows,
    run_id,
    text_of_rules,
    version_rows,
)
from recollect.streams.agents.memories.memory_versions import is_private
from recollect.streams.agents.state import State, changes_validity
from recollect.streams.consolidation.clusters import (
    CHANGES,
    MIN_DAYS,
    MIN_MESSAGES,
    NamedEntity,
    cluster_id,
    deserves_observation,
    is_absorbed,
    memberships,
)
from recollect.streams.consolidation.days import names_days
from recollect.streams.consolidation.model.model_text import AnswerRefused, check_answer, numbered
from recollect.streams.consolidation.observation_text import (
    Evidence,
    Rendered,
    name_of,
    render_topic,
    render_values,
)
from recollect.streams.consolidation.told_values import is_named, is_told_of, told_value
from recollect.streams.consolidation.units import Unit, units_of
from recollect.streams.language.grammar.verbs import begins_in_past
from recollect.streams.mental_models.value_statements import is_stated
from recollect.text.lexicon import PRONOUNS
from recollect.text.tokenizer import tokenise

CONSOLIDATE = "consolidate"
#: The numbers of a cluster's first and last facts from which its text is made, and the maximum
#: number of facts cited as evidence.
FIRST_FACTS, LAST_FACTS, MAX_EVIDENCE = 40, 160, 40
#: The kinds of observations that a model may write; lists of values are exact already.
BY_MODEL = frozenset({"cluster", "changes"})

#: The types of mentions that observations are about.
_ENTITY_TYPES = frozenset({"PERSON", "ORG"})
_DAY_MS = 86_400_000
_json = msgspec.json.Encoder()
_numbers = msgspec.json.Decoder(list[int])
_units = msgspec.json.Decoder(list[tuple[str, str]])


class Consolidator(DerivingAgent):
    """Consolidates facts into observations, by rules or by a language model's recorded answers."""

    kinds = frozenset(
        {"tick", "consolidate", "run_pass", "undo_merge", "find_dreams", "model_consolidated"}
    )

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        if isinstance(event.payload, FindDreams):
            return extract_dreams(event, event.payload, conversation)
        answered = event.payload
        if not isinstance(answered, ModelConsolidated):
            return Extract()
        if any(not 0 < number < event.number for number in answered.sources):
            return Extract()
        calls = conversation.command_calls(answered) if answered.error is None else None
        return Extract(calls, answered.sources)

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        if isinstance(event.payload, Tick):
            if event.payload.name == CONSOLIDATE:
                return _tick(event, state)
            return pass_tick(event, event.payload.name, state)
        if isinstance(event.payload, RunPass):
            return run_pass(event, event.payload, state)
        if isinstance(event.payload, FindDreams):
            return decide_dreams(event, event.payload, extract.content, state)
        if isinstance(event.payload, UndoMerge):
            return undo_fact_merge(event, event.payload, state)
        if isinstance(event.payload, ModelConsolidated):
            return _answered(event, event.payload, extract.content, state)
        assert isinstance(event.payload, Consolidate)
        return _consolidate(event, event.payload, state)

    def derive(
        self, event: Event, decided: Sequence[DecidedPart], state: State
    ) -> list[DecidedPart]:
        """Return the units and clusters of the new facts, and the clusters that changed."""
        rows = [row for part in decided for row in part.puts]
        parts = []
        for part in decided:
            for fact in part.puts:
                if isinstance(fact, Fact) and not is_private(event):
                    parts.append(
                        DecidedPart(
                            part.sources, [*_fact_rows(fact, part.sources, event, rows, state)]
                        )
                    )
        changed = {
            cluster for fact_id in _changed_facts(rows) for cluster in state.clusters_of(fact_id)
        }
        if changed:
            changes = [ClusterChange(cluster, event.number) for cluster in sorted(changed)]
            parts.append(DecidedPart((event.number,), [*changes]))
        return parts


# A fact's own decision


def _new_facts(decided: Iterable[DecidedPart]) -> Iterable[tuple[tuple[int, ...], Fact]]:
    for part in decided:
        for row in part.puts:
            if isinstance(row, Fact):
                yield part.sources, row


def _fact_rows(
    fact: Fact, sources: tuple[int, ...], event: Event, rows: Sequence[AnyRow], state: State
) -> Iterable[AnyRow]:
    """Yield the rows of a new fact; `rows` are all rows that were decided with it."""
    mentions = [row for row in rows if isinstance(row, Mention) and row.fact_id == fact.id]
    names = {
        row.entity_id: row.mention_text
        for row in mentions
        if row.entity_id
        and row.mention_type in _ENTITY_TYPES
        and row.mention_text.lower() not in PRONOUNS
    }
    speakers = {row.mention_text for row in mentions if row.char_offset_start < 0}
    units = units_of(fact.text, speakers)
    days = next((row for row in rows if isinstance(row, FactDays) and row.fact_id == fact.id), None)
    yield FactUnits(
        fact_id=fact.id,
        event_id=fact.source_event_id,
        event_number=_number_of(fact.source_event_id, event, state),
        sources=_json.encode(sources).decode(),
        said_at=fact.as_of,
        first_day=None if days is None else days.first_day,
        last_day=None if days is None else days.last_day,
        units=_json.encode(units).decode(),
        number=event.number,
    )
    entities = [NamedEntity(id_, name) for id_, name in sorted(names.items())]
    for membership in memberships(units, entities):
        yield ClusterFact(
            membership.cluster_id,
            fact.id,
            membership.kind,
            membership.entity.id,
            membership.topic,
            membership.entity.name,
            membership.word,
            membership.unit,
            fact.as_of,
            event.number,
        )
    for claim in rows:
        if isinstance(claim, FactClaim) and claim.fact_id == fact.id and claim.subject in names:
            attribute = claim.attribute
            if attribute in SINGLE_VALUED or attribute in MULTI_VALUED:
                yield ClusterFact(
                    cluster_id("slot", claim.subject, attribute),
                    fact.id,
                    "slot",
                    claim.subject,
                    attribute,
                    names[claim.subject],
                    claim.value,
                    0,
                    fact.as_of,
                    event.number,
                )


def _number_of(event_id: str, event: Event, state: State) -> int:
    """Return the number of a fact's event, which may be of the turn that `event` completes."""
    found = event if event_id == event.id else event_by_id(state.events, event_id)
    return 0 if found is None else found.number


def _changed_facts(rows: Iterable[AnyRow]) -> set[str]:
    """Return the facts whose end, or whose stating events, these rows change."""
    return {row.fact_id for row in rows if changes_validity(row)}


# A tick


def _tick(event: Event, state: State) -> list[DecidedPart]:
    switches = switch_numbers(state.events)
    commands = [
        _command(cluster, absorbed, event, switches, state)
        for cluster, absorbed in clusters_to_consolidate(state.memory, event.number)
    ]
    return [DecidedPart((event.number,), [ConsolidationTick(event.number)], outbox=commands)]


def clusters_to_consolidate(
    memory: apsw.Connection, before: int | None = None
) -> list[tuple[ChangedCluster, bool]]:
    """Return (cluster, whether its observation ends) for each observation that a tick updates.

    `before`: the number of the tick; None if the tick would be the next record. The queries are not
    recorded as dependencies, because commands are not issued again after an erasure.
    """
    clusters = []
    for cluster in changed_clusters(memory, before):
        if cluster.is_observed or deserves_observation(cluster):
            absorbed = is_absorbed(cluster, overlaps(memory, cluster))
            if cluster.is_observed or not absorbed:
                clusters.append((cluster, absorbed))
    return clusters


def _command(
    cluster: ChangedCluster, absorbed: bool, tick: Event, switches: Sequence[int], state: State
) -> Draft:
    """Return the command for a cluster: the same for every tick until the cluster changes.

    The position in its id does not count switches, so that the id is the same however often the
    zone was rebuilt.
    """
    position = cluster.changed - bisect_left(switches, cluster.changed)
    last = event_by_number(state.events, cluster.changed)
    at = tick.occurred_at if last is None else last.ingested_at
    ending = ":absorbed" if absorbed else ""
    return Draft(
        platform=RESERVED_PLATFORM,
        occurred_at=at,
        ingested_at=max(at, tick.ingested_at),
        payload=Consolidate(
            source_id=f"consolidate:{cluster.id}:{position}{ending}",
            cluster_id=cluster.id,
            is_absorbed=absorbed,
        ),
    )


# The decision on one cluster


def _consolidate(event: Event, command: Consolidate, state: State) -> list[DecidedPart]:
    members = state.cluster_facts(command.cluster_id)
    newest = state.newest_version(command.cluster_id)
    marker = DecidedPart((event.number,))
    if members:
        marker.puts.append(ClusterConsolidation(command.cluster_id, event.number))
    used = _with_units(members, state)
    kind = _kind(members)
    rendered = None if command.is_absorbed else _render(kind, used)
    text = rendered.text if rendered is not None else None
    if newest is not None and text is not None and is_said_by_keeper(newest[0], text, state):
        return [marker]
    if text == (text_of_rules(newest[1], state) if newest is not None else None):
        return [marker]
    if rendered is None:
        assert newest is not None
        reason = "absorbed" if command.is_absorbed else "few facts"
        return [marker, ending(event, newest, reason, state)]
    return [marker, _version(event, command.cluster_id, kind, used, rendered, newest, state)]


class _UsableFact(msgspec.Struct, frozen=True):
    """A fact that a text may use; `statements`: the events that state it, and when (unix ms)."""

    member: ClusterFact
    units: FactUnits
    evidence: Evidence
    statements: tuple[tuple[str, int], ...]


def _with_units(members: Sequence[ClusterFact], state: State) -> list[_UsableFact]:
    """Return the usable facts among the first and the last of a cluster."""
    if len(members) > FIRST_FACTS + LAST_FACTS:
        members = [*members[:FIRST_FACTS], *members[-LAST_FACTS:]]
    used = []
    for member in members:
        row = state.fact_units(member.fact_id)
        if row is None:
            continue
        counts, ended_at = _ended_at(row, state)
        if not counts:
            continue
        units = [Unit(*each) for each in _units.decode(row.units)]
        unit = units[member.unit]
        is_value = member.kind == "slot"
        text = _value(member, units) if is_value else unit.text
        if text is None:
            continue
        is_dated = is_value or names_days(unit.text) or not any(names_days(u.text) for u in units)
        days = (row.first_day, row.last_day) if is_dated else (None, None)
        evidence = Evidence(
            fact_id=member.fact_id,
            text=text,
            speaker="" if is_value else unit.speaker,
            name=member.name,
            word=member.word,
            said_at=row.said_at,
            days=(days[0], days[1]) if days[0] is not None and days[1] is not None else None,
            ended_at=ended_at,
            is_event=ended_at is not None and not is_value and _is_event(member, unit, state),
        )
        again = [occasion for occasion in state.occasions(member.fact_id) if occasion.is_standing]
        repeated = ((occasion.event_id, occasion.said_at) for occasion in again)
        statements = ((row.event_id, row.said_at), *repeated)
        used.append(_UsableFact(member, row, evidence, statements))
    return used


def _is_event(member: ClusterFact, unit: Unit, state: State) -> bool:
    """Return whether a unit tells of a past event, such as joining, which gave a value."""
    if not begins_in_past(tokenise(unit.text).lowers):
        return False
    return state.claim_of(member.fact_id) is not None


def _value(member: ClusterFact, units: Sequence[Unit]) -> str | None:
    """Return the value of a slot in the words of its fact; None if they are not its entity's."""
    text = " ".join(unit.text for unit in units)
    value = told_value(member.word, text, member.name)
    is_told = is_told_of(value, text, member.name, units[0].speaker, member.topic)
    is_told = is_told and is_named(value, member.topic) and is_stated(value, text, member.topic)
    return value if is_told else None


def _ended_at(fact: FactUnits, state: State) -> tuple[bool, int | None]:
    """Return whether a fact counts, and when it ceased to be true (unix ms).

    A fact that a later one merely repeats still holds. A fact does not count if its message was
    edited or deleted, or if it was never true.
    """
    seen = {fact.fact_id}
    wording = _wording(fact)
    while True:
        validity = state.validity(fact.fact_id, fact.event_id)
        if not validity.is_stated or validity.superseded_by is None:
            return validity.is_stated, validity.until
        later = state.fact_units(validity.superseded_by)
        if later is None:
            # Deletions are not among the events.
            by = event_by_id(state.events, validity.superseded_by)
            return by is not None and not isinstance(by.payload, Edit), validity.until
        if later.fact_id in seen or _wording(later) != wording:
            return True, validity.until
        seen.add(later.fact_id)
        fact = later


def _wording(fact: FactUnits) -> str:
    """Return the words of a fact, to compare it with another."""
    return " ".join(tokenise(fact.units).lowers)


def _kind(members: Sequence[ClusterFact]) -> ObservationKind:
    if not members or members[0].kind == "topic":
        return "cluster"
    if members[0].kind == "changes":
        return "changes"
    return "history" if is_single_valued(members[0].topic) else "list"


def _render(kind: ObservationKind, used: Sequence[_UsableFact]) -> Rendered | None:
    evidence = [fact.evidence for fact in used]
    if kind in ("list", "history"):
        if not used:
            return None
        return render_values(evidence, used[0].member.topic, in_turn=kind == "history")
    statements = {statement for fact in used for statement in fact.statements}
    days = {at // _DAY_MS for _, at in statements}
    if len(statements) < MIN_MESSAGES or len(days) < MIN_DAYS:
        return None
    return render_topic(evidence, CHANGES if kind == "changes" else "", messages=len(statements))


def _version(
    event: Event,
    cluster: str,
    kind: ObservationKind,
    used: Sequence[_UsableFact],
    rendered: Rendered,
    newest: tuple[ObservationVersion, AnalysisRun] | None,
    state: State,
) -> DecidedPart:
    """Return the rows of a new version of an observation.

    Its sources are the events that its items quote, and those whose ids its evidence gives.
    """
    cited = [item.fact_id for item in rendered.items]
    others = [fact.units.fact_id for fact in reversed(used) if fact.units.fact_id not in cited]
    facts = [*dict.fromkeys(cited), *others][:MAX_EVIDENCE]
    before = newest[0].number if newest is not None else 0
    new = [fact.units for fact in used if fact.member.number > before]
    evidence = [fact.units for fact in used if fact.units.fact_id in facts]
    sources = {number for units in (*evidence, *new) for number in _numbers.decode(units.sources)}
    rows = version_rows(
        event,
        ObservationVersion("", cluster, kind, used[0].member.entity_id, rendered.label, 0),
        rendered.text,
        newest,
        {(units.event_id, units.event_number, units.said_at) for units in new},
        state,
    )
    run = run_id(event, cluster)
    rows += [ObservationFact(run, fact) for fact in sorted(facts)]
    rows += [ObservationItem(run, place, *item) for place, item in enumerate(rendered.items)]
    return DecidedPart(tuple(sorted({event.number, *sources})), rows)


# A model's answer about one cluster


class ModelTask(NamedTuple):
    """What a model is asked about the observation on a cluster.

    Attributes:
        name: the name of the entity.
        label: the topic in words.
        evidence: in order of the numbers under which it is shown.
        sources: the numbers of the events that the evidence quotes.
        seen: the last record that changed the cluster or its observation.
    """

    cluster_id: str
    name: str
    label: str
    evidence: tuple[Evidence, ...]
    sources: frozenset[int]
    seen: int


def model_task(cluster_id: str, state: State) -> ModelTask | None:
    """Return what to ask a model about a cluster; None if it has no observation made of facts."""
    newest = state.newest_version(cluster_id)
    members = state.cluster_facts(cluster_id)
    if newest is None or newest[1].output_text is None or _kind(members) not in BY_MODEL:
        return None
    used = {fact.units.fact_id: fact for fact in _with_units(members, state)}
    shown = numbered([fact.evidence for fact in used.values()])
    if not shown:
        return None
    quoted = {
        number for item in shown for number in _numbers.decode(used[item.fact_id].units.sources)
    }
    return ModelTask(
        cluster_id,
        name_of(shown),
        newest[0].label,
        tuple(shown),
        frozenset(quoted),
        state.last_change_of_cluster(cluster_id),
    )


def _answered(
    event: Event, answered: ModelConsolidated, calls: ModelCalls | None, state: State
) -> list[DecidedPart]:
    """Return the version that a model wrote, or why it gave no answer or that was refused.

    The answer is ignored if the facts in its prompt were changed or erased since.
    """
    marker = DecidedPart((event.number,))
    cluster = answered.cluster_id
    newest = state.newest_version(cluster)
    if newest is None or newest[1].output_text is None:
        return [marker]
    if state.last_change_of_cluster(cluster) != answered.seen:
        return [marker]
    shown = [member for member in state.cluster_facts(cluster) if member.fact_id in answered.facts]
    used = {fact.units.fact_id: fact for fact in _with_units(shown, state)}
    if not answered.facts or used.keys() != set(answered.facts):
        return [marker]
    if calls is None and answered.error is None:
        return [marker]
    quoted = {number for fact in used.values() for number in _numbers.decode(fact.units.sources)}
    sources = tuple(sorted({event.number, *answered.sources, *quoted}))
    type_ = model_type(answered.model, answered.role)
    marker.puts.append(type_)
    try:
        if calls is None:
            raise AnswerRefused(str(answered.error))
        written = check_answer(
            calls.calls, [used[fact].evidence for fact in answered.facts], newest[0].label
        )
    except AnswerRefused as refused:
        rows = refused_rows(event, newest[1], type_.id, str(refused), state)
        return [marker, DecidedPart(sources, rows)]
    if written is None:
        return [marker]
    rows = version_rows(
        event, newest[0], written.rendered.text, newest, set(), state, type_id=type_.id
    )
    run = run_id(event, cluster)
    rows += [ObservationFact(run, fact) for fact in sorted(written.facts)]
    rows += [
        ObservationItem(run, place, *item) for place, item in enumerate(written.rendered.items)
    ]
    return [marker, DecidedPart(sources, rows)]
