"""The protobuf messages of an ONNX model, as far as encoders need them.

Field numbers and types are those of onnx.proto (https://github.com/onnx/onnx). The `onnx` package
is not used because it is larger than a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

#: A protobuf message; its class is created below, so type checkers do not know its fields.
Message = Any

_PACKAGE = "recollect.onnx"
_SCALARS = {"int32", "int64", "float", "string", "bytes"}
# Message -> field -> number, type, and whether it is repeated.
_FIELDS: Mapping[str, Mapping[str, tuple[int, str, bool]]] = {
    "Model": {
        "ir_version": (1, "int64", False),
        "graph": (7, "Graph", False),
        "opset_import": (8, "OperatorSet", True),
    },
    "OperatorSet": {"domain": (1, "string", False), "version": (2, "int64", False)},
    "Graph": {
        "node": (1, "Node", True),
        "name": (2, "string", False),
        "initializer": (5, "Tensor", True),
        "input": (11, "ValueInfo", True),
        "output": (12, "ValueInfo", True),
    },
    "Node": {
        "input": (1, "string", True),
        "output": (2, "string", True),
        "op_type": (4, "string", False),
        "attribute": (5, "Attribute", True),
        "domain": (7, "string", False),
    },
    "Attribute": {
        "name": (1, "string", False),
        "f": (2, "float", False),
        "i": (3, "int64", False),
        "type": (20, "int32", False),
    },
    "Tensor": {
        "dims": (1, "int64", True),
        "data_type": (2, "int32", False),
        "name": (8, "string", False),
        "raw_data": (9, "bytes", False),
        "external_data": (13, "Entry", True),
        "data_location": (14, "int32", False),
    },
    "Entry": {"key": (1, "string", False), "value": (2, "string", False)},
    "ValueInfo": {"name": (1, "string", False), "type": (2, "Type", False)},
    "Type": {"tensor_type": (1, "TensorType", False)},
    "TensorType": {"elem_type": (1, "int32", False), "shape": (2, "Shape", False)},
    "Shape": {"dim": (1, "Dimension", True)},
    "Dimension": {"dim_value": (1, "int64", False), "dim_param": (2, "string", False)},
}

#: Element types of TensorProto.DataType.
FLOAT, INT8, INT32, INT64 = 1, 3, 6, 7
_ELEMENTS = {"float32": FLOAT, "int8": INT8, "int32": INT32, "int64": INT64}
# AttributeProto.AttributeType.
_FLOAT_ATTRIBUTE, _INT_ATTRIBUTE = 1, 2
# TensorProto.DataLocation.EXTERNAL: the bytes are in another file.
_EXTERNAL = 1


def _classes() -> dict[str, type[Message]]:
    """Create a class for each message."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="recollect/onnx.proto", package=_PACKAGE, syntax="proto2"
    )
    for message, fields in _FIELDS.items():
        described = file.message_type.add(name=message)
        for name, (number, kind, repeated) in fields.items():
            label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
            added = described.field.add(name=name, number=number, label=label)
            if kind in _SCALARS:
                added.type = field.Type.Value(f"TYPE_{kind.upper()}")
            else:
                added.type = field.TYPE_MESSAGE
                added.type_name = f".{_PACKAGE}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        message: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"{_PACKAGE}.{message}")
        )
        for message in _FIELDS
    }


_CLASS = _classes()


def node(
    operator: str, inputs: Sequence[str], outputs: Sequence[str], domain: str, **attributes: float
) -> Message:
    """Return a node; an attribute is a float or an int."""
    return _CLASS["Node"](
        input=inputs,
        output=outputs,
        op_type=operator,
        domain=domain,
        attribute=[_attribute(name, value) for name, value in sorted(attributes.items())],
    )


def _attribute(name: str, value: float) -> Message:
    if isinstance(value, int):
        return _CLASS["Attribute"](name=name, i=value, type=_INT_ATTRIBUTE)
    return _CLASS["Attribute"](name=name, f=value, type=_FLOAT_ATTRIBUTE)


def tensor(name: str, value: npt.NDArray[Any]) -> Message:
    """Return a constant tensor."""
    little_endian = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
    return _CLASS["Tensor"](
        dims=value.shape,
        data_type=_ELEMENTS[value.dtype.name],
        name=name,
        raw_data=little_endian.tobytes(),
    )


def value(name: str, element: int, shape: Sequence[int | str]) -> Message:
    """Return the declaration of an input or output; a named dimension has any length."""
    dimensions = [
        _CLASS["Dimension"](dim_param=length)
        if isinstance(length, str)
        else _CLASS["Dimension"](dim_value=length)
        for length in shape
    ]
    tensor_type = _CLASS["TensorType"](elem_type=element, shape=_CLASS["Shape"](dim=dimensions))
    return _CLASS["ValueInfo"](name=name, type=_CLASS["Type"](tensor_type=tensor_type))


def model(
    name: str,
    nodes: Iterable[Message],
    inputs: Iterable[Message],
    outputs: Iterable[Message],
    constants: Iterable[Message],
    *,
    ir_version: int,
    operator_sets: Mapping[str, int],
) -> bytes:
    """Return a serialised model with one graph; `operator_sets`: domain -> version."""
    graph = _CLASS["Graph"](
        name=name, node=nodes, input=inputs, output=outputs, initializer=constants
    )
    sets = [
        _CLASS["OperatorSet"](domain=domain, version=version)
        for domain, version in operator_sets.items()
    ]
    message = _CLASS["Model"](ir_version=ir_version, graph=graph, opset_import=sets)
    return bytes(message.SerializeToString())


def read_model(content: bytes) -> Message:
    """Parse a serialised model; fields unknown here are preserved."""
    return _CLASS["Model"].FromString(content)


def make_external(constant: Message, file: str, offset: int, length: int) -> None:
    """Replace a constant's bytes by a reference to their location in a file."""
    constant.ClearField("raw_data")
    constant.data_location = _EXTERNAL
    for key, value in (("location", file), ("offset", offset), ("length", length)):
        constant.external_data.add(key=key, value=str(value))
