"""What a person takes back in another conversation, from end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from tests.home.kit import Home
from tests.library.kit import said

TOLD = said("m1", "My sister Ruta is in hospital in Riga.", peer_id="kin")
OVER = said("m2", "Ruta is home since noon.", peer_id="work", minute=60)


def held(events: list[dict[str, Any]], place: Path) -> dict[str, bool]:
    """Return the facts of events that are read one after the other, and whether they hold."""
    with Recollect(place, encoder="none") as recollect:
        zone = recollect.zone("ada")
        for event in events:
            zone.ingest([event])
        assert zone.verify().ok
        return {fact.text: fact.current for fact in zone.facts(superseded=True)}


def test_a_state_ends_by_what_its_teller_says_elsewhere(tmp_path: Path) -> None:
    found = held([TOLD, OVER], tmp_path / "home")
    assert found == {
        "Ada's sister Ruta is in hospital in Riga.": False,
        "Ada: Ruta is home since noon.": True,
    }


@pytest.mark.parametrize("more", [{"platform": "other"}, {"sender_id": "bob"}])
def test_another_place_or_person_ends_nothing(tmp_path: Path, more: dict[str, str]) -> None:
    found = held([TOLD, OVER | more], tmp_path / "home")
    assert all(found.values())


def test_when_the_end_is_forgotten_the_state_goes_on(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ada")
        zone.ingest([TOLD, OVER])
        zone.forget("m2")
        assert [fact.text for fact in zone.facts()] == ["Ada's sister Ruta is in hospital in Riga."]
        assert zone.verify().ok


@pytest.mark.parametrize("over", [True, False])
def test_extract_sees_other_conversations_too(tmp_path: Path, over: bool) -> None:
    # What is over is news when it is said again; what holds is not.
    again = TOLD | {"id": "m3", "occurred_at": "2026-05-08T12:00:00Z"}
    events = [TOLD, *([OVER] if over else []), again]
    export = tmp_path / "talk.jsonl"
    export.write_text("".join(json.dumps(event) + "\n" for event in events))
    shown = Home(tmp_path / "home").well("extract", str(export), "--json").stdout.splitlines()
    assert [fact["text"] for fact in json.loads(shown[-1])["facts"]] == (
        ["Ada's sister Ruta is in hospital in Riga."] if over else []
    )
