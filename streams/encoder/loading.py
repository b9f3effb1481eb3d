"""Load exactly the encoder that a home pins."""

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
from recollect.streams.encoder.graphs.external_weights import (
    find_weightless_graph,
    write_weightless_graph,
)
from recollect.streams.encoder.pin import CONVERSION, Pin


def load(pin: Pin, *, cache: Path, workers: int | None = None) -> Encoder:
    """Load the pinned encoder with `workers` threads (default: one per usable core).

    Raise EncoderMissing if it is not in `cache`, and EncoderMismatch if a file does not have the
    pinned checksum or this version of recollect would convert it differently.
    """
    files = _find_files(pin, cache)
    with _verification(files, pin):
        # Imported here, because importing onnxruntime takes a tenth of a second.
        from recollect.streams.encoder.onnx_encoder import OnnxEncoder

        return OnnxEncoder(
            pin, graph=_fastest_file(files, cache), tokenizer=files.tokenizer, workers=workers
        )


def load_reranker(pin: Pin, *, cache: Path) -> CrossEncoder:
    """Load the pinned cross-encoder; raise as `load` does."""
    files = _find_files(pin, cache)
    with _verification(files, pin):
        from recollect.streams.encoder.cross_encoder import OnnxCrossEncoder

        return OnnxCrossEncoder(pin, graph=_fastest_file(files, cache), tokenizer=files.tokenizer)


def is_intact(pin: Pin, cache: Path) -> bool:
    """Return whether the pinned files are in `cache` and undamaged.

    Raise EncoderMismatch if reinstalling cannot help, because another version of recollect made the
    pin.
    """
    _check_conversion(pin)
    try:
        _verify(_find_files(pin, cache), pin)
    except (EncoderMissing, EncoderMismatch):
        return False
    return True


def _check_conversion(pin: Pin) -> None:
    if pin.conversion != CONVERSION:
        raise EncoderMismatch(
            f"this home's vectors were made with {pin.model} converted in format "
            f"{pin.conversion}, but this recollect converts models in format {CONVERSION}: use the "
            "recollect that made the home, or rebuild the home with this one"
        )


class _Files(NamedTuple):
    """The files to load: the graph in `directory` with its receipt, and the tokenizer."""

    directory: Path
    receipt: store.GraphReceipt
    tokenizer: Path

    @property
    def graph(self) -> Path:
        return self.directory / self.receipt.file


def _find_files(pin: Pin, cache: Path) -> _Files:
    """Return the pinned graph and tokenizer, unverified."""
    _check_conversion(pin)
    directory = store.model_directory(cache, pin.checksums)
    receipt = store.read_graph(directory, store.graph_name(pin.role, pin.precision))
    tokenizer = directory / store.TOKENIZER
    if receipt is None or receipt.conversion != CONVERSION or not tokenizer.is_file():
        raise EncoderMissing(
            f"this home's {pin.role}, {pin.model}, is not in {directory}. Install it with: "
            f"{_reinstall_command(pin)}"
        )
    return _Files(directory, receipt, tokenizer)


def _verify(files: _Files, pin: Pin) -> None:
    """Raise EncoderMismatch if a file does not have its checksum."""
    if not store.graph_is_intact(files.directory, files.receipt):
        raise EncoderMismatch(_damage_message(files.graph, pin))
    if store.sha256_of(files.tokenizer) != pin.tokenizer_sha256:
        raise EncoderMismatch(_damage_message(files.tokenizer, pin))


@contextmanager
def _verification(files: _Files, pin: Pin) -> Iterator[None]:
    """Verify files while the block loads the model, which takes as long.

    At the end of the block, raise EncoderMismatch if a file is damaged. The loaded model must not
    be used before.
    """
    with ThreadPoolExecutor(1) as background:
        verified = background.submit(_verify, files, pin)
        try:
            yield
        finally:
            # If a file is damaged, report that rather than the error that loading raised.
            verified.result()


def _fastest_file(files: _Files, cache: Path) -> Path:
    """Return the file that loads fastest: the graph with external weights, created if missing."""
    found = find_weightless_graph(files.directory, files.receipt)
    if found is None:
        # The cache may be read-only.
        with suppress(OSError, EncoderUnsupported):
            write_weightless_graph(cache, files.directory, files.receipt)
            found = find_weightless_graph(files.directory, files.receipt)
    return found or files.graph


def _damage_message(path: Path, pin: Pin) -> str:
    return (
        f"{path} does not match its checksum: it is damaged or was replaced, and is not used. "
        f"Install {pin.model} again with: {_reinstall_command(pin)}"
    )


def _reinstall_command(pin: Pin) -> str:
    revision = f"@{pin.revision}" if pin.revision else ""
    return f"recollect init (its source is the {pin.source}: {pin.place}{revision})"
