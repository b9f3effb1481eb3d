"""A graph without weights, which refers to those in the original graph's file.

onnxruntime parses and copies weights inside a graph, which takes a tenth of a second for 60 MB.
External weights are mapped into memory instead, and paged in where a text needs them. The file with
the graph but without weights is called NAME-outline.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from recollect.streams.encoder import cache as store
from recollect.streams.encoder.encoder_errors import EncoderUnsupported

# Bytes; smaller weights are copied as fast as they are mapped.
_MIN_EXTERNAL_BYTES = 1_024


def without_weights(graph: bytes, file: str) -> bytes:
    """Return a serialised graph that refers to its weights in `file`, in the same directory."""
    # Imported here: only building needs it.
    from recollect.streams.encoder.graphs.onnx_messages import make_external, read_model

    model = read_model(graph)
    offset = 0
    for weights in model.graph.initializer:
        raw = weights.raw_data
        if len(raw) < _MIN_EXTERNAL_BYTES:
            continue
        # The file contains the weights in the graph's order.
        offset = graph.find(raw, offset)
        if offset < 0:
            raise EncoderUnsupported(f"{file} does not store {weights.name} contiguously")
        make_external(weights, file, offset, len(raw))
        offset += len(raw)
    return bytes(model.SerializeToString())


def find_weightless_graph(directory: Path, graph: store.GraphReceipt) -> Path | None:
    """Return the file of `graph` without its weights, or None if it is missing or damaged."""
    receipt = store.read_graph(directory, _name(graph))
    if receipt is None or not store.graph_is_intact(directory, receipt):
        return None
    return directory / receipt.file


def write_weightless_graph(cache: Path, directory: Path, graph: store.GraphReceipt) -> None:
    """Write `graph` without its weights; skip a damaged graph.

    Raises:
        OSError: the cache cannot be written.
    """
    content = (directory / graph.file).read_bytes()
    if hashlib.sha256(content).hexdigest() != graph.sha256:
        return
    with store.scratch_directory(cache) as scratch:
        store.write_graph(
            without_weights(content, graph.file),
            _name(graph),
            conversion=graph.conversion,
            scratch=scratch,
            directory=directory,
            suffix=".outline",
        )


def _name(graph: store.GraphReceipt) -> str:
    return f"{Path(graph.file).stem}-outline"
