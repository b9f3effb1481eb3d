"""Why the delivery layer does not let Faust do it: what Faust alone does to a record.

Where one of these fails, Faust has mended its ways, and the layer may become simpler.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.delivery.kit import ROOT, Place, until


@contextmanager
def plain(how: str, place: Place, file: Path) -> Iterator[Callable[[], set[int]]]:
    """Run Faust as it comes over 100 records; give what tells which ones were handled."""
    place.make_topics(place.group, partitions=1)
    place.produce(place.group, {0: 100})
    file.touch()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.delivery.plain", how, place.server, place.group, str(file)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield lambda: {int(line) for line in file.read_text().split()}
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("how", "record"), [("fails", 50), ("holds", 10)])
def test_faust_alone_commits_past_a_record_that_was_not_handled(
    place: Place, tmp_path: Path, how: str, record: int
) -> None:
    with plain(how, place, tmp_path / "handled") as handled:
        until(lambda: 99 in handled())
        until(lambda: place.committed().get((place.group, 0)) == 100)
        assert handled() == set(range(100)) - {record}
