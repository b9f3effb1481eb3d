"""Who and what is meant in the demo export, where names alone would mislead; by the rules alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.schemas.inbound import decode_inbound, draft_of
from recollect.streams.agents.identity.merge_handler import MergeHandler
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import Zone

_EXPORT = Path(__file__).parents[3] / "demo" / "export.jsonl"


@pytest.fixture(scope="module")
def demo() -> Zone:
    drafts = [draft_of(decode_inbound(line)) for line in _EXPORT.read_bytes().splitlines()]
    return Zone(RuleWriter(), MergeHandler()).given(*drafts)


def name_of(demo: Zone, entity: str) -> str:
    ((name,),) = demo.ask("identity", "SELECT name FROM entities WHERE id = ?", entity)
    return str(name)


@pytest.mark.parametrize(
    ("message", "words", "meant"),
    [
        ("sl-0025", "Dan", "Dan Whitlock"),
        ("sl-0073", "Dan", "Dan Whitlock"),
        ("wa-0033", "Dan", "Dan 🚲"),
        ("dc-0004", "Iran", "Iran Duarte"),
    ],
)
def test_a_name_is_of_who_takes_part(demo: Zone, message: str, words: str, meant: str) -> None:
    found = {name_of(demo, entity) for said, entity in demo.mentioned_in(message) if said == words}
    assert found == {meant}


def test_a_joke_in_quotation_marks_is_nobody(demo: Zone) -> None:
    """sl-0032"""
    assert demo.ask("identity", "SELECT * FROM entities WHERE name LIKE '%Sarcasm%'") == []


def test_the_rooms_of_the_office_are_not_those_of_the_school(demo: Zone) -> None:
    """sl-0012, sl-0067; em-0016, em-0020"""
    rooms = {
        message: {entity for said, entity in demo.mentioned_in(message) if said == "Room 101"}
        for message in ("sl-0012", "sl-0067", "em-0016", "em-0020")
    }
    assert all(len(found) == 1 for found in rooms.values()), rooms
    assert rooms["sl-0012"] == rooms["sl-0067"]
    assert rooms["em-0016"] == rooms["em-0020"]
    assert rooms["sl-0012"] != rooms["em-0016"]


def test_every_account_of_mel_leads_to_every_other_in_review(demo: Zone) -> None:
    accounts = [
        ("15145550104", "whatsapp"),
        ("U03MELACH", "slack"),
        ("melodious#8841", "discord"),
        ("mel.achterberg@example.org", "email"),
    ]
    mels = {demo.owner_of(handle, platform) for handle, platform in accounts}
    assert len(mels) == 4, "none is merged by a name alone"
    pairs = demo.ask("identity", "SELECT entity_a_id, entity_b_id FROM merge_candidates")
    ends = [{demo.canonical_id(a), demo.canonical_id(b)} for a, b in pairs]
    reached = {min(mels)}
    for _ in mels:
        reached |= {each for pair in ends if pair & reached for each in pair & mels}
    assert reached == mels
