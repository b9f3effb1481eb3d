"""A message as the analyses of an episode see it, and its sentences."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from recollect.text.sentences import sentences


class Utterance(Struct, frozen=True):
    """A message: the `number` of its event, when it was sent (unix ms), and by whom.

    `utc_offset`: the sender's offset from UTC in minutes. `by_assistant`: an assistant wrote it.
    """

    number: int
    at: int
    speaker: str
    text: str
    utc_offset: int = 0
    by_assistant: bool = False


class Quote(Struct, frozen=True):
    """A sentence of a message: its characters from `start` to `end`."""

    number: int
    start: int
    end: int
    at: int
    speaker: str
    text: str
    by_assistant: bool = False


def quote(utterance: Utterance, start: int, end: int) -> Quote:
    """Return a stretch of a message with its origin."""
    return Quote(
        utterance.number,
        start,
        end,
        utterance.at,
        utterance.speaker,
        utterance.text[start:end],
        utterance.by_assistant,
    )


def quotes(utterance: Utterance) -> Iterator[Quote]:
    """Yield the sentences that the speaker wrote: nothing quoted, signed or pasted."""
    for start, end in sentences(utterance.text):
        yield quote(utterance, start, end)


def local_date(at: int, utc_offset: int) -> str:
    """Return the day of a time (unix ms) at an offset from UTC in minutes, as YYYY-MM-DD."""
    local = datetime.fromtimestamp(at / 1000, UTC) + timedelta(minutes=utc_offset)
    return local.date().isoformat()
