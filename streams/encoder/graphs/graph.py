"""Build the ONNX graph of a BERT from its tensors, with fused operators, in float or int8.

A sentence encoder's graph takes `input_ids` (1, n) int32 and returns `last_hidden_state` (1, n,
hidden) float32. One text at a time needs no padding, so there is no mask. The segment is always 0,
so its embedding is added to the position embeddings. A cross-encoder's graph takes a pair of texts,
`input_ids` and `segment_ids`, and returns one `logit` (1, 1). A reader's graph is the graph of a
sentence encoder, but also returns the hidden states of inner layers. Operators: com.microsoft
EmbedLayerNormalization, Attention or QAttention, DynamicQuantizeMatMul, BiasGelu, as documented in
onnxruntime's ContribOperators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from recollect.streams.encoder.catalog import LAST_HIDDEN_STATE, Precision, hidden_state_name
from recollect.streams.encoder.encoder_errors import EncoderUnsupported
from recollect.streams.encoder.graphs import onnx_messages as onnx
from recollect.streams.encoder.graphs.checkpoint import Shape, tensor

INPUT, SEGMENTS = "input_ids", "segment_ids"
LOGIT = "logit"
WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
_FUSED = "com.microsoft"
# Supported by every onnxruntime that recollect accepts.
_OPSET, _IR_VERSION = 17, 8

Floats = npt.NDArray[np.float32]


def build(
    tensors: Mapping[str, Floats],
    shape: Shape,
    precision: Precision,
    vocabulary_size: int,
    inner_layers: Sequence[int] = (),
) -> bytes:
    """Return the serialised graph.

    `inner_layers`: layers, counted from 1, whose hidden states are further outputs, named by
    `hidden_state_name`. Raise EncoderUnsupported if a tensor is absent or misshapen, or if the
    embeddings have fewer than `vocabulary_size` rows.
    """
    graph = _Graph(tensors, shape, quantised=precision == "int8")
    graph.check_vocabulary(vocabulary_size)
    hidden = graph.embeddings()
    for layer in range(shape.num_hidden_layers):
        hidden = graph.layer(layer, hidden)
    states: list[int | str] = [1, "n", shape.hidden_size]
    inner = {hidden_state_name(layer): states for layer in inner_layers}
    return graph.finish([INPUT], LAST_HIDDEN_STATE, states, inner)


def build_pair(
    tensors: Mapping[str, Floats], shape: Shape, precision: Precision, vocabulary_size: int
) -> bytes:
    """Return the serialised graph of a cross-encoder: a BERT, its pooler, and a head of one class.

    Raise EncoderUnsupported as `build` does, and if the head has more classes.
    """
    graph = _Graph(tensors, shape, quantised=precision == "int8")
    graph.check_vocabulary(vocabulary_size)
    hidden = graph.embeddings(pairs=True)
    for layer in range(shape.num_hidden_layers):
        hidden = graph.layer(layer, hidden)
    graph.classify(hidden)
    return graph.finish([INPUT, SEGMENTS], LOGIT, [1, 1])


def quantise(weight: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return int8 weights (in, out) and their scales (out,): symmetric, one scale per column.

    w ~ q * scale. Per column, 127 stands for the maximum of |w| and |w + w'|, where w and w' are
    a pair of adjacent rows (0 and 1, 2 and 3, ...). The reason: x86 without VNNI
    adds the products of such a pair with two activations, 0 to 255, in 16 bits (vpmaddubsw) with
    saturation. With |q + q'| <= 128 after rounding, 255 * 128 < 2**15, it never saturates, so
    every processor gets the same sums. A column of zeros gets scale 1.
    """
    pairs = np.pad(weight, ((0, len(weight) % 2), (0, 0)))
    sums = np.abs(pairs[0::2] + pairs[1::2]).max(axis=0)
    scale = np.maximum(np.abs(weight).max(axis=0), sums) / np.float32(127)
    scale = np.where(scale == 0, np.float32(1), scale).astype(np.float32)
    return np.rint(weight / scale).astype(np.int8), scale


class _Graph:
    def __init__(self, tensors: Mapping[str, Floats], shape: Shape, *, quantised: bool) -> None:
        self._tensors = tensors
        self._shape = shape
        self._quantised = quantised
        self._nodes: list[onnx.Message] = []
        self._constants: list[onnx.Message] = []

    def check_vocabulary(self, vocabulary_size: int) -> None:
        embedding_count = len(self._take(WORD_EMBEDDINGS, -1, self._shape.hidden_size))
        if embedding_count < vocabulary_size:
            raise EncoderUnsupported(
                f"the tokenizer has {vocabulary_size} pieces but the model has embeddings for "
                f"{embedding_count}: they do not belong together"
            )

    def embeddings(self, *, pairs: bool = False) -> str:
        size = self._shape.hidden_size
        words = self._take(WORD_EMBEDDINGS, -1, size)
        positions = self._take(
            "embeddings.position_embeddings.weight", self._shape.max_position_embeddings, size
        )
        segments = self._take("embeddings.token_type_embeddings.weight", -1, size)
        if pairs and len(segments) < 2:
            raise EncoderUnsupported(
                "the model has one segment embedding, but a pair of texts needs two"
            )
        inputs = [
            INPUT,
            SEGMENTS if pairs else "",
            self._constant("embeddings.words", words),
            self._constant("embeddings.positions", positions if pairs else positions + segments[0]),
            self._constant("embeddings.segments", segments) if pairs else "",
            *self._norm("embeddings.LayerNorm"),
        ]
        # The operator requires the second output, a mask index, which is unused.
        outputs = ["embeddings", "embeddings.mask"]
        self._node("EmbedLayerNormalization", inputs, outputs, epsilon=self._shape.layer_norm_eps)
        return "embeddings"

    def layer(self, number: int, hidden: str) -> str:
        at = f"encoder.layer.{number}"
        attended = self._attention(f"{at}.attention.self", hidden)
        projected = self._dense(f"{at}.attention.output.dense", attended)
        middle = self._add_and_norm(f"{at}.attention.output.LayerNorm", projected, hidden)
        wide = self._dense(f"{at}.intermediate.dense", middle, gelu=True)
        narrow = self._dense(f"{at}.output.dense", wide)
        return self._add_and_norm(f"{at}.output.LayerNorm", narrow, middle)

    def classify(self, hidden: str) -> None:
        """Add the pooler and the head to the graph.

        logit = W tanh(P h + p) + w, where h is the vector of the first token.
        """
        size = self._shape.hidden_size
        self._constants.append(onnx.tensor("first", np.array(0, np.int64)))
        self._node("Gather", [hidden, "first"], ["cls"], domain="", axis=1)
        pooler = [
            self._constant(f"pooler.dense.{part}", self._take(f"pooler.dense.{part}", *shape))
            for part, shape in (("weight", (size, size)), ("bias", (size,)))
        ]
        self._node("Gemm", ["cls", *pooler], ["pooler.dense"], domain="", transB=1)
        self._node("Tanh", ["pooler.dense"], ["pooled"], domain="")
        head = [
            self._constant(f"classifier.{part}", self._take(f"classifier.{part}", *shape))
            for part, shape in (("weight", (1, size)), ("bias", (1,)))
        ]
        self._node("Gemm", ["pooled", *head], ["classifier"], domain="", transB=1)

    def finish(
        self,
        inputs: list[str],
        output: str,
        shape: list[int | str],
        inner: Mapping[str, list[int | str]] = MappingProxyType({}),
    ) -> bytes:
        self._nodes[-1].output[0] = output
        outputs = {output: shape, **inner}
        return onnx.model(
            "encoder",
            self._nodes,
            [onnx.value(name, onnx.INT32, [1, "n"]) for name in inputs],
            [onnx.value(name, onnx.FLOAT, dimensions) for name, dimensions in outputs.items()],
            self._constants,
            ir_version=_IR_VERSION,
            operator_sets={"": _OPSET, _FUSED: 1},
        )

    def _attention(self, at: str, hidden: str) -> str:
        size = self._shape.hidden_size
        parts = ("query", "key", "value")
        weight = np.concatenate(
            [self._take(f"{at}.{part}.weight", size, size).T for part in parts], axis=1
        )
        bias = np.concatenate([self._take(f"{at}.{part}.bias", size) for part in parts])
        biased = self._constant(f"{at}.bias", bias)
        heads = self._shape.num_attention_heads
        if self._quantised:
            codes, scale = quantise(weight)
            values = [f"{at}.{part}" for part in ("values", "scale", "zero")]
            self._node("DynamicQuantizeLinear", [hidden], values, domain="")
            inputs = [
                values[0],
                self._constant(f"{at}.weight", codes),
                biased,
                values[1],
                self._constant(f"{at}.weight.scale", scale),
                "",
                values[2],
            ]
            self._node("QAttention", inputs, [at], num_heads=heads)
        else:
            inputs = [hidden, self._constant(f"{at}.weight", weight), biased]
            self._node("Attention", inputs, [at], num_heads=heads)
        return at

    def _dense(self, at: str, hidden: str, *, gelu: bool = False) -> str:
        weight = self._take(f"{at}.weight", -1, -1).T
        bias = self._constant(f"{at}.bias", self._take(f"{at}.bias", weight.shape[1]))
        product = f"{at}.product"
        if self._quantised:
            codes, scale = quantise(weight)
            inputs = [
                hidden,
                self._constant(f"{at}.weight", codes),
                self._constant(f"{at}.weight.scale", scale),
            ]
            if not gelu:
                self._node("DynamicQuantizeMatMul", [*inputs, "", bias], [at])
                return at
            self._node("DynamicQuantizeMatMul", inputs, [product])
        else:
            inputs = [hidden, self._constant(f"{at}.weight", weight)]
            self._node("MatMul", inputs, [product], domain="")
        if gelu:
            self._node("BiasGelu", [product, bias], [at])
        else:
            self._node("Add", [product, bias], [at], domain="")
        return at

    def _add_and_norm(self, at: str, one: str, other: str) -> str:
        # Not SkipLayerNormalization: its CPU kernel is scalar (onnxruntime 1.31, 35 x 384:
        # 74 us against 14 us for these two). The difference is a fifth of an int8 forward pass.
        self._node("Add", [one, other], [f"{at}.sum"], domain="")
        self._node(
            "LayerNormalization",
            [f"{at}.sum", *self._norm(at)],
            [at],
            domain="",
            epsilon=self._shape.layer_norm_eps,
        )
        return at

    def _norm(self, at: str) -> tuple[str, str]:
        size = self._shape.hidden_size
        gain, shift = (self._take(f"{at}.{part}", size) for part in ("weight", "bias"))
        return self._constant(f"{at}.gain", gain), self._constant(f"{at}.shift", shift)

    def _take(self, name: str, *shape: int) -> Floats:
        return tensor(self._tensors, name, *shape)

    def _constant(self, name: str, value: npt.NDArray[np.float32] | npt.NDArray[np.int8]) -> str:
        self._constants.append(onnx.tensor(name, value))
        return name

    def _node(
        self,
        operator: str,
        inputs: list[str],
        outputs: list[str],
        *,
        domain: str = _FUSED,
        **attributes: float,
    ) -> None:
        self._nodes.append(onnx.node(operator, inputs, outputs, domain, **attributes))
