"""A conversation read from files: its events in memory, in order, for extraction without a home."""

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
from recollect.streams.agents.writer.message_analysis import WEEKDAY_LOOKBACK_MESSAGES
from recollect.streams.encoder.gateway import Annotations
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.references.person_references import IN_MIND
from recollect.streams.language.relations.corrections import LOOKED_THROUGH
from recollect.streams.reader.packed_reading import unpacked

# How many preceding events the rules use; for a correction, also those before the corrected event.
_RULES_LOOKBACK = max(IN_MIND, LOOKED_THROUGH + WEEKDAY_LOOKBACK_MESSAGES)


class FileConversation(Conversation):
    """The events read from files so far, as the context of the next one."""

    def __init__(self, zone: str, lookback: int = 0) -> None:
        """`lookback`: the minimum number of recent events to keep per conversation."""
        self._zone = zone
        self._number = 0
        size = max(lookback, _RULES_LOOKBACK)
        # By conversation.
        self._recent: dict[str, deque[Event]] = defaultdict(lambda: deque(maxlen=size))
        # By conversation and sender.
        self._first_messages: dict[tuple[str, str], Event] = {}
        # By peer.
        self._speakers: dict[str, deque[Speaker]] = defaultdict(
            lambda: deque(maxlen=LOOKBACK_EVENTS)
        )
        # By platform and sender.
        self._by_sender: dict[tuple[str, str], deque[Event]] = defaultdict(
            lambda: deque(maxlen=LOOKBACK_EVENTS)
        )
        # By platform and message id.
        self._versions: dict[tuple[str, str], list[Event]] = defaultdict(list)
        #: The reader's annotations of the current event's texts.
        self.readings: Annotations = {}

    def next_number(self) -> int:
        """Return the next running number."""
        self._number += 1
        return self._number

    def next_event(self, draft: Draft) -> Event:
        """Return a draft as the next event; call `add` once it is processed."""
        payload = draft.payload
        assert isinstance(payload, Content)
        if isinstance(payload, Message) and payload.turn_id is not None:
            # With a turn id, extraction would wait for the turn's end, which the files may lack.
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
        """Append a processed event."""
        if not isinstance(event.payload, Deletion):
            message = message_of(event)
            self._recent[_conversation(event)].append(event)
            self._first_messages.setdefault((_conversation(event), message.sender_id), event)
            speaker = Speaker(event.number, event.platform, message.sender_id, message.sender_name)
            self._speakers[_peer(event)].append(speaker)
            self._by_sender[event.platform, message.sender_id].append(event)
        self._versions[_message_key(event)].append(event)

    def preceding(self, event: Event, limit: int) -> Sequence[Event]:
        recent = reversed(self._recent[_conversation(event)])
        return list(islice((one for one in recent if one.number < event.number), limit))

    def other_channels(self, event: Event, since: int) -> Sequence[Event]:
        conversation = _conversation(event)
        sent = self._by_sender[event.platform, message_of(event).sender_id]
        return [
            one
            for one in reversed(sent)
            if one.number >= since and _conversation(one) != conversation
        ]

    def first_message(self, event: Event) -> Event | None:
        return self._first_messages.get((_conversation(event), message_of(event).sender_id))

    def participants(self, event: Event, since: int) -> Sequence[Speaker]:
        last = {
            (speaker.sender_id, speaker.sender_name): speaker
            for speaker in self._speakers[_peer(event)]
            if since <= speaker.number < event.number
        }
        return sorted(last.values(), reverse=True)

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        return ()

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        versions = self._versions[_message_key(event)]
        return [one for one in versions if one.number < below and one.number != event.number]

    def annotation(self, text: str) -> TextReading | None:
        content = self.readings.get(text_hash(text))
        return None if content is None else unpacked(text, content)


def _message_key(event: Event) -> tuple[str, str]:
    """Return the platform and id of the message that an event sends, edits or deletes."""
    payload = event.payload
    if isinstance(payload, Edit | Deletion):
        return event.platform, payload.target
    return event.platform, payload.source_id


def _peer(event: Event) -> str:
    """Return the peer (a chat, across its threads) of an event; without one, its conversation."""
    peer = message_of(event).peer_id
    return _conversation(event) if peer is None else f"{event.platform}\x1f{peer}"


def _conversation(event: Event) -> str:
    assert isinstance(event.payload, Content)
    return conversation_of(event.payload, event.platform)
