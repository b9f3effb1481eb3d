"""A zone as a bank of Hindsight: what is retained, recalled, listed and reflected on.

A content that is retained is an event of the platform `hindsight`; its context, document, tags and
metadata stand in the event's own. All of the zone can be recalled. What recollect does not have
(occurrence times, links, documents' chunks) is null or empty.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from recollect.home.open_zone import unix_ms
from recollect.home.token_counting import tokens_without_encoder
from recollect.library.library_zone import Zone
from recollect.operations.answers import recalling
from recollect.operations.ingestion.ingesting import decided, none_kept
from recollect.projections.events import annotated_events
from recollect.projections.events.annotated_events import AnnotatedEvent
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.times import format_time, parse_query_time
from recollect.schemas.wire import Memory, Query, Result, Scope

PLATFORM = "hindsight"
_KEY = "hindsight"
_SENDER = "user"
_PAGE = 500
_RESULTS = {"low": 20, "mid": 50, "high": 100}

TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]


class Retained(NamedTuple):
    """Contents that were retained: the id under which they can be asked for, and their token."""

    operation_id: str
    token: str


class HindsightBank:
    """What Hindsight's interface sees in a zone."""

    def __init__(self, zone: Zone) -> None:
        self._zone = zone

    def retain(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        operation_id: str | None = None,
        document_tags: Sequence[str] = (),
        principal: Mapping[str, str] | None = None,
    ) -> Retained:
        """Put contents into the ledger; under an `operation_id` they are put there once.

        A content of a document that is there takes its place, unless it is to be appended.

        Raises:
            InvalidInput: a content cannot be kept; the message says which.
        """
        operation = operation_id or secrets.token_hex(16)
        events: list[dict[str, Any]] = []
        replaced: set[str] = set()
        times = self._times_of(operation_id)
        for place, item in enumerate(items):
            said = {
                "operation": operation,
                "context": item.get("context"),
                "document_id": item.get("document_id"),
                "tags": list(dict.fromkeys([*(item.get("tags") or ()), *document_tags])),
                "metadata": item.get("metadata"),
            }
            event = {
                "platform": PLATFORM,
                "id": (id_ := f"{PLATFORM}-{operation}-{place}"),
                "sender_id": _SENDER,
                "occurred_at": times.get(id_) or moment(item.get("timestamp")),
                "content": _text(item.get("content"), place),
                "metadata": {_KEY: {name: value for name, value in said.items() if value}},
            }
            document = item.get("document_id")
            if document and document not in replaced and item.get("update_mode") != "append":
                replaced.add(document)
                events += self._in_the_place_of(document, operation, event)
            else:
                events.append(event)
        begun = self._zone.event_import(principal)
        begun.add(events)
        report = begun.report()
        if report.rejected:
            raise InvalidInput(f"items: {none_kept(report)}")
        return Retained(operation, report.token)

    def _times_of(self, operation_id: str | None) -> dict[str, int]:
        """Return when the events of an operation were said, by source id: it may be sent again."""
        if operation_id is None or not self._zone.exists():
            return {}
        with self._files() as files:
            found = annotated_events.of_platform(
                files.events.connection, PLATFORM, {f"$.{_KEY}.operation": operation_id}
            )
        return {event.source_id: event.occurred_at for event in found}

    def _in_the_place_of(
        self, document: str, operation: str, event: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the event as an edit of what a document said, and deletions of its further parts.

        Those of the same operation are the event itself, sent again.
        """
        if not self._zone.exists():
            return [event]
        with self._files() as files:
            found = annotated_events.of_platform(
                files.events.connection, PLATFORM, {f"$.{_KEY}.document_id": document}
            )
        parts = list(
            dict.fromkeys(one.message for one in found if _said(one).get("operation") != operation)
        )
        if not parts:
            return [event]
        gone = [
            {
                **event,
                "id": f"{event['id']}-gone-{place}",
                "kind": "deletion",
                "target": part,
                "content": "",
                "metadata": {},
            }
            for place, part in enumerate(parts[1:])
        ]
        return [{**event, "kind": "edit", "target": parts[0]}, *gone]

    def documents(self) -> list[dict[str, Any]]:
        """Return what was retained as documents, the newest first, without their words."""
        found = []
        for document_id, parts in self._documents().items():
            said = _said(parts[-1])
            found.append(
                {
                    "id": document_id,
                    "content_hash": None,
                    "created_at": format_time(min(part.occurred_at for part in parts)),
                    "updated_at": format_time(max(part.occurred_at for part in parts)),
                    "text_length": len("\n".join(part.content for part in parts)),
                    "document_metadata": said.get("metadata"),
                    "tags": said.get("tags") or [],
                }
            )
        return sorted(found, key=lambda one: one["updated_at"], reverse=True)

    def document(self, document_id: str) -> dict[str, Any]:
        """Return one of `documents`, with its words.

        Raises:
            UnknownId: there is none with this id.
        """
        for found in self.documents():
            if found["id"] == document_id:
                parts = self._documents()[document_id]
                with self._files() as files:
                    facts = [memory.facts_from(files.memory.connection, one.id) for one in parts]
                return {
                    **found,
                    "original_text": "\n".join(part.content for part in parts),
                    "memory_unit_count": sum(map(len, facts)),
                }
        raise UnknownId(f"no document has the id {document_id[:200]!r}")

    def events_of_document(self, document_id: str) -> list[str]:
        """Return the ids of all that a document ever said.

        Raises:
            UnknownId: there is none with this id.
        """
        with self._files() as files:
            found = annotated_events.of_platform(
                files.events.connection, PLATFORM, {f"$.{_KEY}.document_id": document_id}
            )
        if not found:
            raise UnknownId(f"no document has the id {document_id[:200]!r}")
        return [event.id for event in found]

    def _documents(self) -> dict[str, list[AnnotatedEvent]]:
        """Return the parts of each document as they are now, in order."""
        if not self._zone.exists():
            return {}
        with self._files() as files:
            connection = files.events.connection
            gone = annotated_events.taken_back(connection, PLATFORM)
            newest = {
                event.message: event
                for event in annotated_events.of_platform(connection, PLATFORM, {})
                if event.message not in gone
            }
        found: dict[str, list[AnnotatedEvent]] = {}
        for event in newest.values():
            if document_id := _said(event).get("document_id"):
                found.setdefault(str(document_id), []).append(event)
        return found

    def rewrite(self, memory_id: str, text: str, principal: Mapping[str, str] | None = None) -> str:
        """Put a text in the place of the content that a memory comes from; return its token.

        Raises:
            UnknownId: nothing has the id.
            InvalidInput: it does not come from one content alone, or is only a part of what that
                says; or the text cannot be kept.
        """
        held = self._zone.get_memory(memory_id)
        with self._files() as files:
            connection = files.memory.connection
            ids = [held.id] if held.type == "event" else memory.events_of(connection, held.id)
            retained = annotated_events.of_platform(files.events.connection, PLATFORM, {})
            found = [event for event in retained if event.id in set(ids)]
            if len(found) != 1 or len(ids) != 1:
                raise InvalidInput(
                    f"memory_id: {held.id} does not come from one content that was retained; "
                    "retain the correction as a content of its own"
                )
            (event,) = found
            if held.type != "event" and len(memory.facts_from(connection, event.id)) > 1:
                raise InvalidInput(
                    f"memory_id: {held.id} is a part of what {event.id} says; update that, with "
                    "all that it is to say"
                )
        begun = self._zone.event_import(principal)
        begun.add(
            [
                {
                    "platform": PLATFORM,
                    "id": f"{event.message}-edit-{secrets.token_hex(8)}",
                    "kind": "edit",
                    "target": event.message,
                    "sender_id": _SENDER,
                    "occurred_at": unix_ms(),
                    "content": _text(text, 0),
                    "metadata": {_KEY: _said(event)},
                }
            ]
        )
        report = begun.report()
        if report.rejected:
            raise InvalidInput(f"text: {none_kept(report)}")
        return report.token

    def operations(self) -> list[dict[str, Any]]:
        """Return what was retained, the newest first, each with whether it is decided."""
        if not self._zone.exists():
            return []
        reached = decided(self._zone._zone)
        found: dict[str, list[AnnotatedEvent]] = {}
        with self._files() as files:
            for event in annotated_events.of_platform(files.events.connection, PLATFORM, {}):
                if operation := _said(event).get("operation"):
                    found.setdefault(operation, []).append(event)
        return [
            {
                "id": operation,
                "operation_id": operation,
                "task_type": "retain",
                "operation_type": "retain",
                "items_count": len(events),
                "document_id": _said(events[0]).get("document_id"),
                "created_at": format_time(events[0].occurred_at),
                "status": "completed" if events[-1].number <= reached else "pending",
                "error_message": None,
            }
            for operation, events in reversed(found.items())
        ]

    def operation(self, id_: str) -> dict[str, Any]:
        """Return one of `operations`.

        Raises:
            UnknownId: there is none with this id.
        """
        for found in self.operations():
            if found["id"] == id_:
                return found
        raise UnknownId(f"no operation has the id {id_!r}, or what it retained was forgotten")

    def recall(
        self,
        query: str,
        *,
        types: Sequence[str] | None,
        budget: Literal["low", "mid", "high"],
        max_tokens: int,
        asked_at: str | None,
        tags: Sequence[str] | None,
        tags_match: TagsMatch,
        min_score: float,
        after: int | None,
        before: int | None,
    ) -> list[dict[str, Any]]:
        """Return memories, best first, whose texts take `max_tokens` at most.

        `after` and `before`: inclusive bounds on when it was said (unix ms).
        """
        wanted = set(types or ("world", "experience", "observation"))
        scope: list[Scope] = [*(("events", "facts") if "world" in wanted else ())]
        if "observation" in wanted:
            scope.append("observations")
        if not scope or not self._zone.exists():
            return []
        among = self._tagged(tags, tags_match)
        asked = Query(
            query=query,
            max_results=_RESULTS[budget],
            budget=budget,
            scope=tuple(scope),
            asked_at=None if asked_at is None else moment(asked_at),
            time_after=None if after is None else after - 1,
            time_before=None if before is None else before + 1,
            min_score=min_score,
            source_event_ids=among,
        )
        answer = self._zone.recall(asked)
        return self._shown(within(answer.results, max_tokens))

    def _tagged(self, tags: Sequence[str] | None, match: TagsMatch) -> tuple[str, ...] | None:
        """Return the source ids of the events whose tags fit; None: all do."""
        wanted = set(tags or ())
        if not wanted and match != "exact":
            return None
        return tuple(
            event.source_event_ids[0]
            for event in _every(self._zone, "events")
            if _fits(_tags_of(event), wanted, match)
        )

    def _shown(self, results: Sequence[Result]) -> list[dict[str, Any]]:
        shown = []
        with self._files() as files:
            for result in results:
                events = _events_of(files, result)
                shown.append({**_fields(result, events), "scores": {"final": result.score}})
        return shown

    def reflect(self, query: str, *, budget: str, max_tokens: int) -> tuple[str, list[Result]]:
        """Return a report of `max_tokens` at most, and what it cites."""
        if not self._zone.exists():
            return "", []
        most = _RESULTS[budget]
        while True:
            found = self._zone.reflect(query, max_results=most)
            if tokens_without_encoder(found.text) <= max_tokens:
                return found.text, found.results
            if most == 1:
                return "", []
            most //= 2

    def listed(
        self, type_: str | None, containing: str | None, *, offset: int, limit: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Return some facts and observations, each the newest first, and how many there are."""
        if not self._zone.exists():
            return [], 0
        kinds: list[Literal["facts", "observations"]] = []
        if type_ in (None, "world"):
            kinds.append("facts")
        if type_ in (None, "observation"):
            kinds.append("observations")
        text = None if containing is None else containing.casefold()
        found = [
            item
            for kind in kinds
            for item in _every(self._zone, kind)
            if text is None or text in item.text.casefold()
        ]
        return [_unit(item) for item in found[offset : offset + limit]], len(found)

    @contextmanager
    def _files(self) -> Iterator[ZoneFiles]:
        zone = self._zone._zone
        with zone.open_home.at_work():
            zone.must_exist()
            # What was retained in the background may not even be here as turns yet.
            if not zone.open_home.followed:
                recalling.bring_up(zone)
            with zone.files() as files, files.snapshot():
                yield files


def within(results: Iterable[Result], max_tokens: int) -> list[Result]:
    """Return results, best first, whose texts take so many tokens at most; one that does not fit
    is left out, and the next is tried.
    """
    kept, left = [], max_tokens
    for result in results:
        size = tokens_without_encoder(result.text)
        if size <= left:
            kept.append(result)
            left -= size
    return kept


def unit(zone: Zone, id_: str) -> dict[str, Any]:
    """Return a memory of any kind by its id.

    Raises:
        UnknownId: nothing has it.
    """
    return _unit(zone.get_memory(id_))


def _tags_of(event: Memory) -> set[str]:
    said = (event.metadata or {}).get(_KEY) if event.platform == PLATFORM else None
    return set(said.get("tags") or ()) if isinstance(said, dict) else set()


def _every(zone: Zone, kind: Literal["events", "facts", "observations"]) -> Iterator[Memory]:
    cursor = None
    while True:
        page = zone.list_memories(kind, cursor=cursor, limit=_PAGE)
        yield from page.memories
        cursor = page.cursor
        if cursor is None:
            return


def _unit(item: Memory) -> dict[str, Any]:
    return {
        "id": item.id,
        "text": item.text,
        "context": "",
        "date": item.as_of,
        "mentioned_at": item.as_of,
        "fact_type": _type(item.type),
        "entities": ", ".join(item.entities),
        "tags": [],
        "state": "valid" if item.current else "invalidated",
        "source_memory_ids": [],
    }


def _fields(result: Result, events: Sequence[AnnotatedEvent]) -> dict[str, Any]:
    """Return a result in Hindsight's form; what stands beside its words, where one event does."""
    said = _said(events[0]) if len(events) == 1 else {}
    return {
        "id": result.id,
        "text": result.text,
        "type": _type(result.type),
        "entities": None,
        "context": said.get("context"),
        "occurred_start": None,
        "occurred_end": None,
        "mentioned_at": result.as_of,
        "document_id": said.get("document_id"),
        "metadata": said.get("metadata"),
        "chunk_id": None,
        "tags": said.get("tags") or [],
        "source_fact_ids": [fact.id for fact in result.facts] or None,
    }


def _events_of(files: ZoneFiles, result: Result) -> list[AnnotatedEvent]:
    ids = (
        [result.id]
        if result.type == "event"
        else memory.events_of(files.memory.connection, result.id)
    )
    return annotated_events.with_ids(files.events.connection, ids)


def _type(type_: str) -> str:
    return type_ if type_ in ("observation", "mental_model") else "world"


def _said(event: AnnotatedEvent) -> dict[str, Any]:
    said = event.metadata.get(_KEY)
    return said if isinstance(said, dict) else {}


_FITS: dict[str, Callable[[set[str], set[str]], bool]] = {
    "any": lambda tags, wanted: not tags or bool(tags & wanted),
    "all": lambda tags, wanted: not tags or wanted <= tags,
    "any_strict": lambda tags, wanted: bool(tags & wanted),
    "all_strict": lambda tags, wanted: bool(tags) and wanted <= tags,
    "exact": lambda tags, wanted: tags == wanted,
}


def _fits(tags: set[str], wanted: set[str], match: TagsMatch) -> bool:
    return _FITS[match](tags, wanted)


def _text(content: Any, place: int) -> str:
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, Mapping)]
        if len(blocks) < len(content) or any(block.get("type") != "text" for block in blocks):
            raise InvalidInput(f"items[{place}].content: only texts are kept here, no images")
        content = "\n".join(str(block.get("text") or "") for block in blocks)
    if not isinstance(content, str) or not content.strip():
        raise InvalidInput(f"items[{place}].content is empty; give a text")
    return content


def moment(said: Any) -> int:
    """Return a time as unix ms; without a zone it is UTC, and where nothing is said, now."""
    if said is None or said in ("", "unset"):
        return unix_ms()
    if isinstance(said, str):
        try:
            found = datetime.fromisoformat(said)
        except ValueError:
            return parse_query_time(said, "timestamp")
        return parse_query_time(found if found.tzinfo else found.replace(tzinfo=UTC), "timestamp")
    return parse_query_time(said, "timestamp")
