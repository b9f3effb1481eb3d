"""Episodes of a backfill: consecutive messages of one platform, split by size at the pauses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

#: The tokens of an episode: at least and at most. The last one of a platform may be shorter, and a
#: message that is longer is an episode of its own.
MIN_TOKENS, MAX_TOKENS = 4_000, 8_000


class SizedMessage(NamedTuple):
    """A message: its time (unix ms), its record number, and the estimated tokens of its text."""

    occurred_at: int
    number: int
    tokens: int


class BackfillEpisode(NamedTuple):
    """Consecutive messages of a platform, in order of time."""

    platform: str
    messages: Sequence[SizedMessage]

    @property
    def tokens(self) -> int:
        """The estimated tokens of its texts."""
        return sum(message.tokens for message in self.messages)


def episodes_by_platform(
    messages: Iterable[tuple[str, SizedMessage]],
) -> dict[str, list[BackfillEpisode]]:
    """Return the episodes of each platform in order, given (platform, message) in any order."""
    by_platform: dict[str, list[SizedMessage]] = defaultdict(list)
    for platform, message in messages:
        by_platform[platform].append(message)
    return {
        platform: [BackfillEpisode(platform, one) for one in _split(sorted(by_platform[platform]))]
        for platform in sorted(by_platform)
    }


def _split(messages: Sequence[SizedMessage]) -> Iterator[Sequence[SizedMessage]]:
    """Yield episodes in order.

    An episode ends at the longest pause between its minimum and its maximum of tokens. Where it
    ends depends on its own messages and the following ones only: if some episodes are done, the
    others stay the same.
    """
    start = 0
    while start < len(messages):
        end = _end(messages, start)
        yield messages[start:end]
        start = end


def _end(messages: Sequence[SizedMessage], start: int) -> int:
    """Return the index after the last message of the episode that begins at `start`."""
    tokens, best, longest_pause = 0, 0, -1
    for index in range(start, len(messages)):
        if index > start and tokens + messages[index].tokens > MAX_TOKENS:
            return best or index
        tokens += messages[index].tokens
        if tokens >= MIN_TOKENS and index + 1 < len(messages):
            pause = messages[index + 1].occurred_at - messages[index].occurred_at
            if pause > longest_pause:
                best, longest_pause = index + 1, pause
    return len(messages)
