"""The gateway to the encoder, which looks up recorded results before it runs a model."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from recollect.projections.embeddings import canonical_vectors
from recollect.projections.embeddings.token_vectors import TokenCodes, compress
from recollect.schemas.ids import text_hash
from recollect.streams.encoder.encoder import Encoder, TokenVectors

# The number of cached encodings, about 10 MB of vectors. The cache saves encoding a sentence again
# that is soon repeated.
_CACHE_SIZE = 8_192


class Encoding(NamedTuple):
    """A text's canonical vector and its compressed token vectors.

    `tokens` None: they were not requested.
    """

    vector: bytes
    tokens: TokenCodes | None = None


class AnnotatedText(NamedTuple):
    """A text's packed annotations, and its token vectors where the reader computed them."""

    content: bytes
    tokens: TokenVectors | None


class Reader(Protocol):
    """A model that annotates texts; annotations depend on the text and the reader alone."""

    def read(self, texts: Sequence[str]) -> Sequence[AnnotatedText]:
        """Annotate each text."""
        ...


class ReaderHandle(NamedTuple):
    """A home's reader, loaded on demand.

    `name`: the first four bytes of the hash of its heads. `encodes`: whether it shares its forward
    pass with the home's encoder, so that an annotated text is encoded as well.
    """

    name: bytes
    load: Callable[[], Reader]
    encodes: bool


#: Text hash -> encoding.
Encodings = dict[str, Encoding]
#: Looks an encoding up by text hash.
EncodingLookup = Callable[[str], Encoding | None]
#: Text hash -> packed annotations.
Annotations = Mapping[str, bytes]
#: Looks annotations up by event number, reader name, and the first four bytes of the text's hash.
AnnotationLookup = Callable[[int, bytes, bytes], bytes | None]


class EncoderGateway:
    """Encodings and annotations of texts: cached, else recorded, else computed.

    `recorded` and `recorded_annotation` look up recorded results. The encoder and the reader are
    loaded when a text first needs them, and then kept. A replay needs neither.
    """

    def __init__(
        self,
        model: str | None,
        dimension: int,
        load: Callable[[], Encoder],
        recorded: EncodingLookup | None = None,
        *,
        reader: ReaderHandle | None = None,
        recorded_annotation: AnnotationLookup | None = None,
    ) -> None:
        self.reader = reader
        self._loaded_reader: Reader | None = None
        self._recorded_annotation = recorded_annotation
        self._annotation_cache: OrderedDict[str, bytes] = OrderedDict()
        self.model = model
        self.dimension = dimension
        self._load = load
        self._encoder: Encoder | None = None
        self._recorded = recorded
        self._encoding_cache: OrderedDict[str, Encoding] = OrderedDict()
        self._lock = threading.RLock()
        self._loading = threading.Lock()
        #: The number of texts encoded by the model.
        self.encoded_count = 0

    def replaying(
        self, recorded: EncodingLookup, recorded_annotation: AnnotationLookup
    ) -> EncoderGateway:
        """Return a gateway to the same models, with these functions to look up recorded results."""
        return EncoderGateway(
            self.model,
            self.dimension,
            self.encoder,
            recorded,
            reader=self.reader and self.reader._replace(load=self._load_reader),
            recorded_annotation=recorded_annotation,
        )

    def encoder(self) -> Encoder:
        """Return the encoder, loaded on first use, without waiting for a running batch."""
        if self._encoder is not None:
            return self._encoder
        with self._loading:
            if self._encoder is None:
                self._encoder = self._load()
            return self._encoder

    def _load_reader(self) -> Reader:
        """Return the reader, loaded on first use."""
        assert self.reader is not None
        with self._loading:
            if self._loaded_reader is None:
                self._loaded_reader = self.reader.load()
            return self._loaded_reader

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Return the token vectors of a query; they are never recorded."""
        return self.encoder().encode_query_tokens(text)

    def count_tokens(self, text: str) -> int:
        """Return the number of the encoder's word pieces in a text."""
        return self.encoder().count_tokens(text)

    def annotations(self, texts: Iterable[tuple[int, str]]) -> Annotations:
        """Annotate texts, each given with the number of its event; {} without a reader.

        If the reader shares its forward pass with the encoder, the encodings are cached too.
        """
        if self.reader is None:
            return {}
        with self._lock:
            annotations: dict[str, bytes] = {}
            missing: dict[str, str] = {}
            for number, text in texts:
                key = text_hash(text)
                annotation = self._find_annotation(number, key)
                if annotation is None:
                    missing[key] = text
                else:
                    annotations[key] = annotation
            if missing:
                annotations |= self._annotate(self.reader, missing)
            return annotations

    def _find_annotation(self, number: int, key: str) -> bytes | None:
        if key in self._annotation_cache:
            return self._annotation_cache[key]
        if self._recorded_annotation is None or self.reader is None:
            return None
        return self._recorded_annotation(number, self.reader.name, text_hash_prefix(key))

    def _annotate(self, handle: ReaderHandle, missing: dict[str, str]) -> dict[str, bytes]:
        read = self._load_reader().read(list(missing.values()))
        contents = {key: annotation.content for key, annotation in zip(missing, read, strict=True)}
        if handle.encodes:
            encoded = {
                key: (text, annotation.tokens)
                for (key, text), annotation in zip(missing.items(), read, strict=True)
                if annotation.tokens is not None
                and self._find_encoding(key, with_tokens=True) is None
            }
            self.encoded_count += len(encoded)
            self._cache_encodings({key: _encoding(*encoding) for key, encoding in encoded.items()})
        self._annotation_cache |= contents
        while len(self._annotation_cache) > _CACHE_SIZE:
            self._annotation_cache.popitem(last=False)
        return contents

    def encodings(self, texts: Iterable[str], token_texts: Iterable[str] = ()) -> Encodings:
        """Return the encoding of every text, with token vectors for each of `token_texts`.

        Without a model the result is empty. Older versions recorded encodings without token
        vectors; these are returned as they are, since a replay repeats what was recorded.
        """
        if self.model is None:
            return {}
        # One batch at a time: the encoder uses every core already.
        with self._lock:
            with_tokens = {text_hash(text): text for text in token_texts}
            encodings: Encodings = {}
            missing: dict[str, str] = {}
            for key, text in ({text_hash(text): text for text in texts} | with_tokens).items():
                encoding = self._find_encoding(key, with_tokens=key in with_tokens)
                if encoding is None:
                    missing[key] = text
                else:
                    encodings[key] = encoding
            if missing:
                encodings |= self._encode(missing, with_tokens)
            return encodings

    def _find_encoding(self, key: str, *, with_tokens: bool) -> Encoding | None:
        encoding = self._encoding_cache.get(key)
        if encoding is not None and (encoding.tokens is not None or not with_tokens):
            return encoding
        return None if self._recorded is None else self._recorded(key)

    def _encode(self, missing: dict[str, str], with_tokens: dict[str, str]) -> Encodings:
        """Encode each text once, and cache the results."""
        self.encoded_count += len(missing)
        token_texts = {key: text for key, text in missing.items() if key in with_tokens}
        plain_texts = {key: text for key, text in missing.items() if key not in with_tokens}
        encodings: Encodings = {}
        if token_texts:
            # The same forward pass gives the text's vector.
            token_vectors = self.encoder().encode_tokens(list(token_texts.values()))
            for (key, text), tokens in zip(token_texts.items(), token_vectors, strict=True):
                encodings[key] = _encoding(text, tokens)
        if plain_texts:
            vectors = canonical_vectors.quantise(self.encoder().encode(list(plain_texts.values())))
            encodings |= {key: Encoding(row) for key, row in zip(plain_texts, vectors, strict=True)}
        self._cache_encodings(encodings)
        return encodings

    def _cache_encodings(self, encodings: Encodings) -> None:
        self._encoding_cache |= encodings
        while len(self._encoding_cache) > _CACHE_SIZE:
            self._encoding_cache.popitem(last=False)


def _encoding(text: str, tokens: TokenVectors) -> Encoding:
    (vector,) = canonical_vectors.quantise(tokens.pooled[None])
    return Encoding(vector, compress(text, tokens.offsets, tokens.vectors))


def text_hash_prefix(key: str) -> bytes:
    """Return the first four bytes of a text's hash, by which recorded annotations are found."""
    return bytes.fromhex(key[:8])
