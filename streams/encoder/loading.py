"""Loading exactly the encoder to which a home is pinned."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from recollect.streams.encoder import cache as store
from recollect.streams.encoder.encoder import CrossEncoder, Encoder
from recollect.streams.encoder.encoder_errors import (
    EncoderMismatch,
    EncoderMissing,
    EncoderUnsupported,
)
from recollect.streams.encoder.graphs.outline import find_outline, write_outline
from recollect.streams.encoder.pin import CONVERSION, Pin


def load(pin: Pin, *, cache: Path, workers: int | None = None) -> Encoder:
    """Return the pinned encoder with `workers` threads (default: one per usable core).

    Raise EncoderMissing if it is not in `cache`, and EncoderMismatch if what is there does not
    have the pinned checksum, or if this version of recollect would convert it differently.
    """
    files = _found(pin, cache)
    with _verifying(files, pin):
        # Imported here: onnxruntime takes a tenth of a second, which a refusal need not cost.
        from recollect.streams.encoder.onnx_encoder import OnnxEncoder

        return OnnxEncoder(
            pin, graph=_quickest(files, cache), tokenizer=files.tokenizer, workers=workers
        )


def load_reranker(pin: Pin, *, cache: Path) -> CrossEncoder:
    """Return the pinned cross-encoder; raise as `load` does."""
    files = _found(pin, cache)
    with _verifying(files, pin):
        from recollect.streams.encoder.cross_encoder import OnnxCrossEncoder

        return OnnxCrossEncoder(pin, graph=_quickest(files, cache), tokenizer=files.tokenizer)


def is_whole(pin: Pin, cache: Path) -> bool:
    """Return whether the pinned files are in `cache`, byte for byte.

    Raise EncoderMismatch if no bringing can help: another version of recollect made the pin.
    """
    _check_conversion(pin)
    try:
        _verify(_found(pin, cache), pin)
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


class _Files(NamedTuple):
    """The files to load: the receipt of the graph, which is in `directory`, and the tokenizer."""

    directory: Path
    receipt: store.GraphReceipt
    tokenizer: Path

    @property
    def graph(self) -> Path:
        return self.directory / self.receipt.file


def _found(pin: Pin, cache: Path) -> _Files:
    """Return the pinned graph and tokenizer, not verified yet."""
    _check_conversion(pin)
    directory = store.entry(cache, pin.checksums)
    receipt = store.read_graph(directory, store.graph_name(pin.role, pin.precision))
    tokenizer = directory / store.TOKENIZER
    if receipt is None or receipt.conversion != CONVERSION or not tokenizer.is_file():
        raise EncoderMissing(
            f"this home's {pin.role}, {pin.model}, is not in {directory}. Bring it again with: "
            f"{_again(pin)}"
        )
    return _Files(directory, receipt, tokenizer)


def _verify(files: _Files, pin: Pin) -> None:
    """Raise EncoderMismatch where a file does not have its checksum."""
    if not store.graph_is_whole(files.directory, files.receipt):
        raise EncoderMismatch(_damaged(files.graph, pin))
    if store.sha256_of(files.tokenizer) != pin.tokenizer_sha256:
        raise EncoderMismatch(_damaged(files.tokenizer, pin))


@contextmanager
def _verifying(files: _Files, pin: Pin) -> Iterator[None]:
    """Verify files while they are loaded, which takes as long; raise EncoderMismatch at the end.

    The loaded model is not used before that.
    """
    with ThreadPoolExecutor(1) as background:
        verified = background.submit(_verify, files, pin)
        try:
            yield
        finally:
            # If a file is damaged, that is the reason, whatever error loading raised.
            verified.result()


def _quickest(files: _Files, cache: Path) -> Path:
    """Return the file that loads fastest: the graph's outline, made if it is missing."""
    found = find_outline(files.directory, files.receipt)
    if found is None:
        # Not every cache can be written.
        with suppress(OSError, EncoderUnsupported):
            write_outline(cache, files.directory, files.receipt)
            found = find_outline(files.directory, files.receipt)
    return found or files.graph


def _damaged(path: Path, pin: Pin) -> str:
    return (
        f"{path} does not have its checksum: it was damaged or replaced, and is not used. "
        f"Bring {pin.model} again with: {_again(pin)}"
    )


def _again(pin: Pin) -> str:
    revision = f"@{pin.revision}" if pin.revision else ""
    return f"recollect init (it came from the {pin.source}: {pin.place}{revision})"
