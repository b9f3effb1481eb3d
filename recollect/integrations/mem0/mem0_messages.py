"""Messages added through Mem0's interfaces, and the memories that they consist of.

A message is an event of the platform `mem0`, whose metadata contains its owner and the caller's
metadata. With `infer`, each current fact of the message is a memory, and the sentences that no fact
covers (the remainder) form a further one. Without `infer`, and after an edit, the whole message is
one memory. Retracted memories are left out. The replacement of a memory keeps its id.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from recollect import Memory, Zone, uncovered
from recollect.integrations.facade_kit import REPLACEMENT, group_versions, is_replacement, list_all
from recollect.integrations.mem0.mem0_filters import IDS

PLATFORM = "mem0"
#: The metadata key of Mem0's fields.
KEY = "mem0"
_SHOWN_FIELDS = (*IDS, "actor_id", "role", "expiration_date")


class Message:
    """A message with all its versions, oldest first."""

    def __init__(self, versions: Sequence[Memory]) -> None:
        self.versions = versions
        self.first, self.last = versions[0], versions[-1]
        self.stored = mem0_fields(self.last)

    @property
    def source_id(self) -> str:
        """The source id of the first version."""
        return self.first.source_event_ids[0]

    @property
    def is_replacement(self) -> bool:
        """Whether the message replaces a memory of another message."""
        return is_replacement(self.stored)

    @property
    def is_one_memory(self) -> bool:
        """Whether the whole message is one memory, whatever facts it has."""
        return not self.stored.get("infer") or len(self.versions) > 1

    @property
    def current_source_id(self) -> str:
        """The source id of the current version."""
        return self.last.source_event_ids[0]

    @property
    def created_at(self) -> str:
        """The time of the memory's first version, even if this message replaced an earlier one."""
        return str(self.stored.get("created_at") or self.first.as_of)

    @property
    def id(self) -> str:
        """The id of the whole message as a memory."""
        return str(self.stored.get("id") or self.first.id)

    @property
    def owner_ids(self) -> tuple[str | None, ...]:
        """The owner: the ids of the user, the agent, the app and the run."""
        return tuple(self.stored.get(name) for name in IDS)

    @property
    def owner_ids_without_run(self) -> tuple[str | None, ...]:
        """The owner without the run."""
        return self.owner_ids[:-1]

    @property
    def owner_fields(self) -> dict[str, str]:
        """The ids of the owner by field, without absent ones."""
        return {name: self.stored[name] for name in IDS if self.stored.get(name) is not None}

    @property
    def source_ids(self) -> set[str]:
        """The source ids of all versions."""
        return {version.source_event_ids[0] for version in self.versions}

    @property
    def sort_key(self) -> tuple[str, str, int]:
        """The key that sorts messages by time, then by position in the call that added them."""
        return (self.created_at, str(self.stored.get("batch")), int(self.stored.get("place") or 0))

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The fields of the message's memories in Mem0's form, without ids and texts."""
        metadata = self.stored.get("metadata") or {}
        return {
            "metadata": metadata or None,
            "created_at": self.created_at,
            "updated_at": self.last.as_of,
            **(
                {"categories": _as_list(metadata["categories"])} if "categories" in metadata else {}
            ),
            **{
                name: self.stored[name]
                for name in _SHOWN_FIELDS
                if self.stored.get(name) is not None
            },
        }

    @property
    def filter_fields(self) -> dict[str, Any]:
        """The fields that filters apply to."""
        return {**self.fields, "timestamp": self.created_at}

    def is_expired(self, today: str) -> bool:
        """Return whether the message has expired on a day (YYYY-MM-DD)."""
        until = self.stored.get("expiration_date")
        return until is not None and until < today


class Item(NamedTuple):
    """A memory: a whole message, one of its facts, or its remainder."""

    id: str
    text: str
    message: Message

    @property
    def identity(self) -> tuple[object, ...]:
        """A key that stays the same if the memory is added again."""
        stored = self.message.stored
        text = self.text.strip().casefold()
        return (self.message.owner_ids, stored.get("role"), stored.get("actor_id"), text)

    @property
    def retraction_ids(self) -> list[str]:
        """The ids to retract: of the fact, of all message versions, or of the message's parts."""
        message = self.message
        if message.is_one_memory or self.text == message.last.text.strip():
            return [version.id for version in message.versions]
        if self.id != message.first.id:
            return [self.id]
        return _remainder_ids(message, self.text)

    @property
    def filter_fields(self) -> dict[str, Any]:
        """The fields that filters apply to."""
        return {**self.message.filter_fields, "memory_ids": self.id, "keywords": self.text}

    def in_mem0_form(self, score: float | None = None) -> dict[str, Any]:
        """Return the memory in Mem0's form."""
        digest = hashlib.md5(self.text.encode(), usedforsecurity=False).hexdigest()
        return {
            "id": self.id,
            "memory": self.text,
            "hash": digest,
            "score": score,
            **self.message.fields,
        }


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _remainder_ids(message: Message, remainder: str) -> list[str]:
    """Return the ids of the sentences of a message's remainder."""
    text, at = message.last.text, 0
    found: list[str] = []
    for sentence in remainder.split("\n"):
        start = text.find(sentence, at)
        at = start + len(sentence)
        found.append(f"{message.last.id}:{start}-{at}")
    return found


def _retracted_spans(message: Message) -> list[tuple[int, int]]:
    """Return the character spans of the retracted parts of a message."""
    bounds = (id_.rpartition(":")[2].split("-") for id_ in message.last.retracted_parts)
    return [(int(start), int(end)) for start, end in bounds]


def retracted_remainder(message: Message) -> str:
    """Return the retracted sentences of a message's remainder."""
    return "\n".join(message.last.text[start:end] for start, end in _retracted_spans(message))


def _remainder(message: Message, facts: Iterable[str]) -> str:
    """Return the sentences of a message that no fact covers and that are not retracted."""
    if not message.last.current:
        return ""
    text = message.last.text
    for start, end in reversed(_retracted_spans(message)):
        text = f"{text[:start]} {text[end:]}"
    return uncovered(text, facts)


def whole_message(message: Message) -> Item:
    """Return a message as one memory."""
    return Item(message.id, message.last.text, message)


def mem0_fields(event: Memory) -> dict[str, Any]:
    """Return Mem0's fields of an event; {} if it was not added through Mem0's interfaces."""
    fields = (event.metadata or {}).get(KEY) if event.platform == PLATFORM else None
    return fields if isinstance(fields, dict) else {}


def find_messages(zone: Zone, fields: Mapping[str, str]) -> list[Message]:
    """Return the messages with these values of Mem0's fields in all versions, sorted."""
    metadata = {f"{KEY}.{name}": value for name, value in fields.items()}
    found = list_all(zone, "events", platform=PLATFORM, metadata=metadata)
    versions = group_versions(event for event in found if mem0_fields(event))
    return sorted(map(Message, versions), key=lambda message: message.sort_key)


def find_replacements(zone: Zone, fields: Mapping[str, str]) -> list[Message]:
    """Return the messages with these fields that replace memories, sorted."""
    return find_messages(zone, {**fields, "kind": REPLACEMENT})


class MessageMemories(NamedTuple):
    """The memories of a message.

    `repeated`: memories of earlier messages that this message only repeats.
    """

    items: list[Item]
    repeated: list[Item]


class MemoryReader:
    """Reads the memories of messages; `known`: messages that need not be fetched."""

    def __init__(self, zone: Zone, known: Iterable[Message] = ()) -> None:
        self.zone = zone
        self._known = {id_: message for message in known for id_ in message.source_ids}

    def read(self, messages: Sequence[Message]) -> list[MessageMemories]:
        """Return the memories of each message, in the same order."""
        replaced = {message.id for message in self._known.values() if message.is_replacement}
        source_ids = [
            one.current_source_id for one in messages if one.is_replacement or not one.is_one_memory
        ]
        given: dict[str, list[Memory]] = defaultdict(list)
        repeated: dict[str, list[Memory]] = defaultdict(list)
        facts = list_all(self.zone, "facts", source_event_ids=source_ids, superseded=True)
        by_id = {fact.id: fact for fact in facts}
        for fact in sorted(by_id.values(), key=lambda fact: fact.id):
            first, *others = fact.source_event_ids
            given[first].append(fact)
            for other in others:
                repeated[other].append(fact)
        self._fetch(given)
        ended = self.find_ended(by_id.values())
        return [self._read(one, given, repeated, ended, replaced) for one in messages]

    def _read(
        self,
        message: Message,
        given: Mapping[str, list[Memory]],
        repeated: Mapping[str, list[Memory]],
        ended: set[str],
        replaced: set[str],
    ) -> MessageMemories:
        own = given.get(message.current_source_id, [])
        if message.is_one_memory:
            stated = [*own, *repeated.get(message.current_source_id, ())]
            has_ended = bool(stated) and all(fact.id in ended for fact in stated)
            return MessageMemories(
                [whole_message(message)] if message.last.current and not has_ended else [], []
            )
        repeats = [
            (fact, first)
            for fact in repeated.get(message.source_id, ())
            if (first := self._known.get(fact.source_event_ids[0])) is not None
            and first.owner_ids == message.owner_ids
        ]
        items = [
            Item(fact.id, fact.text, message)
            for fact in own
            if fact.id not in ended and fact.id not in replaced
        ]
        if remainder := _remainder(
            message, [fact.text for fact in (*own, *(fact for fact, _ in repeats))]
        ):
            items.append(Item(message.first.id, remainder, message))
        earlier = [
            whole_message(first) if first.is_one_memory else Item(fact.id, fact.text, first)
            for fact, first in repeats
            if fact.id not in ended
        ]
        return MessageMemories(items, earlier)

    def find_ended(self, facts: Iterable[Memory]) -> set[str]:
        """Return the ids of the facts that were retracted or superseded.

        A fact of one owner does not supersede facts of another.
        """
        ended_facts = [fact for fact in facts if not fact.current]
        newer = {change.id for fact in ended_facts for change in fact.superseded_by}
        source_of = {id_: self.zone.get_memory(id_).source_event_ids[0] for id_ in newer}
        self._fetch([*source_of.values(), *(fact.source_event_ids[0] for fact in ended_facts)])

        def owner_of(source_id: str) -> tuple[str | None, ...] | None:
            message = self._known.get(source_id)
            return None if message is None else message.owner_ids_without_run

        return {
            fact.id
            for fact in ended_facts
            if fact.retracted
            or not fact.superseded_by
            or any(
                owner_of(source_of[change.id]) == owner_of(fact.source_event_ids[0])
                for change in fact.superseded_by
            )
        }

    def _fetch(self, source_ids: Iterable[str]) -> None:
        missing = sorted({id_ for id_ in source_ids if id_ not in self._known})
        for event in list_all(self.zone, "events", source_event_ids=missing):
            if mem0_fields(event):
                self._known[event.source_event_ids[0]] = Message([event])
