"""What a later statement of a message tells whole is told once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.statements.statements import analyse

#: Monday.
AT_MS = int(datetime(2026, 1, 5, 10, tzinfo=UTC).timestamp() * 1000)

LOST = "I lost 600 euros at the casino in Porto on Friday."
PAID = "I paid it back from the account at Brindle Bank."


def stated(text: str, keep: tuple[tuple[int, int], ...] = ()) -> list[Statement]:
    return list(analyse(text, speaker="Ada", at_ms=AT_MS, keep=keep).statements)


def test_the_wider_statement_stands_alone_and_names_all_that_both_name() -> None:
    (one,) = stated(f"{LOST} {PAID}")
    assert one.text == (
        "Ada lost 600 euros at the casino in Porto on Friday (2026-01-02). "
        "Ada paid it back from the account at Brindle Bank."
    )
    assert {"Porto", "Brindle Bank"} <= {mention.text for mention in one.mentions}
    assert [day.first for day in one.dates] == ["2026-01-02"]
    # What is embedded, and where it stands, is all of it.
    assert one.sentence == f"{LOST} {PAID}"
    assert (one.start, one.end) == (0, len(f"{LOST} {PAID}"))


def test_in_a_message_of_more_all_else_stays() -> None:
    text = f"My sister Ana lives in Turin. {LOST} {PAID} I bought a red canoe from Tom on Sunday."
    told = [one.text for one in stated(text)]
    assert sum("600 euros" in each for each in told) == 1
    assert any("Turin" in each for each in told)
    assert any("canoe" in each for each in told)


def test_what_fills_a_slot_stays_beside_the_wider_one() -> None:
    told = stated("I got a puppy two weeks ago. Her name's Coco and she's adorable.")
    assert [one.claim is not None for one in told] == [True, False]
    assert told[0].text.rstrip(".") in told[1].text


def test_what_led_to_something_stays_beside_the_wider_one() -> None:
    text = "My physio for the knee is on Monday at ten, so I do not answer between ten and eleven."
    analysis = analyse(text, speaker="Ada", at_ms=AT_MS)
    narrow, wide = (one.text for one in analysis.statements)
    assert narrow.rstrip(".") in wide
    assert [(each.cause, each.effect) for each in analysis.causes] == [(0, 1)]


def test_links_between_others_keep_their_ends() -> None:
    text = f"{LOST} {PAID} I missed the concert in Graz because I broke my leg in Lyon."
    analysis = analyse(text, speaker="Ada", at_ms=AT_MS)
    assert len(analysis.statements) == 3
    ((cause, effect),) = [(each.cause, each.effect) for each in analysis.causes]
    assert "leg" in analysis.statements[cause].text
    assert "concert" in analysis.statements[effect].text


def test_what_takes_something_back_stays() -> None:
    text = f"{LOST} {PAID}"
    assert len(stated(text, keep=((0, len(LOST)),))) == 2


@pytest.mark.parametrize(
    "text",
    [
        f"{LOST} I bought the canoe from Tom at the harbour in Porto.",
        "Tom moved to Porto in May. Bob moved to Porto in May with three cats.",
    ],
)
def test_what_is_not_told_whole_stays(text: str) -> None:
    assert len(stated(text)) == 2


def test_many_statements_are_told_in_time() -> None:
    text = " ".join(f"{LOST[:-1]} at table {number}. {PAID}" for number in range(200))
    assert 0 < len(stated(text)) <= 256
