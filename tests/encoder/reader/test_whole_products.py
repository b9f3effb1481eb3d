"""Products of whole numbers: exact, whatever the numbers and whatever the processor."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from recollect.schemas.errors import IntegrityError
from recollect.streams.reader import whole_products
from recollect.streams.reader.whole_products import WholeProducts

LEAST, MOST = -127, 127


def table(rows: int, columns: int, values: list[int], chance: random.Random) -> np.ndarray:
    return np.array(
        [[chance.choice(values) for _ in range(columns)] for _ in range(rows)], np.int8
    ).reshape(rows, columns)


def plainly(rows: np.ndarray, weights: np.ndarray) -> list[list[int]]:
    """Return the products, added in numbers of Python."""
    columns = list(zip(*weights.tolist(), strict=True))
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
        for row in rows.tolist()
    ]


class AddsInSixteenBits:
    """A processor that adds the products of two neighbours in 16 bits: what is more is cut off."""

    def run(self, _: None, given: dict[str, np.ndarray]) -> list[np.ndarray]:
        rows, weights = (each.astype(np.int64) for each in (given["rows"], given["weights"]))
        products = rows[:, :, None] * weights[None]
        pairs = (products[:, ::2] + products[:, 1::2]).clip(-(2**15), 2**15 - 1)
        return [(pairs.sum(axis=1) - 128 * weights.sum(axis=0)).astype(np.int32)]


@pytest.mark.parametrize("values", [[LEAST, MOST], [MOST], [LEAST], list(range(LEAST, MOST + 1))])
@pytest.mark.parametrize("inputs", [1, 2, 7, 24, 65, 130])
def test_products_are_exact(values: list[int], inputs: int) -> None:
    chance = random.Random(inputs)
    weights = table(inputs, 5, values, chance)
    products = WholeProducts(weights)
    for count in (1, 2, 9):
        for others in (values, [LEAST, MOST], [0, MOST]):
            rows = table(count, inputs, others, chance)
            assert products.of([rows]).tolist() == plainly(rows, weights)


@pytest.mark.parametrize("values", [[LEAST, MOST], [MOST], [LEAST], [-100, -1, 3, 100]])
@pytest.mark.parametrize("inputs", [1, 2, 7, 64])
def test_they_are_exact_where_two_products_are_added_in_16_bits(
    values: list[int], inputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_products, "_session", AddsInSixteenBits)
    chance = random.Random(inputs)
    weights = table(inputs, 3, values, chance)
    rows = table(20, inputs, [LEAST, MOST], chance)
    assert WholeProducts(weights).of([rows]).tolist() == plainly(rows, weights)


def test_parts_stand_side_by_side() -> None:
    chance = random.Random(4)
    every = list(range(LEAST, MOST + 1))
    weights, wide = table(30, 4, every, chance), table(600, 60, every, chance)
    # As columns of a wider table, and as the rows of another one.
    parts = [wide[:, 10:20], wide[:, 40:55], table(5, 600, every, chance).T]
    rows = np.concatenate(parts, axis=1)
    assert WholeProducts(weights).of(parts).tolist() == plainly(rows, weights)


def test_sums_that_32_bits_do_not_hold_are_refused() -> None:
    with pytest.raises(IntegrityError, match="inputs"):
        WholeProducts(np.zeros((40_000, 1), np.int8))


def test_the_graph_is_one_product() -> None:
    """The file is what this makes; a newer one is written from it."""
    node = helper.make_node("MatMulInteger", ["rows", "weights", "zero"], ["products"])
    given = [
        helper.make_tensor_value_info("rows", TensorProto.UINT8, ["n", "k"]),
        helper.make_tensor_value_info("weights", TensorProto.INT8, ["k", "m"]),
    ]
    found = [helper.make_tensor_value_info("products", TensorProto.INT32, ["n", "m"])]
    zero = numpy_helper.from_array(np.array(128, np.uint8), "zero")
    graph = helper.make_graph([node], "products", given, found, [zero])
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    assert onnx.load(Path(whole_products.__file__).with_name("products.onnx")) == model
