"""From text to vectors: bring a sentence encoder, pin it, load it, and run it reproducibly."""

import os

# onnxruntime counts its users and calls home, unless this is said before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from streams.encoder.catalog import (
    REGISTRY,
    Model,
    Precision,
    Role,
    Settings,
    Source,
    describe_registry,
)
from streams.encoder.encoder import CrossEncoder, Encoder, TokenVectors
from streams.encoder.encoder_errors import (
    EncoderError,
    EncoderMismatch,
    EncoderMissing,
    EncoderUnavailable,
    EncoderUnreachable,
    EncoderUnsupported,
)
from streams.encoder.installing import install, reinstall
from streams.encoder.loading import is_whole, load, load_reranker
from streams.encoder.pin import Pin
from streams.encoder.sources import Progress

__all__ = [
    "REGISTRY",
    "CrossEncoder",
    "Encoder",
    "EncoderError",
    "EncoderMismatch",
    "EncoderMissing",
    "EncoderUnavailable",
    "EncoderUnreachable",
    "EncoderUnsupported",
    "Model",
    "Pin",
    "Precision",
    "Progress",
    "Role",
    "Settings",
    "Source",
    "TokenVectors",
    "describe_registry",
    "install",
    "is_whole",
    "load",
    "load_reranker",
    "reinstall",
]
