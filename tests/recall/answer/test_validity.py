"""What was true when (C13); invalidated facts are never current (F7), changes are shown (B6)."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect import Query
from recollect.cli.app import run
from recollect.home.home_directory import Home
from recollect.schemas.changes import DecidedPart, Delete, decode_sections, encode_part
from recollect.schemas.ledger.records import CHANGE_FORMAT
from recollect.schemas.times import format_time, parse_time
from recollect.schemas.wire import Result
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, MINUTE, START, ask, cited, say, tell
from tests.recall.test_past import forget

FACTS: dict[str, Any] = {"scope": ("facts",), "max_results": 100}


def homes(memory: Memory, **fields: Any) -> list[Result]:
    return ask(memory, "Where does Ada live?", **{**FACTS, **fields})


@pytest.fixture(params=[True, False], ids=["encoder", "words"])
def moved(request: pytest.FixtureRequest, open_memory: Open) -> Memory:
    """Ada lived in Rome, from day 10 in Oslo, from day 20 in Paris."""
    memory = open_memory(encoder=request.param)
    tell(
        memory,
        [
            say("I live in Rome.", "rome"),
            say("I live in Oslo.", "oslo", at=START + 10 * DAY),
            say("I live in Paris.", "paris", at=START + 20 * DAY),
            say("I own a dog.", "dog", at=START + 5 * DAY, peer_id="elsewhere"),
        ],
    )
    return memory


@pytest.mark.parametrize("scope", [("facts",), ("events",), ("events", "facts")])
@pytest.mark.parametrize(
    ("day", "found"),
    [
        (-1, set()),
        (0, {"rome"}),
        (9, {"rome"}),
        (10, {"oslo"}),
        (19, {"oslo"}),
        (20, {"paris"}),
        (99, {"paris"}),
    ],
)
def test_valid_at_answers_what_was_true_then(
    moved: Memory, day: int, found: set[str], scope: tuple[str, ...]
) -> None:
    at = START + day * DAY
    answer = [item for item in homes(moved, valid_at=at, scope=scope) if "live" in item.text]
    assert set(cited(answer)) == found
    assert not any(item.is_stale for item in answer)


def test_only_the_last_is_current_and_the_others_say_so(moved: Memory) -> None:
    """F7: an invalidated fact is never answered as current."""
    stale = {item.text: item.is_stale for item in homes(moved) if "live" in item.text}
    assert stale == {
        "Ada lives in Rome.": True,
        "Ada lives in Oslo.": True,
        "Ada lives in Paris.": False,
    }
    for scope in (("events",), ("events", "facts")):
        current = {
            id_ for item in homes(moved, scope=scope) if not item.is_stale for id_ in cited([item])
        }
        assert not current & {"rome", "oslo"}


def test_a_change_shows_what_was_before_and_what_came_after(moved: Memory) -> None:
    of = {item.text: item for item in homes(moved)}
    oslo = of["Ada lives in Oslo."]
    (before,), (after,) = oslo.supersedes, oslo.superseded_by
    assert (before.text, before.at) == ("Ada lives in Rome.", format_time(START + 10 * DAY))
    assert before.id == of["Ada lives in Rome."].id
    assert (after.text, after.at) == ("Ada lives in Paris.", format_time(START + 20 * DAY))
    assert of["Ada lives in Rome."].supersedes == []
    assert of["Ada lives in Paris."].superseded_by == []
    assert of["Ada owns a dog."].supersedes == of["Ada owns a dog."].superseded_by == []


def test_then_a_change_to_come_is_not_shown(moved: Memory) -> None:
    (oslo,) = (item for item in homes(moved, valid_at=START + 15 * DAY) if "Oslo" in item.text)
    assert [change.text for change in oslo.supersedes] == ["Ada lives in Rome."]
    assert oslo.superseded_by == []
    assert not oslo.is_stale


def test_a_change_does_not_tell_what_is_being_forgotten(moved: Memory) -> None:
    moved.node.ledger.publish(moved.zone, [forget(1)])
    for _ in range(2):
        assert not any("Rome" in change.text for item in homes(moved) for change in item.supersedes)
    moved.drive()
    assert homes(moved)
    assert not any("Rome" in change.text for item in homes(moved) for change in item.supersedes)


def test_with_known_at_both_times_count(memory: Memory) -> None:
    """On day 12 it was not known yet that Ada had moved on day 10."""
    tell(
        memory,
        [
            say("I live in Rome.", "rome", ingested_at=START),
            say("I live in Oslo.", "oslo", at=START + 10 * DAY, ingested_at=START + 13 * DAY),
        ],
    )
    at = START + 11 * DAY
    asked = Query("Where does Ada live?", valid_at=at)
    assert cited(memory.recall(asked).results) == ["oslo"]
    assert cited(memory.recall(asked, known_at=START + 12 * DAY).results) == ["rome"]
    assert cited(memory.recall(asked, known_at=START + 13 * DAY).results) == ["oslo"]


def test_a_mental_model_is_answered_in_the_version_of_then(memory: Memory) -> None:
    tell(memory, [say("It rained.", "m")])
    memory.create_mental_model("Pets", "version 0")
    asked: dict[str, Any] = {"scope": ("mental_models",)}
    (first,) = ask(memory, "pets", **asked)
    memory.update_mental_model(first.id, "version 1")
    (second,) = ask(memory, "pets", **asked)
    assert second.text == "Pets: version 1"
    from_first, from_second = (_ms(item.as_of) for item in (first, second))
    assert ask(memory, "pets", valid_at=from_first - 1, **asked) == []
    if from_first < from_second:
        (then,) = ask(memory, "pets", valid_at=from_second - 1, **asked)
        assert then.text == "Pets: version 0"
    (now,) = ask(memory, "pets", valid_at=from_second, **asked)
    assert now.text == "Pets: version 1"


def _ms(time: str) -> int:
    return parse_time(time)[0]


class Told(NamedTuple):
    """Where somebody said on a day that he lives."""

    by: str
    day: int
    city: str


CITIES = ("Rome", "Oslo", "Paris")


@st.composite
def tellings(draw: st.DrawFn) -> list[Told]:
    """Facts in any order: what was true long ago may be written last."""
    days = draw(st.lists(st.integers(0, 60), min_size=1, max_size=8, unique=True))
    by = st.sampled_from(["Ada", "Bob"])
    return [Told(draw(by), day, draw(st.sampled_from(CITIES))) for day in days]


def true_at(told: list[Told], day: int) -> set[tuple[str, str]]:
    """Return who lived where on a day: as each said last by then."""
    ordered = sorted(told, key=lambda item: item.day)
    last = {item.by: item.city for item in ordered if item.day <= day}
    return set(last.items())


def said_at(day: int) -> int:
    return START + 2 * day * DAY


@example(
    [Told("Ada", 2, "Oslo"), Told("Ada", 0, "Oslo"), Told("Ada", 1, "Rome")], [0, 1, 2]
)  # what lay between two statements of one fact is learnt last
@settings(max_examples=15, deadline=None)
@given(tellings(), st.lists(st.integers(-1, 62), min_size=1, max_size=4))
def test_at_any_time_each_lives_in_one_place(told: list[Told], days: list[int]) -> None:
    with (
        in_memory() as room,
        Memory(Home.create_or_open(room / "home", without_encoder=True)) as memory,
    ):
        tell(
            memory,
            [
                say(f"I live in {item.city}.", f"m{number}", by=item.by, at=said_at(item.day))
                for number, item in enumerate(told)
            ],
        )
        for day in days:
            results = ask(memory, "live", valid_at=said_at(day) + MINUTE, **FACTS)
            found = {tuple(item.text.rstrip(".").split(" lives in ")) for item in results}
            assert found == true_at(told, day)


def stays(told: list[Told]) -> dict[int, int | None]:
    """Return the first day of each stay -> that of the person's next stay, at another place."""
    found: dict[int, int | None] = {}
    for person in {item.by for item in told}:
        at = sorted(item for item in told if item.by == person)
        begins = [
            item.day
            for before, item in zip([None, *at], at, strict=False)
            if before is None or before.city != item.city
        ]
        found |= zip(begins, [*begins[1:], None], strict=True)
    return found


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(tellings(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_each_place_held_until_the_next_whichever_was_told_first(
    told: list[Told], random: Random, at_once: bool, in_order: bool
) -> None:
    # What is said again is one fact, so that only in order each stay is a fact of its own.
    if in_order:
        order = sorted(told, key=lambda item: item.day)
    else:
        told = list({(item.by, item.city): item for item in told}.values())
        order = random.sample(told, len(told))
    with (
        in_memory() as room,
        Memory(Home.create_or_open(room / "home", without_encoder=True)) as memory,
    ):
        drafts = [
            say(f"I live in {item.city}.", f"m{item.day}", by=item.by, at=said_at(item.day))
            for item in order
        ]
        for some in [drafts] if at_once else [[draft] for draft in drafts]:
            tell(memory, some)
        with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
            ends = {
                (was, then): at
                for was, then, at in files.memory.connection.execute(
                    "SELECT older.as_of, newer.as_of, invalid_at FROM fact_supersessions AS ended "
                    "JOIN facts AS older ON older.id = ended.fact_id "
                    "JOIN facts AS newer ON newer.id = superseded_by"
                )
            }
        then = stays(told)
        assert ends == {
            (said_at(day), said_at(later)): said_at(later)
            for day, later in then.items()
            if later is not None
        }
        results = ask(memory, "live", **FACTS)
        shown = {
            _ms(item.as_of): [_ms(change.at) for change in item.superseded_by] for item in results
        }
        assert shown == {
            START + 2 * day * DAY: [] if later is None else [START + 2 * later * DAY]
            for day, later in then.items()
        }
        assert {_ms(item.as_of) for item in results if item.is_stale} == {
            START + 2 * day * DAY for day, later in then.items() if later is not None
        }
        assert memory.verify().ok


def test_what_is_forgotten_came_never_between(memory: Memory) -> None:
    tell(
        memory,
        [say("I live in Rome.", "rome"), say("I live in Paris.", "paris", at=START + 9 * DAY)],
    )
    before = [(item.text, item.superseded_by) for item in homes(memory)]
    tell(memory, [say("I live in Oslo.", "oslo", at=START + 4 * DAY)])
    assert [(item.text, item.superseded_by) for item in homes(memory)] != before
    memory.forget("oslo")
    assert sorted((item.text, item.superseded_by) for item in homes(memory)) == sorted(before)
    assert memory.verify().ok


def test_a_delete_of_before_names_the_same_row() -> None:
    said = DecidedPart((1,), deletes=[Delete("fact_supersessions", ("old", "new"))])
    section = decode_sections(encode_part(said), ("memory",), CHANGE_FORMAT)["memory"]
    assert section.deletes == (Delete("fact_supersessions", ("old",)),)


def test_within_one_message_the_last_that_was_said_stands(memory: Memory) -> None:
    said = "I live in Rome. I live in Oslo."
    tell(memory, [say(said, "both", at=START + 5 * DAY), say("I live in Paris.", "late")])
    stale = {item.text: item.is_stale for item in homes(memory)}
    assert stale["Ada lives in Oslo."] is False
    (paris,) = (item for item in homes(memory) if "Paris" in item.text)
    assert [change.text for change in paris.superseded_by] == ["Ada lives in Oslo."]


def test_on_the_command_line(moved: Memory, capfd: pytest.CaptureFixture[str]) -> None:
    def recalled(*options: str) -> str:
        capfd.readouterr()
        home = str(moved.home.directory)
        assert run(["--home", home, "recall", "live", "--scope", "facts", *options]) == 0
        return capfd.readouterr().out

    then = recalled("--valid-at", "2026-01-16T00:00:00Z")
    assert "Oslo" in then
    assert "Paris" not in then
    assert 'previously: "Ada lives in Rome.", changed Jan 2026' in then
    assert 'now: "Ada lives in Paris.", changed Jan 2026' in recalled()
    assert '"superseded_by"' not in recalled("--valid-at", "2026-01-06T00:00:00Z", "--json")
    assert '"superseded_by"' in recalled("--json")
