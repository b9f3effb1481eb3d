"""Loading the encoder that a home is pinned to, and nothing else in its place."""

from __future__ import annotations

from pathlib import Path

from streams.encoder import cache as store
from streams.encoder.encoder import CrossEncoder, Encoder
from streams.encoder.encoder_errors import EncoderMismatch, EncoderMissing
from streams.encoder.pin import CONVERSION, Pin


def load(pin: Pin, *, cache: Path, workers: int | None = None) -> Encoder:
    """Return the pinned encoder with `workers` threads (default: one per usable core).

    Raise EncoderMissing if it is not in `cache`, and EncoderMismatch if what is there does not
    have the pinned checksum, or if this version of recollect would convert it differently.
    """
    graph, tokenizer = _verified(pin, cache)
    # Imported here: onnxruntime takes a tenth of a second, which a refusal need not cost.
    from streams.encoder.onnx_encoder import OnnxEncoder

    return OnnxEncoder(pin, graph=graph, tokenizer=tokenizer, workers=workers)


def load_reranker(pin: Pin, *, cache: Path) -> CrossEncoder:
    """Return the pinned cross-encoder; raise as `load` does."""
    graph, tokenizer = _verified(pin, cache)
    from streams.encoder.cross_encoder import OnnxCrossEncoder

    return OnnxCrossEncoder(pin, graph=graph, tokenizer=tokenizer)


def is_whole(pin: Pin, cache: Path) -> bool:
    """Return whether what a pin names is in `cache`, to the byte.

    Raise EncoderMismatch if no bringing can help: another version of recollect made the pin.
    """
    _check_conversion(pin)
    try:
        _verified(pin, cache)
    except (EncoderMissing, EncoderMismatch):
        return False
    return True


def _check_conversion(pin: Pin) -> None:
    if pin.conversion != CONVERSION:
        raise EncoderMismatch(
            f"this home's vectors were made with conversion {pin.conversion} of {pin.model}, and "
            f"this version of recollect makes conversion {CONVERSION}: use the version that made "
            "the home, or derive a fresh generation with this one"
        )


def _verified(pin: Pin, cache: Path) -> tuple[Path, Path]:
    """Return the pinned graph and tokenizer, each with its checksum."""
    _check_conversion(pin)
    directory = store.entry(cache, pin.checksums)
    receipt = store.read_graph(directory, store.graph_name(pin.role, pin.precision))
    tokenizer = directory / store.TOKENIZER
    if receipt is None or receipt.conversion != CONVERSION or not tokenizer.is_file():
        raise EncoderMissing(
            f"this home's {pin.role}, {pin.model}, is not in {directory}. Bring it again with: "
            f"{_again(pin)}"
        )
    graph = directory / receipt.file
    if not store.graph_is_whole(directory, receipt):
        raise EncoderMismatch(_damaged(graph, pin))
    if store.sha256_of(tokenizer) != pin.tokenizer_sha256:
        raise EncoderMismatch(_damaged(tokenizer, pin))
    return graph, tokenizer


def _damaged(path: Path, pin: Pin) -> str:
    return (
        f"{path} does not have its checksum: it was damaged or replaced, and is not used. "
        f"Bring {pin.model} again with: {_again(pin)}"
    )


def _again(pin: Pin) -> str:
    revision = f"@{pin.revision}" if pin.revision else ""
    return f"recollect init (it came from the {pin.source}: {pin.place}{revision})"
