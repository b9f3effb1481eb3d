"""The participants of a conversation; a name in it refers to one of them if it can."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from recollect.projections.events.event_queries import Speaker
from recollect.schemas.events import Event, message_of
from recollect.schemas.ids import handle_row_id
from recollect.schemas.names import normalise_name, same_length_marks, without_hyphens
from recollect.streams.agents.agent import Conversation
from recollect.streams.language.names.display_names import called
from recollect.text.tokenizer import bare, tokenise

#: A participant wrote in the conversation within this many preceding events of the zone.
LOOKBACK_EVENTS = 400


class Participant(msgspec.Struct, frozen=True):
    """An account, by the id of its handle's row.

    `display_name` is normalised. `names`: all names by which its owner may be called, without
    hyphens.
    """

    handle_id: str
    display_name: str
    names: frozenset[str]


def named_participants(
    text: str, event: Event, conversation: Conversation
) -> tuple[Participant, ...]:
    """Return the participants that a text may name, without the sender."""
    lowers = tokenise(same_length_marks(text)).lowers
    words = {word for lower in lowers for word in bare(lower).split("-")}
    participants: dict[tuple[str, str], Participant] = {}
    for speaker in _others(conversation.participants(event, event.number - LOOKBACK_EVENTS), event):
        name = speaker.sender_name or speaker.sender_id
        names = frozenset(map(without_hyphens, called(name)))
        if any(words.issuperset(name.split()) for name in names):
            # This query makes the decision depend on the event that gave the name.
            conversation.event(speaker.number)
            handle = handle_row_id(speaker.platform, speaker.sender_id)
            participants.setdefault(
                (handle, name), Participant(handle, normalise_name(name), names)
            )
    return tuple(participants.values())


def _others(speakers: Sequence[Speaker], event: Event) -> Iterable[Speaker]:
    sender_id = message_of(event).sender_id
    return (each for each in speakers if each.sender_id != sender_id)
