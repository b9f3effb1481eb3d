"""Loading exactly the reader that a home pins."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from recollect.streams.encoder.encoder_errors import EncoderMissing
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.encoder.pin import ReaderPin
from recollect.streams.reader.head_file import OWN, read_heads, sha256_of
from recollect.streams.reader.text_reader import TextReader


def load_reader(pin: ReaderPin, *, cache: Path) -> TextReader:
    """Return the pinned reader.

    Raises:
        EncoderMissing: its encoder or its heads are not in `cache`.
        EncoderMismatch: what is there does not have the pinned checksum.
        IntegrityError: the file of heads was changed.
    """
    kept = kept_heads(cache, pin.heads)
    if not kept.is_file():
        if sha256_of(OWN) != pin.heads:
            raise EncoderMissing(
                f"this home's reader file is missing; copy the file that it was installed from "
                f"(SHA-256 {pin.heads}) to {kept}"
            )
        kept = OWN
    heads = read_heads(kept, pin.heads)
    return TextReader(cast(OnnxEncoder, load(pin.encoder, cache=cache)), heads)


def kept_heads(cache: Path, sha256: str) -> Path:
    """Return the path at which the cache keeps a file of heads."""
    return cache / "readers" / f"{sha256[:16]}.heads"
