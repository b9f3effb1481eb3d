"""The timeline: what happened, on its days, in order."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import InvalidInput, Recollect, Zone, paginate
from recollect.projections.memory.listing import dated_facts
from tests.library.kit import said

THINGS = ("boat", "fence", "chair", "table", "shed", "gate", "wall", "door", "roof", "bench")
OFFSETS = ("+13:00", "+02:00", "+00:00", "-03:30", "-11:00")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        yield recollect.zone("friends")


def message(id: str, content: str, at: str, by: str = "Ada", **more: Any) -> Any:
    return said(id, content, by=by, **{"occurred_at": at, "thread_id": id, **more})


def listed(zone: Zone, **filters: Any) -> list[tuple[str, list[str]]]:
    """Return each day with the ids of its events."""
    return [
        (day.day, [id_ for item in day.items for id_ in item.source_event_ids])
        for day in zone.timeline(**filters)
    ]


def test_a_fact_is_on_its_own_day_or_when_said(zone: Zone) -> None:
    zone.ingest(
        [
            message("exam", "My exam is on 4 June.", "2026-05-09T10:00:00Z"),
            message("boat", "I bought a boat.", "2026-05-08T10:00:00Z", "Bob"),
            message("shed", "I painted the shed yesterday.", "2026-05-08T09:00:00Z"),
        ]
    )
    days = zone.timeline().days
    assert [day.day for day in days] == ["2026-05-07", "2026-05-08", "2026-06-04"]
    shed, boat, exam = (item for day in days for item in day.items)
    assert (shed.dated_by, boat.dated_by, exam.dated_by) == ("when", "said", "when")
    assert (exam.said_on, exam.said_by, exam.source_event_ids) == ("2026-05-09", "Ada", ["exam"])
    assert str(exam.when) == "2026-06-04"
    assert (boat.text, boat.when, boat.current) == ("Bob bought a boat.", None, True)


def test_the_timeline_is_counted_by_year_month_and_day(zone: Zone) -> None:
    zone.ingest(
        [
            message("exam", "My exam is on 4 June.", "2026-05-09T10:00:00Z"),
            message("boat", "I bought a boat.", "2026-05-08T10:00:00Z", "Bob"),
            message("shed", "I painted the shed yesterday.", "2026-05-08T09:00:00Z"),
        ]
    )

    def counted(**filters: Any) -> list[tuple[str, int]]:
        periods = zone.timeline_counts(**filters).periods
        return [(each.period, each.facts) for each in periods if each.facts]

    assert counted(by="year") == [("2026", 3)]
    assert counted(by="month") == [("2026-05", 2), ("2026-06", 1)]
    assert counted(by="day", entity="Ada") == [("2026-05-07", 1), ("2026-06-04", 1)]
    assert counted(by="day", first="2026-05-08", last="2026-05-31") == [("2026-05-08", 1)]
    assert counted(by="month", valid_at="2026-05-08T12:00:00Z") == [("2026-05", 2)]
    assert counted(by="year", known_at="2020-01-01T00:00:00Z") == []
    found = zone.timeline_counts(by="year")
    assert found.first_said == "2026-05-08T09:00:00.000Z"
    assert found.last_said == "2026-05-09T10:00:00.000Z"
    with pytest.raises(InvalidInput, match="by 'week': choose from year"):
        zone.timeline_counts(by="week")  # type: ignore[arg-type]


def test_facts_are_listed_as_they_were_known(zone: Zone) -> None:
    known = {"ingested_at": "2026-05-08T10:00:00Z"}
    zone.ingest([message("turin", "I live in Turin.", "2026-05-08T10:00:00Z", **known)])
    known = {"ingested_at": "2026-05-10T10:00:00Z"}
    zone.ingest([message("oslo", "I moved to Oslo.", "2026-05-10T10:00:00Z", **known)])

    def listed(at: str | None) -> list[tuple[str, bool]]:
        return [(fact.text, fact.current) for fact in zone.facts(superseded=True, known_at=at)]

    turin, oslo = "Ada lives in Turin.", "Ada moved to Oslo."
    assert listed("2026-05-07T00:00:00Z") == []
    assert listed("2026-05-09T00:00:00Z") == [(turin, True)]
    assert listed(None) == listed(zone.consistency_token()) == [(oslo, True), (turin, False)]
    with pytest.raises(InvalidInput, match="known_at"):
        zone.facts(known_at="soon")


def test_episodes_are_counted_on_the_day_they_begin(zone: Zone) -> None:
    day = "2026-05-08T10:0{}:00Z"
    zone.ingest(
        [
            said(str(n), f"I bought {n + 2} boats.", by="Ada", occurred_at=day.format(n))
            for n in range(3)
        ]
    )
    assert [(each.period, each.episodes) for each in zone.timeline_counts(by="day").periods] == [
        ("2026-05-08", 1)
    ]


def test_a_day_is_that_of_the_sender(zone: Zone) -> None:
    zone.ingest(
        [
            message("late", "I bought a boat.", "2026-05-08T23:30:00+02:00"),
            message("early", "I bought a horse.", "2026-05-09T01:00:00+13:00", "Bob"),
            message("last", "I bought a house.", "2026-05-08T20:00:00-11:00", "Eve"),
        ]
    )
    # In UTC: early at 12:00 of the eighth, late at 21:30, last at 07:00 of the ninth.
    assert listed(zone) == [("2026-05-08", ["late", "last"]), ("2026-05-09", ["early"])]
    assert [listed(zone, limit=n) for n in (1, 2)] == [
        [("2026-05-08", ["late"])],
        [("2026-05-08", ["late", "last"])],
    ]


@pytest.mark.parametrize(
    ("said_on", "content", "day"),
    [
        ("2026-05-20", "We sail to Corfu from 3 to 5 June.", "2026-06-03"),
        ("2026-06-20", "We sailed to Corfu from 3 to 5 June.", "2026-06-05"),
        ("2026-06-04", "We sail to Corfu from 3 to 5 June.", "2026-06-04"),
        ("2026-06-04", "I bought a boat this year.", "2026-06-04"),
        ("2026-06-04", "I bought a boat last year.", "2025-12-31"),
    ],
)
def test_several_days_are_at_the_one_nearest_to_when_said(
    zone: Zone, said_on: str, content: str, day: str
) -> None:
    zone.ingest(message("m", content, f"{said_on}T12:00:00Z"))
    assert listed(zone) == [(day, ["m"])]


def test_a_listed_day_shows_what_lasts_into_it(zone: Zone) -> None:
    zone.ingest(
        [
            message("before", "We sail to Corfu from 3 to 9 June.", "2026-05-20T12:00:00Z"),
            message("after", "I was in Rome from 4 to 8 June.", "2026-06-20T12:00:00Z", "Bob"),
            message("year", "I bought a boat this year.", "2026-05-01T12:00:00Z", "Eve"),
        ]
    )
    for first, last in (("2026-06-05", "2026-06-06"), ("2026-06-06", "2026-06-06")):
        assert dict(listed(zone, first=first, last=last)) == (
            {first: ["before"], last: ["after"]} if first < last else {first: ["before", "after"]}
        )
    assert listed(zone, first="2026-06-10", last="2026-12-31") == []
    assert listed(zone, last="2026-05-01") == [("2026-05-01", ["year"])]


def test_what_is_no_longer_so_says_what_is(zone: Zone) -> None:
    zone.ingest(
        [
            message("rome", "I live in Rome.", "2026-05-01T10:00:00Z"),
            message("oslo", "I live in Oslo.", "2026-05-02T10:00:00Z"),
        ]
    )
    rome, oslo = (item for day in zone.timeline() for item in day.items)
    assert (rome.current, oslo.current, oslo.superseded_by) == (False, True, None)
    assert getattr(rome.superseded_by, "id", None) == oslo.id


def test_what_was_never_true_is_not_listed(zone: Zone) -> None:
    zone.ingest(message("boat", "I bought a boat.", "2026-05-08T10:00:00Z"))
    before = zone.timeline()
    zone.retract("boat")
    assert listed(zone) == []
    zone.retract("boat", restore=True)
    assert zone.timeline() == before


def test_what_was_forgotten_is_not_listed_and_cursors_stay_valid(zone: Zone) -> None:
    for number, thing in enumerate(THINGS):
        zone.ingest(message(thing, f"I bought a {thing}.", f"2026-05-{10 + number}T10:00:00Z"))
    page = zone.timeline(limit=2)
    zone.forget(THINGS[1])
    rest = [id_ for _, ids in listed(zone, cursor=page.cursor) for id_ in ids]
    assert rest == list(THINGS[2:])
    assert [id_ for _, ids in listed(zone) for id_ in ids] == [THINGS[0], *THINGS[2:]]


def test_an_entity_is_followed_through_merges(zone: Zone) -> None:
    zone.ingest(
        [
            message("one", "Ann Lee bought a boat.", "2026-05-08T10:00:00Z"),
            message("two", "Annie Lee sold a horse.", "2026-05-09T10:00:00Z", "Bob"),
            message("other", "I bought a house.", "2026-05-09T10:00:00Z", "Eve"),
        ]
    )
    assert listed(zone, entity="Ann Lee") == [("2026-05-08", ["one"])]
    merge = zone.propose_merge(
        zone.get_entity("Ann Lee").id, zone.get_entity("Annie Lee").id, 0.6, "alike"
    )
    assert merge.status == "new"
    (waiting,) = [each for each in zone.merges() if each.reasons == ["alike"]]
    zone.decide_merge(waiting.id, "merged")
    both = [("2026-05-08", ["one"]), ("2026-05-09", ["two"])]
    assert listed(zone, entity="Ann Lee") == listed(zone, entity="Annie Lee") == both


def test_it_lists_what_was_known_then_and_true_then(zone: Zone) -> None:
    zone.ingest(message("rome", "I live in Rome.", "2026-05-01T10:00:00Z"))
    known = zone.consistency_token()
    zone.ingest(message("oslo", "I live in Oslo.", "2026-05-03T10:00:00Z"))
    (day,) = zone.timeline(known_at=known)
    assert [(item.source_event_ids, item.current) for item in day.items] == [(["rome"], True)]
    assert zone.timeline(known_at="2020-01-01T00:00:00Z").days == []
    assert listed(zone, valid_at="2026-05-02T10:00:00Z") == [("2026-05-01", ["rome"])]
    assert listed(zone, valid_at="2026-05-04T10:00:00Z") == [("2026-05-03", ["oslo"])]


def test_an_answer_shows_what_was_asked(zone: Zone) -> None:
    asked, told = "Who did you meet in Rome?", "My cousin Nina and her husband."
    zone.ingest(
        [
            message("asked", asked, "2026-05-08T10:00:00Z", "Bob", thread_id="t"),
            message("told", told, "2026-05-08T10:01:00Z", thread_id="t"),
        ]
    )
    ((item,),) = (day.items for day in zone.timeline())
    assert item.source_event_ids == ["told"]
    assert asked in (item.context or "")


def test_bad_values_are_refused_by_name(zone: Zone) -> None:
    zone.ingest(message("m", "I bought a boat.", "2026-05-08T10:00:00Z"))
    for values, told in (
        ({"first": "2026-05-09", "last": "2026-05-08"}, "last is 2026-05-08, before 2026-05-09"),
        ({"first": "May"}, "first: 'May' is not a time"),
        ({"cursor": "2026-05-09"}, "give one from a page of the timeline"),
        ({"cursor": "x/y/z"}, "give one from a page of the timeline"),
        ({"limit": 0}, "limit is 0"),
        ({"entity": "Adda"}, "did you mean Ada"),
        ({"known_at": "soon"}, "known_at"),
        ({"valid_at": "soon"}, "valid_at"),
    ):
        with pytest.raises(InvalidInput, match=told):
            zone.timeline(**values)


def _talk(draw: random.Random) -> list[Any]:
    """Return messages of which some name a day, and some several days."""
    events = []
    for number in range(60):
        at = datetime(2026, 5, 1) + timedelta(days=draw.randrange(50), minutes=draw.randrange(1440))
        day = at.date() + timedelta(draw.randrange(-9, 9))
        later = day + timedelta(draw.randrange(1, 6))
        when = draw.choice(
            ("", "", f" on {day:%d %B %Y}", f" from {day:%d %B %Y} to {later:%d %B %Y}")
        )
        thing = f"{draw.choice(THINGS)} {number}"
        events.append(
            message(
                f"m{number}",
                f"I painted {thing}{when}.",
                at.isoformat() + draw.choice(OFFSETS),
                draw.choice(("Ada", "Bob")),
            )
        )
    return events


def _expected(zone: Zone, events: Sequence[Any], first: date, last: date) -> list[Any]:
    """Return (day, time, id) of the facts, computed from their listing and their messages."""
    sent = {event["id"]: datetime.fromisoformat(event["occurred_at"]) for event in events}
    places = []
    for fact in paginate(zone.facts, superseded=True):
        day = sent[fact.source_event_ids[0]].date()
        if fact.when is not None:
            begin, end = (date.fromisoformat(each) for each in (fact.when.first, fact.when.last))
            day = min(max(day, begin), end)
            if begin <= last and end >= first:
                day = min(max(day, first), last)
        if first <= day <= last:
            places.append((day.isoformat(), fact.as_of, fact.id))
    return sorted(places)


@pytest.mark.parametrize("few", [0, 2_000])
def test_pages_of_any_size_list_every_fact_on_its_day(
    zone: Zone, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dated_facts, "_FEW", few)
    draw = random.Random(5)
    events = _talk(draw)
    zone.ingest(events)
    for _ in range(20):
        first = date(2026, 4, 20) + timedelta(draw.randrange(60))
        last = first + timedelta(draw.choice((0, 1, 3, 10, 40)))
        entity = draw.choice((None, "Ada", "Bob"))
        found: list[Any] = []
        cursor = None
        while True:
            page = zone.timeline(
                entity=entity, first=str(first), last=str(last), cursor=cursor, limit=7
            )
            found += [(day.day, item.as_of, item.id) for day in page for item in day.items]
            assert sum(len(day.items) for day in page) <= 7
            cursor = page.cursor
            if cursor is None:
                break
        about = {fact.id for fact in paginate(zone.facts, entity=entity, superseded=True)}
        expected = [each for each in _expected(zone, events, first, last) if each[2] in about]
        assert found == expected


def test_a_day_shows_the_talks_that_began_on_it(zone: Zone) -> None:
    zone.ingest(
        [
            message("a", "I bought a boat in Rome.", "2026-05-08T10:00:00Z", thread_id="t"),
            message("b", "I will sail it on Sunday.", "2026-05-08T10:05:00Z", "Bob", thread_id="t"),
            message("c", "I sold a horse in Oslo.", "2026-05-09T10:00:00Z", "Eve", thread_id="u"),
        ]
    )
    talks = {day.day: day.episodes for day in zone.timeline()}
    (talk,) = talks["2026-05-08"]
    assert (talk.start, talk.end) == ("2026-05-08T10:00:00.000Z", "2026-05-08T10:05:00.000Z")
    assert (talk.title, talk.participants) == ("I bought a boat in Rome.", ["Ada", "Bob"])
    # A message alone is no talk.
    assert talks["2026-05-09"] == []
    assert [day.episodes for day in zone.timeline(entity="Eve")] == [[]]
    assert [day.episodes for day in zone.timeline(entity="Ada")] == [[talk]]
