"""Recognition of chats whose export has no id, by the name of the file and by its messages.

The file may have another name the next time: a group was renamed, a download got underscores, or
the chat came through standard input. If only the name counted, it would become another chat.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.times import parse_time
from recollect.streams.adapters.adapter import ExportFile, ExportSource, records
from recollect.streams.adapters.import_options import ChatMessage, ChatPlace, FindPlaces
from recollect.streams.adapters.input.input_files import InputEntry, UncountedInput

# The number of messages at each end of a chat that are looked up.
_SAMPLED = 32
# The number of consecutive known messages required; fewer if the chats' names are alike.
_MIN_KNOWN, _MIN_KNOWN_ALIKE = 3, 2


# Log levels, which a log has where a chat has senders: "INFO", "production.ERROR".
_LOG_LEVEL = re.compile(r"(?:.*\W)?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)")
# From this many messages on, a chat has a sender who occurs twice.
_MIN_WITHOUT_REPETITION = 3


def is_talk(senders: Iterable[str | None], *, accept_any: bool = False) -> bool:
    """Return whether messages with these senders are a chat rather than a diary or a log.

    A message without a sender has None. In a chat, senders recur; in a diary they do not:
    "2026-02-20 10:00 - Met Ada: about the boat". `accept_any`: one sender is enough, because other
    evidence shows that it is a chat.
    """
    counts = Counter(None if one and _LOG_LEVEL.fullmatch(one) else one for one in senders)
    messages = counts.total()
    people = {name: count for name, count in counts.items() if name}
    if accept_any or messages < _MIN_WITHOUT_REPETITION:
        return bool(people)
    return any(count > 1 for count in people.values())


class RecognisedChat(ExportSource):
    """A chat in one file, imported to the place that it has if the zone already has the chat.

    `place`: the place according to the file's name. `open_in` opens the file for a given place.
    `platforms`: the platforms that use its format.
    """

    def __init__(
        self,
        entry: InputEntry,
        place: ChatPlace,
        open_in: Callable[[InputEntry, ChatPlace], ExportSource],
        find: FindPlaces | None,
        platforms: Sequence[str] = (),
    ) -> None:
        self._entry = entry
        self._place = place
        self._open_in = open_in
        self._find = find
        self._platforms = platforms or (place.platform,)
        self.is_chronological = open_in(entry, place).is_chronological

    def parts(self) -> Iterator[ExportFile]:
        yield from self._open_in(self._entry, self._known_place()).parts()

    def _known_place(self) -> ChatPlace:
        if self._find is None:
            return self._place
        sample = _sample(self._open_in(UncountedInput(self._entry), self._place))
        return known_place(self._place, self._find(self._platforms, sample))


def _sample(source: ExportSource) -> list[ChatMessage]:
    """Return the first messages of a chat and the last, in order."""
    first: list[ChatMessage] = []
    last: deque[ChatMessage] = deque(maxlen=_SAMPLED)
    for _, event in records(source):
        # Skip notices and messages without text: several chats may have equal ones.
        if not isinstance(event, InboundEvent) or event.kind != "message" or not event.content:
            continue
        try:
            at, _ = parse_time(event.occurred_at, "occurred_at")
        except InvalidInput:
            continue
        message = ChatMessage(event.sender_id, at, event.content)
        (first if len(first) < _SAMPLED else last).append(message)
    return [*first, *last]


def known_place(own_place: ChatPlace, places: Sequence[Sequence[ChatPlace]]) -> ChatPlace:
    """Return the place of a chat: its own, or else one that already has the messages.

    `places`: for each sampled message, in order, the places that have it.
    """
    counts = Counter(place for matches in places for place in matches)
    if own_place in counts:
        return own_place
    runs = {place: _run(place, places) for place in counts}
    for place, run in sorted(runs.items(), key=lambda one: (-one[1], str(one[0]))):
        needed = (
            _MIN_KNOWN_ALIKE if _may_be_same_name(own_place.peer_id, place.peer_id) else _MIN_KNOWN
        )
        if run >= min(needed, len(places)) and (
            len(places) > 1 or _may_be_same_name(own_place.peer_id, place.peer_id)
        ):
            return place
    return own_place


def _run(place: ChatPlace, places: Sequence[Sequence[ChatPlace]]) -> int:
    """Return the number of consecutive messages found in a place, at the beginning or at the end.

    A chat that has grown begins with known messages; an older export ends with them. Messages
    forwarded to several chats occur in between.
    """
    from_first = next((n for n, matches in enumerate(places) if place not in matches), len(places))
    to_last = next(
        (n for n, matches in enumerate(reversed(places)) if place not in matches), len(places)
    )
    return max(from_first, to_last)


def _may_be_same_name(one: str | None, other: str | None) -> bool:
    """Return whether two chat names may name the same chat; a missing name may be any name."""
    first, second = _fold(one or ""), _fold(other or "")
    return not first or not second or first in second or second in first


def _fold(name: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))
