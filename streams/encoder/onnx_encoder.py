"""The encoder on a cached ONNX graph: one text per forward pass, one worker per core."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from recollect.streams.encoder.catalog import (
    INNER_LAYERS,
    LAST_HIDDEN_STATE,
    Pooling,
    hidden_state_name,
)
from recollect.streams.encoder.encoder import HiddenStates, TokenVectors
from recollect.streams.encoder.pin import Pin
from recollect.streams.encoder.word_pieces import TokenisedText, WordPieceTokeniser
from recollect.streams.system.cores import usable_cores

Floats = npt.NDArray[np.float32]

# The outputs of a reader's graph.
_READER_OUTPUTS = [LAST_HIDDEN_STATE, *map(hidden_state_name, INNER_LAYERS)]


class OnnxEncoder:
    """An Encoder whose vectors are the same, bit for bit, in any batch and on any worker.

    Dynamic int8 quantisation scales activations per tensor, and float sums depend on the shape.
    Therefore texts never share a forward pass. Each pass runs on one thread, so nothing depends on
    how work is split. Throughput comes from running `workers` forward passes in parallel.
    """

    def __init__(self, pin: Pin, *, graph: Path, tokenizer: Path, workers: int | None) -> None:
        self.model = pin.model
        self.dimension = pin.dimension
        self._settings = pin.settings
        # Creating a session releases the GIL, so the vocabulary is loaded at the same time.
        with ThreadPoolExecutor(1) as background:
            session = background.submit(
                onnxruntime.InferenceSession,
                str(graph),
                session_options(),
                providers=["CPUExecutionProvider"],
            )
            self._tokeniser = WordPieceTokeniser(tokenizer, pin.settings.max_length)
            self._session = session.result()
        self._input = self._session.get_inputs()[0].name
        self.workers = workers or usable_cores()
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="encoder")

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return (n, dimension) unit vectors of passages, in the order of `texts`."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def encode(row: int) -> None:
            vectors[row] = self._vector(texts[row])

        self.run_parallel(encode, len(texts))
        return vectors

    def encode_query(self, text: str) -> Floats:
        """Return the (dimension,) unit vector of a query, with the model's query prefix."""
        # Runs on the caller's thread, so that a query does not wait behind a large batch.
        return self._vector(self._settings.query_prefix + text)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text, as a passage (no query prefix)."""
        found: dict[int, TokenVectors] = {}

        def encode(row: int) -> None:
            found[row] = self._tokens(texts[row])

        self.run_parallel(encode, len(texts))
        return [found[row] for row in range(len(texts))]

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Return a query's token vectors without those of its prefix, as `Encoder` specifies."""
        prefix = self._settings.query_prefix
        tokens = self._tokens(prefix + text)
        after_prefix = tokens.offsets[:, 0] >= len(prefix)
        return TokenVectors(
            ids=tokens.ids[after_prefix],
            offsets=tokens.offsets[after_prefix] - len(prefix),
            vectors=tokens.vectors[after_prefix],
            pooled=tokens.pooled,
        )

    def count_tokens(self, text: str) -> int:
        """Return the number of word pieces in a text of any length."""
        return self._tokeniser.count_tokens(text)

    def close(self) -> None:
        """Stop the workers; batches can no longer be encoded."""
        self._pool.shutdown(cancel_futures=True)

    def run_parallel(self, work: Callable[[int], None], count: int) -> None:
        """Call `work` with 0 to count - 1 on the workers' threads; each takes the next number."""
        # One pool task per worker, not per number: each task wakes the caller when it ends.
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
            # If the caller was interrupted, the rest of the batch is dropped.
            waiting.clear()
        for future in runs:
            future.result()

    def for_each_hidden_states(
        self, texts: Sequence[str], callback: Callable[[int, HiddenStates], None]
    ) -> None:
        """Call `callback` with the row and the hidden states of each text, on the workers' threads.

        Requires a graph with inner layers (a pin of the role "reader").
        """
        self.run_parallel(lambda row: callback(row, self.hidden_states(texts[row])), len(texts))

    def hidden_states(self, text: str) -> HiddenStates:
        """Return a text's hidden states in all layers that heads use.

        They are computed on the caller's thread.
        """
        tokenised = self._tokeniser.tokenise(text)
        last, *inner = self._session.run(_READER_OUTPUTS, {self._input: tokenised.ids})
        text_rows = slice(
            tokenised.leading_specials, tokenised.leading_specials + len(tokenised.offsets)
        )
        layers = {
            number: states[0, text_rows] for number, states in zip(INNER_LAYERS, inner, strict=True)
        }
        return HiddenStates(layers, self._token_vectors(tokenised, last[0]), tokenised.is_complete)

    def _vector(self, text: str) -> Floats:
        return pooled_vector(self._forward(self._tokeniser.tokenise(text)), self._settings.pooling)

    def _tokens(self, text: str) -> TokenVectors:
        tokenised = self._tokeniser.tokenise(text)
        return self._token_vectors(tokenised, self._forward(tokenised))

    def _token_vectors(self, tokenised: TokenisedText, hidden: Floats) -> TokenVectors:
        text_rows = slice(
            tokenised.leading_specials, tokenised.leading_specials + len(tokenised.offsets)
        )
        return TokenVectors(
            ids=tokenised.ids[0, text_rows],
            offsets=tokenised.offsets,
            vectors=hidden[text_rows],
            pooled=pooled_vector(hidden, self._settings.pooling),
        )

    def _forward(self, tokenised: TokenisedText) -> Floats:
        (hidden,) = self._session.run([LAST_HIDDEN_STATE], {self._input: tokenised.ids})
        (only,) = hidden
        return np.asarray(only, dtype=np.float32)


def pooled_vector(hidden: Floats, pooling: Pooling) -> Floats:
    """Return the unit vector of a text from its (n, dimension) token vectors.

    As in sentence-transformers: the mean over all tokens, CLS and SEP included, or CLS alone,
    divided by max(norm, 1e-12).
    """
    vector = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    length = np.sqrt(np.square(vector).sum())
    return np.asarray(vector / np.maximum(length, np.float32(1e-12)), dtype=np.float32)


def session_options() -> onnxruntime.SessionOptions:
    """Return the session options: one thread, no graph optimisation."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The graph is built with fused operators; optimisation would only cost loading time.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return options
