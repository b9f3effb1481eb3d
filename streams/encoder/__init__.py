"""From text to vectors: install, pin, load and run a sentence encoder reproducibly."""

import os

# Disables onnxruntime's telemetry; it must be set before onnxruntime is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
