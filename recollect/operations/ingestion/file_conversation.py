"""The events of files in their order, in memory: what is known of one are those before it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from itertools import islice

import msgspec

from recollect.projections.events.event_queries import Speaker
from recollect.projections.events.events_file import conversation_of
from recollect.schemas.events import Content, Deletion, Draft, Edit, Event, Message, message_of
from recollect.schemas.ids import event_id, text_hash
from recollect.streams.agents import Conversation
from recollect.streams.agents.identity.participants import LOOKBACK_EVENTS
from recollect.streams.encoder.gateway import Annotations
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.references.who_is_meant import IN_MIND
from recollect.streams.language.relations.corrections import LOOKED_THROUGH
from recollect.streams.reader.packed_reading import unpacked

#: As many events of a conversation are looked through.
_LOOKED_THROUGH = max(IN_MIND, LOOKED_THROUGH)


class EventsOfFiles(Conversation):
    """A conversation from files: the events that were read before one."""

    def __init__(self, zone: str, kept: int = 0) -> None:
        """`kept`: how many events of a conversation are kept at least."""
        self._zone = zone
        self._number = 0
        most = max(kept, _LOOKED_THROUGH)
        self._said: dict[str, deque[Event]] = defaultdict(lambda: deque(maxlen=most))
        self._began: dict[tuple[str, str], Event] = {}
        self._spoken: dict[str, deque[Speaker]] = defaultdict(lambda: deque(maxlen=LOOKBACK_EVENTS))
        self._written: dict[tuple[str, str], deque[Event]] = defaultdict(
            lambda: deque(maxlen=LOOKBACK_EVENTS)
        )
        self._versions: dict[tuple[str, str], list[Event]] = defaultdict(list)
        #: What was read in the texts of the event at hand.
        self.readings: Annotations = {}

    def next_number(self) -> int:
        """Return the running number of what comes now."""
        self._number += 1
        return self._number

    def next_event(self, draft: Draft) -> Event:
        """Return an event that a file gives; it is added when it is done."""
        payload = draft.payload
        assert isinstance(payload, Content)
        if isinstance(payload, Message) and payload.turn_id is not None:
            # A message of a turn waits for the turn's end, which may be in no file.
            payload = msgspec.structs.replace(payload, turn_id=None)
        return Event(
            zone=self._zone,
            number=self.next_number(),
            id=event_id(self._zone, draft.platform, payload.source_id, draft.occurred_at),
            platform=draft.platform,
            occurred_at=draft.occurred_at,
            ingested_at=draft.ingested_at or draft.occurred_at,
            payload=payload,
        )

    def add(self, event: Event) -> None:
        """Add an event behind those before it."""
        if not isinstance(event.payload, Deletion):
            said = message_of(event)
            self._said[_conversation(event)].append(event)
            self._began.setdefault((_conversation(event), said.sender_id), event)
            speaker = Speaker(event.number, event.platform, said.sender_id, said.sender_name)
            self._spoken[_place(event)].append(speaker)
            self._written[event.platform, said.sender_id].append(event)
        self._versions[_message(event)].append(event)

    def preceding(self, event: Event, limit: int) -> Sequence[Event]:
        return list(islice(reversed(self._said[_conversation(event)]), limit))

    def other_channels(self, event: Event, since: int) -> Sequence[Event]:
        place = _conversation(event)
        written = self._written[event.platform, message_of(event).sender_id]
        return [
            one for one in reversed(written) if one.number >= since and _conversation(one) != place
        ]

    def first_message(self, event: Event) -> Event | None:
        return self._began.get((_conversation(event), message_of(event).sender_id))

    def participants(self, event: Event, since: int) -> Sequence[Speaker]:
        last = {
            (speaker.sender_id, speaker.sender_name): speaker
            for speaker in self._spoken[_place(event)]
            if since <= speaker.number < event.number
        }
        return sorted(last.values(), reverse=True)

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        return ()

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        versions = self._versions[_message(event)]
        return [one for one in versions if one.number < below and one.number != event.number]

    def annotation(self, text: str) -> TextReading | None:
        content = self.readings.get(text_hash(text))
        return None if content is None else unpacked(text, content)


def _message(event: Event) -> tuple[str, str]:
    """Return the platform and the id of the message that an event is, or is a version of."""
    payload = event.payload
    if isinstance(payload, Edit | Deletion):
        return event.platform, payload.target
    return event.platform, payload.source_id


def _place(event: Event) -> str:
    """Return where people meet: the peer of a platform, whatever the thread."""
    peer = message_of(event).peer_id
    return _conversation(event) if peer is None else f"{event.platform}\x1f{peer}"


def _conversation(event: Event) -> str:
    assert isinstance(event.payload, Content)
    return conversation_of(event.payload, event.platform)
