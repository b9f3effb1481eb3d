"""Test kit for recall: a home with a tiny encoder, short drafts, and short forms of answers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import numpy as np
import numpy.typing as npt

from recollect import Query
from recollect.home.home_directory import Home
from recollect.home.settings.configuration import Configuration
from recollect.operations.answers.recalling import _question
from recollect.projections.recall import DEFAULT_PROFILE, Recaller
from recollect.projections.recall.ranking.prompt_relevance import GENERIC_PROMPTS
from recollect.schemas.events import Draft
from recollect.schemas.inbound import InboundEvent, draft_of
from recollect.schemas.wire import RecallAnswer, Result
from recollect.streams.encoder.encoder import Encoder, TokenVectors
from recollect.streams.encoder.pin import Pin
from tests.memory import Memory

Floats = npt.NDArray[np.float32]

MODEL = "concepts"
DIMENSION = 256
#: 2026-01-05T10:00:00Z, a Monday.
START = 1_767_607_200_000
MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

# Words that mean the same to the tiny encoder, so that an answer may share no word with its
# question.
MEANING = {
    **dict.fromkeys(("dog", "puppy", "hound", "retriever"), "dog"),
    **dict.fromkeys(("car", "automobile", "vehicle"), "car"),
    **dict.fromkeys(("doctor", "physician", "medic"), "doctor"),
}


def vector_of(text: str) -> Floats:
    """Return the unit vector of a text, with a dimension for each concept that it mentions."""
    vector = np.zeros(DIMENSION)
    for word in re.findall(r"\w+", text.lower()) or [text]:
        meaning = MEANING.get(word, word)
        seed = int.from_bytes(hashlib.blake2b(meaning.encode(), digest_size=8).digest(), "big")
        vector += np.random.default_rng(seed).standard_normal(DIMENSION)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class ConceptEncoder:
    """An encoder that maps a few words to concepts."""

    model = MODEL
    dimension = DIMENSION

    def encode(self, texts: Sequence[str]) -> Floats:
        return np.stack([vector_of(text) for text in texts])

    def encode_query(self, text: str) -> Floats:
        return vector_of(text)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [self.encode_query_tokens(text) for text in texts]

    def encode_query_tokens(self, text: str) -> TokenVectors:
        words = list(re.finditer(r"\w+", text))
        return TokenVectors(
            ids=np.zeros(len(words), np.int32),
            offsets=np.array([word.span() for word in words], np.int32).reshape(-1, 2),
            vectors=np.array([vector_of(word[0]) for word in words], np.float32).reshape(
                -1, DIMENSION
            ),
            pooled=vector_of(text),
        )

    def count_tokens(self, text: str) -> int:
        return len(re.findall(r"\w+|[^\w\s]", text))

    def close(self) -> None:
        pass


class FixedEncoder(ConceptEncoder):
    """An encoder that returns one vector for every question, and records the questions."""

    def __init__(self, vector: Floats) -> None:
        self.vector = vector
        self.read: list[str] = []

    def encode_query_tokens(self, text: str) -> TokenVectors:
        self.read.append(text)
        tokens = super().encode_query_tokens(text)
        return msgspec.structs.replace(tokens, pooled=self.vector)


class EncodedHome(Home):
    """A home whose encoder is the tiny one."""

    def __init__(self, directory: Path, configuration: Configuration | None = None) -> None:
        super().__init__(directory, configuration)
        pin = cast(Pin, SimpleNamespace(model=MODEL, dimension=DIMENSION, sha256=""))
        self.settings = msgspec.structs.replace(self.settings, encoder=pin)

    def load_encoder(self) -> Encoder:
        return ConceptEncoder()


def say(content: str, id: str, *, by: str = "Ada", at: int = START, **fields: Any) -> Draft:
    """Return the draft of a message."""
    given = {"platform": "chat", "sender_id": f"u-{by}", "sender_name": by, "peer_id": "room"}
    return draft_of(InboundEvent(**{**given, **fields}, id=id, occurred_at=at, content=content))


def talk(*lines: tuple[str, str], start: int = START, id: str = "m", **fields: Any) -> list[Draft]:
    """Return the drafts of a conversation: (speaker, words), a minute apart, ids m1, m2, ..."""
    return [
        say(content, f"{id}{place}", by=by, at=start + place * MINUTE, **fields)
        for place, (by, content) in enumerate(lines, 1)
    ]


def tell(memory: Memory, drafts: Iterable[Draft]) -> None:
    """Publish messages, and have the agents decide them."""
    memory.publish(list(drafts))
    memory.drive()


def ask(memory: Memory, text: str, **fields: Any) -> list[Result]:
    """Return the results of a question."""
    return memory.recall(Query(text, **fields)).results


def cited(results: Iterable[Result]) -> list[str]:
    """Return the source ids of the events behind results, in order, each once."""
    return list(dict.fromkeys(id_ for result in results for id_ in result.source_event_ids))


def recaller_of(memory: Memory) -> Recaller:
    """Return the recaller of a memory, whose arms a test inspects."""
    return memory.recaller()


def recalled(memory: Memory, query: Query, *how: Any) -> RecallAnswer:
    """Return the answer of a recaller with this profile, reranker and encoder."""
    node = memory.node
    with node.open_to_read(memory.zone, node.current(memory.zone)) as files:
        return Recaller(files, *how).recall(_question(query)[0])


def embedded(memory: Memory, question: str) -> str:
    """Return the text that the encoder gets for a question."""
    encoder = FixedEncoder(vector_of(question))
    recalled(memory, Query(question), DEFAULT_PROFILE, None, encoder)
    (text,) = (text for text in encoder.read if text not in GENERIC_PROMPTS)
    return text


def look_anew(memory: Memory) -> None:
    """Make a memory open its files again: it follows watermarks, and misses rows without one."""
    memory.close_recallers()


def plain(answer: RecallAnswer) -> list[dict[str, Any]]:
    """Return an answer as plain data, without its timings."""
    return [msgspec.structs.asdict(result) for result in answer.results]
