"""Stated dependencies (G5): what depends on something is uncertain once that changes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.streams.consolidation.stated_dependencies import stated_dependencies

FLIGHT = "My flight to Lisbon is on 3 May 2026 at 10:00."
PICK_UP = "The pick-up is at 12:00 on 3 May 2026."
RULE = "If the flight moves, so does the pick-up."
MOVED = "The flight has moved to 5 May 2026."
STORY = (FLIGHT, PICK_UP, RULE, MOVED)


@pytest.mark.parametrize(
    ("text", "condition", "consequence"),
    [
        (RULE, {"flight"}, {"pick-up"}),
        ("The press event depends on the launch.", {"launch"}, {"press", "event"}),
        ("Whenever the meeting moves, we rebook the big room.", {"meeting"}, {"room"}),
        ("The hotel hinges on the train.", {"train"}, {"hotel"}),
        ("The pick-up moves if the flight does.", {"flight"}, {"pick-up"}),
        ("When the launch slips, the party slips too.", {"launch"}, {"party"}),
        ("If the ferry moves the pick-up has to move as well.", {"ferry"}, {"pick-up"}),
        ("Whenever the rehearsal shifts so does the dinner.", {"rehearsal"}, {"dinner"}),
        ("If the visit is cancelled we need to call the caterer.", {"visit"}, {"caterer"}),
        ("If the visit moves to Friday our dinner also moves.", {"visit"}, {"dinner"}),
        ("I land at ten; the pick-up is then, depending on the bus.", {"bus"}, {"pick-up"}),
    ],
)
def test_both_sides_of_a_dependency_are_named(
    text: str, condition: set[str], consequence: set[str]
) -> None:
    (found,) = stated_dependencies(text)
    assert consequence <= set(found.consequence)
    assert (set(found.condition), text[found.start : found.end]) == (condition, text)


@pytest.mark.parametrize(
    "text",
    [
        "Let me know if the flight moves.",
        "When I was in Paris, I met the teacher.",
        "If the flight had moved, the pick-up would have moved.",
        "If the flight moves, does the pick-up move too?",
        "I wonder if the train is late.",
        "It depends.",
        "If you want a pizza, the place on the corner is good.",
        "She asked me whether the route is safe and if the scooter has a battery.",
        "If we need help, we'll let you know.",
        "If it's ok, I'll take the car.",
        "The flight, as if the pick-up were early, moved.",
        "If Bob moves the car the driveway is free.",
        "If the company moves the office the staff will complain.",
        "If the boss changes her mind the plan is off.",
    ],
)
def test_questions_and_tales_state_no_dependency(text: str) -> None:
    assert stated_dependencies(text) == []


def test_hostile_text_is_read_in_linear_time() -> None:
    for text in (
        "if " * 100_000,
        "if the a," * 50_000,
        "depends on " * 50_000,
        "if the bus moves the " * 14,
        "if " + "a moves to b " * 22,
        "if\x00 the \ud800,",
    ):
        stated_dependencies(text)


def said(n: int, text: str, **fields: str) -> dict[str, str]:
    return {
        "id": f"m{n}",
        "platform": "chat",
        "thread_id": "t",
        "sender_id": "ada",
        "sender_name": "Ada",
        "occurred_at": f"2026-04-{n + 1:02}T10:00:00Z",
        "content": text,
        **fields,
    }


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as memory:
        yield memory.zone("ada")


def tell(zone: Zone, texts: Sequence[str] = STORY) -> None:
    zone.ingest([said(n, text) for n, text in enumerate(texts)])


def uncertain(zone: Zone) -> dict[str, list[str]]:
    """Return source id -> sources of the doubt, for the facts that are uncertain."""
    facts = zone.facts(superseded=True).facts
    return {
        fact.source_event_ids[0]: fact.uncertain.source_event_ids
        for fact in facts
        if fact.uncertain is not None
    }


def test_G5_what_depends_is_uncertain_in_every_order_of_arrival(tmp_path: Path) -> None:
    numbered = list(enumerate(STORY))
    for seed in range(6):
        random.Random(seed).shuffle(numbered)
        with Recollect(tmp_path / str(seed), encoder="none") as memory:
            zone = memory.zone("ada")
            for n, text in numbered:
                zone.ingest(said(n, text))
            assert uncertain(zone) == {"m1": ["m2", "m3"]}, numbered


def test_G5_a_message_may_state_both_the_dependency_and_what_changes_later(zone: Zone) -> None:
    tell(
        zone,
        (
            "The flight to Rome is on 3 May at 10:00. If the flight moves, the pick-up moves too.",
            "The pick-up is on 3 May at 12:00.",
        ),
    )
    assert uncertain(zone) == {}
    zone.ingest(said(2, "The flight to Rome is now on 4 May."))
    assert uncertain(zone) == {"m1": ["m0", "m2"]}


def test_G5_facts_recall_context_and_why_show_both_messages(zone: Zone) -> None:
    tell(zone)
    (fact,) = [each for each in zone.facts() if each.uncertain is not None]
    assert fact.uncertain is not None
    assert (fact.uncertain.dependency, fact.uncertain.since[:10]) == (RULE, "2026-04-04")
    assert MOVED.removesuffix(".") in fact.uncertain.change
    shown = [
        each.uncertain for each in zone.recall("When is the pick-up?").results if each.uncertain
    ]
    assert shown == [fact.uncertain]
    block = zone.context("At what time is the pick-up at 12:00 on 3 May 2026?").block
    assert f'(uncertain since 4 April 2026: "{RULE}"; "' in block
    steps = [
        each for each in zone.why(fact.id).steps if each.description.startswith("uncertain since")
    ]
    assert [each.details for each in steps] == [[RULE, fact.uncertain.change]]
    assert "because of 'm2' and 'm3'" in steps[0].description


ABOUT_PICK_UP = (
    "I booked a pick-up in Lisbon for 3 May 2026.",
    "I paid Otto for the pick-up in Lisbon.",
    "I bought a child seat for the pick-up.",
)


def test_G5_a_report_marks_what_is_uncertain_and_says_why(zone: Zone) -> None:
    tell(zone, (FLIGHT, *ABOUT_PICK_UP, RULE, MOVED))
    report = zone.reflect("What about Ada's pick-up?")
    (observation,) = [each for each in report.results if "– pick-up:" in each.text]
    assert observation.uncertain is not None
    assert observation.uncertain.source_event_ids == ["m4", "m5"]
    (line,) = [each for each in report.text.splitlines() if "Ada – pick-up:" in each]
    assert "(uncertain since 2026-04-06) [m" in line
    assert f'  - because: "{RULE}"; "Ada: {MOVED}" [m4, m5]' in report.text.splitlines()
    assert "  - rests on 2026-04-03: Ada paid Otto for the pick-up in Lisbon. (uncertain)" in (
        report.text.splitlines()
    )
    zone.retract("m5")
    assert "uncertain" not in zone.reflect("What about Ada's pick-up?").text


def test_G5_a_page_and_an_observation_in_a_block_say_it(zone: Zone) -> None:
    tell(zone, (FLIGHT, *ABOUT_PICK_UP, RULE, MOVED))
    note = f'(uncertain since 6 April 2026: "{RULE}"; "Ada: {MOVED}")'
    block = zone.context("What do you know about Ada's pick-up?").block
    (line,) = [each for each in block.splitlines() if "observation]" in each]
    assert note in line
    ada = zone.get_entity("Ada").id
    model = zone.create_mental_model("Ada", "About Ada.", entity_id=ada)
    zone.refresh_mental_model(model.id)
    (page,) = [
        each for each in zone.context("Tell me about Ada.").block.splitlines() if ", Ada]" in each
    ]
    assert f"paid Otto for the pick-up in Lisbon (said 3 Apr 2026) {note}" in page
    # The reason is given once.
    assert "child seat for the pick-up (said 4 Apr 2026) (uncertain);" in page


@pytest.mark.parametrize(
    "change", ["The launch was postponed to 20 March 2026.", "I cancelled the launch."]
)
def test_G5_a_stated_move_needs_no_earlier_fact(zone: Zone, change: str) -> None:
    tell(zone, ["The press event is on Monday.", "The press event depends on the launch.", change])
    assert uncertain(zone) == {"m0": ["m1", "m2"]}


@pytest.mark.parametrize(
    "later",
    [
        "The launch has not been moved.",
        "The launch might be postponed.",
        "If the launch is cancelled, I'll cry.",
        "I moved to Oslo after the launch.",
        "The launch is great.",
    ],
)
def test_G5_what_is_no_change_leaves_no_doubt(zone: Zone, later: str) -> None:
    tell(zone, ["The press event is on Monday.", "The press event depends on the launch.", later])
    assert uncertain(zone) == {}


def test_G5_a_condition_may_name_an_attribute_of_the_sender(zone: Zone) -> None:
    tell(
        zone,
        [
            "I work at Initech.",
            "My email is ada@initech.com.",
            "If I change jobs, my email changes too.",
            "I work at Globex now.",
        ],
    )
    assert uncertain(zone) == {"m1": ["m2", "m3"]}


def test_G5_an_attribute_of_another_does_not_count(zone: Zone) -> None:
    tell(
        zone,
        [
            "Tom works at Initech.",
            "My email is ada@initech.com.",
            "If I change jobs, my email changes too.",
            "Tom works at Globex now.",
        ],
    )
    assert uncertain(zone) == {}


def test_G5_what_is_said_after_the_change_is_certain(zone: Zone) -> None:
    tell(zone, [*STORY, "The pick-up is at 15:00 on 5 May 2026."])
    assert "m4" not in uncertain(zone)


def test_G5_the_condition_does_not_depend_on_the_consequence(zone: Zone) -> None:
    tell(zone, [FLIGHT, PICK_UP, RULE, "The pick-up has moved to 14:00."])
    assert "m0" not in uncertain(zone)


def test_G5_messages_of_others_elsewhere_do_not_count(zone: Zone) -> None:
    tell(zone, STORY[:3])
    zone.ingest(said(3, MOVED, sender_id="eve", sender_name="Eve", thread_id="other"))
    assert uncertain(zone) == {}


def test_G5_doubt_ends_when_the_change_is_taken_back(zone: Zone) -> None:
    tell(zone)
    zone.retract("m3")
    assert uncertain(zone) == {}
    zone.retract("m3", restore=True)
    assert uncertain(zone) == {"m1": ["m2", "m3"]}


def test_G5_doubt_ends_with_the_dependency(zone: Zone) -> None:
    tell(zone)
    edit = said(4, "See you at the station.", kind="edit", target="m2")
    zone.ingest(edit)
    assert uncertain(zone) == {}


@pytest.mark.parametrize("erased", ["m2", "m3"])
def test_G5_an_erasure_of_either_message_equals_never(zone: Zone, erased: str) -> None:
    tell(zone)
    zone.forget(erased)
    assert uncertain(zone) == {}
    zone.rebuild(level="derive")
    assert uncertain(zone) == {}


def test_G5_a_rebuild_derives_the_same(zone: Zone) -> None:
    tell(zone)
    before = uncertain(zone)
    zone.rebuild(level="derive")
    assert uncertain(zone) == before == {"m1": ["m2", "m3"]}
