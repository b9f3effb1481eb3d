"""Ticks: an agent's turn that nobody ended is closed by a command, once."""

from __future__ import annotations

from typing import Any

from recollect.schemas.events import ActivateChain, CloseTurn, Draft, Tick
from recollect.streams.agents.turn_closer import TurnCloser
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import HOUR, MINUTE, START, Outcome, Zone, command, ends_turn, says

#: The first millisecond at which a turn of START is abandoned.
LATER = START + HOUR + 1


def tick(at: int = LATER, name: str = "close_turns", id: str = "") -> Draft:
    return command(Tick(source_id=f"tick:{at}{id}", name=name), at=at)


def closes(outcome: Outcome) -> list[tuple[str, str]]:
    """Return (platform, turn) of the turns that are to be closed."""
    found = []
    for draft in outcome.outbox:
        assert isinstance(draft.payload, CloseTurn)
        found.append((draft.payload.platform, draft.payload.turn_id))
    return found


def zone() -> Zone:
    return Zone(RuleWriter(), TurnCloser())


def in_turn(turn: str, words: str = "I live in Berlin.", at: int = START, **fields: Any) -> Draft:
    return says("Ada", words, at=at, turn_id=turn, **fields)


def test_a_turn_that_was_silent_for_more_than_an_hour_is_closed() -> None:
    assert closes(zone().given(in_turn("t1")).read(tick())) == [("chat", "t1")]


def test_a_turn_that_was_silent_for_just_an_hour_is_not() -> None:
    assert closes(zone().given(in_turn("t1")).read(tick(START + HOUR))) == []


def test_the_last_word_counts() -> None:
    talk = zone().given(in_turn("t1"), in_turn("t1", "Still here.", at=START + 30 * MINUTE))
    assert closes(talk.read(tick())) == []
    assert closes(talk.read(tick(LATER + 30 * MINUTE))) == [("chat", "t1")]


def test_a_turn_that_is_over_is_not_closed() -> None:
    assert closes(zone().given(in_turn("t1"), ends_turn("t1")).read(tick())) == []


def test_what_belongs_to_no_turn_is_none() -> None:
    assert closes(zone().given(says("Ada", "I live in Berlin.")).read(tick())) == []


def test_a_blank_turn_id_from_an_earlier_version_is_no_turn() -> None:
    assert closes(zone().given(in_turn("")).read(tick())) == []


def test_turns_are_told_apart_by_platform() -> None:
    talk = zone().given(in_turn("t1"), in_turn("t1", platform="slack"), ends_turn("t1"))
    assert closes(talk.read(tick())) == [("slack", "t1")]


def test_an_unknown_tick_asks_for_nothing() -> None:
    assert zone().given(in_turn("t1")).read(tick(name="sweep")).parts == []


def test_ticks_write_no_rows() -> None:
    assert zone().given(in_turn("t1")).read(tick()).puts == []


def test_the_command_does_what_it_says_and_only_once() -> None:
    talk = zone().given(in_turn("t1"))
    assert list(talk.facts()) == []
    (close,) = talk.read(tick()).outbox
    talk.given(close)
    assert talk.facts() == ["Ada lives in Berlin."]
    assert closes(talk.read(tick(LATER + HOUR))) == []
    assert talk.read(close).puts == []


def test_whichever_tick_asks_it_asks_for_the_same_command() -> None:
    """The ledger takes an id once: two ticks close one turn."""
    talk = zone().given(in_turn("t1"))
    (one,), (other,) = talk.read(tick()).outbox, talk.read(tick(LATER + MINUTE)).outbox
    assert one.payload == other.payload
    assert one.occurred_at == other.occurred_at == START + HOUR


def test_a_turn_that_goes_on_after_its_close_was_asked_is_asked_for_anew() -> None:
    talk = zone().given(in_turn("t1"))
    (one,) = talk.read(tick()).outbox
    talk.given(in_turn("t1", "I am back.", at=LATER + MINUTE))
    (other,) = talk.read(tick(LATER + 2 * HOUR)).outbox
    assert one.payload.source_id != other.payload.source_id


def test_the_command_is_the_same_in_a_zone_that_was_rebuilt_in_between() -> None:
    """A switch of chains takes a number in the ledger, and says nothing of what is known."""
    (plain,) = zone().given(in_turn("t1")).read(tick()).outbox
    switched = zone().given(command(ActivateChain(source_id="s", chain="c2")), in_turn("t1"))
    (after,) = switched.read(tick()).outbox
    assert after == plain


def test_the_command_goes_with_the_last_word_that_names_the_turn() -> None:
    outcome = zone().given(in_turn("t1"), says("Bob", "hi")).read(tick())
    assert [part.sources for part in outcome.parts] == [(1, 3)]


def test_a_turn_with_a_hostile_name_is_closed_under_that_name() -> None:
    name = "t'; DROP TABLE turns; --\u202e\x00"
    talk = zone().given(in_turn(name))
    (close,) = talk.read(tick()).outbox
    talk.given(close)
    assert talk.facts() == ["Ada lives in Berlin."]
