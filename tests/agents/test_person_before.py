"""Who "he" or "she" is where an earlier message names him or her."""

from __future__ import annotations

from pathlib import Path

from recollect import Recollect
from schemas.changes import Fact
from streams.agents.writer import RuleWriter
from tests.agents.kit import MINUTE, START, Zone, says

ASKED = "How did it go with Peter?"
TOLD = "He signed the lease in Turin on Monday."


def test_the_fact_names_him_and_rests_on_who_named_him() -> None:
    zone = Zone(RuleWriter()).given(says("Bob", ASKED))
    outcome = zone.read(says("Ada", TOLD, at=START + MINUTE))
    ((text, sources),) = [
        (row.text, list(part.sources))
        for part in outcome.parts
        for row in part.puts
        if isinstance(row, Fact)
    ]
    assert "Peter signed the lease" in text
    assert len(sources) == 2


def test_once_who_named_him_is_forgotten_nobody_is_named(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("friends")
        zone.ingest(
            [
                {
                    "id": who,
                    "platform": "chat",
                    "sender_id": who.lower(),
                    "sender_name": who,
                    "peer_id": "friends",
                    "content": words,
                    "occurred_at": f"2026-01-05T10:0{minute}:00Z",
                }
                for minute, (who, words) in enumerate((("Bob", ASKED), ("Ada", TOLD)))
            ]
        )
        assert any("Peter signed the lease" in fact.text for fact in zone.facts())
        zone.forget("Bob")
        assert not any("Peter" in fact.text for fact in zone.facts())
        assert zone.facts() == []
