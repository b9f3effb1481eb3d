"""Participants of a conversation: a name that one of them has refers to that one (A15)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from recollect.projections.events.event_queries import Speaker
from recollect.schemas.events import Event, message_of
from recollect.schemas.ids import handle_row_id
from recollect.schemas.names import normalise_name
from recollect.streams.agents.agent import Conversation
from recollect.streams.language.names.display_names import called
from recollect.text.tokenizer import bare, tokenise

#: Whoever wrote in the same place within this many events of the zone before is a participant.
REACH = 400


class Participant(msgspec.Struct, frozen=True):
    """An account by the row of its handle, with its normalised names.

    `whole` is the display name, `called` the names that it goes by.
    """

    handle_id: str
    whole: str
    called: frozenset[str]


def named_participants(
    text: str, event: Event, conversation: Conversation
) -> tuple[Participant, ...]:
    """Return the participants, except for the sender, whom the text of an event may name."""
    words = {bare(lower) for lower in tokenise(text).lowers}
    found: dict[tuple[str, str], Participant] = {}
    for speaker in _others(conversation.participants(event, event.number - REACH), event):
        name = speaker.sender_name or speaker.sender_id
        names = called(name)
        if any(words.issuperset(each.split()) for each in names):
            # To ask for it is to depend on it: when it is erased, this is decided again.
            conversation.event(speaker.number)
            handle = handle_row_id(speaker.platform, speaker.sender_id)
            found.setdefault((handle, name), Participant(handle, normalise_name(name), names))
    return tuple(found.values())


def _others(speakers: Sequence[Speaker], event: Event) -> Iterable[Speaker]:
    own = message_of(event).sender_id
    return (each for each in speakers if each.sender_id != own)
