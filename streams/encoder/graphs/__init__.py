"""From a BERT checkpoint to an ONNX graph, and to the same graph with external weights."""
