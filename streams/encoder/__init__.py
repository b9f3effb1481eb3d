"""From text to vectors: bring a sentence encoder, pin it, load it, and run it reproducibly."""

import os

# onnxruntime counts its users and calls home, unless this is said before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
