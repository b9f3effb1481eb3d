"""The outline of a graph: the same graph without its weights, which stay in the graph's file.

onnxruntime parses and copies a graph that holds its weights: a tenth of a second for 60 MB. The
weights of an outline are mapped into memory instead, and are read where a text needs them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from recollect.streams.encoder import cache as store
from recollect.streams.encoder.encoder_errors import EncoderUnsupported

# Smaller weights are copied as fast as they are mapped.
_SMALL = 1_024


def outline(graph: bytes, file: str) -> bytes:
    """Return the outline of a serialised graph that lies in `file`, in the same directory."""
    # Imported here: only a graph without an outline needs it.
    from recollect.streams.encoder.graphs.onnx_messages import lay_outside, read_model

    model = read_model(graph)
    place = 0
    for weights in model.graph.initializer:
        raw = weights.raw_data
        if len(raw) < _SMALL:
            continue
        # They stand in the file as in the graph, one after the other.
        place = graph.find(raw, place)
        if place < 0:
            raise EncoderUnsupported(f"{file} does not hold {weights.name} in one piece")
        lay_outside(weights, file, place, len(raw))
        place += len(raw)
    return bytes(model.SerializeToString())


def find_outline(directory: Path, graph: store.GraphReceipt) -> Path | None:
    """Return the outline of a graph where it is there, to the byte."""
    receipt = store.read_graph(directory, _name(graph))
    if receipt is None or not store.graph_is_whole(directory, receipt):
        return None
    return directory / receipt.file


def write_outline(cache: Path, directory: Path, graph: store.GraphReceipt) -> None:
    """Write the outline of a graph; a damaged one gets none.

    Raises:
        OSError: the cache cannot be written.
    """
    content = (directory / graph.file).read_bytes()
    if hashlib.sha256(content).hexdigest() != graph.sha256:
        return
    with store.workspace(cache) as scratch:
        store.write_graph(
            outline(content, graph.file),
            _name(graph),
            conversion=graph.conversion,
            scratch=scratch,
            directory=directory,
            suffix=".outline",
        )


def _name(graph: store.GraphReceipt) -> str:
    return f"{Path(graph.file).stem}-outline"
