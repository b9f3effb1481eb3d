"""Provenance (`why`): the chain from a memory to its events and the model calls involved."""

from __future__ import annotations

from functools import partial

from msgspec import json

from recollect.home.open_zone import OpenZone
from recollect.projections.embeddings.vector_queries import models_of
from recollect.projections.events import event_queries as events
from recollect.projections.events import turns_for_recall as turns
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entity_queries import (
    aliases,
    canonical,
    events_naming,
    merge_reason,
)
from recollect.projections.memory import fact_statements, observation_queries, retraction_queries
from recollect.projections.memory import memory_queries as memory
from recollect.projections.recall.answer.uncertainty import uncertainties
from recollect.schemas.changes import (
    Fact,
    FactClaim,
    MentalModelPage,
    ModelWriteStats,
    ProcessedEvent,
)
from recollect.schemas.errors import UnknownId
from recollect.schemas.events import Content, Deletion, Edit, message_of
from recollect.schemas.ids import time_of
from recollect.schemas.memory_terms import model_of
from recollect.schemas.text_sanitising import pluralise
from recollect.schemas.times import format_time
from recollect.schemas.wire import Provenance, ProvenanceStep
from recollect.text.stability import stability

_MAX_LISTED = 10
# Origin of an entity -> where it was first seen.
_FIRST_SEEN = {"delivery": "as a sender", "inferred": "in a text", "command": "in a command"}
# Higher than any record number.
_MAX_NUMBER = 2**62


def why(zone: OpenZone, id_: str) -> Provenance:
    """Return the provenance of a memory of any kind. An event may be given by its source's id too.

    Raises:
        UnknownId: nothing in the zone has this id.
    """
    zone.must_exist()
    with zone.files() as files:
        has_stability = "stability" not in zone.open_home.home.disabled_steps
        fact = partial(_fact, has_stability=has_stability)
        lookups = (fact, _event, _observation, _mental_model, _entity)
        chain = next(filter(None, (look_up(files, id_) for look_up in lookups)), None)
    if chain is None:
        raise UnknownId(f"zone {zone.name} holds nothing with the id {id_!r}")
    return chain


def _fact(files: ZoneFiles, id_: str, *, has_stability: bool) -> Provenance | None:
    fact = files.memory.row(Fact, (id_,))
    if fact is None:
        return None
    steps = _writer(files, fact)
    if fact.context:
        steps.append(ProvenanceStep("with this context added to its text", [fact.context]))
    log = files.memory.row(ProcessedEvent, (fact.source_event_id,))
    if log is not None:
        when = format_time(log.processed_at)
        steps.append(
            ProvenanceStep(f"extracted when event {log.writer_run_id} was processed, at {when}")
        )
    if has_stability:
        claim = files.memory.row(FactClaim, (id_,))
        fact_stability = stability(fact.text, None if claim is None else claim.attribute)
        duration = (
            "for ever"
            if fact_stability.ttl_days is None
            else f"for about {fact_stability.ttl_days} days"
        )
        steps.append(
            ProvenanceStep(f"expected to hold {duration} (confidence {fact_stability.confidence})")
        )
    steps += _vectors(files, "fact", id_)
    steps += _endings(files, id_)
    uncertain = uncertainties(files, [id_]).get(id_)
    if uncertain is not None:
        messages = " and ".join(map(repr, uncertain.source_event_ids))
        steps.append(
            ProvenanceStep(
                f"uncertain since {uncertain.since}, because of {messages}",
                [uncertain.dependency, uncertain.change],
            )
        )
    for other, strength, text in memory.causes(files.memory.connection, id_):
        steps.append(ProvenanceStep(f"follows from fact {other} (strength {strength})", [text]))
    for other, strength, text in memory.effects(files.memory.connection, id_):
        steps.append(ProvenanceStep(f"led to fact {other} (strength {strength})", [text]))
    steps += _relations(files, id_)
    statements = _statements(files, id_)
    repeats = [
        statement.event_id for statement in statements if statement.event_id != fact.source_event_id
    ]
    sources: list[str] = []
    for event_ids, label in (
        ([fact.source_event_id], "from the event"),
        (_context_events(fact), "quotes"),
        (repeats, "repeated in"),
    ):
        cited, event_steps = _event_steps(files, event_ids, label)
        sources += cited
        steps += event_steps
    repetition = fact_statements.statement_summary(statements) if statements else None
    return Provenance(id_, "fact", fact.text, list(dict.fromkeys(sources)), steps, repetition)


def _statements(files: ZoneFiles, fact_id: str) -> list[fact_statements.FactStatement]:
    """Return where a fact is stated: one entry for each readable event, in order."""
    found = fact_statements.statements(files.memory.connection, [fact_id]).get(fact_id, [])
    source_ids = turns.source_ids(files.events.connection, [each.event_id for each in found])
    return fact_statements.in_order(found, source_ids)


def _endings(files: ZoneFiles, fact_id: str) -> list[ProvenanceStep]:
    """Return a fact's retractions, undone ones included, and the memory that superseded it."""
    steps = []
    is_never_true = False
    for row in retraction_queries.retractions_of_fact(files.memory.connection, fact_id):
        if row.is_void or not row.is_standing:
            is_never_true = is_never_true or bool(row.is_standing)
            when = format_time(time_of(row.retracted_by))
            restored = "" if row.is_standing else ", and restored since"
            steps.append(
                ProvenanceStep(f"retracted at {when} by command {row.retracted_by}{restored}")
            )
    end = memory.fact_end(files.memory.connection, fact_id)
    if end is not None and not is_never_true:
        newer, at = end
        merge = memory.fact_merge(files.memory.connection, fact_id)
        if merge is not None and merge.is_standing and merge.keeper_id == newer:
            label = f"says the same thing as fact {newer}, which stands for both: {merge.reason}"
            steps.append(ProvenanceStep(f"{label}; `merges undo {fact_id}` separates them"))
        else:
            what = "fact" if files.memory.row(Fact, (newer,)) else "event"
            steps.append(ProvenanceStep(f"superseded by {what} {newer} at {format_time(at)}"))
    return steps


def _context_events(fact: Fact) -> list[str]:
    """Return the ids of the earlier events that a fact's text takes words from."""
    ids: list[str] = json.decode(fact.metadata).get("told_with", [])
    return ids


def _relations(files: ZoneFiles, id_: str) -> list[ProvenanceStep]:
    """Return the relations of a fact to others, and of others to it."""
    # Imported here: only relations need the language rules.
    from recollect.operations.memories.relations import Relations

    relations = Relations(files.memory.connection, files.identity.connection)

    def step(verb: str, other: str, confidence: float) -> ProvenanceStep:
        fact = files.memory.row(Fact, (other,))
        return ProvenanceStep(
            f"{verb} fact {other} (confidence {confidence})", [fact.text] if fact else []
        )

    steps = [
        step(relation.verb, relation.fact_id, relation.confidence)
        for relation in relations.outgoing([id_]).get(id_, ())
    ]
    for other, relation in relations.incoming(id_):
        verb = "extended by" if relation.type == "EXTENDS" else "gives rise to"
        steps.append(step(verb, other, relation.confidence))
    return steps


def _writer(files: ZoneFiles, fact: Fact) -> list[ProvenanceStep]:
    """Describe a fact's writer: the rules, or a model with its evidence and its calls."""
    as_of = f"as of {format_time(fact.as_of)}"
    metadata = json.decode(fact.metadata)
    if "writer" not in metadata:
        return [ProvenanceStep(f"decided by the rule writer, {as_of}")]
    model, role = metadata["writer"], metadata["role"]
    start, end = metadata["evidence"]
    event = events.event_by_id(files.events.connection, fact.source_event_id)
    evidence: list[str] = []
    calls_made = []
    if event is not None:
        evidence.append(message_of(event).content[start:end])
        for number in memory.model_answers_about(files.memory.connection, event.number):
            row = files.memory.row(ModelWriteStats, (number,))
            if row is not None and (row.model, row.role) == (model, role):
                calls = pluralise(row.calls, "recorded call")
                tokens = f"{row.tokens_in} tokens in, {row.tokens_out} out"
                calls_made.append(
                    ProvenanceStep(f"answered in {calls} ({tokens}): record {number} of the ledger")
                )
    written = f"written by the model {model} in the role {role}, {as_of}; its evidence"
    return [ProvenanceStep(written, evidence), *calls_made]


def _event(files: ZoneFiles, id_: str) -> Provenance | None:
    event_id = events.first_event_with_id(files.events.connection, id_)
    event = None if event_id is None else events.citation_of(files.events.connection, event_id)
    if event is None or event_id is None:
        return None
    sources, steps = _event_steps(files, [event_id], "the event itself,")
    steps += _vectors(files, "event", event_id)
    steps += _revisions(files, event_id)
    for fact, text in memory.facts_from(files.memory.connection, event_id):
        steps.append(ProvenanceStep(f"led to fact {fact}", [text]))
    return Provenance(event_id, "event", event.content, sources, steps)


def _revisions(files: ZoneFiles, event_id: str) -> list[ProvenanceStep]:
    """Return the other versions of a message, and its deletion."""
    event = events.event_by_id(files.events.connection, event_id)
    assert event is not None
    steps = []
    for other in events.revisions_before(files.events.connection, event, _MAX_NUMBER):
        when = format_time(other.occurred_at)
        payload = other.payload
        if isinstance(payload, Deletion):
            steps.append(ProvenanceStep(f"deleted at {when} by event {other.id}"))
        elif isinstance(payload, Edit):
            steps.append(ProvenanceStep(f"edited at {when} by event {other.id}", [payload.content]))
        elif isinstance(payload, Content):
            steps.append(
                ProvenanceStep(
                    f"this is an edit of event {other.id}, sent at {when}", [payload.content]
                )
            )
    return steps


def _observation(files: ZoneFiles, id_: str) -> Provenance | None:
    version = observation_queries.observation_version(files.memory.connection, id_)
    if version is None:
        return None
    text, parent, created_at = version
    steps = [ProvenanceStep(f"consolidated at {format_time(created_at)}")]
    written = observation_queries.authorships(files.memory.connection, [id_])[id_]
    model = model_of(written.type_id)
    if model is not None:
        steps.append(ProvenanceStep(f"written by {model}, from its recorded answer"))
    if written.refused is not None:
        steps.append(ProvenanceStep(f"a model's text was refused: {written.refused}"))
    if parent is not None:
        steps.append(ProvenanceStep(f"a new version of observation {parent}"))
    steps += _vectors(files, "observation", id_)
    sources: list[str] = []
    for fact, fact_text, event in observation_queries.sources_of(files.memory.connection, id_):
        steps.append(ProvenanceStep(f"rests on fact {fact}", [fact_text]))
        cited, event_steps = _event_steps(files, [event], "said in")
        sources += cited
        steps += event_steps
    return Provenance(id_, "observation", text, list(dict.fromkeys(sources)), steps)


def _mental_model(files: ZoneFiles, id_: str) -> Provenance | None:
    model = memory.mental_model(files.memory.connection, id_)
    if model is None:
        return None
    when = format_time(model.updated_at)
    steps = [ProvenanceStep(f"written at {when} by record {model.number} of the ledger")]
    if model.parent_id is not None:
        steps.append(ProvenanceStep(f"a new version of mental model {model.parent_id}"))
    steps += _vectors(files, "mental_model", id_)
    sources: list[str] = []
    page = files.memory.row(MentalModelPage, (id_,))
    cited = []
    for section, _, start, end, _, facts in (
        [] if page is None else observation_queries.blocks_of(page.blocks)
    ):
        steps.append(
            ProvenanceStep(
                f"in {section!r}, cites {', '.join(f'fact {fact}' for fact in facts)}",
                [model.description[start:end]],
            )
        )
        cited += facts
    for fact_id in dict.fromkeys(cited):
        fact = files.memory.row(Fact, (fact_id,))
        if fact is not None:
            steps.append(ProvenanceStep(f"fact {fact_id}", [fact.text]))
            source_ids, event_steps = _event_steps(files, [fact.source_event_id], "said in")
            sources += source_ids
            steps += event_steps
    text = f"{model.name}: {model.description}"
    return Provenance(id_, "mental_model", text, list(dict.fromkeys(sources)), steps)


def _entity(files: ZoneFiles, id_: str) -> Provenance | None:
    entity = canonical(files.identity.connection, id_)
    if entity is None:
        return None
    steps = [
        ProvenanceStep(f"{entity.type} {entity.name!r}, first seen {_FIRST_SEEN[entity.source]}")
    ]
    for other in aliases(files.identity.connection, entity.id):
        merged = merge_reason(files.identity.connection, other.id)
        because = f": {merged[0]} (confidence {merged[1]})" if merged else ""
        steps.append(ProvenanceStep(f"merged with {other.type} {other.name!r}{because}"))
    event_ids = events_naming(files.identity.connection, id_, _MAX_LISTED)
    sources, event_steps = _event_steps(files, event_ids, "named in")
    return Provenance(entity.id, "entity", entity.name, sources, steps + event_steps)


def _event_steps(
    files: ZoneFiles, event_ids: list[str], label: str
) -> tuple[list[str], list[ProvenanceStep]]:
    """Return the source ids of events, and a labelled step that quotes each."""
    sources, steps = [], []
    for event_id in event_ids:
        event = events.citation_of(files.events.connection, event_id)
        if event is None:
            steps.append(ProvenanceStep(f"{label} {event_id}, which has been erased"))
            continue
        sources.append(event.source_id)
        steps.append(
            ProvenanceStep(
                f"{label} {event.source_id!r} of {event.platform}: record {event.number} of the "
                "ledger",
                [f"{event.sender}, {format_time(event.occurred_at)}: {event.content}"],
            )
        )
    return sources, steps


def _vectors(files: ZoneFiles, target: str, id_: str) -> list[ProvenanceStep]:
    return [
        ProvenanceStep(f"embedded by {model}, recorded in the change record")
        for model in models_of(files.embeddings.connection, target, id_)
    ]
