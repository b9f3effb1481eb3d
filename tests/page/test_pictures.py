"""The pictures of the docs: each is taken by a program, and each is shown."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest

from tests.page import pictures


def size(path: Path) -> tuple[int, int]:
    """Return the width and the height of a PNG."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:])
    return width, height


def test_every_picture_is_shown_in_the_docs() -> None:
    text = (pictures.ROOT / "docs" / "page.md").read_text("utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(pictures/(\w+)\.png\)", text)
    assert sorted(shown) == sorted(pictures.VIEWS)
    assert {path.stem for path in pictures.PICTURES.iterdir()} == set(pictures.VIEWS)


@pytest.mark.slow
@pytest.mark.usefixtures("learnt_salience")
def test_the_pictures_show_what_the_page_shows_now(tmp_path: Path) -> None:
    taken = pictures.take(tmp_path)
    assert taken == json.loads(pictures.WORDS.read_text("utf-8")), (
        "the pictures are out of date; run python -m tests.page.pictures"
    )
    for name in pictures.VIEWS:
        path = tmp_path / f"{name}.png"
        assert size(path) == size(pictures.PICTURES / path.name) == (1120, 700)
        # A picture of nothing is small.
        assert path.stat().st_size > 20_000
