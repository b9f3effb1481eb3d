"""The cache of model files on disk, which are written completely or not at all.

    encoders/<fingerprint of the files>/config.json, tokenizer.json, model.safetensors
                                       /source.json            the receipt of the three
                                       /int8-<checksum>.onnx, float-<checksum>.onnx
                                       /int8.json, float.json  the receipt of each graph
                                       /int8-<checksum>-outline* loads that graph sooner
                                       /reranker-int8-*        the same of a cross-encoder
    encoders/.partial-*                                        work in progress, never read

Every file is written elsewhere, flushed and renamed into place, its receipt last. So two
processes may bring the same model at once, and one that is killed leaves nothing to be used.
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

from recollect.streams.encoder.catalog import Checksums, Precision, Role, Source
from recollect.streams.encoder.pin import fingerprint

CONFIG, TOKENIZER, SAFETENSORS = "config.json", "tokenizer.json", "model.safetensors"
# No download takes that long: an older directory was left by a process that was killed.
_STALE_AFTER_S = 24 * 3600.0


class Origin(msgspec.Struct, frozen=True):
    """Where files came from: the hub's repository, the wheel's requirement, or the directory.

    `revision` is the hub's commit, and "" elsewhere.
    """

    source: Source
    place: str
    revision: str


class SourceReceipt(msgspec.Struct, frozen=True):
    """States that the three files are complete, and where they came from."""

    checksums: Checksums
    origin: Origin


class GraphReceipt(msgspec.Struct, frozen=True):
    """States which file is the graph, its hash, and the conversion that made it."""

    file: str
    sha256: str
    size: int
    conversion: int


_Receipt = TypeVar("_Receipt", SourceReceipt, GraphReceipt)


def entry(cache: Path, checksums: Checksums) -> Path:
    """Return the directory of the model made of these files; it need not exist."""
    return cache / "encoders" / fingerprint(checksums)


def by_file(checksums: Checksums) -> dict[str, str]:
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
def workspace(cache: Path) -> Iterator[Path]:
    """Give a scratch directory on the cache's own disk, so that a rename out of it is atomic."""
    root = cache / "encoders"
    root.mkdir(parents=True, exist_ok=True)
    for left in root.glob(".partial-*"):
        # A running process deletes its own directory, perhaps at this moment.
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _STALE_AFTER_S:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=root) as scratch:
        yield Path(scratch)


def place(path: Path, target: Path) -> None:
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
    """Keep a graph under a name of its own, so that two writers cannot mix file and receipt."""
    sha256 = hashlib.sha256(graph).hexdigest()
    file = f"{name}-{sha256[:16]}{suffix}"
    (scratch / file).write_bytes(graph)
    place(scratch / file, directory / file)
    receipt = GraphReceipt(file=file, sha256=sha256, size=len(graph), conversion=conversion)
    write_receipt(receipt, name, scratch=scratch, directory=directory)


def write_receipt(
    receipt: SourceReceipt | GraphReceipt, name: str, *, scratch: Path, directory: Path
) -> None:
    """Write a receipt as NAME.json into `directory`, whole or not at all, by way of `scratch`."""
    path = scratch / f"{name}.receipt"
    path.write_bytes(msgspec.json.encode(receipt))
    place(path, directory / f"{name}.json")


def read_source(directory: Path) -> SourceReceipt | None:
    """Return the receipt of the model files, or None where they are not complete."""
    return _read(directory / "source.json", SourceReceipt)


def graph_name(role: Role, precision: Precision) -> str:
    """Return what a model's graph is called, by what it is for."""
    return precision if role == "encoder" else f"{role}-{precision}"


def read_graph(directory: Path, name: str) -> GraphReceipt | None:
    """Return the receipt of a graph, or None where it was never finished."""
    return _read(directory / f"{name}.json", GraphReceipt)


def source_is_whole(directory: Path, checksums: Checksums) -> bool:
    """Whether the three model files are there and hash to what they should."""
    return all(
        (directory / file).is_file() and sha256_of(directory / file) == sha256
        for file, sha256 in by_file(checksums).items()
    )


def graph_is_whole(directory: Path, receipt: GraphReceipt) -> bool:
    """Whether the graph's file is there and hashes to what its receipt says."""
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
