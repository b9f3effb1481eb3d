"""The file of heads: their weights, what they belong to, and what they were trained on."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.schemas.errors import IntegrityError

#: The heads that come with recollect.
OWN = Path(__file__).with_name("heads.bin")
#: The form of the file and of what is calculated with it.
FORMAT = 1


class Numbers(msgspec.Struct, frozen=True, array_like=True):
    """An array: its NumPy type, its shape and its bytes."""

    type: str
    shape: tuple[int, ...]
    content: bytes

    @classmethod
    def of(cls, values: npt.NDArray[np.generic]) -> Numbers:
        """Return an array as it stands in the file."""
        return cls(values.dtype.str, values.shape, values.tobytes())

    def array(self) -> npt.NDArray[np.float32]:
        """Return its values as float32."""
        flat = np.frombuffer(self.content, dtype=np.dtype(self.type))
        return flat.reshape(self.shape).astype(np.float32)


class Layer(msgspec.Struct, frozen=True):
    """One matrix of a head: `weights` (inputs, outputs) int8, with the size of a unit of each
    output in `scales`, and what is added in `bias`.
    """

    weights: Numbers
    scales: Numbers
    bias: Numbers


class Head(msgspec.Struct, frozen=True):
    """A head: the encoder's layers that it sees, its own, and the labels between which it chooses.

    `steps`: (labels + 1, labels) what it costs to go from one label to the next, in thousandths;
    the last row is that of a text's beginning. Only the heads of names and values have it.
    """

    layers: tuple[int, ...]
    own: tuple[Layer, ...]
    labels: tuple[str, ...]
    steps: Numbers | None = None


class HeadFile(msgspec.Struct, frozen=True):
    """All heads of a reader.

    `encoder` is the SHA-256 of the weights that the heads belong to, `middles` and `scales` make
    whole numbers of its states, by layer; `sources` says what the heads were trained on.
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
        FileNotFoundError: it is not there.
    """
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise IntegrityError(f"{path} has SHA-256 {found}, but {sha256} was expected")
    try:
        heads = msgspec.msgpack.decode(content, type=HeadFile)
    except msgspec.MsgspecError as error:
        raise IntegrityError(f"{path} holds no heads of a reader: {error}") from None
    if heads.format != FORMAT:
        raise IntegrityError(
            f"{path} holds heads of format {heads.format}; this recollect reads {FORMAT}"
        )
    return heads


def sha256_of(path: Path) -> str:
    """Return the checksum of a file of heads, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
