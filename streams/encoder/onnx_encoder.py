"""The encoder that runs a cached ONNX graph: one text per forward, one worker per core."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from recollect.streams.encoder.catalog import INNER_LAYERS, OUTPUT, Pooling, hidden_after
from recollect.streams.encoder.encoder import HiddenStates, TokenVectors
from recollect.streams.encoder.pieces import PieceCutter, Pieces
from recollect.streams.encoder.pin import Pin
from recollect.streams.system.cores import usable_cores

Floats = npt.NDArray[np.float32]

# What a reader's graph gives.
_SEEN = [OUTPUT, *map(hidden_after, INNER_LAYERS)]


class OnnxEncoder:
    """An Encoder whose vectors are the same, bit for bit, in any batch and on any worker.

    Dynamic int8 scales activations per tensor and float sums depend on the shape, so texts
    never share a forward; and each forward runs on one thread, so nothing depends on how work
    is split. The speed comes from running `workers` forwards side by side.
    """

    def __init__(self, pin: Pin, *, graph: Path, tokenizer: Path, workers: int | None) -> None:
        self.model = pin.model
        self.dimension = pin.dimension
        self._settings = pin.settings
        # A session is made without Python: the vocabulary is read at the same time.
        with ThreadPoolExecutor(1) as background:
            session = background.submit(
                onnxruntime.InferenceSession,
                str(graph),
                session_options(),
                providers=["CPUExecutionProvider"],
            )
            self._cutter = PieceCutter(tokenizer, pin.settings.max_length)
            self._session = session.result()
        self._input = self._session.get_inputs()[0].name
        self.workers = workers or usable_cores()
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="encoder")

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return (n, dimension) unit vectors of passages, in the order of `texts`."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def encode(row: int) -> None:
            vectors[row] = self._vector(texts[row])

        self.share(encode, len(texts))
        return vectors

    def encode_query(self, text: str) -> Floats:
        """Return the (dimension,) unit vector of a query, with the model's query prefix."""
        # On the caller's own thread, so that a question does not wait behind a large batch.
        return self._vector(self._settings.query_prefix + text)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text, as a passage (no query prefix)."""
        found: dict[int, TokenVectors] = {}

        def encode(row: int) -> None:
            found[row] = self._tokens(texts[row])

        self.share(encode, len(texts))
        return [found[row] for row in range(len(texts))]

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Return the token vectors of a query without its prefix's; `pooled` as `encode_query`."""
        prefix = self._settings.query_prefix
        found = self._tokens(prefix + text)
        own = found.offsets[:, 0] >= len(prefix)
        return TokenVectors(
            ids=found.ids[own],
            offsets=found.offsets[own] - len(prefix),
            vectors=found.vectors[own],
            pooled=found.pooled,
        )

    def count_pieces(self, text: str) -> int:
        """Return how many word pieces a text of any length has."""
        return self._cutter.count(text)

    def close(self) -> None:
        """Stop the workers; no texts can be encoded afterwards."""
        self._pool.shutdown(cancel_futures=True)

    def share(self, work: Callable[[int], None], count: int) -> None:
        """Call `work` with 0 to count - 1; each worker takes the next until none is left."""
        # Not a task of the pool for each: every one would wake the caller when it is done.
        waiting = deque(range(count))

        def run() -> None:
            while True:
                try:
                    row = waiting.popleft()
                except IndexError:
                    return
                work(row)

        runs = [self._pool.submit(run) for _ in range(min(self.workers, count))]
        try:
            wait(runs, return_when=FIRST_EXCEPTION)
        finally:
            # Also if the caller was interrupted: the rest of the batch is dropped.
            waiting.clear()
        for each in runs:
            each.result()

    def see(self, texts: Sequence[str], look: Callable[[int, HiddenStates], None]) -> None:
        """Call `look` with the row and the hidden states of each text, on the workers' threads.

        Only for a graph that gives inner layers (a pin of the role "reader").
        """
        self.share(lambda row: look(row, self.hidden_states(texts[row])), len(texts))

    def hidden_states(self, text: str) -> HiddenStates:
        """Return a text in all layers that heads see, on the caller's own thread."""
        pieces = self._cutter.cut(text)
        last, *inner = self._session.run(_SEEN, {self._input: pieces.ids})
        own = slice(pieces.head, pieces.head + len(pieces.offsets))
        layers = {
            number: states[0, own] for number, states in zip(INNER_LAYERS, inner, strict=True)
        }
        return HiddenStates(layers, self._seen(pieces, last[0]), pieces.whole)

    def _vector(self, text: str) -> Floats:
        return pool(self._forward(self._cutter.cut(text)), self._settings.pooling)

    def _tokens(self, text: str) -> TokenVectors:
        pieces = self._cutter.cut(text)
        return self._seen(pieces, self._forward(pieces))

    def _seen(self, pieces: Pieces, hidden: Floats) -> TokenVectors:
        own = slice(pieces.head, pieces.head + len(pieces.offsets))
        return TokenVectors(
            ids=pieces.ids[0, own],
            offsets=pieces.offsets,
            vectors=hidden[own],
            pooled=pool(hidden, self._settings.pooling),
        )

    def _forward(self, pieces: Pieces) -> Floats:
        (hidden,) = self._session.run([OUTPUT], {self._input: pieces.ids})
        (only,) = hidden
        return np.asarray(only, dtype=np.float32)


def pool(hidden: Floats, pooling: Pooling) -> Floats:
    """Return the unit vector of a text from its (n, dimension) token vectors.

    As sentence-transformers does: the mean of all tokens, CLS and SEP included, or CLS alone;
    then divided by max(its length, 1e-12).
    """
    vector = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    length = np.sqrt(np.square(vector).sum())
    return np.asarray(vector / np.maximum(length, np.float32(1e-12)), dtype=np.float32)


def session_options() -> onnxruntime.SessionOptions:
    """Return the options every session of ours runs with: one thread, nothing to optimise."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The graph was built fused: there is nothing to find, and looking costs loading time.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return options
