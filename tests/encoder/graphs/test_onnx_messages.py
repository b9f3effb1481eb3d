"""What is written is what the onnx package writes, to the byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from recollect.streams.encoder.graphs import onnx_messages as ours

TENSORS: dict[str, npt.NDArray[Any]] = {
    "floats": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3),
    "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "bytes": np.array([[-127, 0, 127]], np.int8),
    "number": np.array(0, np.int64),
}


def written() -> bytes:
    return ours.model(
        "some",
        [
            ours.node("LayerNormalization", ["in", "", "g"], ["mid"], "", epsilon=1e-12),
            ours.node("Attention", ["mid"], ["out"], "com.microsoft", num_heads=12, alpha=0.5),
        ],
        [ours.value("in", ours.INT32, [1, "n"])],
        [ours.value("out", ours.FLOAT, [1, "n", 384])],
        [ours.tensor(name, value) for name, value in TENSORS.items()],
        ir_version=8,
        operator_sets={"": 17, "com.microsoft": 1},
    )


def expected() -> onnx.ModelProto:
    graph = helper.make_graph(
        [
            helper.make_node(
                "LayerNormalization", ["in", "", "g"], ["mid"], domain="", epsilon=1e-12
            ),
            helper.make_node(
                "Attention", ["mid"], ["out"], domain="com.microsoft", num_heads=12, alpha=0.5
            ),
        ],
        "some",
        [helper.make_tensor_value_info("in", TensorProto.INT32, [1, "n"])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, "n", 384])],
        [
            numpy_helper.from_array(np.ascontiguousarray(value) if value.ndim else value, name)
            for name, value in TENSORS.items()
        ],
    )
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


def test_a_model_is_what_the_onnx_package_writes() -> None:
    assert written() == expected().SerializeToString()


@pytest.mark.parametrize("name", TENSORS)
def test_a_constant_is_read_as_it_was(name: str) -> None:
    model = onnx.load_model_from_string(written())
    (found,) = (each for each in model.graph.initializer if each.name == name)
    np.testing.assert_array_equal(numpy_helper.to_array(found), TENSORS[name])


def test_reading_keeps_fields_that_are_not_described_here() -> None:
    full = expected()
    full.doc_string = "kept"
    full.graph.node[0].doc_string = "kept too"
    content = full.SerializeToString()
    read = ours.read_model(content)
    assert onnx.load_model_from_string(read.SerializeToString()) == full


def test_a_constant_laid_outside_is_external_data() -> None:
    read = ours.read_model(written())
    ours.make_external(read.graph.initializer[0], "graph.onnx", 4_096, 24)
    outside = onnx.load_model_from_string(read.SerializeToString()).graph.initializer[0]
    assert outside.data_location == TensorProto.EXTERNAL
    assert {entry.key: entry.value for entry in outside.external_data} == {
        "location": "graph.onnx",
        "offset": "4096",
        "length": "24",
    }
    assert not outside.raw_data
