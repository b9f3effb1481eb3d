"""What Mem0's interfaces do with a zone: memories are added, found, listed, updated, deleted.

Nothing else of the zone can be reached: neither what came from other sources, nor what the filters
leave out, which are applied before anything is ranked. To update or delete a memory takes it back
and keeps what else its message says; to delete all of an owner's is to forget.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
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
    to_unix_ms,
)
from recollect.integrations.mem0.mem0_filters import (
    ANY_FIELD,
    FIELDS,
    IDS,
    OF_ONE,
    check_entity,
    check_filters,
    named,
    passes,
    required,
    unlike_fields,
)
from recollect.integrations.mem0.mem0_messages import (
    KEY,
    PLATFORM,
    Item,
    MemoryReader,
    Message,
    as_it_stands,
    messages,
    replacing,
    retracted_rest,
    said_in,
)
from recollect.integrations.thoughts import strip_reasoning
from recollect.integrations.transcripts import parse_turns

_MAX_RESULTS = 1_000
# As many candidates as Mem0 looks at, for each result and at least.
_CANDIDATES, _MIN_CANDIDATES = 4, 60
_BATCH_SIZE = 500
# So many are each looked for by their words; of more it takes less time to read all.
_FEW = 8
# Vectors are kept with sixteen levels a dimension: a cosine is right to this.
_ROUNDING = 0.01
_STEM = 4
_LONG_WORD = re.compile(rf"\w{{{_STEM},}}")
# Instructions to a model are nothing that was said.
_INSTRUCTIONS = ("system", "developer")
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


class Mem0Store:
    """The memories that Mem0's interfaces see in a zone."""

    def __init__(self, zone: Zone, *, strict: bool = True) -> None:
        """`strict`: only Mem0's fields are known; else any other is one of the metadata."""
        self._held = zone
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
        """Put messages into the ledger; `wait`: until what follows from them is decided.

        `at`: when they were said, also in unix seconds. `expiration_date` (YYYY-MM-DD): the last
        day on which they are found.

        Raises:
            InvalidInput: there is nothing to add, or a message cannot be kept; it says which are.
        """
        batch = secrets.token_hex(16)
        said = {
            **owner.filters,
            "infer": bool(infer),
            "batch": batch,
            "expiration_date": _day(expiration_date),
            "metadata": _own(metadata),
        }
        events = dict(_events(_listed(messages), owner, said, to_unix_ms(at, "timestamp")))
        if not events:
            raise InvalidInput(
                f"messages: none has content and a role other than {' and '.join(_INSTRUCTIONS)}"
            )
        return Addition(batch, self._import(events, principal, wait=wait))

    def added(self, batch: str) -> list[dict[str, Any]]:
        """Return the memories that an addition came to, as far as it is decided.

        The event of one that was there already is NONE.

        Raises:
            UnknownId: nothing has this id.
        """
        found = messages(self._held, {"batch": batch}) if self._held.exists() else []
        if not found:
            raise UnknownId(f"no addition has the id {batch!r}, or it was forgotten")
        reads = MemoryReader(self._held, found).read(found)
        firsts = self._firsts([item for read in reads for item in read.items])
        came: dict[str, dict[str, Any]] = {}
        for read in reads:
            for item in read.items:
                first = firsts.get(item.id, item.id)
                event = "ADD" if first == item.id else "NONE"
                came.setdefault(first, {"id": first, "memory": item.text, "event": event})
            for item in read.again:
                came.setdefault(item.id, {"id": item.id, "memory": item.text, "event": "NONE"})
        return list(came.values())

    def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        at: Any = None,
        expiration_date: Any = KEEP,
        principal: Mapping[str, str] | None = None,
        wait: bool = False,
    ) -> Addition:
        """Put a text in the place of a memory's, and add to its metadata.

        A memory that is a part of what a message says is superseded by the text; a message that is
        a memory as it stands is edited.

        Raises:
            UnknownId: nothing has the id.
            InvalidInput: the text is empty, or cannot be kept.
        """
        item = self._item(memory_id)
        message = item.message
        if text is not None and (not isinstance(text, str) or not text.strip()):
            raise InvalidInput("text is empty; give what the memory is to say, or delete it")
        said = {**message.said, "id": item.id}
        if metadata is not None:
            said["metadata"] = {**(said.get("metadata") or {}), **(_own(metadata) or {})}
        if expiration_date is not _KEEP:
            said["expiration_date"] = _day(expiration_date)
        content = item.text if text is None else text
        theirs = self._beside(item)
        others = [] if content == item.text else _targets(self._same(item, theirs))
        event = {
            "platform": PLATFORM,
            "id": f"{PLATFORM}-{secrets.token_hex(16)}",
            "sender_id": message.first.sender_id,
            "sender_name": message.first.sender_name,
            "direction": "in" if said.get("role") == "user" else "out",
            "peer_id": _peer(said),
            "session_id": said.get("run_id"),
            "occurred_at": to_unix_ms(at, "timestamp"),
            "content": content,
        }
        said["digest"] = _digest(content)
        if item.targets[0] == message.first.id:
            event |= {"kind": "edit", "target": message.source_id}
            event["metadata"] = {KEY: _without_none(said)}
            token = self._import({0: event}, principal, wait=wait or bool(others))
            self._retract(others, theirs)
            return Addition(item.id, token)
        said |= {"kind": REPLACEMENT, "infer": False, "created_at": message.created_at}
        event["metadata"] = {KEY: _without_none(said)}
        targets = [*item.targets, *others]
        report = replace(self._held, event, targets, _sources(theirs), principal)
        if report.rejected:
            raise partly_rejected(report, "text", [0])
        return Addition(item.id, report.token)

    def delete(self, memory_id: str) -> None:
        """Take a memory back: it is not concluded again, and what else its message says stays.

        Raises:
            UnknownId: nothing has the id.
        """
        item = self._item(memory_id)
        theirs = self._beside(item)
        self._retract(_targets([item, *self._same(item, theirs)]), theirs)

    def _beside(self, item: Item) -> list[Message]:
        """Return what was added for the user, the agent, the app and the run of a memory."""
        found = messages(self._held, item.message.owned)
        return [message for message in found if message.scope == item.message.scope]

    def _same(self, item: Item, theirs: Sequence[Message]) -> list[Item]:
        """Return what else of some messages is the same memory."""
        # A fact has words of its message: of most messages nothing need be read.
        stems = {word[:_STEM] for word in _LONG_WORD.findall(item.text.casefold())}
        near = [
            message
            for message in theirs
            if not stems or any(stem in message.last.text.casefold() for stem in stems)
        ]
        reads = MemoryReader(self._held, theirs).read(near)
        return [
            one
            for read in reads
            for one in read.items
            if one.same == item.same
            and (one.id, one.message.source_id) != (item.id, item.message.source_id)
        ]

    def _retract(self, ids: Iterable[str], theirs: Sequence[Message]) -> None:
        """Retract memories as these messages state them; what others say stays."""
        own = _sources(theirs)
        for id_ in ids:
            retract(self._held, id_, own)

    def delete_all(self, filters: Mapping[str, Any]) -> int:
        """Forget the messages that filters let through; return how many there were."""
        found, _ = self._matching(filters, expired=True)
        self._forget([one.first.id for one in found])
        return len(found)

    def _forget(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _BATCH_SIZE):
            self._held.forget(*ids[start : start + _BATCH_SIZE])

    def _import(
        self,
        events: Mapping[int, dict[str, Any]],
        principal: Mapping[str, str] | None,
        *,
        wait: bool,
    ) -> str:
        """Put events into the ledger, each by the place of its message; return their token."""
        report = self._held.ingest(events.values(), wait=wait, principal=principal)
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
        """Return up to `top_k` memories that filters let through, the best answers first.

        `threshold` is a cosine, as Mem0's is: of the question and what was said. Where the home has
        no encoder it leaves nothing out.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        found, chosen = self._matching(filters, expired=show_expired)
        if not found or top_k == 0:
            return []
        asked = Query(
            query=query,
            max_results=min(_MAX_RESULTS, max(_CANDIDATES * top_k, _MIN_CANDIDATES)),
            asked_at=None if asked_at is None else to_unix_ms(asked_at, "reference_date"),
            source_event_ids=tuple(one.last.source_event_ids[0] for one in found),
            explain=True,
        )
        facts = self._held.recall(asked, scope=("facts",)).results
        events = self._held.recall(asked, scope=("events",)).results
        hits = {result.id: result for result in (*facts, *events)}
        reached = {source for result in hits.values() for source in result.source_event_ids}
        near = [one for one in found if not reached.isdisjoint(one.source_ids)]
        scored = [
            (score, item)
            for read in MemoryReader(self._held, found).read(near)
            for item in read.items
            if (chosen is None or item.id in chosen)
            and (score := _score(item, hits, threshold)) is not None
        ]
        place = {id_: number for number, id_ in enumerate(hits)}
        scored.sort(key=lambda one: (-one[0], place.get(one[1].id, len(place))))
        best: dict[tuple[object, ...], dict[str, Any]] = {}
        for score, item in scored:
            best.setdefault(item.same, item.shown(score))
        return list(best.values())[:top_k]

    def listed(
        self, filters: Mapping[str, Any], *, show_expired: bool = False
    ) -> list[dict[str, Any]]:
        """Return the memories that filters let through, the newest first."""
        found, chosen = self._matching(filters, expired=show_expired)
        items: dict[tuple[object, ...], Item] = {}
        for read in MemoryReader(self._held, found).read(found):
            for item in read.items:
                if chosen is None or item.id in chosen:
                    items.setdefault(item.same, item)
        newest_first = sorted(items.values(), key=lambda item: item.message.order, reverse=True)
        return [item.shown() for item in newest_first]

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory by its id; None where nothing has it."""
        try:
            return self._item(memory_id).shown()
        except UnknownId:
            return None

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what a memory said, the first first; nothing where nothing has the id.

        The last entry of one that was deleted is its deletion, whose time is not told.
        """
        try:
            item, is_deleted = self._found(memory_id)
        except UnknownId:
            return []
        message = item.message
        said = [(one.id, one.text, one.as_of) for one in self._versions(item)]
        shown: list[dict[str, Any]] = [
            {
                "id": id_,
                "memory_id": item.id,
                "old_memory": said[place - 1][1] if place else None,
                "new_memory": text,
                "event": "UPDATE" if place else "ADD",
                "created_at": said[0][2],
                "updated_at": at,
                "is_deleted": False,
                "actor_id": message.said.get("actor_id"),
                "role": message.said.get("role"),
                "user_id": message.said.get("user_id"),
            }
            for place, (id_, text, at) in enumerate(said)
        ]
        if is_deleted:
            gone = {"old_memory": item.text, "new_memory": None, "event": "DELETE"}
            shown.append(
                {**shown[-1], **gone, "id": f"{item.id}-deleted"}
                | {"updated_at": None, "is_deleted": True}
            )
        return shown

    def _versions(self, item: Item) -> Sequence[Memory]:
        """Return what a memory said, with the facts that it replaced, and that replaced it."""
        message = item.message
        if not message.is_replacement:
            return message.versions if message.whole else self._of_part(item)
        try:
            first, _ = self._added(item.id)
        except UnknownId:
            return message.versions
        before = list(self._of_part(first))
        until = [one.id for one in before].index(first.id) if before else -1
        return [*before[: until + 1], *message.versions]

    def _of_part(self, item: Item) -> list[Memory]:
        """Return the versions of a memory that is a part of a message, of whom it is."""
        held = self._held.get_memory(item.id)
        if held.type != "fact":
            return [msgspec.structs.replace(held, text=item.text)]
        family = [self._held.get_memory(one.id) for one in self._held.history(item.id)]
        first = [one.source_event_ids[0] for one in family]
        theirs = {
            event.source_event_ids[0]
            for event in list_all(self._held, "events", source_event_ids=first)
            if said_in(event) and Message([event]).whose == item.message.whose
        }
        return [
            one
            for one in family
            if one.id == item.id or (one.source_event_ids[0] in theirs and not one.retracted)
        ]

    def owners(self) -> list[dict[str, Any]]:
        """Return the users, agents, apps and runs of which there are memories."""
        found: dict[tuple[str, str], list[Message]] = {}
        count: Counter[tuple[str, str]] = Counter()
        added = messages(self._held, {})
        for message, read in zip(added, MemoryReader(self._held, added).read(added), strict=True):
            for name in IDS:
                if value := message.said.get(name):
                    owner = (name.removesuffix("_id"), value)
                    found.setdefault(owner, []).append(message)
                    count[owner] += len(read.items)
        return [
            {
                "id": name,
                "name": name,
                "type": kind,
                "total_memories": count[kind, name],
                "created_at": min(one.created_at for one in theirs),
                "updated_at": max(one.last.as_of for one in theirs),
            }
            for (kind, name), theirs in sorted(found.items())
        ]

    def _matching(
        self, filters: Mapping[str, Any], *, expired: bool
    ) -> tuple[list[Message], set[str] | None]:
        """Return the messages that filters let through, and which memories of them; None: all.

        Raises:
            InvalidInput: a filter is not known.
        """
        check_filters(filters, known=FIELDS if self._strict else ANY_FIELD)
        found = messages(self._held, required(filters))
        asked = named(filters)
        if not self._strict:
            # Metadata may stand beside the fields, so that a slip is known only by what is held.
            held = {name for one in found for name in one.said.get("metadata") or ()}
            check_filters(filters, known={*FIELDS, *held, *unlike_fields(asked)})
        today = datetime.now(UTC).date().isoformat()
        found = [one for one in found if expired or not one.expired(today)]
        if "categories" in asked and found and not any("categories" in one.fields for one in found):
            raise InvalidInput(
                "filters: no memory here has categories; give them in the metadata, as categories"
            )
        if asked.isdisjoint(OF_ONE):
            return [one for one in found if passes(filters, one.filtered)], None
        chosen: dict[str, Message] = {}
        for read in MemoryReader(self._held, found).read(found):
            for item in read.items:
                if passes(filters, item.fields):
                    chosen[item.id] = item.message
        kept = {message.source_id for message in chosen.values()}
        return [one for one in found if one.source_id in kept], set(chosen)

    def _firsts(self, items: Sequence[Item]) -> dict[str, str]:
        """Return the ids of the memories that some are which were added before, by their ids."""
        if not items:
            return {}
        owned = items[0].message.owned
        said = [item for item in items if item.id in (item.message.id, item.message.first.id)]
        if len(said) > _FEW:
            held = messages(self._held, owned)
        else:
            digests = {str(item.message.said.get("digest")) for item in said}
            held = [
                *(
                    one
                    for digest in sorted(digests)
                    for one in messages(self._held, {**owned, "digest": digest})
                ),
                *replacing(self._held, owned),
            ]
        first: dict[tuple[object, ...], str] = {}
        for message in held:
            if message.last.current and not message.last.retracted_parts:
                first.setdefault(as_it_stands(message).same, message.id)
        whole = {item.id: as_it_stands(item.message).same for item in said}
        found = (
            (item.id, first.get(item.same) or first.get(whole.get(item.id, ()))) for item in items
        )
        return {id_: first_id for id_, first_id in found if first_id is not None}

    def _item(self, memory_id: str) -> Item:
        """Return a memory by its id.

        Raises:
            UnknownId: nothing has it, or it was deleted.
        """
        item, is_deleted = self._found(memory_id)
        if is_deleted:
            raise _unknown(memory_id)
        return item

    def _found(self, memory_id: str) -> tuple[Item, bool]:
        """Return a memory by its id, and whether it was deleted.

        Raises:
            UnknownId: nothing has it.
        """
        if not isinstance(memory_id, str):
            raise InvalidInput(f"memory_id is {type(memory_id).__name__}; give a text")
        for message in replacing(self._held, {"id": memory_id}):
            return as_it_stands(message), not message.last.current
        return self._added(memory_id)

    def _added(self, memory_id: str) -> tuple[Item, bool]:
        """Return a memory as it was added, by its id, and whether it was taken back.

        Raises:
            UnknownId: nothing has it.
        """
        try:
            held = self._held.get_memory(memory_id)
        except InvalidInput:
            raise _unknown(memory_id) from None
        events = [held]
        if held.type == "fact":
            source = held.source_event_ids[:1]
            events = list(
                list_all(self._held, "events", platform=PLATFORM, source_event_ids=source)
            )
        for event in events:
            batch = said_in(event).get("batch") if event.type == "event" else None
            for message in messages(self._held, {"batch": batch}) if batch else ():
                if event.id in {version.id for version in message.versions}:
                    return self._item_of(message, held)
        raise _unknown(memory_id)

    def _item_of(self, message: Message, held: Memory) -> tuple[Item, bool]:
        """Return the memory of a message that is held as a fact, or as the message itself."""
        if message.whole:
            return as_it_stands(message), not message.last.current
        if held.type == "fact":
            return Item(held.id, held.text, message), held.retracted
        (read,) = MemoryReader(self._held, [message]).read([message])
        for item in read.items:
            if item.id == held.id:
                return item, False
        if rest := retracted_rest(message):
            return Item(held.id, rest, message), True
        return as_it_stands(message), not message.last.current


def _unknown(memory_id: str) -> UnknownId:
    return UnknownId(f"no memory has the id {memory_id[:200]!r}")


def _score(item: Item, hits: Mapping[str, Result], threshold: float) -> float | None:
    """Return how well a memory answers; None where it was not found, or is too unlike."""
    message = item.message
    found = [hits[id_] for id_ in dict.fromkeys((item.id, message.last.id)) if id_ in hits]
    if message.is_replacement:
        # Its id is that of what it replaced, which may be a message with other memories.
        found = [hit for hit in found if hit.type == "fact" or hit.id == message.last.id][::-1]
    near = [hit.similarity for hit in found if hit.similarity is not None]
    if not found or (near and max(near) < threshold - _ROUNDING):
        return None
    return found[0].score


def _sources(messages: Iterable[Message]) -> set[str]:
    """Return the ids under which messages and their edits were sent."""
    return {id_ for message in messages for id_ in message.source_ids}


def _targets(items: Iterable[Item]) -> list[str]:
    """Return the ids of what is retracted with some memories, each once."""
    return list(dict.fromkeys(id_ for item in items for id_ in item.targets))


def _listed(messages: Any) -> list[Any]:
    if isinstance(messages, str):
        said_by = parse_turns(messages)
        # Only what an assistant says is no user's: to Mem0 a name before a line is a part of it.
        if not any(turn.is_assistant for turn in said_by):
            return [{"role": "user", "content": messages}]
        return [
            {
                "role": "assistant" if turn.is_assistant else "user",
                "content": turn.content,
                "name": turn.name,
            }
            for turn in said_by
        ]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, list):
        return messages
    raise InvalidInput(
        f"messages is {type(messages).__name__}; give a text, a message, or a list of messages"
    )


def _events(
    messages: Iterable[Any], owner: Owner, said: dict[str, Any], at: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what messages are as events, each with the place of its message."""
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise InvalidInput(f"messages[{place}] is {type(message).__name__}; give an object")
        role, text = message.get("role"), _text(message.get("content"))
        if role != "user":
            text = strip_reasoning(text)
        if not isinstance(role, str) or role in _INSTRUCTIONS or not text.strip():
            continue
        name = message.get("name") if isinstance(message.get("name"), str) else None
        by_user = role == "user"
        sender = (owner.user_id if by_user else owner.agent_id) or role
        of_one = {"role": role, "actor_id": name, "place": place, "digest": _digest(text)}
        yield (
            place,
            {
                "platform": PLATFORM,
                "id": f"{PLATFORM}-{secrets.token_hex(16)}",
                "sender_id": f"{sender}/{name}" if name else sender,
                "sender_name": name,
                "direction": "in" if by_user else "out",
                "peer_id": _peer(said),
                "session_id": owner.run_id,
                "occurred_at": at,
                "content": text,
                "metadata": {KEY: _without_none({**said, **of_one})},
            },
        )


def _peer(said: Mapping[str, Any]) -> str | None:
    """Return whose conversation it is, so that nobody's words explain another's."""
    return said.get("user_id") or said.get("agent_id")


def _digest(text: str) -> str:
    """Return what is equal of equal words."""
    folded = text.strip().casefold().encode("utf-8", "replace")
    return hashlib.md5(folded, usedforsecurity=False).hexdigest()


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


def _day(value: Any) -> str | None:
    if value is None:
        return None
    text = value.isoformat() if isinstance(value, date) else value
    try:
        return date.fromisoformat(str(text)[:10]).isoformat()
    except ValueError:
        raise InvalidInput(f"expiration_date {str(value)[:40]!r}: give a day, YYYY-MM-DD") from None
