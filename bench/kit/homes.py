"""Homes for benchmarks, filled with generated events. Each home is created once per run."""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from bench.kit.made import Writer
from bench.kit.report import stopwatch
from recollect.projections.files import ZoneFiles
from recollect.schemas.events import Draft
from recollect.streams.encoder.encoder import Encoder, TokenVectors
from recollect.streams.encoder.encoder_errors import EncoderError
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.engine.node import Node
from recollect.streams.ledger import Ledger
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.projecting.projector import project_changes, project_events

ZONE = "default"
DIMENSION = 384
# The batch size of an import.
BATCH_SIZE = 1_000

Vectors = npt.NDArray[np.float32]

_WORD = re.compile(r"\w+")


class RandomEncoder:
    """An encoder that returns random vectors at no cost; their number and size are realistic."""

    model = "random-384"
    dimension = DIMENSION

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> Vectors:
        drawn = np.random.Generator(np.random.SFC64(zlib.crc32(text.encode())))
        vector = drawn.standard_normal(DIMENSION, np.float32)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [self.encode_query_tokens(text) for text in texts]

    def encode_query_tokens(self, text: str) -> TokenVectors:
        words = list(_WORD.finditer(text))
        drawn = np.random.Generator(np.random.SFC64(zlib.crc32(text.encode())))
        return TokenVectors(
            ids=np.zeros(len(words), np.int32),
            offsets=np.array([word.span() for word in words], np.int32).reshape(-1, 2),
            vectors=drawn.standard_normal((len(words), DIMENSION), np.float32),
            pooled=self.encode_query(text),
        )

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text))

    def close(self) -> None:
        """Do nothing."""


class Filled(msgspec.Struct, frozen=True):
    """A home with `count` events, and the seconds that each step of filling it took."""

    directory: Path
    count: int
    encoder: Encoder | None
    publish_s: float
    project_s: float
    drive_s: float

    def open(self) -> Node:
        """Open the node; the caller closes it."""
        return open_node(self.directory, self.encoder)


class Homes:
    """Homes in a temporary directory, which is deleted on close."""

    def __init__(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="recollect-bench-")
        self._filled: dict[tuple[int, bool, bool], Filled] = {}
        self._fresh = 0

    def fresh(self) -> Path:
        """Return a directory that does not exist yet."""
        self._fresh += 1
        return Path(self._scratch.name) / f"{self._fresh}"

    def filled(self, count: int, *, vectors: bool = False, small: bool = False) -> Filled:
        """Return a home with this many events; its vectors, if any, are random."""
        key = (count, vectors, small)
        if key not in self._filled:
            drafts = Writer().drafts(count, small=small)
            encoder = RandomEncoder() if vectors else None
            self._filled[key] = fill(self.fresh(), drafts, encoder)
        return self._filled[key]

    def close(self) -> None:
        """Delete everything."""
        self._scratch.cleanup()

    def __enter__(self) -> Homes:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_node(directory: Path, encoder: Encoder | None, ledger: Ledger | None = None) -> Node:
    """Open a node with an embedded ledger, with an encoder or without one."""
    if encoder is None:
        gateway = EncoderGateway(None, 0, _no_encoder)
    else:
        chosen = encoder
        gateway = EncoderGateway(chosen.model, chosen.dimension, lambda: chosen)
    directory.mkdir(parents=True, exist_ok=True)
    return Node(directory, ledger or EmbeddedLedger(directory), gateway)


def fill(directory: Path, drafts: Iterable[Draft], encoder: Encoder | None) -> Filled:
    """Publish, project and decide events in a new home, and time each step."""
    node = open_node(directory, encoder)
    try:
        publish_s, count = 0.0, 0
        # The time for generating the texts is not counted.
        for some in batches(drafts, BATCH_SIZE):
            with stopwatch() as watch:
                node.ledger.publish(ZONE, some)
            publish_s += watch.seconds
            count += len(some)
        with stopwatch() as project:
            node.project_turns(ZONE)
        with stopwatch() as drive:
            node.drive(ZONE)
        assert node.ledger.zones() == [ZONE]
        return Filled(directory, count, encoder, publish_s, project.seconds, drive.seconds)
    finally:
        node.close()


def project(filled: Filled, directory: Path) -> tuple[ZoneFiles, float]:
    """Project a home again into a new directory; return the open files and the seconds."""
    node = filled.open()
    try:
        current = node.current(ZONE)
        with stopwatch() as watch:
            files = ZoneFiles(directory, current.encoder, current.dimension)
            project_events(node.ledger, ZONE, files)
            project_changes(node.ledger, ZONE, current.chain, files)
        return files, watch.seconds
    finally:
        node.close()


def batches(drafts: Iterable[Draft], size: int) -> Iterator[list[Draft]]:
    """Yield the drafts in lists of `size`."""
    rest = iter(drafts)
    while some := list(islice(rest, size)):
        yield some


def _no_encoder() -> Encoder:
    raise EncoderError("this benchmark runs without an encoder")
