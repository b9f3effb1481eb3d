"""A zone as a bank of Hindsight: what is retained, recalled, listed and reflected on.

All of the zone can be recalled. What recollect does not have (occurrence times, links, documents'
chunks) is null or empty.
"""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from recollect import InvalidInput, Memory, Query, Result, Scope, UnknownId, Zone
from recollect.integrations.facade_kit import every, is_update, moment, partly_kept, replace
from recollect.integrations.hindsight.hindsight_events import (
    BANK,
    PLATFORM,
    contents,
    edit_of,
    messages,
    order,
    retained,
    said_in,
    tags_of,
    text_of,
    update_of,
)
from recollect.integrations.hindsight.hindsight_tags import TagPredicate, pattern

_RESULTS = {"low": 20, "mid": 50, "high": 100}
#: The times by which memories can be listed; of all others there is none here.
_TIMES = ("mentioned_at", "created_at", "updated_at")

Budget = Literal["low", "mid", "high"]
State = Literal["valid", "invalidated"]


class Retained(NamedTuple):
    """Contents that were retained: the id under which they can be asked for, and their token."""

    operation_id: str
    token: str


class Listing(NamedTuple):
    """Which memories are listed.

    `since` and `until` are unix ms, the first inclusive, of `time_field`.
    """

    type: str | None = None
    containing: str | None = None
    document_id: str | None = None
    entity_id: str | None = None
    invalidated: bool = False
    fits: TagPredicate | None = None
    time_field: str | None = None
    since: int | None = None
    until: int | None = None


class HindsightBank:
    """What Hindsight's interface sees in a zone."""

    def __init__(self, zone: Zone) -> None:
        self._held = zone

    # Retaining

    def retain(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        operation_id: str | None = None,
        document_tags: Sequence[str] = (),
        principal: Mapping[str, str] | None = None,
    ) -> Retained:
        """Put contents into the ledger; under an `operation_id` they are put there once.

        A content of a document that is there takes its place, unless it is to be appended. Of a
        conversation each turn is its speaker's.

        Raises:
            InvalidInput: a content cannot be kept; the message says which, and which are.
        """
        operation = operation_id or secrets.token_hex(16)
        again = retained(self._held, operation=operation) if operation_id else []
        before = {event.source_event_ids[0]: event for event in again}
        events: list[dict[str, Any]] = []
        places: list[int] = []
        replaced: set[str] = set()
        for place, said_by in contents(items, operation, document_tags, before):
            item = items[place]
            document = item.get("document_id")
            if document and document not in replaced and item.get("update_mode") != "append":
                replaced.add(document)
                said_by = self._in_the_place_of(document, operation, said_by)
            events += said_by
            places += [place] * len(said_by)
        report = self._held.ingest(events, wait=False, principal=principal)
        if report.rejected:
            raise partly_kept(report, "items", places)
        return Retained(operation, report.token)

    def _in_the_place_of(
        self, document: str, operation: str, events: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return events of which the first edits what a document said, and deletions of the rest.

        What the same operation put there is the events themselves, sent again.
        """
        parts = [
            versions[0].source_event_ids[0]
            for versions in messages(retained(self._held, document_id=document))
            if versions[-1].current and said_in(versions[0]).get("operation") != operation
        ]
        if not parts:
            return events
        first, *others = events
        gone = [
            {
                **first,
                "id": f"{first['id']}-gone-{place}",
                "kind": "deletion",
                "target": part,
                "content": "",
                "metadata": {},
            }
            for place, part in enumerate(parts[1:])
        ]
        return [{**first, "kind": "edit", "target": parts[0]}, *others, *gone]

    def rewrite(self, memory_id: str, text: str, principal: Mapping[str, str] | None = None) -> str:
        """Put a text in the place of a memory; return its token.

        A content that is one memory is edited; a part of what one says is superseded by the text.

        Raises:
            UnknownId: nothing has the id.
            InvalidInput: it is no fact and no content that was retained, or the text cannot be
                kept.
        """
        held = self._current(memory_id)
        text = text_of(text, "text")
        sources = held.source_event_ids
        events = list(every(self._held, "events", source_event_ids=sources[:1]))
        said = said_in(events[0]) if events else {}
        whole = held.type == "event" or (
            len(sources) == 1 and len(self._facts_from(sources, superseded=True)) == 1
        )
        if whole and said:
            event = edit_of(self._first(events[0], said), {**said, "id": memory_id}, text)
            report = self._held.ingest(event, wait=False, principal=principal)
        elif held.type == "fact":
            newer = update_of(events[0], said, memory_id, text)
            report = replace(self._held, newer, [held.id], principal=principal)
        else:
            raise InvalidInput(
                f"memory_id: {held.id} is neither a fact nor a content that was retained; retain "
                "the correction as a content of its own"
            )
        if report.rejected:
            raise partly_kept(report, "text", [0])
        return report.token

    def _first(self, event: Memory, said: Mapping[str, Any]) -> str:
        """Return the source id under which an event was sent before it was edited."""
        name = next(one for one in ("document_id", "operation", "id") if said.get(one))
        for versions in messages(retained(self._held, **{name: str(said[name])})):
            if event.id in {version.id for version in versions}:
                return versions[0].source_event_ids[0]
        return event.source_event_ids[0]

    def set_state(self, memory_id: str, state: State) -> None:
        """Take a memory back (`invalidated`), or restore it (`valid`); what is so stays so.

        Raises:
            UnknownId: nothing has the id.
            InvalidInput: it is neither a fact nor an event, or another memory has its place.
        """
        held = self._current(memory_id)
        if held.current != (state == "valid"):
            self._held.retract(held.id, restore=state == "valid")

    def _current(self, memory_id: str) -> Memory:
        """Return a memory by its id; the text that was put in its place, if there is one.

        Raises:
            UnknownId: nothing has the id.
        """
        updates = messages(retained(self._held, id=memory_id))
        return updates[-1][-1] if updates else self._held.get_memory(memory_id)

    def _facts_from(self, source_ids: Sequence[str], *, superseded: bool = False) -> list[Memory]:
        """Return the current facts that were decided from events; `superseded`: all."""
        wanted = set(source_ids)
        found = every(self._held, "facts", source_event_ids=list(wanted), superseded=superseded)
        return [fact for fact in found if fact.source_event_ids[0] in wanted]

    # Documents and operations

    def documents(self) -> list[dict[str, Any]]:
        """Return what was retained as documents, the newest first, without their words."""
        found = [self._shown(id_, parts) for id_, parts in self._documents().items()]
        return sorted(found, key=lambda one: str(one["updated_at"]), reverse=True)

    def document(self, document_id: str) -> dict[str, Any]:
        """Return one of `documents`, with its words.

        Raises:
            UnknownId: there is none with this id.
        """
        parts = self._documents(document_id).get(document_id)
        if not parts:
            raise _no_document(document_id)
        sources = [part.source_event_ids[0] for part in parts]
        return {
            **self._shown(document_id, parts),
            "original_text": _joined(parts),
            "memory_unit_count": len(self._facts_from(sources)),
        }

    def _shown(self, document_id: str, parts: Sequence[Memory]) -> dict[str, Any]:
        said = said_in(parts[-1])
        return {
            "id": document_id,
            "content_hash": None,
            "created_at": min(part.as_of for part in parts),
            "updated_at": max(part.as_of for part in parts),
            "text_length": len(_joined(parts)),
            "document_metadata": said.get("metadata"),
            "tags": said.get("tags") or [],
        }

    def _documents(self, document_id: str | None = None) -> dict[str, list[Memory]]:
        """Return the parts of each document as they are now, in order."""
        wanted = {} if document_id is None else {"document_id": document_id}
        found: dict[str, list[Memory]] = defaultdict(list)
        for versions in messages(retained(self._held, **wanted)):
            said = said_in(versions[-1])
            # What took the place of a memory is beside the document that it was taken from.
            if is_update(said):
                continue
            if versions[-1].current and (of := said.get("document_id")):
                found[str(of)].append(versions[-1])
        return {of: sorted(parts, key=order) for of, parts in found.items()}

    def events_of_document(self, document_id: str) -> list[str]:
        """Return the ids of all that a document ever said.

        Raises:
            UnknownId: there is none with this id.
        """
        found = [event.id for event in retained(self._held, document_id=document_id)]
        if not found:
            raise _no_document(document_id)
        return found

    def operations(self) -> list[dict[str, Any]]:
        """Return what was retained, the newest first, each with whether it is decided."""
        found: dict[str, list[Memory]] = defaultdict(list)
        for event in retained(self._held):
            if operation := said_in(event).get("operation"):
                found[operation].append(event)
        return [_operation(id_, events) for id_, events in reversed(found.items())]

    def operation(self, id_: str) -> dict[str, Any]:
        """Return one of `operations`.

        Raises:
            UnknownId: there is none with this id.
        """
        events = retained(self._held, operation=id_)
        if not events:
            raise UnknownId(f"no operation has the id {id_!r}, or what it retained was forgotten")
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
        fits: TagPredicate | None = None,
        min_score: float = 0.0,
        window: tuple[int, int] | None = None,
    ) -> list[dict[str, Any]]:
        """Return memories, best first, whose texts take `max_tokens` at most.

        What has been replaced is left out. Where observations alone are wanted, the facts that none
        rests on stand for themselves. `window`, in unix ms: what was said then comes first.
        """
        wanted = set(types or ("world", "experience", "observation"))
        scope: list[Scope] = [*(("events", "facts") if "world" in wanted else ())]
        if "observation" in wanted:
            scope += ["observations", *(() if "world" in wanted else ("facts",))]
        if not scope or not self._held.exists():
            return []
        asked = Query(
            query=query,
            max_results=_RESULTS[budget],
            max_tokens=max_tokens,
            budget=budget,
            scope=tuple(scope),
            asked_at=None if asked_at is None else moment(asked_at, "query_timestamp"),
            min_score=min_score,
            source_event_ids=self._among(fits),
        )
        found = self._held.recall(asked).results
        if window is not None:
            first = self._held.recall(asked, time_after=window[0] - 1, time_before=window[1] + 1)
            found = _with_room(first.results, found, max_tokens)
        events = self._events_of(found)
        return [
            _fields(result, said_by, as_observation="world" not in wanted)
            for result, said_by in ((result, events[result.id]) for result in found)
            if not result.is_stale
            and not any(said_in(event).get("kind") == BANK for event in said_by)
        ]

    def _among(self, fits: TagPredicate | None) -> tuple[str, ...] | None:
        """Return the source ids of the events whose tags fit; None: all do."""
        if fits is None:
            return None
        # Only what was retained has tags.
        platform = None if fits(set()) else PLATFORM
        return tuple(
            event.source_event_ids[0]
            for event in every(self._held, "events", platform=platform)
            if fits(tags_of(event))
        )

    def _events_of(self, found: Sequence[Result] | Sequence[Memory]) -> dict[str, list[Memory]]:
        """Return what was retained of the events that memories come from, by the memories' ids."""
        sources = sorted({source for item in found for source in item.source_event_ids})
        events = {
            event.source_event_ids[0]: event
            for event in every(self._held, "events", platform=PLATFORM, source_event_ids=sources)
        }
        return {
            item.id: [events[source] for source in item.source_event_ids if source in events]
            for item in found
        }

    def reflect(
        self, query: str, *, budget: Budget, max_tokens: int, fits: TagPredicate | None = None
    ) -> tuple[str, list[Result]]:
        """Return a report of `max_tokens` at most, and what it cites."""
        if not self._held.exists():
            return "", []
        found = self._held.reflect(
            query,
            source_event_ids=self._among(fits),
            max_results=_RESULTS[budget],
            max_tokens=max_tokens,
        )
        return found.text, found.results

    # Listing

    def listed(self, wanted: Listing, *, offset: int, limit: int) -> tuple[list[Any], int]:
        """Return some facts and observations, each the newest first, and how many there are."""
        if wanted.time_field not in (None, *_TIMES):
            return [], 0
        text = None if wanted.containing is None else wanted.containing.casefold()
        found = [
            item
            for item in self._every(wanted)
            if (text is None or text in item.text.casefold()) and _within(item, wanted)
        ]
        page = found[offset : offset + limit]
        events = self._events_of(page)
        return [_unit(item, events[item.id]) for item in page], len(found)

    def _every(self, wanted: Listing) -> Iterator[Memory]:
        among = self._sources(wanted)
        if wanted.type in (None, "world"):
            narrowed: dict[str, Any] = {}
            if among is not None:
                narrowed["source_event_ids"] = list(among)
            if wanted.entity_id is not None:
                narrowed["entity"] = wanted.entity_id
            facts = every(self._held, "facts", superseded=wanted.invalidated, **narrowed)
            yield from (fact for fact in facts if fact.current != wanted.invalidated)
        if wanted.type in (None, "observation") and wanted.entity_id is None:
            for item in every(self._held, "observations", superseded=wanted.invalidated):
                rests_on = set(item.source_event_ids)
                if item.current != wanted.invalidated and (among is None or rests_on <= among):
                    yield item

    def _sources(self, wanted: Listing) -> set[str] | None:
        """Return the source ids of the events that are meant; None: all are."""
        among = self._among(wanted.fits)
        if wanted.document_id is None:
            return None if among is None else set(among)
        of_document = {
            event.source_event_ids[0]
            for event in retained(self._held, document_id=wanted.document_id)
        }
        return of_document if among is None else of_document & set(among)

    def unit(self, id_: str) -> dict[str, Any]:
        """Return a memory of any kind by its id.

        Raises:
            UnknownId: nothing has it.
        """
        held = self._current(id_)
        return {**_unit(held, self._events_of([held])[held.id]), "id": id_}

    def tags(self, wildcards: str | None) -> list[tuple[str, int]]:
        """Return the tags of what was retained, each with how many memories have it."""
        current = [versions[-1] for versions in messages(retained(self._held))]
        tagged = [event for event in current if event.current and tags_of(event)]
        sources = {event.source_event_ids[0]: event for event in tagged}
        facts = Counter(fact.source_event_ids[0] for fact in self._facts_from(list(sources)))
        counts: Counter[str] = Counter()
        for source, event in sources.items():
            for tag in tags_of(event):
                # What no fact was decided from is one memory, as it was said.
                counts[tag] += facts[source] or 1
        fits = None if wildcards is None else pattern(wildcards)
        found = [one for one in counts.items() if fits is None or fits.fullmatch(one[0])]
        return sorted(found, key=lambda one: (-one[1], one[0]))


def _with_room(first: Sequence[Result], others: Sequence[Result], max_tokens: int) -> list[Result]:
    """Return results and those of others that surely fit with them: a token is a byte or more."""
    found = list(first)
    ids = {result.id for result in first}
    left = max_tokens - sum(_bytes(result) for result in first)
    for result in others:
        if result.id not in ids and _bytes(result) <= left:
            left -= _bytes(result)
            found.append(result)
    return found


def _bytes(result: Result) -> int:
    return len(result.text.encode()) + sum(len(fact.text.encode()) for fact in result.facts)


def _no_document(document_id: str) -> UnknownId:
    return UnknownId(f"no document has the id {document_id[:200]!r}")


def _joined(parts: Sequence[Memory]) -> str:
    """Return the words of a document's parts; turns of one conversation as they stood in it."""
    texts: list[str] = []
    last: tuple[object, object] | None = None
    for part in parts:
        said = said_in(part)
        of = (said.get("operation"), (said.get("place") or [None])[0])
        text = f"{said.get('before', '')}{part.text}{said.get('after', '')}"
        if of == last and "before" in said:
            texts[-1] += text
        else:
            texts.append(text)
        last = of
    return "\n".join(text.rstrip("\n") for text in texts)


def _operation(id_: str, events: Sequence[Memory]) -> dict[str, Any]:
    places = {tuple(said_in(event).get("place") or ())[:1] for event in events}
    return {
        "id": id_,
        "operation_id": id_,
        "task_type": "retain",
        "operation_type": "retain",
        "items_count": len(places) if () not in places else len(events),
        "document_id": said_in(events[0]).get("document_id"),
        "created_at": str(said_in(events[0]).get("at") or events[0].as_of),
        "status": "completed" if all(event.decided for event in events) else "pending",
        "error_message": None,
    }


def _within(item: Memory, wanted: Listing) -> bool:
    if wanted.since is None and wanted.until is None:
        return True
    at = moment(item.as_of, "as_of")
    return (wanted.since is None or at >= wanted.since) and (
        wanted.until is None or at < wanted.until
    )


def _unit(item: Memory, events: Sequence[Memory]) -> dict[str, Any]:
    said = said_in(events[0]) if events and item.type in ("event", "fact") else {}
    return {
        "id": item.id,
        "text": item.text,
        "context": said.get("context") or "",
        "date": item.as_of,
        "mentioned_at": item.as_of,
        "fact_type": _type(item.type),
        "entities": ", ".join(item.entities),
        "document_id": said.get("document_id"),
        "metadata": said.get("metadata"),
        "tags": _tags(events),
        "state": "valid" if item.current else "invalidated",
        "source_memory_ids": [],
    }


def _fields(result: Result, events: Sequence[Memory], *, as_observation: bool) -> dict[str, Any]:
    """Return a result in Hindsight's form, with what stands beside the words it was taken from."""
    said = said_in(events[0]) if events and result.type in ("event", "fact") else {}
    rests_on = [fact.id for fact in result.facts]
    stands_for_itself = as_observation and result.type == "fact"
    return {
        "id": result.id,
        "text": result.text,
        "type": "observation" if stands_for_itself else _type(result.type),
        "entities": None,
        "context": said.get("context"),
        "occurred_start": None,
        "occurred_end": None,
        "mentioned_at": result.as_of,
        "document_id": said.get("document_id"),
        "metadata": said.get("metadata"),
        "chunk_id": None,
        "tags": _tags(events),
        "source_fact_ids": [result.id] if stands_for_itself else rests_on or None,
        "scores": {"final": result.score},
    }


def _tags(events: Iterable[Memory]) -> list[str]:
    return list(dict.fromkeys(tag for event in events for tag in said_in(event).get("tags") or ()))


def _type(type_: str) -> str:
    return type_ if type_ in ("observation", "mental_model") else "world"
