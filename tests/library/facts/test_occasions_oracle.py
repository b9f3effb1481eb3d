"""Facts and their occasions, compared with a naive reading of the messages (fault 51)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Recollect, Zone
from tests.protocol.kit import in_memory

CITIES = ("Rome", "Oslo", "Paris")
TEAS = ("oolong", "sencha")


class Message(NamedTuple):
    """What a person says on a day: of a home, a taste, or what the person did that day."""

    day: int
    by: str
    about: str
    value: str

    @property
    def id(self) -> str:
        return f"m{self.day}"

    @property
    def text(self) -> str:
        texts = {"home": "I live in {}.", "tea": "I like {} tea.", "run": "I ran {} km today."}
        return texts[self.about].format(self.value)


class Known(NamedTuple):
    """A fact as a person would tell it: what it says, whether it holds, and who said it when."""

    by: str
    about: str
    value: str
    current: bool
    days: tuple[int, ...]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    claims = st.one_of(
        st.tuples(st.just("home"), st.sampled_from(CITIES)),
        st.tuples(st.just("tea"), st.sampled_from(TEAS)),
        st.tuples(st.just("run"), st.sampled_from(("5", "9"))),
    )
    days = draw(st.lists(st.integers(0, 300), min_size=1, max_size=10, unique=True))
    by = st.sampled_from(("Ada", "Bob"))
    return [Message(day, draw(by), *draw(claims)) for day in sorted(days)]


def expected(messages: Iterable[Message]) -> list[Known]:
    """Return the facts of messages that were said in this order."""
    found: list[Known] = []
    for each in messages:
        for place, known in enumerate(found):
            is_same = known[:3] == each[1:] and known.current and each.about != "run"
            if is_same:
                found[place] = known._replace(days=(*known.days, each.day))
                break
            if known[:2] == each[1:3] and each.about == "home":
                found[place] = known._replace(current=False)
        else:
            found.append(Known(each.by, each.about, each.value, True, (each.day,)))
    return sorted(found)


def event(message: Message) -> dict[str, Any]:
    month, of_month = divmod(message.day, 28)
    return {
        "id": message.id,
        "platform": "chat",
        "sender_id": message.by.lower(),
        "sender_name": message.by,
        "occurred_at": f"2026-{month + 1:02}-{of_month + 1:02}T09:00:00Z",
        "content": message.text,
        "thread_id": f"t{message.day % 2}",
    }


def stated(zone: Zone, messages: Iterable[Message]) -> list[Known]:
    """Return the facts of a zone, by what their sources say; check counts, days and texts."""
    by_id = {each.id: each for each in messages}
    found = []
    for fact in zone.facts(superseded=True):
        said = [by_id[id_] for id_ in fact.source_event_ids]
        assert len({each[1:] for each in said}) == 1
        assert fact.said.count == len(said)
        assert fact.said.first == event(said[0])["occurred_at"].replace("Z", ".000Z")
        assert fact.said.last == event(said[-1])["occurred_at"].replace("Z", ".000Z")
        first = said[0]
        assert first.by in fact.text
        assert first.value in fact.text
        days = tuple(each.day for each in said)
        found.append(Known(first.by, first.about, first.value, fact.current, days))
    return sorted(found)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(histories(), st.data())
def test_fault_51_facts_and_occasions_are_those_of_a_naive_reading(
    messages: list[Message], data: st.DataObject
) -> None:
    gone = data.draw(st.lists(st.sampled_from(messages), max_size=3, unique=True))
    left = [each for each in messages if each not in gone]
    with in_memory() as room, Recollect(room / "home", encoder="none") as recollect:
        zone = recollect.zone("z")
        zone.ingest(map(event, messages))
        assert stated(zone, messages) == expected(messages)
        for each in gone:
            zone.forget(each.id)
        assert stated(zone, left) == expected(left)
        zone.rebuild("derive")
        assert stated(zone, left) == expected(left)
        assert zone.verify().ok


@settings(max_examples=12, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_in_whatever_order_each_message_counts_once_and_the_last_home_holds(
    messages: list[Message], random: Any
) -> None:
    told = random.sample(messages, len(messages))
    with in_memory() as room, Recollect(room / "home", encoder="none") as recollect:
        zone = recollect.zone("z")
        for each in told:
            zone.ingest([event(each)])
        found = stated(zone, messages)
        assert sorted(day for known in found for day in known.days) == [m.day for m in messages]
        homes = {(known.by, known.value) for known in found if known.about == "home" and known[3]}
        last = {each.by: each.value for each in messages if each.about == "home"}
        assert homes == set(last.items())
        assert zone.verify().ok
