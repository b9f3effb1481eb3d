"""What was known at a time, asked of homes on Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kafka.conftest import Make
from tests.kafka.kit import Recollect, line, write


def cited(home: Recollect, question: str, *options: str) -> set[str]:
    """Return the source ids of what a question finds."""
    results = home.ask("recall", question, *options)["results"]
    return {id_ for result in results for id_ in result["source_event_ids"]}


@pytest.mark.parametrize("late_decides", [False, True])
def test_what_was_known_then_is_answered_wherever_it_is_asked(
    make: Make, tmp_path: Path, late_decides: bool
) -> None:
    home = make("a")
    told = [
        home.ask("ingest", write(tmp_path / f"{number}.jsonl", [line(f"m{number}", text)]))
        for number, text in enumerate(
            ("Ada moved to Berlin.", "Ada moved to Paris.", "Ada moved to Oslo.")
        )
    ]
    assert cited(home, "Where does Ada live?") == {"m0", "m1", "m2"}
    late = make("late")
    if late_decides:
        late.once()
    for number, ingested in enumerate(told):
        known = {f"m{one}" for one in range(number + 1)}
        for asked in (home, late):
            assert cited(asked, "Where does Ada live?", "--known-at", ingested["token"]) == known
    home.ask("forget", "m0")
    for asked in (home, late):
        assert cited(asked, "Where does Ada live?", "--known-at", told[1]["token"]) == {"m1"}
