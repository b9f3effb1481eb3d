"""What a person says ends what the same person said earlier, whatever it is about (F7, G8)."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from recollect import Recollect, Zone
from recollect.schemas.inbound import InboundEvent
from recollect.streams.encoder.catalog import MINILM
from tests.promises.test_updates_elsewhere import message

#: None of them names a value of a listed attribute again.
ENDS = {
    "a goal": ("I'm training for the half marathon", "I pulled out of the half marathon"),
    "lessons": (
        "I'm learning Welsh on Thursdays",
        "I gave up on the Welsh lessons, too little time",
    ),
    "something alive": (
        "My sourdough starter lives in the fridge",
        "My sourdough starter died while we were away",
    ),
    "a medicine": ("I take iron tablets every morning", "The doctor took me off the iron tablets"),
    "a place": ("The boat is moored at pier 4", "I sold the boat to a couple from Hull"),
}
LASTS = {
    "a person of the same field": (
        "We have an old upright piano in the hall",
        "The piano teacher moved to Tartu",
    ),
    "a neighbour's": ("I brew cider in the barn", "My neighbour gave his cider press away"),
    "another hobby": (
        "I'm learning Welsh on Thursdays",
        "I gave up on the crossword, too little time",
    ),
    "more of it": (
        "I take iron tablets every morning",
        "I bought new iron tablets at the pharmacy",
    ),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("home") / "home", encoder=MINILM.name) as opened:
        yield opened


def named(*words: str) -> str:
    """Return a name of a zone."""
    return "-".join(words).replace(" ", "-").replace("'", "")


def current(zone: Zone) -> set[str]:
    return {fact.text for fact in zone.facts().facts}


def of_event(zone: Zone, number: int) -> list[bool]:
    """Return whether each fact of a message is current."""
    facts = zone.facts(superseded=True).facts
    return [each.current for each in facts if each.source_event_ids[0] == f"m{number}"]


@pytest.mark.parametrize("case", ENDS)
def test_F7_a_statement_ends_by_another_in_either_order_of_arrival(
    home: Recollect, case: str
) -> None:
    earlier, later = ENDS[case]
    told = [message(1, f"{earlier}."), message(6, f"{later}.")]
    zone = home.zone(named("in order", case))
    zone.ingest(told)
    assert of_event(zone, 1) == [False]
    assert of_event(zone, 6) == [True]
    late = home.zone(named("late", case))
    late.ingest(told[1:])
    late.ingest(told[:1])
    assert current(late) == current(zone)


@pytest.mark.parametrize("case", LASTS)
def test_a_statement_on_the_same_topic_ends_nothing(home: Recollect, case: str) -> None:
    earlier, later = LASTS[case]
    zone = home.zone(named("lasts", case))
    zone.ingest([message(1, f"{earlier}."), message(6, f"{later}.")])
    assert of_event(zone, 1) == [True]


def test_nobody_ends_what_somebody_else_said(home: Recollect) -> None:
    earlier, later = ENDS["lessons"]
    zone = home.zone(named("of two people"))
    said = msgspec.structs.replace(message(6, f"{later}."), sender_id="omar", sender_name="Omar")
    zone.ingest([message(1, f"{earlier}."), said])
    assert of_event(zone, 1) == [True]


def test_what_is_said_again_afterwards_lasts(home: Recollect) -> None:
    earlier, later = ENDS["lessons"]
    zone = home.zone(named("said again"))
    told = [message(1, f"{earlier}."), message(8, f"{earlier}."), message(6, f"{later}.")]
    zone.ingest(told[:2])
    zone.ingest(told[2:])
    assert any("learning Welsh" in text for text in current(zone))


@pytest.mark.parametrize("order", [*itertools.permutations((1, 2, 3))])
def test_G8_what_ends_twice_ends_in_every_order(home: Recollect, order: tuple[int, ...]) -> None:
    earlier, later = ENDS["a place"]
    told = {1: message(1, f"{later}."), 2: message(2, f"{earlier}."), 3: message(3, f"{later}.")}
    zone = home.zone(named("twice", *map(str, order)))
    for number in order:
        zone.ingest([told[number]])
    assert of_event(zone, 2) == [False]


def test_a_deleted_saying_no_longer_ends_and_another_does(home: Recollect) -> None:
    earlier, later = ENDS["a place"]
    zone = home.zone("sayings")
    zone.ingest([message(1, f"{earlier}."), message(2, f"{later}."), message(6, f"{later}.")])
    deletion = msgspec.structs.replace(
        message(7, ""),
        id="gone",
        kind="deletion",
        target="m2",
        peer_id="chat-2",
        thread_id="chat-2",
    )
    zone.ingest([deletion])
    assert of_event(zone, 1) == [False]
    for day, holds in (("2026-04-05", True), ("2026-06-06", False)):
        found = zone.recall("where is the boat moored", valid_at=day, scope=["facts"]).results
        assert any("moored at pier 4" in each.text for each in found) is holds


@pytest.mark.parametrize("kind", ["edit", "deletion"])
def test_a_changed_or_deleted_message_ends_nothing_any_more(home: Recollect, kind: str) -> None:
    earlier, later = ENDS["a medicine"]
    zone = home.zone(named("revised", kind))
    zone.ingest([message(1, f"{earlier}."), message(6, f"{later}.")])
    assert of_event(zone, 1) == [False]
    words = "The doctor was in a good mood." if kind == "edit" else ""
    revision = InboundEvent(
        platform="sms",
        id="revision",
        kind=kind,
        target="m6",
        sender_id="petra",
        occurred_at="2026-07-05T12:00:00Z",
        content=words,
        peer_id="chat-6",
        peer_kind="dm",
        thread_id="chat-6",
    )
    zone.ingest([revision])
    assert of_event(zone, 1) == [True]


def test_E8_a_forgotten_message_ends_nothing_and_leaves_no_sentence(tmp_path: Path) -> None:
    earlier, later = ENDS["lessons"]
    with Recollect(tmp_path / "home", encoder=MINILM.name) as home:
        zone = home.zone("main")
        zone.ingest([message(1, f"{earlier}."), message(6, f"{later}.")])
        assert of_event(zone, 1) == [False]
        zone.forget("m6")
        assert of_event(zone, 1) == [True]
        assert zone.verify().ok
    (memory,) = (tmp_path / "home" / "zones").rglob("memory*.db")
    with closing(sqlite3.connect(memory)) as connection:
        sentences = [text for (text,) in connection.execute("SELECT sentence FROM fact_sentences")]
    assert sentences == [f"{earlier}."]
