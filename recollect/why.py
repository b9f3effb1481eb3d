"""Why: from a result down to the events that it rests on, and what was asked of which model."""

from __future__ import annotations

from projections.files import ZoneFiles
from projections.identity.entity_queries import aliases, canonical
from recollect.open_zone import OpenZone
from schemas.errors import InvalidInput
from schemas.times import format_time
from schemas.wire import Chain, Link


def why(zone: OpenZone, id_: str) -> Chain:
    """Return the chain of a memory of any kind; an event has its own id and its source's.

    Raises:
        InvalidInput: nothing in the zone has this id.
    """
    zone.must_exist()
    with zone.files() as files:
        kinds = (_fact, _event, _observation, _mental_model, _entity)
        chain = next(filter(None, (kind(files, id_) for kind in kinds)), None)
    if chain is None:
        raise InvalidInput(f"zone {zone.name} holds nothing with the id {id_!r}")
    return chain


def _fact(files: ZoneFiles, id_: str) -> Chain | None:
    row = files.memory.connection.execute(
        "SELECT text, context, source_event_id, as_of, signature FROM facts WHERE id = ?", (id_,)
    ).fetchone()
    if row is None:
        return None
    text, context, event_id, as_of, _ = row
    steps = [Link(f"concluded by the rule writer, as of {format_time(int(as_of))}")]
    if context:
        steps.append(Link("in the context", [str(context)]))
    log = files.memory.connection.execute(
        "SELECT writer_run_id, processed_at FROM memory_processing_log WHERE event_id = ?",
        (event_id,),
    ).fetchone()
    if log is not None:
        steps.append(Link(f"when event {log[0]} was processed at {format_time(int(log[1]))}"))
    steps += _vectors(files, "fact", id_)
    for newer, invalid_at in files.memory.connection.execute(
        "SELECT superseded_by, invalid_at FROM fact_supersessions WHERE fact_id = ?", (id_,)
    ):
        steps.append(Link(f"superseded by fact {newer} at {format_time(int(invalid_at))}"))
    for other, strength in files.memory.connection.execute(
        "SELECT from_fact_id, strength FROM causal_links WHERE to_fact_id = ?", (id_,)
    ):
        steps.append(Link(f"follows from fact {other} (strength {strength})"))
    sources, said = _said(files, [str(event_id)], "from the event")
    steps += said
    again = [
        str(event)
        for (event,) in files.memory.connection.execute(
            "SELECT event_id FROM fact_repeats WHERE fact_id = ? ORDER BY event_id", (id_,)
        )
    ]
    repeated, said_again = _said(files, again, "said again in")
    return Chain(id_, "fact", str(text), sources + repeated, steps + said_again)


def _event(files: ZoneFiles, id_: str) -> Chain | None:
    row = files.events.connection.execute(
        "SELECT id, content FROM events WHERE id = ?1 OR source_id = ?1 ORDER BY number LIMIT 1",
        (id_,),
    ).fetchone()
    if row is None:
        return None
    event_id, content = str(row[0]), str(row[1])
    sources, steps = _said(files, [event_id], "the event itself")
    steps += _vectors(files, "event", event_id)
    for fact, text in files.memory.connection.execute(
        "SELECT id, text FROM facts WHERE source_event_id = ? ORDER BY id", (event_id,)
    ):
        steps.append(Link(f"led to fact {fact}", [str(text)]))
    return Chain(event_id, "event", content, sources, steps)


def _observation(files: ZoneFiles, id_: str) -> Chain | None:
    connection = files.memory.connection
    row = connection.execute(
        "SELECT output_text, parent_id, created_at FROM analysis_runs "
        "WHERE id = ? AND output_text IS NOT NULL",
        (id_,),
    ).fetchone()
    if row is None:
        return None
    text, parent, created_at = row
    steps = [Link(f"consolidated at {format_time(int(created_at))}")]
    if parent is not None:
        steps.append(Link(f"a new version of observation {parent}"))
    steps += _vectors(files, "observation", id_)
    sources: list[str] = []
    for fact, said, event in connection.execute(
        "SELECT facts.id, facts.text, facts.source_event_id FROM observation_facts "
        "JOIN facts ON facts.id = observation_facts.fact_id WHERE analysis_run_id = ? "
        "ORDER BY facts.as_of DESC, facts.id",
        (id_,),
    ).fetchall():
        steps.append(Link(f"rests on fact {fact}", [str(said)]))
        cited, said_in = _said(files, [str(event)], "said in")
        sources += cited
        steps += said_in
    return Chain(id_, "observation", str(text), list(dict.fromkeys(sources)), steps)


def _mental_model(files: ZoneFiles, id_: str) -> Chain | None:
    row = files.memory.connection.execute(
        "SELECT name, description, parent_id, updated_at, number FROM mental_models WHERE id = ?",
        (id_,),
    ).fetchone()
    if row is None:
        return None
    name, description, parent, updated_at, number = row
    steps = [Link(f"written at {format_time(int(updated_at))} by record {number} of the ledger")]
    if parent is not None:
        steps.append(Link(f"a new version of mental model {parent}"))
    steps += _vectors(files, "mental_model", id_)
    return Chain(id_, "mental_model", f"{name}: {description}", [], steps)


def _entity(files: ZoneFiles, id_: str) -> Chain | None:
    entity = canonical(files.identity.connection, id_)
    if entity is None:
        return None
    steps = [Link(f"{entity.type} {entity.name!r}, first named by a {entity.source} event")]
    for other in aliases(files.identity.connection, entity.id):
        reason = files.identity.connection.execute(
            "SELECT reason, confidence FROM merges WHERE loser_id = ? AND undone_at IS NULL",
            (other.id,),
        ).fetchone()
        because = f": {reason[0]} (confidence {reason[1]})" if reason else ""
        steps.append(Link(f"merged with {other.type} {other.name!r}{because}"))
    events = [
        str(event)
        for (event,) in files.identity.connection.execute(
            "SELECT DISTINCT event_id FROM mentions WHERE entity_id = ? ORDER BY event_id LIMIT 10",
            (id_,),
        )
    ]
    sources, said = _said(files, events, "named in")
    return Chain(entity.id, "entity", entity.name, sources, steps + said)


def _said(files: ZoneFiles, event_ids: list[str], how: str) -> tuple[list[str], list[Link]]:
    sources, steps = [], []
    for event_id in event_ids:
        row = files.events.connection.execute(
            "SELECT number, platform, source_id, sender_id, sender_name, occurred_at, content "
            "FROM events WHERE id = ?",
            (event_id,),
        ).fetchone()
        if row is None:
            steps.append(Link(f"{how} {event_id}, which has been erased"))
            continue
        number, platform, source_id, sender, name, occurred_at, content = row
        sources.append(str(source_id))
        steps.append(
            Link(
                f"{how} {source_id!r} of {platform}: record {number} of the ledger",
                [f"{name or sender}, {format_time(int(occurred_at))}: {content}"],
            )
        )
    return sources, steps


def _vectors(files: ZoneFiles, target: str, id_: str) -> list[Link]:
    return [
        Link(f"embedded by {model}, recorded in the change record")
        for (model,) in files.embeddings.connection.execute(
            "SELECT model FROM embeddings WHERE target_type = ? AND target_id = ?", (target, id_)
        )
    ]
