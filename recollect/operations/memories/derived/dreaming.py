"""Dreams: links between distant topics, conjectured by the home's language model."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import apsw
import msgspec

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.derived.consolidating import consolidate
from recollect.operations.memories.page_cursors import check_limit
from recollect.projections.memory import dream_queries as queries
from recollect.projections.memory.dream_queries import Topic, TopicFact
from recollect.schemas.changes import Dream as DreamRow
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import FindDreams, RecordingRef
from recollect.schemas.ids import derive_ulid
from recollect.schemas.times import format_time
from recollect.schemas.wire import Dream, DreamPage, DreamReport
from recollect.streams.consolidation.model.dreams import (
    MAX_PAIRS,
    MAX_SHOWN,
    MIN_FACTS,
    ShownFact,
    check_dreams,
)

if TYPE_CHECKING:
    from recollect.streams.models.chat import ChatRequest
    from recollect.streams.models.model_client import ModelClient

#: After every dream: later than any record, and than any id.
_START = (2**63 - 1, "~")
_NO_MODEL = (
    "dreams need a language model, since the passes by rules find none; to add one, run recollect "
    "init --writer model"
)
_NO_TOPICS = "fewer than two topics have three current facts each"
_numbers = msgspec.json.Decoder(list[int])


def dream_page(zone: OpenZone, *, cursor: str | None, limit: int) -> DreamPage:
    """Return a page of dreams, newest first. A cursor is the id of a page's last entry.

    Raises:
        InvalidInput: the cursor or the limit is invalid.
    """
    check_limit(limit)
    if not zone.exists():
        return DreamPage(dreams=[])
    with zone.files() as files, files.read_transaction():
        place = _START
        if cursor is not None:
            last = files.memory.row(DreamRow, (cursor,))
            if last is None:
                raise InvalidInput(
                    f"cursor {cursor[:60]!r} is not from this list; start with the first page"
                )
            place = last.number, last.id
        connection = files.memory.connection
        dreams = queries.dreams_before(connection, *place, limit + 1)
        facts = queries.facts_of_dreams(connection, [dream_.id for dream_ in dreams])
    listed = [
        Dream(
            id=dream_.id,
            bridge=dream_.bridge,
            insight=dream_.insight,
            surprise=dream_.surprise,
            fact_ids=facts.get(dream_.id, []),
            model=dream_.model,
            found_at=format_time(dream_.created_at),
        )
        for dream_ in dreams[:limit]
    ]
    return DreamPage(dreams=listed, cursor=dreams[limit - 1].id if len(dreams) > limit else None)


def dream(zone: OpenZone, *, dry_run: bool) -> DreamReport:
    """Run the daily passes, and let the home's model look for dreams.

    `dry_run`: estimate the cost, and ask nothing. Without a model, the report says so.

    Raises:
        Unavailable: no model answered, or a spending limit is reached.
    """
    # Imported here: only dreams with a model need it.
    from recollect.operations.writing.writing import open_client

    if not consolidate(zone).consolidates:
        return DreamReport(
            reason="the zone does not consolidate; recollect rebuild --level derive "
            "--consolidation on changes that"
        )
    home = zone.open_home.home
    if home.writer != "model":
        return DreamReport(reason=_NO_MODEL)
    with closing(open_client(home.configuration, home.directory)) as client:
        return _ask(zone, client, dry_run=dry_run)


def dream_if_due(zone: OpenZone, client: ModelClient) -> None:
    """Let a model look for dreams if the daily passes have run since it last did."""
    with zone.files() as files:
        is_due = queries.is_dream_due(files.memory.connection)
    if is_due:
        _ask(zone, client, dry_run=False)


class _Pair(NamedTuple):
    """Two topics, and the facts shown of each."""

    topics: tuple[Topic, Topic]
    facts: tuple[list[TopicFact], list[TopicFact]]


def _ask(zone: OpenZone, client: ModelClient, *, dry_run: bool) -> DreamReport:
    """Ask a model about pairs of topics, publish its recorded answers, and report what they gave.

    The pairs are drawn at random, seeded by the last tick: the same tick asks the same questions,
    so a process that dies pays for none of them twice.
    """
    from recollect.operations.writing.writing import recorder_of
    from recollect.streams.writing.cost_estimates import estimate_cost
    from recollect.streams.writing.dream_prompt import DREAM_ROLE, dream_request, evaluation_request
    from recollect.streams.writing.recorder import ErasedDuringCall, Recordings

    with zone.files() as files, files.read_transaction():
        tick = queries.last_dream_tick(files.memory.connection)
        pairs = [] if tick is None else _pairs(files.memory.connection, f"{zone.name}:{tick}")
    shown = [
        (fact, 2 * place + side)
        for place, pair in enumerate(pairs)
        for side, facts in enumerate(pair.facts)
        for fact in facts
    ]
    requests = [dream_request(topics) for topics in _as_data(pairs)]
    if dry_run:
        cost = estimate_cost(requests, client.model, client.settings, calls=1)
        return DreamReport(
            pairs=len(pairs),
            reason=None if pairs else _NO_TOPICS,
            max_calls=cost.calls + 1 if pairs else 0,
            max_cost=cost.cost,
        )
    numbers = frozenset(number for fact, _ in shown for number in _numbers.decode(fact.sources))
    answers: list[RecordingRef] = []
    calls: list[tuple[str, str]] = []
    model, asked_at = client.model, None
    recordings = Recordings(zone.node.ledger, zone.name)
    recorder = recorder_of(zone, client, recordings)

    def ask(request: ChatRequest, sources: frozenset[int]) -> None:
        nonlocal model, asked_at
        recording, ref = recorder.ask(request, sources, DREAM_ROLE)
        answers.append(ref)
        calls.extend((each.name, each.arguments) for each in recording.answer.calls)
        model, asked_at = recording.header.model, recording.header.asked_at

    try:
        for request, pair in zip(requests, pairs, strict=True):
            ask(request, _sources_of(pair))
        candidates = check_dreams(calls, [ShownFact(fact.text, topic) for fact, topic in shown])
        if candidates:
            ask(evaluation_request(candidates, [fact.text for fact, _ in shown]), numbers)
    except ErasedDuringCall:
        return DreamReport(pairs=len(pairs), reason="an event was erased meanwhile; dream again")
    digest = derive_ulid(0, *(ref.hash.hex() for ref in answers))
    receipt = command(
        zone,
        FindDreams(
            source_id=f"dreams:{tick}:{digest}",
            tick=tick or 0,
            answers=tuple(answers),
            facts=tuple(fact.id for fact, _ in shown),
            topics=tuple(topic for _, topic in shown),
            sources=tuple(sorted(numbers)),
            model=model,
            role=DREAM_ROLE,
        ),
        asked_at,
    )
    with zone.files() as files:
        count = queries.dreams_of_record(files.memory.connection, receipt.number)
    return DreamReport(
        found=count,
        pairs=len(pairs),
        candidates=len(candidates),
        reason=None if pairs else _NO_TOPICS,
    )


def _pairs(connection: apsw.Connection, seed: str) -> list[_Pair]:
    """Return up to six pairs of topics that share no fact, drawn at random."""
    topics = queries.topics(connection, MIN_FACTS)
    random.Random(seed).shuffle(topics)
    pairs: list[_Pair] = []
    waiting: tuple[Topic, list[TopicFact]] | None = None
    for topic in topics:
        facts = queries.facts_of_topic(connection, topic.cluster_id, MAX_SHOWN)
        if len(facts) < MIN_FACTS:
            continue
        if waiting is None:
            waiting = topic, facts
        elif topic.topic != waiting[0].topic and not _share_a_fact(facts, waiting[1]):
            pairs.append(_Pair((waiting[0], topic), (waiting[1], facts)))
            waiting = None
            if len(pairs) == MAX_PAIRS:
                break
    return pairs


def _share_a_fact(one: Sequence[TopicFact], other: Sequence[TopicFact]) -> bool:
    return not {each.id for each in one}.isdisjoint(each.id for each in other)


def _sources_of(pair: _Pair) -> frozenset[int]:
    shown = (*pair.facts[0], *pair.facts[1])
    return frozenset(number for fact in shown for number in _numbers.decode(fact.sources))


def _as_data(pairs: Sequence[_Pair]) -> list[list[dict[str, object]]]:
    """Return the pairs as a model sees them; facts are numbered through all pairs."""
    prompts = []
    number = 0
    for pair in pairs:
        topics: list[dict[str, object]] = []
        for topic, facts in zip(pair.topics, pair.facts, strict=True):
            numbered = [
                {"fact": number + place, "said": format_time(fact.as_of)[:10], "text": fact.text}
                for place, fact in enumerate(facts)
            ]
            number += len(facts)
            topics.append({"topic": topic.topic, "of": topic.name, "facts": numbered})
        prompts.append(topics)
    return prompts
