"""Generated conversations of any length, the same for the same seed.

Words follow a Zipf distribution, as in any language: a few words occur in most texts, and most
words in hardly any.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

from recollect.schemas.events import Draft, Message

START_MS = 1_700_000_000_000
STEP_MS = 45_000
CHANNELS = 40

_ONSETS = ("b", "br", "c", "ch", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n",
           "p", "pl", "qu", "r", "s", "sh", "st", "t", "tr", "v", "w", "z")  # fmt: skip
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_CODAS = ("", "", "l", "m", "n", "nd", "r", "rt", "s", "st", "ck", "x")

_FRAMES = (
    "I moved the {noun} to {place} {when}",
    "{name} thinks that the {adjective} {noun} is better than the {noun2}",
    "We met {name} in {place} and talked about the {noun}",
    "My {noun} broke {when}, therefore I bought a {adjective} one from {name}",
    "I work on the {noun} with {name} now, and the {noun2} comes after that",
    "The {adjective} {noun} costs {number} euros at {place}",
    "{name} is going to {place} {when} to see the {noun}",
    "I like the {adjective} {noun} that {name} brought from {place}",
)
_SMALL = (
    "the {noun} is in {place}",
    "{name} has the {noun}",
    "I saw the {adjective} {noun} {when}",
    "ok, and the {noun}?",
)
_ASKED = (
    "When did {name} bring the {adjective} {noun} from {place}?",
    "Who has the {noun}?",
    "What did {name} say about the {noun} and the {noun2}?",
    "How much is the {adjective} {noun} at {place}?",
    "Why was the {noun} moved to {place}?",
)
_WHEN = ("yesterday", "last week", "on Monday", "in March", "two days ago", "this morning")


class Writer:
    """Draws words, sentences and events."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        # The vocabulary is the same for all seeds, so that questions match texts.
        words = _words(random.Random(20_000), 26_000)
        self._nouns, self._adjectives = words[:20_000], words[20_000:24_000]
        self._names = [word.title() for word in words[24_000:25_200]]
        self._places = [word.title() for word in words[25_200:]]
        self._weights = {
            len(pool): list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(pool))))
            for pool in (self._nouns, self._adjectives, self._names, self._places)
        }

    def _draw(self, pool: Sequence[str]) -> str:
        return self._random.choices(pool, cum_weights=self._weights[len(pool)])[0]

    def _filled(self, frame: str) -> str:
        return frame.format(
            noun=self._draw(self._nouns),
            noun2=self._draw(self._nouns),
            adjective=self._draw(self._adjectives),
            name=self._draw(self._names),
            place=self._draw(self._places),
            when=self._random.choice(_WHEN),
            number=self._random.randrange(5, 900),
        )

    def text(self) -> str:
        """Return a message of one to three sentences."""
        length = self._random.choice((1, 1, 2, 3))
        return " ".join(f"{self._filled(self._random.choice(_FRAMES))}." for _ in range(length))

    def small_text(self) -> str:
        """Return a message of a few words."""
        return self._filled(self._random.choice(_SMALL))

    def question(self) -> str:
        """Return a question."""
        return self._filled(self._random.choice(_ASKED))

    def drafts(self, count: int, *, small: bool = False) -> Iterator[Draft]:
        """Yield events of a few people in some channels, in order of time."""
        people = self._names[:60]
        for number in range(count):
            at = START_MS + number * STEP_MS
            person = self._random.randrange(len(people))
            yield Draft(
                platform="chat",
                occurred_at=at,
                ingested_at=at,
                payload=Message(
                    source_id=f"m{number}",
                    sender_id=f"u{person}",
                    sender_name=people[person],
                    peer_id=f"c{self._random.randrange(CHANNELS)}",
                    peer_kind="channel",
                    direction="in",
                    content=self.small_text() if small else self.text(),
                ),
            )


def _words(draw: random.Random, count: int) -> list[str]:
    """Return distinct words, short ones first, since frequent words are short in a language."""
    distinct: dict[str, None] = {}
    for length in itertools.chain((1,) * 400, (2,) * 12_000, itertools.repeat(3)):
        syllables = (
            draw.choice(_ONSETS) + draw.choice(_VOWELS) + draw.choice(_CODAS) for _ in range(length)
        )
        distinct["".join(syllables)] = None
        if len(distinct) == count:
            break
    words = list(distinct)
    draw.shuffle(words)
    return words
