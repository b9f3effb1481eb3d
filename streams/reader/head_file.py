"""The file of heads: their weights, the encoder they belong to, and their training data."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.schemas.errors import IntegrityError

#: The heads that come with recollect.
OWN = Path(__file__).with_name("heads.bin")
#: The format of the file and of the arithmetic on it.
FORMAT = 1


class Numbers(msgspec.Struct, frozen=True, array_like=True):
    """An array: its NumPy type, its shape and its bytes."""

    type: str
    shape: tuple[int, ...]
    content: bytes

    @classmethod
    def of(cls, values: npt.NDArray[np.generic]) -> Numbers:
        """Return an array in the form in which the file stores it."""
        return cls(values.dtype.str, values.shape, values.tobytes())

    def array(self) -> npt.NDArray[np.float32]:
        """Return its values as float32."""
        flat = np.frombuffer(self.content, dtype=np.dtype(self.type))
        return flat.reshape(self.shape).astype(np.float32)


class Layer(msgspec.Struct, frozen=True):
    """One layer of a head: `weights` (inputs, outputs) int8, `scales` and `bias` per output."""

    weights: Numbers
    scales: Numbers
    bias: Numbers


class Head(msgspec.Struct, frozen=True):
    """A head: the encoder layers that it uses, its own layers, and its labels.

    `steps`: (labels + 1, labels) the cost of a transition from one label to the next, in
    thousandths; the last row is for the beginning of a text. Only the heads for names and values
    have it.
    """

    layers: tuple[int, ...]
    own: tuple[Layer, ...]
    labels: tuple[str, ...]
    steps: Numbers | None = None


class HeadFile(msgspec.Struct, frozen=True):
    """All heads of a reader.

    `encoder` is the SHA-256 of the encoder's weights, `middles` and `scales` quantize its states,
    by layer; `sources` says what the heads were trained on.
    """

    format: int
    version: str
    encoder: str
    sources: tuple[str, ...]
    middles: dict[int, Numbers]
    scales: dict[int, Numbers]
    heads: dict[str, Head]


def read_heads(path: Path, sha256: str) -> HeadFile:
    """Return the heads in a file.

    Raises:
        IntegrityError: the file does not have this checksum, or holds no heads.
        FileNotFoundError: it does not exist.
    """
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise IntegrityError(
            f"{path} is damaged or was replaced: it has SHA-256 {found}, but {sha256} was "
            "expected; restore it"
        )
    try:
        heads = msgspec.msgpack.decode(content, type=HeadFile)
    except msgspec.MsgspecError as error:
        raise IntegrityError(f"{path} is not a valid reader file: {error}; restore it") from None
    if heads.format != FORMAT:
        raise IntegrityError(
            f"{path} has classifiers of format {heads.format}, but this version of recollect reads "
            f"format {FORMAT}; install another reader file"
        )
    return heads


def sha256_of(path: Path) -> str:
    """Return the checksum of a file of heads, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
