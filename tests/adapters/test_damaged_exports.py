"""Exports of every format as they really arrive: re-encoded, packed, renamed, cut off, altered."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Message
from tests.adapters.kit import Opened, opened, zipped
from tests.adapters.sample_exports import JSON_SAMPLES, SAMPLES, Sample

# Words of Python that no message to a user has.
PYTHON = ("Traceback", "NoneType", "object has no", "KeyError", "not subscriptable", "argument")
CUTS = 12
EDITS = 30
#: What is put in the place of a value.
OTHERS: Sequence[Any] = (
    None,
    7,
    -1e300,
    True,
    "",
    "x",
    [],
    {},
    [None],
    {"x": 1},
    "\ud800",
    "9" * 30,
)


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def read(path: Path, sample: Sample) -> Opened:
    return opened(path, timezone=sample.timezone)


def said(found: Opened) -> list[tuple[object, ...]]:
    """Return what was read, independent of where the export is, and of when it was saved."""
    payloads = [
        msgspec.structs.replace(draft.payload, revised_at=None)
        if isinstance(draft.payload, Message)
        else draft.payload
        for draft in found.drafts
    ]
    return [
        (draft.platform, draft.occurred_at, payload.source_id, payload)
        for draft, payload in zip(found.drafts, payloads, strict=True)
    ]


def changed(sample: Sample, change: Callable[[bytes], bytes]) -> dict[str, bytes]:
    return {path: change(content) for path, content in sample.files.items()}


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Sample:
    return SAMPLES[request.param]


@pytest.fixture
def whole(sample: Sample, tmp_path: Path) -> Opened:
    found = read(write(tmp_path / "whole", sample.files), sample)
    assert found.formats == [sample.format]
    assert found.drafts
    assert not found.rejections
    return found


def test_an_export_is_the_same_however_it_is_packed(
    sample: Sample, whole: Opened, tmp_path: Path
) -> None:
    packed = zipped(sample.files)
    ways: dict[str, Mapping[str, bytes]] = {
        "a zip": {"export.zip": packed},
        "a zip in a zip": {"all.zip": zipped({"export.zip": packed})},
        "a folder in a zip": {"all.zip": zipped({f"x/{k}": v for k, v in sample.files.items()})},
        "beside other files": {
            "export.zip": packed, ".DS_Store": b"\0\1", "photo.jpg": b"\xff\xd8\xff\xe0\0",
        },
    }  # fmt: skip
    for number, (way, files) in enumerate(ways.items()):
        found = read(write(tmp_path / str(number), files), sample)
        assert (way, said(found)) == (way, said(whole))
        assert not found.rejections


def test_names_need_not_be_text(sample: Sample, whole: Opened, tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/M\xfcller \xff")
    found = read(write(Path(folder), sample.files), sample)
    assert said(found) == said(whole)


@pytest.mark.parametrize("how", ["byte order mark", "CRLF", "gzip"])
def test_an_export_is_the_same_however_it_was_saved(
    sample: Sample, whole: Opened, tmp_path: Path, how: str
) -> None:
    ways = {
        "byte order mark": lambda content: b"\xef\xbb\xbf" + content,
        "CRLF": lambda content: content.replace(b"\n", b"\r\n"),
        "gzip": gzip.compress,
    }
    if how == "byte order mark" and sample.format in ("mbox", "email"):
        pytest.skip("no mail begins with one")
    found = read(write(tmp_path / how, changed(sample, ways[how])), sample)
    assert said(found) == said(whole)
    assert not found.rejections


@pytest.mark.parametrize("name", [*JSON_SAMPLES, "whatsapp", "irc"])
@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be"])
def test_an_export_in_utf_16_is_the_same(tmp_path: Path, name: str, mark: str) -> None:
    sample = SAMPLES[name]
    whole = read(write(tmp_path / "whole", sample.files), sample)
    files = changed(sample, lambda content: f"\ufeff{content.decode()}".encode(mark))
    found = read(write(tmp_path / "wide", files), sample)
    assert said(found) == said(whole)
    assert not found.rejections


def read_or_refused(path: Path, sample: Sample) -> Opened | str:
    """Return what was read, or why the input was refused, in words for its owner."""
    found: Opened | str
    try:
        found = read(path, sample)
        reasons = [rejection.reason for rejection in found.rejections]
    except InvalidInput as error:
        found = str(error)
        reasons = [found]
    assert [reason for reason in reasons if any(word in reason for word in PYTHON)] == []
    return found


def test_what_precedes_a_cut_is_kept_and_the_cut_is_reported(
    sample: Sample, whole: Opened, tmp_path: Path
) -> None:
    path = max(sample.files, key=lambda one: len(sample.files[one]))
    content = sample.files[path]
    is_document = path.endswith(".json")
    for number in range(1, CUTS):
        cut = content[: len(content) * number // CUTS]
        folder = write(tmp_path / str(number), {**sample.files, path: cut})
        found = read_or_refused(folder, sample)
        if isinstance(found, str):
            continue
        whole_ids = {draft.payload.source_id for draft in whole.drafts}
        if is_document:
            assert {draft.payload.source_id for draft in found.drafts} <= whole_ids
            assert found.rejections or found.input.skipped, number
        assert len(found.drafts) <= len(whole.drafts)


def test_altered_bytes_are_no_crash(sample: Sample, tmp_path: Path) -> None:
    for seed in range(EDITS):
        draw = random.Random(f"{sample.format} {seed}")
        files = {path: _altered(content, draw) for path, content in sample.files.items()}
        read_or_refused(write(tmp_path / "x", files), sample)


def _altered(content: bytes, draw: random.Random) -> bytes:
    altered = bytearray(content)
    for _ in range(draw.randrange(1, 6)):
        place = draw.randrange(len(altered))
        length = draw.choice((1, 1, 1, 8, 40))
        altered[place : place + length] = draw.choice(
            (b"", b"\0", b"\xff\xfe", b'"', b"{}", b"null", b"[", bytes(altered[:length]))
        )
    return bytes(altered)


@pytest.mark.parametrize("name", JSON_SAMPLES)
def test_values_of_another_type_are_described_without_python(tmp_path: Path, name: str) -> None:
    sample = SAMPLES[name]
    for seed in range(EDITS):
        draw = random.Random(f"{name} {seed}")
        files = {}
        for path, content in sample.files.items():
            parts = content.splitlines() if path.endswith(".jsonl") else [content]
            values = [json.loads(part) for part in parts]
            places = [place for value in values for place in _places(value)]
            for container, key in draw.sample(places, min(2, len(places))):
                container[key] = draw.choice(OTHERS)
            files[path] = "\n".join(map(json.dumps, values)).encode()
        read_or_refused(write(tmp_path / "x", files), sample)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return the containers and keys of all values in a JSON value."""
    keys: Iterable[Any] = ()
    if isinstance(value, dict):
        keys = value
    elif isinstance(value, list):
        keys = range(len(value))
    return [place for key in keys for place in ((value, key), *_places(value[key]))]
