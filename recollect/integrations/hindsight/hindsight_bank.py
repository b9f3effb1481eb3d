"""A zone as a Hindsight bank: retain, recall, list and reflect.

Recall searches the whole zone. Fields without a counterpart in recollect (occurrence times, links,
document chunks) are null or empty.
"""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from recollect import InvalidInput, Memory, Query, Result, Scope, UnknownId, Zone
from recollect.integrations.facade_kit import (
    is_replacement,
    list_all,
    partly_rejected,
    replace,
    time_of_edit,
    to_unix_ms,
)
from recollect.integrations.hindsight.hindsight_events import (
    BANK,
    PLATFORM,
    checked_text,
    content_events,
    edit_event,
    find_retained,
    hindsight_fields,
    ordered_versions,
    replacement_event,
    storage_order_key,
    tags_of,
)
from recollect.integrations.hindsight.hindsight_tags import TagPredicate, pattern

_RESULTS = {"low": 20, "mid": 50, "high": 100}
#: The time fields that memories have; a listing by any other time field is empty.
_TIMES = ("mentioned_at", "created_at", "updated_at")

Budget = Literal["low", "mid", "high"]
State = Literal["valid", "invalidated"]


class Retained(NamedTuple):
    """A retain operation: its id, and the consistency token of its events."""

    operation_id: str
    token: str


class ListFilters(NamedTuple):
    """The filters of a listing.

    `since` (inclusive) and `until` (exclusive) are unix ms, and apply to `time_field`.
    """

    type: str | None = None
    containing: str | None = None
    document_id: str | None = None
    entity_id: str | None = None
    invalidated: bool = False
    matches: TagPredicate | None = None
    time_field: str | None = None
    since: int | None = None
    until: int | None = None


class HindsightBank:
    """Hindsight's operations on a zone."""

    def __init__(self, zone: Zone) -> None:
        self.zone = zone

    # Retaining

    def retain(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        operation_id: str | None = None,
        document_tags: Sequence[str] = (),
        principal: Mapping[str, str] | None = None,
    ) -> Retained:
        """Ingest items. A repeated call with the same `operation_id` adds nothing.

        An item with the id of an existing document replaces that document, unless its
        `update_mode` is "append". Each turn of a conversation is an event from its speaker.

        Raises:
            InvalidInput: an item was rejected. The message lists the rejected and the stored ones.
        """
        operation = operation_id or secrets.token_hex(16)
        retained = find_retained(self.zone, operation=operation) if operation_id else []
        earlier = {event.source_event_ids[0]: event for event in retained}
        events: list[dict[str, Any]] = []
        indexes: list[int] = []
        replaced: set[str] = set()
        for index, item_events in content_events(items, operation, document_tags, earlier):
            item = items[index]
            document = item.get("document_id")
            if document and document not in replaced and item.get("update_mode") != "append":
                replaced.add(document)
                item_events = self._replacing_document(document, operation, item_events, earlier)
            events += item_events
            indexes += [index] * len(item_events)
        report = self.zone.ingest(events, wait=False, principal=principal)
        if report.rejected:
            raise partly_rejected(report, "items", indexes)
        return Retained(operation, report.token)

    def _replacing_document(
        self,
        document: str,
        operation: str,
        events: list[dict[str, Any]],
        earlier: Mapping[str, Memory],
    ) -> list[dict[str, Any]]:
        """Change the events of a document so that they replace its earlier version.

        The first event becomes an edit of the document's first event; the document's other events
        are deleted. `earlier`: the events of an earlier attempt at the operation, by source id; if
        it has replaced the document already, the events are returned unchanged.
        """
        parts = [
            versions
            for versions in ordered_versions(find_retained(self.zone, document_id=document))
            if versions[-1].current and hindsight_fields(versions[0]).get("operation") != operation
        ]
        if not parts:
            return events
        first, *others = events
        deletions = [
            {
                **first,
                "id": f"{first['id']}-gone-{place}",
                "kind": "deletion",
                "target": versions[0].source_event_ids[0],
                "content": "",
                "metadata": {},
            }
            for place, versions in enumerate(parts[1:])
        ]
        edit = {**first, "kind": "edit", "target": parts[0][0].source_event_ids[0]}
        if first["id"] not in earlier:
            edit["occurred_at"] = time_of_edit(parts[0], first["occurred_at"])
        return [edit, *others, *deletions]

    def replace_text(
        self, memory_id: str, text: str, principal: Mapping[str, str] | None = None
    ) -> str:
        """Replace the text of a memory; return the consistency token.

        If an item is a single memory, the item is edited. If the item gave several memories, the
        new text supersedes only this memory.

        Raises:
            UnknownId: no memory has the id.
            InvalidInput: the memory is neither a fact nor a retained item, or the text was
                rejected.
        """
        memory = self._current(memory_id)
        text = checked_text(text, "text")
        sources = memory.source_event_ids
        events = list(list_all(self.zone, "events", source_event_ids=sources[:1]))
        fields = hindsight_fields(events[0]) if events else {}
        whole = memory.type == "event" or (
            len(sources) == 1 and len(self._facts_from(sources, superseded=True)) == 1
        )
        if whole and fields:
            event = edit_event(
                self._versions_of(events[0], fields), {**fields, "id": memory_id}, text
            )
            report = self.zone.ingest(event, wait=False, principal=principal)
        elif memory.type == "fact":
            newer = replacement_event(events[0], fields, memory_id, text)
            report = replace(self.zone, newer, [memory.id], principal=principal)
        else:
            raise InvalidInput(
                f"memory_id: {memory.id} is neither a fact nor a retained item; retain the "
                "correction as an item of its own"
            )
        if report.rejected:
            raise partly_rejected(report, "text", [0])
        return report.token

    def _versions_of(self, event: Memory, fields: Mapping[str, Any]) -> list[Memory]:
        """Return all versions of the message of an event, oldest first."""
        name = next(one for one in ("document_id", "operation", "id") if fields.get(one))
        for versions in ordered_versions(find_retained(self.zone, **{name: str(fields[name])})):
            if event.id in {version.id for version in versions}:
                return versions
        return [event]

    def set_state(self, memory_id: str, state: State) -> None:
        """Retract a memory (`invalidated`) or restore it (`valid`), unless it is in that state.

        Raises:
            UnknownId: no memory has the id.
            InvalidInput: the memory is neither a fact nor an event, or another one has replaced it.
        """
        memory = self._current(memory_id)
        if memory.current != (state == "valid"):
            self.zone.retract(memory.id, restore=state == "valid")

    def _current(self, memory_id: str) -> Memory:
        """Return the memory with an id, or the latest replacement of that memory.

        Raises:
            UnknownId: no memory has the id.
        """
        updates = ordered_versions(find_retained(self.zone, id=memory_id))
        return updates[-1][-1] if updates else self.zone.get_memory(memory_id)

    def _facts_from(self, source_ids: Sequence[str], *, superseded: bool = False) -> list[Memory]:
        """Return the current facts of some events; with `superseded`, all their facts."""
        ids = set(source_ids)
        found = list_all(self.zone, "facts", source_event_ids=list(ids), superseded=superseded)
        return [fact for fact in found if fact.source_event_ids[0] in ids]

    # Documents and operations

    def documents(self) -> list[dict[str, Any]]:
        """Return the documents, newest first, without their text."""
        found = [self._document_fields(id_, parts) for id_, parts in self._documents().items()]
        return sorted(found, key=lambda one: str(one["updated_at"]), reverse=True)

    def document(self, document_id: str) -> dict[str, Any]:
        """Return a document with its text.

        Raises:
            UnknownId: no document has this id.
        """
        parts = self._documents(document_id).get(document_id)
        if not parts:
            raise _no_document(document_id)
        sources = [part.source_event_ids[0] for part in parts]
        return {
            **self._document_fields(document_id, parts),
            "original_text": _document_text(parts),
            "memory_unit_count": len(self._facts_from(sources)),
        }

    def _document_fields(self, document_id: str, parts: Sequence[Memory]) -> dict[str, Any]:
        fields = hindsight_fields(parts[-1])
        return {
            "id": document_id,
            "content_hash": None,
            "created_at": min(part.as_of for part in parts),
            "updated_at": max(part.as_of for part in parts),
            "text_length": len(_document_text(parts)),
            "document_metadata": fields.get("metadata"),
            "tags": fields.get("tags") or [],
        }

    def _documents(self, document_id: str | None = None) -> dict[str, list[Memory]]:
        """Return document id -> the current versions of its events, in order."""
        fields = {} if document_id is None else {"document_id": document_id}
        documents: dict[str, list[Memory]] = defaultdict(list)
        for versions in ordered_versions(find_retained(self.zone, **fields)):
            fields = hindsight_fields(versions[-1])
            # The replacement of a memory is not part of the document.
            if is_replacement(fields):
                continue
            if versions[-1].current and (of := fields.get("document_id")):
                documents[str(of)].append(versions[-1])
        return {of: sorted(parts, key=storage_order_key) for of, parts in documents.items()}

    def events_of_document(self, document_id: str) -> list[str]:
        """Return the ids of all events of a document, earlier versions included.

        Raises:
            UnknownId: no document has this id.
        """
        found = [event.id for event in find_retained(self.zone, document_id=document_id)]
        if not found:
            raise _no_document(document_id)
        return found

    def operations(self) -> list[dict[str, Any]]:
        """Return the retain operations, newest first, with their status."""
        found: dict[str, list[Memory]] = defaultdict(list)
        for event in find_retained(self.zone):
            if operation := hindsight_fields(event).get("operation"):
                found[operation].append(event)
        return [_operation(id_, events) for id_, events in reversed(found.items())]

    def operation(self, id_: str) -> dict[str, Any]:
        """Return a retain operation.

        Raises:
            UnknownId: no operation has this id.
        """
        events = find_retained(self.zone, operation=id_)
        if not events:
            raise UnknownId(f"no operation has the id {id_!r}, or all its items were forgotten")
        return _operation(id_, events)

    # Recalling

    def recall(
        self,
        query: str,
        *,
        types: Sequence[str] | None,
        budget: Budget,
        max_tokens: int,
        asked_at: str | None = None,
        matches: TagPredicate | None = None,
        min_score: float = 0.0,
        window: tuple[int, int] | None = None,
    ) -> list[dict[str, Any]]:
        """Return memories, best first, whose texts have at most `max_tokens` tokens in total.

        Superseded memories are left out. If only observations are requested, facts on which no
        observation rests are returned as observations. Memories from within `window` (unix ms) come
        first.
        """
        requested = set(types or ("world", "experience", "observation"))
        scope: list[Scope] = [*(("events", "facts") if "world" in requested else ())]
        if "observation" in requested:
            scope += ["observations", *(() if "world" in requested else ("facts",))]
        if not scope or not self.zone.exists():
            return []
        request = Query(
            query=query,
            max_results=_RESULTS[budget],
            max_tokens=max_tokens,
            budget=budget,
            scope=tuple(scope),
            asked_at=None if asked_at is None else to_unix_ms(asked_at, "query_timestamp"),
            min_score=min_score,
            source_event_ids=self._matching_sources(matches),
        )
        results = self.zone.recall(request).results
        if window is not None:
            first = self.zone.recall(request, time_after=window[0] - 1, time_before=window[1] + 1)
            results = _fill_budget(first.results, results, max_tokens)
        events = self._events_of(results)
        return [
            _result_fields(result, said_by, as_observation="world" not in requested)
            for result, said_by in ((result, events[result.id]) for result in results)
            if not result.is_stale
            and not any(hindsight_fields(event).get("kind") == BANK for event in said_by)
        ]

    def _matching_sources(self, matches: TagPredicate | None) -> tuple[str, ...] | None:
        """Return the source ids of the events whose tags match; None without a tag filter."""
        if matches is None:
            return None
        # Only retained events have tags.
        platform = None if matches(set()) else PLATFORM
        return tuple(
            event.source_event_ids[0]
            for event in list_all(self.zone, "events", platform=platform)
            if matches(tags_of(event))
        )

    def _events_of(self, memories: Sequence[Result] | Sequence[Memory]) -> dict[str, list[Memory]]:
        """Return memory id -> the retained events from which the memory comes."""
        sources = sorted({source for item in memories for source in item.source_event_ids})
        events = {
            event.source_event_ids[0]: event
            for event in list_all(self.zone, "events", platform=PLATFORM, source_event_ids=sources)
        }
        return {
            item.id: [events[source] for source in item.source_event_ids if source in events]
            for item in memories
        }

    def reflect(
        self, query: str, *, budget: Budget, max_tokens: int, matches: TagPredicate | None = None
    ) -> tuple[str, list[Result]]:
        """Return a report of at most `max_tokens` tokens, and the memories that it cites."""
        if not self.zone.exists():
            return "", []
        reflection = self.zone.reflect(
            query,
            source_event_ids=self._matching_sources(matches),
            max_results=_RESULTS[budget],
            max_tokens=max_tokens,
        )
        return reflection.text, reflection.results

    # Listing

    def list_units(self, filters: ListFilters, *, offset: int, limit: int) -> tuple[list[Any], int]:
        """Return a page of facts, then observations, both newest first, and the total number."""
        if filters.time_field not in (None, *_TIMES):
            return [], 0
        text = None if filters.containing is None else filters.containing.casefold()
        units = [
            item
            for item in self._matching_memories(filters)
            if (text is None or text in item.text.casefold()) and _is_in_time_range(item, filters)
        ]
        page = units[offset : offset + limit]
        events = self._events_of(page)
        return [_unit_fields(item, events[item.id]) for item in page], len(units)

    def _matching_memories(self, filters: ListFilters) -> Iterator[Memory]:
        source_ids = self._sources(filters)
        if filters.type in (None, "world"):
            narrowed: dict[str, Any] = {}
            if source_ids is not None:
                narrowed["source_event_ids"] = list(source_ids)
            if filters.entity_id is not None:
                narrowed["entity"] = filters.entity_id
            facts = list_all(self.zone, "facts", superseded=filters.invalidated, **narrowed)
            yield from (fact for fact in facts if fact.current != filters.invalidated)
        if filters.type in (None, "observation") and filters.entity_id is None:
            for item in list_all(self.zone, "observations", superseded=filters.invalidated):
                rests_on = set(item.source_event_ids)
                if item.current != filters.invalidated and (
                    source_ids is None or rests_on <= source_ids
                ):
                    yield item

    def _sources(self, filters: ListFilters) -> set[str] | None:
        """Return the source ids of the events that match a listing, or None if all do."""
        source_ids = self._matching_sources(filters.matches)
        if filters.document_id is None:
            return None if source_ids is None else set(source_ids)
        of_document = {
            event.source_event_ids[0]
            for event in find_retained(self.zone, document_id=filters.document_id)
        }
        return of_document if source_ids is None else of_document & set(source_ids)

    def get_unit(self, id_: str) -> dict[str, Any]:
        """Return the memory with an id, of any type.

        Raises:
            UnknownId: no memory has the id.
        """
        memory = self._current(id_)
        return {**_unit_fields(memory, self._events_of([memory])[memory.id]), "id": id_}

    def tags(self, wildcards: str | None) -> list[tuple[str, int]]:
        """Return each tag with its number of memories, the most frequent first."""
        current = [versions[-1] for versions in ordered_versions(find_retained(self.zone))]
        tagged = [event for event in current if event.current and tags_of(event)]
        sources = {event.source_event_ids[0]: event for event in tagged}
        facts = Counter(fact.source_event_ids[0] for fact in self._facts_from(list(sources)))
        counts: Counter[str] = Counter()
        for source, event in sources.items():
            for tag in tags_of(event):
                # An event without facts is itself one memory.
                counts[tag] += facts[source] or 1
        matches = None if wildcards is None else pattern(wildcards)
        matching = [one for one in counts.items() if matches is None or matches.fullmatch(one[0])]
        return sorted(matching, key=lambda one: (-one[1], one[0]))


def _fill_budget(
    first: Sequence[Result], others: Sequence[Result], max_tokens: int
) -> list[Result]:
    """Append the other results that still fit; their bytes are an upper bound of their tokens."""
    chosen = list(first)
    ids = {result.id for result in first}
    remaining = max_tokens - sum(_bytes(result) for result in first)
    for result in others:
        if result.id not in ids and _bytes(result) <= remaining:
            remaining -= _bytes(result)
            chosen.append(result)
    return chosen


def _bytes(result: Result) -> int:
    return len(result.text.encode()) + sum(len(fact.text.encode()) for fact in result.facts)


def _no_document(document_id: str) -> UnknownId:
    return UnknownId(f"no document has the id {document_id[:200]!r}")


def _document_text(parts: Sequence[Memory]) -> str:
    """Return the text of a document; the turns of a conversation in their original layout."""
    texts: list[str] = []
    last: tuple[object, object] | None = None
    for part in parts:
        fields = hindsight_fields(part)
        of = (fields.get("operation"), (fields.get("place") or [None])[0])
        text = f"{fields.get('before', '')}{part.text}{fields.get('after', '')}"
        if of == last and "before" in fields:
            texts[-1] += text
        else:
            texts.append(text)
        last = of
    return "\n".join(text.rstrip("\n") for text in texts)


def _operation(id_: str, events: Sequence[Memory]) -> dict[str, Any]:
    places = {tuple(hindsight_fields(event).get("place") or ())[:1] for event in events}
    return {
        "id": id_,
        "operation_id": id_,
        "task_type": "retain",
        "operation_type": "retain",
        "items_count": len(places) if () not in places else len(events),
        "document_id": hindsight_fields(events[0]).get("document_id"),
        "created_at": str(hindsight_fields(events[0]).get("at") or events[0].as_of),
        "status": "completed" if all(event.decided for event in events) else "pending",
        "error_message": None,
    }


def _is_in_time_range(item: Memory, filters: ListFilters) -> bool:
    if filters.since is None and filters.until is None:
        return True
    at = to_unix_ms(item.as_of, "as_of")
    return (filters.since is None or at >= filters.since) and (
        filters.until is None or at < filters.until
    )


def _unit_fields(item: Memory, events: Sequence[Memory]) -> dict[str, Any]:
    fields = hindsight_fields(events[0]) if events and item.type in ("event", "fact") else {}
    return {
        "id": item.id,
        "text": item.text,
        "context": fields.get("context") or "",
        "date": item.as_of,
        "mentioned_at": item.as_of,
        "fact_type": _type(item.type),
        "entities": ", ".join(item.entities),
        "document_id": fields.get("document_id"),
        "metadata": fields.get("metadata"),
        "tags": _tags(events),
        "state": "valid" if item.current else "invalidated",
        "source_memory_ids": [],
    }


def _result_fields(
    result: Result, events: Sequence[Memory], *, as_observation: bool
) -> dict[str, Any]:
    """Return a result in Hindsight's form, with the fields of the event from which it comes."""
    fields = hindsight_fields(events[0]) if events and result.type in ("event", "fact") else {}
    rests_on = [fact.id for fact in result.facts]
    is_own_observation = as_observation and result.type == "fact"
    return {
        "id": result.id,
        "text": result.text,
        "type": "observation" if is_own_observation else _type(result.type),
        "entities": None,
        "context": fields.get("context"),
        "occurred_start": None,
        "occurred_end": None,
        "mentioned_at": result.as_of,
        "document_id": fields.get("document_id"),
        "metadata": fields.get("metadata"),
        "chunk_id": None,
        "tags": _tags(events),
        "source_fact_ids": [result.id] if is_own_observation else rests_on or None,
        "scores": {"final": result.score},
    }


def _tags(events: Iterable[Memory]) -> list[str]:
    return list(
        dict.fromkeys(tag for event in events for tag in hindsight_fields(event).get("tags") or ())
    )


def _type(type_: str) -> str:
    return type_ if type_ in ("observation", "mental_model") else "world"
