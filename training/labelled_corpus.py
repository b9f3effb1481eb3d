"""The labelled corpus: messages with what a memory should conclude from them.

`corpus/README.md` describes the labels. Offsets count characters of the message's text; spans are
(start, end), days are ISO dates, both inclusive.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

#: The folder of the corpus.
CORPUS = Path(__file__).parent.parent / "corpus"
#: Single sentences with the values of attributes, for training.
ATTRIBUTES = CORPUS / "attributes.jsonl"
#: Lives: messages of one person over months, with what each states and ends; for training, and for
#: choosing thresholds.
LIVES, LIVES_DEV = CORPUS / "lives.jsonl", CORPUS / "lives-dev.jsonl"
#: Lives in plain words, each with one fact that ends; the last file is only scored.
UPDATES, UPDATES_DEV = CORPUS / "updates.jsonl", CORPUS / "updates-dev.jsonl"
UPDATES_TEST = CORPUS / "updates-test.jsonl"
#: Pairs of messages of one person, and whether the later one ends what the earlier one states; the
#: last file is only scored.
ENDINGS, ENDINGS_DEV = CORPUS / "endings.jsonl", CORPUS / "endings-dev.jsonl"
ENDINGS_TEST = CORPUS / "endings-test.jsonl"
#: What people said over months, little of which ends another; for training.
TALK = CORPUS / "talk.jsonl"
#: Messages labelled with their facts and with whose words they are, for training. Those of
#: public sets have no text here.
TOLD, PUBLIC = CORPUS / "told.jsonl", CORPUS / "public.jsonl"

Split = Literal["train", "dev", "test"]
Voice = Literal["own", "quoted", "pasted", "draft", "played", "assistant", "machine"]
Sign = Literal["+", "-", "?"]
Span = tuple[int, int]

#: From this worth on a sentence is worth keeping.
WORTH_KEEPING = 2
#: The voices whose words may become facts.
TRUSTED: frozenset[Voice] = frozenset({"own", "machine"})
#: Types of facts that fill no slot.
SLOTLESS = frozenset({"event", "plan", "view", "other", "instruction"})


class LabelledSentence(msgspec.Struct, frozen=True):
    """A sentence with its worth, from 0 (nothing) to 3 (plainly worth keeping), and its voice."""

    start: int
    end: int
    worth: int
    voice: Voice


class LabelledFact(msgspec.Struct, frozen=True):
    """A fact that a memory should hold.

    `sentence` is the place of its sentence, `quote` the span of the clause that carries it,
    `value` the span of a slot's value, `ends` the id of an earlier message whose fact it replaces
    or ends, and `text` the fact in the third person.
    """

    sentence: int
    type: str
    subject: str
    sign: Sign
    quote: Span
    text: str
    value: Span | None = None
    first: str | None = None
    last: str | None = None
    ends: str | None = None


class LabelledMention(msgspec.Struct, frozen=True):
    """A named person or thing, or a pronoun with `who` it refers to."""

    start: int
    end: int
    type: str
    who: str | None = None


class LabelledDate(msgspec.Struct, frozen=True):
    """An expression of days or of a clock time ("HH:MM"); a recurrence has no days."""

    start: int
    end: int
    first: str | None = None
    last: str | None = None
    time: str | None = None
    recurs: bool = False


class LabelledMessage(msgspec.Struct, frozen=True):
    """A message with its labels; messages of one thread are in order of time."""

    id: str
    thread: str
    at: str
    sender: str
    text: str
    sentences: tuple[LabelledSentence, ...] = ()
    facts: tuple[LabelledFact, ...] = ()
    mentions: tuple[LabelledMention, ...] = ()
    dates: tuple[LabelledDate, ...] = ()


class LifeFact(msgspec.Struct, frozen=True):
    """An attribute that a message of a life states.

    `subject` is "I", "we" or words of the text; `value` a span; `ends` are the places of earlier
    messages of the life whose fact of this type is no longer true.
    """

    type: str
    subject: str
    sign: Sign
    value: Span | None = None
    ends: tuple[int, ...] = ()


class LifeMessage(msgspec.Struct, frozen=True):
    """A message of a life, in a conversation of its own, and the attributes that it states."""

    at: str
    text: str
    facts: tuple[LifeFact, ...] = ()


class Life(msgspec.Struct, frozen=True):
    """Messages that one person (`owner`) sent over months or years, in order of time."""

    id: str
    owner: str
    source: str
    messages: tuple[LifeMessage, ...]


class Pair(msgspec.Struct, frozen=True):
    """Two messages of one person, and whether the later one ends what the earlier one states."""

    earlier: str
    later: str
    ends: bool


class History(msgspec.Struct, frozen=True):
    """What one person said over months, in order, and which of it ends what: (later, earlier)."""

    said: tuple[str, ...]
    ends: tuple[tuple[int, int], ...]


class Source(msgspec.Struct, frozen=True):
    """A kind of source: its split, its licence, and where it is from."""

    name: str
    split: Split
    licence: str
    origin: str


_decode = msgspec.json.Decoder(LabelledMessage).decode
_decode_life = msgspec.json.Decoder(Life).decode
_decode_history = msgspec.json.Decoder(History).decode
_decode_pair = msgspec.json.Decoder(Pair).decode


def sources(*splits: Split) -> list[Source]:
    """Return the sources of these splits, or of all."""
    table = tomllib.loads((CORPUS / "sources.toml").read_text("utf-8"))
    found = [msgspec.convert({"name": name, **row}, Source) for name, row in table.items()]
    return [each for each in found if not splits or each.split in splits]


def read(path: Path) -> Iterator[LabelledMessage]:
    """Yield the messages of a file of the corpus, in order."""
    # Not splitlines: a string may hold U+2028.
    for line in path.read_text("utf-8").split("\n"):
        if line:
            yield _decode(line)


def lives(path: Path) -> Iterator[Life]:
    """Yield the lives of a file, in order."""
    yield from map(_decode_life, _lines(path))


def pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a file, in order."""
    yield from map(_decode_pair, _lines(path))


def histories(path: Path) -> Iterator[History]:
    """Yield the histories of a file, in order."""
    yield from map(_decode_history, _lines(path))


def _lines(path: Path) -> Iterator[str]:
    # Not splitlines: a string may contain U+2028.
    yield from filter(None, path.read_text("utf-8").split("\n"))


def messages(source: str) -> list[LabelledMessage]:
    """Return the messages of a source, in order."""
    return list(read(CORPUS / f"{source}.jsonl"))


def threads(of: Sequence[LabelledMessage]) -> Iterator[list[LabelledMessage]]:
    """Yield the threads of a source, each in order."""
    found: dict[str, list[LabelledMessage]] = {}
    for each in of:
        found.setdefault(each.thread, []).append(each)
    yield from found.values()
