"""Mem0's memories as events of a zone: what is added, found, listed, updated and forgotten.

A message that is added is an event of the platform `mem0`; whose it is, and the metadata that came
with it, stand in the event's own. An update is an edit, to delete is to forget. A memory is a
message as it stands, or, where facts were to be inferred and some were decided from it, one of
these facts. Nothing else of the zone can be reached: neither what came from other sources, nor what
the filters leave out, which are applied before anything is ranked.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, NamedTuple

from recollect.home.open_zone import unix_ms
from recollect.integrations.mem0.mem0_filters import (
    IDS,
    check_entity,
    check_filters,
    passes,
    required,
)
from recollect.library.library_zone import Zone
from recollect.operations.ingestion.ingesting import EventImport, none_kept
from recollect.projections.events import annotated_events
from recollect.projections.events.annotated_events import AnnotatedEvent
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import fact_list
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.times import format_time, parse_query_time
from recollect.schemas.wire import Query, Time

PLATFORM = "mem0"
_KEY = "mem0"
_MAX_RESULTS = 1_000
_BATCH_SIZE = 500
_SECONDS_UNTIL = 100_000_000_000
_KEEP = object()
#: The value of `update`'s expiration date that leaves it as it is.
KEEP: Any = _KEEP


class Owner(NamedTuple):
    """Whose a memory is; at least one of them is given."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Owner:
        """Return whose memories are meant.

        Raises:
            InvalidInput: nobody's, or an id is none.
        """
        found = cls(*(None if given.get(n) is None else check_entity(given[n], n) for n in IDS))
        if not any(found):
            raise InvalidInput("give at least one of user_id, agent_id and run_id")
        return found

    @property
    def filters(self) -> dict[str, str]:
        """The filters that let through what is theirs."""
        return {name: value for name, value in self._asdict().items() if value}


class Addition(NamedTuple):
    """What was added: its id, and up to where the zone must be decided until facts are there."""

    id: str
    token: str


class _Message:
    """A message with its edits."""

    def __init__(self, versions: Sequence[AnnotatedEvent]) -> None:
        self.versions = versions
        self.first, self.last = versions[0], versions[-1]
        self.said: dict[str, Any] = self.last.metadata.get(_KEY) or {}

    @property
    def whole(self) -> bool:
        """Whether it is a memory as it stands, whatever was decided from it."""
        return not self.said.get("infer") or len(self.versions) > 1

    @property
    def id(self) -> str:
        """Its id as a memory."""
        return str(self.said.get("id") or self.first.id)

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What the memory has beside its id and its text."""
        kept = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "expiration_date")
        return {
            "metadata": self.said.get("metadata") or None,
            "created_at": format_time(self.first.occurred_at),
            "updated_at": format_time(self.last.occurred_at),
            **{name: self.said[name] for name in kept if self.said.get(name) is not None},
        }

    def expired(self, today: str) -> bool:
        """Return whether it is hidden as from a day (YYYY-MM-DD)."""
        until = self.said.get("expiration_date")
        return until is not None and until < today


class _Item(NamedTuple):
    """A memory: a message, or the fact with this id of it."""

    id: str
    text: str
    message: _Message

    def shown(self, score: float | None = None) -> dict[str, Any]:
        """Return it in Mem0's form."""
        digest = hashlib.md5(self.text.encode(), usedforsecurity=False).hexdigest()
        return {
            "id": self.id,
            "memory": self.text,
            "hash": digest,
            "score": score,
            **self.message.fields,
        }


class Mem0Store:
    """The memories that Mem0's interfaces see in a zone."""

    def __init__(self, zone: Zone) -> None:
        self._zone = zone

    # Writing

    def publish(
        self,
        messages: Any,
        owner: Owner,
        *,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        at: Time | float | None = None,
        expiration_date: Any = None,
        principal: Mapping[str, str] | None = None,
        wait: bool = False,
    ) -> Addition:
        """Put messages into the ledger; `wait`: until what follows from them is decided.

        `at`: when they were said, also in unix seconds. `expiration_date` (YYYY-MM-DD): the last
        day on which they are found.

        Raises:
            InvalidInput: there is nothing to add, or a message cannot be kept; then none is.
        """
        batch = secrets.token_hex(16)
        said = {
            **owner.filters,
            "infer": bool(infer),
            "batch": batch,
            "expiration_date": _day(expiration_date),
            "metadata": _own(metadata),
        }
        events = list(_events(_listed(messages), owner, said, _moment(at)))
        if not events:
            raise InvalidInput("messages: none has a role, other than system, and content")
        token = self._import(events, principal, wait=wait)
        return Addition(batch, token)

    def added(self, batch: str) -> list[dict[str, Any]]:
        """Return the memories that came of an addition, as far as it is decided.

        Raises:
            UnknownId: nothing has this id.
        """
        with self._files() as files:
            found = _messages(files, {f"$.{_KEY}.batch": batch})
            items = [item for message in found for item in _items(files, message)]
        if not items:
            raise UnknownId(f"no addition has the id {batch!r}, or it was forgotten")
        return [{"id": item.id, "memory": item.text, "event": "ADD"} for item in items]

    def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        at: Time | float | None = None,
        expiration_date: Any = KEEP,
        principal: Mapping[str, str] | None = None,
        wait: bool = False,
    ) -> Addition:
        """Put a text in the place of a memory's, and add to its metadata.

        Raises:
            InvalidInput: nothing has the id, or it is one fact of several in a message.
        """
        with self._files() as files:
            item = self._item(files, memory_id)
            message = item.message
            if not message.whole and len(_items(files, message)) > 1:
                raise InvalidInput(
                    f"{memory_id!r} is a part of what the message {message.first.id!r} says; "
                    "update that, with all that it is to say"
                )
        if text is not None and (not isinstance(text, str) or not text.strip()):
            raise InvalidInput("text is empty; give what the memory is to say, or delete it")
        said = dict(message.said)
        said["id"] = item.id
        if metadata is not None:
            said["metadata"] = {**(said.get("metadata") or {}), **(_own(metadata) or {})}
        if expiration_date is not _KEEP:
            said["expiration_date"] = _day(expiration_date)
        event = {
            "platform": PLATFORM,
            "id": f"{PLATFORM}-{secrets.token_hex(16)}",
            "kind": "edit",
            "target": message.first.source_id,
            "sender_id": message.first.sender_id,
            "direction": "in" if said.get("role") == "user" else "out",
            "peer_id": _peer(said),
            "session_id": message.first.session_id,
            "occurred_at": _moment(at),
            "content": message.last.content if text is None else text,
            "metadata": {_KEY: _without_none(said)},
        }
        return Addition(item.id, self._import([event], principal, wait=wait))

    def delete(self, memory_id: str) -> None:
        """Forget a memory: the message that it is, or comes from, with all that it says.

        Raises:
            UnknownId: nothing has the id.
        """
        with self._files() as files:
            message = self._item(files, memory_id).message
        self._zone.forget(message.first.id)

    def delete_all(self, filters: Mapping[str, Any]) -> int:
        """Forget the messages that filters let through; return how many there were."""
        check_filters(filters)
        if not self._zone.exists():
            return 0
        with self._files() as files:
            ids = [message.first.id for message in _matching(files, filters, expired=True)]
        for start in range(0, len(ids), _BATCH_SIZE):
            self._zone.forget(*ids[start : start + _BATCH_SIZE])
        return len(ids)

    def _import(
        self,
        events: list[dict[str, Any]],
        principal: Mapping[str, str] | None,
        *,
        wait: bool,
    ) -> str:
        begun: EventImport = self._zone.event_import(principal)
        begun.add(events)
        report = begun.report(wait=wait)
        if report.rejected:
            raise InvalidInput(f"messages: {none_kept(report)}")
        return report.token

    # Reading

    def search(
        self,
        query: str,
        filters: Mapping[str, Any],
        *,
        top_k: int = 20,
        threshold: float = 0.0,
        asked_at: Time | None = None,
        show_expired: bool = False,
    ) -> list[dict[str, Any]]:
        """Return up to `top_k` memories that filters let through, the best answers first.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        check_filters(filters)
        if not self._zone.exists():
            return []
        with self._files() as files:
            found = _matching(files, filters, expired=show_expired)
        among = {message.last.id: message for message in found}
        if not among or top_k == 0:
            return []
        asked = Query(
            query=query,
            max_results=min(_MAX_RESULTS, 2 * top_k),
            scope=("events", "facts"),
            min_score=threshold,
            asked_at=asked_at,
            source_event_ids=tuple(message.last.source_id for message in found),
        )
        answer = self._zone.recall(asked)
        best: dict[str, dict[str, Any]] = {}
        with self._files() as files:
            rows = fact_list.with_ids(files.memory.connection, [one.id for one in answer.results])
            said_in = {fact.id: fact.source_event_id for fact in rows}
            for result in answer.results:
                # A fact may also be said by others; here it counts for whom it was taken from.
                message = among.get(said_in.get(result.id, result.id))
                if message is None:
                    continue
                of_fact = result.id in said_in and not message.whole
                item = _Item(result.id, result.text, message) if of_fact else _as_message(message)
                best.setdefault(item.id, item.shown(result.score))
        return list(best.values())[:top_k]

    def listed(
        self,
        filters: Mapping[str, Any],
        *,
        show_expired: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the memories that filters let through, the newest first."""
        check_filters(filters)
        if not self._zone.exists():
            return []
        with self._files() as files:
            found = _matching(files, filters, expired=show_expired)
            return [item.shown() for message in reversed(found) for item in _items(files, message)]

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory by its id; None where nothing has it."""
        try:
            with self._files() as files:
                return self._item(files, memory_id).shown()
        except UnknownId:
            return None

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what a memory said, the first first; nothing where nothing has the id."""
        try:
            with self._files() as files:
                item = self._item(files, memory_id)
        except UnknownId:
            return []
        message = item.message
        texts = [version.content for version in message.versions]
        if not message.whole:
            texts[-1] = item.text
        return [
            {
                "id": version.id,
                "memory_id": item.id,
                "old_memory": texts[place - 1] if place else None,
                "new_memory": texts[place],
                "event": "UPDATE" if place else "ADD",
                "created_at": format_time(message.first.occurred_at),
                "updated_at": format_time(version.occurred_at),
                "is_deleted": False,
                "actor_id": message.said.get("actor_id"),
                "role": message.said.get("role"),
                "user_id": message.said.get("user_id"),
            }
            for place, version in enumerate(message.versions)
        ]

    def owners(self) -> list[dict[str, Any]]:
        """Return the users, agents, apps and runs of which there are memories."""
        found: dict[tuple[str, str], list[_Message]] = {}
        if not self._zone.exists():
            return []
        with self._files() as files:
            for message in _messages(files, {}):
                for name in IDS:
                    if value := message.said.get(name):
                        found.setdefault((name.removesuffix("_id"), value), []).append(message)
        return [
            {
                "id": name,
                "name": name,
                "type": kind,
                "total_memories": len(theirs),
                "created_at": format_time(min(one.first.occurred_at for one in theirs)),
                "updated_at": format_time(max(one.last.occurred_at for one in theirs)),
            }
            for (kind, name), theirs in sorted(found.items())
        ]

    @contextmanager
    def _files(self) -> Iterator[ZoneFiles]:
        zone = self._zone._zone
        with zone.open_home.at_work():
            if not zone.exists():
                raise UnknownId(f"zone {zone.name} holds nothing")
            with zone.files() as files, files.snapshot():
                yield files

    def _item(self, files: ZoneFiles, memory_id: str) -> _Item:
        if not isinstance(memory_id, str):
            raise InvalidInput(f"memory_id is {type(memory_id).__name__}; give a text")
        facts = fact_list.with_ids(files.memory.connection, [memory_id])
        ids = [fact.source_event_id for fact in facts] or [memory_id]
        for event in annotated_events.with_ids(files.events.connection, ids):
            versions = annotated_events.versions(files.events.connection, PLATFORM, event.message)
            if versions and versions[0].metadata.get(_KEY):
                message = _Message(versions)
                if facts and not message.whole:
                    return _Item(memory_id, facts[0].text, message)
                return _as_message(message)
        raise UnknownId(f"no memory has the id {memory_id!r}")


def _as_message(message: _Message) -> _Item:
    return _Item(message.id, message.last.content, message)


def _items(files: ZoneFiles, message: _Message) -> list[_Item]:
    if not message.whole:
        facts = memory.facts_from(files.memory.connection, message.first.id)
        if facts:
            return [_Item(id_, text, message) for id_, text in facts]
    return [_as_message(message)]


def _messages(files: ZoneFiles, said: Mapping[str, str]) -> list[_Message]:
    """Return the messages of which all versions say this, in order."""
    versions: dict[str, list[AnnotatedEvent]] = {}
    for event in annotated_events.of_platform(files.events.connection, PLATFORM, said):
        if event.metadata.get(_KEY):
            versions.setdefault(event.message, []).append(event)
    return [_Message(found) for found in versions.values()]


def _matching(files: ZoneFiles, filters: Mapping[str, Any], *, expired: bool) -> list[_Message]:
    today = datetime.fromtimestamp(unix_ms() / 1_000, UTC).date().isoformat()
    wanted = {f"$.{_KEY}.{name}": value for name, value in required(filters).items()}
    return [
        message
        for message in _messages(files, wanted)
        if passes(filters, message.fields) and (expired or not message.expired(today))
    ]


def _listed(messages: Any) -> list[Any]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, list):
        return messages
    raise InvalidInput(
        f"messages is {type(messages).__name__}; give a text, a message, or a list of messages"
    )


def _events(
    messages: Iterable[Any], owner: Owner, said: dict[str, Any], at: int
) -> Iterator[dict[str, Any]]:
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise InvalidInput(f"messages[{place}] is {type(message).__name__}; give an object")
        role, text = message.get("role"), _text(message.get("content"))
        if not isinstance(role, str) or role == "system" or not text.strip():
            continue
        name = message.get("name") if isinstance(message.get("name"), str) else None
        by_user = role == "user"
        sender = (owner.user_id if by_user else owner.agent_id) or role
        yield {
            "platform": PLATFORM,
            "id": f"{PLATFORM}-{secrets.token_hex(16)}",
            "sender_id": f"{sender}/{name}" if name else sender,
            "sender_name": name,
            "direction": "in" if by_user else "out",
            "peer_id": _peer(said),
            "session_id": owner.run_id,
            "occurred_at": at,
            "content": text,
            "metadata": {_KEY: _without_none({**said, "role": role, "actor_id": name})},
        }


def _peer(said: Mapping[str, Any]) -> str | None:
    """Return whose conversation it is, so that nobody's words explain another's."""
    return said.get("user_id") or said.get("agent_id")


def _text(content: Any) -> str:
    """Return the words of a message, which may have parts."""
    if isinstance(content, Mapping):
        content = [content]
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _own(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return metadata without ids: whose a memory is, is said beside it."""
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata is {type(metadata).__name__}; give an object")
    return {name: value for name, value in metadata.items() if name not in (*IDS, "actor_id")}


def _without_none(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}


def _moment(at: Time | float | None) -> int:
    """Return a time as unix ms: now, one in unix seconds, or one in words."""
    if at is None:
        return unix_ms()
    if isinstance(at, float | int) and not isinstance(at, bool) and abs(at) < _SECONDS_UNTIL:
        return int(at * 1_000)
    return parse_query_time(at, "timestamp")  # type: ignore[arg-type]


def _day(value: Any) -> str | None:
    if value is None:
        return None
    text = value.isoformat() if isinstance(value, date) else value
    try:
        return date.fromisoformat(str(text)[:10]).isoformat()
    except ValueError:
        raise InvalidInput(f"expiration_date {str(value)[:40]!r}: give a day, YYYY-MM-DD") from None
