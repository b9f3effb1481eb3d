"""Who takes part where something is said: a name that one of them has means that one (A15)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from recollect.projections.events.event_queries import Speaker
from recollect.schemas.events import Event, message_of
from recollect.schemas.ids import handle_row_id
from recollect.schemas.names import normalise_name
from recollect.streams.agents.agent import Surroundings
from recollect.streams.language.names.display_names import called
from recollect.text.tokenizer import bare, tokenise

#: Who wrote in one of so many events of a zone before one, and in the same place, takes part.
REACH = 400


class Present(msgspec.Struct, frozen=True):
    """An account that takes part, by its handle's row, and the normalised names that it goes by."""

    handle_id: str
    whole: str
    called: frozenset[str]


def present(text: str, event: Event, surroundings: Surroundings) -> tuple[Present, ...]:
    """Return those who take part where an event is written and may be named in its text.

    Whoever says it is not among them.
    """
    words = {bare(lower) for lower in tokenise(text).lowers}
    found: dict[tuple[str, str], Present] = {}
    for speaker in _others(surroundings.speakers(event, event.number - REACH), event):
        name = speaker.sender_name or speaker.sender_id
        names = called(name)
        if any(words.issuperset(each.split()) for each in names):
            # To ask for it is to depend on it: when it is erased, this is decided again.
            surroundings.event(speaker.number)
            handle = handle_row_id(speaker.platform, speaker.sender_id)
            found.setdefault((handle, name), Present(handle, normalise_name(name), names))
    return tuple(found.values())


def _others(speakers: Sequence[Speaker], event: Event) -> Iterable[Speaker]:
    own = message_of(event).sender_id
    return (each for each in speakers if each.sender_id != own)
