"""Mem0's operations on a zone: add, search, list, update and delete memories.

They see only memories that were added through Mem0's interfaces. Filters are applied before
ranking. Updating or deleting a memory retracts it and keeps the rest of its message; deleting all
memories of an owner erases their messages.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import msgspec

from recollect import InvalidInput, Memory, Query, Result, UnknownId, Zone
from recollect.integrations.facade_kit import (
    REPLACEMENT,
    list_all,
    partly_rejected,
    replace,
    retract,
    time_of_edit,
    to_unix_ms,
)
from recollect.integrations.mem0.mem0_filters import (
    ANY_FIELD,
    FIELDS,
    IDS,
    MEMORY_FIELDS,
    check_entity,
    check_filters,
    matches,
    named_fields,
    names_unlike_fields,
    required_ids,
)
from recollect.integrations.mem0.mem0_messages import (
    KEY,
    PLATFORM,
    Item,
    MemoryReader,
    Message,
    find_messages,
    find_replacements,
    mem0_fields,
    retracted_remainder,
    whole_message,
)
from recollect.integrations.thoughts import strip_reasoning
from recollect.integrations.transcripts import parse_turns

_MAX_RESULTS = 1_000
# The number of candidates per result, and the minimum number of candidates, as in Mem0.
_CANDIDATES, _MIN_CANDIDATES = 4, 60
_BATCH_SIZE = 500
# Above this number of lookups by digest, it is faster to read all messages.
_MAX_LOOKUPS = 8
# The rounding error of the cosine of stored vectors, whose components have 16 levels.
_ROUNDING = 0.01
_STEM_LENGTH = 4
_LONG_WORD = re.compile(rf"\w{{{_STEM_LENGTH},}}")
# Roles of instructions to a model, which are not stored.
_INSTRUCTIONS = ("system", "developer")
_UNCHANGED = object()
#: Passed to `update` as `expiration_date` to leave the date unchanged.
UNCHANGED: Any = _UNCHANGED


class Owner(NamedTuple):
    """The owner of memories; at least one id is given."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Owner:
        """Return the owner with the given ids.

        Raises:
            InvalidInput: no id is given, or one is invalid.
        """
        owner = cls(*(None if given.get(n) is None else check_entity(given[n], n) for n in IDS))
        if not any(owner):
            raise InvalidInput(
                "give at least one of user_id, agent_id and run_id (over HTTP also app_id)"
            )
        return owner

    @property
    def filters(self) -> dict[str, str]:
        """The filters that match the owner's memories."""
        return {name: value for name, value in self._asdict().items() if value}


class Addition(NamedTuple):
    """The result of a write: its id, and the consistency token at which its facts are decided."""

    id: str
    token: str


class Added(NamedTuple):
    """The memories of an addition, and whether all of its messages are decided."""

    memories: list[dict[str, Any]]
    is_decided: bool


class Mem0Store:
    """The memories of a zone that were added through Mem0's interfaces."""

    def __init__(self, zone: Zone, *, strict: bool = True) -> None:
        """`strict`: reject unknown fields in filters; otherwise they are metadata keys."""
        self.zone = zone
        self._strict = strict

    # Writing

    def publish(
        self,
        messages: Any,
        owner: Owner,
        *,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        at: Any = None,
        expiration_date: Any = None,
        principal: Mapping[str, str] | None = None,
        wait: bool = False,
    ) -> Addition:
        """Ingest messages; with `wait`, return once they are decided.

        `at`: the time of the messages (ISO 8601 or unix seconds). `expiration_date` (YYYY-MM-DD):
        the last day on which the memories are found.

        Raises:
            InvalidInput: there is nothing to add, or a message was rejected. The error's text lists
                the rejected and the stored messages.
        """
        batch = secrets.token_hex(16)
        stored = {
            **owner.filters,
            "infer": bool(infer),
            "batch": batch,
            "expiration_date": _day(expiration_date),
            "metadata": _without_ids(metadata),
        }
        events = dict(_events(_as_messages(messages), owner, stored, to_unix_ms(at, "timestamp")))
        if not events:
            raise InvalidInput(
                f"messages: give at least one with content and a role that is not "
                f"{' or '.join(_INSTRUCTIONS)}"
            )
        return Addition(batch, self._import(events, principal, wait=wait))

    def added(self, batch: str) -> Added:
        """Return the memories of an addition, as far as it has been decided.

        A message whose facts are yet to be extracted has no memories. A memory that existed before
        has the event NONE.

        Raises:
            UnknownId: no addition has this id.
        """
        messages = find_messages(self.zone, {"batch": batch}) if self.zone.exists() else []
        if not messages:
            raise UnknownId(
                f"no add request has the id {batch!r}, or all that it added was forgotten"
            )
        decided = [one for one in messages if one.is_one_memory or one.last.decided]
        memories = MemoryReader(self.zone, messages).read(decided)
        firsts = self._first_ids([item for of_message in memories for item in of_message.items])
        found_memories: dict[str, dict[str, Any]] = {}
        for of_message in memories:
            for item in of_message.items:
                first = firsts.get(item.id, item.id)
                event = "ADD" if first == item.id else "NONE"
                found_memories.setdefault(first, {"id": first, "memory": item.text, "event": event})
            for item in of_message.repeated:
                found_memories.setdefault(
                    item.id, {"id": item.id, "memory": item.text, "event": "NONE"}
                )
        return Added(list(found_memories.values()), len(decided) == len(messages))

    def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        at: Any = None,
        expiration_date: Any = UNCHANGED,
        principal: Mapping[str, str] | None = None,
        wait: bool = False,
    ) -> Addition:
        """Replace the text of a memory, and add to its metadata.

        If a message is a single memory, the message is edited. Otherwise the new text replaces only
        the given memory of the message.

        Raises:
            UnknownId: no memory has the id.
            InvalidInput: the text is empty or was rejected.
        """
        item = self._item(memory_id)
        message = item.message
        if text is not None and (not isinstance(text, str) or not text.strip()):
            raise InvalidInput("text is empty; give the new text, or delete the memory")
        stored = {**message.stored, "id": item.id}
        if metadata is not None:
            stored["metadata"] = {
                **(stored.get("metadata") or {}),
                **(_without_ids(metadata) or {}),
            }
        if expiration_date is not _UNCHANGED:
            stored["expiration_date"] = _day(expiration_date)
        content = item.text if text is None else text
        updated_at = to_unix_ms(at, "timestamp")
        duplicates = [] if content == item.text else _retraction_ids(self._same_memories(item))
        event = {
            "platform": PLATFORM,
            "id": f"{PLATFORM}-{secrets.token_hex(16)}",
            "sender_id": message.first.sender_id,
            "sender_name": message.first.sender_name,
            "direction": "in" if stored.get("role") == "user" else "out",
            "peer_id": _peer_id(stored),
            "session_id": stored.get("run_id"),
            "occurred_at": updated_at,
            "content": content,
        }
        stored["digest"] = _digest(content)
        if item.retraction_ids[0] == message.first.id:
            event |= {
                "kind": "edit",
                "target": message.source_id,
                "occurred_at": time_of_edit(message.versions, updated_at),
            }
            event["metadata"] = {KEY: _without_none(stored)}
            token = self._import({0: event}, principal, wait=wait or bool(duplicates))
            self._retract(duplicates, message)
            return Addition(item.id, token)
        stored |= {"kind": REPLACEMENT, "infer": False, "created_at": message.created_at}
        event["metadata"] = {KEY: _without_none(stored)}
        targets = [*item.retraction_ids, *duplicates]
        own = self._own_source_ids(targets, message)
        report = replace(self.zone, event, targets, own, principal)
        if report.rejected:
            raise partly_rejected(report, "text", [0])
        return Addition(item.id, report.token)

    def delete(self, memory_id: str) -> None:
        """Retract a memory: it is not derived again, and the rest of its message stays.

        Raises:
            UnknownId: no memory has the id.
        """
        item = self._item(memory_id)
        self._retract(_retraction_ids([item, *self._same_memories(item)]), item.message)

    def _same_memories(self, item: Item) -> list[Item]:
        """Return the other items in the owner's messages that are the same memory."""
        found = find_messages(self.zone, item.message.owner_fields)
        owners_messages = [one for one in found if one.owner_ids == item.message.owner_ids]
        # A fact shares words with its message, so most messages can be skipped.
        stems = {word[:_STEM_LENGTH] for word in _LONG_WORD.findall(item.text.casefold())}
        candidates = [
            message
            for message in owners_messages
            if not stems or any(stem in message.last.text.casefold() for stem in stems)
        ]
        memories = MemoryReader(self.zone, owners_messages).read(candidates)
        return [
            one
            for message_memories in memories
            for one in message_memories.items
            if one.identity == item.identity
            and (one.id, one.message.source_id) != (item.id, item.message.source_id)
        ]

    def _retract(self, ids: Sequence[str], message: Message) -> None:
        """Retract memories of a message's owner; the same facts of other owners stay."""
        own = self._own_source_ids(ids, message)
        for id_ in ids:
            retract(self.zone, id_, own)

    def _own_source_ids(self, ids: Sequence[str], message: Message) -> set[str]:
        """Return the source ids of memories that are messages of the same owner as `message`."""
        # An id with a colon is the id of a part of an event.
        memories = [self.zone.get_memory(id_) for id_ in ids if ":" not in id_]
        source_ids = sorted({source for memory in memories for source in memory.source_event_ids})
        return {
            event.source_event_ids[0]
            for event in list_all(
                self.zone, "events", platform=PLATFORM, source_event_ids=source_ids
            )
            if Message([event]).owner_ids == message.owner_ids
        }

    def delete_all(self, filters: Mapping[str, Any]) -> int:
        """Erase the messages that filters match; return their number."""
        found, _ = self._matching(filters, expired=True)
        self._forget([one.first.id for one in found])
        return len(found)

    def _forget(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _BATCH_SIZE):
            self.zone.forget(*ids[start : start + _BATCH_SIZE])

    def _import(
        self,
        events: Mapping[int, dict[str, Any]],
        principal: Mapping[str, str] | None,
        *,
        wait: bool,
    ) -> str:
        """Ingest events, given by the index of their message; return their consistency token."""
        report = self.zone.ingest(events.values(), wait=wait, principal=principal)
        if report.rejected:
            raise partly_rejected(report, "messages", list(events))
        return report.token

    # Reading

    def search(
        self,
        query: str,
        filters: Mapping[str, Any],
        *,
        top_k: int = 20,
        threshold: float = 0.0,
        asked_at: Any = None,
        show_expired: bool = False,
    ) -> list[dict[str, Any]]:
        """Return up to `top_k` memories that match the filters, best first.

        `threshold`: the minimum cosine between query and memory, as in Mem0. Without an encoder it
        has no effect.

        Raises:
            InvalidInput: the query is invalid.
        """
        messages, chosen = self._matching(filters, expired=show_expired)
        if not messages or top_k == 0:
            return []
        request = Query(
            query=query,
            max_results=min(_MAX_RESULTS, max(_CANDIDATES * top_k, _MIN_CANDIDATES)),
            asked_at=None if asked_at is None else to_unix_ms(asked_at, "reference_date"),
            source_event_ids=tuple(one.last.source_event_ids[0] for one in messages),
            explain=True,
        )
        facts = self.zone.recall(request, scope=("facts",)).results
        events = self.zone.recall(request, scope=("events",)).results
        hits = {result.id: result for result in (*facts, *events)}
        source_ids = {source for result in hits.values() for source in result.source_event_ids}
        candidates = [one for one in messages if not source_ids.isdisjoint(one.source_ids)]
        scored = [
            (score, item)
            for message_memories in MemoryReader(self.zone, messages).read(candidates)
            for item in message_memories.items
            if (chosen is None or item.id in chosen)
            and (score := _score(item, hits, threshold)) is not None
        ]
        place = {id_: number for number, id_ in enumerate(hits)}
        scored.sort(key=lambda one: (-one[0], place.get(one[1].id, len(place))))
        best: dict[tuple[object, ...], dict[str, Any]] = {}
        for score, item in scored:
            best.setdefault(item.identity, item.in_mem0_form(score))
        return list(best.values())[:top_k]

    def list_memories(
        self, filters: Mapping[str, Any], *, show_expired: bool = False
    ) -> list[dict[str, Any]]:
        """Return the memories that match the filters, newest first."""
        messages, chosen = self._matching(filters, expired=show_expired)
        items: dict[tuple[object, ...], Item] = {}
        for message_memories in MemoryReader(self.zone, messages).read(messages):
            for item in message_memories.items:
                if chosen is None or item.id in chosen:
                    items.setdefault(item.identity, item)
        newest_first = sorted(items.values(), key=lambda item: item.message.sort_key, reverse=True)
        return [item.in_mem0_form() for item in newest_first]

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return the memory with an id, or None."""
        try:
            return self._item(memory_id).in_mem0_form()
        except UnknownId:
            return None

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the versions of a memory, oldest first; [] if no memory has the id.

        The last entry of a deleted memory is its deletion; its time is not known.
        """
        try:
            item, is_deleted = self._find(memory_id)
        except UnknownId:
            return []
        message = item.message
        texts = [(one.id, one.text, one.as_of) for one in self._versions(item)]
        shown: list[dict[str, Any]] = [
            {
                "id": id_,
                "memory_id": item.id,
                "old_memory": texts[index - 1][1] if index else None,
                "new_memory": text,
                "event": "UPDATE" if index else "ADD",
                "created_at": texts[0][2],
                "updated_at": at,
                "is_deleted": False,
                "actor_id": message.stored.get("actor_id"),
                "role": message.stored.get("role"),
                "user_id": message.stored.get("user_id"),
            }
            for index, (id_, text, at) in enumerate(texts)
        ]
        if is_deleted:
            deletion = {"old_memory": item.text, "new_memory": None, "event": "DELETE"}
            shown.append(
                {**shown[-1], **deletion, "id": f"{item.id}-deleted"}
                | {"updated_at": None, "is_deleted": True}
            )
        return shown

    def _versions(self, item: Item) -> Sequence[Memory]:
        """Return the versions of a memory, with facts that it superseded or that supersede it."""
        message = item.message
        if not message.is_replacement:
            return message.versions if message.is_one_memory else self._fact_versions(item)
        try:
            first, _ = self._find_added(item.id)
        except UnknownId:
            return message.versions
        before = list(self._fact_versions(first))
        until = [one.id for one in before].index(first.id) if before else -1
        return [*before[: until + 1], *message.versions]

    def _fact_versions(self, item: Item) -> list[Memory]:
        """Return the versions of a fact from its owner's messages.

        The rest of a message (whatever its facts do not cover) has only one version.
        """
        memory = self.zone.get_memory(item.id)
        if memory.type != "fact":
            return [msgspec.structs.replace(memory, text=item.text)]
        family = [self.zone.get_memory(one.id) for one in self.zone.history(item.id)]
        first = [one.source_event_ids[0] for one in family]
        owners_messages = {
            event.source_event_ids[0]
            for event in list_all(self.zone, "events", source_event_ids=first)
            if mem0_fields(event)
            and Message([event]).owner_ids_without_run == item.message.owner_ids_without_run
        }
        return [
            one
            for one in family
            if one.id == item.id
            or (one.source_event_ids[0] in owners_messages and not one.retracted)
        ]

    def owners(self) -> list[dict[str, Any]]:
        """Return the users, agents, apps and runs that have memories, with their counts."""
        by_owner: dict[tuple[str, str], list[Message]] = {}
        identities: dict[tuple[str, str], set[tuple[object, ...]]] = defaultdict(set)
        added = find_messages(self.zone, {})
        for message, memories in zip(
            added, MemoryReader(self.zone, added).read(added), strict=True
        ):
            for name in IDS:
                if value := message.stored.get(name):
                    owner = (name.removesuffix("_id"), value)
                    by_owner.setdefault(owner, []).append(message)
                    identities[owner].update(item.identity for item in memories.items)
        return [
            {
                "id": name,
                "name": name,
                "type": kind,
                "total_memories": len(identities[kind, name]),
                "created_at": min(one.created_at for one in owners_messages),
                "updated_at": max(one.last.as_of for one in owners_messages),
            }
            for (kind, name), owners_messages in sorted(by_owner.items())
        ]

    def _matching(
        self, filters: Mapping[str, Any], *, expired: bool
    ) -> tuple[list[Message], set[str] | None]:
        """Return the messages that match filters, and the ids of their matching memories.

        None in place of the ids: all memories of these messages match.

        Raises:
            InvalidInput: a filter is malformed or names an unknown field.
        """
        check_filters(filters, known=FIELDS if self._strict else ANY_FIELD)
        messages = find_messages(self.zone, required_ids(filters))
        field_names = named_fields(filters)
        if not self._strict:
            # Filters may name metadata keys directly, so a typo shows only by comparison with the
            # stored keys.
            keys = {name for one in messages for name in one.stored.get("metadata") or ()}
            check_filters(filters, known={*FIELDS, *keys, *names_unlike_fields(field_names)})
        today = datetime.now(UTC).date().isoformat()
        messages = [one for one in messages if expired or not one.is_expired(today)]
        if (
            "categories" in field_names
            and messages
            and not any("categories" in one.fields for one in messages)
        ):
            raise InvalidInput(
                "filters: no memory here has `categories`; to filter on them, add memories with "
                "`categories` in their metadata"
            )
        if field_names.isdisjoint(MEMORY_FIELDS):
            return [one for one in messages if matches(filters, one.filter_fields)], None
        chosen: dict[str, Message] = {}
        for memories in MemoryReader(self.zone, messages).read(messages):
            for item in memories.items:
                if matches(filters, item.filter_fields):
                    chosen[item.id] = item.message
        kept = {message.source_id for message in chosen.values()}
        return [one for one in messages if one.source_id in kept], set(chosen)

    def _first_ids(self, items: Sequence[Item]) -> dict[str, str]:
        """Return, for memories that were added before, memory id -> its id when first added."""
        if not items:
            return {}
        owned = items[0].message.owner_fields
        whole = [item for item in items if item.id in (item.message.id, item.message.first.id)]
        if len(whole) > _MAX_LOOKUPS:
            earlier = find_messages(self.zone, owned)
        else:
            digests = {str(item.message.stored.get("digest")) for item in whole}
            earlier = [
                *(
                    one
                    for digest in sorted(digests)
                    for one in find_messages(self.zone, {**owned, "digest": digest})
                ),
                *find_replacements(self.zone, owned),
            ]
        first: dict[tuple[object, ...], str] = {}
        for message in earlier:
            if message.last.current and not message.last.retracted_parts:
                first.setdefault(whole_message(message).identity, message.id)
        by_message = {item.id: whole_message(item.message).identity for item in whole}
        pairs = (
            (item.id, first.get(item.identity) or first.get(by_message.get(item.id, ())))
            for item in items
        )
        return {id_: first_id for id_, first_id in pairs if first_id is not None}

    def _item(self, memory_id: str) -> Item:
        """Return the memory with an id.

        Raises:
            UnknownId: no memory has the id, or it was deleted.
        """
        item, is_deleted = self._find(memory_id)
        if is_deleted:
            raise _unknown(memory_id)
        return item

    def _find(self, memory_id: str) -> tuple[Item, bool]:
        """Return the current version of the memory with an id, and whether it was deleted.

        Raises:
            UnknownId: no memory has the id.
        """
        if not isinstance(memory_id, str):
            raise InvalidInput(f"memory_id is {type(memory_id).__name__}; give a string")
        for message in find_replacements(self.zone, {"id": memory_id}):
            return whole_message(message), not message.last.current
        return self._find_added(memory_id)

    def _find_added(self, memory_id: str) -> tuple[Item, bool]:
        """Return the memory with an id, without its replacements, and whether it was retracted.

        Raises:
            UnknownId: no memory has the id.
        """
        try:
            memory = self.zone.get_memory(memory_id)
        except InvalidInput:
            raise _unknown(memory_id) from None
        events = [memory]
        if memory.type == "fact":
            source = memory.source_event_ids[:1]
            events = list(list_all(self.zone, "events", platform=PLATFORM, source_event_ids=source))
        for event in events:
            batch = mem0_fields(event).get("batch") if event.type == "event" else None
            for message in find_messages(self.zone, {"batch": batch}) if batch else ():
                if event.id in {version.id for version in message.versions}:
                    return self._item_of(message, memory)
        raise _unknown(memory_id)

    def _item_of(self, message: Message, memory: Memory) -> tuple[Item, bool]:
        """Return the memory for a fact or an event of a message, and whether it was deleted."""
        if message.is_one_memory:
            return whole_message(message), not message.last.current
        if memory.type == "fact":
            return Item(memory.id, memory.text, message), memory.retracted
        (memories,) = MemoryReader(self.zone, [message]).read([message])
        for item in memories.items:
            if item.id == memory.id:
                return item, False
        if remainder := retracted_remainder(message):
            return Item(memory.id, remainder, message), True
        return whole_message(message), not message.last.current


def _unknown(memory_id: str) -> UnknownId:
    return UnknownId(f"no memory has the id {memory_id[:200]!r}")


def _score(item: Item, hits: Mapping[str, Result], threshold: float) -> float | None:
    """Return a memory's score; None if it was not found or is below the threshold."""
    message = item.message
    matches = [hits[id_] for id_ in dict.fromkeys((item.id, message.last.id)) if id_ in hits]
    if message.is_replacement:
        # A replacement has the id of the replaced memory, which may belong to another message.
        matches = [hit for hit in matches if hit.type == "fact" or hit.id == message.last.id][::-1]
    similarities = [hit.similarity for hit in matches if hit.similarity is not None]
    if not matches or (similarities and max(similarities) < threshold - _ROUNDING):
        return None
    return matches[0].score


def _retraction_ids(items: Iterable[Item]) -> list[str]:
    """Return the ids to retract for some memories, without duplicates."""
    return list(dict.fromkeys(id_ for item in items for id_ in item.retraction_ids))


def _as_messages(messages: Any) -> list[Any]:
    if isinstance(messages, str):
        parsed = parse_turns(messages)
        # Without an assistant's turn, the text is one message, as in Mem0, even if its lines begin
        # with names.
        if not any(turn.is_assistant for turn in parsed):
            return [{"role": "user", "content": messages}]
        return [
            {
                "role": "assistant" if turn.is_assistant else "user",
                "content": turn.content,
                "name": turn.name,
            }
            for turn in parsed
        ]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, list):
        return messages
    raise InvalidInput(
        f"messages is {type(messages).__name__}; give a string, a message, or a list of messages"
    )


def _events(
    messages: Iterable[Any], owner: Owner, fields: dict[str, Any], at: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the index and the event of each message that is stored."""
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise InvalidInput(f"messages[{index}] is {type(message).__name__}; give an object")
        role, text = message.get("role"), _text(message.get("content"))
        if role != "user":
            text = strip_reasoning(text)
        if not isinstance(role, str) or role in _INSTRUCTIONS or not text.strip():
            continue
        name = message.get("name") if isinstance(message.get("name"), str) else None
        by_user = role == "user"
        sender = (owner.user_id if by_user else owner.agent_id) or role
        own_fields = {"role": role, "actor_id": name, "place": index, "digest": _digest(text)}
        yield (
            index,
            {
                "platform": PLATFORM,
                "id": f"{PLATFORM}-{secrets.token_hex(16)}",
                "sender_id": f"{sender}/{name}" if name else sender,
                "sender_name": name,
                "direction": "in" if by_user else "out",
                "peer_id": _peer_id(fields),
                "session_id": owner.run_id,
                "occurred_at": at,
                "content": text,
                "metadata": {KEY: _without_none({**fields, **own_fields})},
            },
        )


def _peer_id(fields: Mapping[str, Any]) -> str | None:
    """Return the id that keeps the conversations of different owners apart."""
    return fields.get("user_id") or fields.get("agent_id")


def _digest(text: str) -> str:
    """Return a digest of a text, ignoring case."""
    folded = text.strip().casefold().encode("utf-8", "replace")
    return hashlib.md5(folded, usedforsecurity=False).hexdigest()


def _text(content: Any) -> str:
    """Return the text of a message content, which may be a list of parts."""
    if isinstance(content, Mapping):
        content = [content]
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _without_ids(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return metadata without the owner's ids, which are stored separately."""
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata is {type(metadata).__name__}; give an object")
    return {name: value for name, value in metadata.items() if name not in (*IDS, "actor_id")}


def _without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _day(value: Any) -> str | None:
    if value is None:
        return None
    text = value.isoformat() if isinstance(value, date) else value
    try:
        return date.fromisoformat(str(text)[:10]).isoformat()
    except ValueError:
        raise InvalidInput(
            f"expiration_date {str(value)[:40]!r}: give a date, YYYY-MM-DD"
        ) from None
