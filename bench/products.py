"""The matrix products of an int8 graph alone: no encoder that onnxruntime runs can be faster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper

from streams.encoder.onnx_encoder import session_options

Codes = npt.NDArray[np.uint8]

# Where an operator of ours has its weights, and their scales.
_WEIGHTS = {"DynamicQuantizeMatMul": (1, 2), "QAttention": (1, 4)}


class Products:
    """Multiplies the weights of a graph by activations that are int8 already, and no more."""

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
        self._last = [nodes[-1].output[0]]
        self._session = onnxruntime.InferenceSession(
            alone.SerializeToString(), session_options(), providers=["CPUExecutionProvider"]
        )

    def inputs(self, tokens: int) -> Mapping[str, Codes]:
        """Return activations of so many tokens."""
        drawn = np.random.default_rng(tokens)
        return {
            _input(width): drawn.integers(0, 256, (tokens, width), np.uint8)
            for width in self._widths
        }

    def multiply(self, inputs: Mapping[str, Codes]) -> None:
        """Do the products of one text."""
        self._session.run(self._last, dict(inputs))


def _input(width: int) -> str:
    return f"of {width}"
