"""Recall: answering a query, now or as of an earlier time, and explaining the answer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import apsw
import msgspec

from recollect.home.consistency_token import LedgerPosition
from recollect.home.open_zone import OpenZone, unix_ms
from recollect.home.token_counting import check_max_tokens, estimate_tokens
from recollect.operations.ingestion.ingesting import command
from recollect.projections.disk_space import is_disk_full
from recollect.projections.events import event_queries
from recollect.projections.recall import PROFILES, Recaller, RecallQuery
from recollect.projections.recall.question.query import check_query_time
from recollect.schemas.decoder_errors import decoder_message
from recollect.schemas.errors import DiskFull, InvalidInput
from recollect.schemas.events import RecallCount, RecallsCounted
from recollect.schemas.text_sanitising import to_plain_values
from recollect.schemas.times import parse_query_time
from recollect.schemas.wire import Explanation, Query, RecallAnswer, Receipt, Result, Time
from recollect.streams.ledger import CHANGES, EVENTS
from recollect.streams.publishing.commands import random_id

#: The types of a question: a text, a `Query`, or a dict with its fields.
AnyQuery = str | Query | Mapping[str, Any]

T = TypeVar("T")

_WORD = re.compile(r"\S+")


def recall(
    zone: OpenZone, query: AnyQuery, fields: Mapping[str, Any] | None = None
) -> RecallAnswer:
    """Return the memories that answer a query; `fields` override or add to its fields.

    Raises:
        InvalidInput: the query is invalid; the message names the field.
    """
    parsed = query_of(query, fields)
    return _answer(zone, parsed, *_question_in(zone, parsed))


def recall_among(zone: OpenZone, query: Query, numbers: frozenset[int]) -> RecallAnswer:
    """Return the memories that answer a query, from the events with these numbers alone.

    Raises:
        InvalidInput: as `recall`.
    """
    question, known_at = _question(query)
    question = msgspec.structs.replace(question, allowed_numbers=numbers)
    return _answer(zone, query, question, known_at)


def _answer(
    zone: OpenZone, query: Query, question: RecallQuery, known_at: int | LedgerPosition | None
) -> RecallAnswer:
    answer = with_recaller(
        zone,
        query.profile,
        known_at,
        lambda recaller: recaller.recall(question, _reference_time(zone, known_at)),
    )
    if answer is None:
        return RecallAnswer(query=question.text, results=[], ms=0.0)
    zone.open_home.recallers.store(zone.name, query.profile)
    if query.max_tokens is not None:
        return _truncate(answer, query.max_tokens)
    return answer


def _truncate(answer: RecallAnswer, budget: int) -> RecallAnswer:
    """Go through the results, best first, and keep each that still fits into a limit of tokens.

    If the best does not fit, only the beginning of its text is kept, and nothing else: a worse
    result must not appear to be the best. Tokens are estimated conservatively, since the model that
    reads them may use any tokenizer.
    """
    kept = []
    for rank, result in enumerate(answer.results):
        texts = [result.text, *(fact.text for fact in result.facts)]
        texts += [change.text for change in (*result.supersedes, *result.superseded_by)]
        tokens = sum(map(estimate_tokens, texts))
        if tokens <= budget:
            budget -= tokens
            kept.append(result)
        elif rank == 0:
            kept = _cut(result, budget)
            break
    return msgspec.structs.replace(answer, results=kept)


def _cut(result: Result, budget: int) -> list[Result]:
    """Return a result whose text ends where a limit of tokens is reached; none if at no word."""
    ends = [word.end() for word in _WORD.finditer(result.text)]
    fitting = bisect_right(
        ends, budget, key=lambda end: estimate_tokens(_beginning(result.text, end))
    )
    if not fitting:
        return []
    text = _beginning(result.text, ends[fitting - 1])
    return [
        msgspec.structs.replace(
            result, text=text, is_cut=True, facts=[], supersedes=[], superseded_by=[]
        )
    ]


def _beginning(text: str, end: int) -> str:
    return text if end == len(text) else f"{text[:end]} …"


def explain(
    zone: OpenZone, query: AnyQuery, id_: str, fields: Mapping[str, Any] | None = None
) -> Explanation | None:
    """Explain a memory's rank in an answer, or its absence; None if there is no such memory.

    Raises:
        InvalidInput: as `recall`.
    """
    parsed = query_of(query, fields)
    question, known_at = _question_in(zone, parsed)
    return with_recaller(
        zone,
        parsed.profile,
        known_at,
        lambda recaller: recaller.explain(question, id_, _reference_time(zone, known_at)),
    )


def record_accesses(zone: OpenZone, accesses: Iterable[RecallCount]) -> Receipt:
    """Append to the ledger how often memories were recalled."""
    return command(zone, RecallsCounted(source_id=random_id("recalled"), accesses=tuple(accesses)))


def query_of(query: AnyQuery, fields: Mapping[str, Any] | None = None) -> Query:
    """Return a query of any accepted type as a Query with validated field types.

    Raises:
        InvalidInput: a field is missing, unknown, or of the wrong type.
    """
    if isinstance(query, str):
        if not fields:
            return Query(query)
        query = {"query": query}
    if not isinstance(query, Query | Mapping):
        raise InvalidInput(
            f"query is {type(query).__name__}; give a string, a Query, or a dict like "
            '{"query": "Where does Ada live?", "max_results": 5}'
        )
    try:
        values = {**to_plain_values(query), **to_plain_values(fields or {})}
        if isinstance(scope := values.get("scope"), str):
            values["scope"] = [name.strip() for name in scope.split(",") if name.strip()]
        return msgspec.convert(values, Query)
    except (msgspec.ValidationError, TypeError) as error:
        raise InvalidInput(f"query: {_reason(error)}") from None


def check_query(query: Query) -> Query:
    """Return a valid query; raise InvalidInput, which names the field, for another."""
    _question(query)
    return query


def _reason(error: Exception) -> str:
    """Return the message of a conversion error, with the field's name first."""
    message = decoder_message(error, Query)
    if " - at `$." in str(error):
        return message
    return f"{message}; fields are {', '.join(Query.__struct_fields__)}"


def _question_in(zone: OpenZone, query: Query) -> tuple[RecallQuery, int | LedgerPosition | None]:
    """Convert a query as `_question` does, and restrict it to its `source_event_ids`."""
    question, known_at = _question(query)
    if query.source_event_ids is None:
        return question, known_at
    allowed: frozenset[int] = frozenset()
    if zone.exists():
        if not zone.open_home.has_follower:
            refresh_files(zone)
        with zone.files() as files:
            numbers = event_queries.numbers_of_sources(
                files.events.connection, query.source_event_ids
            )
            allowed = frozenset(numbers)
    return msgspec.structs.replace(question, allowed_numbers=allowed), known_at


def _question(query: Query) -> tuple[RecallQuery, int | LedgerPosition | None]:
    """Convert a query to the form that the recaller takes; also return its `known_at`.

    `known_at` is a time (unix ms), a ledger position, or None for now.
    """
    # A command line may pass bytes that are not UTF-8.
    text = query.query.encode("utf-8", "replace").decode().replace("\0", " ")
    if query.profile == "seed":
        raise InvalidInput("the profile 'seed' is now called 'rrf'")
    if query.profile not in PROFILES:
        raise InvalidInput(f"profile {query.profile!r}: choose from {', '.join(PROFILES)}")
    question = RecallQuery(
        text=text,
        scope=tuple(dict.fromkeys(query.scope)),
        entity=query.entity,
        time_after=_time(query.time_after, "time_after"),
        time_before=_time(query.time_before, "time_before"),
        valid_at=_time(query.valid_at, "valid_at"),
        asked_at=_time(query.asked_at, "asked_at"),
        present=unix_ms(),
        platform=query.platform,
        max_results=query.max_results,
        budget=query.budget,
        min_score=query.min_score,
        explain=query.explain,
        graph_mode=query.graph_mode,
    )
    question.check()
    if query.max_tokens is not None:
        check_max_tokens(query.max_tokens)
    return question, parse_known_at(query.known_at)


def parse_known_at(value: Time | None) -> int | LedgerPosition | None:
    """Return a `known_at` as a time (unix ms) or a ledger position; None for now.

    Raises:
        InvalidInput: it is neither.
    """
    if isinstance(value, str) and LedgerPosition.matches(value):
        return LedgerPosition.parse(value)
    known_at = _time(value, "known_at")
    check_query_time(known_at, "known_at")
    return known_at


def _time(value: Time | None, field: str) -> int | None:
    return None if value is None else parse_query_time(value, field)


def check_partition(zone: OpenZone, known_at: int | LedgerPosition | None) -> None:
    """Raise InvalidInput if `known_at` is the position of a record in another zone."""
    if isinstance(known_at, LedgerPosition) and known_at.partition != zone.partition:
        raise InvalidInput(f"known_at: '{known_at}' is not a token of zone {zone.name}")


def with_recaller(
    zone: OpenZone,
    profile: str,
    known_at: int | LedgerPosition | None,
    ask: Callable[[Recaller], T],
) -> T | None:
    """Call `ask` with the recaller as of `known_at`; return None if there were no events then.

    `known_at`: a time (unix ms), a ledger position, or None for now.
    """
    check_partition(zone, known_at)
    if not zone.exists():
        return None
    recallers = zone.open_home.recallers
    if not zone.open_home.has_follower:
        refresh_files(zone)
    number = None if known_at is None else last_record_at(zone, known_at)
    if number == 0:
        return None
    reader = zone.restricted_reader
    if number is not None:
        return recallers.in_state_after(zone.name, profile, number, ask, reader)
    return recallers.in_current_state(zone.name, profile, ask, reader)


def last_record_at(zone: OpenZone, known_at: int | LedgerPosition) -> int | None:
    """Return the number of the last record at `known_at`; None if it is the latest record."""
    timeline = zone.open_home.recallers.timeline(zone.name)
    with timeline.lock:
        last = len(timeline.timeline)
        if isinstance(known_at, LedgerPosition):
            number = min(known_at.number, last)
        else:
            number = timeline.timeline.last_known(known_at)
    return None if number == last else number


def refresh_files(zone: OpenZone) -> None:
    """Update the zone's files from the ledger, at least with raw turns."""
    ledger = zone.node.ledger
    topics = (EVENTS, CHANGES) if ledger.shared else (EVENTS,)
    # The generation is compared too: another one, with fewer records, may be in use by now.
    generation = zone.node.current(zone.name).name
    ends = (generation, *(ledger.end(topic, zone.partition) for topic in topics))
    if ends == zone.refreshed_to:
        return
    if ledger.shared:
        # Other nodes decide the events, and the answer must include what they decided.
        zone.node.follow(zone.name)
    else:
        try:
            zone.node.project_turns(zone.name)
        except (OSError, apsw.FullError, DiskFull) as error:
            if not is_disk_full(error):
                raise
            # Answer from the files as they are.
            return
    zone.refreshed_to = ends


def _reference_time(zone: OpenZone, known_at: int | LedgerPosition | None) -> int:
    """Return a query's reference time (unix ms): the time of `known_at`, but at most now."""
    now = unix_ms()
    if isinstance(known_at, LedgerPosition):
        timeline = zone.open_home.recallers.timeline(zone.name)
        with timeline.lock:
            known_at = timeline.timeline.known_since(known_at.number)
    return now if known_at is None else min(known_at, now)
