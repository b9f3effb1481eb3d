"""Messages that were added through Mem0's interfaces, and the memories that each of them is.

A message that is added is an event of the platform `mem0`; whose it is, and the metadata that came
with it, stand in the event's own. Where facts were to be inferred, each current fact that was
decided from a message is a memory, and so is what the message says beside them. Else, and once it
was edited, the message is a memory as it stands. What was retracted is none; a text that took the
place of a memory has its id.
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
#: The key of an event's metadata under which Mem0's fields stand.
KEY = "mem0"
_SHOWN = (*IDS, "actor_id", "role", "expiration_date")


class Message:
    """A message with its edits, the first first."""

    def __init__(self, versions: Sequence[Memory]) -> None:
        self.versions = versions
        self.first, self.last = versions[0], versions[-1]
        self.said = said_in(self.last)

    @property
    def source_id(self) -> str:
        """The id under which it was first sent."""
        return self.first.source_event_ids[0]

    @property
    def is_replacement(self) -> bool:
        """Whether it took the place of a memory that was a part of another message."""
        return is_replacement(self.said)

    @property
    def whole(self) -> bool:
        """Whether it is a memory as it stands, whatever was decided from it."""
        return not self.said.get("infer") or len(self.versions) > 1

    @property
    def stated_in(self) -> str:
        """The source id of the version that counts."""
        return self.last.source_event_ids[0]

    @property
    def created_at(self) -> str:
        """When the memory was first said."""
        return str(self.said.get("created_at") or self.first.as_of)

    @property
    def id(self) -> str:
        """Its id as a memory."""
        return str(self.said.get("id") or self.first.id)

    @property
    def scope(self) -> tuple[str | None, ...]:
        """Whose it is: the user, the agent, the app and the run."""
        return tuple(self.said.get(name) for name in IDS)

    @property
    def whose(self) -> tuple[str | None, ...]:
        """Whose it is, in whatever run."""
        return self.scope[:-1]

    @property
    def owned(self) -> dict[str, str]:
        """The same as `scope`, by name."""
        return {name: self.said[name] for name in IDS if self.said.get(name) is not None}

    @property
    def source_ids(self) -> set[str]:
        """The ids under which its versions were sent."""
        return {version.source_event_ids[0] for version in self.versions}

    @property
    def order(self) -> tuple[str, str, int]:
        """Where it stands among others: by its time, and within what was added together."""
        return (self.created_at, str(self.said.get("batch")), int(self.said.get("place") or 0))

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What the memories in it have beside their ids and texts."""
        metadata = self.said.get("metadata") or {}
        return {
            "metadata": metadata or None,
            "created_at": self.created_at,
            "updated_at": self.last.as_of,
            **({"categories": _listed(metadata["categories"])} if "categories" in metadata else {}),
            **{name: self.said[name] for name in _SHOWN if self.said.get(name) is not None},
        }

    @property
    def filtered(self) -> dict[str, Any]:
        """What filters look at."""
        return {**self.fields, "timestamp": self.created_at}

    def expired(self, today: str) -> bool:
        """Return whether it is hidden as from a day (YYYY-MM-DD)."""
        until = self.said.get("expiration_date")
        return until is not None and until < today


class Item(NamedTuple):
    """A memory: a message as it stands, a fact of it, or what it says beside its facts."""

    id: str
    text: str
    message: Message

    @property
    def same(self) -> tuple[object, ...]:
        """What is equal of the same memory, however often it was added."""
        said = self.message.said
        text = self.text.strip().casefold()
        return (self.message.scope, said.get("role"), said.get("actor_id"), text)

    @property
    def targets(self) -> list[str]:
        """The ids of what is retracted with it: a fact, a message with its edits, or its parts."""
        message = self.message
        if message.whole or self.text == message.last.text.strip():
            return [version.id for version in message.versions]
        if self.id != message.first.id:
            return [self.id]
        return _parts(message, self.text)

    @property
    def fields(self) -> dict[str, Any]:
        """What filters look at."""
        return {**self.message.filtered, "memory_ids": self.id, "keywords": self.text}

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


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _parts(message: Message, rest: str) -> list[str]:
    """Return the ids of the parts of a message that are what it says beside its facts."""
    text, at = message.last.text, 0
    found: list[str] = []
    for sentence in rest.split("\n"):
        start = text.find(sentence, at)
        at = start + len(sentence)
        found.append(f"{message.last.id}:{start}-{at}")
    return found


def _places(message: Message) -> list[tuple[int, int]]:
    """Return where the parts of a message stand that were retracted, in characters."""
    ends = (id_.rpartition(":")[2].split("-") for id_ in message.last.retracted_parts)
    return [(int(start), int(end)) for start, end in ends]


def retracted_rest(message: Message) -> str:
    """Return what was retracted of what a message says beside its facts."""
    return "\n".join(message.last.text[start:end] for start, end in _places(message))


def _rest(message: Message, facts: Iterable[str]) -> str:
    """Return what a message says beside its facts, but for what was retracted."""
    if not message.last.current:
        return ""
    text = message.last.text
    for start, end in reversed(_places(message)):
        text = f"{text[:start]} {text[end:]}"
    return uncovered(text, facts)


def as_it_stands(message: Message) -> Item:
    """Return the memory that a message is by itself."""
    return Item(message.id, message.last.text, message)


def said_in(event: Memory) -> dict[str, Any]:
    """Return Mem0's fields of an event; none of one that did not come through its interfaces."""
    said = (event.metadata or {}).get(KEY) if event.platform == PLATFORM else None
    return said if isinstance(said, dict) else {}


def messages(zone: Zone, said: Mapping[str, str]) -> list[Message]:
    """Return the messages of which all versions say this, in order."""
    wanted = {f"{KEY}.{name}": value for name, value in said.items()}
    found = list_all(zone, "events", platform=PLATFORM, metadata=wanted)
    versions = group_versions(event for event in found if said_in(event))
    return sorted(map(Message, versions), key=lambda message: message.order)


def replacing(zone: Zone, said: Mapping[str, str]) -> list[Message]:
    """Return the texts that took the place of memories, as messages that say this."""
    return messages(zone, {**said, "kind": REPLACEMENT})


class Read(NamedTuple):
    """A message's memories, and those of earlier messages that it only says again."""

    items: list[Item]
    again: list[Item]


class MemoryReader:
    """Reads which memories messages are; `known` are messages that need not be fetched."""

    def __init__(self, zone: Zone, known: Iterable[Message] = ()) -> None:
        self._held = zone
        self._known = {id_: message for message in known for id_ in message.source_ids}

    def read(self, some: Sequence[Message]) -> list[Read]:
        """Return the memories of messages, in their order."""
        replaced = {message.id for message in self._known.values() if message.is_replacement}
        asked = [one.stated_in for one in some if one.is_replacement or not one.whole]
        given: dict[str, list[Memory]] = defaultdict(list)
        repeated: dict[str, list[Memory]] = defaultdict(list)
        facts = list_all(self._held, "facts", source_event_ids=asked, superseded=True)
        by_id = {fact.id: fact for fact in facts}
        for fact in sorted(by_id.values(), key=lambda fact: fact.id):
            first, *others = fact.source_event_ids
            given[first].append(fact)
            for other in others:
                repeated[other].append(fact)
        self._fetch(given)
        ended = self.ended(by_id.values())
        return [self._read(one, given, repeated, ended, replaced) for one in some]

    def _read(
        self,
        message: Message,
        given: Mapping[str, list[Memory]],
        repeated: Mapping[str, list[Memory]],
        ended: set[str],
        replaced: set[str],
    ) -> Read:
        own = given.get(message.stated_in, [])
        if message.whole:
            stated = [*own, *repeated.get(message.stated_in, ())]
            over = bool(stated) and all(fact.id in ended for fact in stated)
            return Read([as_it_stands(message)] if message.last.current and not over else [], [])
        again = [
            (fact, first)
            for fact in repeated.get(message.source_id, ())
            if (first := self._known.get(fact.source_event_ids[0])) is not None
            and first.scope == message.scope
        ]
        items = [
            Item(fact.id, fact.text, message)
            for fact in own
            if fact.id not in ended and fact.id not in replaced
        ]
        if rest := _rest(message, [fact.text for fact in (*own, *(fact for fact, _ in again))]):
            items.append(Item(message.first.id, rest, message))
        earlier = [
            as_it_stands(first) if first.whole else Item(fact.id, fact.text, first)
            for fact, first in again
            if fact.id not in ended
        ]
        return Read(items, earlier)

    def ended(self, facts: Iterable[Memory]) -> set[str]:
        """Return the ids of facts that are over: retracted, or another has taken their place.

        What another person said ends none.
        """
        over = [fact for fact in facts if not fact.current]
        newer = {change.id for fact in over for change in fact.superseded_by}
        said_in_ = {id_: self._held.get_memory(id_).source_event_ids[0] for id_ in newer}
        self._fetch([*said_in_.values(), *(fact.source_event_ids[0] for fact in over)])

        def whose(source_id: str) -> tuple[str | None, ...] | None:
            message = self._known.get(source_id)
            return None if message is None else message.whose

        return {
            fact.id
            for fact in over
            if fact.retracted
            or not fact.superseded_by
            or any(
                whose(said_in_[change.id]) == whose(fact.source_event_ids[0])
                for change in fact.superseded_by
            )
        }

    def _fetch(self, source_ids: Iterable[str]) -> None:
        lacking = sorted({id_ for id_ in source_ids if id_ not in self._known})
        for event in list_all(self._held, "events", source_event_ids=lacking):
            if said_in(event):
                self._known[event.source_event_ids[0]] = Message([event])
