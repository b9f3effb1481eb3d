"""A cross-encoder, which scores how well a text answers a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from recollect.streams.encoder.onnx_encoder import session_options
from recollect.streams.encoder.pin import Pin

Floats = npt.NDArray[np.float32]

_SURROGATE = re.compile("[\ud800-\udfff]")
# The number of characters of a text that are tokenised for each word piece of the maximum. English
# has 4 to 5 characters per word piece, so the rest would be truncated anyway.
_CHARACTERS_PER_PIECE = 16


class OnnxCrossEncoder:
    """A cross-encoder on ONNX.

    A score depends on the pair and the model alone, because each pair has a forward pass of its
    own, on one thread.
    """

    def __init__(self, pin: Pin, *, graph: Path, tokenizer: Path) -> None:
        self.model = pin.model
        self._max_length = pin.settings.max_length
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._max_length, strategy="longest_first")
        self._session = onnxruntime.InferenceSession(
            str(graph), session_options(), providers=["CPUExecutionProvider"]
        )
        self._inputs = [item.name for item in self._session.get_inputs()]

    def score(self, question: str, texts: Sequence[str]) -> Floats:
        """Return for each text the probability, 0 to 1, that it answers the question.

        It is the sigmoid of the model's logit, because these models are trained with a sigmoid.
        """
        question = self._prepare(question)
        logits = [self._logit(question, self._prepare(text)) for text in texts]
        return (1 / (1 + np.exp(-np.array(logits, np.float64)))).astype(np.float32)

    def _logit(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(question, text)
        arrays = (np.array([ids], np.int32) for ids in (pair.ids, pair.type_ids))
        (logit,) = self._session.run(None, dict(zip(self._inputs, arrays, strict=True)))
        return float(logit[0, 0])

    def _prepare(self, text: str) -> str:
        return _SURROGATE.sub("\ufffd", text[: _CHARACTERS_PER_PIECE * self._max_length])
