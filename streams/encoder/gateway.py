"""The gateway to the encoder: the only way from agents to a model; its answers are recorded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from recollect.projections.embeddings import canonical_vectors
from recollect.projections.embeddings.token_vectors import TokenCodes, compressed
from recollect.schemas.ids import text_hash
from recollect.streams.encoder.encoder import Encoder, TokenVectors

# About 10 MB of vectors, so that a sentence that is repeated soon is encoded once.
_REMEMBERED = 8_192


class Answer(NamedTuple):
    """The encoder's answer for a text: its canonical vector, and its compressed token vectors.

    `tokens` None: they were not requested.
    """

    vector: bytes
    tokens: TokenCodes | None = None


class ReadText(NamedTuple):
    """What a reader read in a text, packed, and what encoding it gives where that is at hand."""

    content: bytes
    tokens: TokenVectors | None


class Reader(Protocol):
    """A reader of texts; what it reads depends on the text and on the reader alone."""

    def read(self, texts: Sequence[str]) -> Sequence[ReadText]:
        """Return what is read in each text."""
        ...


class ReaderDoor(NamedTuple):
    """How a home's reader is reached.

    `name`: the first four bytes of the hash of its heads. `encodes`: its forward is that of the
    home's own encoder, so a text that was read is encoded as well.
    """

    name: bytes
    load: Callable[[], Reader]
    encodes: bool


#: Text hash -> answer, only for requested texts.
Answers = dict[str, Answer]
#: A look-up of answers by text hash.
Recorded = Callable[[str], Answer | None]
#: Text hash -> what was read in the text, packed.
Readings = Mapping[str, bytes]
#: A look-up of readings by an event's number, the reader's name, and four bytes of the text's hash.
RecordedReading = Callable[[int, bytes, bytes], bytes | None]


class EncoderGateway:
    """Answers for texts: recorded answers first, then the encoder, then remembered.

    `recorded` looks an answer up by its text's hash; `load` loads the encoder when the first text
    needs it, so that a replay never loads one.
    """

    def __init__(
        self,
        model: str | None,
        dimension: int,
        load: Callable[[], Encoder],
        recorded: Recorded | None = None,
        *,
        reader: ReaderDoor | None = None,
        recorded_reading: RecordedReading | None = None,
    ) -> None:
        self.reader = reader
        self._recorded_reading = recorded_reading
        self._read: OrderedDict[str, bytes] = OrderedDict()
        self.model = model
        self.dimension = dimension
        self._load = load
        self._encoder: Encoder | None = None
        self._recorded = recorded
        self._remembered: OrderedDict[str, Answer] = OrderedDict()
        self._lock = threading.RLock()
        self._loading = threading.Lock()
        #: How many texts the encoder has encoded.
        self.asked = 0

    def replaying(self, recorded: Recorded, recorded_reading: RecordedReading) -> EncoderGateway:
        """Return a gateway to the same models that looks up what is recorded first."""
        return EncoderGateway(
            self.model,
            self.dimension,
            self.encoder,
            recorded,
            reader=self.reader,
            recorded_reading=recorded_reading,
        )

    def encoder(self) -> Encoder:
        """Return the encoder, loaded once; a question does not wait for a large batch."""
        if self._encoder is not None:
            return self._encoder
        with self._loading:
            if self._encoder is None:
                self._encoder = self._load()
            return self._encoder

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Return a question as the encoder reads it; nothing of it is recorded."""
        return self.encoder().encode_query_tokens(text)

    def count_pieces(self, text: str) -> int:
        """Return how many word pieces of the encoder a text has."""
        return self.encoder().count_pieces(text)

    def readings(self, texts: Iterable[tuple[int, str]]) -> Readings:
        """Return what is read in texts, each said by the event of a number; {} without a reader.

        Where the reader's forward is the encoder's, a later question for the vector of the same
        text is answered from it.
        """
        if self.reader is None:
            return {}
        with self._lock:
            found: dict[str, bytes] = {}
            missing: dict[str, str] = {}
            for number, text in texts:
                key = text_hash(text)
                known = self._known_reading(number, key)
                if known is None:
                    missing[key] = text
                else:
                    found[key] = known
            if missing:
                found |= self._ask_reader(self.reader, missing)
            return found

    def _known_reading(self, number: int, key: str) -> bytes | None:
        if key in self._read:
            return self._read[key]
        if self._recorded_reading is None or self.reader is None:
            return None
        return self._recorded_reading(number, self.reader.name, text_mark(key))

    def _ask_reader(self, door: ReaderDoor, missing: dict[str, str]) -> dict[str, bytes]:
        read = door.load().read(list(missing.values()))
        said = {key: each.content for key, each in zip(missing, read, strict=True)}
        if door.encodes:
            turns = {
                key: (text, each.tokens)
                for (key, text), each in zip(missing.items(), read, strict=True)
                if each.tokens is not None and self._known(key, whole=True) is None
            }
            self.asked += len(turns)
            self._remember({key: _answer(*turn) for key, turn in turns.items()})
        self._read |= said
        while len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)
        return said

    def answers(self, texts: Iterable[str], turns: Iterable[str] = ()) -> Answers:
        """Return the answer to every text, with token vectors to each of `turns`.

        Without a model there are none. Answers that were recorded before there were token vectors
        stay without them: a replay repeats what was recorded.
        """
        if self.model is None:
            return {}
        # One at a time: the encoder uses every core for one batch already.
        with self._lock:
            whole = {text_hash(text): text for text in turns}
            found: Answers = {}
            missing: dict[str, str] = {}
            for key, text in ({text_hash(text): text for text in texts} | whole).items():
                answer = self._known(key, whole=key in whole)
                if answer is None:
                    missing[key] = text
                else:
                    found[key] = answer
            if missing:
                found |= self._ask(missing, whole)
            return found

    def _known(self, key: str, *, whole: bool) -> Answer | None:
        answer = self._remembered.get(key)
        if answer is not None and (answer.tokens is not None or not whole):
            return answer
        return None if self._recorded is None else self._recorded(key)

    def _ask(self, missing: dict[str, str], whole: dict[str, str]) -> Answers:
        """Ask the encoder, once for each text, and remember what it says."""
        self.asked += len(missing)
        turns = {key: text for key, text in missing.items() if key in whole}
        rest = {key: text for key, text in missing.items() if key not in whole}
        said: Answers = {}
        if turns:
            # The same forward gives the vector of the text.
            of_turns = self.encoder().encode_tokens(list(turns.values()))
            for (key, text), tokens in zip(turns.items(), of_turns, strict=True):
                said[key] = _answer(text, tokens)
        if rest:
            vectors = canonical_vectors.coded(self.encoder().encode(list(rest.values())))
            said |= {key: Answer(row) for key, row in zip(rest, vectors, strict=True)}
        self._remember(said)
        return said

    def _remember(self, said: Answers) -> None:
        self._remembered |= said
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)


def _answer(text: str, tokens: TokenVectors) -> Answer:
    (vector,) = canonical_vectors.coded(tokens.pooled[None])
    return Answer(vector, compressed(text, tokens.offsets, tokens.vectors))


def text_mark(key: str) -> bytes:
    """Return the four bytes of a text's hash that a recorded reading has."""
    return bytes.fromhex(key[:8])
