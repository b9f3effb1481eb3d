"""What was forgotten stands in no file; `python -m tests.residue` forgets a hundred of 5,000."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol.kit import in_memory
from tests.residue import needles
from tests.residue.__main__ import table
from tests.residue.embedded import run
from tests.residue.needles import Search, Trace, of_key, of_word
from tests.residue.world import make_world


@pytest.mark.slow
def test_nothing_of_what_was_forgotten_is_left_in_any_file_after_anything() -> None:
    said: list[str] = []
    with in_memory() as room:
        residue = run(room, make_world(150, 5), said.append)
    told = "\n".join([*said, table(residue), *map(str, residue.left[:5]), *residue.wrong])
    assert residue.clean, told


def test_the_search_finds_what_is_planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any encoding and case, at any place, and across the chunks that it reads."""
    monkeypatch.setattr(needles, "_CHUNK", 64)
    word, key = "marigoldenuk", bytes(range(100, 132))
    traces = [*of_word("word", word), *of_key(key)]
    for number, raw in enumerate(
        [
            b"...Marigoldenuk...",
            "MARIGOLDENUK".encode("utf-16-le"),
            "marigoldenuk".encode("utf-16-be"),
            key,
            key.hex().upper().encode(),
        ]
    ):
        for ahead in range(0, 140, 7):
            path = tmp_path / f"{number}-{ahead}"
            path.write_bytes(b"\xff" * ahead + raw + b"\xff" * 9)
    found = {place.file.name for place in Search(traces).files(tmp_path)}
    assert len(found) == 5 * 20


def test_the_search_finds_each_trace_where_it_is_and_nothing_else() -> None:
    traces = [Trace("x", f"needle-{n:04}".encode()) for n in range(1_000)]
    raw = b"".join(b"?" * (n % 13) + trace.raw for n, trace in enumerate(traces))
    found = {(place.trace, place.offset) for place in Search(traces).bytes(raw, Path("x"))}
    assert found == {(trace, raw.index(trace.raw)) for trace in traces}
