"""What an episode is about: the names in it, and the words that it returns to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from recollect.schemas.names import normalise_name
from recollect.streams.analyses.utterances import Utterance
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.relations.content_words import stemmed

MOST_TOPICS = 6
#: The minimum number of messages that name a topic.
_FEWEST_MESSAGES = 2
_LEAST_CONFIDENCE = 0.5
_NAMED = frozenset({"PERSON", "ORG", "LOCATION", "EVENT", "PRODUCT", "TECHNOLOGY"})
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})


class Named(Struct, frozen=True):
    """A name or a topic, at its first place: characters `start` to `end` of message `number`.

    `type`: the type of a mention, such as PERSON; "" for a topic. `count`: the messages that have
    it.
    """

    number: int
    start: int
    end: int
    text: str
    type: str
    count: int


def entities(utterances: Sequence[Utterance], readings: Mapping[int, TextReading]) -> list[Named]:
    """Return what the messages name, the most often named first.

    `readings`: what a reader read, by message.
    """
    first: dict[str, Named] = {}
    counts = Counter[str]()
    for utterance in utterances:
        seen: set[str] = set()
        for mention in mentions(utterance.text, readings.get(utterance.number)):
            if mention.type not in _NAMED or mention.confidence < _LEAST_CONFIDENCE:
                continue
            key = normalise_name(mention.text)
            if key and key not in seen:
                seen.add(key)
                counts[key] += 1
                first.setdefault(
                    key,
                    Named(
                        utterance.number, mention.start, mention.end, mention.text, mention.type, 1
                    ),
                )
    return _most_frequent(first, counts)


def topics(utterances: Sequence[Utterance], readings: Mapping[int, TextReading]) -> list[Named]:
    """Return the words that several messages use, those of most messages first.

    With a reader they are nouns.
    """
    names = {
        word.group().lower()
        for utterance in utterances
        for word in _WORD.finditer(utterance.speaker)
    }
    first: dict[str, Named] = {}
    counts = Counter[str]()
    for utterance in utterances:
        reading = readings.get(utterance.number)
        seen: set[str] = set()
        for start, end in _candidates(utterance.text, reading):
            word = utterance.text[start:end]
            stem = next(iter(stemmed([word.lower()])), None)
            if stem is None or stem in seen or word.lower() in names or word.endswith("ly"):
                continue
            seen.add(stem)
            counts[stem] += 1
            first.setdefault(stem, Named(utterance.number, start, end, word.lower(), "", 1))
    named = _most_frequent(first, counts)
    return [topic for topic in named if topic.count >= _FEWEST_MESSAGES][:MOST_TOPICS]


def _candidates(text: str, reading: TextReading | None) -> list[tuple[int, int]]:
    if reading is None:
        return [match.span() for match in _WORD.finditer(text)]
    return [(word.start, word.end) for word in reading.words if word.tag in _NOUNS]


def _most_frequent(first: Mapping[str, Named], counts: Mapping[str, int]) -> list[Named]:
    found = [
        Named(it.number, it.start, it.end, it.text, it.type, counts[key])
        for key, it in first.items()
    ]
    return sorted(found, key=lambda it: -it.count)
