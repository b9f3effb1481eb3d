"""From a BERT checkpoint to an ONNX graph, and to its outline without weights."""
