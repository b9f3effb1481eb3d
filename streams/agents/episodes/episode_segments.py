"""Segmentation of a conversation into episodes: at a pause, or where a new topic begins.

An episode of a conversation is a stretch of its messages in the order of their times. Whether a
message begins a new episode depends only on a few messages before it. So a message that arrives
late moves only the boundaries right after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache

import msgspec

from recollect.projections.events.event_queries import NearbyEvent
from recollect.text.lexicon import word_set
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

MINUTE_MS = 60_000
_LEAST_LETTERS = 3
# A long text has words of many topics; its own topic is named at its beginning.
_READ_CHARACTERS = 400
_ENDING = re.compile(r"'s$|(?<=\w{4})(?:ing|ed|es|s|e)$|(?<=\w{3})s$")

# The most frequent words of English conversation, besides function words, that name no topic.
_SMALL_TALK = word_set(
    """able actually ago already alright always amazing anything around ask asked away awesome
    back bad best better big bit called came care chat come coming congrats cool course day days
    done else enough ever every everyone everything exactly fine first found friend friends fun
    gave get gets getting give glad goes going gonna good got gotta great guess guys happen
    happened happy hard hello help hey high hope idea important interesting job just keep kind
    knew know last late lately later least left let life like little long look looking looks lot
    lots love lovely made make makes making many may maybe mean means might mind miss moment
    morning much must need needed never new next nice night nothing now often okay old one ones
    pass past people perfect person place plan plans please point possible pretty probably put
    quite ready real really reason remember right said same saw say see seem seems seen sense
    share show since small someone something sometimes soon sorry sort sound sounds special
    start started still stuff super support sure take taking talk tell thank thanks thing things
    think thought time times today together told tomorrow tonight took totally tough tried true
    try trying two understand use used using usually want wanted wants way week weekend well
    went whole wish wonderful word words work world worry would wow year years yeah yep yes
    yesterday yet"""
)


class Boundaries(msgspec.Struct, frozen=True):
    """The parameters of a division.

    A message begins an episode after a silence of more than `gap_minutes`. If `compared` is not 0,
    it also does if it has at least `least_words` content words and shares none with the `compared`
    messages before it, unless the last of them is a question. The names of the speakers do not
    count as content words.
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
        before = [
            other
            for other in earlier[: self.compared]
            if message.occurred_at - other.occurred_at <= gap
        ]
        if before[0].content.rstrip().endswith("?"):
            return False
        names = {name for other in (message, *before) for name in content_words(other.sender_name)}
        words = content_words(message.content) - names
        return len(words) >= self.least_words and all(
            words.isdisjoint(content_words(other.content)) for other in before
        )


@lru_cache
def boundaries(parameters: str) -> Boundaries:
    """Return the parameters of an episode definition, given as JSON."""
    return msgspec.json.decode(parameters, type=Boundaries)


@lru_cache(maxsize=256)
def content_words(text: str) -> Set[str]:
    """Return the stems of the topical words at the beginning of a text."""
    return frozenset(
        _ENDING.sub("", word)
        for word in tokenise(text[:_READ_CHARACTERS]).lowers
        if len(word) >= _LEAST_LETTERS and word not in STOP_WORDS and word not in _SMALL_TALK
    )
