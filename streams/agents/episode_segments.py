"""Where a conversation is divided into episodes: at a silence, or where a new topic begins.

An episode of a conversation is a stretch of its messages in the order of their times. Whether a
message begins a new one depends on a few messages before it and on nothing else. So a message that
arrives late moves only the boundaries right after it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import takewhile
from typing import Any

import msgspec

from recollect.projections.events.event_queries import NearbyEvent
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

MINUTE_MS = 60_000
_LEAST_LETTERS = 3


class Boundaries(msgspec.Struct, frozen=True):
    """The parameters of a division.

    A message begins an episode after a silence of more than `gap_minutes`. If `compared` is not 0,
    it also does if it has at least `least_words` content words and shares none with the `compared`
    messages before it.
    """

    gap_minutes: int
    compared: int = 0
    least_words: int = 1

    @property
    def reach(self) -> int:
        """The number of messages before a message on which its boundary depends."""
        return max(self.compared, 1)

    def begins(self, message: NearbyEvent, earlier: Sequence[NearbyEvent]) -> bool:
        """Return whether a message begins an episode; `earlier`: the nearest message first."""
        gap = self.gap_minutes * MINUTE_MS
        if not earlier or message.occurred_at - earlier[0].occurred_at > gap:
            return True
        if not self.compared:
            return False
        words = content_words(message.content)
        return len(words) >= self.least_words and all(
            words.isdisjoint(content_words(other.content))
            for other in takewhile(
                lambda other: message.occurred_at - other.occurred_at <= gap,
                earlier[: self.compared],
            )
        )


def boundaries(parameters: dict[str, Any]) -> Boundaries:
    """Return the parameters of an episode definition."""
    return msgspec.convert(parameters, Boundaries)


@lru_cache(maxsize=256)
def content_words(text: str) -> Set[str]:
    """Return the words of a text that may tell its topic, without plural endings."""
    return frozenset(
        word.removesuffix("'s").removesuffix("s")
        for word in tokenise(text).lowers
        if len(word) >= _LEAST_LETTERS and word not in STOP_WORDS
    )
