"""Episodes as they are listed, searched and shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import InvalidInput, Recollect, UnknownId, Zone, paginate
from recollect.home.home_directory import Home
from tests.library.kit import said
from tests.recall.kit import EncodedHome


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        yield opened.zone("ada")


def talk() -> list[dict[str, object]]:
    return [
        said("a1", "The ferry to Naxos leaves from Piraeus.", thread_id="trip"),
        said("b1", "I booked two cabins on the ferry.", by="Bob", minute=1, thread_id="trip"),
        said("c1", "The oven needs a new door.", by="Cem", minute=200, thread_id="house"),
        said("m1", "Your parcel has arrived.", by="Post", minute=210, platform="mail"),
    ]


def test_each_strategy_lists_its_episodes_newest_first(zone: Zone) -> None:
    zone.ingest(talk())
    assert [each.title for each in zone.episodes(strategy="thread")] == [
        "The oven needs a new door.",
        "The ferry to Naxos leaves from Piraeus.",
    ]
    (day,) = zone.episodes(strategy="day")
    assert (day.message_count, day.platform) == (4, None)
    assert day.participants == ["Ada", "Bob", "Cem", "Post"]
    assert (day.start, day.end) == ("2026-05-08T10:00:00.000Z", "2026-05-08T13:30:00.000Z")


def test_pages_have_every_episode_once(zone: Zone) -> None:
    zone.ingest(talk())
    paged, cursor = [], None
    while True:
        page = zone.episodes(limit=2, cursor=cursor)
        paged += [each.id for each in page]
        if (cursor := page.cursor) is None:
            break
    assert paged == [each.id for each in paginate(zone.episodes)]
    assert len(set(paged)) == len(paged) == 9


def test_filters_keep_what_they_name(zone: Zone) -> None:
    late = said("d1", "Ada?", thread_id="trip", occurred_at="2026-05-10T12:00:00Z")
    zone.ingest([*talk(), late])
    assert {each.platform for each in zone.episodes(platform="mail")} == {"mail"}
    threads = zone.episodes(strategy="thread", entity="Bob")
    assert [each.thread_id for each in threads] == ["trip"]
    at = "2026-05-08T10:30:00Z"
    assert {each.thread_id for each in zone.episodes(strategy="topic", last=at)} == {"trip"}
    found = zone.episodes(strategy="topic", first="2026-05-10")
    assert [each.title for each in found] == ["Ada?"]
    assert not zone.episodes(strategy="topic", first="2026-05-09", last="2026-05-09").episodes
    assert zone.episodes(strategy="topic", first="2026-05-08", last="2026-05-08").episodes


def test_a_query_puts_the_best_episode_first(zone: Zone) -> None:
    zone.ingest(talk())
    found = zone.episodes(query="Who booked the ferry?", strategy="thread")
    assert found[0].thread_id == "trip"
    with pytest.raises(InvalidInput, match="one page"):
        zone.episodes(query="ferry", cursor="x/y")


def test_a_query_finds_by_meaning(tmp_path: Path) -> None:
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(EncodedHome(tmp_path / "home")) as opened:
        zone = opened.zone("ada")
        zone.ingest([said("a", "My puppy sleeps.", thread_id="t"), *talk()])
        assert zone.episodes(query="hound", strategy="thread")[0].thread_id == "t"


def test_an_episode_shows_its_messages_in_order(zone: Zone) -> None:
    zone.ingest(talk()[::-1])
    thread = next(each for each in zone.episodes(strategy="thread") if each.thread_id == "trip")
    shown = zone.episode(thread.id, limit=1)
    assert shown.episode == thread
    assert [(each.sender, each.source_event_id) for each in shown] == [("Ada", "a1")]
    rest = zone.episode(thread.id, limit=1, cursor=shown.cursor)
    assert ([each.text for each in rest], rest.cursor) == (
        ["I booked two cabins on the ferry."],
        None,
    )


def test_an_edited_message_is_shown_as_edited(zone: Zone) -> None:
    zone.ingest(talk())
    edit = said("a2", "The ferry leaves from Rafina.", minute=2, thread_id="trip")
    zone.ingest([edit | {"kind": "edit", "target": "a1"}])
    thread = next(each for each in zone.episodes(strategy="thread") if each.thread_id == "trip")
    assert [each.source_event_id for each in zone.episode(thread.id)] == ["b1", "a2"]


def test_a_forgotten_message_is_in_no_episode(zone: Zone) -> None:
    zone.ingest(talk())
    before = zone.status().episodes
    zone.forget("c1")
    assert zone.status().episodes == before - 3
    assert "oven" not in str(list(paginate(zone.episodes)))
    (day,) = zone.episodes(strategy="day")
    assert day.message_count == 3


def test_a_merge_reaches_what_is_listed(zone: Zone) -> None:
    zone.ingest([*talk(), said("z", "See you.", by="Robert Lind", minute=5, thread_id="late")])
    zone.propose_merge(
        zone.get_entity("Robert Lind").id, zone.get_entity("Bob").id, 0.95, "the same phone"
    )
    name = zone.get_entity("Bob").name
    found = zone.episodes(strategy="thread", entity="Bob")
    assert {each.thread_id for each in found} == {"trip", "late"}
    assert all(name in each.participants for each in found)


def test_the_only_version_is_the_history(zone: Zone) -> None:
    zone.ingest(talk())
    (day,) = zone.episodes(strategy="day")
    assert list(zone.episode_history(day.id)) == [day]


def test_an_unknown_episode_is_refused(zone: Zone) -> None:
    zone.ingest(talk())
    for call in (zone.episode, zone.episode_history):
        with pytest.raises(UnknownId, match="has no episode 'x'"):
            call("x")
    with pytest.raises(InvalidInput, match="strategy 'week': choose from thread, session"):
        zone.episodes(strategy="week")  # type: ignore[arg-type]
