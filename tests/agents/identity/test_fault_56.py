"""Fault 56: one entity for one name in any writing; every mention is stored as it is extracted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.operations.memories.compare_entities import compare_descriptions
from recollect.operations.writing.extracting import Extractor
from recollect.projections.recall.question.entity_names import resolve
from recollect.schemas.events import Draft
from recollect.schemas.inbound import decode_inbound, draft_of
from recollect.schemas.wire import EntityDescription
from recollect.streams.agents.identity.merge_handler import MergeHandler
from recollect.streams.agents.writer.rule_writer import RuleWriter
from recollect.streams.language.grammar.text_reading import ReadName, TextReading
from recollect.streams.language.names.mentions import mentions
from tests.agents.kit import MINUTE, START, Zone, says

WRITINGS = [
    ("Jean-Luc Picard", "Jean Luc Picard"),
    ("Jean-Luc Picard", "Jean\u2011Luc Picard"),
    ("Jean Luc Picard", "Jean\u00a0Luc Picard"),
    ("Jean Luc Picard", "Jean\u202fLuc\u2009Picard"),
    ("Jean-Luc Picard", "Jean-Luc\u200b Picard"),
    ("Siobhan O'Neill", "Siobhan O\u2019Neill"),
    ("Siobhan O'Neill", "Siobhan O\u02bcNeill"),
    ("Jean-Luc", "Jean Luc"),
]


def said(words: str, nth: int, who: str = "Zoe") -> Draft:
    return says(
        who,
        words,
        account=who.lower(),
        id=f"m{nth}",
        at=START + nth * MINUTE,
        peer_id="g",
        peer_kind="group",
    )


def zone(*drafts: Draft) -> Zone:
    return Zone(RuleWriter(), MergeHandler()).given(*drafts)


def by_place(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda each: (each["start"], each["end"], each["type"]))


def stored(home: Zone, source: str = "m1") -> list[dict[str, Any]]:
    """Return the mentions of a message as `extract` shows them, by their place."""
    rows = home.ask(
        "identity",
        "SELECT DISTINCT mention_text, char_offset_start, char_offset_end, mention_type, "
        "confidence, first, last, time FROM mentions WHERE event_id = ? AND char_offset_start >= 0",
        home.ask("events", "SELECT id FROM events WHERE source_id = ?", source)[0][0],
    )
    names = ("text", "start", "end", "type", "confidence", "first", "last", "time")
    return by_place([dict(zip(names, row, strict=True)) for row in rows])


@pytest.mark.parametrize(("one", "other"), WRITINGS)
def test_one_name_in_two_writings_is_one_entity(one: str, other: str) -> None:
    home = zone()
    found = []
    for nth, name in enumerate((one, other, one), start=1):
        draft = said(f"{name} moved to Leeds.", nth)
        resolver = home.resolver(draft)
        found.append(resolver.resolve(name, "PERSON").id)
        home.keep(resolver)
    assert len({home.canonical_id(each) for each in found}) == 1
    assert compare_descriptions(EntityDescription(one), EntityDescription(other)).decision == "same"


@pytest.mark.parametrize(("one", "other"), WRITINGS)
def test_a_name_is_found_whole_in_any_writing(one: str, other: str) -> None:
    for name in (one, other):
        (found,) = mentions(f"my friend {name} left")
        assert found.text == name


@pytest.mark.parametrize("kind", ["CONCEPT", "OTHER"])
def test_things_in_two_writings_are_one_entity(kind: str) -> None:
    home = zone()
    draft = said("Nothing.", 1)
    resolver = home.resolver(draft)
    assert resolver.resolve("Blue-Ray Fest", kind).id == resolver.resolve("Blue Ray Fest", kind).id
    assert resolver.resolve("C++", kind).id != resolver.resolve("C#", kind).id


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Henry VII", "Henry VIII", "person"),
        ("Henry V", "Henry VI", "person"),
        ("henry vi", "henry xi", "person"),
        ("Henry the Seventh", "Henry VIII", "person"),
        ("Louis XIV", "Louis XVI", "person"),
        ("Pope John XXII", "Pope John XXIII", "person"),
        ("Tom Hill Jr", "Tom Hill Sr.", "person"),
        ("Tom Hill Jr.", "Tom Hill III", "person"),
        ("Agent 47", "Agent 48", "person"),
        ("Room 101", "Room 102", "place"),
        ("Room 101", "Room 101A", "place"),
        ("Gate 12a", "Gate 12b", "place"),
        ("2nd Street", "3rd Street", "place"),
        ("Terminal B12", "Terminal B13", "place"),
        ("Rocky XI", "Rocky XII", "place"),
        ("Studio 54", "Studio 55", "organisation"),
    ],
)
def test_numbered_names_conflict(one: str, other: str, kind: str) -> None:
    found = compare_descriptions(EntityDescription(one, kind), EntityDescription(other, kind))
    assert (found.decision, found.confidence) == ("different", 0.0)
    home = zone()
    resolver = home.resolver(said("Nothing.", 1))
    mention_type = {"person": "PERSON", "place": "LOCATION", "organisation": "ORG"}[kind]
    two = [resolver.resolve(name, mention_type).id for name in (one, other)]
    home.keep(resolver)
    assert len({home.canonical_id(each) for each in two}) == 2
    assert home.pending_merges() == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Elizabeth II", "Elizabeth the Second"),
        ("Henry the 8th", "Henry VIII"),
    ],
)
def test_one_numeral_in_two_writings_agrees(one: str, other: str) -> None:
    assert compare_descriptions(EntityDescription(one), EntityDescription(other)).decision == "same"


def test_a_first_name_in_another_spelling_is_proposed() -> None:
    found = compare_descriptions(EntityDescription("José"), EntityDescription("Jose"))
    assert found.decision == "propose"


def test_a_conflict_within_a_cluster_keeps_a_name_apart() -> None:
    home = zone()
    resolver = home.resolver(said("Nothing.", 1))
    plain, limited = (resolver.resolve(each, "ORG") for each in ("Nordwind", "Nordwind GmbH"))
    stock = resolver.resolve("Nordwind AG", "ORG")
    home.keep(resolver)
    ids = {home.canonical_id(each.id) for each in (limited, stock)}
    assert len(ids) == 2, plain


def read(text: str, name: str, **more: object) -> list[tuple[str, str]]:
    """Return names and types of a text in which a reader takes a name for a person."""
    start = text.index(name)
    reading = TextReading((), (ReadName(start, start + len(name), "PERSON", **more),), ())  # type: ignore[arg-type]
    return [(each.text, each.type) for each in mentions(text, reading) if name in each.text]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("we live at 42 Zorbel now", "Zorbel", "LOCATION"),
        ("the flat is at 12b Zorbel", "Zorbel", "LOCATION"),
        ("she moved to 7 Mark Lane", "Mark Lane", "LOCATION"),
        ("meet me in Mark Lane", "Mark Lane", "LOCATION"),
        ("the office is at Anna Zorbel 12, second floor", "Anna Zorbel", "LOCATION"),
        ("come to rue Zorbel at noon", "rue Zorbel", "LOCATION"),
        ("come to rue Zorbel at noon", "Zorbel", "LOCATION"),
        ("it is in Annastraße", "Annastraße", "LOCATION"),
        ("a letter from Anna Zorbel GmbH came", "Anna Zorbel GmbH", "ORG"),
        ("Zorbel & Fenn sent the bill", "Zorbel & Fenn", "ORG"),
        ("we booked Chez Zorbel again", "Chez Zorbel", "ORG"),
        ("an invoice of Anna Zorbel Ltd.", "Anna Zorbel Ltd", "ORG"),
        ("my boss Mark Lane left", "Mark Lane", "PERSON"),
        ("at 5 Tom came home", "Tom", "PERSON"),
        ("I told Maria Sa everything", "Maria Sa", "PERSON"),
        ("Anna & Tom came by", "Anna & Tom", "PERSON"),
        ("I met Anna 12 years ago", "Anna", "PERSON"),
    ],
)
def test_a_street_or_business_by_form_is_no_person(text: str, name: str, expected: str) -> None:
    assert read(text, name) == [(name, expected)]


@pytest.mark.parametrize(
    ("text", "sure", "rival", "expected"),
    [
        ("lunch at Zorbel today", 40, "LOCATION", "LOCATION"),
        ("lunch at Zorbel today", 90, "LOCATION", "PERSON"),
        ("lunch at Zorbel today", 40, "ORG", "PERSON"),
        ("lunch with Zorbel today", 40, "LOCATION", "PERSON"),
    ],
)
def test_a_doubtful_person_where_a_place_stands_is_one(
    text: str, sure: int, rival: str, expected: str
) -> None:
    assert read(text, "Zorbel", sure=sure, rival=rival) == [("Zorbel", expected)]


def test_mentions_of_values_are_stored() -> None:
    words = "Meet at 14:30, 12 people, mail a.b@c.org or see https://x.io/a on 4 June."
    found = {each["text"]: each for each in stored(zone(said(words, 1)))}
    assert {text: each["type"] for text, each in found.items()} == {
        "14:30": "TIME",
        "12": "NUMBER",
        "a.b@c.org": "EMAIL",
        "https://x.io/a": "URL",
        "4 June": "DATE",
    }
    for text, each in found.items():
        assert words[each["start"] : each["end"]] == text
    day = found["4 June"]
    assert (day["first"], day["last"], day["time"]) == ("2026-06-04", "2026-06-04", None)


@pytest.mark.parametrize(
    ("words", "text", "type", "day", "time"),
    [
        ("Meet at 14:30", "14:30", "TIME", "2026-01-05", "14:30"),
        ("Call me at 3pm", "3pm", "TIME", "2026-01-05", "15:00"),
        ("lunch at noon", "noon", "TIME", "2026-01-05", "12:00"),
        ("dinner at half past seven pm", "half past seven pm", "TIME", "2026-01-05", "19:30"),
        ("at 9am on Saturday", "9am", "TIME", "2026-01-10", "09:00"),
        ("Dinner tomorrow at 7pm", "7pm", "TIME", "2026-01-06", "19:00"),
        ("Dinner tomorrow", "tomorrow", "DATE", "2026-01-06", None),
    ],
)
def test_a_time_is_of_the_day_that_is_meant(
    words: str, text: str, type: str, day: str, time: str | None
) -> None:
    # 2026-01-05 is a Monday.
    (found,) = [each for each in stored(zone(said(words, 1))) if text in str(each["text"])]
    assert [found[key] for key in ("type", "first", "last", "time")] == [type, day, day, time]


def test_confidence_is_that_of_the_reader_or_rule() -> None:
    home = zone(said("Zorblax told me on 4 June that Anna uses Kafka.", 1))
    found = {str(each["type"]): each["confidence"] for each in stored(home)}
    assert set(found) == {"PERSON", "DATE", "TECHNOLOGY"}
    assert all(0 < confidence < 1 for confidence in found.values())
    text = "we saw Zorbel"
    confidences = []
    for sure in (20, 60, 95):
        reading = TextReading((), (ReadName(7, 13, "PERSON", sure, "ORG"),), ())
        (mention,) = mentions(text, reading)
        confidences.append(mention.confidence)
    assert confidences == sorted(set(confidences))


def test_what_extract_shows_is_what_is_stored() -> None:
    export = Path(__file__).parents[3] / "demo" / "export.jsonl"
    drafts = [draft_of(decode_inbound(line)) for line in export.read_bytes().splitlines()[:120]]
    home = zone(*drafts)
    keys = ("text", "start", "end", "type", "confidence", "first", "last", "time")
    with Extractor("default") as extractor:
        for draft in drafts:
            shown = extractor.extract(draft)
            extracted = [
                {key: getattr(each, key) for key in keys}
                for each in shown.mentions
                if each.confidence is not None and not each.pronoun
            ]
            # Pronouns are stored where a fact has them.
            kept = [
                each
                for each in stored(home, shown.id)
                if each["text"].lower() not in ("he", "she", "him", "her", "his")
            ]
            assert by_place(extracted) == kept, shown.id


def persons(home: Zone, name: str) -> set[str]:
    found = home.ask("identity", "SELECT id FROM entities WHERE name LIKE ?", f"{name}%")
    return {home.canonical_id(each) for (each,) in found}


def is_connected(home: Zone, ids: set[str]) -> bool:
    """Whether executing the pending merges would make one of these entities."""
    pairs = home.ask("identity", "SELECT entity_a_id, entity_b_id FROM merge_candidates")
    reached = {min(ids)}
    for _ in ids:
        reached |= {each for pair in pairs if set(pair) & reached for each in pair}
    return ids <= reached


def test_a_first_name_of_one_thread_is_one_person_or_queued() -> None:
    home = zone(
        said("My friend Mel moved to Leeds.", 1, "Ann"),
        said("Mel called me about the flat.", 2, "Bob"),
        said("Our friend Mel bakes bread.", 3, "Cid"),
        said("My sister Mel lives in York.", 4, "Dee"),
        said("Mel is in Leeds, Mel's car is red.", 5, "Eve"),
        said("I met Mel at the station.", 6, "Bob"),
    )
    mels = persons(home, "Mel")
    assert len(mels) > 1, "whose Mel it is differs"
    assert is_connected(home, mels)


def test_a_first_name_of_a_participant_is_queued_with_her() -> None:
    home = zone(
        said("I live in Rome.", 1, "Mel Park"),
        said("My friend Mel moved to Leeds.", 2, "Ann"),
        said("Mel bakes bread.", 3, "Bob"),
    )
    assert is_connected(home, persons(home, "Mel"))


def test_a_bare_first_name_is_always_one_person() -> None:
    drafts = [
        said(f"Mel called me about flat {nth}.", nth, who) for nth, who in enumerate("ABCDE", 1)
    ]
    assert len(persons(zone(*drafts), "Mel")) == 1


@pytest.mark.parametrize("called", ["Jean Luc", "Jean-Luc", "Jean\u2011Luc"])
@pytest.mark.parametrize("account", ["Jean-Luc Picard", "Jean-Luc"])
def test_a_participant_is_meant_in_any_writing(called: str, account: str) -> None:
    home = zone(
        said("I live in Rome.", 1, account),
        said(f"My keys are with {called} now, {called} said.", 2, "Ann"),
    )
    meant = {entity for words, entity in home.mentioned_in("m2") if words == called}
    assert meant == {home.owner_of(account.lower())}


def test_a_business_that_writes_is_the_one_that_is_named() -> None:
    home = zone(
        said("Your bread is ready.", 1, "Zorbel Bakery"),
        said("I buy all my bread at Zorbel Bakery.", 2, "Ann"),
    )
    meant = {entity for words, entity in home.mentioned_in("m2") if words == "Zorbel Bakery"}
    assert meant == {home.owner_of("zorbel bakery")}


def test_a_name_is_looked_up_in_any_writing() -> None:
    home = zone(said("Jean-Luc Picard moved to Leeds.", 1), said("Anna Smith moved to York.", 2))
    for name in ("jean luc picard", "jean-luc picard"):
        assert [entity.name for entity in resolve(home.identity, name)] == ["Jean-Luc Picard"]
    assert resolve(home.identity, "jean luca picard") == ()
