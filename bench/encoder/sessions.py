"""Lower bounds of an encoder's time: of its graph alone, and of the graph's matrix products."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper

from bench.encoder.rivals import Lap, Times
from bench.kit.encoders import cache
from recollect.streams.encoder import cache as store
from recollect.streams.encoder.onnx_encoder import session_options
from recollect.streams.encoder.pin import Pin
from recollect.streams.encoder.word_pieces import WordPieceTokeniser
from recollect.streams.system.cores import usable_cores

_T = TypeVar("_T")
Ids = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint8]

# Operator -> the positions of its weights and scales among its inputs.
_WEIGHTS = {"DynamicQuantizeMatMul": (1, 2), "QAttention": (1, 4)}


def timed(encode: Callable[[], object]) -> Lap:
    """Return a timed run of a call."""

    def lap() -> Times:
        began, busy = time.perf_counter(), time.process_time()
        encode()
        return Times(time.perf_counter() - began, time.process_time() - busy)

    return lap


def graph_of(pin: Pin) -> Path:
    """Return the graph of a cached model."""
    directory = store.model_directory(cache(), pin.checksums)
    receipt = store.read_graph(directory, store.graph_name(pin.role, pin.precision))
    if receipt is None:
        raise SystemExit(f"{pin.model} is not in {directory}")
    return directory / receipt.file


def tokenize(pin: Pin, texts: Sequence[str]) -> list[Ids]:
    """Return the word pieces of every text, (1, n)."""
    tokenizer = store.model_directory(cache(), pin.checksums) / store.TOKENIZER
    cutter = WordPieceTokeniser(tokenizer, pin.settings.max_length)
    return [cutter.tokenise(text).ids for text in texts]


def bare(graph: Path, pieces: Sequence[Ids], pool: ThreadPoolExecutor) -> Lap:
    """Return a timed run of the graph over tokenised texts."""
    session = onnxruntime.InferenceSession(
        str(graph), session_options(), providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    return _timed_on_pool(lambda ids: session.run(None, {name: ids}), pieces, pool)


def products(graph: Path, pieces: Sequence[Ids], pool: ThreadPoolExecutor) -> Lap:
    """Return a timed run of only the products of an int8 graph, for texts of the same lengths."""
    alone = _Products(graph)
    lengths = [ids.shape[1] for ids in pieces]
    inputs = {length: alone.inputs(length) for length in lengths}
    return _timed_on_pool(lambda length: alone.multiply(inputs[length]), lengths, pool)


def _timed_on_pool(
    run: Callable[[_T], object], items: Sequence[_T], pool: ThreadPoolExecutor
) -> Lap:
    """Return a timed run that divides the work among the threads of the pool."""
    workers = usable_cores()
    shares = [items[first::workers] for first in range(workers)]

    def loop(share: Sequence[_T]) -> None:
        for one in share:
            run(one)

    return timed(lambda: list(pool.map(loop, shares)))


class _Products:
    """Multiplies the weights of a graph by int8 activations, and nothing else."""

    def __init__(self, graph: Path) -> None:
        model = onnx.load(str(graph))
        weights = {constant.name: constant for constant in model.graph.initializer}
        scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [0.02])
        used, nodes = [scale], []
        self._widths: set[int] = set()
        for number, node in enumerate(model.graph.node):
            if node.op_type in _WEIGHTS:
                weight, scales = (weights[node.input[at]] for at in _WEIGHTS[node.op_type])
                used += [weight, scales]
                width = weight.dims[0]
                self._widths.add(width)
                inputs = [_input(width), weight.name, "scale", scales.name]
                product = f"product.{number}"
                nodes.append(
                    helper.make_node(
                        "MatMulIntegerToFloat", inputs, [product], domain="com.microsoft"
                    )
                )
        made = helper.make_graph(
            nodes,
            "products",
            [
                helper.make_tensor_value_info(_input(width), TensorProto.UINT8, ["n", width])
                for width in sorted(self._widths)
            ],
            [
                helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)
                for node in nodes
            ],
            used,
        )
        alone = helper.make_model(
            made, opset_imports=model.opset_import, ir_version=model.ir_version
        )
        # The session runs every node anyway, but returns only the requested outputs.
        self._last = [nodes[-1].output[0]]
        self._session = onnxruntime.InferenceSession(
            alone.SerializeToString(), session_options(), providers=["CPUExecutionProvider"]
        )

    def inputs(self, tokens: int) -> Mapping[str, Codes]:
        """Return activations for this many tokens."""
        drawn = np.random.default_rng(tokens)
        return {
            _input(width): drawn.integers(0, 256, (tokens, width), np.uint8)
            for width in self._widths
        }

    def multiply(self, inputs: Mapping[str, Codes]) -> None:
        """Compute the products of one text."""
        self._session.run(self._last, dict(inputs))


def _input(width: int) -> str:
    return f"of {width}"
