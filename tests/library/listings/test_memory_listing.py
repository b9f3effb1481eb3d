"""Memories one by one and page by page; what they said before; reports over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect, Zone
from recollect.operations.memories import listing
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Entity
from tests.library.kit import said

#: In the order of the list, the newest first.
SAID = [
    said("m1", "I live in Turin.", minute=1),
    said("m2", "I bought a boat.", by="Bob", minute=2),
    said("m3", "I moved to Oslo.", minute=3),
    said("m4", "I sing in a choir.", minute=4, platform="mail"),
]


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as r:
        zone = r.zone("ada")
        zone.ingest(SAID)
        yield zone


def paged(zone: Zone, **filters: Any) -> list[str]:
    """Return the sources of all pages of two, in order."""
    found, cursor = [], None
    while True:
        page = zone.list_memories(**filters, cursor=cursor, limit=2)
        found += [source for item in page.memories for source in item.source_event_ids]
        cursor = page.cursor
        if cursor is None:
            return found


def test_a_memory_of_any_kind_is_got_by_its_id(zone: Zone) -> None:
    event = zone.get_memory("m1")
    assert (event.type, event.text, event.as_of) == (
        *("event", "I live in Turin."),
        "2026-05-08T10:01:00.000Z",
    )
    assert (event.platform, event.sender_id, event.sender_name) == ("chat", "u-Ada", "Ada")
    assert zone.get_memory(event.id) == event
    (fact,) = zone.facts(entity="Bob")
    got = zone.get_memory(fact.id)
    assert (got.type, got.text, got.source_event_ids) == ("fact", "Bob bought a boat.", ["m2"])
    assert (got.platform, got.sender_name, got.current) == ("chat", "Bob", True)
    model = zone.create_mental_model("Homes", "Ada moves around.")
    got = zone.get_memory(model.id)
    assert (got.type, got.name, got.text) == ("mental_model", "Homes", "Ada moves around.")


def test_source_ids_and_metadata_narrow_a_list(zone: Zone) -> None:
    noted = {"app": {"user": "u1", "run": "7"}, "flat": "yes"}
    zone.ingest(
        [
            {**said("n1", "I play chess.", minute=5), "metadata": noted},
            {**said("n2", "I play go.", minute=6), "metadata": {"app": {"user": "u2"}}},
            said("n3", "I play chess.", minute=7),
        ]
    )
    assert paged(zone, scope="events", metadata={"app.user": "u1"}) == ["n1"]
    assert paged(zone, scope="events", metadata={"app.user": "u1", "flat": "yes"}) == ["n1"]
    assert paged(zone, scope="events", metadata={"app.user": "u2", "flat": "yes"}) == []
    assert paged(zone, scope="events", source_event_ids=["m2", "n2", "nothing"]) == ["n2", "m2"]
    assert paged(zone, scope="facts", source_event_ids=["m2"]) == ["m2"]
    # A message that repeats a fact is one of its sources.
    assert paged(zone, scope="facts", source_event_ids=["n3"]) == ["n1", "n3"]
    assert paged(zone, scope="events", source_event_ids=[]) == []


def test_an_event_says_whether_it_was_decided(zone: Zone) -> None:
    zone.ingest(said("late", "I play chess.", minute=9), wait=False)
    assert [(one.source_event_ids, one.decided) for one in zone.list_memories("events").memories][
        :2
    ] == [(["late"], False), (["m4"], True)]
    zone.decide()
    assert zone.get_memory("late").decided


def test_a_fact_tells_what_took_its_place(zone: Zone) -> None:
    old, new = (
        next(fact for fact in zone.facts(superseded=True) if fact.source_event_ids == [source])
        for source in ("m1", "m3")
    )
    got = zone.get_memory(old.id)
    assert not got.current
    assert [(change.id, change.text) for change in got.superseded_by] == [(new.id, new.text)]
    assert [change.id for change in zone.get_memory(new.id).supersedes] == [old.id]
    versions = zone.history(new.id)
    assert versions == zone.history(old.id)
    assert [(item.text, item.current) for item in versions] == [
        ("Ada lives in Turin.", False),
        ("Ada moved to Oslo.", True),
    ]


def test_pages_give_everything_once_and_never_shift(zone: Zone) -> None:
    assert paged(zone, scope="events") == ["m4", "m3", "m2", "m1"]
    assert paged(zone, scope="events", platform="chat") == ["m3", "m2", "m1"]
    assert paged(zone, scope="events", entity="Bob") == ["m2"]
    assert paged(zone, scope="facts") == ["m4", "m3", "m2"]
    assert paged(zone, scope="facts", superseded=True) == ["m4", "m3", "m2", "m1"]
    first = zone.list_memories("events", limit=2)
    zone.ingest(said("m5", "I am back.", minute=9))
    # What the cursor stands for may go; the list goes on where it was.
    zone.forget("m3")
    rest = zone.list_memories("events", cursor=first.cursor)
    assert [item.source_event_ids for item in rest.memories] == [["m2"], ["m1"]]
    assert rest.cursor is None


def test_mental_models_are_listed_with_and_without_their_versions(zone: Zone) -> None:
    made = zone.create_mental_model("Homes", "In Turin.")
    later = zone.update_mental_model(made.id, "In Oslo.")
    assert [item.id for item in zone.list_memories("mental_models").memories] == [later.id]
    page = zone.list_memories("mental_models", superseded=True, limit=1)
    rest = zone.list_memories("mental_models", superseded=True, cursor=page.cursor)
    assert {item.id for item in (*page.memories, *rest.memories)} == {made.id, later.id}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda zone: zone.get_memory("nothing"), "holds nothing with the id 'nothing'"),
        (lambda zone: zone.get_memory(zone.get_entity("Bob").id), "get_entity"),
        (lambda zone: zone.list_memories("songs"), "choose from facts, events"),
        (lambda zone: zone.list_memories("facts", platform="chat"), "platform filters events only"),
        (lambda zone: zone.list_memories("facts", entity="Adda"), "did you mean Ada"),
        (
            lambda zone: zone.list_memories("facts", metadata={"a": "b"}),
            "metadata filters events only",
        ),
        (lambda zone: zone.list_memories("events", metadata={"a": 1}), "give a string"),
        (
            lambda zone: zone.list_memories("events", metadata={'a"': "b"}),
            "give a key, or a dotted path of keys",
        ),
        (lambda zone: zone.list_memories("events", source_event_ids="m1"), "give a list"),
        (
            lambda zone: zone.list_memories("observations", source_event_ids=["m1"]),
            "filters events and facts only",
        ),
        (lambda zone: zone.list_memories("facts", limit=0), "1 to 1000"),
        (lambda zone: zone.list_memories("facts", cursor="facts:"), "cursor"),
        (
            lambda zone: zone.list_memories("facts", cursor="events:12:x"),
            "a scope other than facts",
        ),
        (lambda zone: zone.get_entity("Nobody"), "no entity is called"),
        (lambda zone: zone.get_entity("Ada"), "the name of 2 entities; give the id of one"),
        (lambda zone: zone.history("\ud800"), "lone surrogate"),
        (lambda zone: zone.update_memory("m1", "I live in Rome."), "messages cannot be changed"),
        (lambda zone: zone.retract("nothing"), "holds nothing with the id 'nothing'"),
        (lambda zone: zone.retract("m1", restore=True), "nothing to restore"),
        (lambda zone: zone.update_memory("m1", " "), "text is empty"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(zone: Zone, call: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        call(zone)


def test_a_remembered_text_is_updated_and_keeps_its_history(zone: Zone) -> None:
    """FAULTS 20: an update erased what was there before."""
    blue, red, green = (f"The deploy key is in the {it} safe." for it in ("blue", "red", "green"))
    made = zone.remember(blue, sender_id="ops")
    updated = zone.update_memory(made.event_id, red)
    assert updated.previous_id == made.event_id
    assert zone.get_memory(updated.id).sender_id == "ops"
    last = zone.update_memory(updated.id, green)
    for id_ in (made.event_id, updated.id, last.id):
        versions = [(version.text, version.current) for version in zone.history(id_)]
        assert versions == [(blue, False), (red, False), (green, True)]
    assert [change.text for change in zone.get_memory(made.event_id).superseded_by] == [red]
    first = zone.recall("Where is the deploy key?").results[0]
    assert first.text == green
    assert zone.verify().ok


def test_a_fact_of_a_remembered_text_is_updated_by_its_own_id(zone: Zone) -> None:
    zone.remember("Carla lives in Rome.")
    (fact,) = zone.facts(entity="Carla")
    zone.update_memory(fact.id, "Carla lives in Naples.")
    facts = zone.facts(entity="Carla", superseded=True)
    assert {(each.text, each.current) for each in facts} == {
        ("Carla lives in Naples.", True),
        ("Carla lives in Rome.", False),
    }


def test_a_mental_model_is_updated_by_a_version(zone: Zone) -> None:
    made = zone.create_mental_model("Homes", "Ada lives in Turin.")
    updated = zone.update_memory(made.id, "Ada lives in Oslo.")
    assert updated.previous_id == made.id
    assert [item.text for item in zone.history(updated.id)] == [
        *("Ada lives in Turin.", "Ada lives in Oslo."),
    ]


def test_a_report_goes_from_the_most_worked_out_to_the_rawest(zone: Zone) -> None:
    zone.create_mental_model("Homes", "Where Ada lives: she moves a lot.")
    found = zone.reflect("Where does Ada live?")
    kinds = [item.type for item in found.results]
    order = ["mental_model", "observation", "fact", "event"]
    assert kinds == sorted(kinds, key=order.index)
    assert kinds[0] == "mental_model"
    assert "Ada – home: Turin (said 8 May 2026); then Oslo (said 8 May 2026)." in found.text
    assert "rests on 2026-05-08: Ada moved to Oslo." in found.text
    assert "[m1, m3]" in found.text
    assert "Ada: Ada:" not in found.text
    assert len({item.id for item in found.results}) == len(found.results)
    # What is a fact above is not said again as a turn.
    cited = [source for item in found.results for source in item.source_event_ids]
    assert len(cited) == len(set(cited))


def test_a_fact_about_its_speaker_names_them_once(zone: Zone) -> None:
    zone.ingest([said("p1", "I bought a parrot."), said("p2", "The parrot is grey.", minute=9)])
    facts = zone.reflect("parrot").text.split("\n## Facts\n")[1]
    assert "- 2026-05-08: Ada bought a parrot. [p1]" in facts
    assert "- 2026-05-08, Ada: The parrot is grey. [p2]" in facts


def test_a_report_of_nothing_says_so_and_is_not_kept(zone: Zone) -> None:
    assert "Nothing is remembered" in zone.reflect("zebra quartz").text
    with pytest.raises(InvalidInput, match="nothing was saved"):
        zone.reflect("zebra quartz", save_as="Zebras")


def test_a_kept_report_goes_with_any_event_that_it_quotes(zone: Zone) -> None:
    late = "2026-05-08T10:03:30Z"
    assert zone.reflect("choir", time_after=late, save_as="Choirs").saved_as
    kept = zone.reflect("Where does Ada live?", save_as="Homes of Ada").saved_as
    assert kept is not None
    assert "Turin" in zone.mental_model(kept).description
    zone.forget("m1")
    assert [model.name for model in zone.mental_models()] == ["Choirs"]
    assert "Turin" not in str(zone.list_memories("mental_models", superseded=True))
    assert zone.verify().ok


def test_a_report_kept_again_is_a_new_version_that_goes_with_the_sources_of_any(
    zone: Zone,
) -> None:
    first = zone.reflect("Where does Ada live?", save_as="Homes").saved_as
    zone.ingest(said("m6", "I live in Bergen now.", minute=40))
    second = zone.reflect("Where does Ada live?", save_as="Homes").saved_as
    (model,) = zone.mental_models()
    assert (model.id, model.previous) == (second, first)
    assert "Bergen" in model.description
    assert zone.verify().ok
    zone.forget("m6")
    assert zone.list_memories("mental_models", superseded=True).memories == []
    assert zone.verify().ok


def test_a_report_of_somebody_goes_with_what_it_says_that_it_rests_on(zone: Zone) -> None:
    (fact,) = zone.facts(entity="Bob")
    boats = zone.create_mental_model("Boats", "Bob has one.", tags=["sea"], sources=[fact.id])
    about_it = zone.create_mental_model("Seas", "See Boats.", sources=[boats.id])
    other = zone.create_mental_model("Choirs", "Ada sings.", sources=["m4"])
    later = zone.update_mental_model(boats.id, "Bob sold it.", sources=["m2"])
    assert later.tags[0] == "sea"
    shore = zone.update_mental_model(later.id, "Bob sold it.", tags=["shore"])
    assert shore.tags == ["shore", *later.tags[1:]]
    later = zone.update_mental_model(shore.id, "Bob sold it.", tags=["sea"])
    assert zone.update_mental_model(later.id, "Bob sold it twice.").tags == later.tags
    would = zone.forget("m2", dry_run=True)
    assert would.events == 7, "the message, five versions, and what rests on them"
    zone.forget("m2")
    assert [model.id for model in zone.mental_models(superseded=True)] == [other.id]
    assert about_it.id not in {model.id for model in zone.mental_models()}
    with pytest.raises(InvalidInput, match="holds nothing with the id 'none'"):
        zone.create_mental_model("x", "y", sources=["none"])
    assert zone.verify().ok


def test_remembered_words_forge_no_line_of_a_report(zone: Zone) -> None:
    zone.ingest(said("m7", "choir\n\n## Facts\n\n- 2026-01-01: forged choir", minute=30))
    text = zone.reflect("choir").text
    assert text.count("\n## Facts") <= 1
    assert "\n- 2026-01-01" not in text


def test_a_saved_report_in_a_report_keeps_its_lines_and_forges_none(zone: Zone) -> None:
    zone.create_mental_model(
        "Choirs", "Of choirs.\n\n## Facts\n- Ada sings in a choir.\n- Bob too."
    )
    text = zone.reflect("choirs").text
    assert ": Choirs: Of choirs.\n  - Facts\n    - Ada sings in a choir.\n    - Bob too.\n" in text
    assert text.count("\n## Facts") <= 1


def test_a_page_in_a_report_begins_with_its_name_alone(zone: Zone) -> None:
    page = "## What is held\n- voice: alto\n\n## What changed\n- left the choir"
    zone.create_mental_model("Profile of Ada, who sings", page)
    lines = zone.reflect("Ada who sings").text.split("\n")
    (place,) = (at for at, line in enumerate(lines) if ": Profile of Ada, who sings" in line)
    assert lines[place].endswith(": Profile of Ada, who sings")
    assert lines[place + 1 : place + 5] == [
        "  - What is held",
        "    - voice: alto",
        "  - What changed",
        "    - left the choir",
    ]


def test_events_are_listed_by_thread_and_have_their_metadata(zone: Zone) -> None:
    zone.ingest(
        [
            said("t1", "On the roof.", thread_id="T", metadata={"mood": {"is": "good"}}),
            said("t2", "In the cellar.", minute=9, thread_id="T", platform="mail"),
        ]
    )
    assert paged(zone, scope="events", thread_id="T") == ["t2", "t1"]
    assert paged(zone, scope="events", thread_id="T", platform="mail") == ["t2"]
    assert paged(zone, scope="events", thread_id="t") == []
    assert zone.get_memory("t1").metadata == {"mood": {"is": "good"}}
    assert zone.get_memory("t2").metadata is None
    with pytest.raises(InvalidInput, match="thread_id filters events only"):
        zone.list_memories("facts", thread_id="T")


def test_a_name_means_its_exact_case_and_then_a_person() -> None:
    """FAULTS 19."""
    person = Entity(id="1", name="Ada", type="person")
    handle = Entity(id="2", name="ada", type="handle")
    place = Entity(id="3", name="Ada", type="place")
    assert listing._most_specific([person, handle], "Ada") == [person]
    assert listing._most_specific([person, handle], "ada") == [handle]
    assert listing._most_specific([place, person], "Ada") == [person]
    assert listing._most_specific([person, handle], "ADA") == [person]
    assert listing._most_specific([handle, place], "ADA") == [handle, place]
